/* plan/heft.c - HEFT: Topcuoglu, Hariri, Wu, "Performance-Effective and Low-Complexity Task Scheduling for
 * Heterogeneous Computing", IEEE TPDS 13(3), 2002, section 4.2.
 *
 * Instances in order of falling rank_u (ties: earlier in topological order), each on the executor with the
 * earliest finish time, gaps included (ties: the lowest executor). Beyond the paper: task instances,
 * placement masks, and capacities of machines (a start must also fit the machine's profile).
 *
 * O(arcs * executors) for the arrivals and one search in each executor's timeline an instance. */
#include "plan/planners.h"
#include "plan/ready.h"

#include <assert.h>

static clo_status place(clo_draft *draft, uint32_t instance)
{
    uint32_t task = draft->graph->task_of[instance], best = CLO_NONE;
    int64_t best_start = 0, best_finish = INT64_MAX;

    clo_draft_find_ready(draft, instance);
    for (uint32_t e = 0; e < draft->executors; e++) {
        int64_t duration = clo_cost_time(draft->cost, task, e);
        if (duration == CLO_TIME_NEVER || draft->ready_ns[e] + duration >= best_finish)
            continue; /* cannot run there, or cannot be earlier whatever the gaps */
        int64_t start = clo_draft_slot_ns(draft, task, e, draft->ready_ns[e], duration);
        if (start + duration < best_finish) {
            best = e;
            best_start = start;
            best_finish = start + duration;
        }
    }
    assert(best != CLO_NONE); /* a cost exists only if every task has an executor */
    return clo_draft_place(draft, instance, best, best_start);
}

clo_status clo_heft_fill(clo_draft *draft, const clo_plan_config *config)
{
    (void)config;
    assert(draft->count == 0);
    clo_status status = clo_draft_order(draft);

    for (uint32_t i = 0; status == CLO_OK && i < draft->graph->instances; i++)
        status = place(draft, draft->order[i]);
    return status;
}
