/* es.h - evolution strategies (Rechenberg 1973; as in Salimans, Ho, Chen, Sidor, Sutskever 2017): normal noise on the
 * numbers, what the noise was worth in both directions (antithetic pairs), and a step of Adam down the slope that this
 * says.
 *
 * The noise is a function of seed, generation and pair alone, so that any number of threads finds the same. */
#ifndef CLO_TOOLS_TRAIN_SEARCH_ES_H
#define CLO_TOOLS_TRAIN_SEARCH_ES_H

#include "train/numbers/parameters.h"

#include <stdio.h>

enum { ES_NUMBERS_MAX = 4096 };

typedef struct es {
    /* The best mean was that of best_generation. */
    uint32_t numbers, generation, best_generation;
    /* Of Adam's rate, from the first to the last. */
    uint32_t generations;
    uint64_t seed;
    /* Of the noise; of Adam. */
    double sigma, rate_first, rate_last;
    /* Of Adam's steps so far. */
    uint64_t steps;
    double mean[ES_NUMBERS_MAX], m[ES_NUMBERS_MAX], v[ES_NUMBERS_MAX];
    /* The best mean so far, by a score that the caller measures on other data; INFINITY: none. Smaller is better. */
    double best[ES_NUMBERS_MAX], best_score;
} es;

/* The sample mean + sign * sigma * noise of a pair, in out[numbers]; sign 0: the mean. */
void es_sample(const es *e, uint32_t pair, int sign, double *out);

/* differences[pairs]: score with sign 1 less that with sign -1; smaller scores are better. Makes the next generation.
 * Differences are divided by their root mean square, so that their unit does not matter; all zeros change nothing. */
void es_update(es *e, const double *differences, uint32_t pairs);

/* Text, one line a number; every digit is kept. Reading: false where the text is not one of es_write for as many
 * numbers, and `e` is untouched then. */
bool es_write(const es *e, FILE *out);
bool es_read(es *e, FILE *in);

#endif
