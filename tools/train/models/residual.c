/* residual.c - see residual.h. Features are sixteenths and weights of the hinges 64ths, so a hinge is exact in 1024ths.
 *
 * A weight of a sum is what int8 alone holds badly: most are small, and a few are not. It is held in two parts, an int8
 * in the sum and the multiplier of the hinge's rule, below 1: a grid of 15 bits below the largest one. The int8 is the
 * smallest that will do, so that the multiplier is near 1 and the hinge keeps its 1024ths. */
#include "train/models/residual.h"

#include "learn/infer/residual_features.h"
#include "train/numbers/parameters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FEATURE_UNIT 16.0
#define WEIGHT_UNIT 64.0
#define BIAS_UNIT (FEATURE_UNIT * WEIGHT_UNIT)
/* Silences a hinge at another question: so many octaves, over the feature that is 16 there. */
#define GATE 24.0

/* Of a rule: the result of a hinge times m / GAIN_UNIT. */
#define GAIN_UNIT 32768.0

enum { HINGE_EXPONENT = 10, SUM_EXPONENT_MOST = 12 };
enum { FEATURE_MOST = 512, WEIGHT_MOST = 127, BIAS_MOST = 1 << 24, SUM_MOST = 127, GAIN_MOST = 32767 };
enum { HEADS = 2, LAYERS = 2 * HEADS, VALUES = 3 * HEADS };
_Static_assert((int)RESIDUAL_NUMBERS <= (int)RESIDUAL_NUMBERS_MAX, "of parametric");
_Static_assert((int)RESIDUAL_LAST <= (int)RESIDUAL_LAST_MAX, "of parametric");
_Static_assert(2 * (int)CLO_RESIDUAL_LIMIT_FEATURES < (int)RESIDUAL_GROUP,
               "a group has two hinges for each feature, and a constant one");
enum { EASY_GROUP = 64 };
_Static_assert(2 * EASY_GROUP * ((int)CLO_EASY_FEATURES + 2) <= (int)RESIDUAL_NUMBERS_MAX, "of easy-parametric");
_Static_assert(2 * EASY_GROUP <= (int)RESIDUAL_LAST_MAX && 2 * (int)CLO_EASY_FEATURES < EASY_GROUP,
               "of easy-parametric");
_Static_assert((int)CLO_EASY_FEATURES <= (int)RESIDUAL_FEATURES_MAX &&
                   (int)CLO_RESIDUAL_FEATURES <= (int)RESIDUAL_FEATURES_MAX,
               "of both");

static const char *const parametric_names[CLO_RESIDUAL_FEATURES] = {
    "work", "path",     "executors", "startable", "unfinished", "time",  "drain", "spare",
    "jobs", "relative", "load",      "ready",     "idle",       "stays", "waits"};

static const char *const easy_names[CLO_EASY_FEATURES] = {
    "work", "relative", "area", "time",       "behind", "startable", "fit",    "least", "free",
    "rest", "demand",   "jobs", "candidates", "wait",   "first",     "delays", "place", "next"};

const residual_shape residual_of_parametric = {.names = parametric_names,
                                               .feature_set = CLO_FEATURES_RESIDUAL,
                                               .features = CLO_RESIDUAL_FEATURES,
                                               .limit_features = CLO_RESIDUAL_LIMIT_FEATURES,
                                               .group = RESIDUAL_GROUP,
                                               .hidden = RESIDUAL_HIDDEN,
                                               .hidden_limit = RESIDUAL_HIDDEN_LIMIT};
const residual_shape residual_of_easy = {.names = easy_names,
                                         .feature_set = CLO_FEATURES_EASY,
                                         .features = CLO_EASY_FEATURES,
                                         .limit_features = CLO_EASY_FEATURES,
                                         .group = EASY_GROUP,
                                         .hidden = EASY_GROUP,
                                         .hidden_limit = EASY_GROUP};

/* A head's part of the numbers. */
typedef struct head {
    uint32_t inputs, hidden;
    double *weights, *bias, *sum;
} head;

static uint32_t value_numbers(const residual_shape *shape)
{
    return shape->hidden * (shape->features + 2);
}

uint32_t residual_numbers(const residual_shape *shape)
{
    return value_numbers(shape) + shape->hidden_limit * (shape->limit_features + 2);
}

static head head_of(const residual_shape *shape, double *numbers, bool is_limit)
{
    head h = {.inputs = is_limit ? shape->limit_features : shape->features,
              .hidden = is_limit ? shape->hidden_limit : shape->hidden};
    double *at = numbers + (is_limit ? value_numbers(shape) : 0);

    h.weights = at;
    h.bias = h.weights + (size_t)h.hidden * h.inputs;
    h.sum = h.bias + h.hidden;
    return h;
}

/* plain: features that are not gates. */
static void init_hinge(double *weights, double *bias, uint32_t unit, uint32_t plain, const residual_seen *seen,
                       draws *d)
{
    *bias = unit == 2 * plain;
    for (uint32_t f = 0; f < plain; f++) {
        double size = 1 / fmax(0.55, seen->deviation[f]),
               drawn = (2 * draws_uniform(d) - 1) / sqrt((double)plain / 3.0);
        weights[f] = unit > 2 * plain ? size * drawn : unit / 2 == f ? size * (unit % 2 == 0 ? 1 : -1) : 0;
        *bias -= weights[f] * seen->mean[f];
    }
}

static void init_head(const residual_shape *shape, head h, const residual_seen *seen, draws *d)
{
    for (uint32_t u = 0; u < h.hidden; u++) {
        uint32_t group = u / shape->group;
        double *weights = h.weights + (size_t)u * h.inputs;
        init_hinge(weights, &h.bias[u], u % shape->group, shape->limit_features, seen, d);
        if (h.inputs == shape->limit_features)
            continue;
        weights[CLO_RESIDUAL_STAYS] = (group == 1 ? GATE : group == 0 ? -GATE : 0) / 16;
        weights[CLO_RESIDUAL_WAITS] = (group == 2 ? GATE : group == 0 ? -GATE : 0) / 16;
        h.bias[u] -= group > 0 ? GATE : 0;
    }
}

void residual_init(const residual_shape *shape, double *numbers, const residual_seen *seen, uint64_t seed)
{
    draws d = {draws_key(seed, 1, 0)};

    memset(numbers, 0, residual_numbers(shape) * sizeof *numbers);
    init_head(shape, head_of(shape, numbers, false), seen, &d);
    init_head(shape, head_of(shape, numbers, true), seen, &d);
    residual_round(shape, numbers);
}

uint32_t residual_last(const residual_shape *shape, uint32_t *which)
{
    uint32_t count = shape->hidden + shape->hidden_limit;

    for (uint32_t i = 0; i < count; i++)
        which[i] = i < shape->hidden ? value_numbers(shape) - shape->hidden + i : residual_numbers(shape) - count + i;
    return count;
}

static double to_integer(double x, double unit, double most)
{
    return fmax(-most, fmin(most, nearbyint(x * unit)));
}

/* Bits behind the point of a head's sum: as many as its largest weight leaves an int8. */
static int sum_exponent(head h)
{
    double most = 0;
    int exponent = SUM_EXPONENT_MOST;

    for (uint32_t u = 0; u < h.hidden; u++)
        most = fmax(most, fabs(h.sum[u]));
    while (exponent > 0 && ldexp(most, exponent) > (double)SUM_MOST)
        exponent--;
    return exponent;
}

/* A weight of a sum as the integers hold it. */
typedef struct held {
    int8_t weight;
    int16_t gain;
} held;

static held hold(double sum, int exponent)
{
    double units = fmin(SUM_MOST, ldexp(fabs(sum), exponent)), weight = ceil(units);
    double gain = weight > 0 ? fmin(GAIN_MOST, nearbyint(units / weight * GAIN_UNIT)) : 0;

    if (gain < 1)
        return (held){0, GAIN_MOST};
    return (held){(int8_t)(sum < 0 ? -weight : weight), (int16_t)gain};
}

void residual_round(const residual_shape *shape, double *numbers)
{
    for (int l = 0; l < HEADS; l++) {
        head h = head_of(shape, numbers, l != 0);
        const int exponent = sum_exponent(h);
        for (uint32_t i = 0; i < h.hidden * h.inputs; i++)
            h.weights[i] = to_integer(h.weights[i], WEIGHT_UNIT, WEIGHT_MOST) / WEIGHT_UNIT;
        for (uint32_t u = 0; u < h.hidden; u++) {
            h.bias[u] = to_integer(h.bias[u], BIAS_UNIT, BIAS_MOST) / BIAS_UNIT;
            const held sum = hold(h.sum[u], exponent);
            h.sum[u] = ldexp(sum.weight * (sum.gain / GAIN_UNIT), -exponent);
        }
    }
}

double residual_answer(const residual_shape *shape, const double *numbers, const int16_t *row, bool is_limit)
{
    const head h = head_of(shape, (double *)(uintptr_t)numbers, is_limit); /* only read */
    double answer = 0;

    for (uint32_t u = 0; u < h.hidden; u++) {
        double sum = h.bias[u];
        for (uint32_t f = 0; f < h.inputs; f++)
            sum += h.weights[(size_t)u * h.inputs + f] * row[f] / FEATURE_UNIT;
        answer += h.sum[u] * fmax(0, sum);
    }
    return answer;
}

/* The arrays that a description points into. */
typedef struct maker {
    clo_model_feature features[2 * RESIDUAL_FEATURES_MAX];
    clo_model_value values[VALUES];
    clo_model_layer layers[LAYERS];
    clo_model_op ops[LAYERS];
    int8_t weights[HEADS][RESIDUAL_NUMBERS_MAX], sums[HEADS][RESIDUAL_LAST_MAX];
    int32_t bias[HEADS][RESIDUAL_LAST_MAX], no_bias, pre[RESIDUAL_LAST_MAX];
    int16_t m[HEADS][RESIDUAL_LAST_MAX], inputs[64 * 2 * RESIDUAL_FEATURES_MAX];
    uint32_t zeros[65];
} maker;

static void make_head(maker *k, const residual_shape *shape, const residual_range *range, head h, int l)
{
    const clo_model_domain domain = l == 0 ? CLO_MODEL_STAGE : CLO_MODEL_LIMIT;
    const uint32_t in = (uint32_t)(3 * l);
    const int exponent = sum_exponent(h);

    for (uint32_t i = 0; i < h.hidden * h.inputs; i++)
        k->weights[l][i] = (int8_t)to_integer(h.weights[i], WEIGHT_UNIT, WEIGHT_MOST);
    for (uint32_t u = 0; u < h.hidden; u++) {
        const held sum = hold(h.sum[u], exponent);
        k->bias[l][u] = (int32_t)to_integer(h.bias[u], BIAS_UNIT, BIAS_MOST);
        k->sums[l][u] = sum.weight;
        k->m[l][u] = sum.gain;
    }
    for (uint32_t f = 0; f < h.inputs; f++)
        k->features[(l != 0 ? shape->features : 0) + f] =
            (clo_model_feature){shape->names[f], 1, 0, range != NULL ? range->least[f] : -FEATURE_MOST,
                                range != NULL ? range->most[f] : FEATURE_MOST};
    k->values[in] = (clo_model_value){CLO_MODEL_S16, domain, h.inputs, 4, 1};
    k->values[in + 1] = (clo_model_value){CLO_MODEL_S16, domain, h.hidden, HINGE_EXPONENT, 0};
    k->values[in + 2] = (clo_model_value){CLO_MODEL_S32, domain, 1, HINGE_EXPONENT + exponent, 0};
    k->layers[2 * l] =
        (clo_model_layer){h.inputs, h.hidden, k->weights[l], k->bias[l], k->pre, k->m[l], 0, 32767, 0, CLO_MODEL_S16};
    k->layers[2 * l + 1] = (clo_model_layer){h.hidden, 1, k->sums[l], &k->no_bias, NULL, NULL, 0, 0, 0, CLO_MODEL_S32};
    for (uint32_t i = 0; i < 2; i++)
        k->ops[2 * l + (int)i] = (clo_model_op){CLO_MODEL_DENSE,
                                                CLO_MODEL_ALL,
                                                in + i + 1,
                                                {in + i, CLO_MODEL_NONE, CLO_MODEL_NONE},
                                                (uint32_t)(2 * l) + i};
}

static clo_model_case golden(maker *k, const residual_shape *shape, const int16_t *rows, uint32_t count)
{
    int16_t *limits = k->inputs + (size_t)count * shape->features;

    memcpy(k->inputs, rows, (size_t)count * shape->features * sizeof *rows);
    for (uint32_t i = 0; i < count; i++)
        memcpy(limits + (size_t)i * shape->limit_features, rows + (size_t)i * shape->features,
               shape->limit_features * sizeof *rows);
    return (clo_model_case){.stages = count,
                            .jobs = 1,
                            .limits = count,
                            .job_of_stage = k->zeros,
                            .child_begin = k->zeros,
                            .children = k->zeros,
                            .job_of_limit = k->zeros,
                            .inputs = k->inputs};
}

clo_status residual_model(const residual_shape *shape, const double *numbers, const residual_range *range,
                          const char *name, const int16_t *rows, uint32_t count, void **out, size_t *bytes)
{
    maker *k = calloc(1, sizeof *k);
    clo_model_desc desc = CLO_MODEL_DESC_INIT;

    if (k == NULL)
        return CLO_ERR_MEMORY;
    make_head(k, shape, range, head_of(shape, (double *)(uintptr_t)numbers, false), 0); /* only read */
    make_head(k, shape, range, head_of(shape, (double *)(uintptr_t)numbers, true), 1);
    const clo_model_case vector = golden(k, shape, rows, count);
    desc.name = name;
    desc.kind = CLO_MODEL_HEAD;
    desc.feature_set = shape->feature_set;
    desc.features = k->features;
    desc.features_count = shape->features + shape->limit_features;
    desc.values = k->values;
    desc.values_count = VALUES;
    desc.layers = k->layers;
    desc.layers_count = LAYERS;
    desc.ops = k->ops;
    desc.ops_count = LAYERS;
    desc.cases = &vector;
    desc.cases_count = 1;
    desc.score = 2;
    desc.limit = 5;
    clo_status status = clo_model_build(&desc, out, bytes);
    free(k);
    return status;
}
