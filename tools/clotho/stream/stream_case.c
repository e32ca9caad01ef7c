/* stream_case.c - see stream_case.h. A periodic job is one job for each release. */
#include "clotho/stream/stream_case.h"

#include <stdlib.h>

/* A graph of the workload on the platform. */
struct stream_case_cost {
    const clo_graph *graph;
    clo_cost *cost;
};

static int by_graph(const void *left, const void *right)
{
    const stream_case_cost *a = left, *b = right;

    return (uintptr_t)a->graph < (uintptr_t)b->graph ? -1 : (uintptr_t)a->graph > (uintptr_t)b->graph;
}

/* In order of arrival; until they are numbered, `job` is the place in the workload. */
static int by_arrival(const void *left, const void *right)
{
    const clo_stream_job *a = left, *b = right;

    if (a->arrival_ns != b->arrival_ns)
        return a->arrival_ns < b->arrival_ns ? -1 : 1;
    return a->job < b->job ? -1 : a->job > b->job;
}

/* drops_misfits: a graph that fits nowhere on the platform gets no cost, and is no failure. */
static clo_status open_costs(stream_case *c, const clo_workload *workload, const clo_platform *platform,
                             bool drops_misfits)
{
    uint32_t jobs = clo_workload_jobs(workload);

    *c = (stream_case){0};
    c->costs = calloc(jobs > 0 ? jobs : 1, sizeof c->costs[0]);
    if (c->costs == NULL)
        return CLO_ERR_MEMORY;
    for (uint32_t i = 0; i < jobs; i++)
        c->costs[i].graph = clo_workload_get(workload, i)->graph;
    qsort(c->costs, jobs, sizeof c->costs[0], by_graph);
    for (uint32_t i = 0; i < jobs; i++)
        if (c->costs_count == 0 || c->costs[i].graph != c->costs[c->costs_count - 1].graph)
            c->costs[c->costs_count++].graph = c->costs[i].graph;
    for (size_t i = 0; i < c->costs_count; i++) {
        clo_status status = clo_cost_create(c->costs[i].graph, platform, &c->costs[i].cost);
        if (status != CLO_OK && !(drops_misfits && status == CLO_ERR_PLATFORM))
            return status;
    }
    return CLO_OK;
}

clo_status stream_case_open_costs(stream_case *c, const clo_workload *workload, const clo_platform *platform)
{
    return open_costs(c, workload, platform, true);
}

/* When release k comes; CLO_TIME_NEVER: after the end of time. */
static int64_t release_ns(const clo_workload_job *job, uint64_t k)
{
    int64_t after_ns;

    if (job->period_ns == 0 || k == 0)
        return job->arrival_ns;
    return __builtin_mul_overflow(job->period_ns, (int64_t)k, &after_ns) || after_ns > CLO_TIME_NEVER - job->arrival_ns
               ? CLO_TIME_NEVER
               : job->arrival_ns + after_ns;
}

static void add_job(stream_case *c, const clo_workload *workload, uint32_t place)
{
    const clo_workload_job *job = clo_workload_get(workload, place);
    const stream_case_cost key = {.graph = job->graph};
    const stream_case_cost *row = bsearch(&key, c->costs, c->costs_count, sizeof key, by_graph);

    for (uint64_t k = 0; row->cost != NULL && k < clo_workload_releases(workload, place); k++)
        c->jobs[c->jobs_count++] = (clo_stream_job){.job = place,
                                                    .cost = row->cost,
                                                    .arrival_ns = release_ns(job, k),
                                                    .deadline_ns = job->deadline_ns,
                                                    .weight = job->weight,
                                                    .limit = job->limit,
                                                    .band = job->band};
}

static clo_status open_case(stream_case *c, const clo_workload *workload, const clo_platform *platform,
                            const clo_stream_outcome *outcomes, bool drops_misfits)
{
    uint32_t jobs = clo_workload_jobs(workload);
    uint64_t total = 0, more;

    clo_status status = open_costs(c, workload, platform, drops_misfits);
    if (status != CLO_OK)
        return status;
    for (uint32_t i = 0; i < jobs; i++, total += more) {
        more = clo_workload_releases(workload, i);
        if (more > SIZE_MAX / sizeof c->jobs[0] - total)
            return CLO_ERR_MEMORY;
    }
    c->jobs = calloc(total > 0 ? (size_t)total : 1, sizeof c->jobs[0]);
    if (c->jobs == NULL)
        return CLO_ERR_MEMORY;
    for (uint32_t i = 0; i < jobs; i++)
        if (outcomes == NULL || outcomes[i].status == CLO_OK)
            add_job(c, workload, i);
    qsort(c->jobs, c->jobs_count, sizeof c->jobs[0], by_arrival);
    for (size_t i = 0; i < c->jobs_count; i++)
        c->jobs[i].job = i;
    return CLO_OK;
}

clo_status stream_case_open(stream_case *c, const clo_workload *workload, const clo_platform *platform,
                            const clo_stream_outcome *outcomes)
{
    return open_case(c, workload, platform, outcomes, outcomes != NULL);
}

clo_status stream_case_open_fitting(stream_case *c, const clo_workload *workload, const clo_platform *platform)
{
    return open_case(c, workload, platform, NULL, true);
}

/* An arrival and the terms behind it; false: the workload has no such job. */
static bool add_logged(const stream_case *planned, const clo_log_record *records, size_t left, clo_stream_job *out)
{
    const clo_log_record *job = left > 1 && records[1].what == CLO_LOG_JOB ? &records[1] : NULL;

    if (records->value < 0 || (uint64_t)records->value >= planned->jobs_count)
        return false;
    *out = planned->jobs[records->value];
    out->job = records->job;
    if (job == NULL)
        return true;
    out->deadline_ns = job->value == CLO_TIME_NEVER   ? 0
                       : job->value > records->now_ns ? job->value - records->now_ns
                                                      : 1;
    out->weight = job->stage;
    out->limit = job->instance != CLO_NONE ? job->instance : 0;
    out->band = left > 2 && records[2].what == CLO_LOG_BAND ? (uint32_t)records[2].value : 0;
    return true;
}

/* Of a simulated run. Those that were refused, or had not arrived when the log ended, are in no record: they get
 * numbers that no record has. */
static void number_by_log(stream_case *c, const clo_log_record *records, size_t count)
{
    for (size_t i = 0; i < c->jobs_count; i++)
        c->jobs[i].job = CLO_LOG_NO_JOB - 1 - i;
    for (size_t i = 0; i < count; i++)
        if (records[i].what == CLO_LOG_ARRIVE && records[i].value >= 0 && (uint64_t)records[i].value < c->jobs_count)
            c->jobs[records[i].value].job = records[i].job;
}

clo_status stream_case_open_log(stream_case *c, const clo_workload *workload, const clo_platform *platform,
                                const clo_log *log)
{
    bool is_real = clo_log_about(log)->run == CLO_LOG_RUN_REAL;
    clo_status status = open_case(c, workload, platform, NULL, true);
    size_t count, arrived = 0;
    const clo_log_record *records = clo_log_records(log, &count);

    if (status == CLO_OK && !is_real)
        number_by_log(c, records, count);
    if (status != CLO_OK || !is_real)
        return status;
    for (size_t i = 0; i < count; i++)
        arrived += records[i].what == CLO_LOG_ARRIVE;
    clo_stream_job *jobs = calloc(arrived > 0 ? arrived : 1, sizeof *jobs);
    if (jobs == NULL)
        return CLO_ERR_MEMORY;
    arrived = 0;
    for (size_t i = 0; i < count; i++)
        if (records[i].what == CLO_LOG_ARRIVE && add_logged(c, &records[i], count - i, &jobs[arrived]))
            arrived++;
    free(c->jobs);
    c->jobs = jobs;
    c->jobs_count = arrived;
    return CLO_OK;
}

const char *stream_case_unmatched_kind(const stream_case *c)
{
    for (size_t i = 0; i < c->costs_count; i++) {
        const char *kind = c->costs[i].cost != NULL ? clo_cost_unmatched_kind(c->costs[i].cost, 0) : NULL;
        if (kind != NULL)
            return kind;
    }
    return NULL;
}

void stream_case_close(stream_case *c)
{
    for (size_t i = 0; i < c->costs_count; i++)
        clo_cost_destroy(c->costs[i].cost);
    free(c->costs);
    free(c->jobs);
    *c = (stream_case){0};
}
