/* test_infer.c - a model in memory that the caller gives scores as row by row does (learn/infer/run.h), bit for bit,
 * with every variant of the kernels. Mutations: a tile that loads one row too few, a level begun too early, a life in
 * the tile that ends one step too soon. */
#define _POSIX_C_SOURCE 200809L
#include "drawn_model.h"
#include "learn/infer/infer.h"
#include "learn/infer/run.h"
#include "support.h"
#include "tiny_model.h"

#include <string.h>

enum { MODELS = 60, CASES = 10, GUARD = 4096, GUARD_BYTE = 0x5a, ROWS = DRAWN_ROWS_MAX };

/* A drawn model, opened, and what it should score. */
typedef struct fixture {
    drawn_model drawn;
    drawn_case one;
    clo_model *model;
    void *data;
    int32_t scores[ROWS], limits[ROWS], wanted[ROWS], wanted_limits[ROWS];
    unsigned char *block;
    size_t bytes;
} fixture;

static int set_up(void **state)
{
    *state = calloc(1, sizeof(fixture));
    return *state == NULL;
}

static int tear_down(void **state)
{
    free(*state);
    return 0;
}

static void open_drawn(fixture *f, uint64_t seed)
{
    size_t bytes;

    drawn_model_draw(&f->drawn, seed);
    assert_true(f->drawn.desc.ops_count <= DRAWN_OPS_MAX && f->drawn.desc.values_count <= DRAWN_VALUES_MAX);
    if (clo_model_build(&f->drawn.desc, &f->data, &bytes) != CLO_OK ||
        clo_model_open("drawn", f->data, bytes, &f->model) != CLO_OK)
        fail_msg("seed %llu: %s", (unsigned long long)seed, clo_last_error());
}

static void close_drawn(fixture *f)
{
    clo_model_destroy(f->model);
    free(f->data);
}

/* In memory of exactly the size that is asked for, with guarded bytes behind it. */
static clo_infer *begin(fixture *f, const clo_kernels *kernels, const clo_infer_sizes *sizes)
{
    void *block = NULL;

    f->bytes = clo_infer_bytes(f->model, sizes);
    assert_int_not_equal(f->bytes, 0);
    assert_int_equal(posix_memalign(&block, 64, f->bytes + GUARD), 0);
    f->block = block;
    memset(f->block, GUARD_BYTE, f->bytes + GUARD);
    return clo_infer_init(f->model, kernels, sizes, f->block);
}

static void end(fixture *f)
{
    for (size_t i = 0; i < GUARD; i++)
        assert_int_equal(f->block[f->bytes + i], GUARD_BYTE);
    free(f->block);
}

static clo_infer_sizes sizes_of(const clo_model_case *input)
{
    return (clo_infer_sizes){input->stages, input->jobs, input->limits, input->child_begin[input->stages]};
}

/* The row-by-row scores of the case, with scalar kernels. */
static void want(fixture *f)
{
    clo_kernels scalar;

    clo_kernels_select(&scalar, 0);
    memset(f->wanted_limits, 0, sizeof f->wanted_limits);
    assert_int_equal(clo_run_ops(f->model, &scalar, &f->one.input, f->wanted, f->wanted_limits), CLO_OK);
}

static void same_scores(const fixture *f, const char *variant, uint64_t seed)
{
    for (uint32_t i = 0; i < f->one.input.stages; i++)
        if (f->scores[i] != f->wanted[i])
            fail_msg("%s, seed %llu: stage %u scores %d, not %d", variant, (unsigned long long)seed, i, f->scores[i],
                     f->wanted[i]);
    for (uint32_t i = 0; i < f->one.input.limits; i++)
        if (f->limits[i] != f->wanted_limits[i])
            fail_msg("%s, seed %llu: limit %u scores %d, not %d", variant, (unsigned long long)seed, i, f->limits[i],
                     f->wanted_limits[i]);
}

/* Each variant that this CPU runs, in turn; NULL behind the last. */
static const char *next_variant(uint32_t *at, clo_kernels *kernels)
{
    uint32_t count, isa = clo_cpu_isa();
    const clo_variant *variants = clo_kernels_variants(&count);

    while (*at < count && (variants[*at].needs & isa) != variants[*at].needs)
        ++*at;
    if (*at >= count)
        return NULL;
    clo_kernels_select(kernels, variants[*at].needs);
    return variants[(*at)++].name;
}

static void whole_models_score_as_row_by_row(void **state)
{
    fixture *f = *state;

    for (uint64_t seed = 0; seed < MODELS; seed++) {
        open_drawn(f, seed);
        for (uint32_t i = 0; i < CASES; i++) {
            clo_kernels kernels;
            const char *variant;
            drawn_case_draw(&f->one, &f->drawn.desc, (drawn_shape)(i % DRAWN_SHAPES), i % 3 == 0 ? ROWS : 24,
                            seed * CASES + i);
            want(f);
            for (uint32_t v = 0; (variant = next_variant(&v, &kernels)) != NULL;) {
                const clo_infer_sizes sizes = sizes_of(&f->one.input);
                clo_infer *infer = begin(f, &kernels, &sizes);
                clo_infer_run(infer, &f->one.input, f->scores, f->limits);
                same_scores(f, variant, seed);
                end(f);
            }
        }
        close_drawn(f);
    }
}

/* One memory for cases of many sizes: nothing of an earlier case shows in a later one. */
static void cases_follow_each_other_in_one_memory(void **state)
{
    fixture *f = *state;
    const clo_infer_sizes sizes = {ROWS, ROWS, ROWS, DRAWN_EDGES_MAX};
    clo_kernels kernels;

    clo_kernels_select(&kernels, clo_cpu_isa());
    for (uint64_t seed = 100; seed < 100 + MODELS; seed++) {
        open_drawn(f, seed);
        clo_infer *infer = begin(f, &kernels, &sizes);
        for (uint32_t i = 0; i < CASES; i++) {
            drawn_case_draw(&f->one, &f->drawn.desc, (drawn_shape)((i + seed) % DRAWN_SHAPES), 1u << (i % 9),
                            seed * CASES + i);
            want(f);
            clo_infer_run(infer, &f->one.input, f->scores, f->limits);
            same_scores(f, "best", seed);
        }
        end(f);
        close_drawn(f);
    }
}

/* Any stages in any order, some of them twice. */
static void some_stages_score_as_all_of_them_do(void **state)
{
    static const uint32_t counts[] = {0, 1, 2, 3, 15, 16, 17, 63, 64, 65, 200};
    fixture *f = *state;
    const clo_infer_sizes sizes = {ROWS, ROWS, ROWS, DRAWN_EDGES_MAX};
    clo_kernels kernels;

    clo_kernels_select(&kernels, clo_cpu_isa());
    for (uint64_t seed = 200; seed < 200 + MODELS; seed++) {
        open_drawn(f, seed);
        clo_infer *infer = begin(f, &kernels, &sizes);
        drawn_case_draw(&f->one, &f->drawn.desc, DRAWN_ANY, ROWS, seed);
        want(f);
        clo_infer_encode(infer, &f->one.input);
        for (uint32_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            uint32_t stages[ROWS];
            for (uint32_t i = 0; i < counts[c]; i++)
                stages[i] = (i * 7919u + c) % f->one.input.stages;
            f->scores[counts[c]] = GUARD_BYTE;
            clo_infer_score(infer, stages, counts[c], f->scores);
            for (uint32_t i = 0; i < counts[c]; i++)
                assert_int_equal(f->scores[i], f->wanted[stages[i]]);
            assert_int_equal(f->scores[counts[c]], GUARD_BYTE);
        }
        end(f);
        close_drawn(f);
    }
}

/* All limits of the case belong to one job here, so they are also those that the job alone is asked for. */
static void limits_of_a_job_score_as_in_the_whole_case(void **state)
{
    fixture *f = *state;
    const clo_infer_sizes sizes = {ROWS, ROWS, ROWS, DRAWN_EDGES_MAX};
    clo_kernels kernels;

    clo_kernels_select(&kernels, clo_cpu_isa());
    for (uint64_t seed = 300; seed < 300 + MODELS; seed++) {
        open_drawn(f, seed);
        clo_infer *infer = begin(f, &kernels, &sizes);
        drawn_case_draw(&f->one, &f->drawn.desc, DRAWN_ANY, ROWS, seed);
        uint32_t job = (uint32_t)(seed % f->one.input.jobs), limits = f->one.input.limits;
        for (uint32_t i = 0; i < limits; i++)
            f->one.job_of_limit[i] = job;
        want(f);
        const int16_t *from = f->one.inputs;
        const uint32_t rows[] = {f->one.input.stages, f->one.input.jobs, 1, limits};
        uint32_t before = 0, value = 0;
        for (; f->drawn.values[value].domain != CLO_MODEL_LIMIT; value++) /* the one input of limits */
            before += rows[f->drawn.values[value].domain] * f->drawn.values[value].width;
        clo_infer_encode(infer, &f->one.input);
        clo_infer_limits(infer, job, from + before, limits, f->limits);
        assert_memory_equal(f->limits, f->wanted_limits, limits * sizeof *f->limits);
        clo_infer_limits(infer, job, from + before, limits < 3 ? limits : 3, f->limits);
        assert_memory_equal(f->limits, f->wanted_limits, (limits < 3 ? limits : 3) * sizeof *f->limits);
        end(f);
        close_drawn(f);
    }
}

static void a_case_without_any_stage_is_run(void **state)
{
    fixture *f = *state;
    const uint32_t begins[1] = {0};
    const int16_t inputs[DRAWN_FEATURES_MAX] = {0};
    const clo_infer_sizes sizes = {0};
    clo_kernels kernels;

    clo_kernels_select(&kernels, clo_cpu_isa());
    for (uint64_t seed = 0; seed < MODELS; seed++) {
        open_drawn(f, seed);
        clo_infer *infer = begin(f, &kernels, &sizes);
        clo_infer_run(infer, &(clo_model_case){.child_begin = begins, .inputs = inputs}, f->scores, f->limits);
        end(f);
        close_drawn(f);
    }
}

/* Encoder: prep 3 x 5, update and message 5 x 5 a stage; part of the job 2 x 17; of all 5 x 17. Heads: of a stage
 * 5 x 17 and 17, of a limit 17 and 17. Each head charges one more for its row. */
static void steps_are_multiplications(void **state)
{
    fixture *f = *state;
    tiny_model *tiny = calloc(1, sizeof *tiny);
    size_t bytes;
    const clo_infer_sizes sizes = {6, 2, 3, 5};
    clo_kernels kernels;

    assert_non_null(tiny);
    tiny_model_draw(tiny, 1);
    assert_int_equal(clo_model_build(&tiny->desc, &f->data, &bytes), CLO_OK);
    assert_int_equal(clo_model_open("tiny", f->data, bytes, &f->model), CLO_OK);
    clo_kernels_select(&kernels, 0);
    const clo_infer *infer = begin(f, &kernels, &sizes);
    assert_int_equal(clo_infer_steps_encode(infer, 64, 0), 65 + (85 + 63) / 64);
    assert_int_equal(clo_infer_steps_encode(infer, 0, 64), 34 + (85 + 63) / 64);
    assert_int_equal(clo_infer_steps_heads(infer, 64, 0), 85 + 17 + 1);
    assert_int_equal(clo_infer_steps_heads(infer, 0, 64), 17 + 17 + 1);
    end(f);
    close_drawn(f);
    free(tiny);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(whole_models_score_as_row_by_row, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cases_follow_each_other_in_one_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(some_stages_score_as_all_of_them_do, set_up, tear_down),
        cmocka_unit_test_setup_teardown(limits_of_a_job_score_as_in_the_whole_case, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_case_without_any_stage_is_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(steps_are_multiplications, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
