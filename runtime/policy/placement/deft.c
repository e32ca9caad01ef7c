/* deft.c - the allocation of LACHESIS (section 4.3), online: stages become ready when their predecessors are assigned;
 * each goes to the executor where it is expected to finish first, a predecessor recomputed there first where that is
 * earlier (DEFT: the best of eq. 8, EFT, and eq. 10, with one duplicate). Selection is by age; with an argument, see
 * two_phase.h. O(executors * inputs^2) a decision. */
#include "policy/placement/two_phase.h"
#include "policy/select/policies.h"

#include "base/numbers/saturate.h"
#include "graph/graph.h"

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

typedef struct option {
    uint32_t executor, duplicate;
    int64_t finish_ns;
} option;

/* With the k-th predecessor recomputed on `executor`, the stage starts when that and all other inputs are there. */
static int64_t duplicated_ns(const clo_view *view, clo_ready_stage ready, uint32_t k, uint32_t executor,
                             uint32_t source)
{
    const clo_graph *graph = clo_cost_graph(clo_view_job(view, ready.job)->cost);
    uint32_t inputs = graph->in_first[ready.stage + 1] - graph->in_first[ready.stage];
    int64_t execution_ns = clo_view_execution_ns(view, ready.job, source, executor);
    if (execution_ns == CLO_TIME_NEVER)
        return INT64_MAX;

    int64_t start_ns =
        later(clo_view_available_ns(view, executor), clo_view_arrival_ns(view, ready.job, source, executor));
    int64_t there_ns = clo_time_add(start_ns, execution_ns);
    for (uint32_t other = 0; other < inputs; other++)
        if (other != k)
            there_ns = later(there_ns, clo_view_input_arrival_ns(view, ready.job, ready.stage, other, executor));
    return clo_time_add(there_ns, clo_view_execution_ns(view, ready.job, ready.stage, executor));
}

static void try_executor(const clo_view *view, clo_ready_stage ready, uint32_t executor, option *best)
{
    int64_t execution_ns = clo_view_execution_ns(view, ready.job, ready.stage, executor);
    if (execution_ns == CLO_TIME_NEVER)
        return;

    /* However early its inputs come, and whatever is computed again before it. */
    int64_t available_ns = clo_view_available_ns(view, executor);
    if (best->executor != CLO_NONE && clo_time_add(available_ns, execution_ns) >= best->finish_ns)
        return;
    const clo_graph *graph = clo_cost_graph(clo_view_job(view, ready.job)->cost);
    uint32_t first = graph->in_first[ready.stage], inputs = graph->in_first[ready.stage + 1] - first;
    int64_t start_ns = later(available_ns, clo_view_arrival_ns(view, ready.job, ready.stage, executor));
    int64_t finish_ns = clo_time_add(start_ns, execution_ns);
    if (best->executor == CLO_NONE || finish_ns < best->finish_ns)
        *best = (option){executor, CLO_NONE, finish_ns};
    for (uint32_t k = 0; k < inputs && graph->rows[ready.stage].instances == 1; k++) {
        if (!clo_view_may_duplicate(view, ready.job, clo_graph_source(graph, first + k), executor))
            continue;
        finish_ns = duplicated_ns(view, ready, k, executor, clo_graph_source(graph, first + k));
        if (finish_ns < best->finish_ns)
            *best = (option){executor, clo_graph_source(graph, first + k), finish_ns};
    }
}

void clo_place_by_deft(const clo_view *view, clo_choice *choice)
{
    clo_ready_stage ready = {choice->job, choice->stage};
    option best = {CLO_NONE, CLO_NONE, INT64_MAX};

    for (uint32_t e = 0; e < clo_view_limits(view)->executors; e++)
        try_executor(view, ready, e, &best);
    choice->executor = best.executor;
    choice->duplicate = best.duplicate;
}

static bool deft_decide(void *state, const clo_view *view, clo_choice *choice)
{
    return clo_two_phase_decide(state, view, clo_place_by_deft, choice);
}

const clo_policy clo_policy_deft = {
    .size = sizeof(clo_policy),
    .name = "deft",
    .summary = "each stage, its inputs assigned, where it finishes first, a predecessor duplicated if that helps; also "
               "deft:POLICY (deft:decima is Decima-DEFT)",
    .readiness = CLO_READY_ASSIGNED,
    .commits = 1,
    .state_bytes = clo_two_phase_bytes,
    .job_bytes = clo_two_phase_job_bytes,
    .prepare = clo_two_phase_prepare,
    .init = clo_two_phase_init,
    .event = clo_two_phase_event,
    .decide = deft_decide,
    .argument_bytes = sizeof(clo_two_phase),
    .parse = clo_two_phase_parse,
    .release = clo_two_phase_release,
};
