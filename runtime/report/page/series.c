/* report/page/series.c - pages about a series of releases: see clotho/report.h. On a page, each release is a job. */
#include "report/page/page.h"

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "report/gantt.h"
#include "report/page/causes.h"
#include "trace/trace.h"

#include <stdlib.h>

typedef struct series {
    const clo_trace *trace;
    const clo_report_config *config;
    uint32_t count;  /* releases that have events */
    int64_t zero_ns; /* of the page: when the first release is due, or begins */
    int64_t end_ns;
    clo_page_job *jobs;        /* [count] by number; room for as many as there are events */
    clo_placement *placements; /* [events] for the picture */
} series;

static int by_number(const void *left, const void *right)
{
    const clo_page_job *a = left, *b = right;

    return a->number < b->number ? -1 : a->number > b->number;
}

/* Each release that the trace has, once. */
static clo_status list_releases(series *s)
{
    const clo_trace_event *events = s->trace->events;

    if (s->trace->count >= CLO_NONE)
        return clo_fail(CLO_ERR_LIMIT, "the trace has %zu events; a report takes fewer than 2^32", s->trace->count);
    for (size_t i = 0; i < s->trace->count; i++)
        s->jobs[i] = (clo_page_job){.number = events[i].release,
                                    .name = "",
                                    .start_ns = CLO_TIME_NEVER,
                                    .finish_ns = CLO_TIME_NEVER,
                                    .arrival_ns = CLO_TIME_NEVER,
                                    .deadline_ns = CLO_TIME_NEVER,
                                    .end = -1};
    qsort(s->jobs, s->trace->count, sizeof s->jobs[0], by_number);
    for (size_t i = 0; i < s->trace->count; i++)
        if (s->count == 0 || s->jobs[s->count - 1].number != s->jobs[i].number)
            s->jobs[s->count++] = s->jobs[i];
    return CLO_OK;
}

static uint32_t release_of(const series *s, uint64_t number)
{
    const clo_page_job wanted = {.number = number};
    const clo_page_job *found = bsearch(&wanted, s->jobs, s->count, sizeof s->jobs[0], by_number);

    return (uint32_t)(found - s->jobs);
}

/* The page begins with its first event, or when its first release is due. */
static void find_zero(series *s)
{
    int64_t period_ns = s->config->period_ns;

    if (s->count == 0)
        return;
    s->zero_ns = s->trace->events[0].start_ns;
    if (period_ns > 0 && s->jobs[0].number <= (uint64_t)(CLO_TIME_NEVER / period_ns) &&
        (int64_t)s->jobs[0].number * period_ns < s->zero_ns)
        s->zero_ns = (int64_t)s->jobs[0].number * period_ns;
}

/* When a release is due, or began where it has no period. */
static int64_t due_ns(const series *s, const clo_page_job *job)
{
    int64_t period_ns = s->config->period_ns;

    if (period_ns == 0 || job->number > (uint64_t)(CLO_TIME_NEVER / period_ns))
        return job->start_ns;
    return (int64_t)job->number * period_ns - s->zero_ns;
}

static void fill(const series *s, clo_bars *bars)
{
    for (size_t i = 0; i < s->trace->count; i++) {
        const clo_trace_event *event = &s->trace->events[i];
        uint32_t release = release_of(s, event->release);
        int64_t start_ns = event->start_ns - s->zero_ns, finish_ns = event->finish_ns - s->zero_ns;
        clo_page_job *job = &s->jobs[release];
        s->placements[i] =
            (clo_placement){event->task, event->instance, event->executor, event->is_replica, start_ns, finish_ns};
        if (bars->all != NULL)
            bars->all[i] =
                (clo_bar){.task = event->task,
                          .instance = event->instance,
                          .group = release,
                          .executor = event->executor,
                          .flags = (event->is_replica ? CLO_BAR_REPLICA : 0u) | (event->is_lost ? CLO_BAR_LOST : 0u) |
                                   (event->is_skipped ? CLO_BAR_SKIPPED : 0u),
                          .start_ns = start_ns,
                          .finish_ns = finish_ns,
                          .input_ns = event->transfer_ns};
        job->start_ns = start_ns < job->start_ns ? start_ns : job->start_ns;
        if (job->finish_ns == CLO_TIME_NEVER || finish_ns > job->finish_ns)
            job->finish_ns = finish_ns;
        job->busy_ns = clo_time_add(job->busy_ns, finish_ns - start_ns);
        job->executions++;
    }
}

static void time_releases(series *s)
{
    for (uint32_t r = 0; r < s->count; r++) {
        clo_page_job *job = &s->jobs[r];
        job->arrival_ns = due_ns(s, job);
        if (s->config->deadline_ns > 0 && job->arrival_ns != CLO_TIME_NEVER)
            job->deadline_ns = clo_time_add(job->arrival_ns, s->config->deadline_ns);
        if (job->finish_ns > s->end_ns)
            s->end_ns = job->finish_ns;
    }
}

static clo_status make(series *s, clo_page *page, const clo_cost *cost, clo_text *svg)
{
    uint32_t executors = clo_platform_executors(page->platform);
    clo_page_schedule *schedule = clo_allocate(1, sizeof *schedule);

    page->schedules = schedule;
    page->schedules_count = schedule != NULL;
    s->placements = clo_allocate(s->trace->count, sizeof s->placements[0]);
    s->jobs = clo_allocate(s->trace->count, sizeof s->jobs[0]);
    if (schedule == NULL || s->placements == NULL || s->jobs == NULL)
        return clo_fail_memory("a report");
    clo_status status = list_releases(s);
    if (status != CLO_OK)
        return status;
    find_zero(s);
    *schedule = (clo_page_schedule){.name = page->title,
                                    .has_happened = true,
                                    .is_emulated = s->trace->is_emulated,
                                    .has_bars = s->trace->count <= CLO_REPORT_EXECUTIONS_MAX};
    schedule->bars.executors = executors;
    if (schedule->has_bars)
        status = clo_bars_open(&schedule->bars, s->trace->count, executors);
    if (status != CLO_OK)
        return status;
    fill(s, &schedule->bars);
    time_releases(s);
    schedule->makespan_ns = s->end_ns;
    schedule->bars.has_groups = true;
    if (schedule->has_bars)
        clo_bars_sort(&schedule->bars);
    page->jobs = s->jobs;
    page->jobs_count = s->count;
    if (schedule->has_bars)
        status = clo_causes_find(page, &schedule->bars, &schedule->causes);
    if (status != CLO_OK)
        return status;
    const clo_gantt chart = {.cost = cost,
                             .placements = s->placements,
                             .count = s->trace->count,
                             .makespan_ns = s->end_ns,
                             .title = page->title,
                             .planner = s->trace->is_emulated ? "releases, emulated" : "releases, measured",
                             .is_emulated = s->trace->is_emulated};
    return clo_gantt_svg(&chart, svg);
}

clo_status clo_report_releases(const clo_trace *trace, const clo_cost *cost, const clo_report_config *config,
                               const char *path)
{
    clo_report_config mine = CLO_REPORT_CONFIG_INIT;
    series s = {.trace = trace, .config = &mine};
    clo_text svg = {0};

    if (trace == NULL || cost == NULL || path == NULL)
        return clo_fail_null("clo_report_releases", "trace, cost or path");
    const clo_graph *graph = clo_cost_graph(cost);
    clo_status status = clo_config_read(&mine, sizeof mine, config, "clo_report_config");
    if (status == CLO_OK)
        status = clo_trace_matches(trace, cost);
    if (status != CLO_OK)
        return status;
    clo_page page = {.title = mine.title != NULL ? mine.title : clo_graph_name(graph),
                     .note = mine.note,
                     .platform = clo_cost_platform(cost),
                     .job_word = "release",
                     .responses = mine.responses};
    status = clo_page_open(&page, &graph, 1);
    if (status == CLO_OK)
        status = make(&s, &page, cost, &svg);
    if (status == CLO_OK)
        status = clo_page_write(&page, &svg, path);
    clo_text_free(&svg);
    clo_page_close(&page);
    clo_free(s.jobs);
    clo_free(s.placements);
    return status;
}
