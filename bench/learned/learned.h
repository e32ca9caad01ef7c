/* learned.h - what the parts of bench-learned share. */
#ifndef CLO_BENCH_LEARNED_H
#define CLO_BENCH_LEARNED_H

#include "common/platform.h"
#include "common/tpch.h"

typedef struct learned {
    bench_options options;
    /* Where the data sets lie; only tables whose names begin so, NULL: all; a model file in place of the built-in
     * lachesis, NULL: none. */
    const char *data, *table, *file;
    /* A network with its weights in another order, and the prior without the network: the tables must change. */
    bool has_shuffled_weights, has_zero_residual;
} learned;

/* An instance of Hua et al.: queries of TPC-H on one resource (edges.c). */
typedef struct learned_case {
    clo_graph *graph;
    clo_platform *machine;
    clo_cost *cost;
} learned_case;

enum { LEARNED_SETTINGS = 6, LEARNED_SIZES = 5 };
extern const uint32_t learned_sizes[LEARNED_SIZES]; /* queries of an instance */

/* Instance w of a setting and a size; to be closed in any case. False, after a line that says why, if it failed. */
bool learned_case_open(const learned *l, const tpch *t, uint32_t setting, uint32_t jobs, uint32_t w, learned_case *out);
void learned_case_close(learned_case *c);

/* A table of one part. Returns false after a line that says why. */
typedef bool (*learned_part)(const learned *l);

/* Hua et al., tables 1 to 6 (edges.c). */
bool learned_edges(const learned *l);
/* LACHESIS, figures 7 and 8 (lachesis.c). */
bool learned_lachesis(const learned *l);
/* Budgets of one schedule (budget.c). */
bool learned_budget(const learned *l);
/* What each built-in network contributes (networks.c). */
bool learned_networks(const learned *l);

#endif
