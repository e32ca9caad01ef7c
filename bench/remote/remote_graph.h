/* remote_graph.h - the graph that Clotho and StarPU-MPI run on several ranks: layers, each task after one to three of
 * the layer before; bodies compute and check their inputs by value. */
#ifndef BENCH_REMOTE_GRAPH_H
#define BENCH_REMOTE_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

enum { REMOTE_PREDS_MAX = 3 };

typedef struct remote_graph {
    uint32_t tasks;
    uint32_t (*preds)[REMOTE_PREDS_MAX];
    uint32_t *preds_count;
    int *owner;       /* rank */
    uint64_t *values; /* what the outputs begin with */
    uint64_t bytes;   /* of an output; 8 or more */
    int64_t work_ns;
    uint64_t iterations; /* of a body */

    /* Of this rank's last run; one worker writes them. */
    int64_t first_ns, last_ns;
    uint64_t executed, wrong;
    double sum; /* so that nothing of the work is left out */
} remote_graph;

/* False if there is no memory; close it all the same. */
bool remote_graph_open(remote_graph *graph, uint32_t tasks, uint32_t width, int64_t work_ns, uint64_t bytes);
void remote_graph_close(remote_graph *graph);

/* inputs: [preds_count[task]]. */
void remote_body(remote_graph *graph, uint32_t task, const void *const *inputs, void *output);

#endif
