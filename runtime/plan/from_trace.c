/* from_trace.c - what happened, as a plan: to draw it, to check it, to replay it. */
#include "base/memory.h"
#include "base/status.h"
#include "plan/plan.h"
#include "trace/trace.h"

/* What the events say of branches; whether it can be true is the checker's to say. */
static clo_status fill_outcome(clo_plan *plan, const clo_trace *trace)
{
    plan->outcome = clo_allocate(trace->tasks, sizeof *plan->outcome);
    if (plan->outcome == NULL)
        return clo_fail_memory("a measured schedule");
    for (size_t i = 0; i < trace->count; i++) {
        const clo_trace_event *event = &trace->events[i];
        clo_plan_outcome *outcome = &plan->outcome[event->task];
        outcome->skipped |= event->is_skipped != 0;
        outcome->ran |= event->is_skipped == 0;
        if (event->is_skipped == 0)
            outcome->arm = event->arm;
    }
    return CLO_OK;
}

/* The first release of a series: of each instance what comes first. */
static clo_status drop_later_releases(const clo_graph *graph, clo_placement *placements, size_t *count)
{
    bool *has = clo_allocate(graph->instances, sizeof *has);
    size_t kept = 0;

    if (has == NULL)
        return clo_fail_memory("a measured schedule");
    for (size_t i = 0; i < *count; i++) {
        uint32_t instance = graph->first_instance[placements[i].task] + placements[i].instance;
        if (!has[instance])
            placements[kept++] = placements[i];
        has[instance] = true;
    }
    *count = kept;
    clo_free(has);
    return CLO_OK;
}

/* True: there are several releases. */
static bool fill_placements(clo_placement *placements, const clo_trace *trace)
{
    const clo_trace_event *events = trace->events;
    bool is_series = false;

    for (size_t i = 0; i < trace->count; i++) {
        is_series = is_series || events[i].release != events[0].release;
        placements[i] = (clo_placement){
            .task = events[i].task,
            .instance = events[i].instance,
            .executor = events[i].executor,
            .is_replica = events[i].is_replica,
            .start_ns = events[i].start_ns,
            .finish_ns = events[i].finish_ns,
        };
    }
    return is_series;
}

clo_status clo_trace_to_plan(const clo_trace *trace, const clo_cost *cost, clo_plan **out)
{
    if (trace == NULL || cost == NULL || out == NULL)
        return clo_fail_null("clo_trace_to_plan", "trace, cost or out");
    clo_status status = clo_trace_matches(trace, cost);
    if (status != CLO_OK)
        return status;
    clo_placement *placements = clo_allocate(trace->count, sizeof *placements);
    if (placements == NULL)
        return clo_fail_memory("a measured schedule");
    size_t count = trace->count;
    if (fill_placements(placements, trace))
        status = drop_later_releases(clo_cost_graph(cost), placements, &count);
    clo_plan *plan = NULL;
    if (status == CLO_OK)
        status = clo_plan_from_placements(cost, trace->is_emulated ? "emulated" : "measured", placements, count, &plan);
    if (status == CLO_OK && clo_cost_graph(cost)->control_flow != NULL)
        status = fill_outcome(plan, trace);
    if (status != CLO_OK) {
        clo_plan_destroy(plan);
    } else {
        plan->is_emulated = trace->is_emulated;
        *out = plan;
    }
    clo_free(placements);
    return status;
}
