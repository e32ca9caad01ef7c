/* chrome.c - the trace as Chrome / Perfetto JSON: a track for each executor, a slice for each execution and each wait
 * for data, flow arrows along the edges that cross executors. Times are microseconds, as the format wants. */
#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "graph/graph.h"
#include "platform/platform.h"
#include "trace/trace.h"

#include <stdio.h>

#define ARROWS_MAX 20000 /* beyond it the picture is unreadable and the file large */

static void add_time(clo_text *text, const char *key, int64_t ns)
{
    clo_text_add(text, ",\"%s\":%lld.%03lld", key, (long long)(ns / 1000), (long long)(ns % 1000));
}

static void add_tracks(clo_text *text, const clo_platform *platform, const char *label, bool is_emulated)
{
    clo_text_add(text, "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":");
    clo_text_add_json(text, label);
    clo_text_add(text, "}}");
    if (is_emulated)
        clo_text_add(text,
                     ",\n{\"ph\":\"M\",\"pid\":1,\"name\":\"process_labels\",\"args\":{\"labels\":\"emulated\"}}");
    for (uint32_t e = 0; e < platform->executors_count; e++) {
        char name[256];
        clo_text_add(text, ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":", e);
        snprintf(name, sizeof name, "%s (%s)", platform->executor_names[e],
                 platform->kind_names[platform->executors[e].kind]);
        clo_text_add_json(text, name);
        clo_text_add(text,
                     "}},\n{\"ph\":\"M\",\"pid\":1,\"tid\":%u,\"name\":\"thread_sort_index\",\"args\":"
                     "{\"sort_index\":%u}}",
                     e, e);
    }
}

static void add_slice(clo_text *text, const clo_graph *graph, const clo_trace_event *event)
{
    char scratch[16];

    if (event->transfer_ns > 0) {
        clo_text_add(text, ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":%u,\"cat\":\"transfer\",\"name\":\"transfer\"",
                     event->executor);
        add_time(text, "ts", event->start_ns - event->transfer_ns);
        add_time(text, "dur", event->transfer_ns);
        clo_text_add(text, "}");
    }
    clo_text_add(text, ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":%u,\"cat\":\"%s\",\"name\":", event->executor,
                 event->is_replica ? "replica" : "task");
    clo_text_add_json(text, clo_graph_task_name(graph, event->task, scratch));
    add_time(text, "ts", event->start_ns);
    add_time(text, "dur", event->finish_ns - event->start_ns);
    clo_text_add(text, ",\"args\":{\"task\":%u,\"instance\":%u,\"replica\":%s,\"sequence\":%llu}}", event->task,
                 event->instance, event->is_replica ? "true" : "false", (unsigned long long)event->sequence);
}

static void add_arrow(clo_text *text, const clo_trace_event *from, const clo_trace_event *to, uint32_t id)
{
    clo_text_add(text, ",\n{\"ph\":\"s\",\"pid\":1,\"tid\":%u,\"cat\":\"edge\",\"name\":\"edge\",\"id\":%u",
                 from->executor, id);
    add_time(text, "ts", from->finish_ns);
    clo_text_add(text,
                 "},\n{\"ph\":\"f\",\"bp\":\"e\",\"pid\":1,\"tid\":%u,\"cat\":\"edge\",\"name\":\"edge\",\"id\":%u",
                 to->executor, id);
    add_time(text, "ts", to->start_ns);
    clo_text_add(text, "}");
}

/* Arrows between originals on different executors. */
static clo_status add_arrows(clo_text *text, const clo_graph *graph, const clo_trace *trace)
{
    const clo_trace_event **event_of = clo_allocate(graph->instances, sizeof *event_of);
    uint32_t arrows = 0;

    if (event_of == NULL)
        return clo_fail_memory("a trace file");
    for (size_t i = 0; i < trace->count; i++)
        if (!trace->events[i].is_replica)
            event_of[graph->first_instance[trace->events[i].task] + trace->events[i].instance] = &trace->events[i];
    for (uint32_t to = 0; to < graph->instances; to++)
        for (uint32_t k = graph->pred_first[to]; k < graph->pred_first[to + 1] && arrows < ARROWS_MAX; k++) {
            const clo_trace_event *source = event_of[graph->pred[k]], *target = event_of[to];
            if (source != NULL && target != NULL && source->executor != target->executor)
                add_arrow(text, source, target, ++arrows);
        }
    clo_free(event_of);
    return CLO_OK;
}

clo_status clo_trace_write_chrome(const clo_trace *trace, const clo_cost *cost, const char *label, const char *path)
{
    clo_text text = {0};

    if (trace == NULL || cost == NULL || path == NULL)
        return clo_fail_null("clo_trace_write_chrome", "trace, cost or path");
    const clo_graph *graph = clo_cost_graph(cost);
    clo_status status = clo_trace_matches(trace, cost);
    if (status != CLO_OK)
        return status;
    clo_text_add(&text, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"times\":\"%s\"},\"traceEvents\":[\n",
                 trace->is_emulated ? "emulated" : "measured");
    add_tracks(&text, clo_cost_platform(cost), label != NULL ? label : clo_graph_name(graph), trace->is_emulated);
    for (size_t i = 0; i < trace->count; i++)
        add_slice(&text, graph, &trace->events[i]);
    status = add_arrows(&text, graph, trace);
    clo_text_add(&text, "\n]}\n");
    if (status == CLO_OK && text.failed)
        status = clo_fail_memory("a trace file");
    if (status == CLO_OK)
        status = clo_file_write(path, text.data, text.bytes);
    clo_text_free(&text);
    return status;
}
