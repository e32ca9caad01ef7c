/* engine/scheduler/reservation.h - capacities of the machines, as the scheduler's own files ask about them: a job
 * without demands asks nobody. */
#ifndef CLO_ENGINE_SCHEDULER_RESERVATION_H
#define CLO_ENGINE_SCHEDULER_RESERVATION_H

#include "engine/state/scheduler_state.h"

bool clo_reserve_fits_demand(clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t stage, uint32_t executor);
static inline bool clo_reserve_fits(clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t stage,
                                    uint32_t executor)
{
    return job->demands == NULL || clo_reserve_fits_demand(scheduler, job, stage, executor);
}

/* True: nothing that the job has ready fits on the machine of `executor`, as its least demands and what our own
 * executions leave tell, and to ask for each stage would change nothing: somebody waits there already. */
bool clo_reserve_lacks(clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t executor);

/* False: others were quicker, and it waits. Never so in semaphores of our own, after clo_reserve_fits. */
bool clo_reserve_take_demand(clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t stage, uint32_t executor);
static inline bool clo_reserve_take(clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t stage,
                                    uint32_t executor)
{
    return job->demands == NULL || clo_reserve_take_demand(scheduler, job, stage, executor);
}

/* After the START of what was taken for: the log hears what has become of who waited there. */
void clo_reserve_tell_waiter(clo_scheduler *scheduler, uint32_t executor);
static inline void clo_reserve_tell(clo_scheduler *scheduler, uint32_t executor)
{
    if (scheduler->has_demands)
        clo_reserve_tell_waiter(scheduler, executor);
}

void clo_reserve_give_demand(clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t stage, uint32_t executor);
static inline void clo_reserve_release(clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t stage,
                                       uint32_t executor)
{
    if (job->demands != NULL)
        clo_reserve_give_demand(scheduler, job, stage, executor);
}

/* The stage, or (CLO_NONE) any stage of the job, waits no more. */
void clo_reserve_forget_waiter(clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t stage);
static inline void clo_reserve_forget(clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t stage)
{
    if (job->demands != NULL)
        clo_reserve_forget_waiter(scheduler, job, stage);
}

/* Capacity is kept for the stage that waits on the machine. */
bool clo_reserve_is_due(clo_scheduler *scheduler, uint32_t machine);
/* Nobody holds anything. */
void clo_reserve_open(clo_scheduler *scheduler);

#endif
