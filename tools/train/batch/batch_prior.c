/* batch_prior.c - the weights of the prior by the cross-entropy method (train/search/cem.h): see batch_tune. */
#include "train/batch/batch.h"

#include "train/search/cem.h"
#include "train/search/crew.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 5, POPULATION = 32, ELITES = 6, KEY_UNITS = 1 << 24 };

/* rank-up is what the others are measured in; all tasks of a batch have one instance. */
static const uint32_t tuned[NUMBERS] = {CLO_FEATURE_TIME, CLO_FEATURE_INPUT, CLO_FEATURE_OUTPUT, CLO_FEATURE_RANK_DOWN,
                                        CLO_FEATURE_CHILDREN};

/* Samples on batches. */
typedef struct scoring {
    batch *const *list;
    uint32_t count;
    double (*samples)[CEM_NUMBERS_MAX];
    /* [samples * count] */
    double *ratios;
} scoring;

/* In steps of 1 / 127, between -1 and 1: int8 weights of a model have them exactly. */
static void to_weights(const double *numbers, double weights[BATCH_WEIGHTS])
{
    memset(weights, 0, BATCH_WEIGHTS * sizeof *weights);
    weights[CLO_FEATURE_RANK_UP] = 1;
    for (int n = 0; n < NUMBERS; n++)
        weights[tuned[n]] = round(127 * fmin(fmax(numbers[n], -1), 1)) / 127;
}

double batch_prior(const batch *b, const double weights[BATCH_WEIGHTS], uint32_t task)
{
    const double *x = b->input.inputs + (size_t)task * CLO_FEATURES_STAGE;
    double sum = 0;

    for (int k = 0; k < BATCH_WEIGHTS; k++)
        sum += weights[k] * x[k];
    return sum;
}

static void score_one(void *argument, uint32_t thread, uint32_t i)
{
    const scoring *s = argument;
    const batch *b = s->list[i % s->count];
    int64_t *keys = malloc(b->shape.stages * sizeof *keys), makespan_ns = -1;
    double weights[BATCH_WEIGHTS];

    (void)thread;
    to_weights(s->samples[i / s->count], weights);
    for (uint32_t t = 0; t < b->shape.stages && keys != NULL; t++)
        keys[t] = (int64_t)llround(batch_prior(b, weights, t) * (double)KEY_UNITS);
    if (keys != NULL)
        makespan_ns = batch_makespan_ns(b, keys);
    s->ratios[i] = makespan_ns > 0 ? (double)makespan_ns / (double)b->reference_ns : INFINITY;
    free(keys);
}

/* Mean of each sample; false: no memory. */
static bool score(scoring *s, uint32_t samples, uint32_t threads, double *out)
{
    s->ratios = calloc((size_t)samples * s->count, sizeof *s->ratios);
    if (s->ratios == NULL)
        return false;
    crew_run(threads, samples * s->count, score_one, s);
    for (uint32_t k = 0; k < samples; k++) {
        out[k] = 0;
        for (uint32_t i = 0; i < s->count; i++)
            out[k] += s->ratios[(size_t)k * s->count + i] / s->count;
    }
    free(s->ratios);
    return true;
}

bool batch_tune(batch_set *set, const batch_tuning *how, double *validation)
{
    cem c = {.numbers = NUMBERS, .seed = how->seed, .best_score = 1};
    double samples[POPULATION][CEM_NUMBERS_MAX], mean[1][CEM_NUMBERS_MAX], scores[POPULATION], judged;
    scoring training = {set->list, how->training, samples, NULL};
    scoring judging = {set->list + how->training, set->count - how->training, mean, NULL};

    for (int n = 0; n < NUMBERS; n++) {
        c.sigma[n] = 0.3;
        c.least_sigma[n] = 0.01;
    }
    for (uint32_t g = 0; g < how->generations; g++) {
        for (uint32_t k = 0; k < POPULATION; k++)
            cem_sample(&c, k, samples[k]);
        if (!score(&training, POPULATION, how->threads, scores) || !cem_update(&c, scores, POPULATION, ELITES, 0.3))
            return false;
        memcpy(mean[0], c.mean, sizeof mean[0]);
        if (!score(&judging, 1, how->threads, &judged))
            return false;
        if (judged < c.best_score) {
            c.best_score = judged;
            memcpy(c.best, c.mean, sizeof c.best);
        }
        if (how->told != NULL)
            how->told(how->context, g + 1, scores[0], judged);
    }
    to_weights(c.best, set->weights);
    *validation = c.best_score;
    return true;
}
