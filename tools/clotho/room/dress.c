/* dress.c - see dress.h. */
#include "clotho/room/dress.h"

#include "clotho/common/report.h"
#include "train/numbers/parameters.h"

#include <math.h>
#include <stdlib.h>

/* Of the draws of a seed, those of deadlines. */
enum { DRAWS_OF_DEADLINES = 77 };

static int by_graph(const void *a, const void *b)
{
    uintptr_t first = (uintptr_t)((const stream_bound *)a)->graph, second = (uintptr_t)((const stream_bound *)b)->graph;

    return (first > second) - (first < second);
}

int deadlines_open(const char *text, const clo_workload *pool, const clo_platform *platform, stream_deadlines *out)
{
    uint32_t jobs = clo_workload_jobs(pool);
    char *end = NULL;

    *out = (stream_deadlines){.least = 0};
    if (text == NULL)
        return EXIT_GOOD;
    out->least = strtod(text, &end);
    out->most = end != text && *end == '-' ? strtod(end + 1, &end) : 0;
    if (*end != '\0' || !(out->least > 0 && out->most >= out->least && out->most <= 1e6))
        return misuse("--deadlines is '%.40s'; write two factors of a job's lower bound, as 2-8", text);
    out->bounds = calloc((size_t)jobs + 1, sizeof *out->bounds);
    if (out->bounds == NULL)
        return complain(NULL, "out of memory");
    out->count = jobs;
    for (uint32_t i = 0; i < jobs; i++) {
        clo_bound bound = CLO_BOUND_INIT;
        clo_cost *cost = NULL;
        clo_status status = clo_cost_create(clo_workload_get(pool, i)->graph, platform, &cost);
        if (status == CLO_OK)
            status = clo_cost_bound(cost, &bound);
        out->bounds[i] = (stream_bound){clo_workload_get(pool, i)->graph, bound.best_ns};
        clo_cost_destroy(cost);
        if (status != CLO_OK)
            return complain_status(NULL, status);
    }
    qsort(out->bounds, jobs, sizeof *out->bounds, by_graph);
    return EXIT_GOOD;
}

void deadlines_close(stream_deadlines *deadlines)
{
    free(deadlines->bounds);
    deadlines->bounds = NULL;
}

static int64_t bound_of(const stream_deadlines *deadlines, const clo_graph *graph)
{
    const stream_bound key = {graph, 0};
    const stream_bound *found = bsearch(&key, deadlines->bounds, deadlines->count, sizeof key, by_graph);

    return found != NULL ? found->ns : 0;
}

clo_status stream_dress(const clo_workload *drawn, const stream_deadlines *deadlines, const stream_said *said,
                        uint64_t seed, clo_workload **out)
{
    draws d = {draws_key(seed, DRAWS_OF_DEADLINES, 0)};
    clo_workload *made = NULL;
    clo_status status = clo_workload_create("stream", &made);

    for (uint32_t i = 0; i < clo_workload_jobs(drawn) && status == CLO_OK; i++) {
        clo_workload_job job = *clo_workload_get(drawn, i);
        job.size = sizeof job;
        if (deadlines->bounds != NULL) {
            double factor = deadlines->least + (deadlines->most - deadlines->least) * draws_uniform(&d);
            double due_ns = fmin(factor * (double)bound_of(deadlines, job.graph), (double)CLO_WORKLOAD_TIME_MAX);
            job.deadline_ns = (int64_t)due_ns + 1;
        }
        if (said != NULL) {
            job.weight <<= said[i].weight_power;
            job.limit = said[i].limit > 0 ? said[i].limit : job.limit;
        }
        status = clo_workload_add(made, &job);
    }
    if (status == CLO_OK)
        *out = made;
    else
        clo_workload_destroy(made);
    return status;
}
