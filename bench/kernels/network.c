#include "kernels/network.h"

#include "common/bench.h"
#include "kernels/network_shape.h"

#include <stdlib.h>
#include <string.h>

const uint32_t network_encoder[4] = {
    [CLO_MODEL_STAGE] = 4928, [CLO_MODEL_JOB] = 1280 + 2 * 1024 + 192, [CLO_MODEL_GLOBAL] = 2048};
const uint32_t network_heads[4] = {[CLO_MODEL_STAGE] = 320 + 1024 + 4096 + 64, [CLO_MODEL_LIMIT] = 64 + 4096 + 64};

static int32_t between(uint64_t *state, int32_t lowest, int32_t highest)
{
    return lowest + (int32_t)bench_random_below(state, (uint32_t)(highest - lowest + 1));
}

void network_jobs_draw(network_jobs *jobs, uint64_t seed)
{
    const uint32_t each = NETWORK_STAGES / NETWORK_JOBS;
    bool has_parent[NETWORK_STAGES] = {false};
    uint32_t edges = 0;

    for (uint32_t s = 0; s < NETWORK_STAGES; s++) {
        jobs->job_of_stage[s] = s / each;
        jobs->child_begin[s] = edges;
        for (uint32_t child = s + 1; child < (s / each + 1) * each; child++)
            if (bench_random_below(&seed, 4) == 0) {
                jobs->children[edges++] = child;
                has_parent[child] = true;
            }
    }
    jobs->child_begin[NETWORK_STAGES] = edges;
    for (uint32_t i = 0; i < NETWORK_LIMITS; i++)
        jobs->job_of_limit[i] = i / NETWORK_LIMITS_EACH;
    for (uint32_t i = 0; i < sizeof jobs->numbers / sizeof jobs->numbers[0]; i++)
        jobs->numbers[i] = (int16_t)between(&seed, -100, 100);
    jobs->ready_count = 0;
    for (uint32_t s = 0; s < NETWORK_STAGES; s++)
        if (!has_parent[s])
            jobs->ready[jobs->ready_count++] = s;
    jobs->input = (clo_model_case){NETWORK_STAGES,    NETWORK_JOBS,   NETWORK_LIMITS,     jobs->job_of_stage,
                                   jobs->child_begin, jobs->children, jobs->job_of_limit, jobs->numbers};
}

/* What a description points to. */
typedef struct drawn {
    clo_model_value values[NETWORK_VALUES];
    clo_model_layer layers[NETWORK_LAYERS];
    clo_model_op ops[NETWORK_OPS];
    clo_model_feature features[9];
    int8_t weights[NETWORK_LAYERS][NETWORK_WIDTH * NETWORK_WIDTH], look[256];
    int32_t bias[NETWORK_LAYERS][NETWORK_WIDTH], pre[NETWORK_LAYERS][NETWORK_WIDTH];
    int16_t m[NETWORK_LAYERS][NETWORK_WIDTH], bend[257];
} drawn;

static void draw_layer(drawn *d, uint32_t i, clo_model_number number, uint64_t *state)
{
    const network_layer *from = &network_layers[i];
    clo_model_layer *to = &d->layers[i];

    for (uint32_t k = 0; k < from->inputs * from->outputs; k++)
        d->weights[i][k] = (int8_t)between(state, -127, 127);
    for (uint32_t k = 0; k < from->outputs; k++) {
        d->bias[i][k] = between(state, -1000, 1000);
        d->pre[i][k] = number == CLO_MODEL_S8 ? 2 : 4;
        d->m[i][k] = (int16_t)between(state, 500, 3000);
    }
    *to = (clo_model_layer){.inputs = from->inputs, .outputs = from->outputs, .number = CLO_MODEL_S32};
    if (from->inputs > 0) {
        to->weights = d->weights[i];
        to->bias = d->bias[i];
    }
    if (from->is_sum)
        return;
    to->number = number;
    to->pre = d->pre[i];
    to->m = d->m[i];
    to->lo = number == CLO_MODEL_S8 ? -127 : -32767;
    to->hi = number == CLO_MODEL_S8 ? 127 : 32767;
    to->leaky = from->is_leaky ? 51 : 256;
}

static void draw(drawn *d, clo_model_number number, uint64_t *state)
{
    for (uint32_t v = 0; v < NETWORK_VALUES; v++)
        d->values[v] = (clo_model_value){.number = network_values[v].is_sum ? CLO_MODEL_S32 : number,
                                         .domain = network_values[v].domain,
                                         .width = network_values[v].width,
                                         .is_input = network_values[v].is_input};
    for (uint32_t i = 0; i < NETWORK_LAYERS; i++)
        draw_layer(d, i, number, state);
    memcpy(d->ops, network_ops, sizeof d->ops);
    for (uint32_t i = 0; i < NETWORK_OPS; i++)
        if (d->ops[i].op == CLO_MODEL_TANH && number == CLO_MODEL_S8)
            d->ops[i].op = CLO_MODEL_LOOKUP;
    for (uint32_t i = 0; i < 9; i++)
        d->features[i] = (clo_model_feature){"drawn", 1, 0, -100, 100};
    for (int32_t i = 0; i < 256; i++)
        d->look[i] = (int8_t)(i - 128);
    for (int32_t i = 0; i < 257; i++)
        d->bend[i] = (int16_t)((i - 128) * 255);
}

clo_model *network_model(clo_model_number number, uint64_t seed, void **data)
{
    drawn *d = calloc(1, sizeof *d);
    clo_model_desc desc = CLO_MODEL_DESC_INIT;
    clo_model *model = NULL;
    size_t bytes;

    *data = NULL;
    if (d == NULL)
        return NULL;
    draw(d, number, &seed);
    const clo_model_table table = {number, number == CLO_MODEL_S8 ? (const void *)d->look : d->bend};
    desc.name = "bench";
    desc.features = d->features;
    desc.features_count = 9;
    desc.values = d->values;
    desc.values_count = NETWORK_VALUES;
    desc.layers = d->layers;
    desc.layers_count = NETWORK_LAYERS;
    desc.tables = &table;
    desc.tables_count = 1;
    desc.ops = d->ops;
    desc.ops_count = NETWORK_OPS;
    desc.score = NETWORK_SCORE;
    desc.limit = NETWORK_LIMIT;
    if (clo_model_build(&desc, data, &bytes) == CLO_OK && clo_model_open("bench", *data, bytes, &model) != CLO_OK)
        model = NULL;
    free(d);
    return model;
}
