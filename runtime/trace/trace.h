/* trace/trace.h - how the drivers fill a trace. */
#ifndef CLO_TRACE_TRACE_H
#define CLO_TRACE_TRACE_H

#include <clotho/trace.h>

struct clo_trace {
    clo_trace_event *events; /* sorted by (start, finish, executor) */
    size_t count;
};

/* Takes a copy of `events` and sorts it. Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_trace_create(const clo_trace_event *events, size_t count, clo_trace **out);

#endif
