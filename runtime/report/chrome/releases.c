/* report/chrome/releases.c - see clotho/report.h. Beside the executions: a slice for each release, from when it was due to
 * its end, in lines so that none overlap; when releases were due and their deadlines as instants; counters, which follow
 * from the executions that the trace has. */
#include "report/chrome/chrome.h"

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "graph/graph.h"
#include "trace/trace.h"

#include <clotho/report.h>
#include <stdlib.h>

enum { BUSY, IN_FLIGHT, READY, COUNTERS };

/* A counter changes. */
typedef struct step {
    int64_t when_ns;
    int32_t what, by;
} step;

typedef struct writer {
    clo_text *text;
    const clo_graph *graph;
    const clo_trace *trace;
    const clo_report_config *config;
    uint32_t *order; /* [events] by release and start */
    int64_t *end_ns; /* [tasks] of the release that is looked at; -1: did not run */
    step *steps;     /* [steps_count], at most 4 for each event */
    size_t steps_count;
} writer;

/* A release of the trace: events order[first] up to order[end]. */
typedef struct release {
    uint64_t number;
    size_t first, end;
    int64_t due_ns, start_ns, finish_ns;
    int64_t deadline_ns; /* INT64_MAX: none */
} release;

typedef struct ranked {
    uint64_t release;
    int64_t start_ns;
    uint32_t event;
} ranked;

static int by_release(const void *left, const void *right)
{
    const ranked *a = left, *b = right;

    if (a->release != b->release)
        return a->release < b->release ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return a->event < b->event ? -1 : a->event > b->event;
}

static bool sort(writer *w)
{
    ranked *rows = clo_allocate(w->trace->count, sizeof *rows);

    if (rows == NULL)
        return false;
    for (size_t i = 0; i < w->trace->count; i++)
        rows[i] = (ranked){w->trace->events[i].release, w->trace->events[i].start_ns, (uint32_t)i};
    qsort(rows, w->trace->count, sizeof *rows, by_release);
    for (size_t i = 0; i < w->trace->count; i++)
        w->order[i] = rows[i].event;
    clo_free(rows);
    return true;
}

static const clo_trace_event *event_at(const writer *w, size_t i)
{
    return &w->trace->events[w->order[i]];
}

/* The release whose events begin at `first`. */
static release release_at(const writer *w, size_t first)
{
    int64_t period_ns = w->config->period_ns;
    release r = {.number = event_at(w, first)->release,
                 .first = first,
                 .end = first,
                 .start_ns = INT64_MAX,
                 .deadline_ns = INT64_MAX};

    for (; r.end < w->trace->count && event_at(w, r.end)->release == r.number; r.end++) {
        const clo_trace_event *event = event_at(w, r.end);
        r.start_ns = event->start_ns < r.start_ns ? event->start_ns : r.start_ns;
        r.finish_ns = event->finish_ns > r.finish_ns ? event->finish_ns : r.finish_ns;
    }
    bool is_due = period_ns > 0 && r.number <= (uint64_t)(INT64_MAX / period_ns);
    r.due_ns = is_due ? (int64_t)r.number * period_ns : r.start_ns;
    if (w->config->deadline_ns > 0)
        r.deadline_ns = clo_time_add(r.due_ns, w->config->deadline_ns);
    return r;
}

static void add_step(writer *w, int64_t when_ns, int what, int by)
{
    w->steps[w->steps_count++] = (step){when_ns, what, by};
}

/* When the inputs of a task were there: those that the trace has. */
static int64_t ready_ns(const writer *w, uint32_t task, int64_t due_ns)
{
    int64_t ready = due_ns;

    for (uint32_t edge = w->graph->in_first[task]; edge < w->graph->in_first[task + 1]; edge++) {
        int64_t end_ns = w->end_ns[clo_graph_source(w->graph, edge)];
        ready = end_ns > ready ? end_ns : ready;
    }
    return ready;
}

static void count_release(writer *w, const release *r)
{
    for (size_t i = r->first; i < r->end; i++) {
        int64_t *end_ns = &w->end_ns[event_at(w, i)->task];
        *end_ns = event_at(w, i)->finish_ns > *end_ns ? event_at(w, i)->finish_ns : *end_ns;
    }
    for (size_t i = r->first; i < r->end; i++) {
        const clo_trace_event *event = event_at(w, i);
        int64_t ready = ready_ns(w, event->task, r->due_ns);
        if (event->finish_ns > event->start_ns) {
            add_step(w, event->start_ns, BUSY, 1);
            add_step(w, event->finish_ns, BUSY, -1);
        }
        if (event->start_ns > ready && !event->is_skipped) {
            add_step(w, ready, READY, 1);
            add_step(w, event->start_ns, READY, -1);
        }
    }
    for (size_t i = r->first; i < r->end; i++)
        w->end_ns[event_at(w, i)->task] = -1;
    add_step(w, r->start_ns, IN_FLIGHT, 1);
    add_step(w, r->finish_ns, IN_FLIGHT, -1);
}

static void add_instant(const writer *w, uint32_t thread, int64_t ns, const char *name, uint64_t number)
{
    clo_text_add(w->text, ",\n{\"ph\":\"i\",\"s\":\"t\",\"pid\":2,\"tid\":%u,\"cat\":\"release\",\"name\":\"%s %llu\"",
                 thread, name, (unsigned long long)number);
    clo_chrome_add_time(w->text, "ts", ns);
    clo_text_add(w->text, "}");
}

/* Slices that begin and end by their id may overlap: Perfetto gives them lines. */
static void add_release(const writer *w, const release *r)
{
    bool is_late = r->finish_ns > r->deadline_ns;

    clo_text_add(w->text, ",\n{\"ph\":\"b\",\"pid\":2,\"tid\":0,\"id\":%llu,\"cat\":\"%s\",\"name\":\"release %llu%s\"",
                 (unsigned long long)r->number, is_late ? "late" : "release", (unsigned long long)r->number,
                 is_late ? ", late" : "");
    clo_chrome_add_time(w->text, "ts", r->due_ns < r->start_ns ? r->due_ns : r->start_ns);
    clo_text_add(w->text, ",\"args\":{\"release\":%llu,\"executions\":%zu", (unsigned long long)r->number,
                 r->end - r->first);
    clo_chrome_add_time(w->text, "response_us", r->finish_ns - r->due_ns);
    if (r->deadline_ns != INT64_MAX)
        clo_chrome_add_time(w->text, "lateness_us", r->finish_ns - r->deadline_ns);
    clo_text_add(w->text,
                 "}},\n{\"ph\":\"e\",\"pid\":2,\"tid\":0,\"id\":%llu,\"cat\":\"%s\",\"name\":\"release %llu%s\"",
                 (unsigned long long)r->number, is_late ? "late" : "release", (unsigned long long)r->number,
                 is_late ? ", late" : "");
    clo_chrome_add_time(w->text, "ts", r->finish_ns);
    clo_text_add(w->text, "}");
    if (w->config->period_ns > 0)
        add_instant(w, 1, r->due_ns, "due", r->number);
    if (r->deadline_ns == INT64_MAX)
        return;
    add_instant(w, 2, r->deadline_ns, is_late ? "missed deadline" : "deadline", r->number);
    clo_text_add(w->text, ",\n{\"ph\":\"C\",\"pid\":2,\"name\":\"lateness, us\"");
    clo_chrome_add_time(w->text, "ts", r->finish_ns);
    clo_text_add(w->text, ",\"args\":{\"lateness\":%lld}}", (long long)((r->finish_ns - r->deadline_ns) / 1000));
}

static int by_time(const void *left, const void *right)
{
    const step *a = left, *b = right;

    if (a->what != b->what)
        return a->what < b->what ? -1 : 1;
    return a->when_ns < b->when_ns ? -1 : a->when_ns > b->when_ns;
}

/* A value for each moment at which one changes. */
static void add_counters(writer *w)
{
    static const char *const names[COUNTERS] = {"busy executors", "releases in flight", "ready tasks"};
    int64_t value = 0, shown = 0;

    qsort(w->steps, w->steps_count, sizeof w->steps[0], by_time);
    for (size_t i = 0; i < w->steps_count; i++) {
        const step *s = &w->steps[i];
        bool is_last = i + 1 == w->steps_count || s[1].what != s->what;
        value += s->by;
        if (!is_last && s[1].when_ns == s->when_ns)
            continue;
        if (value != shown || is_last) {
            clo_text_add(w->text, ",\n{\"ph\":\"C\",\"pid\":2,\"name\":\"%s\"", names[s->what]);
            clo_chrome_add_time(w->text, "ts", s->when_ns);
            clo_text_add(w->text, ",\"args\":{\"count\":%lld}}", (long long)value);
        }
        shown = is_last ? 0 : value;
        value = is_last ? 0 : value;
    }
}

static void add_tracks(const writer *w)
{
    static const char *const names[] = {"due", "deadlines"};

    clo_text_add(w->text, ",\n{\"ph\":\"M\",\"pid\":2,\"name\":\"process_name\",\"args\":{\"name\":\"releases\"}}");
    for (uint32_t t = 0; t < sizeof names / sizeof names[0]; t++)
        clo_text_add(w->text,
                     ",\n{\"ph\":\"M\",\"pid\":2,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}}",
                     t + 1, names[t]);
}

static clo_status add_releases(writer *w)
{
    size_t events = w->trace->count;

    w->order = clo_allocate(events, sizeof w->order[0]);
    w->end_ns = clo_allocate(w->graph->tasks, sizeof w->end_ns[0]);
    w->steps = clo_allocate(6 * events, sizeof w->steps[0]); /* of each at most 4, and 2 of its release */
    if (w->order == NULL || w->end_ns == NULL || w->steps == NULL || !sort(w))
        return clo_fail_memory("a trace file");
    for (uint32_t t = 0; t < w->graph->tasks; t++)
        w->end_ns[t] = -1;
    add_tracks(w);
    for (size_t i = 0; i < events;) {
        release r = release_at(w, i);
        count_release(w, &r);
        add_release(w, &r);
        i = r.end;
    }
    add_counters(w);
    return CLO_OK;
}

clo_status clo_trace_write_releases(const clo_trace *trace, const clo_cost *cost, const clo_report_config *config,
                                    const char *path)
{
    clo_report_config mine = CLO_REPORT_CONFIG_INIT;
    clo_text text = {0};

    if (trace == NULL || cost == NULL || path == NULL)
        return clo_fail_null("clo_trace_write_releases", "trace, cost or path");
    writer w = {.text = &text, .graph = clo_cost_graph(cost), .trace = trace, .config = &mine};
    clo_status status = clo_config_read(&mine, sizeof mine, config, "clo_report_config");
    if (status == CLO_OK && trace->count >= CLO_NONE)
        status = clo_fail(CLO_ERR_LIMIT, "the trace has %zu events; a file takes fewer than 2^32", trace->count);
    if (status == CLO_OK)
        status = clo_chrome_begin(&text, trace, cost, mine.title);
    if (status == CLO_OK)
        status = add_releases(&w);
    status = clo_chrome_end(&text, status, path);
    clo_free(w.order);
    clo_free(w.end_ns);
    clo_free(w.steps);
    return status;
}
