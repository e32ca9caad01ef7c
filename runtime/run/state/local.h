/* run/state/local.h - items that only one worker may run: its inbox, and what it has taken of that. */
#ifndef CLO_RUN_STATE_LOCAL_H
#define CLO_RUN_STATE_LOCAL_H

#include "run/state/item.h"
#include "run/state/worker.h"

/* The next one; CLO_ITEM_NONE: there is none. The worker's own. */
static inline uint64_t clo_worker_take_local(clo_worker *worker)
{
    uint64_t item = worker->local;

    if (item == CLO_ITEM_NONE) {
        item = clo_stack_take(&worker->inbox);
        if (item == CLO_ITEM_NONE)
            return item;
    }
    worker->local = *clo_item_link(worker->runtime, item);
    return item;
}

#endif
