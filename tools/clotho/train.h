/* train.h - `clotho train`: its options, and what is trained. */
#ifndef CLOTHO_TOOL_TRAIN_H
#define CLOTHO_TOOL_TRAIN_H

#include "../train/seeds.h"
#include "report.h"

typedef struct train_options {
    const char *spec, *environment, *arrivals, *baseline, *start, *checkpoint, *output;
    uint32_t jobs, generations, population, seeds_each, threads; /* threads 0: as many as CPUs */
    seed_list seeds, validation;
    uint64_t seed;
    double scale;
    bool as_json;
} train_options;

/* Returns an exit code. */
int train_parametric(const char *path, const train_options *options);

#endif
