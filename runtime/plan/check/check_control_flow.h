/* plan/check/check_control_flow.h - of a schedule that was run: were those tasks skipped that had to be? Shares no code
 * with the engine. */
#ifndef CLO_PLAN_CHECK_CHECK_CONTROL_FLOW_H
#define CLO_PLAN_CHECK_CHECK_CONTROL_FLOW_H

#include "plan/plan.h"

/* CLO_OK, or CLO_ERR_INVALID and the first task that was skipped, or ran, although the arms that were chosen say
 * otherwise. Nothing to do for a plan that is of no run. O(tasks + edges). */
clo_status clo_check_control_flow(const clo_plan *plan, const clo_graph *graph);

/* The task was skipped. */
static inline bool clo_check_is_skipped(const clo_plan *plan, uint32_t task)
{
    return plan->outcome != NULL && plan->outcome[task].skipped != 0;
}

/* Nothing came over graph->in[edge]. */
static inline bool clo_check_is_dead(const clo_plan *plan, const clo_graph *graph, uint32_t edge)
{
    if (plan->outcome == NULL)
        return false;
    const clo_plan_outcome *from = &plan->outcome[clo_graph_source(graph, edge)];
    uint32_t arm = graph->control_flow->in_arm[edge];
    return from->skipped != 0 || (arm < CLO_ARMS_MAX && arm != from->arm);
}

#endif
