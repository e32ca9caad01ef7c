/* model.c - opening, reading and verifying a model. */
#include "learn/format/opened.h"

#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "learn/format/check.h"
#include "learn/infer/features.h"
#include "learn/infer/run.h"
#include "learn/model/builtin.h"

#include <stdio.h>
#include <string.h>

/* The format is little-endian and read in place. */
static int is_little_endian(void)
{
    const uint16_t one = 1;
    unsigned char first;

    memcpy(&first, &one, 1);
    return first;
}

/* All but the layers, for which there is no room yet. */
static clo_status open_tables(clo_model *model, const void *data, size_t bytes)
{
    if ((uintptr_t)data % CLO_FORMAT_ALIGN != 0)
        return clo_fail(CLO_ERR_ARGUMENT, "does not lie at a multiple of %d bytes; align it", CLO_FORMAT_ALIGN);
    if (!is_little_endian())
        return clo_fail(CLO_ERR_UNSUPPORTED, "models are little-endian, this machine is not");
    clo_status status = clo_check_file(model, data, bytes);
    return status == CLO_OK ? clo_features_check(model) : status;
}

/* `dense` has room for the layers. */
static clo_status open_layers(clo_model *model, clo_dense *dense)
{
    model->dense = dense;
    if (dense == NULL)
        return clo_fail_memory("the layers of a model");
    clo_status status = clo_check_entries(model);
    return status == CLO_OK ? clo_check_ops(model) : status;
}

static clo_status fail_with_name(clo_status status, const char *name)
{
    char place[300];

    snprintf(place, sizeof place, "%.290s: ", name);
    return clo_fail_prefix(status, place);
}

clo_status clo_model_open(const char *name, const void *data, size_t bytes, clo_model **out)
{
    if (name == NULL || data == NULL || out == NULL)
        return clo_fail_null("clo_model_open", "name, data or out");
    clo_model *model = clo_allocate(1, sizeof *model);
    if (model == NULL)
        return clo_fail_memory("a model");
    clo_status status = open_tables(model, data, bytes);
    if (status == CLO_OK)
        status = open_layers(model, clo_allocate(model->counts[CLO_PART_LAYERS], sizeof *model->dense));
    if (status != CLO_OK) {
        clo_model_destroy(model);
        return fail_with_name(status, name);
    }
    *out = model;
    return CLO_OK;
}

size_t clo_builtin_model_bytes(const clo_builtin_model *builtin)
{
    clo_format_header header;

    memcpy(&header, builtin->data, sizeof header);
    size_t layers = is_little_endian() ? header.parts[CLO_PART_LAYERS].count : 0; /* else it will not be opened */
    return clo_up(sizeof(clo_model), CLO_FORMAT_ALIGN) + layers * sizeof(clo_dense);
}

clo_status clo_builtin_model_open(const clo_builtin_model *builtin, void *memory, const clo_model **out)
{
    clo_model *model = memory;

    *model = (clo_model){0};
    clo_status status = open_tables(model, builtin->data, builtin->bytes);
    if (status == CLO_OK)
        status = open_layers(model, (void *)((unsigned char *)memory + clo_up(sizeof *model, CLO_FORMAT_ALIGN)));
    if (status != CLO_OK)
        return fail_with_name(status, builtin->name);
    *out = model;
    return CLO_OK;
}

clo_status clo_model_load(const char *path, clo_model **out)
{
    char *text;
    size_t bytes;

    if (path == NULL || out == NULL)
        return clo_fail_null("clo_model_load", "path or out");
    clo_status status = clo_file_read(path, CLO_MODEL_BYTES_MAX, &text, &bytes);
    if (status != CLO_OK)
        return status;
    void *data = clo_allocate_aligned(bytes > 0 ? bytes : 1, 1);
    if (data != NULL)
        memcpy(data, text, bytes);
    clo_free(text);
    if (data == NULL)
        return clo_fail_memory(path);
    status = clo_model_open(path, data, bytes, out);
    if (status == CLO_OK)
        (*out)->owned = data;
    else
        clo_free(data);
    return status;
}

void clo_model_destroy(clo_model *model)
{
    if (model == NULL)
        return;
    clo_free(model->owned);
    clo_free(model->dense);
    clo_free(model);
}

/* Compares with what the file expects. */
static clo_status compare(uint32_t golden, const char *variant, const char *what, const int32_t *expected,
                          const int32_t *got, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (expected[i] != got[i])
            return clo_fail(CLO_ERR_INVALID, "golden vector %u, kernels %s: %s %u scores %d, the file says %d", golden,
                            variant, what, i, got[i], expected[i]);
    return CLO_OK;
}

static clo_status verify_one(const clo_model *model, const clo_variant *variant, uint32_t i)
{
    const clo_format_golden *golden = &model->golden[i];
    const clo_model_case input = clo_golden_case(model, golden);
    int32_t scores[CLO_MODEL_GOLDEN_ROWS_MAX], limits[CLO_MODEL_GOLDEN_ROWS_MAX];
    clo_kernels kernels;

    memset(limits, 0, sizeof limits);
    clo_kernels_select(&kernels, variant->needs);
    clo_status status = clo_run_ops(model, &kernels, &input, scores, limits);
    if (status == CLO_OK)
        status =
            compare(i, variant->name, "stage", (const void *)(model->data + golden->scores), scores, golden->stages);
    if (status == CLO_OK)
        status = compare(i, variant->name, "limit", (const void *)(model->data + golden->limit_scores), limits,
                         golden->limits);
    return status;
}

clo_status clo_model_verify(const clo_model *model)
{
    uint32_t count, isa = clo_cpu_isa();
    const clo_variant *variants = clo_kernels_variants(&count);
    clo_status status = CLO_OK;

    if (model == NULL)
        return clo_fail_null("clo_model_verify", "model");
    for (uint32_t v = 0; v < count; v++)
        for (uint32_t i = 0;
             i < model->counts[CLO_PART_GOLDEN] && (variants[v].needs & isa) == variants[v].needs && status == CLO_OK;
             i++)
            status = verify_one(model, &variants[v], i);
    return status;
}

clo_status clo_model_scores(const clo_model *model, const clo_model_case *input, int32_t *scores, int32_t *limits)
{
    clo_kernels kernels;

    if (model == NULL || input == NULL || scores == NULL)
        return clo_fail_null("clo_model_scores", "model, input or scores");
    if (input->inputs == NULL || input->child_begin == NULL || (input->stages > 0 && input->job_of_stage == NULL) ||
        (input->limits > 0 && input->job_of_limit == NULL))
        return clo_fail_null("clo_model_scores", "an array of the input");
    clo_status status = clo_check_case(model, input);
    if (status != CLO_OK)
        return status == CLO_ERR_FORMAT ? clo_fail_prefix(CLO_ERR_ARGUMENT, "clo_model_scores: ") : status;
    clo_kernels_select(&kernels, clo_cpu_isa());
    return clo_run_ops(model, &kernels, input, scores, limits);
}

const void *clo_model_data(const clo_model *model, size_t *bytes)
{
    if (bytes != NULL)
        *bytes = model == NULL ? 0 : model->header->bytes;
    return model == NULL ? NULL : model->data;
}
