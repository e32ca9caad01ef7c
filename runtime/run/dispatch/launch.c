/* launch.c - starts runs of any job, and the releases of a series whose runs follow one another. */
#include "run/dispatch/launch.h"

#include "run/extras/miss.h"
#include "run/job/begin.h"
#include "run/job/cut.h"
#include "run/job/end.h"
#include "run/state/series.h"

void clo_job_run_start(clo_job *job, uint64_t release)
{
    clo_job_run_arm(job, release);
    job->kind->start(job);
}

void clo_job_run_next(clo_job *job)
{
    clo_series *series = job->series;

    if (clo_job_is_stopped(job))
        clo_job_run_take_off(job);
    else
        clo_job_run_start(job, atomic_load_explicit(&series->current, memory_order_relaxed) + 1);
}

void clo_job_run_abort(clo_job *job, uint64_t release)
{
    clo_job_abort(job, release);
    if (job->kind->cancel != NULL)
        job->kind->cancel(job);
}

void clo_job_open(clo_job *job)
{
    if (job->series->period_ns == 0)
        clo_job_run_arm(job, 0);
}

void clo_job_release(clo_job *job, uint64_t number, int64_t late_ns)
{
    clo_series *series = job->series;
    bool is_running = clo_series_runs(series) > 0;

    if (is_running && series->on_miss == CLO_MISS_SKIP) {
        series->skip[number % CLO_SERIES_LATE] = number + 1;
        atomic_fetch_add_explicit(&series->skipped, 1, memory_order_relaxed);
        clo_miss_report(job, (clo_miss){CLO_MISS_RELEASE, CLO_NONE, CLO_NONE, number, 0, late_ns});
        return;
    }
    if (is_running && series->on_miss == CLO_MISS_ABORT)
        clo_job_run_abort(job, atomic_load_explicit(&series->current, memory_order_relaxed));
    /* acq_rel: takes over from the worker that ended the run before, hands over to the one that ends the next. */
    uint64_t before = atomic_fetch_add_explicit(&series->pending, 1, memory_order_acq_rel);
    if ((before & CLO_SERIES_RUNS) != 0)
        return;
    if (clo_job_is_stopped(job)) /* again: the run before may have failed since */
        clo_job_run_take_off(job);
    else
        clo_job_run_start(job, number);
}

void clo_job_close(clo_job *job, uint64_t count)
{
    (void)count;
    uint64_t before = atomic_fetch_and_explicit(&job->series->pending, ~CLO_SERIES_TOKEN, memory_order_acq_rel);
    if ((before & CLO_SERIES_RUNS) == 0)
        clo_job_series_ended(job);
}
