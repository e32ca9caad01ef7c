/* trace.c - the trace object: a sorted copy of the drivers' records. */
#include "trace/trace.h"

#include "base/memory.h"
#include "base/status.h"
#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(clo_trace_event) == 8 * sizeof(uint32_t) + 5 * sizeof(int64_t), "events have no padding");

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

clo_status clo_trace_create(const clo_cost *cost, bool is_emulated, const clo_trace_event *events, size_t count,
                            clo_trace **out)
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
    const clo_graph *graph = clo_cost_graph(cost);
    *trace = (clo_trace){.events = copy,
                         .count = count,
                         .is_emulated = is_emulated,
                         .tasks = graph->tasks,
                         .instances = graph->instances,
                         .executors = clo_platform_executors(clo_cost_platform(cost))};
    *out = trace;
    return CLO_OK;
}

clo_status clo_trace_matches(const clo_trace *trace, const clo_cost *cost)
{
    const clo_graph *graph = clo_cost_graph(cost);
    uint32_t executors = clo_platform_executors(clo_cost_platform(cost));
    bool fits = trace->tasks == graph->tasks && trace->instances == graph->instances && trace->executors == executors;

    if (!fits)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "the trace is of %u tasks, %u instances and %u executors, the cost is for %u, %u and %u: it is "
                        "of another graph or platform",
                        trace->tasks, trace->instances, trace->executors, graph->tasks, graph->instances, executors);
    for (size_t i = 0; i < trace->count; i++) {
        const clo_trace_event *event = &trace->events[i];
        if (event->task >= graph->tasks || event->instance >= graph->rows[event->task].instances ||
            event->executor >= executors)
            return clo_fail(CLO_ERR_ARGUMENT,
                            "the trace has task %u instance %u on executor %u: it is of another graph or platform",
                            event->task, event->instance, event->executor);
    }
    return CLO_OK;
}

const clo_trace_event *clo_trace_events(const clo_trace *trace, size_t *count)
{
    if (count != NULL)
        *count = trace != NULL ? trace->count : 0;
    return trace != NULL ? trace->events : NULL;
}

void clo_trace_destroy(clo_trace *trace)
{
    if (trace == NULL)
        return;
    clo_free(trace->events);
    clo_free(trace);
}
