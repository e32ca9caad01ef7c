/* end.c - how a run ends: what it leaves in its series, and what begins then. */
#include "run/end.h"

#include "base/clock.h"
#include "run/begin.h"
#include "run/cut.h"
#include "run/done.h"
#include "run/runtime.h"
#include "run/series.h"
#include "run/stamp.h"

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
    if (has_failed)
        atomic_store_explicit(&series->stopped, 1, memory_order_release);
    atomic_store_explicit(&series->ended, release + 1, memory_order_release); /* `late` before it */
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
                clo_job_done(job);
            if (is_stopped || (has_handler && (before & CLO_SERIES_TOKEN) == 0))
                clo_bell_ring(&watchdog->bell);
            return;
        }
        if (is_stopped)
            continue;
        if (job->scheduled == NULL) {
            clo_job_run_arm(job, atomic_load_explicit(&series->current, memory_order_relaxed) + 1);
            clo_job_run_deal(job);
        } else {
            atomic_store_explicit(&series->wants_start, 1, memory_order_release);
            clo_bell_ring(&watchdog->bell);
        }
        return;
    }
}

void clo_job_run_ended(clo_job *job)
{
    clo_stamp_end(job);
    if (job->ticked != NULL) {
        job->line.ticks2 = clo_ticks();
        job->line.ns2 = job->end_ns - job->run_ns;
    }
    if (job->series == NULL) {
        clo_job_done(job);
    } else {
        account(job, atomic_load_explicit(&job->series->current, memory_order_relaxed));
        clo_job_run_take_off(job);
    }
}
