/* build.c - from plain arrays to the bytes of a model. The same code runs twice: first it only counts, then it
 * writes. */
#include "base/memory.h"
#include "base/numbers/crc.h"
#include "base/status.h"
#include "learn/format/opened.h"

#include <stdbool.h>
#include <string.h>

typedef struct writer {
    /* NULL: only count */
    unsigned char *data;
    size_t bytes;
} writer;

/* Room for `bytes`, zeroed. Returns the offset. */
static uint32_t place(writer *w, size_t bytes)
{
    size_t at = w->bytes;

    w->bytes += (bytes + CLO_FORMAT_ALIGN - 1) / CLO_FORMAT_ALIGN * CLO_FORMAT_ALIGN;
    return (uint32_t)at;
}

static uint32_t copy(writer *w, const void *from, size_t bytes, size_t padded)
{
    uint32_t at = place(w, padded);

    if (w->data != NULL && bytes > 0)
        memcpy(w->data + at, from, bytes);
    return at;
}

/* The entry of a table; NULL while counting. */
static void *entry(const writer *w, uint32_t table, uint32_t index, size_t bytes)
{
    return w->data == NULL ? NULL : w->data + table + index * bytes;
}

static void put_header(writer *w, const clo_model_desc *desc, const uint32_t tables[CLO_PARTS],
                       const uint32_t counts[CLO_PARTS])
{
    clo_format_header *header = (void *)w->data;

    if (header == NULL)
        return;
    memcpy(header->magic, CLO_FORMAT_MAGIC, sizeof header->magic);
    header->major = CLO_MODEL_MAJOR;
    header->minor = CLO_MODEL_MINOR;
    header->header_bytes = sizeof *header;
    header->kind = (uint16_t)desc->kind;
    header->feature_set = desc->feature_set;
    memcpy(header->name, desc->name, strlen(desc->name));
    header->score = (uint16_t)desc->score;
    header->limit = (uint16_t)desc->limit;
    for (int i = 0; i < CLO_PARTS; i++)
        header->parts[i] = (clo_format_part){tables[i], counts[i]};
}

static void put_features(writer *w, const clo_model_desc *desc, uint32_t table)
{
    for (uint32_t i = 0; w->data != NULL && i < desc->features_count; i++) {
        clo_format_feature *to = entry(w, table, i, sizeof *to);
        const clo_model_feature *from = &desc->features[i];
        memcpy(to->name, from->name, strlen(from->name));
        to->mult = from->mult;
        to->shift = (uint8_t)from->shift;
        to->lo = from->lo;
        to->hi = from->hi;
    }
}

static void put_values(writer *w, const clo_model_desc *desc, uint32_t table)
{
    for (uint32_t i = 0; w->data != NULL && i < desc->values_count; i++) {
        clo_format_value *to = entry(w, table, i, sizeof *to);
        const clo_model_value *from = &desc->values[i];
        *to = (clo_format_value){.number = (uint8_t)from->number,
                                 .domain = (uint8_t)from->domain,
                                 .width = (uint16_t)from->width,
                                 .exponent = (int16_t)from->exponent,
                                 .is_input = from->is_input != 0};
    }
}

static void put_layer(writer *w, const clo_model_layer *from, uint32_t table, uint32_t index)
{
    clo_format_layer made = {.inputs = from->inputs, .outputs = from->outputs, .number = (uint8_t)from->number};
    size_t outputs = clo_up(from->outputs, CLO_LANES);

    if (from->inputs > 0) {
        made.weights = place(w, clo_weights_bytes(from->inputs, from->outputs));
        made.bias = copy(w, from->bias, from->outputs * sizeof(int32_t), outputs * sizeof(int32_t));
        made.folded = place(w, outputs * sizeof(int32_t));
    }
    if (from->number != CLO_MODEL_S32) {
        made.lo = from->lo;
        made.hi = from->hi;
        made.leaky = from->leaky;
        made.pre = copy(w, from->pre, from->outputs * sizeof(int32_t), outputs * sizeof(int32_t));
        made.m = copy(w, from->m, from->outputs * sizeof(int16_t), outputs * sizeof(int16_t));
    }
    if (w->data == NULL)
        return;
    if (from->inputs > 0) {
        const clo_dense layer = {.inputs = from->inputs,
                                 .outputs = from->outputs,
                                 .weights = (const void *)(w->data + made.weights),
                                 .bias = (const void *)(w->data + made.bias)};
        clo_weights_pack(from->weights, from->inputs, from->outputs, (void *)(w->data + made.weights));
        clo_dense_fold(&layer, (void *)(w->data + made.folded));
    }
    memcpy(entry(w, table, index, sizeof made), &made, sizeof made);
}

static void put_table(writer *w, const clo_model_table *from, uint32_t table, uint32_t index)
{
    size_t bytes = from->number == CLO_MODEL_S8 ? 256 : CLO_TANH_POINTS * sizeof(int16_t);
    clo_format_table made = {.number = (uint8_t)from->number};

    made.offset = copy(w, from->points, bytes, bytes);
    if (w->data != NULL)
        memcpy(entry(w, table, index, sizeof made), &made, sizeof made);
}

static void put_ops(writer *w, const clo_model_desc *desc, uint32_t table)
{
    for (uint32_t i = 0; w->data != NULL && i < desc->ops_count; i++) {
        clo_format_op *to = entry(w, table, i, sizeof *to);
        const clo_model_op *from = &desc->ops[i];
        *to = (clo_format_op){.op = (uint16_t)from->op,
                              .on = (uint16_t)from->on,
                              .out = (uint16_t)from->out,
                              .argument = (uint16_t)from->argument};
        for (uint32_t k = 0; k < CLO_MODEL_OP_INPUTS; k++)
            to->in[k] = (uint16_t)from->in[k];
    }
}

/* Numbers that the inputs of a case have. */
static size_t input_numbers(const clo_model_desc *desc, const clo_model_case *from)
{
    const size_t rows[] = {from->stages, from->jobs, 1, from->limits};
    size_t numbers = 0;

    for (uint32_t v = 0; v < desc->values_count; v++)
        numbers += desc->values[v].is_input ? rows[desc->values[v].domain] * desc->values[v].width : 0;
    return numbers;
}

/* The scores are not known yet. */
static void put_golden(writer *w, const clo_model_desc *desc, uint32_t table, uint32_t index)
{
    const clo_model_case *from = &desc->cases[index];
    clo_format_golden made = {
        .stages = from->stages, .jobs = from->jobs, .limits = from->limits, .edges = from->child_begin[from->stages]};
    size_t inputs = input_numbers(desc, from) * sizeof(int16_t);

    made.inputs = copy(w, from->inputs, inputs, inputs);
    made.job_of_stage = copy(w, from->job_of_stage, from->stages * sizeof(uint32_t), from->stages * sizeof(uint32_t));
    made.child_begin =
        copy(w, from->child_begin, (from->stages + 1) * sizeof(uint32_t), (from->stages + 1) * sizeof(uint32_t));
    made.children = copy(w, from->children, made.edges * sizeof(uint32_t), made.edges * sizeof(uint32_t));
    made.job_of_limit = copy(w, from->job_of_limit, from->limits * sizeof(uint32_t), from->limits * sizeof(uint32_t));
    made.scores = place(w, from->stages * sizeof(int32_t));
    made.limit_scores = place(w, from->limits * sizeof(int32_t));
    if (w->data != NULL)
        memcpy(entry(w, table, index, sizeof made), &made, sizeof made);
}

static void put(writer *w, const clo_model_desc *desc)
{
    const uint32_t counts[CLO_PARTS] = {desc->features_count, desc->values_count, desc->layers_count,
                                        desc->tables_count,   desc->ops_count,    desc->cases_count};
    static const size_t sizes[CLO_PARTS] = {sizeof(clo_format_feature), sizeof(clo_format_value),
                                            sizeof(clo_format_layer),   sizeof(clo_format_table),
                                            sizeof(clo_format_op),      sizeof(clo_format_golden)};
    uint32_t tables[CLO_PARTS];

    place(w, sizeof(clo_format_header));
    for (int i = 0; i < CLO_PARTS; i++)
        tables[i] = place(w, counts[i] * sizes[i]);
    put_header(w, desc, tables, counts);
    put_features(w, desc, tables[CLO_PART_FEATURES]);
    put_values(w, desc, tables[CLO_PART_VALUES]);
    put_ops(w, desc, tables[CLO_PART_OPS]);
    for (uint32_t i = 0; i < desc->layers_count; i++)
        put_layer(w, &desc->layers[i], tables[CLO_PART_LAYERS], i);
    for (uint32_t i = 0; i < desc->tables_count; i++)
        put_table(w, &desc->tables[i], tables[CLO_PART_TABLES], i);
    for (uint32_t i = 0; i < desc->cases_count; i++)
        put_golden(w, desc, tables[CLO_PART_GOLDEN], i);
}

static void seal(unsigned char *data, size_t bytes)
{
    clo_format_header *header = (void *)data;
    size_t from = offsetof(clo_format_header, crc), to = from + sizeof header->crc;

    header->bytes = (uint32_t)bytes;
    header->crc = clo_crc32c(clo_crc32c(0, data, from), data + to, bytes - to);
}

static clo_status check_array(const void *array, uint32_t count, uint32_t max, const char *what)
{
    if (array == NULL && count > 0)
        return clo_fail(CLO_ERR_ARGUMENT, "desc.%s is NULL", what);
    return count > max ? clo_fail(CLO_ERR_LIMIT, "desc.%s has %u entries; at most %u", what, count, max) : CLO_OK;
}

/* What decides how much is read of the caller's arrays; the rest is left to clo_model_open. */
static clo_status check_entries(const clo_model_desc *desc)
{
    for (uint32_t i = 0; i < desc->features_count; i++)
        if (desc->features[i].name == NULL || strlen(desc->features[i].name) >= CLO_MODEL_FEATURE_BYTES ||
            desc->features[i].shift > 62)
            return clo_fail(CLO_ERR_ARGUMENT, "feature %u has no name, too long a one, or a shift over 62", i);
    for (uint32_t i = 0; i < desc->values_count; i++)
        if (desc->values[i].width == 0 || desc->values[i].width > CLO_MODEL_WIDTH_MAX ||
            (unsigned)desc->values[i].domain > CLO_MODEL_LIMIT || (unsigned)desc->values[i].number > CLO_MODEL_S32)
            return clo_fail(CLO_ERR_ARGUMENT, "value %u: its numbers, domain or width do not exist", i);
    for (uint32_t i = 0; i < desc->layers_count; i++) {
        const clo_model_layer *layer = &desc->layers[i];
        if (layer->outputs == 0 || layer->outputs > CLO_MODEL_WIDTH_MAX || layer->inputs > CLO_MODEL_WIDTH_MAX ||
            (unsigned)layer->number > CLO_MODEL_S32)
            return clo_fail(CLO_ERR_ARGUMENT, "layer %u has %u inputs and %u outputs, or numbers that do not exist", i,
                            layer->inputs, layer->outputs);
        if ((layer->inputs > 0 && (layer->weights == NULL || layer->bias == NULL)) ||
            (layer->number != CLO_MODEL_S32 && (layer->pre == NULL || layer->m == NULL)))
            return clo_fail(CLO_ERR_ARGUMENT, "layer %u: an array is NULL", i);
    }
    for (uint32_t i = 0; i < desc->tables_count; i++)
        if (desc->tables[i].points == NULL || (unsigned)desc->tables[i].number > CLO_MODEL_S16)
            return clo_fail(CLO_ERR_ARGUMENT, "table %u has no points, or numbers that do not exist", i);
    return CLO_OK;
}

static clo_status check_case(const clo_model_case *input, uint32_t i)
{
    if (input->stages > CLO_MODEL_GOLDEN_ROWS_MAX || input->jobs > CLO_MODEL_GOLDEN_ROWS_MAX ||
        input->limits > CLO_MODEL_GOLDEN_ROWS_MAX)
        return clo_fail(CLO_ERR_LIMIT, "case %u has more than %d rows", i, CLO_MODEL_GOLDEN_ROWS_MAX);
    if (input->inputs == NULL || input->child_begin == NULL || (input->stages > 0 && input->job_of_stage == NULL) ||
        (input->limits > 0 && input->job_of_limit == NULL) ||
        (input->child_begin[input->stages] > 0 && input->children == NULL))
        return clo_fail(CLO_ERR_ARGUMENT, "case %u: an array is NULL", i);
    return input->child_begin[input->stages] > CLO_MODEL_GOLDEN_EDGES_MAX
               ? clo_fail(CLO_ERR_LIMIT, "case %u has more than %d edges", i, CLO_MODEL_GOLDEN_EDGES_MAX)
               : CLO_OK;
}

static clo_status check_desc(const clo_model_desc *desc)
{
    const struct {
        const void *array;
        uint32_t count, max;
        const char *what;
    } arrays[] = {{desc->features, desc->features_count, CLO_MODEL_FEATURES_MAX, "features"},
                  {desc->values, desc->values_count, CLO_MODEL_VALUES_MAX, "values"},
                  {desc->layers, desc->layers_count, CLO_MODEL_LAYERS_MAX, "layers"},
                  {desc->tables, desc->tables_count, CLO_MODEL_TABLES_MAX, "tables"},
                  {desc->ops, desc->ops_count, CLO_MODEL_OPS_MAX, "ops"},
                  {desc->cases, desc->cases_count, CLO_MODEL_GOLDEN_MAX, "cases"}};
    clo_status status = CLO_OK;

    if (desc->name == NULL || strlen(desc->name) >= CLO_MODEL_NAME_BYTES)
        return clo_fail(CLO_ERR_ARGUMENT, "desc.name is NULL or has %d characters or more", CLO_MODEL_NAME_BYTES);
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0] && status == CLO_OK; i++)
        status = check_array(arrays[i].array, arrays[i].count, arrays[i].max, arrays[i].what);
    if (status == CLO_OK)
        status = check_entries(desc);
    for (uint32_t i = 0; i < desc->cases_count && status == CLO_OK; i++)
        status = check_case(&desc->cases[i], i);
    return status;
}

/* Computes the scores of all golden vectors and stores them. */
static clo_status score(const clo_model_desc *desc, unsigned char *data, size_t bytes)
{
    clo_model *model = NULL;
    clo_status status = clo_model_open(desc->name, data, bytes, &model);

    for (uint32_t i = 0; status == CLO_OK && i < desc->cases_count; i++) {
        const clo_format_golden *golden = &model->golden[i];
        const clo_model_case input = clo_golden_case(model, golden);
        status =
            clo_model_scores(model, &input, (void *)(data + golden->scores), (void *)(data + golden->limit_scores));
    }
    clo_model_destroy(model);
    return status;
}

clo_status clo_model_build(const clo_model_desc *desc, void **out, size_t *bytes)
{
    clo_model_desc mine = CLO_MODEL_DESC_INIT;
    writer w = {0};

    if (desc == NULL || out == NULL || bytes == NULL)
        return clo_fail_null("clo_model_build", "desc, out or bytes");
    clo_status status = clo_config_read(&mine, sizeof mine, desc, "desc");
    if (status == CLO_OK)
        status = check_desc(&mine);
    if (status != CLO_OK)
        return status;
    put(&w, &mine);
    if (w.bytes > CLO_MODEL_BYTES_MAX)
        return clo_fail(CLO_ERR_LIMIT, "a model of %zu bytes; at most %d are read", w.bytes, CLO_MODEL_BYTES_MAX);
    size_t whole = w.bytes;
    w = (writer){clo_allocate_aligned(whole, 1), 0};
    if (w.data == NULL)
        return clo_fail_memory("the bytes of a model");
    put(&w, &mine);
    seal(w.data, whole);
    status = score(&mine, w.data, whole);
    if (status != CLO_OK) {
        clo_free(w.data);
        return status;
    }
    seal(w.data, whole);
    *out = w.data;
    *bytes = whole;
    return CLO_OK;
}
