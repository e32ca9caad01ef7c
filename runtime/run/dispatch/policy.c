/* policy.c - jobs of which a policy decides what is next: items come from the combiner (run/scheduler/combining.h),
 * take the general path, and their ends are news for it. */
#include "base/clock.h"
#include "base/numbers/saturate.h"
#include "run/dispatch/dispatches.h"
#include "run/dispatch/execute.h"
#include "run/dispatch/launch.h"
#include "run/scheduler/combining.h"
#include "run/state/runtime.h"
#include "run/state/series.h"

static void arm(clo_job *job, uint64_t release)
{
    const clo_scheduling *scheduling = &job->runtime->scheduling;
    int64_t origin_ns = scheduling->origin_ns, dilate = (int64_t)job->runtime->dilate;

    job->times.run_ns = clo_clock_ns(); /* a run may begin long after the submit */
    job->policy.completions = 0;
    clo_scheduler_job_arm(job->policy.scheduled);
    if (scheduling->is_virtual)
        return; /* the combiner knows the time */
    int64_t due_ns = job->series != NULL ? clo_series_due_ns(job->series, release) : job->times.run_ns;
    job->policy.arrival_ns = (job->times.run_ns - origin_ns) / dilate;
    job->policy.scheduled->live.deadline_ns =
        job->deadline_ns > 0 ? clo_time_add((due_ns - origin_ns) / dilate, job->deadline_ns) : CLO_TIME_NEVER;
}

static void start(clo_job *job)
{
    clo_job_ask(job, CLO_ASK_ARRIVE);
}

static void cancel(clo_job *job)
{
    clo_job_ask(job, CLO_ASK_CANCEL);
}

const clo_dispatch clo_dispatch_policy = {
    .run = clo_worker_run_general,
    .call = clo_worker_call,
    .release_of = clo_job_current_release,
    .numbers_events = true,
    .drops_rest = true,
    .is_watchdog_started = true,
    .complete = clo_worker_complete,
    .resume = clo_worker_resume_general,
    .arm = arm,
    .start = start,
    .open = clo_job_open,
    .release = clo_job_release,
    .close = clo_job_close,
    .cancel = cancel,
};
