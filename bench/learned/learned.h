/* learned.h - what the parts of bench-learned share. */
#ifndef CLO_BENCH_LEARNED_H
#define CLO_BENCH_LEARNED_H

#include "common/platform.h"

typedef struct learned {
    bench_options options;
    const char *data;
    /* A network with its weights in another order, and the prior without the network: the tables must change. */
    bool has_shuffled_weights, has_zero_residual;
} learned;

/* A table of one part. Returns false after a line that says why. */
typedef bool (*learned_part)(const learned *l);

/* Hua et al., tables 1 to 6 (edges.c). */
bool learned_edges(const learned *l);

#endif
