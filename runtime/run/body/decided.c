/* decided.c - the virtual clock: start and finish of an execution were decided before its worker got it, by the events
 * of the plan (run/dispatch/virtual.c) or by the combiner (run/scheduler). The body runs meanwhile, whatever it takes;
 * what is left out holds its executor all the same. */
#include "base/numbers/saturate.h"
#include "run/body/body.h"
#include "run/body/pacings.h"

static clo_span pass(const clo_worker *worker, const clo_job *job, uint32_t execution)
{
    int64_t start_ns = job->emulated.start_ns[execution];

    (void)worker;
    return (clo_span){start_ns, start_ns, job->engine->finish_ns[execution]};
}

static clo_span run(clo_worker *worker, clo_job *job, uint32_t execution)
{
    clo_body_run(worker, job, execution, execution, 0);
    return pass(worker, job, execution);
}

static int64_t response_ns(const clo_job *job)
{
    return clo_time_sub(job->emulated.last_ns, job->policy.arrival_ns);
}

const clo_pacing clo_pacing_decided = {.run = run, .pass = pass, .response_ns = response_ns, .is_emulated = true};
