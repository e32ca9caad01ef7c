/* cut.c - the ways in which a run is cut short. */
#include "run/job/cut.h"

#include "run/extras/capacity.h"
#include "run/extras/pending.h"
#include "run/state/series.h"

void clo_job_fail(clo_job *job, uint32_t execution, int code)
{
    clo_outcome_fail(&job->outcome, clo_program_task(job->program, execution), code);
    clo_stop_fail(&job->stop);
    clo_capacity_let_go(job);
    clo_pending_let_go(job);
}

void clo_job_cut(clo_job *job)
{
    if (clo_outcome_is_open(&job->outcome))
        clo_outcome_cut(&job->outcome, clo_stop_was_cancelled(&job->stop));
}

void clo_job_abort(clo_job *job, uint64_t release)
{
    clo_stop_abort(&job->stop, job->submit.first_run + release);
    clo_capacity_let_go(job);
    clo_pending_let_go(job);
}

bool clo_job_is_stopped(const clo_job *job)
{
    return atomic_load_explicit(&job->series->stopped, memory_order_acquire) != 0 || clo_stop_is_cancelled(&job->stop);
}
