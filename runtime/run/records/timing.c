/* timing.c - what was measured, for whoever asks, at any time. */
#define _GNU_SOURCE
#include "run/records/timing.h"

#include "base/status.h"
#include "engine/state/latency.h"
#include "run/records/stamp.h"
#include "run/state/job.h"
#include "run/state/runtime.h"
#include "run/state/series.h"
#include "run/state/worker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t read_counter(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

_Static_assert(CLO_LATENCY_BUCKETS <= CLO_HISTOGRAM_BUCKETS, "of times that int64_t has");

/* Nobody watches the job: its last run is all there is. */
static void read_single(const clo_job *job, clo_job_timing *timing)
{
    bool is_done = clo_phase_get(&job->phase) == CLO_PHASE_DONE;
    int64_t response_ns = is_done ? clo_stamp_response_ns(job) : 0;

    timing->released = 1;
    timing->finished = is_done;
    if (!is_done)
        return;
    timing->missed = job->deadline_ns > 0 && response_ns > job->deadline_ns;
    timing->response_ns =
        (clo_latency){1, response_ns, response_ns, response_ns, response_ns, response_ns, response_ns};
}

clo_status clo_job_latency_read(const clo_job *job, clo_latency_kind kind, uint32_t *buckets)
{
    const clo_series *series = job != NULL ? job->series : NULL;

    if (series == NULL || buckets == NULL || (uint32_t)kind > CLO_LATENCY_RESPONSE)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_job_latency_read: NULL, no such kind, or a job that needs a period_ns");
    const clo_histogram *of = kind == CLO_LATENCY_JITTER  ? &series->jitter_ns
                              : kind == CLO_LATENCY_START ? &series->start_ns
                                                          : &series->response_ns;
    for (uint32_t b = 0; b < CLO_LATENCY_BUCKETS; b++)
        buckets[b] = atomic_load_explicit(&of->buckets[b], memory_order_relaxed);
    return CLO_OK;
}

int64_t clo_latency_bucket_ns(uint32_t bucket)
{
    return bucket < CLO_LATENCY_BUCKETS ? (int64_t)clo_histogram_least(bucket) : INT64_MAX;
}

clo_status clo_job_timing_read(const clo_job *job, clo_job_timing *out)
{
    if (job == NULL || out == NULL)
        return clo_fail_null("clo_job_timing_read", "job or out");
    clo_job_timing timing = CLO_JOB_TIMING_INIT;
    const clo_series *series = job->series;
    clo_status status = clo_result_check(out, CLO_BYTES_UP_TO(clo_job_timing, response_ns), "clo_job_timing");

    if (status != CLO_OK)
        return status;
    if (clo_phase_get(&job->phase) == CLO_PHASE_IDLE)
        return clo_fail(CLO_ERR_STATE, "the job was never submitted; call clo_job_submit first");
    if (series == NULL) {
        read_single(job, &timing);
    } else {
        timing.released = read_counter(&series->released);
        timing.finished = read_counter(&series->finished);
        timing.aborted = read_counter(&series->aborted);
        timing.missed = read_counter(&series->missed);
        timing.skipped = read_counter(&series->skipped);
        timing.overruns = read_counter(&series->overruns);
        timing.jitter_ns = clo_latency_of(&series->jitter_ns);
        timing.start_ns = clo_latency_of(&series->start_ns);
        timing.response_ns = clo_latency_of(&series->response_ns);
    }
    clo_result_write(out, &timing, sizeof timing);
    return CLO_OK;
}

uint64_t clo_job_id(const clo_job *job)
{
    return job != NULL ? job->id : 0;
}

uint64_t clo_runtime_parks(const clo_runtime *runtime)
{
    uint64_t parks = 0;

    for (uint32_t w = 0; w < runtime->workers_count; w++)
        parks += atomic_load_explicit(&runtime->workers[w].stats.parks, memory_order_relaxed);
    return parks;
}

void clo_thread_faults(int32_t tid, uint64_t faults[2])
{
    char path[64], text[512];

    faults[0] = faults[1] = 0;
    snprintf(path, sizeof path, "/proc/self/task/%" PRId32 "/stat", tid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return;
    size_t bytes = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[bytes] = '\0';
    char *at = strrchr(text, ')');                            /* the name before it may hold anything */
    for (int field = 3; at != NULL && field <= 12; field++) { /* proc(5): 3 is the state, 10 and 12 are the faults */
        at = strchr(at + 1, ' ');
        if (at != NULL && (field == 10 || field == 12))
            faults[field == 12] = strtoull(at, NULL, 10);
    }
}

/* 0 where the kernel tells nothing now. */
static uint64_t since(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

clo_status clo_runtime_worker_stats(const clo_runtime *runtime, uint32_t index, clo_worker_stats *out)
{
    if (runtime == NULL || out == NULL)
        return clo_fail_null("clo_runtime_worker_stats", "runtime or out");
    uint64_t faults[2];
    clo_status status = clo_result_check(out, CLO_BYTES_UP_TO(clo_worker_stats, wake_ns), "clo_worker_stats");

    if (status != CLO_OK)
        return status;
    if (index >= runtime->workers_count)
        return clo_fail(CLO_ERR_ARGUMENT, "worker %u: the runtime has %u", index, runtime->workers_count);
    const clo_worker *worker = &runtime->workers[index];
    clo_thread_faults(worker->system.tid, faults);
    clo_worker_stats stats = {
        .size = sizeof stats,
        .parks = read_counter(&worker->stats.parks),
        .wakes = read_counter(&worker->stats.wakes),
        .missed_wakes = read_counter(&worker->stats.missed_wakes),
        .minor_faults = since(faults[0], worker->stats.faults_before[0]),
        .major_faults = since(faults[1], worker->stats.faults_before[1]),
        .wake_ns = clo_latency_of(&worker->stats.wake_ns),
    };
    clo_result_write(out, &stats, sizeof stats);
    return CLO_OK;
}
