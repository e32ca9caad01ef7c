/* job_clock.c - see job_clock.h. */
#define _POSIX_C_SOURCE 200809L
#include "run/body/job_clock.h"

#include <sched.h>
#include <time.h>

#define SLEEP_SLACK_NS 60000
#define SLEEP_LONGEST_NS 50000000 /* of a stretched wait in one piece: a job that is stopped ends soon */

int64_t clo_job_moment_ns(const clo_worker *worker, const clo_job *job)
{
    return clo_job_keeps_clock(worker, job) ? clo_job_now_ns(job) : 0;
}

clo_span clo_job_pass_now(const clo_worker *worker, const clo_job *job, uint32_t execution)
{
    int64_t now_ns = clo_job_moment_ns(worker, job);

    (void)execution;
    return (clo_span){now_ns, now_ns, now_ns};
}

int64_t clo_job_response_ns(const clo_job *job)
{
    return (job->times.end_ns - job->times.run_ns) / (int64_t)job->runtime->dilate;
}

int64_t clo_job_wall_ns(const clo_job *job, int64_t when_ns)
{
    int64_t dilate = (int64_t)job->runtime->dilate, most_ns = (INT64_MAX - job->times.run_ns) / dilate;

    return job->times.run_ns + (when_ns < most_ns ? when_ns : most_ns) * dilate;
}

/* Sleeps until then, to the timer's precision; wakes up early only if the job is stopped. */
static void sleep_until(const clo_job *job, int64_t wall_until_ns)
{
    for (int64_t now_ns; (now_ns = clo_clock_ns()) < wall_until_ns;) { /* time passes */
        int64_t left_ns = wall_until_ns - now_ns;
        int64_t until_ns = now_ns + (left_ns < SLEEP_LONGEST_NS ? left_ns : SLEEP_LONGEST_NS);
        struct timespec at = {(time_t)(until_ns / 1000000000), (long)(until_ns % 1000000000)};
        if (clo_stop_is_set(&job->stop))
            return;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
    }
}

/* Spins. With more workers than CPUs the others must run meanwhile: this one sleeps, but for the last SLEEP_SLACK_NS,
 * which a timer cannot hit. Stretched time makes that slack small: it sleeps to the end. */
void clo_job_wait_for_time(const clo_job *job, int64_t when_ns)
{
    if (job->runtime->dilate > 1) {
        sleep_until(job, clo_job_wall_ns(job, when_ns));
        return;
    }
    for (int64_t left_ns; (left_ns = when_ns - clo_job_now_ns(job)) > 0;) { /* time passes */
        if (!job->runtime->is_oversubscribed) {
            clo_relax();
        } else if (left_ns > SLEEP_SLACK_NS) {
            struct timespec pause = {0, (long)(left_ns < 500000000 ? left_ns - SLEEP_SLACK_NS : 500000000)};
            nanosleep(&pause, NULL);
        } else {
            sched_yield();
        }
    }
}

int64_t clo_job_arrival_ns(const clo_worker *worker, const clo_job *job, uint32_t execution, int64_t now_ns)
{
    int64_t alone_ns = clo_engine_arrival_ns(job->engine, execution, worker->index, now_ns);
    int64_t shared_ns = job->emulated.ports_ready_ns != NULL ? job->emulated.ports_ready_ns[execution] : 0;

    return shared_ns > alone_ns ? shared_ns : alone_ns;
}
