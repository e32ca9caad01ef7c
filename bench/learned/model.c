/* model.c - a built-in model with its weights in another order: how much of a table comes from what was learned. */
#include "learned/learned.h"

#include <stdio.h>
#include <stdlib.h>

enum { LANES = 16, INPUTS_EACH = 4 };

typedef struct parts {
    clo_model_feature features[CLO_MODEL_FEATURES_MAX];
    clo_model_value values[CLO_MODEL_VALUES_MAX];
    clo_model_layer layers[CLO_MODEL_LAYERS_MAX];
    clo_model_op ops[CLO_MODEL_OPS_MAX];
    int8_t *weights[CLO_MODEL_LAYERS_MAX];
} parts;

/* Packed: [outputs / 16][inputs / 4][16 outputs][4 inputs], both rounded up (docs/MODELS.md). */
static void unpack(const clo_model_layer *layer, int8_t *out)
{
    uint32_t blocks = (layer->inputs + INPUTS_EACH - 1) / INPUTS_EACH;

    for (uint32_t n = 0; n < layer->outputs; n++)
        for (uint32_t k = 0; k < layer->inputs; k++) {
            size_t block = (size_t)(n / LANES) * blocks + k / INPUTS_EACH;
            out[(size_t)n * layer->inputs + k] =
                layer->weights[(block * LANES + n % LANES) * INPUTS_EACH + k % INPUTS_EACH];
        }
}

static bool shuffle_layer(parts *p, uint32_t index, uint64_t *state)
{
    clo_model_layer *layer = &p->layers[index];
    uint32_t count = layer->inputs * layer->outputs;
    uint32_t *order = calloc(count + 1, sizeof *order);
    int8_t *plain = calloc(2 * (size_t)count + 1, 1);

    p->weights[index] = plain;
    if (order == NULL || plain == NULL) {
        free(order);
        return false;
    }
    int8_t *mixed = plain + count;
    unpack(layer, plain);
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    bench_shuffle(order, count, state);
    for (uint32_t i = 0; i < count; i++)
        mixed[i] = plain[order[i]];
    free(order);
    layer->weights = mixed;
    return true;
}

static bool read_parts(const clo_model *model, const clo_model_info *info, parts *p, uint64_t *state)
{
    bool is_good = true;

    for (uint32_t i = 0; i < info->features; i++)
        is_good = is_good && clo_model_feature_at(model, i, &p->features[i]) == CLO_OK;
    for (uint32_t i = 0; i < info->values; i++)
        is_good = is_good && clo_model_value_at(model, i, &p->values[i]) == CLO_OK;
    for (uint32_t i = 0; i < info->ops; i++)
        is_good = is_good && clo_model_op_at(model, i, &p->ops[i]) == CLO_OK;
    for (uint32_t i = 0; i < info->layers && is_good; i++)
        is_good = clo_model_layer_at(model, i, &p->layers[i]) == CLO_OK &&
                  (p->layers[i].inputs == 0 || shuffle_layer(p, i, state));
    return is_good;
}

static clo_status rebuild(const clo_model_info *info, const parts *p, void **out, size_t *bytes)
{
    clo_model_desc desc = CLO_MODEL_DESC_INIT;

    desc.name = info->name;
    desc.kind = info->kind;
    desc.feature_set = info->feature_set;
    desc.features = p->features;
    desc.features_count = info->features;
    desc.values = p->values;
    desc.values_count = info->values;
    desc.layers = p->layers;
    desc.layers_count = info->layers;
    desc.ops = p->ops;
    desc.ops_count = info->ops;
    desc.score = info->score;
    desc.limit = info->limit;
    return clo_model_build(&desc, out, bytes);
}

static clo_model *shuffled(const clo_model *model, uint64_t seed, void **memory)
{
    parts *p = calloc(1, sizeof *p);
    clo_model_info info = CLO_MODEL_INFO_INIT;
    clo_model *out = NULL;
    size_t bytes = 0;

    if (p == NULL || clo_model_inspect(model, &info) != CLO_OK || !read_parts(model, &info, p, &seed) ||
        rebuild(&info, p, memory, &bytes) != CLO_OK || clo_model_open(info.name, *memory, bytes, &out) != CLO_OK)
        bench_fail("cannot shuffle the weights");
    for (int i = 0; p != NULL && i < CLO_MODEL_LAYERS_MAX; i++)
        free(p->weights[i]);
    free(p);
    return out;
}

clo_model *learned_model(const char *name, bool is_shuffled, uint64_t seed, void **memory)
{
    size_t bytes = 0;
    const void *data = clo_model_builtin(name, &bytes);
    clo_model *model = NULL;

    *memory = NULL;
    if (data == NULL || clo_model_open(name, data, bytes, &model) != CLO_OK) {
        bench_fail(name);
        return NULL;
    }
    if (!is_shuffled)
        return model;
    clo_model *other = shuffled(model, seed, memory);
    clo_model_destroy(model);
    return other;
}
