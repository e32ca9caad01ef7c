/* residual.h - the networks of the policies "residual" and "easy-residual": one layer of hinges over what it sees of a job
 * or an instance, and a sum. One for its value or score, one for the job's limit or for whether the instance may start.
 *
 * Each sample of training is a model of integers (residual_model), so what training measures is what runs.
 * residual_answer is the same in floating point, without roundings. */
#ifndef CLO_TOOLS_TRAIN_MODELS_RESIDUAL_H
#define CLO_TOOLS_TRAIN_MODELS_RESIDUAL_H

#include "learn/infer/easy_features.h"
#include "learn/infer/residual_features.h"

#include <clotho/clotho.h>

#include <stdbool.h>

/* Of the network of "residual". */
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

/* Of any of the shapes below, at most. */
enum { RESIDUAL_FEATURES_MAX = 18, RESIDUAL_NUMBERS_MAX = 2560, RESIDUAL_LAST_MAX = 128 };

/* Whose network it is: its list of features, of which the first `limit_features` are those of limits too, and hinges of
 * both heads. With fewer features of limits those behind are gates: they say which question is asked, and each question
 * has a third of the hinges. */
typedef struct residual_shape {
    const char *const *names;
    uint32_t feature_set, features, limit_features, group, hidden, hidden_limit;
} residual_shape;

extern const residual_shape residual_of_parametric, residual_of_easy;

uint32_t residual_numbers(const residual_shape *shape);

/* What features are like: where hinges begin. */
typedef struct residual_seen {
    double mean[RESIDUAL_FEATURES_MAX], deviation[RESIDUAL_FEATURES_MAX];
} residual_seen;

/* Fills numbers[residual_numbers]: in each group two hinges at the mean of each feature, one each way, one that is
 * constant, and drawn directions. The sums are 0: the network says nothing. */
void residual_init(const residual_shape *shape, double *numbers, const residual_seen *seen, uint64_t seed);

/* Where the numbers of the two sums lie among all, in which[RESIDUAL_LAST_MAX]. Returns how many they are. */
uint32_t residual_last(const residual_shape *shape, uint32_t *which);

/* Octaves that the network adds for a row of features. */
double residual_answer(const residual_shape *shape, const double *numbers, const int16_t *row, bool is_limit);

/* Ranges of features in a file: where a feature is beyond its own, "easy-residual" does not ask the network. */
typedef struct residual_range {
    int16_t least[RESIDUAL_FEATURES_MAX], most[RESIDUAL_FEATURES_MAX];
} residual_range;

/* The model of the rounded numbers.
 *   range  NULL: 32 octaves either way
 *   rows   [count][shape->features] for the golden vector; count 1 .. 64. Limits take the first features.
 * Returns as clo_model_build. */
clo_status residual_model(const residual_shape *shape, const double *numbers, const residual_range *range,
                          const char *name, const int16_t *rows, uint32_t count, void **out, size_t *bytes);

/* To the numbers that the model of these holds: residual_answer of them is what it says, but for the roundings of its
 * hinges, 1024ths of an octave. Weights of hinges become 64ths, biases 1024ths; weights of a sum keep 15 bits. */
void residual_round(const residual_shape *shape, double *numbers);

#endif
