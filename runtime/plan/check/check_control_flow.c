/* check_control_flow.c - see check_control_flow.h. */
#include "plan/check/check_control_flow.h"

#include "base/status.h"

static clo_status wrong(const clo_graph *graph, uint32_t task, const char *what)
{
    char scratch[16];

    return clo_fail(CLO_ERR_INVALID, "task '%.60s' (%u) %s", clo_graph_task_name(graph, task, scratch), task, what);
}

/* The rule of branch.h, of one task. */
static bool must_skip(const clo_plan *plan, const clo_graph *graph, uint32_t task)
{
    uint32_t dead = 0, edges = 0;

    for (uint32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
        if (graph->control_flow->in_arm[k] == CLO_ARM_ORDER)
            continue; /* it says who uses a handle first, and nothing else */
        dead += clo_check_is_dead(plan, graph, k);
        edges++;
    }
    return graph->control_flow->is_merge[task] ? edges > 0 && dead == edges : dead > 0;
}

clo_status clo_check_control_flow(const clo_plan *plan, const clo_graph *graph)
{
    if (plan->outcome != NULL && (graph->control_flow == NULL || plan->tasks != graph->tasks))
        return clo_fail(CLO_ERR_INVALID, "the plan was made of a run of another graph");
    for (uint32_t t = 0; plan->outcome != NULL && t < graph->tasks; t++) {
        const clo_plan_outcome *outcome = &plan->outcome[t];
        if (outcome->skipped != 0 && outcome->ran != 0)
            return wrong(graph, t, "ran and was skipped");
        if (outcome->skipped != 0 && !must_skip(plan, graph, t))
            return wrong(graph, t, "was skipped, but no branch led there");
        if (outcome->ran != 0 && must_skip(plan, graph, t))
            return wrong(graph, t, "ran, although an edge into it is dead");
        if (outcome->ran != 0 && outcome->arm >= clo_graph_arms(graph, t) && clo_graph_arms(graph, t) > 0)
            return wrong(graph, t, "chose an arm that it does not have");
    }
    return CLO_OK;
}
