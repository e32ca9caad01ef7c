/* flight.c - with more releases in flight the executors are never idle for want of data, and a release takes longer.
 * For each number of releases in flight a plan is made (modulo scheduling), a job with its memory, and a series is
 * run; and a series without a plan, in which any executor runs what is ready: that pays where releases take different
 * times. */
#include "flight.h"

#include "../common/load.h"
#include "heap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct series {
    bool has_plan;
    clo_pipeline_metrics planned; /* without a plan the bound only */
    clo_job_result result;
    clo_job_timing timing;
    size_t job_bytes;
    uint64_t allocations, faults;
    double bodies_ns;    /* what the bodies of a release took, / workers: no interval is shorter */
    double executed_ns;  /* from one release to the next */
    double foreign_load; /* share of the CPUs that other programs took */
} series;

static uint64_t faults_of(const clo_runtime *runtime)
{
    uint64_t faults = 0;

    for (uint32_t w = 0; w < clo_runtime_workers(runtime); w++) {
        clo_worker_stats one = CLO_WORKER_STATS_INIT;
        if (clo_runtime_worker_stats(runtime, w, &one) == CLO_OK)
            faults += one.minor_faults + one.major_faults;
    }
    return faults;
}

/* In memory that is there before the first release. */
static clo_status make_job(const flight_setup *setup, clo_job_config *config, series *of, clo_job **job)
{
    clo_status status = clo_job_memory_bytes(setup->s->runtime, setup->s->cost, config, &of->job_bytes);

    if (status != CLO_OK)
        return status;
    config->memory = aligned_alloc(64, (of->job_bytes + 63) / 64 * 64);
    config->memory_bytes = of->job_bytes;
    if (config->memory != NULL)
        memset(config->memory, 0, of->job_bytes);
    return clo_job_create(setup->s->runtime, setup->s->cost, config, job);
}

static clo_status run(const flight_setup *setup, clo_job *job, series *of)
{
    uint64_t faults = faults_of(setup->s->runtime);
    load before = load_now();

    heap_count_start();
    clo_status status = clo_job_submit(job);
    if (status == CLO_OK)
        status = clo_job_wait(job, &of->result);
    of->allocations = heap_count_stop();
    of->foreign_load = load_foreign(before);
    of->faults = faults_of(setup->s->runtime) - faults;
    if (status == CLO_OK)
        status = clo_job_timing_read(job, &of->timing);
    of->executed_ns = (double)of->result.makespan_ns / (double)setup->releases;
    of->bodies_ns =
        (double)of->result.busy_ns / (double)setup->releases / (double)clo_runtime_workers(setup->s->runtime);
    return status;
}

static clo_status run_one(const flight_setup *setup, uint32_t in_flight, series *of)
{
    clo_pipeline_config pipeline = CLO_PIPELINE_CONFIG_INIT;
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_plan *plan = NULL;
    clo_job *job = NULL;
    clo_interval_bound bound = CLO_INTERVAL_BOUND_INIT;
    clo_status status = CLO_OK;

    pipeline.releases_in_flight = in_flight;
    pipeline.interval_ns = setup->period_ns;
    if (of->has_plan)
        status = clo_plan_pipeline(setup->s->cost, &pipeline, &plan);
    if (status == CLO_OK && of->has_plan)
        status = clo_plan_pipeline_measure(plan, setup->s->cost, &of->planned);
    else if (status == CLO_OK && (status = clo_cost_interval_bound(setup->s->cost, &bound)) == CLO_OK)
        of->planned.bound_ns = bound.best_ns;
    config.plan = plan;
    config.releases_in_flight = in_flight;
    config.releases = setup->releases;
    config.period_ns = setup->period_ns;
    if (status == CLO_OK)
        status = make_job(setup, &config, of, &job);
    if (status == CLO_OK)
        status = run(setup, job, of);
    clo_job_destroy(job);
    free(config.memory);
    clo_plan_destroy(plan);
    return status;
}

static void print_row(uint32_t in_flight, const series *of)
{
    const clo_pipeline_metrics *m = &of->planned;

    if (!of->has_plan) {
        printf("%9u %10.1f %10s %10.1f %10.1f %10.1f %10s %10.1f %10.1f %10s %10.1f\n", in_flight,
               (double)m->bound_ns / 1e3, "-", of->bodies_ns / 1e3, of->executed_ns / 1e3, 1e9 / of->executed_ns, "-",
               (double)of->timing.response_ns.p50_ns / 1e3, (double)of->timing.response_ns.p99_ns / 1e3, "-",
               100 * of->foreign_load);
        return;
    }
    printf("%9u %10.1f %10.1f %10.1f %10.1f %10.1f %10.1f %10.1f %10.1f %10.3f %10.1f\n", in_flight,
           (double)m->bound_ns / 1e3, (double)m->interval_ns / 1e3, of->bodies_ns / 1e3, of->executed_ns / 1e3,
           1e9 / of->executed_ns, (double)m->latency_ns / 1e3, (double)of->timing.response_ns.p50_ns / 1e3,
           (double)of->timing.response_ns.p99_ns / 1e3, (double)m->buffer_bytes / 1048576, 100 * of->foreign_load);
}

static void print_json(uint32_t in_flight, const series *of)
{
    const clo_pipeline_metrics *m = &of->planned;

    printf("{\"in_flight\": %u, \"plan\": %s, \"bound_ns\": %" PRId64 ", \"interval_ns\": %" PRId64
           ", \"bodies_ns\": %.0f, \"executed_ns\": %.0f, "
           "\"latency_ns\": %" PRId64 ", \"response_p50_ns\": %" PRId64 ", \"response_p99_ns\": %" PRId64
           ", \"buffer_bytes\": %" PRIu64 ", \"job_bytes\": %zu, \"released\": %" PRIu64 ", \"finished\": %" PRIu64
           ", \"allocations\": %" PRIu64 ", \"page_faults\": %" PRIu64 ", \"foreign_load\": %.3f}\n",
           in_flight, of->has_plan ? "true" : "false", m->bound_ns, m->interval_ns, of->bodies_ns, of->executed_ns,
           m->latency_ns, of->timing.response_ns.p50_ns, of->timing.response_ns.p99_ns, m->buffer_bytes, of->job_bytes,
           of->timing.released, of->timing.finished, of->allocations, of->faults, of->foreign_load);
}

static bool is_kept(const flight_setup *setup, const series *of)
{
    return of->timing.finished == setup->releases && of->allocations == 0 && (of->faults == 0 || !setup->is_locked);
}

/* Until a series takes no page fault, as promised: on a busy machine the system moves locked pages too, and whoever
 * touches one meanwhile takes a fault. */
static clo_status run_quietly(const flight_setup *setup, uint32_t n, bool has_plan, series *of)
{
    enum { SERIES_MAX = 20 };
    clo_status status = CLO_OK;

    for (int i = 0; i < SERIES_MAX && status == CLO_OK && (i == 0 || (of->faults > 0 && setup->is_locked)); i++) {
        *of = (series){.has_plan = has_plan,
                       .planned = CLO_PIPELINE_METRICS_INIT,
                       .result = CLO_JOB_RESULT_INIT,
                       .timing = CLO_JOB_TIMING_INIT};
        status = run_one(setup, n, of);
    }
    return status;
}

/* One number of releases in flight. False: what was promised was not kept. */
static bool run_row(const flight_setup *setup, uint32_t n, bool has_plan, series *sum)
{
    series of;
    clo_status status = run_quietly(setup, n, has_plan, &of);

    if (status == CLO_ERR_LIMIT && setup->period_ns > 0 && n < setup->most)
        return true; /* so few are too slow for the period */
    if (status != CLO_OK) {
        fprintf(stderr, "example-pipeline: %u releases in flight: %s\n", n, clo_last_error());
        return false;
    }
    if (setup->as_json)
        print_json(n, &of);
    else
        print_row(n, &of);
    sum->allocations += of.allocations;
    sum->faults += of.faults;
    return is_kept(setup, &of);
}

bool flight_run(const flight_setup *setup)
{
    bool is_right = true;
    series sum = {.allocations = 0};

    if (!setup->as_json)
        printf("%" PRIu64 " releases for each number of them in flight, microseconds:\n\n%9s %10s %10s %10s %10s %10s "
               "%10s %10s %10s %10s %10s\n",
               setup->releases, "in flight", "bound", "planned", "bodies", "executed", "1/s", "latency", "p50", "p99",
               "MiB", "others %");
    for (uint32_t n = 1; n <= setup->most; n++)
        is_right = run_row(setup, n, true, &sum) && is_right;
    if (!setup->as_json)
        printf("\nwithout a plan: any executor runs what is ready\n");
    for (uint32_t n = 1; n <= setup->most; n++)
        is_right = run_row(setup, n, false, &sum) && is_right;
    if (!setup->as_json)
        printf("\nworkers: %" PRIu64 " allocations, %" PRIu64 " page faults\n", sum.allocations, sum.faults);
    return is_right;
}
