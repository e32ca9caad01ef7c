/* model_edit.c - see model_edit.h. The bytes are those of docs/MODELS.md. */
#include "lachesis/model_edit.h"
#include "common/platform.h"

#include <clotho/features.h>

#include <stdlib.h>
#include <string.h>

enum {
    LAYERS_AT = 80,
    LAYER_BYTES = 64,
    SCORE_AT = 56,
    CRC_AT = 12,
    LANES = 16,
    DEPTH = 4,
    ALIGN = 16,
    HEAD_OUTPUTS = 32
};

static uint32_t get(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void put(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

/* CRC-32C (RFC 3720), bit by bit. */
static uint32_t crc32c(uint32_t crc, const uint8_t *at, size_t bytes)
{
    crc = ~crc;
    for (size_t i = 0; i < bytes; i++) {
        crc ^= at[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    }
    return ~crc;
}

typedef struct layer {
    uint32_t inputs, outputs;
    int8_t *weights;
    uint8_t *bias, *folded;
} layer;

static layer layer_at(uint8_t *data, uint32_t index)
{
    const uint8_t *row = data + get(data + LAYERS_AT) + (size_t)index * LAYER_BYTES;
    layer l = {.inputs = get(row), .outputs = get(row + 4)};

    l.weights = l.inputs > 0 ? (int8_t *)(data + get(row + 8)) : NULL;
    l.bias = get(row + 12) > 0 ? data + get(row + 12) : NULL;
    l.folded = get(row + 16) > 0 ? data + get(row + 16) : NULL;
    return l;
}

/* Weight k of output n. */
static int8_t *weight(const layer *l, uint32_t n, uint32_t k)
{
    size_t groups = (l->inputs + DEPTH - 1) / DEPTH;

    return &l->weights[((n / LANES * groups + k / DEPTH) * LANES + n % LANES) * DEPTH + k % DEPTH];
}

/* Folded biases: bias - 128 * sum of the weights. */
static void fold(const layer *l)
{
    for (uint32_t n = 0; n < l->outputs && l->folded != NULL; n++) {
        uint32_t bias = l->bias != NULL ? get(l->bias + 4 * (size_t)n) : 0;
        int32_t sum = 0; /* of at most 512 int8 */
        for (uint32_t k = 0; k < l->inputs; k++)
            sum += *weight(l, n, k);
        put(l->folded + 4 * (size_t)n, bias - 128 * (uint32_t)sum);
    }
}

static uint8_t *copy_of(const clo_model *model, size_t *bytes)
{
    const void *data = clo_model_data(model, bytes);
    uint8_t *copy = aligned_alloc(ALIGN, *bytes);

    if (copy == NULL)
        bench_fail("no memory for a model");
    else
        memcpy(copy, data, *bytes);
    return copy;
}

static void seal(uint8_t *data, size_t bytes)
{
    put(data + CRC_AT, crc32c(crc32c(0, data, CRC_AT), data + CRC_AT + 4, bytes - CRC_AT - 4));
}

/* The row of the head's first layer that carries the prior sees rank-up alone. False: there is no such layer. */
static bool leave_rank_up(uint8_t *data, const clo_model_info *info)
{
    bool has_found = false;

    for (uint32_t i = 0; i < info->layers; i++) {
        const layer l = layer_at(data, i);
        if (l.weights == NULL || l.inputs != CLO_FEATURES_STAGE || l.outputs != HEAD_OUTPUTS)
            continue;
        for (uint32_t k = 0; k < l.inputs; k++)
            if (k != CLO_FEATURE_RANK_UP)
                *weight(&l, HEAD_OUTPUTS - 1, k) = 0;
        fold(&l);
        has_found = true;
    }
    return has_found || bench_fail("the model has no layer that carries a prior");
}

void *model_without_residual(const clo_model *model)
{
    clo_model_info info = CLO_MODEL_INFO_INIT;
    size_t bytes;
    uint8_t *data = copy_of(model, &bytes);
    uint32_t score = data != NULL ? get(data + SCORE_AT) & 0xffff : 0;
    clo_model_op op;

    for (uint32_t i = 0; data != NULL && clo_model_op_at(model, i, &op) == CLO_OK; i++) {
        if (op.out != score || op.op != CLO_MODEL_DENSE)
            continue;
        const layer l = layer_at(data, op.argument);
        for (uint32_t k = 0; k + 1 < l.inputs; k++)
            *weight(&l, 0, k) = 0;
        if (l.bias != NULL)
            put(l.bias, 0);
        fold(&l);
    }
    if (data == NULL || clo_model_inspect(model, &info) != CLO_OK || !leave_rank_up(data, &info)) {
        free(data);
        return NULL;
    }
    seal(data, bytes);
    return data;
}

static void shuffle(const layer *l, uint64_t *state)
{
    for (uint32_t i = l->inputs * l->outputs; i > 1; i--) {
        uint32_t j = bench_random_below(state, i);
        int8_t *a = weight(l, (i - 1) / l->inputs, (i - 1) % l->inputs), *b = weight(l, j / l->inputs, j % l->inputs);
        int8_t kept = *a;
        *a = *b;
        *b = kept;
    }
}

void *model_shuffled(const clo_model *model, uint64_t seed)
{
    size_t bytes;
    uint8_t *data = copy_of(model, &bytes);
    clo_model_info info = CLO_MODEL_INFO_INIT;

    if (data == NULL || clo_model_inspect(model, &info) != CLO_OK)
        return data;
    for (uint32_t i = 0; i < info.layers; i++) {
        const layer l = layer_at(data, i);
        if (l.weights == NULL)
            continue;
        shuffle(&l, &seed);
        fold(&l);
    }
    seal(data, bytes);
    return data;
}
