/* from_trace.c - what happened, as a plan: to draw it, to check it, to replay it. */
#include "base/memory.h"
#include "base/status.h"

#include <clotho/trace.h>

clo_status clo_trace_to_plan(const clo_trace *trace, const clo_cost *cost, clo_plan **out)
{
    size_t count;
    const clo_trace_event *events = clo_trace_events(trace, &count);
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
    clo_status status = clo_plan_from_placements(cost, "measured", placements, count, out);
    clo_free(placements);
    return status;
}
