/* end.c - how a run ends: what it leaves in its series, and what begins then. */
#include "run/job/end.h"

#include "base/clock.h"
#include "run/job/begin.h"
#include "run/job/cut.h"
#include "run/job/done.h"
#include "run/records/stamp.h"
#include "run/state/runtime.h"
#include "run/state/series.h"

/* What the run that has ended leaves in the series. */
static void account(clo_job *job, uint64_t release)
{
    clo_series *series = job->series;
    int64_t response_ns = clo_time_sub(job->times.end_ns, clo_series_due_ns(series, release));

    bool is_late = response_ns > series->deadline_ns;
    if (series->deadline_ns > 0 && clo_series_judge(series, release, is_late) && !is_late) {
        job->times.end_ns = clo_clock_ns(); /* the watchdog was first: until now nobody could see the end */
        response_ns = clo_time_sub(job->times.end_ns, clo_series_due_ns(series, release));
    }
    clo_histogram_record(&series->response_ns, response_ns);
    atomic_fetch_add_explicit(&series->finished, 1, memory_order_relaxed);
    uint64_t outcome = clo_outcome_read(&job->outcome);
    if (outcome == CLO_OUTCOME_ABORTED)
        atomic_fetch_add_explicit(&series->aborted, 1, memory_order_relaxed);
    if (clo_outcome_is_failure(outcome))
        atomic_store_explicit(&series->stopped, 1, memory_order_release);
    atomic_store_explicit(&series->ended, release + 1, memory_order_release); /* `late` before it */
}

/* A series that was stopped before its last release. */
static bool lacks_releases(const clo_job *job)
{
    const clo_series *series = job->series;

    return series->has_releases &&
           (series->releases == 0 || atomic_load_explicit(&series->released, memory_order_relaxed) +
                                             atomic_load_explicit(&series->skipped, memory_order_relaxed) <
                                         series->releases);
}

/* Nothing of the job runs: that releases were left out is said here, whatever the last run was like. Only a failure and
 * a cancellation stop a series. */
void clo_job_series_ended(clo_job *job)
{
    if (lacks_releases(job) && !clo_outcome_is_failure(clo_outcome_read(&job->outcome))) {
        clo_outcome_open(&job->outcome);
        clo_outcome_cut(&job->outcome, true);
    }
    clo_job_done(job);
}

/* Takes one run off; if it was not the last, the next one starts, or, where a policy decides, the watchdog starts it:
 * here that could end a run within a run. The runs that wait when the series is stopped are dropped one by one. */
void clo_job_run_take_off(clo_job *job)
{
    clo_series *series = job->series;
    clo_watchdog *watchdog = &job->runtime->watchdog;
    bool has_handler = series->miss != NULL;

    for (;;) { /* each turn takes one run off */
        bool is_stopped = clo_job_is_stopped(job);
        uint64_t before = atomic_fetch_sub_explicit(&series->pending, 1, memory_order_acq_rel);
        if ((before & CLO_SERIES_RUNS) == 1) { /* without the token we are the last; with it the job may be gone now */
            if ((before & CLO_SERIES_TOKEN) == 0)
                clo_job_series_ended(job);
            if (is_stopped || (has_handler && (before & CLO_SERIES_TOKEN) == 0))
                clo_eventcount_ring(&watchdog->eventcount);
            return;
        }
        if (is_stopped)
            continue;
        if (job->kind->is_watchdog_started) {
            atomic_store_explicit(&series->wants_start, 1, memory_order_release);
            clo_eventcount_ring(&watchdog->eventcount);
        } else {
            clo_job_run_arm(job, atomic_load_explicit(&series->current, memory_order_relaxed) + 1);
            job->kind->start(job);
        }
        return;
    }
}

static void stamp(clo_job *job)
{
    clo_stamp_end(job);
    if (job->ticked != NULL) {
        job->times.line.ticks2 = clo_ticks();
        job->times.line.ns2 = job->times.end_ns - job->times.run_ns;
    }
}

void clo_job_run_ended_here(clo_worker *worker, clo_job *job)
{
    if (job->series != NULL) {
        clo_job_run_ended(job);
        return;
    }
    stamp(job);
    clo_job_done_here(worker, job);
}

void clo_job_run_ended(clo_job *job)
{
    stamp(job);
    if (job->series == NULL) {
        clo_job_done(job);
    } else {
        account(job, atomic_load_explicit(&job->series->current, memory_order_relaxed));
        clo_job_run_take_off(job);
    }
}

void clo_job_count_end(clo_job *job)
{
    /* acq_rel: the last one publishes everybody's results to the waiter. */
    if (atomic_fetch_sub_explicit(&job->exits_left, 1, memory_order_acq_rel) == 1)
        clo_job_run_ended(job);
}
