/* patterns.h - nine dependence patterns of Task Bench, as graphs whose tasks check what they are given. */
#ifndef CLO_BENCH_PATTERNS_H
#define CLO_BENCH_PATTERNS_H

#include "common/graphs.h"

/* `steps` rows of at most `width` points. Task Bench's own defaults for the rest: a period of 3, and a random neighbour
 * is connected with probability 1/4. */
typedef struct pattern_size {
    uint32_t steps, width, radix; /* radix: inputs of a point, where the pattern leaves it open; 0: as published */
} pattern_size;
enum { PATTERN_WIDTH_MAX = 64 };

/* What a task leaves for its successors: 16 bytes, on a cache line of their own as separate buffers would be. */
typedef struct pattern_output {
    _Alignas(64) uint64_t step; /* and the number of the run above 32 bits, so that what an earlier run left is wrong */
    uint64_t point;
} pattern_output;

/* graph.body computes for graph.iterations; graph.context is the pattern itself, so it may not be moved. */
typedef struct pattern {
    bench_graph graph;
    uint32_t *step, *point;  /* [tasks] */
    pattern_output *outputs; /* [tasks] */
    uint64_t run;            /* number of the run in progress; graph.violations counts wrong inputs */
} pattern;

/* "trivial", "no_comm", "tree", "fft", "random_nearest", "stencil_1d", "nearest", "spread", "all_to_all"; NULL past the
 * end. */
const char *pattern_name(uint32_t index);

/* The radix of a pattern where nobody asks for another: 5, and 3 for spread, which has no room for 5 in a width of
 * 8. */
uint32_t pattern_radix(const char *name);

/* False if there is no memory, or the size cannot be (spread needs a period of at most width / radix, rounded up). */
bool pattern_open(pattern *p, const char *name, pattern_size size);
void pattern_close(pattern *p);

/* Call before each run of the graph, and is_right after it: true if every task ran and all inputs were right. */
void pattern_arm(pattern *p);
bool pattern_is_right(const pattern *p);

#endif
