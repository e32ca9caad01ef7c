/* from_trace.c - what happened, as a plan: to draw it, to check it, to replay it. */
#include "base/memory.h"
#include "base/status.h"
#include "plan/plan.h"
#include "trace/trace.h"

clo_status clo_trace_to_plan(const clo_trace *trace, const clo_cost *cost, clo_plan **out)
{
    if (trace == NULL || cost == NULL || out == NULL)
        return clo_fail_null("clo_trace_to_plan", "trace, cost or out");
    clo_status status = clo_trace_matches(trace, cost);
    if (status != CLO_OK)
        return status;
    size_t count = trace->count;
    const clo_trace_event *events = trace->events;
    clo_placement *placements = clo_allocate(count, sizeof *placements);
    if (placements == NULL)
        return clo_fail_memory("a measured schedule");
    for (size_t i = 0; i < count; i++)
        placements[i] = (clo_placement){
            .task = events[i].task,
            .instance = events[i].instance,
            .executor = events[i].executor,
            .is_replica = events[i].is_replica,
            .start_ns = events[i].start_ns,
            .finish_ns = events[i].finish_ns,
        };
    clo_plan *plan = NULL;
    status = clo_plan_from_placements(cost, trace->is_emulated ? "emulated" : "measured", placements, count, &plan);
    if (status == CLO_OK) {
        plan->is_emulated = trace->is_emulated;
        *out = plan;
    }
    clo_free(placements);
    return status;
}
