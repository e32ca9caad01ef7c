/* lachesis_model.c - see lachesis_model.h. */
#include "common/lachesis_model.h"
#include "learn/infer/lachesis_features.h"

#include <stdbool.h>
#include <stdlib.h>

#define NONE CLO_MODEL_NONE

enum { D = 16, HIDDEN = 32, LAYERS = 3, LAYERS_MAX = 24, WEIGHTS_MAX = 32 * 32 };

/* Values. */
enum {
    X,                          /* stage, input */
    J,                          /* job, input */
    S,                          /* system, input */
    PREP,                       /* stage */
    SUM1,                       /* stage, then UPDATE1, E1, SUM2 ... */
    SUMMED = SUM1 + 3 * LAYERS, /* stage: what is summed up in the job */
    Y32,                        /* job */
    Y,                          /* job */
    PART_Y,                     /* job: layer of Y */
    PART_J,                     /* job: layer of J */
    JOB,                        /* job */
    Z32,                        /* system */
    Z,
    PART_Z,
    PART_S,
    SYSTEM,
    HEAD_E, /* the parts of the head */
    HEAD_J,
    HEAD_S,
    H1, /* the head */
    H1_BENT,
    H2,
    H3,
    LAST,   /* the head's sums, where stages add to them: */
    OWN,    /* stage: layer of X */
    DIRECT, /* stage: three times that */
    SCORE,
    VALUES
};

enum { OPS_MAX = 48 };

typedef struct drawing {
    uint64_t state;
    clo_model_value values[VALUES];
    clo_model_layer layers[LAYERS_MAX];
    uint32_t layers_count, ops_count;
    clo_model_op ops[OPS_MAX];
    clo_model_table tables[2];
    int8_t weights[LAYERS_MAX][WEIGHTS_MAX], look[256];
    int32_t bias[LAYERS_MAX][HIDDEN], pre[LAYERS_MAX][HIDDEN];
    int16_t m[LAYERS_MAX][HIDDEN], bend[257];
} drawing;

/* splitmix64 (Steele 2014) */
static int32_t draw(drawing *d, int32_t lo, int32_t hi)
{
    uint64_t z = d->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return lo + (int32_t)((z ^ z >> 31) % (uint64_t)(hi - lo + 1));
}

/* Returns its index. `inputs` 0: the rule alone. A sum of drawn numbers lies around 1000 * input numbers' size / 16, so
 * m brings int8 and int16 into their ranges. */
static uint32_t add_layer(drawing *d, uint32_t inputs, uint32_t outputs, clo_model_number number)
{
    uint32_t i = d->layers_count++;
    clo_model_layer *layer = &d->layers[i];

    for (uint32_t k = 0; k < inputs * outputs; k++)
        d->weights[i][k] = (int8_t)draw(d, -60, 60);
    for (uint32_t k = 0; k < outputs; k++) {
        d->bias[i][k] = draw(d, -1000, 1000);
        d->pre[i][k] = number == CLO_MODEL_S8 ? draw(d, 1, 3) : draw(d, 2, 5);
        d->m[i][k] = (int16_t)(number == CLO_MODEL_S8 ? draw(d, 200, 900) : draw(d, 4000, 20000));
    }
    *layer = (clo_model_layer){.inputs = inputs, .outputs = outputs, .number = number};
    if (inputs > 0) {
        layer->weights = d->weights[i];
        layer->bias = d->bias[i];
    }
    if (number != CLO_MODEL_S32) {
        layer->pre = d->pre[i];
        layer->m = d->m[i];
        layer->lo = number == CLO_MODEL_S8 ? -128 : -8000;
        layer->hi = number == CLO_MODEL_S8 ? 127 : 8000;
        layer->leaky = 51;
    }
    return i;
}

static void add_op(drawing *d, clo_model_operation op, uint32_t out, uint32_t a, uint32_t b, uint32_t argument)
{
    d->ops[d->ops_count++] = (clo_model_op){op, CLO_MODEL_ALL, out, {a, b, NONE}, argument};
}

static void add_dense(drawing *d, uint32_t out, uint32_t in)
{
    const clo_model_value *values = d->values;

    add_op(d, CLO_MODEL_DENSE, out, in, NONE, add_layer(d, values[in].width, values[out].width, values[out].number));
}

/* Of int32 sums. */
static void add_join(drawing *d, uint32_t out, uint32_t a, uint32_t b)
{
    add_op(d, CLO_MODEL_JOIN, out, a, b, add_layer(d, 0, d->values[out].width, d->values[out].number));
}

static void set(drawing *d, uint32_t value, clo_model_domain domain, uint32_t width, clo_model_number number)
{
    d->values[value] = (clo_model_value){number, domain, width, 0, value <= S};
}

static void set_values(drawing *d, unsigned shape)
{
    clo_model_number head = shape & LACHESIS_MODEL_WIDE ? CLO_MODEL_S16 : CLO_MODEL_S8;

    set(d, X, CLO_MODEL_STAGE, CLO_FEATURES_STAGE, CLO_MODEL_S8);
    set(d, J, CLO_MODEL_JOB, CLO_FEATURES_JOB, CLO_MODEL_S16);
    set(d, S, CLO_MODEL_GLOBAL, CLO_FEATURES_SYSTEM, CLO_MODEL_S8);
    for (uint32_t v = PREP; v <= SUMMED; v++)
        set(d, v, CLO_MODEL_STAGE, D, CLO_MODEL_S16);
    set(d, Y32, CLO_MODEL_JOB, D, CLO_MODEL_S32);
    set(d, Y, CLO_MODEL_JOB, D, CLO_MODEL_S16);
    set(d, PART_Y, CLO_MODEL_JOB, D, CLO_MODEL_S32);
    set(d, PART_J, CLO_MODEL_JOB, D, CLO_MODEL_S32);
    set(d, JOB, CLO_MODEL_JOB, D, CLO_MODEL_S8);
    set(d, Z32, CLO_MODEL_GLOBAL, D, CLO_MODEL_S32);
    set(d, Z, CLO_MODEL_GLOBAL, D, CLO_MODEL_S16);
    set(d, PART_Z, CLO_MODEL_GLOBAL, D, CLO_MODEL_S32);
    set(d, PART_S, CLO_MODEL_GLOBAL, D, CLO_MODEL_S32);
    set(d, SYSTEM, CLO_MODEL_GLOBAL, D, CLO_MODEL_S8);
    set(d, HEAD_E, CLO_MODEL_STAGE, HIDDEN, CLO_MODEL_S32);
    set(d, HEAD_J, CLO_MODEL_JOB, HIDDEN, CLO_MODEL_S32);
    set(d, HEAD_S, CLO_MODEL_GLOBAL, HIDDEN, CLO_MODEL_S32);
    set(d, H1, CLO_MODEL_STAGE, HIDDEN, head);
    set(d, H1_BENT, CLO_MODEL_STAGE, HIDDEN, head);
    set(d, H2, CLO_MODEL_STAGE, 16, head);
    set(d, H3, CLO_MODEL_STAGE, 8, head);
    for (uint32_t v = LAST; v <= SCORE; v++)
        set(d, v, CLO_MODEL_STAGE, 1, CLO_MODEL_S32);
    d->values[SCORE].exponent = 8; /* to be drawn from */
}

/* e = leaky(update(sum of the children's e)) + prep, three times with one layer. */
static void add_encoder(drawing *d, unsigned shape)
{
    add_dense(d, PREP, X);
    uint32_t update = add_layer(d, D, D, CLO_MODEL_S16);
    if (shape & (LACHESIS_MODEL_LOOP | LACHESIS_MODEL_SKIP))
        add_op(d, CLO_MODEL_LOOP, SUMMED - 1, shape & LACHESIS_MODEL_SKIP ? PREP : NONE, NONE, NONE);
    for (uint32_t l = 0; l < LAYERS; l++) {
        uint32_t sum = SUM1 + 3 * l, before = l == 0 ? (uint32_t)PREP : sum - 1;
        add_op(d, CLO_MODEL_SUM_CHILDREN, sum, before, NONE, NONE);
        add_op(d, CLO_MODEL_DENSE, sum + 1, sum, NONE, update);
        add_op(d, CLO_MODEL_ADD, sum + 2, sum + 1, PREP, NONE);
    }
    if (shape & (LACHESIS_MODEL_LOOP | LACHESIS_MODEL_SKIP))
        add_op(d, CLO_MODEL_END, NONE, NONE, NONE, NONE);
    add_dense(d, SUMMED, SUMMED - 1);
    add_op(d, CLO_MODEL_SUM, Y32, SUMMED, NONE, NONE);
    add_join(d, Y, Y32, NONE);
    add_dense(d, PART_Y, Y);
    add_dense(d, PART_J, J);
    add_join(d, JOB, PART_Y, PART_J);
    add_op(d, CLO_MODEL_SUM, Z32, JOB, NONE, NONE);
    add_join(d, Z, Z32, NONE);
    add_dense(d, PART_Z, Z);
    add_dense(d, PART_S, S);
    add_join(d, SYSTEM, PART_Z, PART_S);
}

static void add_head(drawing *d, unsigned shape)
{
    uint32_t parts[2] = {shape & LACHESIS_MODEL_NO_JOB ? NONE : HEAD_J,
                         shape & LACHESIS_MODEL_NO_SYSTEM ? NONE : HEAD_S};

    add_dense(d, HEAD_E, SUMMED - 1);
    add_dense(d, HEAD_J, JOB);
    add_dense(d, HEAD_S, SYSTEM);
    add_join(d, H1, HEAD_E, parts[0] != NONE ? parts[0] : parts[1]);
    d->ops[d->ops_count - 1].in[2] = parts[0] != NONE ? parts[1] : NONE;
    if (shape & LACHESIS_MODEL_BENT)
        add_op(d, shape & LACHESIS_MODEL_WIDE ? CLO_MODEL_TANH : CLO_MODEL_LOOKUP, H1_BENT, H1, NONE,
               shape & LACHESIS_MODEL_WIDE ? 1 : 0);
    add_dense(d, H2, shape & LACHESIS_MODEL_BENT ? H1_BENT : H1);
    add_dense(d, H3, H2);
    add_dense(d, shape & (LACHESIS_MODEL_DIRECT | LACHESIS_MODEL_TWICE) ? LAST : SCORE, H3);
    if (shape & LACHESIS_MODEL_DIRECT) {
        add_dense(d, OWN, X);
        add_join(d, DIRECT, OWN, OWN);
        d->ops[d->ops_count - 1].in[2] = OWN;
        add_join(d, SCORE, LAST, DIRECT);
    } else if (shape & LACHESIS_MODEL_TWICE) {
        add_join(d, SCORE, LAST, LAST);
    }
}

static void add_tables(drawing *d)
{
    for (uint32_t i = 0; i < sizeof d->look; i++)
        d->look[i] = (int8_t)draw(d, -128, 127);
    for (uint32_t i = 0; i < sizeof d->bend / sizeof d->bend[0]; i++)
        d->bend[i] = (int16_t)draw(d, -8000, 8000);
    d->tables[0] = (clo_model_table){CLO_MODEL_S8, d->look};
    d->tables[1] = (clo_model_table){CLO_MODEL_S16, d->bend};
}

void *lachesis_model_draw(uint64_t seed, unsigned shape, size_t *bytes)
{
    static const clo_model_feature features[] = {
        {"time", 1, 5, 0, 127},           {"input", 1, 5, 0, 127},       {"output", 1, 5, 0, 127},
        {"rank-up", 1, 5, 0, 127},        {"rank-down", 1, 5, 0, 127},   {"children", 1, 6, 0, 127},
        {"instances", 1, 6, 0, 127},      {"tasks-left", 1, 4, 0, 1000}, {"work-left", 1, 8, 0, 1000},
        {"work-left-log", 1, 4, 0, 1000}, {"scale", 1, 0, 0, 63},        {"executors", 1, 5, 0, 128},
        {"jobs", 1, 6, 0, 127},           {"free", 1, 5, 0, 127},
    };
    clo_model_desc desc = CLO_MODEL_DESC_INIT;
    drawing *d = calloc(1, sizeof *d);
    void *data = NULL;

    if (d == NULL)
        return NULL;
    d->state = seed;
    set_values(d, shape);
    add_encoder(d, shape);
    add_head(d, shape);
    add_tables(d);
    desc.name = "drawn";
    desc.kind = CLO_MODEL_LACHESIS;
    desc.feature_set = CLO_FEATURES_LACHESIS;
    desc.features = features;
    desc.features_count = sizeof features / sizeof features[0];
    desc.values = d->values;
    desc.values_count = VALUES;
    desc.layers = d->layers;
    desc.layers_count = d->layers_count;
    desc.tables = d->tables;
    desc.tables_count = 2;
    desc.ops = d->ops;
    desc.ops_count = d->ops_count;
    desc.score = SCORE;
    desc.limit = NONE;
    if (clo_model_build(&desc, &data, bytes) != CLO_OK)
        data = NULL;
    free(d);
    return data;
}
