/* plan/etf.c - the best pair of ready instance and executor: ETF and DLS.
 *
 *   etf  earliest task first: Hwang, Chow, Anger, Lee, "Scheduling Precedence Graphs in Systems with Interprocessor
 *        Communication Times", SIAM J. Computing 18(2), 1989. The pair with the earliest start; ties: the highest
 *        static level, then the lowest id, then the lowest executor. The paper moves a clock from one completion to the
 *        next; always to take the earliest start of all pairs gives the same starts without one.
 *   dls  dynamic level scheduling: Sih, Lee, "A Compile-Time Scheduling Heuristic for Interconnection-Constrained
 *        Heterogeneous Processor Architectures", IEEE TPDS 4(2), 1993. The pair with the highest static level - start +
 *        (mean time - time there); ties: the lowest id, then the lowest executor. Mean times instead of the
 *        paper's medians; of its generalised level neither the descendants' nor the resources' term.
 *
 * The static level is the longest way to an exit in mean times, without transfers. Both append, fill no gaps. Beyond
 * the papers: placement masks, capacities of machines, instances (of a task they look alike: one stands for all).
 *
 * A start only moves back while executors fill, so the heap holds levels that may be too good: its first is looked at
 * again, and is the best of all if it was right. O(ready * executors * inputs) a placement in the worst case, 2 *
 * executors * inputs in a good one. */
#include "plan/planners.h"

#include "base/memory.h"
#include "base/status.h"
#include "plan/ready.h"

#include <assert.h>

typedef struct pairs {
    clo_ready ready;
    int64_t *level_ns; /* [tasks] static level */
    bool is_dls;
} pairs;

/* In reverse topological order: successors are complete. */
static void find_levels(const clo_cost *cost, int64_t *level_ns)
{
    const clo_graph *graph = cost->graph;

    for (uint32_t i = graph->instances; i-- > 0;) {
        uint32_t v = graph->order[i], task = graph->task_of[v];
        if (graph->first_instance[task] != v)
            continue;
        level_ns[task] += cost->mean_ns[task];
        for (uint32_t arc = graph->pred_first[v]; arc < graph->pred_first[v + 1]; arc++) {
            int64_t *above = &level_ns[graph->task_of[graph->pred[arc]]];
            *above = level_ns[task] > *above ? level_ns[task] : *above;
        }
    }
}

/* The best executor for an instance and, as the key of an item, what it is worth there. */
static clo_ready_item look(pairs *p, uint32_t instance, clo_slot *slot)
{
    clo_draft *draft = p->ready.draft;
    uint32_t task = draft->graph->task_of[instance];
    clo_ready_item best = {INT64_MAX, -p->level_ns[task], instance};

    *slot = (clo_slot){0, INT64_MAX, CLO_NONE};
    clo_draft_find_ready(draft, instance);
    for (uint32_t e = 0; e < draft->executors; e++) {
        clo_slot found = clo_ready_append(&p->ready, task, e, draft->ready_ns[e]);
        if (found.executor == CLO_NONE)
            continue;
        /* DLS: start - level - (mean - time) = finish - level - mean. */
        int64_t key = p->is_dls ? found.finish_ns - p->level_ns[task] - draft->cost->mean_ns[task] : found.start_ns;
        if (key < best.key) {
            best.key = key;
            *slot = found;
        }
    }
    if (p->is_dls)
        best.second = 0;
    assert(slot->executor != CLO_NONE);
    return best;
}

static clo_status place_next(pairs *p)
{
    const clo_graph *graph = p->ready.draft->graph;

    for (;;) { /* ends: each round places one or raises a key to what it is */
        clo_ready_item item = clo_heap_pop(&p->ready.heap);
        clo_slot slot;
        clo_ready_item now = look(p, item.instance, &slot);
        if (now.key > item.key) {
            clo_heap_push(&p->ready.heap, now);
            continue;
        }
        clo_status status = clo_ready_place(&p->ready, item.instance, slot);
        if (item.instance + 1 < graph->first_instance[graph->task_of[item.instance] + 1])
            clo_heap_push(&p->ready.heap, (clo_ready_item){item.key, item.second, item.instance + 1});
        return status;
    }
}

static clo_status fill(clo_draft *draft, bool is_dls)
{
    pairs p = {.is_dls = is_dls};
    uint32_t instance;
    clo_status status = clo_ready_open(&p.ready, draft);
    if (status != CLO_OK)
        return status;
    p.level_ns = clo_allocate(draft->graph->tasks, sizeof *p.level_ns);
    if (p.level_ns == NULL)
        status = clo_fail_memory("a plan");
    else
        find_levels(draft->cost, p.level_ns);

    while (status == CLO_OK && draft->count < draft->graph->instances) { /* ends: some instance is always ready */
        while (clo_ready_next(&p.ready, &instance))
            if (draft->graph->first_instance[draft->graph->task_of[instance]] == instance)
                clo_heap_push(&p.ready.heap, (clo_ready_item){INT64_MIN, 0, instance});
        status = place_next(&p);
    }
    clo_free(p.level_ns);
    clo_ready_close(&p.ready);
    return status;
}

clo_status clo_etf_fill(clo_draft *draft, const clo_plan_config *config)
{
    (void)config;
    return fill(draft, false);
}

clo_status clo_dls_fill(clo_draft *draft, const clo_plan_config *config)
{
    (void)config;
    return fill(draft, true);
}
