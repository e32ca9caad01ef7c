/* report/chrome/chrome.c - the trace as Chrome / Perfetto JSON: a track for each executor, a slice for each execution and
 * each wait for data, flow arrows along the edges that cross executors. Times are microseconds, as the format wants. */
#include "report/chrome/chrome.h"

#include "base/memory.h"
#include "base/status.h"
#include "cost/cost.h"
#include "graph/graph.h"
#include "platform/model/platform.h"
#include "trace/trace.h"

#include <stdio.h>

#define ARROWS_MAX 20000 /* beyond it the picture is unreadable and the file large */

void clo_chrome_add_time(clo_text *text, const char *key, int64_t ns)
{
    const char *sign = ns < 0 ? "-" : "";
    uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;

    clo_text_add(text, ",\"%s\":%s%llu.%03llu", key, sign, (unsigned long long)(size / 1000),
                 (unsigned long long)(size % 1000));
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
        clo_chrome_add_time(text, "ts", event->start_ns - event->transfer_ns);
        clo_chrome_add_time(text, "dur", event->transfer_ns);
        clo_text_add(text, "}");
    }
    clo_text_add(text, ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":%u,\"cat\":\"%s\",\"name\":", event->executor,
                 event->is_lost      ? "lost"
                 : event->is_skipped ? "skipped"
                 : event->is_replica ? "replica"
                                     : "task");
    clo_text_add_json(text, clo_graph_task_name(graph, event->task, scratch));
    clo_chrome_add_time(text, "ts", event->start_ns);
    clo_chrome_add_time(text, "dur", event->finish_ns - event->start_ns);
    clo_text_add(text, ",\"args\":{\"task\":%u,\"instance\":%u,\"replica\":%s,\"sequence\":%llu", event->task,
                 event->instance, event->is_replica ? "true" : "false", (unsigned long long)event->sequence);
    if (event->release > 0)
        clo_text_add(text, ",\"release\":%llu", (unsigned long long)event->release);
    clo_text_add(text, "}}");
}

static void add_arrow(clo_text *text, const clo_trace_event *from, const clo_trace_event *to, uint32_t id)
{
    clo_text_add(text, ",\n{\"ph\":\"s\",\"pid\":1,\"tid\":%u,\"cat\":\"edge\",\"name\":\"edge\",\"id\":%u",
                 from->executor, id);
    clo_chrome_add_time(text, "ts", from->finish_ns);
    clo_text_add(text,
                 "},\n{\"ph\":\"f\",\"bp\":\"e\",\"pid\":1,\"tid\":%u,\"cat\":\"edge\",\"name\":\"edge\",\"id\":%u",
                 to->executor, id);
    clo_chrome_add_time(text, "ts", to->start_ns);
    clo_text_add(text, "}");
}

/* The originals, by instance; of several releases those of the last one. */
typedef struct originals {
    const clo_trace_event **events; /* [instances]; NULL: did not run */
    uint32_t *next_elsewhere;       /* [instances] the next one of the task that ran on another executor, or the end */
} originals;

static uint32_t executor_of(const originals *all, uint32_t instance)
{
    return all->events[instance] == NULL ? CLO_NONE : all->events[instance]->executor;
}

static void fill_originals(const originals *all, const clo_graph *graph, const clo_trace *trace)
{
    for (size_t i = 0; i < trace->count; i++)
        if (!trace->events[i].is_replica)
            all->events[graph->first_instance[trace->events[i].task] + trace->events[i].instance] = &trace->events[i];
    for (uint32_t v = graph->instances; v-- > 0;) {
        bool is_last = v + 1 == graph->first_instance[graph->task_of[v] + 1];
        bool is_change = is_last || executor_of(all, v) != executor_of(all, v + 1);
        all->next_elsewhere[v] = is_change ? v + 1 : all->next_elsewhere[v + 1];
    }
}

/* The arrows from the instances of `source` to `to`, until there are too many. What gives none is passed as a whole. */
static uint32_t add_arrows_to(clo_text *text, const originals *all, const clo_graph *graph, uint32_t source,
                              uint32_t to, uint32_t arrows)
{
    uint32_t end = graph->first_instance[source + 1], here = executor_of(all, to);

    for (uint32_t v = graph->first_instance[source]; v < end && here != CLO_NONE && arrows < ARROWS_MAX;) {
        if (executor_of(all, v) == CLO_NONE || executor_of(all, v) == here) {
            v = all->next_elsewhere[v];
            continue;
        }
        add_arrow(text, all->events[v], all->events[to], ++arrows);
        v++;
    }
    return arrows;
}

/* Arrows between originals on different executors. */
static clo_status add_arrows(clo_text *text, const clo_graph *graph, const clo_trace *trace)
{
    originals all = {clo_allocate(graph->instances, sizeof *all.events),
                     clo_allocate(graph->instances, sizeof *all.next_elsewhere)};
    clo_status status = CLO_OK;
    uint32_t arrows = 0;

    if (all.events == NULL || all.next_elsewhere == NULL) {
        status = clo_fail_memory("a trace file");
        goto done;
    }
    fill_originals(&all, graph, trace);
    for (uint32_t to = 0; to < graph->instances; to++) {
        uint32_t task = graph->task_of[to];
        for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1] && arrows < ARROWS_MAX; edge++)
            arrows = add_arrows_to(text, &all, graph, clo_graph_source(graph, edge), to, arrows);
    }
done:
    clo_free(all.events);
    clo_free(all.next_elsewhere);
    return status;
}

clo_status clo_chrome_begin(clo_text *text, const clo_trace *trace, const clo_cost *cost, const char *label)
{
    const clo_graph *graph = clo_cost_graph(cost);
    clo_status status = clo_trace_matches(trace, cost);

    if (status != CLO_OK)
        return status;
    clo_text_add(text, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"times\":\"%s\"",
                 trace->is_emulated ? "emulated" : "measured");
    if (cost->snapshot != 0) /* of the times that it was planned with */
        clo_text_add(text, ",\"snapshot\":\"%016llx\"", (unsigned long long)cost->snapshot);
    clo_text_add(text, "},\"traceEvents\":[\n");
    add_tracks(text, clo_cost_platform(cost), label != NULL ? label : clo_graph_name(graph), trace->is_emulated);
    for (size_t i = 0; i < trace->count; i++)
        add_slice(text, graph, &trace->events[i]);
    return add_arrows(text, graph, trace);
}

clo_status clo_chrome_end(clo_text *text, clo_status status, const char *path)
{
    clo_text_add(text, "\n]}\n");
    if (status == CLO_OK && text->failed)
        status = clo_fail_memory("a trace file");
    if (status == CLO_OK)
        status = clo_file_write(path, text->data, text->bytes);
    clo_text_free(text);
    return status;
}

clo_status clo_trace_write_chrome(const clo_trace *trace, const clo_cost *cost, const char *label, const char *path)
{
    clo_text text = {0};

    if (trace == NULL || cost == NULL || path == NULL)
        return clo_fail_null("clo_trace_write_chrome", "trace, cost or path");
    clo_status status = clo_chrome_begin(&text, trace, cost, label);
    return clo_chrome_end(&text, status, path);
}
