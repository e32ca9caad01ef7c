/* submit.c - the runs of a job: submit arms and starts, the last worker ends, wait reads. */
#include "base/clock.h"
#include "base/saturate.h"
#include "base/status.h"
#include "run/run.h"

#include <stdio.h>
#include <string.h>

static uint64_t count_parks(const clo_runtime *runtime)
{
    uint64_t parks = 0;

    for (uint32_t w = 0; w < runtime->workers_count; w++)
        parks += atomic_load_explicit(&runtime->workers[w].parks, memory_order_relaxed);
    return parks;
}

/* For the whole submit. Plain and relaxed stores: the push of the first item publishes them all. */
static void arm(clo_job *job)
{
    uint32_t workers = job->runtime->workers_count;

    memset(job->stats, 0, workers * sizeof *job->stats);
    clo_histogram_clear(job->decision_ns);
    atomic_store_explicit(&job->failure, 0, memory_order_relaxed);
    job->first_run = clo_stop_submit(&job->stop);
    job->parks_before = count_parks(job->runtime);
    job->submit_ns = clo_clock_ns();
}

/* For each run. */
static void arm_run(clo_job *job, uint64_t release)
{
    clo_engine_begin(job->engine, job->dispatch != NULL && job->dispatch->status != CLO_OK);
    memset(job->virtual_free_ns, 0, job->runtime->workers_count * sizeof *job->virtual_free_ns);
    for (uint32_t entry = 0; job->events != NULL && entry < job->program->entries; entry++)
        job->events[entry].executor = CLO_NONE; /* not executed */
    atomic_store_explicit(&job->exits_left, job->program->exits, memory_order_relaxed);
    atomic_store_explicit(&job->was_cut, 0, memory_order_relaxed);
    clo_stop_begin(&job->stop, job->first_run + release);
}

void clo_job_run_start(clo_job *job, uint64_t release)
{
    clo_series *series = job->series;

    clo_job_adopt(job);
    arm_run(job, release);
    job->run_ns = clo_clock_ns();
    job->line = (clo_tick_line){.ticks = clo_ticks()};
    if (series != NULL) {
        atomic_store_explicit(&series->current, release, memory_order_relaxed);
        atomic_store_explicit(&series->is_first, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&series->released, 1, memory_order_relaxed);
    }
    clo_job_start(job);
}

static void arm_series(clo_job *job)
{
    clo_series *series = job->series;
    bool is_periodic = series->period_ns > 0;
    _Atomic uint64_t *const counters[] = {&series->released, &series->finished, &series->aborted, &series->missed,
                                          &series->skipped,  &series->overruns, &series->ended};

    for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++)
        atomic_store_explicit(counters[i], 0, memory_order_relaxed);
    for (uint32_t i = 0; i < CLO_SERIES_LATE; i++) {
        atomic_store_explicit(&series->late[i], 0, memory_order_relaxed);
        series->skip[i] = 0;
    }
    clo_histogram_clear(&series->jitter_ns);
    clo_histogram_clear(&series->start_ns);
    clo_histogram_clear(&series->response_ns);
    series->base_ns = job->submit_ns;
    series->is_releasing = is_periodic;
    series->next_release = is_periodic ? 0 : 1;
    series->next_deadline = 0;
    atomic_store_explicit(&series->stopped, 0, memory_order_relaxed);
    atomic_store_explicit(&series->wants_start, 0, memory_order_relaxed);
    atomic_store_explicit(&series->is_settled, 0, memory_order_relaxed);
    atomic_store_explicit(&series->pending, is_periodic ? CLO_SERIES_TOKEN : 1, memory_order_relaxed);
}

/* Takes the job from idle or done to running. */
static clo_status begin_submit(clo_job *job)
{
    const clo_series *series = job->series;

    if (clo_thread_is_watchdog(job->runtime))
        return clo_fail(CLO_ERR_STATE, "a handler of misses may not submit a job");
    clo_status status = clo_runtime_check_open(job->runtime);
    if (status != CLO_OK)
        return status;
    if (!clo_phase_start(&job->phase))
        return clo_phase_get(&job->phase) == CLO_PHASE_RUNNING
                   ? clo_fail(CLO_ERR_STATE, "the job is running; wait for it before the next submit")
                   : clo_fail(CLO_ERR_STATE, "another thread reads what the last run left; let it finish first");
    bool was_submitted = atomic_load_explicit(&job->stop.submit, memory_order_relaxed) > 0;
    if (was_submitted && series != NULL && series->miss != NULL &&
        atomic_load_explicit(&series->is_settled, memory_order_acquire) == 0) {
        clo_phase_revert(&job->phase, CLO_PHASE_DONE);
        clo_runtime_tell(job->runtime); /* whoever waits may have seen it running, the watchdog too */
        clo_bell_ring(&job->runtime->watchdog.bell);
        return clo_fail(CLO_ERR_STATE, "misses of the last run are still being reported; wait for the job first");
    }
    return CLO_OK;
}

clo_status clo_job_submit(clo_job *job)
{
    if (job == NULL)
        return clo_fail_null("clo_job_submit", "job");
    clo_status status = begin_submit(job);
    if (status != CLO_OK)
        return status;
    clo_watchdog *watchdog = &job->runtime->watchdog;
    if (job->series != NULL)
        clo_watchdog_remove(watchdog, job); /* nothing of the last submit is looked at from here on */
    arm(job);
    if (job->series == NULL)
        return clo_job_run_start(job, 0), CLO_OK;
    arm_series(job);
    bool is_periodic = job->series->period_ns > 0;
    if (!is_periodic)
        clo_job_run_start(job, 0); /* may end at once; the watchdog sees it all the same */
    clo_watchdog_add(watchdog, job);
    clo_bell_ring(&watchdog->bell);
    return CLO_OK;
}

/* Whoever waits for a job of this runtime shall look again. */
void clo_runtime_tell(clo_runtime *runtime)
{
    /* seq_cst: either we see the waiter, or it sees the new epoch (two locations, see clo_job_wait_until). */
    atomic_fetch_add_explicit(&runtime->done_epoch, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&runtime->waiters, memory_order_seq_cst) > 0)
        clo_futex_wake_all(&runtime->done_epoch);
}

/* The last touch of a job: after DONE its owner may free it, unless the watchdog has yet to settle its misses. */
void clo_job_done(clo_job *job)
{
    clo_runtime *runtime = job->runtime;

    atomic_store_explicit(&job->response_ns, (job->end_ns - job->run_ns) / (int64_t)job->runtime->dilate,
                          memory_order_relaxed);
    clo_phase_end(&job->phase);
    clo_runtime_tell(runtime);
}

bool clo_job_is_stopped(const clo_job *job)
{
    return atomic_load_explicit(&job->series->stopped, memory_order_acquire) != 0 || clo_stop_is_cancelled(&job->stop);
}

/* What the run that has ended leaves in the series. */
static void account(clo_job *job, uint64_t release)
{
    clo_series *series = job->series;
    int64_t response_ns = clo_time_sub(job->end_ns, clo_series_due_ns(series, release));

    clo_histogram_record(&series->response_ns, response_ns);
    if (series->deadline_ns > 0 && response_ns > series->deadline_ns)
        clo_series_note_late(series, release);
    atomic_fetch_add_explicit(&series->finished, 1, memory_order_relaxed);
    bool has_failed = atomic_load_explicit(&job->failure, memory_order_relaxed) != 0;
    if (clo_stop_is_set(&job->stop) && !has_failed && !clo_stop_is_cancelled(&job->stop))
        atomic_fetch_add_explicit(&series->aborted, 1, memory_order_relaxed);
    if (has_failed || (job->dispatch != NULL && job->dispatch->status != CLO_OK))
        atomic_store_explicit(&series->stopped, 1, memory_order_release);
    atomic_store_explicit(&series->ended, release + 1, memory_order_release); /* `late` before it */
}

/* Takes one run off; if it was not the last, the next one starts, or, where a policy decides, the watchdog starts it:
 * here that could end a run within a run. The runs that wait when the series is stopped are dropped one by one. */
static void end_run(clo_job *job)
{
    clo_series *series = job->series;
    clo_watchdog *watchdog = &job->runtime->watchdog;
    bool has_handler = series->miss != NULL;

    for (;;) { /* each turn takes one run off */
        bool is_stopped = clo_job_is_stopped(job);
        uint64_t before = atomic_fetch_sub_explicit(&series->pending, 1, memory_order_acq_rel);
        if ((before & CLO_SERIES_RUNS) == 1) { /* without the token we are the last; with it the job may be gone now */
            if ((before & CLO_SERIES_TOKEN) == 0)
                clo_job_done(job);
            if (is_stopped || (has_handler && (before & CLO_SERIES_TOKEN) == 0))
                clo_bell_ring(&watchdog->bell);
            return;
        }
        if (is_stopped)
            continue;
        if (job->dispatch == NULL) {
            clo_job_run_start(job, atomic_load_explicit(&series->current, memory_order_relaxed) + 1);
        } else {
            atomic_store_explicit(&series->wants_start, 1, memory_order_release);
            clo_bell_ring(&watchdog->bell);
        }
        return;
    }
}

void clo_job_run_next(clo_job *job)
{
    clo_series *series = job->series;

    if (clo_job_is_stopped(job))
        end_run(job);
    else
        clo_job_run_start(job, atomic_load_explicit(&series->current, memory_order_relaxed) + 1);
}

void clo_job_run_ended(clo_job *job)
{
    job->end_ns = clo_clock_ns();
    job->line.ticks2 = clo_ticks();
    job->line.ns2 = job->end_ns - job->run_ns;
    if (job->series == NULL) {
        clo_job_done(job);
    } else {
        account(job, atomic_load_explicit(&job->series->current, memory_order_relaxed));
        end_run(job);
    }
}

void clo_job_abort(clo_job *job, uint64_t release)
{
    clo_stop_abort(&job->stop, job->first_run + release);
}

static bool is_over(const clo_job *job)
{
    if (clo_phase_get(&job->phase) != CLO_PHASE_DONE)
        return false;
    return job->series == NULL || job->series->miss == NULL ||
           atomic_load_explicit(&job->series->is_settled, memory_order_acquire) != 0;
}

/* False: the time was up first. */
bool clo_job_wait_until(clo_job *job, int64_t until_ns)
{
    clo_runtime *runtime = job->runtime;
    bool has_ended = clo_phase_get(&job->phase) == CLO_PHASE_IDLE || is_over(job);

    if (has_ended)
        return true;
    /* seq_cst with clo_runtime_tell: two locations, waiters and done_epoch. */
    atomic_fetch_add_explicit(&runtime->waiters, 1, memory_order_seq_cst);
    for (;;) { /* every end of a job moves the epoch */
        uint32_t epoch = atomic_load_explicit(&runtime->done_epoch, memory_order_seq_cst);
        has_ended = is_over(job);
        if (has_ended || (until_ns != INT64_MAX && clo_clock_ns() >= until_ns))
            break;
        clo_futex_wait_until(&runtime->done_epoch, epoch, until_ns);
    }
    atomic_fetch_sub_explicit(&runtime->waiters, 1, memory_order_relaxed);
    return has_ended;
}

static int64_t makespan_ns(const clo_job *job)
{
    int64_t last_ns = 0;

    if (job->runtime->clock != CLO_CLOCK_VIRTUAL)
        return (job->end_ns - job->run_ns) / (int64_t)job->runtime->dilate;
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

/* A series that was stopped before its last release. */
static bool lacks_releases(const clo_job *job)
{
    const clo_series *series = job->series;

    return series != NULL && series->period_ns > 0 &&
           (series->releases == 0 || atomic_load_explicit(&series->released, memory_order_relaxed) +
                                             atomic_load_explicit(&series->skipped, memory_order_relaxed) <
                                         series->releases);
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
    bool was_cut = atomic_load_explicit(&job->was_cut, memory_order_relaxed) != 0;
    if (clo_stop_is_cancelled(&job->stop) && (was_cut || lacks_releases(job)))
        return clo_fail(CLO_ERR_CANCELLED, "the job was cancelled after %llu executions of %u a run",
                        (unsigned long long)result->executed, job->program->entries);
    if (was_cut)
        return clo_fail(CLO_ERR_ABORTED,
                        "the %srun was aborted at its deadline or at the next release; raise "
                        "clo_job_config.deadline_ns, or choose another on_miss",
                        job->series != NULL && job->series->period_ns > 0 ? "last " : "");
    return CLO_OK;
}

/* "task 'x' on executor 1, task 'y' on executor 3": what of the job (NULL: of any) runs now. */
void clo_runtime_name_running(const clo_runtime *runtime, const clo_job *only, char *text, size_t bytes)
{
    size_t used = 0;

    snprintf(text, bytes, "no task");
    for (uint32_t w = 0; w < runtime->workers_count && used < bytes; w++) {
        uint64_t current = atomic_load_explicit(&runtime->workers[w].current, memory_order_relaxed);
        char scratch[16];
        /* Only the closing thread looks at other jobs than its own: nobody destroys them beside it. */
        if (current == CLO_ITEM_NONE || (only != NULL && current >> 32 != only->slot))
            continue;
        const clo_job *job = only != NULL ? only : runtime->jobs[current >> 32];
        if (job == NULL)
            continue;
        const char *name = clo_graph_task_name(clo_cost_graph(job->cost), (uint32_t)current, scratch);
        used +=
            (size_t)snprintf(text + used, bytes - used, "%stask '%.40s' on executor %u", used > 0 ? ", " : "", name, w);
    }
}

static clo_status read_result(clo_job *job, clo_job_result *out)
{
    clo_job_result result = {.size = sizeof result, .failed_task = CLO_NONE};

    sum_stats(job, &result);
    result.makespan_ns = makespan_ns(job);
    result.missed_deadline = job->deadline_ns > 0 && result.makespan_ns > job->deadline_ns;
    if (job->dispatch != NULL)
        read_decisions(job, &result);
    result.status = read_status(job, &result);
    clo_result_write(out, &result, sizeof result);
    return result.status;
}

static clo_status wait_for(clo_job *job, int64_t until_ns, clo_job_result *out)
{
    char running[200];
    clo_status status = clo_result_check(out, CLO_BYTES_UP_TO(clo_job_result, decision_max_ns), "clo_job_result");

    if (status != CLO_OK)
        return status;
    if (clo_phase_get(&job->phase) == CLO_PHASE_IDLE)
        return clo_fail(CLO_ERR_STATE, "the job was never submitted");
    if (clo_thread_is_worker(job->runtime))
        return clo_fail(CLO_ERR_STATE, "a task body may not wait for a job: it would block its worker");
    if (clo_thread_is_watchdog(job->runtime))
        return clo_fail(CLO_ERR_STATE, "a handler of misses may not wait for a job: it would block the watchdog");
    if (clo_runtime_is_forked(job->runtime))
        return clo_fail(CLO_ERR_STATE, CLO_FORKED_TEXT);
    while (clo_job_wait_until(job, until_ns)) { /* again if somebody has submitted it once more meanwhile */
        if (!clo_phase_read_begin(&job->phase))
            continue;
        status = read_result(job, out);
        clo_phase_read_end(&job->phase);
        return status;
    }
    clo_runtime_name_running(job->runtime, job, running, sizeof running);
    return clo_fail(CLO_ERR_TIMEOUT, "the job has not ended yet; running: %s", running);
}

clo_status clo_job_wait(clo_job *job, clo_job_result *out)
{
    if (job == NULL)
        return clo_fail_null("clo_job_wait", "job");
    return wait_for(job, INT64_MAX, out);
}

clo_status clo_job_wait_for(clo_job *job, int64_t timeout_ns, clo_job_result *out)
{
    if (job == NULL)
        return clo_fail_null("clo_job_wait_for", "job");
    return wait_for(job, clo_time_add(clo_clock_ns(), timeout_ns > 0 ? timeout_ns : 0), out);
}

void clo_job_cancel(clo_job *job)
{
    if (job == NULL)
        return;
    clo_stop_cancel(&job->stop);
    if (job->series != NULL)
        clo_bell_ring(&job->runtime->watchdog.bell);
}
