/* model_edit.c - see model_edit.h. */
#include "common/model_edit.h"
#include "common/platform.h"
#include "learn/format/format.h"
#include "learn/infer/lachesis_features.h"

#include <stdlib.h>
#include <string.h>

enum { LANES = 16, INPUTS_EACH = 4 };

typedef struct parts {
    clo_model_feature features[CLO_MODEL_FEATURES_MAX];
    clo_model_value values[CLO_MODEL_VALUES_MAX];
    clo_model_layer layers[CLO_MODEL_LAYERS_MAX];
    clo_model_op ops[CLO_MODEL_OPS_MAX];
    clo_model_table tables[CLO_MODEL_TABLES_MAX];
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

/* Weights [outputs][inputs] of our own in place of those of the file. */
static bool own_weights(parts *p, uint32_t index)
{
    clo_model_layer *layer = &p->layers[index];

    if (layer->inputs == 0)
        return true;
    p->weights[index] = calloc((size_t)layer->inputs * layer->outputs, 1);
    if (p->weights[index] != NULL)
        unpack(layer, p->weights[index]);
    layer->weights = p->weights[index];
    return layer->weights != NULL;
}

/* The points of tables stay where they lie in the model. */
static void read_tables(const clo_model *model, const clo_model_info *info, parts *p)
{
    const unsigned char *bytes = clo_model_data(model, NULL);
    const clo_format_header *header = (const void *)bytes;
    const clo_format_table *tables = (const void *)(bytes + header->parts[CLO_PART_TABLES].offset);

    for (uint32_t i = 0; i < info->tables; i++)
        p->tables[i] = (clo_model_table){(clo_model_number)tables[i].number, bytes + tables[i].offset};
}

static bool read_parts(const clo_model *model, const clo_model_info *info, parts *p)
{
    bool is_good = true;

    for (uint32_t i = 0; i < info->features; i++)
        is_good = is_good && clo_model_feature_at(model, i, &p->features[i]) == CLO_OK;
    for (uint32_t i = 0; i < info->values; i++)
        is_good = is_good && clo_model_value_at(model, i, &p->values[i]) == CLO_OK;
    for (uint32_t i = 0; i < info->ops; i++)
        is_good = is_good && clo_model_op_at(model, i, &p->ops[i]) == CLO_OK;
    for (uint32_t i = 0; i < info->layers && is_good; i++)
        is_good = clo_model_layer_at(model, i, &p->layers[i]) == CLO_OK && own_weights(p, i);
    read_tables(model, info, p);
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
    desc.tables = p->tables;
    desc.tables_count = info->tables;
    desc.ops = p->ops;
    desc.ops_count = info->ops;
    desc.score = info->score;
    desc.limit = info->limit;
    return clo_model_build(&desc, out, bytes);
}

static void shuffle(const parts *p, const clo_model_info *info, uint64_t seed)
{
    for (uint32_t i = 0; i < info->layers; i++)
        for (uint32_t n = p->layers[i].inputs * p->layers[i].outputs; n > 1; n--) {
            uint32_t other = bench_random_below(&seed, n);
            int8_t kept = p->weights[i][n - 1];
            p->weights[i][n - 1] = p->weights[i][other];
            p->weights[i][other] = kept;
        }
}

/* The operation that writes a value. */
static const clo_model_op *writer_of(const parts *p, const clo_model_info *info, uint32_t value)
{
    for (uint32_t i = 0; i < info->ops; i++)
        if (p->ops[i].out == value)
            return &p->ops[i];
    return NULL;
}

/* The prior, the one sum over the features of a stage, keeps rank-up alone. Where the score is a join of it and of a
 * network's last layer, that becomes zeros. False: there is no such sum. */
static bool leave_rank_up(parts *p, const clo_model_info *info)
{
    static const int32_t no_bias[1];
    const clo_model_op *score = writer_of(p, info, info->score);
    const clo_model_op *last = score != NULL && score->op == CLO_MODEL_JOIN ? writer_of(p, info, score->in[0]) : NULL;
    bool has_found = false;

    if (last != NULL && last->op == CLO_MODEL_DENSE && p->layers[last->argument].inputs != CLO_FEATURES_STAGE) {
        memset(p->weights[last->argument], 0, p->layers[last->argument].inputs);
        p->layers[last->argument].bias = no_bias;
    }
    for (uint32_t i = 0; i < info->layers; i++) {
        if (p->layers[i].inputs != CLO_FEATURES_STAGE || p->layers[i].outputs != 1)
            continue;
        int8_t kept = p->weights[i][CLO_FEATURE_RANK_UP];
        memset(p->weights[i], 0, CLO_FEATURES_STAGE);
        p->weights[i][CLO_FEATURE_RANK_UP] = kept;
        has_found = true;
    }
    return has_found;
}

static void silence(parts *p, const clo_model_info *info)
{
    for (uint32_t i = 0; i < info->ops; i++) {
        if (p->ops[i].op != CLO_MODEL_DENSE || (p->ops[i].out != info->score && p->ops[i].out != info->limit))
            continue;
        const clo_model_layer *last = &p->layers[p->ops[i].argument];
        memset(p->weights[p->ops[i].argument], 0, (size_t)last->inputs * last->outputs);
    }
}

/* The last layer of what is summed over the children. False: nothing is. */
static bool cut_messages(parts *p, const clo_model_info *info)
{
    static const int32_t no_bias[CLO_MODEL_WIDTH_MAX];
    bool has_found = false;

    for (uint32_t i = 0; i < info->ops; i++) {
        const clo_model_op *last = p->ops[i].op == CLO_MODEL_SUM_CHILDREN ? writer_of(p, info, p->ops[i].in[0]) : NULL;
        if (last == NULL || last->op != CLO_MODEL_DENSE)
            continue;
        clo_model_layer *layer = &p->layers[last->argument];
        memset(p->weights[last->argument], 0, (size_t)layer->inputs * layer->outputs);
        layer->bias = no_bias;
        has_found = true;
    }
    return has_found;
}

clo_model *model_edited(const clo_model *model, model_edit edit, uint64_t seed, void **memory)
{
    parts *p = calloc(1, sizeof *p);
    clo_model_info info = CLO_MODEL_INFO_INIT;
    clo_model *out = NULL;
    size_t bytes = 0;
    bool is_good = p != NULL && clo_model_inspect(model, &info) == CLO_OK && read_parts(model, &info, p);

    *memory = NULL;
    if (is_good && edit == MODEL_SHUFFLED)
        shuffle(p, &info, seed);
    else if (is_good && edit == MODEL_SILENT)
        silence(p, &info);
    else if (is_good && edit == MODEL_NO_MESSAGES)
        is_good = cut_messages(p, &info);
    else if (is_good && edit == MODEL_RANK_UP_ALONE)
        is_good = leave_rank_up(p, &info);
    if (!is_good || rebuild(&info, p, memory, &bytes) != CLO_OK ||
        clo_model_open(info.name, *memory, bytes, &out) != CLO_OK)
        bench_fail("cannot edit the model");
    for (int i = 0; p != NULL && i < CLO_MODEL_LAYERS_MAX; i++)
        free(p->weights[i]);
    free(p);
    return out;
}

clo_model *model_builtin(const char *name, model_edit edit, uint64_t seed, void **memory)
{
    size_t bytes = 0;
    const void *data = clo_model_builtin(name, &bytes);
    clo_model *model = NULL;

    *memory = NULL;
    if (data == NULL || clo_model_open(name, data, bytes, &model) != CLO_OK) {
        bench_fail(name);
        return NULL;
    }
    if (edit == MODEL_AS_IS)
        return model;
    clo_model *out = model_edited(model, edit, seed, memory);
    clo_model_destroy(model);
    return out;
}
