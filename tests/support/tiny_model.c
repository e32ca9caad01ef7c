#include "tiny_model.h"
#include "sample.h"

#include "base/numbers/rng.h"

#include <string.h>

#define NONE CLO_MODEL_NONE

static const clo_model_value values[TINY_VALUES] = {
    [TINY_X] = {CLO_MODEL_S16, CLO_MODEL_STAGE, 3, 8, 1},
    [TINY_J] = {CLO_MODEL_S8, CLO_MODEL_JOB, 2, 4, 1},
    [TINY_L] = {CLO_MODEL_S16, CLO_MODEL_LIMIT, 1, 8, 1},
    [TINY_PREP] = {CLO_MODEL_S16, CLO_MODEL_STAGE, 5, 8, 0},
    [TINY_SUM] = {CLO_MODEL_S16, CLO_MODEL_STAGE, 5, 8, 0},
    [TINY_H] = {CLO_MODEL_S16, CLO_MODEL_STAGE, 5, 8, 0},
    [TINY_UPDATE] = {CLO_MODEL_S16, CLO_MODEL_STAGE, 5, 8, 0},
    [TINY_MESSAGE] = {CLO_MODEL_S16, CLO_MODEL_STAGE, 5, 8, 0},
    [TINY_DAG] = {CLO_MODEL_S32, CLO_MODEL_JOB, 5, 0, 0},
    [TINY_DAG16] = {CLO_MODEL_S16, CLO_MODEL_JOB, 5, 4, 0},
    [TINY_ALL] = {CLO_MODEL_S16, CLO_MODEL_GLOBAL, 5, 4, 0},
    [TINY_PART_H] = {CLO_MODEL_S32, CLO_MODEL_STAGE, 17, 0, 0},
    [TINY_PART_J] = {CLO_MODEL_S32, CLO_MODEL_JOB, 17, 0, 0},
    [TINY_PART_G] = {CLO_MODEL_S32, CLO_MODEL_GLOBAL, 17, 0, 0},
    [TINY_HIDDEN] = {CLO_MODEL_S8, CLO_MODEL_STAGE, 17, 4, 0},
    [TINY_LOOKED] = {CLO_MODEL_S8, CLO_MODEL_STAGE, 17, 7, 0},
    [TINY_SCORE] = {CLO_MODEL_S32, CLO_MODEL_STAGE, 1, 0, 0},
    [TINY_PART_L] = {CLO_MODEL_S32, CLO_MODEL_LIMIT, 17, 0, 0},
    [TINY_WIDE] = {CLO_MODEL_S16, CLO_MODEL_LIMIT, 17, 12, 0},
    [TINY_BENT] = {CLO_MODEL_S16, CLO_MODEL_LIMIT, 17, 15, 0},
    [TINY_LIMIT] = {CLO_MODEL_S32, CLO_MODEL_LIMIT, 1, 0, 0},
};

/* inputs, outputs, numbers */
static const uint16_t layers[][3] = {
    {3, 5, CLO_MODEL_S16},  /* 0 prep */
    {5, 5, CLO_MODEL_S16},  /* 1 update */
    {5, 5, CLO_MODEL_S16},  /* 2 message */
    {0, 5, CLO_MODEL_S16},  /* 3 rule of dag */
    {5, 17, CLO_MODEL_S32}, /* 4 head: stage */
    {2, 17, CLO_MODEL_S32}, /* 5 head: job */
    {5, 17, CLO_MODEL_S32}, /* 6 head: global */
    {0, 17, CLO_MODEL_S8},  /* 7 rule of head */
    {17, 1, CLO_MODEL_S32}, /* 8 score */
    {1, 17, CLO_MODEL_S32}, /* 9 limit head */
    {0, 17, CLO_MODEL_S16}, /* 10 rule of it */
    {17, 1, CLO_MODEL_S32}, /* 11 its score */
};

enum { LAYERS = sizeof layers / sizeof layers[0] };

static const clo_model_op ops[] = {
    {CLO_MODEL_DENSE, 0, TINY_PREP, {TINY_X, NONE, NONE}, 0},
    {CLO_MODEL_LOOP, 0, TINY_H, {TINY_PREP, NONE, NONE}, NONE},
    {CLO_MODEL_DENSE, CLO_MODEL_LEAVES, TINY_H, {TINY_PREP, NONE, NONE}, 1},
    {CLO_MODEL_SUM_CHILDREN, CLO_MODEL_INNER, TINY_SUM, {TINY_MESSAGE, NONE, NONE}, NONE},
    {CLO_MODEL_DENSE, CLO_MODEL_INNER, TINY_UPDATE, {TINY_SUM, NONE, NONE}, 1},
    {CLO_MODEL_ADD, CLO_MODEL_INNER, TINY_H, {TINY_PREP, TINY_UPDATE, NONE}, NONE},
    {CLO_MODEL_DENSE, 0, TINY_MESSAGE, {TINY_H, NONE, NONE}, 2},
    {CLO_MODEL_END, 0, NONE, {NONE, NONE, NONE}, NONE},
    {CLO_MODEL_SUM, 0, TINY_DAG, {TINY_H, NONE, NONE}, NONE},
    {CLO_MODEL_JOIN, 0, TINY_DAG16, {TINY_DAG, NONE, NONE}, 3},
    {CLO_MODEL_SUM, 0, TINY_ALL, {TINY_DAG16, NONE, NONE}, NONE},
    {CLO_MODEL_DENSE, 0, TINY_PART_H, {TINY_H, NONE, NONE}, 4},
    {CLO_MODEL_DENSE, 0, TINY_PART_J, {TINY_J, NONE, NONE}, 5},
    {CLO_MODEL_DENSE, 0, TINY_PART_G, {TINY_ALL, NONE, NONE}, 6},
    {CLO_MODEL_JOIN, 0, TINY_HIDDEN, {TINY_PART_H, TINY_PART_J, TINY_PART_G}, 7},
    {CLO_MODEL_LOOKUP, 0, TINY_LOOKED, {TINY_HIDDEN, NONE, NONE}, 0},
    {CLO_MODEL_DENSE, 0, TINY_SCORE, {TINY_LOOKED, NONE, NONE}, 8},
    {CLO_MODEL_DENSE, 0, TINY_PART_L, {TINY_L, NONE, NONE}, 9},
    {CLO_MODEL_JOIN, 0, TINY_WIDE, {TINY_PART_L, TINY_PART_J, TINY_PART_G}, 10},
    {CLO_MODEL_TANH, 0, TINY_BENT, {TINY_WIDE, NONE, NONE}, 1},
    {CLO_MODEL_DENSE, 0, TINY_LIMIT, {TINY_BENT, NONE, NONE}, 11},
};

enum { OPS = sizeof ops / sizeof ops[0] };

/* Two jobs, a diamond and a pair; then the same stages without edges; then nothing. */
static const uint32_t job_of_stage[] = {0, 0, 0, 0, 1, 1}, job_of_limit[] = {0, 1, 1};
static const uint32_t child_begin[] = {0, 2, 3, 4, 4, 5, 5}, children[] = {1, 2, 3, 3, 5}, no_children[7] = {0};

static int32_t draw(clo_rng *rng, int32_t lo, int32_t hi)
{
    return lo + (int32_t)clo_rng_below(rng, (uint32_t)(hi - lo + 1));
}

static void draw_layers(tiny_model *tiny, clo_rng *rng)
{
    for (uint32_t i = 0; i < LAYERS; i++) {
        for (uint32_t k = 0; k < 17 * 17; k++)
            tiny->weights[i][k] = (int8_t)draw(rng, -127, 127);
        for (uint32_t k = 0; k < 17; k++) {
            tiny->bias[i][k] = draw(rng, -5000, 5000);
            tiny->pre[i][k] = draw(rng, 0, 8);
            tiny->m[i][k] = (int16_t)draw(rng, 1, 32767);
        }
        tiny->layers[i] = (clo_model_layer){
            .inputs = layers[i][0], .outputs = layers[i][1], .number = (clo_model_number)layers[i][2]};
        clo_model_layer *layer = &tiny->layers[i];
        if (layer->inputs > 0) {
            layer->weights = tiny->weights[i];
            layer->bias = tiny->bias[i];
        }
        if (layer->number != CLO_MODEL_S32) {
            layer->pre = tiny->pre[i];
            layer->m = tiny->m[i];
            layer->lo = layer->number == CLO_MODEL_S8 ? -128 : -20000;
            layer->hi = layer->number == CLO_MODEL_S8 ? 127 : 20000;
            layer->leaky = i % 2 == 0 ? 51 : 256;
        }
    }
}

static void draw_cases(tiny_model *tiny, clo_rng *rng)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};

    for (uint32_t i = 0; i < 6; i++)
        tiny->features[i] = (clo_model_feature){names[i], 3 + (int32_t)i, i, -100, 120};
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t k = 0; k < 64; k++)
            tiny->inputs[i][k] = (int16_t)draw(rng, -100, 120);
        tiny->cases[i] = (clo_model_case){
            6, 2, 3, job_of_stage, i == 1 ? no_children : child_begin, children, job_of_limit, tiny->inputs[i]};
    }
    tiny->cases[2] = (clo_model_case){0, 0, 0, job_of_stage, no_children, children, job_of_limit, tiny->inputs[2]};
}

void tiny_model_draw(tiny_model *tiny, uint64_t seed)
{
    clo_rng rng = sample_rng(seed);

    memset(tiny, 0, sizeof *tiny);
    memcpy(tiny->values, values, sizeof values);
    memcpy(tiny->ops, ops, sizeof ops);
    draw_layers(tiny, &rng);
    draw_cases(tiny, &rng);
    for (int i = 0; i < 256; i++)
        tiny->look[i] = (int8_t)draw(&rng, -128, 127);
    for (int i = 0; i < 257; i++)
        tiny->bend[i] = (int16_t)draw(&rng, -32768, 32767);
    tiny->tables[0] = (clo_model_table){CLO_MODEL_S8, tiny->look};
    tiny->tables[1] = (clo_model_table){CLO_MODEL_S16, tiny->bend};
    tiny->desc = (clo_model_desc)CLO_MODEL_DESC_INIT;
    tiny->desc.name = "tiny";
    tiny->desc.features = tiny->features;
    tiny->desc.features_count = 6;
    tiny->desc.values = tiny->values;
    tiny->desc.values_count = TINY_VALUES;
    tiny->desc.layers = tiny->layers;
    tiny->desc.layers_count = LAYERS;
    tiny->desc.tables = tiny->tables;
    tiny->desc.tables_count = 2;
    tiny->desc.ops = tiny->ops;
    tiny->desc.ops_count = OPS;
    tiny->desc.cases = tiny->cases;
    tiny->desc.cases_count = 3;
    tiny->desc.score = TINY_SCORE;
    tiny->desc.limit = TINY_LIMIT;
}
