/* run_arrivals.c - the list of jobs that a real run submits. A periodic job is one job for each release, as in the
 * simulator. So the n-th submission is the n-th job of the list, here and there. */
#include "run_arrivals.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAMED_MAX = 8 };

/* Jobs and releases of one run: each takes some hundred bytes while the command runs. */
#define RUN_JOBS_MAX (UINT32_C(1) << 22)

/* Whether a graph can run on the platform. */
typedef struct fit {
    const clo_graph *graph;
    bool is_good;
    char why[256];
} fit;

static int by_graph(const void *left, const void *right)
{
    const fit *a = left, *b = right;

    return (uintptr_t)a->graph < (uintptr_t)b->graph ? -1 : (uintptr_t)a->graph > (uintptr_t)b->graph;
}

/* Tries each graph once. Returns CLO_OK, or what is wrong beside a graph that fits nowhere. */
static clo_status try_graphs(const clo_workload *workload, const clo_platform *platform, fit *fits, size_t *count)
{
    uint32_t jobs = clo_workload_jobs(workload);

    *count = 0;
    for (uint32_t i = 0; i < jobs; i++)
        fits[i].graph = clo_workload_get(workload, i)->graph;
    qsort(fits, jobs, sizeof *fits, by_graph);
    for (uint32_t i = 0; i < jobs; i++)
        if (*count == 0 || fits[i].graph != fits[*count - 1].graph)
            fits[(*count)++].graph = fits[i].graph;
    for (size_t i = 0; i < *count; i++) {
        clo_cost *cost = NULL;
        clo_status status = clo_cost_create(fits[i].graph, platform, &cost);
        fits[i].is_good = status == CLO_OK;
        clo_cost_destroy(cost);
        if (status == CLO_ERR_PLATFORM)
            snprintf(fits[i].why, sizeof fits[i].why, "%s", clo_last_error());
        else if (status != CLO_OK)
            return status;
    }
    return CLO_OK;
}

static void name_misfit(stream_run *run, const clo_workload_job *job, const char *why)
{
    char place[512];

    if (run->misfits++ >= NAMED_MAX)
        return;
    snprintf(place, sizeof place, job->line > 0 ? "%.450s:%" PRIu64 : "%.450s", run->sim.path, job->line);
    complain(place, "job '%.100s' is refused: %s", show_name(job->name), why);
}

static clo_status add_releases(clo_workload *list, const clo_workload *from, uint32_t index)
{
    const clo_workload_job *job = clo_workload_get(from, index);
    uint64_t releases = clo_workload_releases(from, index);
    clo_workload_job one = *job;
    clo_status status = CLO_OK;

    one.period_ns = 0;
    one.releases = 0;
    for (uint64_t k = 0; k < releases && status == CLO_OK; k++) {
        if (clo_workload_jobs(list) == RUN_JOBS_MAX)
            return CLO_ERR_LIMIT;
        if (job->period_ns > 0 && k > (uint64_t)(CLO_WORKLOAD_TIME_MAX - job->arrival_ns) / (uint64_t)job->period_ns)
            return CLO_ERR_LIMIT;
        one.arrival_ns = job->arrival_ns + (int64_t)k * job->period_ns;
        status = clo_workload_add(list, &one);
    }
    return status;
}

static clo_status fill(stream_run *run, const clo_workload *from, clo_workload *list)
{
    uint32_t jobs = clo_workload_jobs(from);
    fit *fits = calloc(jobs > 0 ? jobs : 1, sizeof *fits);
    size_t count;

    if (fits == NULL)
        return CLO_ERR_MEMORY;
    clo_status status = try_graphs(from, run->sim.platform, fits, &count);
    for (uint32_t i = 0; i < jobs && status == CLO_OK; i++) {
        const clo_workload_job *job = clo_workload_get(from, i);
        const fit key = {.graph = job->graph};
        const fit *found = bsearch(&key, fits, count, sizeof key, by_graph);
        if (found->is_good)
            status = add_releases(list, from, i);
        else
            name_misfit(run, job, found->why);
    }
    free(fits);
    return status == CLO_OK ? clo_workload_sort(list) : status;
}

int run_arrivals(stream_run *run)
{
    const char *path = run->sim.path;

    clo_status status = simulation_draw(&run->sim, &run->run);
    if (status == CLO_OK)
        status = clo_workload_create(clo_workload_name(run->sim.loaded), &run->releases);
    if (status == CLO_OK)
        status = fill(run, run->run.workload, run->releases);
    if (status == CLO_OK && run->misfits > NAMED_MAX)
        complain(path, "%" PRIu64 " more jobs are refused for the like", run->misfits - NAMED_MAX);
    run->run.workload = run->releases;
    if (status == CLO_OK && clo_workload_jobs(run->releases) == 0)
        return run->misfits > 0 ? EXIT_BAD_INPUT : complain(path, "holds no jobs; nothing to run");
    if (status == CLO_OK)
        status = stream_case_open(&run->jobs, run->releases, run->sim.platform, NULL);
    if (status == CLO_OK)
        return EXIT_GOOD;
    if (status == CLO_ERR_MEMORY)
        return complain(path, "out of memory for the list of jobs");
    return status == CLO_ERR_LIMIT ? complain(path,
                                              "more than %u jobs and releases, or releases that come after 146 years; "
                                              "lower \"releases\" or --jobs",
                                              RUN_JOBS_MAX)
                                   : complain_status(path, status);
}
