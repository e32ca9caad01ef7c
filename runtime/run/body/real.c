/* real.c - the real clock: a body takes what it takes. */
#include "run/body/body.h"
#include "run/body/job_clock.h"
#include "run/body/pacings.h"

static clo_span run(clo_worker *worker, clo_job *job, uint32_t execution)
{
    uint32_t task = clo_program_task(job->program, execution);
    int64_t expected_ns = clo_cost_time(job->program->cost, task, worker->index);
    int64_t start_ns = clo_job_moment_ns(worker, job);

    clo_body_run(worker, job, execution, execution, expected_ns);
    return (clo_span){start_ns, start_ns, clo_job_moment_ns(worker, job)};
}

const clo_pacing clo_pacing_real = {.run = run, .pass = clo_job_pass_now, .response_ns = clo_job_response_ns};
