/* bind.c - executors and the jobs that they are bound to. An executor is bound to the job whose instances it runs, or
 * that a policy has sent it to; that a job has ended is seen by its number. */
#include "engine/state/scheduler_state.h"

#include <assert.h>

/* The job that the executor is bound to; NULL: none that lives. */
static clo_scheduler_job *home_of(const clo_scheduler *scheduler, const clo_live_executor *row, uint32_t slot)
{
    clo_scheduler_job *job = slot != CLO_NONE ? scheduler->jobs[slot] : NULL;

    return job != NULL && job->live.id == row->home ? job : NULL;
}

void clo_bind_none(clo_scheduler *scheduler, uint32_t executor)
{
    clo_live_executor *row = &scheduler->executors[executor];
    clo_scheduler_job *job = home_of(scheduler, row, scheduler->home_slot[executor]);

    if (job != NULL) {
        assert(job->live.bound > 0);
        job->live.bound--;
    }
    scheduler->home_slot[executor] = CLO_NONE;
    row->home = UINT64_MAX;
    row->last_stage = CLO_NONE;
}

void clo_bind(clo_scheduler *scheduler, uint32_t executor, clo_scheduler_job *job)
{
    clo_bind_none(scheduler, executor);
    scheduler->home_slot[executor] = job->slot;
    scheduler->executors[executor].home = job->live.id;
    job->live.bound++;
}
