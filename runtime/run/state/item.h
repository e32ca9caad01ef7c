/* run/state/item.h - items: how work travels. An item is (job slot << 32 | execution).
 *
 * It is in exactly one place: a deque, a stack, a mailbox, a line of those that wait for capacities, or a worker's own
 * variables. Items of replay and policy jobs, and of tasks that cannot run everywhere, belong to one worker and go to
 * its inbox; all others may be taken by anybody, once they lie on a shared pool. */
#ifndef CLO_RUN_STATE_ITEM_H
#define CLO_RUN_STATE_ITEM_H

#include "run/state/job.h"
#include "run/state/runtime.h"

static inline uint64_t clo_item(const clo_job *job, uint32_t execution)
{
    return (uint64_t)job->slot << 32 | execution;
}

static inline clo_job *clo_item_job(const clo_runtime *runtime, uint64_t item)
{
    return runtime->jobs[item >> 32];
}

/* Where the chain that the item is in goes on. */
static inline uint64_t *clo_item_link(const clo_runtime *runtime, uint64_t item)
{
    return &clo_item_job(runtime, item)->links[(uint32_t)item];
}

/* What a worker shows of the body it runs: like an item, but of the task. */
static inline uint64_t clo_task_shown(const clo_job *job, uint32_t task)
{
    return (uint64_t)job->slot << 32 | task;
}

#endif
