/* graphs.h - the graphs that every peer runs, as plain arrays, their bodies, and the check that they ran in order. */
#ifndef CLO_BENCH_GRAPHS_H
#define CLO_BENCH_GRAPHS_H

#include "common/bench.h"

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
    bench_body body;     /* bench_empty, bench_visit, bench_work, or the benchmark's own */
    uint64_t iterations; /* of bench_work        */
    int64_t work_ns;     /* what a planner is told about a task */
    void *context;       /* of a body of the benchmark's own */
    uint32_t *seen;      /* [tasks] times visited */
    uint32_t violations; /* visits before a predecessor's */
};

/* Does nothing; not inlined. */
void bench_empty(bench_graph *graph, uint32_t task);
/* Counts the visit, and a violation if a predecessor has not been visited as often. */
void bench_visit(bench_graph *graph, uint32_t task);
/* Computes for graph->iterations. */
void bench_work(bench_graph *graph, uint32_t task);

/* The computation: each iteration is 16 independent multiplications and additions of doubles. The result depends on
 * all of them. */
double bench_compute(uint64_t iterations);
/* Iterations that take `ns` at the speed the machine has now. */
uint64_t bench_iterations(int64_t ns);

/* A graph is made task by task: the edges into task 0, then bench_task, the edges into task 1, then bench_task ... */
typedef struct bench_builder {
    bench_graph *graph;
    uint32_t tasks; /* done so far */
    size_t capacity;
    bool has_failed;
} bench_builder;
void bench_begin(bench_builder *builder, bench_graph *graph, const char *name, uint32_t tasks);
void bench_edge(bench_builder *builder, uint32_t from);
void bench_task(bench_builder *builder);
bool bench_end(bench_builder *builder); /* false if there was no memory; close the graph all the same */

/* "none": no edges. "chain": one after the other. "fan": 1 -> tasks - 2 -> 1. "wave": a square, each task after its
 * upper and its left neighbour. "rand": layers of 256, each task after 1 to 5 of the layer before. "pipe3": a pipeline
 * of 3 serial stages, unrolled, with 8 tokens in it at once; any number of stages. False if there is no memory. */
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
