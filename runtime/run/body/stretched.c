/* stretched.c - the padded clock where it is stretched, under a plan: start and end are the moments that the order of
 * the plan and the inputs allow, and the timer is set to them.
 *
 * What a worker wakes up late counts as missed, but what follows keeps its moments and catches up; a job that never
 * does ends late by the clock. A body that takes longer than its task takes that long. Where machines have capacities
 * or a policy decides, moments are as they happened (padded.c): a task may not start before others let it. */
#include "base/numbers/saturate.h"
#include "run/body/body.h"
#include "run/body/job_clock.h"
#include "run/body/pacings.h"

/* Since when its worker has been free, rounded up: another job's time may be in between. */
static int64_t free_ns(const clo_worker *worker, const clo_job *job)
{
    int64_t left_ns = worker->padded_until_ns - job->times.run_ns;

    return left_ns > 0 ? (left_ns - 1) / (int64_t)job->runtime->dilate + 1 : 0;
}

static clo_span run(clo_worker *worker, clo_job *job, uint32_t execution)
{
    clo_engine_stats *stats = &job->stats[worker->index];
    int64_t dilate = (int64_t)job->runtime->dilate, ready_ns = job->events != NULL ? clo_job_now_ns(job) : 0;
    int64_t wanted_ns = clo_cost_time(job->program->cost, clo_program_task(job->program, execution), worker->index);
    int64_t start_ns = clo_job_arrival_ns(worker, job, execution, free_ns(worker, job));
    int64_t finish_ns = clo_time_add(start_ns, wanted_ns);

    clo_job_wait_for_time(job, start_ns);
    int64_t begun_ns = clo_clock_ns();
    clo_body_run(worker, job, execution, execution, 0);
    int64_t took_ns = (clo_clock_ns() - begun_ns + dilate - 1) / dilate;
    if (took_ns > wanted_ns)
        finish_ns = start_ns + took_ns;
    worker->padded_until_ns = clo_job_wall_ns(job, finish_ns);
    clo_job_wait_for_time(job, finish_ns);
    stats->wanted_ns += wanted_ns;
    stats->missed_ns += clo_job_now_ns(job) - start_ns - wanted_ns;
    return (clo_span){ready_ns < start_ns ? ready_ns : start_ns, start_ns, finish_ns};
}

/* When its inputs are there, as if it ran. */
static clo_span pass(const clo_worker *worker, const clo_job *job, uint32_t execution)
{
    int64_t at_ns = clo_engine_arrival_ns(job->engine, execution, worker->index, free_ns(worker, job));

    return (clo_span){at_ns, at_ns, at_ns};
}

const clo_pacing clo_pacing_stretched = {
    .run = run, .pass = pass, .response_ns = clo_job_response_ns, .is_emulated = true};
