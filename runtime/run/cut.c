/* cut.c - the ways in which a run is cut short. */
#include "run/cut.h"

#include "run/capacity.h"
#include "run/pending.h"
#include "run/series.h"

void clo_job_fail(clo_job *job, uint32_t execution, int code)
{
    uint64_t none = 0;
    uint64_t failure = ((uint64_t)clo_program_task(job->program, execution) + 1) << 32 | (uint32_t)code;

    /* Release pairs with the acquire in read_status (result.c); the first error wins. */
    atomic_compare_exchange_strong_explicit(&job->failure, &none, failure, memory_order_release, memory_order_relaxed);
    clo_stop_fail(&job->stop);
    clo_capacity_let_go(job);
    clo_pending_let_go(job);
}

void clo_job_abort(clo_job *job, uint64_t release)
{
    clo_stop_abort(&job->stop, job->first_run + release);
    clo_capacity_let_go(job);
    clo_pending_let_go(job);
}

bool clo_job_is_stopped(const clo_job *job)
{
    return atomic_load_explicit(&job->series->stopped, memory_order_acquire) != 0 || clo_stop_is_cancelled(&job->stop);
}
