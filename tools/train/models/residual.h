/* residual.h - the network of the policy "residual": one layer of hinges over what it sees of a job, and a sum. One for
 * the value of a job, one for its limit.
 *
 * Each sample of training is a model of integers (residual_model), so what training measures is what runs.
 * residual_answer is the same in floating point, without roundings. */
#ifndef CLO_TOOLS_TRAIN_MODELS_RESIDUAL_H
#define CLO_TOOLS_TRAIN_MODELS_RESIDUAL_H

#include "learn/infer/residual_features.h"

#include <clotho/clotho.h>

#include <stdbool.h>

enum {
    /* For each of the three questions, so many hinges that are silent at the other two. */
    RESIDUAL_GROUP = 32,
    RESIDUAL_HIDDEN = 3 * RESIDUAL_GROUP,
    RESIDUAL_HIDDEN_LIMIT = RESIDUAL_GROUP,
    /* Weights and biases of the hinges, weights of the sum. */
    RESIDUAL_VALUE = RESIDUAL_HIDDEN * (CLO_RESIDUAL_FEATURES + 2),
    RESIDUAL_LIMIT = RESIDUAL_HIDDEN_LIMIT * (CLO_RESIDUAL_LIMIT_FEATURES + 2),
    RESIDUAL_NUMBERS = RESIDUAL_VALUE + RESIDUAL_LIMIT,
    /* Those of the two sums. */
    RESIDUAL_LAST = RESIDUAL_HIDDEN + RESIDUAL_HIDDEN_LIMIT
};

/* What features are like: where hinges begin. */
typedef struct residual_seen {
    double mean[CLO_RESIDUAL_FEATURES], deviation[CLO_RESIDUAL_FEATURES];
} residual_seen;

/* Fills numbers[RESIDUAL_NUMBERS]: in each group two hinges at the mean of each feature, one each way, one that is
 * constant, and drawn directions. The sums are 0: the network says nothing. */
void residual_init(double *numbers, const residual_seen *seen, uint64_t seed);

/* Where the numbers of the two sums lie among all, in which[RESIDUAL_LAST]. */
void residual_last(uint32_t *which);

/* Octaves that the network adds for a row of features. */
double residual_answer(const double *numbers, const int16_t *row, bool is_limit);

/* The model of the rounded numbers.
 *   rows   [count][CLO_RESIDUAL_FEATURES] for the golden vector; count 1 .. 64. Limits take the first features.
 * Returns as clo_model_build. */
clo_status residual_model(const double *numbers, const char *name, const int16_t *rows, uint32_t count, void **out,
                          size_t *bytes);

/* To the numbers that the model of these holds: residual_answer of them is what it says, but for the roundings of its
 * hinges, 1024ths of an octave. Weights of hinges become 64ths, biases 1024ths; weights of a sum keep 15 bits. */
void residual_round(double *numbers);

#endif
