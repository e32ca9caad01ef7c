/* check_file.c - header, tables and places. Every place is checked as offset and length in 64 bits, so that nothing can
 * wrap. */
#include "base/numbers/crc.h"
#include "base/status.h"
#include "learn/format/check.h"

#include <stdbool.h>
#include <string.h>

static const struct {
    const char *name;
    uint32_t bytes, max;
} parts[CLO_PARTS] = {
    {"features", sizeof(clo_format_feature), CLO_MODEL_FEATURES_MAX},
    {"values", sizeof(clo_format_value), CLO_MODEL_VALUES_MAX},
    {"layers", sizeof(clo_format_layer), CLO_MODEL_LAYERS_MAX},
    {"tables", sizeof(clo_format_table), CLO_MODEL_TABLES_MAX},
    {"operations", sizeof(clo_format_op), CLO_MODEL_OPS_MAX},
    {"golden vectors", sizeof(clo_format_golden), CLO_MODEL_GOLDEN_MAX},
};

static bool is_text(const char *text, size_t bytes)
{
    const char *end = memchr(text, '\0', bytes);
    size_t length = end == NULL ? bytes : (size_t)(end - text);

    for (size_t i = 0; i < bytes; i++)
        if (i < length ? text[i] < ' ' || text[i] > '~' : text[i] != '\0')
            return false;
    return length < bytes;
}

static bool is_zero(const void *data, size_t bytes)
{
    const unsigned char *at = data;

    for (size_t i = 0; i < bytes; i++)
        if (at[i] != 0)
            return false;
    return true;
}

/* Zero bytes say nothing in files of this version; newer ones may use them. */
static bool must_be_zero(const clo_model *model)
{
    return model->header->minor <= CLO_MODEL_MINOR;
}

static uint32_t file_crc(const unsigned char *data, size_t bytes)
{
    size_t from = offsetof(clo_format_header, crc), to = from + sizeof(uint32_t);

    return clo_crc32c(clo_crc32c(0, data, from), data + to, bytes - to);
}

static clo_status check_header(const clo_format_header *header, size_t bytes)
{
    if (bytes < sizeof *header)
        return clo_fail(CLO_ERR_FORMAT, "%zu bytes are no model; the shortest has %zu", bytes, sizeof *header);
    if (memcmp(header->magic, CLO_FORMAT_MAGIC, sizeof header->magic) != 0)
        return clo_fail(CLO_ERR_FORMAT, "is no model: it does not begin with " CLO_FORMAT_MAGIC
                                        "; give a file that 'clotho train' wrote");
    if (header->major != CLO_MODEL_MAJOR)
        return clo_fail(CLO_ERR_UNSUPPORTED, "is of version %u.%u, this library reads version %d; convert it again",
                        header->major, header->minor, CLO_MODEL_MAJOR);
    if (header->bytes != bytes)
        return clo_fail(CLO_ERR_FORMAT, "has %zu bytes and says %u; it was cut, or something was added", bytes,
                        header->bytes);
    if (bytes % CLO_FORMAT_ALIGN != 0 || bytes > CLO_MODEL_BYTES_MAX)
        return clo_fail(CLO_ERR_LIMIT, "has %zu bytes; it must be a multiple of %d, at most %d", bytes,
                        CLO_FORMAT_ALIGN, CLO_MODEL_BYTES_MAX);
    if (file_crc((const unsigned char *)header, bytes) != header->crc)
        return clo_fail(CLO_ERR_FORMAT, "was changed: its CRC-32C is not %08x; copy or write it again", header->crc);
    if (header->header_bytes < sizeof *header || header->header_bytes % CLO_FORMAT_ALIGN != 0 ||
        header->header_bytes > bytes)
        return clo_fail(CLO_ERR_FORMAT, "its header has %u bytes", header->header_bytes);
    if (header->minor <= CLO_MODEL_MINOR && (header->zero != 0 || !is_zero(header->zeros, sizeof header->zeros)))
        return clo_fail(CLO_ERR_FORMAT, "its header uses bytes that are zero in version %u.%u", header->major,
                        header->minor);
    if (header->kind > CLO_MODEL_LACHESIS)
        return clo_fail(CLO_ERR_UNSUPPORTED, "is of kind %u, which this library does not know", header->kind);
    if (!is_text(header->name, sizeof header->name) || header->name[0] == '\0')
        return clo_fail(CLO_ERR_FORMAT, "its name is not printable ASCII, or empty");
    return CLO_OK;
}

/* A place of `length` bytes behind the header. */
static bool is_inside(const clo_model *model, uint32_t offset, uint64_t length)
{
    return offset % CLO_FORMAT_ALIGN == 0 && offset >= model->header->header_bytes && length <= model->header->bytes &&
           offset <= model->header->bytes - length;
}

static clo_status check_parts(clo_model *model)
{
    for (int i = 0; i < CLO_PARTS; i++) {
        const clo_format_part *part = &model->header->parts[i];

        if (part->count > parts[i].max)
            return clo_fail(CLO_ERR_LIMIT, "has %u %s, at most %u are read", part->count, parts[i].name, parts[i].max);
        if (!is_inside(model, part->offset, (uint64_t)part->count * parts[i].bytes))
            return clo_fail(CLO_ERR_FORMAT, "its %s lie outside of the file or not at a multiple of 16", parts[i].name);
        model->counts[i] = part->count;
    }
    model->features = (const void *)(model->data + model->header->parts[CLO_PART_FEATURES].offset);
    model->values = (const void *)(model->data + model->header->parts[CLO_PART_VALUES].offset);
    model->layers = (const void *)(model->data + model->header->parts[CLO_PART_LAYERS].offset);
    model->tables = (const void *)(model->data + model->header->parts[CLO_PART_TABLES].offset);
    model->ops = (const void *)(model->data + model->header->parts[CLO_PART_OPS].offset);
    model->golden = (const void *)(model->data + model->header->parts[CLO_PART_GOLDEN].offset);
    return CLO_OK;
}

static clo_status check_values(const clo_model *model)
{
    uint64_t features = 0;

    for (uint32_t i = 0; i < model->counts[CLO_PART_VALUES]; i++) {
        const clo_format_value *value = &model->values[i];

        if (value->number > CLO_MODEL_S32 || value->domain > CLO_MODEL_LIMIT || value->is_input > 1)
            return clo_fail(CLO_ERR_FORMAT, "value %u: its numbers, domain or kind of input do not exist", i);
        if (value->width == 0 || value->width > CLO_MODEL_WIDTH_MAX)
            return clo_fail(CLO_ERR_LIMIT, "value %u is %u wide; 1 to %d are read", i, value->width,
                            CLO_MODEL_WIDTH_MAX);
        if (must_be_zero(model) && (value->zero != 0 || !is_zero(value->zeros, sizeof value->zeros)))
            return clo_fail(CLO_ERR_FORMAT, "value %u uses bytes that are zero in this version", i);
        if (value->is_input && value->number == CLO_MODEL_S32)
            return clo_fail(CLO_ERR_FORMAT, "value %u is an input of int32; features are int8 or int16", i);
        features += value->is_input ? value->width : 0;
    }
    if (features != model->counts[CLO_PART_FEATURES])
        return clo_fail(CLO_ERR_FORMAT, "has %u features, its inputs need %u", model->counts[CLO_PART_FEATURES],
                        (unsigned)features);
    return CLO_OK;
}

static clo_status check_features(const clo_model *model)
{
    uint32_t at = 0;

    for (uint32_t v = 0; v < model->counts[CLO_PART_VALUES]; v++)
        for (uint32_t i = 0; model->values[v].is_input && i < model->values[v].width; i++, at++) {
            const clo_format_feature *feature = &model->features[at];

            if (!is_text(feature->name, sizeof feature->name) || feature->name[0] == '\0')
                return clo_fail(CLO_ERR_FORMAT, "feature %u: its name is not printable ASCII, or empty", at);
            if (feature->mult <= 0 || feature->shift > 62 || feature->lo > feature->hi)
                return clo_fail(CLO_ERR_FORMAT, "feature '%s': its scale or range is impossible", feature->name);
            if (model->values[v].number == CLO_MODEL_S8 && (feature->lo < INT8_MIN || feature->hi > INT8_MAX))
                return clo_fail(CLO_ERR_FORMAT, "feature '%s': its range is not that of int8", feature->name);
            if (must_be_zero(model) &&
                (!is_zero(feature->zero, sizeof feature->zero) || !is_zero(feature->zeros, sizeof feature->zeros)))
                return clo_fail(CLO_ERR_FORMAT, "feature '%s' uses bytes that are zero in this version", feature->name);
        }
    return CLO_OK;
}

/* Offsets of a layer. */
static clo_status check_layer_places(const clo_model *model, uint32_t i)
{
    const clo_format_layer *layer = &model->layers[i];
    uint64_t outputs = clo_up(layer->outputs, CLO_LANES);
    bool is_dense = layer->inputs > 0, has_rule = layer->number != CLO_MODEL_S32;

    if (layer->outputs == 0 || layer->outputs > CLO_MODEL_WIDTH_MAX || layer->inputs > CLO_MODEL_WIDTH_MAX)
        return clo_fail(CLO_ERR_LIMIT, "layer %u has %u inputs and %u outputs; up to %d are read", i, layer->inputs,
                        layer->outputs, CLO_MODEL_WIDTH_MAX);
    if (layer->number > CLO_MODEL_S32)
        return clo_fail(CLO_ERR_FORMAT, "layer %u: its numbers do not exist", i);
    if (is_dense && (!is_inside(model, layer->weights, clo_weights_bytes(layer->inputs, layer->outputs)) ||
                     !is_inside(model, layer->bias, outputs * 4) || !is_inside(model, layer->folded, outputs * 4)))
        return clo_fail(CLO_ERR_FORMAT,
                        "layer %u: weights or biases lie outside of the file or not at a multiple of 16", i);
    if (has_rule && (!is_inside(model, layer->pre, outputs * 4) || !is_inside(model, layer->m, outputs * 2)))
        return clo_fail(CLO_ERR_FORMAT, "layer %u: its rule lies outside of the file or not at a multiple of 16", i);
    if (!is_dense && (layer->weights | layer->bias | layer->folded) != 0)
        return clo_fail(CLO_ERR_FORMAT, "layer %u has no inputs, but weights or biases", i);
    if (!has_rule && (layer->pre | layer->m | (uint16_t)layer->lo | (uint16_t)layer->hi | (uint16_t)layer->leaky) != 0)
        return clo_fail(CLO_ERR_FORMAT, "layer %u gives int32, but has a rule", i);
    if (must_be_zero(model) && (layer->zero != 0 || !is_zero(layer->zeros, sizeof layer->zeros)))
        return clo_fail(CLO_ERR_FORMAT, "layer %u uses bytes that are zero in this version", i);
    return CLO_OK;
}

static clo_status check_table_places(const clo_model *model, uint32_t i)
{
    const clo_format_table *table = &model->tables[i];
    uint32_t bytes = table->number == CLO_MODEL_S8 ? 256 : CLO_TANH_POINTS * 2;

    if (table->number > CLO_MODEL_S16 || !is_inside(model, table->offset, bytes))
        return clo_fail(CLO_ERR_FORMAT, "table %u lies outside of the file, or its numbers do not exist", i);
    if (must_be_zero(model) &&
        (!is_zero(table->zero, sizeof table->zero) || !is_zero(table->zeros, sizeof table->zeros)))
        return clo_fail(CLO_ERR_FORMAT, "table %u uses bytes that are zero in this version", i);
    return CLO_OK;
}

static clo_status check_golden_places(const clo_model *model, uint32_t i)
{
    const clo_format_golden *golden = &model->golden[i];
    const uint32_t rows[] = {golden->stages, golden->jobs, 1, golden->limits};
    uint64_t inputs = 0;

    if (golden->stages > CLO_MODEL_GOLDEN_ROWS_MAX || golden->jobs > CLO_MODEL_GOLDEN_ROWS_MAX ||
        golden->limits > CLO_MODEL_GOLDEN_ROWS_MAX || golden->edges > CLO_MODEL_GOLDEN_EDGES_MAX)
        return clo_fail(CLO_ERR_LIMIT, "golden vector %u has more than %d rows or %d edges", i,
                        CLO_MODEL_GOLDEN_ROWS_MAX, CLO_MODEL_GOLDEN_EDGES_MAX);
    for (uint32_t v = 0; v < model->counts[CLO_PART_VALUES]; v++)
        inputs += model->values[v].is_input ? (uint64_t)rows[model->values[v].domain] * model->values[v].width : 0;
    if (!is_inside(model, golden->inputs, inputs * 2) ||
        !is_inside(model, golden->job_of_stage, golden->stages * 4ull) ||
        !is_inside(model, golden->child_begin, golden->stages * 4ull + 4) ||
        !is_inside(model, golden->children, golden->edges * 4ull) ||
        !is_inside(model, golden->job_of_limit, golden->limits * 4ull) ||
        !is_inside(model, golden->scores, golden->stages * 4ull) ||
        !is_inside(model, golden->limit_scores, golden->limits * 4ull))
        return clo_fail(CLO_ERR_FORMAT, "golden vector %u lies outside of the file or not at a multiple of 16", i);
    if (must_be_zero(model) && golden->zero != 0)
        return clo_fail(CLO_ERR_FORMAT, "golden vector %u uses bytes that are zero in this version", i);
    return CLO_OK;
}

clo_status clo_check_file(clo_model *model, const unsigned char *data, size_t bytes)
{
    clo_status status = check_header((const void *)data, bytes);

    if (status != CLO_OK)
        return status;
    model->data = data;
    model->header = (const void *)data;
    status = check_parts(model);
    if (status == CLO_OK)
        status = check_values(model);
    if (status == CLO_OK)
        status = check_features(model);
    for (uint32_t i = 0; i < model->counts[CLO_PART_LAYERS] && status == CLO_OK; i++)
        status = check_layer_places(model, i);
    for (uint32_t i = 0; i < model->counts[CLO_PART_TABLES] && status == CLO_OK; i++)
        status = check_table_places(model, i);
    for (uint32_t i = 0; i < model->counts[CLO_PART_GOLDEN] && status == CLO_OK; i++)
        status = check_golden_places(model, i);
    return status;
}
