/* graphs.h - the graphs that every peer runs, as plain arrays, and the check that they ran in order. */
#ifndef CLO_BENCH_GRAPHS_H
#define CLO_BENCH_GRAPHS_H

#include "bench.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bench_graph bench_graph;
typedef void (*bench_body)(bench_graph *graph, uint32_t task);

struct bench_graph {
    const char *name;
    uint32_t tasks, edges;
    uint32_t *pred_first, *pred; /* [tasks + 1], [edges] */
    uint32_t *succ_first, *succ;
    uint32_t runs;       /* in one measurement   */
    bench_body body;     /* bench_empty or bench_visit */
    uint32_t *seen;      /* [tasks] times visited */
    uint32_t violations; /* visits before a predecessor's */
};

/* Does nothing; not inlined. */
void bench_empty(bench_graph *graph, uint32_t task);
/* Counts the visit, and a violation if a predecessor has not been visited as often. */
void bench_visit(bench_graph *graph, uint32_t task);

/* "chain": one after the other. "fan": 1 -> tasks - 2 -> 1. "wave": a square, each task after its upper and its left
 * neighbour. "rand": layers of 256, each task after 1 to 5 of the layer before. False if there is no memory. */
bool bench_graph_open(bench_graph *graph, const char *name, uint32_t tasks, uint64_t seed);
void bench_graph_close(bench_graph *graph);

/* Forgets all visits. */
void bench_graph_reset(bench_graph *graph);
/* True if every task was visited `runs` times, never before a predecessor. */
bool bench_graph_is_right(const bench_graph *graph, uint32_t runs);

#ifdef __cplusplus
}
#endif
#endif
