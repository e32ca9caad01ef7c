/* rank.c - highest rank_u first: list scheduling on the critical path (HEFT's order, Topcuoglu 2002, taken online),
 * on whichever executor is free. Ready instances stand in a heap by rank; ties by number. What the runtime took itself stays
 * in the heap until it comes up, and is passed over then. */
#include "policy/policies.h"

#include "base/heap.h"
#include "graph/graph.h"

#include <string.h>

typedef struct rank {
    clo_heap heap;
    int64_t *by_task;     /* [tasks]                                        */
    clo_heap_item *aside; /* [instances] popped but not for this executor   */
} rank;

static size_t rank_bytes(const clo_graph *graph, const clo_platform *platform)
{
    (void)platform;
    return sizeof(rank) + graph->tasks * sizeof(int64_t) + 2 * (size_t)graph->instances * sizeof(clo_heap_item);
}

static clo_status rank_init(void *state, const clo_view *view)
{
    const clo_graph *graph = clo_view_graph(view);
    rank *r = state;

    r->by_task = (int64_t *)(r + 1);
    r->heap.items = (clo_heap_item *)(r->by_task + graph->tasks);
    r->heap.capacity = graph->instances;
    r->aside = r->heap.items + graph->instances;
    clo_cost_rank_u(clo_view_cost(view), r->by_task);
    return CLO_OK;
}

static void rank_ready(void *state, const clo_view *view, uint32_t instance, uint32_t by)
{
    rank *r = state;

    (void)by;
    clo_heap_push(&r->heap, -r->by_task[clo_view_task(view, instance)], instance);
}

static uint32_t rank_pick(void *state, const clo_view *view, uint32_t executor)
{
    rank *r = state;
    uint32_t found = CLO_NONE;
    size_t aside = 0;

    while (r->heap.count > 0 && found == CLO_NONE && clo_view_step(view)) {
        clo_heap_item top = clo_heap_pop(&r->heap);
        if (!clo_view_is_ready(view, (uint32_t)top.id))
            continue; /* the runtime took it, the bound being reached */
        if (clo_view_execution_ns(view, (uint32_t)top.id, executor) == CLO_TIME_NEVER)
            r->aside[aside++] = top;
        else
            found = (uint32_t)top.id;
    }
    while (aside > 0) {
        aside--;
        clo_heap_push(&r->heap, r->aside[aside].key, r->aside[aside].id);
    }
    return found;
}

const clo_policy clo_policy_rank = {
    .name = "rank",
    .summary = "highest rank_u first (HEFT's order, decided online), on whichever executor is free",
    .state_bytes = rank_bytes,
    .init = rank_init,
    .ready = rank_ready,
    .pick = rank_pick,
};
