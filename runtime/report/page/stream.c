/* report/page/stream.c - pages about jobs over time: see clotho/report.h. Everything comes from the log; the workload
 * gives names, graphs and deadlines. */
#include "report/page/page.h"

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "report/page/causes.h"
#include "report/stream_picture.h"

#include <stdlib.h>

/* A graph, and the first job that has it. */
typedef struct graph_row {
    const clo_graph *graph;
    uint32_t place;
    uint32_t index; /* on the page */
} graph_row;

/* A release of a job. */
typedef struct arrival {
    int64_t when_ns;
    uint64_t release;
    uint32_t job;
} arrival;

typedef struct maker {
    const clo_log_record *records;
    size_t count;
    const clo_workload *workload;
    clo_page_job *jobs; /* by number */
    size_t jobs_count;
    const clo_graph **graphs; /* [graphs_count] of the page */
    graph_row *rows;          /* the same by address       */
    uint32_t graphs_count;
    const clo_stream_outcome *outcomes;
    arrival *arrivals; /* [arrivals_count] */
    size_t arrivals_count;
    size_t bodies;
    int64_t begin_ns, end_ns;
} maker;

static bool is_body(const clo_log_record *r)
{
    return r->what == CLO_LOG_FINISH || r->what == CLO_LOG_PREEMPT;
}

static int by_address(const void *left, const void *right)
{
    const graph_row *a = left, *b = right;

    if (a->graph != b->graph)
        return a->graph < b->graph ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

static int by_place(const void *left, const void *right)
{
    const graph_row *a = left, *b = right;

    return a->place < b->place ? -1 : a->place > b->place;
}

/* Each graph once, in the order of the first jobs that have them: addresses differ from run to run. */
static clo_status list_graphs(maker *m)
{
    uint32_t jobs = clo_workload_jobs(m->workload);

    m->rows = clo_allocate(jobs, sizeof m->rows[0]);
    m->graphs = clo_allocate(jobs, sizeof m->graphs[0]);
    if (m->rows == NULL || m->graphs == NULL)
        return clo_fail_memory("a report");
    for (uint32_t i = 0; i < jobs; i++)
        m->rows[i] = (graph_row){clo_workload_get(m->workload, i)->graph, i, 0};
    qsort(m->rows, jobs, sizeof m->rows[0], by_address);
    for (uint32_t i = 0; i < jobs; i++)
        if (m->graphs_count == 0 || m->rows[m->graphs_count - 1].graph != m->rows[i].graph)
            m->rows[m->graphs_count++] = m->rows[i];
    qsort(m->rows, m->graphs_count, sizeof m->rows[0], by_place);
    for (uint32_t g = 0; g < m->graphs_count; g++) {
        m->rows[g].index = g;
        m->graphs[g] = m->rows[g].graph;
    }
    qsort(m->rows, m->graphs_count, sizeof m->rows[0], by_address);
    return CLO_OK;
}

static uint32_t graph_of(const maker *m, const clo_graph *graph)
{
    uint32_t low = 0, high = m->graphs_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (m->rows[middle].graph == graph)
            return m->rows[middle].index;
        if (m->rows[middle].graph < graph)
            low = middle + 1;
        else
            high = middle;
    }
    return CLO_NONE;
}

static int by_number(const void *left, const void *right)
{
    const clo_page_job *a = left, *b = right;

    return a->number < b->number ? -1 : a->number > b->number;
}

static clo_page_job *find_job(const maker *m, uint64_t number)
{
    const clo_page_job wanted = {.number = number};

    return m->jobs_count > 0 ? bsearch(&wanted, m->jobs, m->jobs_count, sizeof m->jobs[0], by_number) : NULL;
}

/* The numbers that the log names, each once. */
static clo_status list_jobs(maker *m)
{
    size_t named = 0;

    m->jobs = clo_allocate(m->count, sizeof m->jobs[0]);
    if (m->jobs == NULL)
        return clo_fail_memory("a report");
    for (size_t i = 0; i < m->count; i++)
        if (m->records[i].what == CLO_LOG_ARRIVE || is_body(&m->records[i]))
            m->jobs[named++] = (clo_page_job){.number = m->records[i].job,
                                              .name = "",
                                              .graph = CLO_NONE,
                                              .arrival_ns = CLO_TIME_NEVER,
                                              .start_ns = CLO_TIME_NEVER,
                                              .finish_ns = CLO_TIME_NEVER,
                                              .deadline_ns = CLO_TIME_NEVER,
                                              .end = -1};
    qsort(m->jobs, named, sizeof m->jobs[0], by_number);
    for (size_t i = 0; i < named; i++)
        if (m->jobs_count == 0 || m->jobs[m->jobs_count - 1].number != m->jobs[i].number)
            m->jobs[m->jobs_count++] = m->jobs[i];
    return CLO_OK;
}

static int by_arrival(const void *left, const void *right)
{
    const arrival *a = left, *b = right;

    if (a->when_ns != b->when_ns)
        return a->when_ns < b->when_ns ? -1 : 1;
    if (a->job != b->job)
        return a->job < b->job ? -1 : 1;
    return a->release < b->release ? -1 : a->release > b->release;
}

static bool fits(const maker *m, uint32_t job)
{
    return m->outcomes == NULL || m->outcomes[job].status != CLO_ERR_PLATFORM;
}

/* Each release of a job is an arrival; of equal times the first job's comes first. */
static clo_status list_arrivals(maker *m)
{
    uint32_t jobs = clo_workload_jobs(m->workload);
    uint64_t total = 0;

    for (uint32_t j = 0; j < jobs; j++)
        total = clo_amount_add(total, clo_workload_releases(m->workload, j));
    if (total > CLO_WORKLOAD_JOBS_MAX)
        return clo_fail(CLO_ERR_LIMIT, "the workload has %llu jobs and releases; a report takes at most %u",
                        (unsigned long long)total, (unsigned)CLO_WORKLOAD_JOBS_MAX);
    m->arrivals = clo_allocate((size_t)total, sizeof m->arrivals[0]);
    if (m->arrivals == NULL)
        return clo_fail_memory("a report");
    for (uint32_t j = 0; j < jobs; j++) {
        const clo_workload_job *row = clo_workload_get(m->workload, j);
        for (uint64_t k = 0; k < clo_workload_releases(m->workload, j) && fits(m, j); k++)
            m->arrivals[m->arrivals_count++] = (arrival){row->arrival_ns + (int64_t)k * row->period_ns, k, j};
    }
    qsort(m->arrivals, m->arrivals_count, sizeof m->arrivals[0], by_arrival);
    return CLO_OK;
}

/* What the workload says of a job. place: among the arrivals. */
static void name_job(const maker *m, clo_page_job *job, uint64_t place)
{
    if (place >= m->arrivals_count)
        return;
    const clo_workload_job *row = clo_workload_get(m->workload, m->arrivals[place].job);
    job->name = row->name;
    job->graph = graph_of(m, row->graph);
    if (job->arrival_ns == CLO_TIME_NEVER)
        job->arrival_ns = m->arrivals[place].when_ns;
    if (row->deadline_ns > 0)
        job->deadline_ns = clo_time_add(job->arrival_ns, row->deadline_ns);
}

static void read_jobs(const maker *m)
{
    bool has_arrivals = false;

    for (size_t i = 0; i < m->count; i++) {
        const clo_log_record *r = &m->records[i];
        clo_page_job *job = find_job(m, r->job);
        if (job == NULL)
            continue;
        if (r->what == CLO_LOG_ARRIVE) {
            has_arrivals = true;
            job->arrival_ns = r->now_ns;
            name_job(m, job, (uint64_t)r->value);
        } else if (r->what == CLO_LOG_DONE) {
            job->finish_ns = r->now_ns;
            job->end = (int)r->value;
        } else if (is_body(r)) {
            job->start_ns = r->value < job->start_ns ? r->value : job->start_ns;
            job->busy_ns = clo_time_add(job->busy_ns, r->now_ns - r->value);
            job->executions++;
        }
    }
    for (size_t k = 0; k < m->jobs_count && !has_arrivals; k++)
        name_job(m, &m->jobs[k], m->jobs[k].number);
}

/* Times begin with the log. */
static int64_t since(const maker *m, int64_t ns)
{
    return ns == CLO_TIME_NEVER ? ns : ns - m->begin_ns;
}

static void shift_jobs(const maker *m)
{
    for (size_t k = 0; k < m->jobs_count; k++) {
        clo_page_job *job = &m->jobs[k];
        job->arrival_ns = since(m, job->arrival_ns);
        job->start_ns = since(m, job->start_ns);
        job->finish_ns = since(m, job->finish_ns);
        job->deadline_ns = since(m, job->deadline_ns);
    }
}

static clo_status measure(maker *m, uint32_t executors)
{
    m->begin_ns = m->end_ns = m->count > 0 ? m->records[0].now_ns : 0;
    for (size_t i = 0; i < m->count; i++) {
        const clo_log_record *r = &m->records[i];
        if (!is_body(r))
            continue;
        if (r->executor >= executors || r->value < m->begin_ns || r->now_ns < r->value)
            return clo_fail(CLO_ERR_ARGUMENT, "record %zu is no body on this platform; judge the log first", i);
        m->bodies++;
        m->end_ns = r->now_ns > m->end_ns ? r->now_ns : m->end_ns;
    }
    return CLO_OK;
}

static clo_status make_bars(const maker *m, const clo_page *page, clo_bars *bars)
{
    clo_status status = clo_bars_open(bars, m->bodies, clo_platform_executors(page->platform));
    size_t count = 0;

    bars->has_groups = true;
    for (size_t i = 0; i < m->count && status == CLO_OK; i++) {
        const clo_log_record *r = &m->records[i];
        if (!is_body(r))
            continue;
        const clo_page_job *job = find_job(m, r->job);
        uint32_t graph = job->graph, first = graph != CLO_NONE ? page->first_task[graph] : 0;
        if (graph == CLO_NONE || r->stage >= page->first_task[graph + 1] - first)
            return clo_fail(CLO_ERR_ARGUMENT, "record %zu is of no task of the workload", i);
        bars->all[count++] = (clo_bar){.task = first + r->stage,
                                       .instance = r->instance,
                                       .group = (uint32_t)(job - m->jobs),
                                       .executor = r->executor,
                                       .flags = r->what == CLO_LOG_PREEMPT ? CLO_BAR_STOPPED : 0,
                                       .start_ns = since(m, r->value),
                                       .finish_ns = since(m, r->now_ns)};
    }
    if (status == CLO_OK)
        clo_bars_sort(bars);
    return status;
}

static clo_status make_page(maker *m, clo_page *page, bool is_emulated)
{
    clo_page_schedule *s = clo_allocate(1, sizeof *s);

    if (s == NULL)
        return clo_fail_memory("a report");
    page->schedules = s;
    page->schedules_count = 1;
    *s = (clo_page_schedule){.name = page->title,
                             .makespan_ns = m->end_ns - m->begin_ns,
                             .has_happened = true,
                             .is_emulated = is_emulated,
                             .has_bars = m->bodies <= CLO_REPORT_EXECUTIONS_MAX};
    clo_status status = list_graphs(m);
    if (status == CLO_OK)
        status = list_arrivals(m);
    if (status == CLO_OK)
        status = list_jobs(m);
    if (status == CLO_OK)
        status = clo_page_open(page, m->graphs, m->graphs_count);
    if (status != CLO_OK)
        return status;
    read_jobs(m);
    if (s->has_bars)
        status = make_bars(m, page, &s->bars);
    else
        s->bars.executors = clo_platform_executors(page->platform);
    shift_jobs(m);
    page->jobs = m->jobs;
    page->jobs_count = m->jobs_count;
    if (status == CLO_OK && s->has_bars)
        status = clo_causes_find(page, &s->bars, &s->causes);
    return status;
}

clo_status clo_report_stream(const clo_log *log, const clo_workload *workload, const clo_platform *platform,
                             const clo_report_config *config, const char *path)
{
    clo_report_config mine = CLO_REPORT_CONFIG_INIT;
    maker m = {.workload = workload};
    clo_page page = {.platform = platform, .job_word = "job"};
    clo_text svg = {0};

    if (log == NULL || workload == NULL || platform == NULL || path == NULL)
        return clo_fail_null("clo_report_stream", "log, workload, platform or path");
    clo_status status = clo_config_read(&mine, sizeof mine, config, "clo_report_config");
    if (status != CLO_OK)
        return status;
    page.title = mine.title != NULL ? mine.title : clo_workload_name(workload);
    page.note = mine.note;
    m.outcomes = mine.outcomes;
    m.records = clo_log_records(log, &m.count);
    status = measure(&m, clo_platform_executors(platform));
    if (status == CLO_OK)
        status = clo_stream_svg(log, platform, page.title, &svg);
    if (status == CLO_OK)
        status = make_page(&m, &page, clo_log_about(log)->clock != CLO_CLOCK_REAL);
    if (status == CLO_OK)
        status = clo_page_write(&page, &svg, path);
    clo_text_free(&svg);
    clo_page_close(&page);
    clo_free(m.jobs);
    clo_free(m.arrivals);
    clo_free(m.rows);
    clo_free(m.graphs);
    return status;
}
