/* padded.c - the padded clock: an execution does not start before its inputs would have arrived, and is not shorter
 * than the cost model says. Times are as they happened. */
#include "base/numbers/saturate.h"
#include "run/body/body.h"
#include "run/body/job_clock.h"
#include "run/body/pacings.h"

static clo_span run(clo_worker *worker, clo_job *job, uint32_t execution)
{
    clo_engine_stats *stats = &job->stats[worker->index];
    uint32_t task = clo_program_task(job->program, execution);
    int64_t wanted_ns = clo_cost_time(job->program->cost, task, worker->index);
    clo_span span = {.ready_ns = clo_job_now_ns(job)};

    clo_job_wait_for_time(job, clo_job_arrival_ns(worker, job, execution, span.ready_ns));
    span.start_ns = clo_job_now_ns(job);
    clo_body_run(worker, job, execution, execution, 0);
    clo_job_wait_for_time(job, clo_time_add(span.start_ns, wanted_ns));
    span.finish_ns = clo_job_now_ns(job);
    stats->wanted_ns += wanted_ns;
    stats->missed_ns += span.finish_ns - span.start_ns - wanted_ns;
    return span;
}

const clo_pacing clo_pacing_padded = {
    .run = run, .pass = clo_job_pass_now, .response_ns = clo_job_response_ns, .is_emulated = true};
