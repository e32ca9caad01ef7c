/* fifo.c - first ready, first served: the ready instances in one queue, each free executor takes the oldest that it
 * can run. The plainest baseline. */
#include "policy/policies.h"

#include "graph/graph.h"

#include <string.h>

typedef struct fifo {
    uint32_t head, tail;
    uint32_t queue[]; /* [instances] each instance enters once */
} fifo;

static size_t fifo_bytes(const clo_graph *graph, const clo_platform *platform)
{
    (void)platform;
    return sizeof(fifo) + (size_t)graph->instances * sizeof(uint32_t);
}

static void fifo_ready(void *state, const clo_view *view, uint32_t instance, uint32_t by)
{
    fifo *f = state;

    (void)view;
    (void)by;
    f->queue[f->tail++] = instance;
}

static uint32_t fifo_pick(void *state, const clo_view *view, uint32_t executor)
{
    fifo *f = state;

    for (uint32_t i = f->head; i < f->tail; i++) {
        uint32_t instance = f->queue[i];
        if (clo_view_execution_ns(view, instance, executor) == CLO_TIME_NEVER)
            continue;
        memmove(&f->queue[f->head + 1], &f->queue[f->head], (i - f->head) * sizeof(uint32_t));
        f->head++;
        return instance;
    }
    return CLO_NONE;
}

const clo_policy clo_policy_fifo = {
    .name = "fifo",
    .summary = "oldest ready instance first, on whichever executor is free",
    .state_bytes = fifo_bytes,
    .ready = fifo_ready,
    .pick = fifo_pick,
};
