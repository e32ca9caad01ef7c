/* submit.c - submits a job: what all its runs need, then its first run, or the watchdog that makes the runs. Cancels a
 * job, too. */
#include "base/clock.h"
#include "base/status.h"
#include "run/dispatch/launch.h"
#include "run/extras/capacity.h"
#include "run/extras/pending.h"
#include "run/job/done.h"
#include "run/records/stamp.h"
#include "run/records/timing.h"
#include "run/state/runtime.h"
#include "run/state/series.h"
#include "run/system/open.h"
#include "run/system/real_time.h"
#include "run/threads/watchdog_loop.h"

/* For the whole submit. Plain and relaxed stores: the push of the first item publishes them all. */
static void arm(clo_job *job)
{
    uint32_t workers = job->runtime->workers_count;

    for (uint32_t w = 0; w < workers; w++)
        clo_engine_stats_clear(&job->stats[w]);
    if (job->policy.decision_ns != NULL)
        clo_histogram_clear(job->policy.decision_ns);
    job->policy.decisions = 0;
    atomic_store_explicit(&job->hedges.dropped, 0, memory_order_relaxed);
    job->submit.first_run = clo_stop_submit(&job->stop);
    job->submit.parks_before = clo_runtime_parks(job->runtime);
    clo_stamp_submit(job);
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
    job->submit.has_rest = !clo_outcome_is_open(&job->outcome); /* its first run may come late, or never */
    clo_outcome_open(&job->outcome);
    series->base_ns = atomic_load_explicit(&job->times.submitted, memory_order_relaxed);
    job->times.run_ns = job->times.end_ns = series->base_ns; /* as long as nothing has run */
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
        clo_eventcount_ring(&job->runtime->watchdog.eventcount);
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
    job->kind->open(job);
    /* Before the start: from there on workers of a higher priority may keep this thread from the CPU, and the job may
     * end at once, and another thread submit it again. */
    clo_watchdog_add(watchdog, job);
    clo_eventcount_ring(&watchdog->eventcount);
    if (!is_periodic)
        job->kind->start(job);
    return CLO_OK;
}

void clo_job_cancel(clo_job *job)
{
    if (job == NULL)
        return;
    clo_stop_cancel(&job->stop);
    if (job->series != NULL) /* first, as in a submit: the rest may wake workers that take our CPU */
        clo_eventcount_ring(&job->runtime->watchdog.eventcount);
    clo_capacity_let_go(job);
    clo_pending_let_go(job);
    if (job->kind->cancel != NULL && !clo_runtime_is_forked(job->runtime)) /* in a forked process nothing runs */
        job->kind->cancel(job);
}
