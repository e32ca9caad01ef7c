/* fuzz_model.c - model files. Random bytes hardly ever have the right size and CRC, so both are mended first: that way
 * the checks behind them are reached. What opens is read
 * and run. */
#include "base/numbers/crc.h"
#include "fuzz.h"
#include "learn/format/format.h"

#include <string.h>

/* A run of the golden vectors takes at most so many multiplications. */
#define WORK_MAX 20000000u

static uint64_t work(const clo_model_info *info)
{
    uint64_t each = info->ops;

    for (int i = 0; i < 4; i++)
        each += info->multiplications[i];
    return each * info->golden * CLO_MODEL_GOLDEN_ROWS_MAX;
}

static void look(const clo_model *model)
{
    clo_model_info info = CLO_MODEL_INFO_INIT;
    clo_model_feature feature;
    clo_model_value value;
    clo_model_layer layer;
    clo_model_op op;

    PROMISE(clo_model_inspect(model, &info) == CLO_OK);
    PROMISE(strlen(info.name) < CLO_MODEL_NAME_BYTES);
    for (uint32_t i = 0; i < info.features; i++)
        PROMISE(clo_model_feature_at(model, i, &feature) == CLO_OK && feature.mult > 0 && feature.lo <= feature.hi);
    for (uint32_t i = 0; i < info.values; i++)
        PROMISE(clo_model_value_at(model, i, &value) == CLO_OK && value.width > 0);
    for (uint32_t i = 0; i < info.layers; i++)
        PROMISE(clo_model_layer_at(model, i, &layer) == CLO_OK && layer.outputs > 0);
    for (uint32_t i = 0; i < info.ops; i++)
        PROMISE(clo_model_op_at(model, i, &op) == CLO_OK);
    if (work(&info) > WORK_MAX)
        return;
    clo_status status = clo_model_verify(model);
    PROMISE(status == CLO_OK || status == CLO_ERR_INVALID || status == CLO_ERR_MEMORY);
}

static void try(const unsigned char *data, size_t bytes)
{
    clo_model *model = NULL;
    clo_status status = clo_model_open("f", data, bytes, &model);

    if (status != CLO_OK) {
        PROMISE(model == NULL && strncmp(clo_last_error(), "f: ", 3) == 0);
        return;
    }
    look(model);
    clo_model_destroy(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    size_t whole = bytes / CLO_FORMAT_ALIGN * CLO_FORMAT_ALIGN, from = offsetof(clo_format_header, crc);

    if (whole == 0)
        return 0;
    /* Of the exact size: the address sanitizer sees a read behind the end. */
    unsigned char *copy = aligned_alloc(CLO_FORMAT_ALIGN, whole);
    PROMISE(copy != NULL);
    memcpy(copy, data, whole);
    try(copy, whole);
    if (whole >= sizeof(clo_format_header)) {
        clo_format_header *header = (void *)copy;
        header->bytes = (uint32_t)whole;
        header->crc = clo_crc32c(clo_crc32c(0, copy, from), copy + from + 4, whole - from - 4);
        try(copy, whole);
    }
    free(copy);
    return 0;
}
