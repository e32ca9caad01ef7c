/* engine/scheduler/start.h - what waits in the queue of an executor begins (start.c): inline where nothing waits. For
 * the scheduler's own files. */
#ifndef CLO_ENGINE_SCHEDULER_START_H
#define CLO_ENGINE_SCHEDULER_START_H

#include "engine/state/scheduler_state.h"

/* Nothing runs there, and nothing waits. */
static inline void clo_start_idle(clo_scheduler *scheduler, uint32_t executor)
{
    scheduler->executors[executor].free_ns = scheduler->now_ns;
    clo_start_set_free(scheduler, executor, true);
}

/* The job may put `count` entries into queues: all that are free, less those that its band leaves to higher ones, so
 * that these need not wait until one of its bodies has ended. */
static inline bool clo_start_has_entries(const clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t count)
{
    return scheduler->free_entries >= count + job->live.band * scheduler->kept_entries;
}

/* The head of the executor's queue begins, if it can, and if no higher band is to be decided about: that goes first,
 * and clo_start_yielding follows. */
void clo_start_head(clo_scheduler *scheduler, uint32_t executor);
static inline void clo_start_queued(clo_scheduler *scheduler, uint32_t executor)
{
    const clo_queue *queue = &scheduler->queues[executor];

    if (queue->head != CLO_NONE || queue->lacks_capacity || queue->yields)
        clo_start_head(scheduler, executor);
    else if (scheduler->executors[executor].job == CLO_NONE)
        clo_start_idle(scheduler, executor);
}

/* Of bands from `band` on nothing goes first any more: heads of queues that have yielded to higher ones begin. True:
 * some did. */
bool clo_start_yielding(clo_scheduler *scheduler, uint32_t band);

#endif
