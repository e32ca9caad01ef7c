/* engine/start.h - what waits in the queue of an executor begins (start.c): inline where nothing waits. For the
 * scheduler's own files. */
#ifndef CLO_ENGINE_START_H
#define CLO_ENGINE_START_H

#include "engine/books.h"

/* Nothing runs there, and nothing waits. */
static inline void clo_start_idle(clo_scheduler *scheduler, uint32_t executor)
{
    scheduler->executors[executor].free_ns = scheduler->now_ns;
    clo_start_set_free(scheduler, executor, true);
}

/* The head of the executor's queue begins, if it can. */
void clo_start_head(clo_scheduler *scheduler, uint32_t executor);
static inline void clo_start_queued(clo_scheduler *scheduler, uint32_t executor)
{
    const clo_queue *queue = &scheduler->queues[executor];

    if (queue->head != CLO_NONE || queue->lacks_capacity)
        clo_start_head(scheduler, executor);
    else if (scheduler->executors[executor].job == CLO_NONE)
        clo_start_idle(scheduler, executor);
}

#endif
