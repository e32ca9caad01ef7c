/* submit.c - the runs of a job: submit arms and starts, the last worker ends, wait reads. */
#include "base/clock.h"
#include "base/status.h"
#include "run/run.h"

#include <string.h>

static uint64_t count_parks(const clo_runtime *runtime)
{
    uint64_t parks = 0;

    for (uint32_t w = 0; w < runtime->workers_count; w++)
        parks += atomic_load_explicit(&runtime->workers[w].parks, memory_order_relaxed);
    return parks;
}

/* Plain and relaxed stores: the push of the first item publishes them all. */
static void arm(clo_job *job)
{
    uint32_t workers = job->runtime->workers_count;

    clo_engine_begin(job->engine, job->dispatch != NULL && job->dispatch->status != CLO_OK);
    memset(job->stats, 0, workers * sizeof *job->stats);
    memset(job->decision_ns, 0, sizeof *job->decision_ns);
    memset(job->virtual_free_ns, 0, workers * sizeof *job->virtual_free_ns);
    for (uint32_t entry = 0; job->events != NULL && entry < job->program->entries; entry++)
        job->events[entry].executor = CLO_NONE; /* not executed */
    atomic_store_explicit(&job->stop, 0, memory_order_relaxed);
    atomic_store_explicit(&job->cancelled, 0, memory_order_relaxed);
    atomic_store_explicit(&job->failure, 0, memory_order_relaxed);
    atomic_store_explicit(&job->exits_left, job->program->exits, memory_order_relaxed);
    job->parks_before = count_parks(job->runtime);
    job->was_submitted = true;
}

clo_status clo_job_submit(clo_job *job)
{
    if (atomic_load_explicit(&job->state, memory_order_acquire) == CLO_JOB_RUNNING)
        return clo_fail(CLO_ERR_STATE, "the job is running; wait for it before the next submit");
    arm(job);
    atomic_store_explicit(&job->state, CLO_JOB_RUNNING, memory_order_relaxed);
    job->submit_ns = clo_clock_ns();
    job->line = (clo_tick_line){.ticks = clo_ticks()};
    clo_job_start(job);
    return CLO_OK;
}

/* The last touch of a job: after DONE its owner may free it. */
void clo_job_run_ended(clo_job *job)
{
    clo_runtime *runtime = job->runtime;

    job->end_ns = clo_clock_ns();
    job->line.ticks2 = clo_ticks();
    job->line.ns2 = job->end_ns - job->submit_ns;
    atomic_store_explicit(&job->state, CLO_JOB_DONE, memory_order_release);
    /* seq_cst: either we see the waiter, or it sees the new epoch (two locations, see clo_job_wait). */
    atomic_fetch_add_explicit(&runtime->done_epoch, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&runtime->waiters, memory_order_seq_cst) > 0)
        clo_futex_wake_all(&runtime->done_epoch);
}

void clo_job_wait_end(clo_job *job)
{
    clo_runtime *runtime = job->runtime;

    if (atomic_load_explicit(&job->state, memory_order_acquire) == CLO_JOB_DONE)
        return;
    /* seq_cst with the finisher's epoch: two locations, waiters and done_epoch (see clo_job_run_ended). */
    atomic_fetch_add_explicit(&runtime->waiters, 1, memory_order_seq_cst);
    for (;;) { /* every end of a job moves the epoch */
        uint32_t epoch = atomic_load_explicit(&runtime->done_epoch, memory_order_seq_cst);
        if (atomic_load_explicit(&job->state, memory_order_acquire) == CLO_JOB_DONE)
            break;
        clo_futex_wait(&runtime->done_epoch, epoch);
    }
    atomic_fetch_sub_explicit(&runtime->waiters, 1, memory_order_relaxed);
}

static int64_t makespan_ns(const clo_job *job)
{
    int64_t last_ns = 0;

    if (job->runtime->clock != CLO_CLOCK_VIRTUAL)
        return job->end_ns - job->submit_ns;
    for (uint32_t entry = 0; entry < job->program->entries; entry++)
        if (job->engine->finish_ns[entry] > last_ns)
            last_ns = job->engine->finish_ns[entry];
    return last_ns;
}

static void sum_stats(const clo_job *job, clo_job_result *result)
{
    int64_t wanted_ns = 0, missed_ns = 0;

    for (uint32_t w = 0; w < job->runtime->workers_count; w++) {
        const clo_engine_stats *stats = &job->stats[w];
        result->executed += stats->executed;
        result->duplicates_run += stats->duplicates;
        result->transfers += stats->transfers;
        result->transferred_bytes += stats->transferred_bytes;
        result->copied_bytes += stats->copied_bytes;
        result->steals += stats->steals;
        result->busy_ns += clo_job_busy_ns(job, stats->busy_ns);
        wanted_ns += stats->wanted_ns;
        missed_ns += stats->missed_ns;
    }
    result->emulation_error = wanted_ns > 0 ? (double)missed_ns / (double)wanted_ns : 0;
    result->parks = count_parks(job->runtime) - job->parks_before;
}

static void read_decisions(const clo_job *job, clo_job_result *result)
{
    const clo_histogram *histogram = job->decision_ns;

    result->decisions = job->dispatch->decisions;
    result->fallbacks = job->dispatch->fallbacks;
    result->decision_steps = job->dispatch->most_steps;
    result->decision_p50_ns = clo_histogram_quantile(histogram, 0.5);
    result->decision_p99_ns = clo_histogram_quantile(histogram, 0.99);
    result->decision_p999_ns = clo_histogram_quantile(histogram, 0.999);
    result->decision_max_ns = histogram->max_ns;
}

static clo_status read_status(const clo_job *job, clo_job_result *result)
{
    /* Acquire pairs with the release in fail_job. */
    uint64_t failure = atomic_load_explicit(&job->failure, memory_order_acquire);
    char scratch[16];

    if (failure != 0) {
        result->failed_task = (uint32_t)((failure >> 32) - 1);
        result->failed_code = (int)(uint32_t)failure;
        return clo_fail(CLO_ERR_TASK, "task '%s' failed with %d",
                        clo_graph_task_name(job->program->graph, result->failed_task, scratch), result->failed_code);
    }
    if (job->dispatch != NULL && job->dispatch->status != CLO_OK)
        return clo_fail(job->dispatch->status, "%s", job->dispatch->error);
    if (atomic_load_explicit(&job->cancelled, memory_order_relaxed) != 0 && result->executed < job->program->entries)
        return clo_fail(CLO_ERR_CANCELLED, "the job was cancelled after %llu of %u executions",
                        (unsigned long long)result->executed, job->program->entries);
    return CLO_OK;
}

clo_status clo_job_wait(clo_job *job, clo_job_result *out)
{
    clo_job_result result = {.failed_task = CLO_NONE};

    if (!job->was_submitted)
        return clo_fail(CLO_ERR_STATE, "the job was never submitted");
    clo_job_wait_end(job);
    sum_stats(job, &result);
    result.makespan_ns = makespan_ns(job);
    result.missed_deadline = job->deadline_ns > 0 && result.makespan_ns > job->deadline_ns;
    if (job->dispatch != NULL)
        read_decisions(job, &result);
    result.status = read_status(job, &result);
    if (out != NULL)
        *out = result;
    return result.status;
}

void clo_job_cancel(clo_job *job)
{
    atomic_store_explicit(&job->cancelled, 1, memory_order_relaxed);
    atomic_store_explicit(&job->stop, 1, memory_order_relaxed); /* orders nothing: bodies may start until it is seen */
}
