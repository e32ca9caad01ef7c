/* test_model_file.c - model files: a round trip, every field of the header and of the entries broken with a line of its
 * own, and operations that must not pass. */
#define _POSIX_C_SOURCE 200809L
#include "base/numbers/crc.h"
#include "learn/format/format.h"
#include "support.h"
#include "tiny_model.h"

#include <stdio.h>
#include <string.h>

typedef struct fixture {
    tiny_model tiny;
    unsigned char *data;
    size_t bytes;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    tiny_model_draw(&f->tiny, 1);
    assert_int_equal(clo_model_build(&f->tiny.desc, (void **)&f->data, &f->bytes), CLO_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    free(f->data);
    free(f);
    return 0;
}

static void seal(fixture *f)
{
    clo_format_header *header = (void *)f->data;
    size_t from = offsetof(clo_format_header, crc);

    header->crc = clo_crc32c(clo_crc32c(0, f->data, from), f->data + from + 4, f->bytes - from - 4);
}

static void opens(const fixture *f)
{
    clo_model *model = NULL;

    if (clo_model_open("m", f->data, f->bytes, &model) != CLO_OK)
        fail_msg("%s", clo_last_error());
    clo_model_destroy(model);
}

/* `text` is in the line, which names the model. */
static void refused(const fixture *f, clo_status status, const char *text)
{
    clo_model *model = NULL;

    assert_int_equal(clo_model_open("m", f->data, f->bytes, &model), status);
    assert_null(model);
    if (strncmp(clo_last_error(), "m: ", 3) != 0 || strstr(clo_last_error(), text) == NULL)
        fail_msg("'%s' lacks '%s'", clo_last_error(), text);
}

static clo_format_header *header_of(const fixture *f)
{
    return (void *)f->data;
}

static void *entry_of(const fixture *f, int part, uint32_t index)
{
    static const size_t sizes[CLO_PARTS] = {sizeof(clo_format_feature), sizeof(clo_format_value),
                                            sizeof(clo_format_layer),   sizeof(clo_format_table),
                                            sizeof(clo_format_op),      sizeof(clo_format_golden)};

    return f->data + header_of(f)->parts[part].offset + index * sizes[part];
}

static void crc32c_is_the_published_one(void **state)
{
    unsigned char bytes[32] = {0};

    (void)state;
    assert_int_equal(clo_crc32c(0, "123456789", 9), 0xe3069283u);
    assert_int_equal(clo_crc32c(clo_crc32c(0, "1234", 4), "56789", 5), 0xe3069283u);
    assert_int_equal(clo_crc32c(0, bytes, 32), 0x8a9136aau); /* RFC 3720, B.4 */
    memset(bytes, 0xff, sizeof bytes);
    assert_int_equal(clo_crc32c(0, bytes, 32), 0x62a8ab43u);
    for (unsigned char i = 0; i < 32; i++)
        bytes[i] = i;
    assert_int_equal(clo_crc32c(0, bytes, 32), 0x46dd794eu);
    assert_int_equal(clo_crc32c(0, NULL, 0), 0);
}

static void what_was_built_is_read_back(void **state)
{
    fixture *f = *state;
    clo_model *model;
    clo_model_info info = CLO_MODEL_INFO_INIT;
    size_t bytes;

    assert_int_equal(clo_model_open("m", f->data, f->bytes, &model), CLO_OK);
    assert_ptr_equal(clo_model_data(model, &bytes), f->data); /* in place */
    assert_int_equal(bytes, f->bytes);
    assert_int_equal(clo_model_inspect(model, &info), CLO_OK);
    assert_string_equal(info.name, "tiny");
    assert_int_equal(info.values, TINY_VALUES);
    assert_int_equal(info.score, TINY_SCORE);
    assert_int_equal(info.golden, 3);
    assert_int_equal(info.multiplications[CLO_MODEL_GLOBAL], 5 * 17);
    for (uint32_t i = 0; i < info.layers; i++) {
        const clo_model_layer *wanted = &f->tiny.layers[i];
        clo_model_layer got;
        assert_int_equal(clo_model_layer_at(model, i, &got), CLO_OK);
        assert_int_equal(got.inputs, wanted->inputs);
        assert_int_equal(got.leaky, wanted->leaky);
        if (wanted->bias != NULL)
            assert_memory_equal(got.bias, wanted->bias, wanted->outputs * sizeof *wanted->bias);
    }
    for (uint32_t i = 0; i < info.ops; i++) {
        clo_model_op got;
        assert_int_equal(clo_model_op_at(model, i, &got), CLO_OK);
        assert_memory_equal(&got, &f->tiny.ops[i], sizeof got);
    }
    assert_int_equal(clo_model_verify(model), CLO_OK);
    clo_model_destroy(model);
}

static void the_same_description_gives_the_same_bytes(void **state)
{
    fixture *f = *state;
    void *again;
    size_t bytes;

    assert_int_equal(clo_model_build(&f->tiny.desc, &again, &bytes), CLO_OK);
    assert_int_equal(bytes, f->bytes);
    assert_memory_equal(again, f->data, bytes);
    free(again);
}

static void every_field_of_the_header_has_a_line_of_its_own(void **state)
{
    fixture *f = *state;
    const clo_format_header good = *header_of(f);
    clo_format_header *h = header_of(f);
    clo_model *model = NULL;

#define BROKEN(change, status, text) \
    do {                             \
        change;                      \
        seal(f);                     \
        refused(f, status, text);    \
        *h = good;                   \
    } while (0)
    BROKEN(h->magic[0] = 'X', CLO_ERR_FORMAT, "is no model");
    BROKEN(h->major = 2, CLO_ERR_UNSUPPORTED, "is of version 2.0");
    BROKEN(h->major = 0, CLO_ERR_UNSUPPORTED, "is of version 0.0");
    BROKEN(h->bytes -= 16, CLO_ERR_FORMAT, "it was cut");
    BROKEN(h->header_bytes = 112, CLO_ERR_FORMAT, "its header has 112 bytes");
    BROKEN(h->header_bytes = 136, CLO_ERR_FORMAT, "its header has 136 bytes");
    BROKEN(h->kind = 9, CLO_ERR_UNSUPPORTED, "kind 9");
    BROKEN(h->feature_set = 77, CLO_ERR_UNSUPPORTED, "list 77");
    BROKEN(h->feature_set = 1, CLO_ERR_UNSUPPORTED, "list 1");
    BROKEN(h->name[0] = '\n', CLO_ERR_FORMAT, "name");
    BROKEN(h->name[0] = '\0', CLO_ERR_FORMAT, "name");
    BROKEN(h->name[9] = 'x', CLO_ERR_FORMAT, "name");
    BROKEN(h->score = TINY_H, CLO_ERR_FORMAT, "scores of stages");
    BROKEN(h->score = CLO_MODEL_NONE, CLO_ERR_FORMAT, "scores of stages");
    BROKEN(h->limit = TINY_SCORE, CLO_ERR_FORMAT, "scores of limits");
    BROKEN(h->zero = 1, CLO_ERR_FORMAT, "bytes that are zero");
    BROKEN(h->zeros[1] = 1, CLO_ERR_FORMAT, "bytes that are zero");
    BROKEN(h->parts[CLO_PART_VALUES].count = 200, CLO_ERR_LIMIT, "200 values");
    BROKEN(h->parts[CLO_PART_OPS].count = UINT32_MAX, CLO_ERR_LIMIT, "operations");
    BROKEN(h->parts[CLO_PART_LAYERS].offset += 4, CLO_ERR_FORMAT, "layers lie outside");
    BROKEN(h->parts[CLO_PART_OPS].offset = 0xfffffff0u, CLO_ERR_FORMAT, "operations lie outside");
    BROKEN(h->parts[CLO_PART_TABLES].offset = 0, CLO_ERR_FORMAT, "tables lie outside");
    BROKEN(h->parts[CLO_PART_FEATURES].count--, CLO_ERR_FORMAT, "has 5 features, its inputs need 6");
#undef BROKEN
    h->crc ^= 1;
    refused(f, CLO_ERR_FORMAT, "was changed");
    *h = good;
    assert_int_equal(clo_model_open("m", f->data + 4, f->bytes - 4, &model), CLO_ERR_ARGUMENT);
    assert_int_equal(clo_model_open("m", f->data, 100, &model), CLO_ERR_FORMAT);
    opens(f);
}

#define BROKEN(part, index, type, change, status, text) \
    do {                                                \
        type *e = entry_of(f, part, index), good = *e;  \
        change;                                         \
        seal(f);                                        \
        refused(f, status, text);                       \
        *e = good;                                      \
    } while (0)
#define FEATURE(i, change, text) BROKEN(CLO_PART_FEATURES, i, clo_format_feature, change, CLO_ERR_FORMAT, text)
#define VALUE(i, change, status, text) BROKEN(CLO_PART_VALUES, i, clo_format_value, change, status, text)
#define LAYER(i, change, status, text) BROKEN(CLO_PART_LAYERS, i, clo_format_layer, change, status, text)
#define OP(i, change, text) BROKEN(CLO_PART_OPS, i, clo_format_op, change, CLO_ERR_FORMAT, text)
#define GOLDEN(change, status, text) BROKEN(CLO_PART_GOLDEN, 0, clo_format_golden, change, status, text)

static void every_feature_value_and_layer_has_lines_of_its_own(void **state)
{
    fixture *f = *state;

    FEATURE(1, e->mult = 0, "feature 'b': its scale");
    FEATURE(1, e->shift = 63, "feature 'b': its scale");
    FEATURE(1, e->lo = 121, "feature 'b': its scale");
    FEATURE(3, e->hi = 128, "range is not that of int8");
    FEATURE(2, e->name[0] = '\t', "feature 2: its name");
    FEATURE(2, e->zeros[2] = 1, "zero");
    VALUE(TINY_H, e->number = 3, CLO_ERR_FORMAT, "value 5");
    VALUE(TINY_H, e->domain = 4, CLO_ERR_FORMAT, "value 5");
    VALUE(TINY_H, e->width = 0, CLO_ERR_LIMIT, "0 wide");
    VALUE(TINY_H, e->width = 513, CLO_ERR_LIMIT, "513 wide");
    VALUE(TINY_X, e->number = CLO_MODEL_S32, CLO_ERR_FORMAT, "input of int32");
    VALUE(TINY_H, e->exponent = 3, CLO_ERR_FORMAT, "another shape or scale");
    LAYER(0, e->inputs = 513, CLO_ERR_LIMIT, "layer 0 has 513 inputs");
    LAYER(0, e->outputs = 0, CLO_ERR_LIMIT, "0 outputs");
    LAYER(0, e->weights += 8, CLO_ERR_FORMAT, "weights or biases lie outside");
    LAYER(0, e->bias = 0, CLO_ERR_FORMAT, "weights or biases lie outside");
    LAYER(0, e->m = 0x7ffffff0, CLO_ERR_FORMAT, "its rule lies outside");
    LAYER(0, e->leaky = 257, CLO_ERR_FORMAT, "its rule is impossible");
    LAYER(0, e->lo = 20001, CLO_ERR_FORMAT, "its rule is impossible");
    LAYER(3, e->bias = 512, CLO_ERR_FORMAT, "no inputs, but weights");
    LAYER(4, e->hi = 1, CLO_ERR_FORMAT, "gives int32, but has a rule");
    LAYER(0, e->folded = e->bias, CLO_ERR_FORMAT, "folded biases are not those");
    LAYER(0, e->inputs = 2, CLO_ERR_FORMAT, "padding");
    seal(f);
    opens(f);
}

static void every_operation_table_and_vector_has_lines_of_its_own(void **state)
{
    fixture *f = *state;

    OP(0, e->in[0] = TINY_H, "operation 0: value 5 is read before");
    OP(0, e->in[0] = 99, "operation 0: input 0 is no value");
    OP(0, e->in[0] = CLO_MODEL_NONE, "0 inputs");
    OP(0, e->argument = 60, "its layer or table does not exist");
    OP(0, e->argument = 1, "does not fit layer 1");
    OP(2, e->on = CLO_MODEL_ALL, "operation 5: value 5 is an input or written twice");
    OP(0, e->on = CLO_MODEL_LEAVES, "read before");
    OP(1, e->op = CLO_MODEL_END, "operation 1");
    OP(7, e->op = CLO_MODEL_LOOP, "operation 7");
    OP(2, e->on = CLO_MODEL_INNER, "operation");
    OP(15, e->argument = 1, "table 1 is for other numbers");
    OP(8, e->out = TINY_ALL, "cannot be summed up");
    OP(11, e->in[0] = TINY_MESSAGE, "behind the loop that may be skipped");
    OP(14, e->in[1] = TINY_DAG, "cannot be added");
    OP(3, e->zeros[0] = 1, "zero");
    BROKEN(CLO_PART_OPS, 0, clo_format_op, e->op = 10, CLO_ERR_UNSUPPORTED, "may need a newer library");
    GOLDEN(e->stages = 257, CLO_ERR_LIMIT, "golden vector 0");
    GOLDEN(e->edges = 4, CLO_ERR_FORMAT, "has 4 edges");
    GOLDEN(e->jobs = 1, CLO_ERR_FORMAT, "there are 1");
    GOLDEN(e->inputs = 0x7ffffff0, CLO_ERR_FORMAT, "lies outside");
    BROKEN(CLO_PART_TABLES, 0, clo_format_table, e->number = 2, CLO_ERR_FORMAT, "table 0");
    BROKEN(CLO_PART_TABLES, 1, clo_format_table, e->offset = 0, CLO_ERR_FORMAT, "table 1");
    seal(f);
    opens(f);
}

static void sums_that_could_overflow_are_refused(void **state)
{
    fixture *f = *state;
    void *data = NULL;
    size_t bytes;

    f->tiny.bias[5][3] = INT32_MAX - 100;
    assert_int_equal(clo_model_build(&f->tiny.desc, &data, &bytes), CLO_ERR_LIMIT);
    assert_non_null(strstr(clo_last_error(), "overflow 32 bits"));
    f->tiny.bias[5][3] = INT32_MAX / 2;
    f->tiny.bias[4][3] = INT32_MAX / 2;
    assert_int_equal(clo_model_build(&f->tiny.desc, &data, &bytes), CLO_ERR_LIMIT);
    assert_non_null(strstr(clo_last_error(), "make the parts smaller"));
    assert_null(data);
}

static void a_newer_minor_version_may_use_zero_bytes_and_a_longer_header(void **state)
{
    fixture *f = *state;
    clo_format_header *h = header_of(f);

    h->minor = CLO_MODEL_MINOR + 1;
    h->zeros[1] = 5;
    ((clo_format_value *)entry_of(f, CLO_PART_VALUES, 2))->zeros[0] = 9;
    seal(f);
    opens(f);
}

static void verify_names_the_score_that_differs(void **state)
{
    fixture *f = *state;
    const clo_format_golden *golden = entry_of(f, CLO_PART_GOLDEN, 1);
    clo_model *model;

    ((int32_t *)(void *)(f->data + golden->limit_scores))[2] ^= 1;
    seal(f);
    assert_int_equal(clo_model_open("m", f->data, f->bytes, &model), CLO_OK);
    assert_int_equal(clo_model_verify(model), CLO_ERR_INVALID);
    assert_non_null(strstr(clo_last_error(), "golden vector 1, kernels scalar: limit 2 scores"));
    clo_model_destroy(model);
}

/* A file of version 1.0 that stays as it is: it must be read, verified, and written again byte for byte. */
static void the_file_of_version_1_0_is_read_and_written(void **state)
{
    fixture *f = *state;
    const char *path = CLO_SOURCE "/tests/fuzz/corpus/model/tiny.model";
    clo_model *model;
    size_t bytes;

    if (getenv("CLO_UPDATE_GOLDEN") != NULL) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(f->data, 1, f->bytes, file), f->bytes);
        assert_int_equal(fclose(file), 0);
    }
    assert_int_equal(clo_model_load(path, &model), CLO_OK);
    assert_int_equal(clo_model_verify(model), CLO_OK);
    const void *data = clo_model_data(model, &bytes);
    assert_int_equal(bytes, f->bytes);
    assert_memory_equal(data, f->data, bytes);
    clo_model_destroy(model);
}

static void a_set_of_jobs_without_edges_skips_the_loop(void **state)
{
    fixture *f = *state;
    clo_model *model;
    int32_t with[6], without[6];

    f->tiny.cases[1].inputs = f->tiny.cases[0].inputs;
    assert_int_equal(clo_model_open("m", f->data, f->bytes, &model), CLO_OK);
    assert_int_equal(clo_model_scores(model, &f->tiny.cases[0], with, NULL), CLO_OK);
    assert_int_equal(clo_model_scores(model, &f->tiny.cases[1], without, NULL), CLO_OK);
    assert_memory_not_equal(with, without, sizeof with);
    clo_model_destroy(model);
}

static void a_file_is_loaded_and_lives_on_its_own(void **state)
{
    fixture *f = *state;
    char path[] = "/tmp/clotho_model_XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "wb");
    clo_model *model = NULL;

    assert_non_null(file);
    assert_int_equal(fwrite(f->data, 1, f->bytes, file), f->bytes);
    fclose(file);
    assert_int_equal(clo_model_load(path, &model), CLO_OK);
    remove(path);
    assert_int_equal(clo_model_verify(model), CLO_OK);
    clo_model_destroy(model);
    assert_int_equal(clo_model_load(path, &model), CLO_ERR_IO);
}

/* Two stages, and all edges between them. */
static void a_case_may_have_4096_edges_and_not_one_more(void **state)
{
    fixture *f = *state;
    static const uint32_t jobs[2] = {0, 0};
    uint32_t begin[3] = {0, CLO_MODEL_GOLDEN_EDGES_MAX, CLO_MODEL_GOLDEN_EDGES_MAX};
    uint32_t children[CLO_MODEL_GOLDEN_EDGES_MAX + 1];
    void *data;
    size_t bytes;

    for (uint32_t e = 0; e <= CLO_MODEL_GOLDEN_EDGES_MAX; e++)
        children[e] = 1;
    f->tiny.cases[0].stages = 2;
    f->tiny.cases[0].job_of_stage = jobs;
    f->tiny.cases[0].child_begin = begin;
    f->tiny.cases[0].children = children;
    ok(clo_model_build(&f->tiny.desc, &data, &bytes));
    free(data);
    begin[1]++;
    begin[2]++;
    fails(CLO_ERR_LIMIT, "case 0 has more than 4096 edges", clo_model_build(&f->tiny.desc, &data, &bytes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crc32c_is_the_published_one),
        cmocka_unit_test_setup_teardown(what_was_built_is_read_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_same_description_gives_the_same_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_field_of_the_header_has_a_line_of_its_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_feature_value_and_layer_has_lines_of_its_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_operation_table_and_vector_has_lines_of_its_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sums_that_could_overflow_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_newer_minor_version_may_use_zero_bytes_and_a_longer_header, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(verify_names_the_score_that_differs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_set_of_jobs_without_edges_skips_the_loop, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_file_of_version_1_0_is_read_and_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_is_loaded_and_lives_on_its_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_case_may_have_4096_edges_and_not_one_more, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
