/* cem.h - the cross-entropy method (Rubinstein 1999; de Boer, Kroese, Mannor, Rubinstein 2005): a normal distribution
 * for each number, from which samples are drawn; the best of them are what the next distribution is made of.
 *
 * A sample is a function of seed, generation and index alone, so that any number of threads finds the same. */
#ifndef CLO_TOOLS_TRAIN_SEARCH_CEM_H
#define CLO_TOOLS_TRAIN_SEARCH_CEM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { CEM_NUMBERS_MAX = 16 };

typedef struct cem {
    uint32_t numbers, generation;
    uint64_t seed;
    double mean[CEM_NUMBERS_MAX], sigma[CEM_NUMBERS_MAX];
    double least_sigma[CEM_NUMBERS_MAX]; /* below which none falls */
    /* The best mean so far, by a score that the caller measures on other data; INFINITY: none. Smaller is better. */
    double best[CEM_NUMBERS_MAX], best_score;
} cem;

/* out[numbers]. Sample 0 is the mean itself. */
void cem_sample(const cem *c, uint32_t index, double *out);

/* scores[population] of samples 0, 1 ...; smaller is better, ties by index. Makes the next generation of the best
 * `elites`; `inertia` in [0, 1) of the old distribution stays. False: no memory. */
bool cem_update(cem *c, const double *scores, uint32_t population, uint32_t elites, double inertia);

/* Text, one line a number; every digit is kept. Reading: false where the text is not one of cem_write for as many
 * numbers. */
bool cem_write(const cem *c, FILE *out);
bool cem_read(cem *c, FILE *in);

#endif
