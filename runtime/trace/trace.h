/* trace/trace.h - how the drivers fill a trace. */
#ifndef CLO_TRACE_TRACE_H
#define CLO_TRACE_TRACE_H

#include "library.h"
#include <clotho/trace.h>

struct clo_trace {
    clo_trace_event *events; /* sorted by (start, finish, executor) */
    size_t count;
    /* The times are not this machine's own: those of a run under the padded or the virtual clock, or of clo_simulate,
     * unless that replayed a run that was measured. */
    bool is_emulated;
    uint32_t tasks, instances, executors; /* of the graph and platform it is of */
};

/* Takes a copy of `events`, of a run of the graph and platform of `cost`, and sorts it. Returns CLO_OK or
 * CLO_ERR_MEMORY. */
CLO_INTERNAL clo_status clo_trace_create(const clo_cost *cost, bool is_emulated, const clo_trace_event *events,
                                         size_t count, clo_trace **out);

/* CLO_OK if the trace can be of this cost's graph and platform: as many tasks, instances and executors, all ids in
 * range. Else CLO_ERR_ARGUMENT. */
CLO_INTERNAL clo_status clo_trace_matches(const clo_trace *trace, const clo_cost *cost);

#endif
