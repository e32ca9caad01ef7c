/* paired.h - what a change is worth: the same cases with it and without it, and an interval of the mean. */
#ifndef CLO_TOOLS_TRAIN_SEARCH_PAIRED_H
#define CLO_TOOLS_TRAIN_SEARCH_PAIRED_H

#include <stdint.h>

/* Zeros: no case yet. Of changed / base - 1. */
typedef struct paired {
    uint32_t count;
    double sum, squares;
} paired;

/* base > 0. */
void paired_add(paired *p, double changed, double base);

/* Mean of changed / base - 1; 0 for no case. */
double paired_mean(const paired *p);

/* 1.96 standard errors of that mean; 0 for fewer than two cases. */
double paired_error(const paired *p);

#endif
