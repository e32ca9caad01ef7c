/* learned.h - what the parts of bench-learned share. */
#ifndef CLO_BENCH_LEARNED_H
#define CLO_BENCH_LEARNED_H

#include "common/platform.h"

typedef struct learned {
    bench_options options;
    /* Where the data sets lie; only tables whose names begin so, NULL: all; a model file in place of the built-in
     * lachesis, NULL: none. */
    const char *data, *table, *file;
    /* A network with its weights in another order, and the prior without the network: the tables must change. */
    bool has_shuffled_weights, has_zero_residual;
} learned;

/* A table of one part. Returns false after a line that says why. */
typedef bool (*learned_part)(const learned *l);

/* Hua et al., tables 1 to 6 (edges.c). */
bool learned_edges(const learned *l);
/* LACHESIS, figures 7 and 8 (lachesis.c). */
bool learned_lachesis(const learned *l);
/* Budgets of one schedule (budget.c). */
bool learned_budget(const learned *l);

#endif
