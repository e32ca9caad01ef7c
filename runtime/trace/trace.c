/* trace.c - the trace object: a sorted copy of the drivers' records. */
#include "trace/trace.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

static int compare_events(const void *a, const void *b)
{
    const clo_trace_event *x = a, *y = b;

    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->finish_ns != y->finish_ns)
        return x->finish_ns < y->finish_ns ? -1 : 1;
    if (x->executor != y->executor)
        return x->executor < y->executor ? -1 : 1;
    return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

clo_status clo_trace_create(const clo_trace_event *events, size_t count, clo_trace **out)
{
    clo_trace *trace = clo_allocate(1, sizeof *trace);
    clo_trace_event *copy = clo_allocate(count, sizeof *copy);

    if (trace == NULL || copy == NULL) {
        clo_free(trace);
        clo_free(copy);
        return clo_fail_memory("a trace");
    }
    if (count > 0)
        memcpy(copy, events, count * sizeof *copy);
    qsort(copy, count, sizeof *copy, compare_events);
    trace->events = copy;
    trace->count = count;
    *out = trace;
    return CLO_OK;
}

const clo_trace_event *clo_trace_events(const clo_trace *trace, size_t *count)
{
    *count = trace->count;
    return trace->events;
}

void clo_trace_destroy(clo_trace *trace)
{
    if (trace == NULL)
        return;
    clo_free(trace->events);
    clo_free(trace);
}
