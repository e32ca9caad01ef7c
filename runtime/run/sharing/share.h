/* run/sharing/share.h - lets others have items of a worker's deque. All calls are the owner's. */
#ifndef CLO_RUN_SHARING_SHARE_H
#define CLO_RUN_SHARING_SHARE_H

#include "run/sharing/share_rule.h"
#include "run/state/runtime.h"
#include "run/state/worker.h"

/* Puts an item into the worker's own deque; if that is full, half of it goes to the shared pool first. */
void clo_worker_push(clo_worker *worker, uint64_t item);

/* Puts a chain of items, which nobody else can see, on a shared pool of any worker. */
void clo_worker_put_back(clo_worker *worker, clo_stack *list, uint64_t chain);

/* Before a wait of unknown length: others may have all that is in the deque. */
void clo_worker_share_all(clo_worker *worker);

/* The rest of clo_worker_look_up, where there is something to do. */
void clo_worker_share(clo_worker *worker, int64_t next_ns, uint32_t asked);
void clo_worker_keep_fed(clo_worker *worker);
void clo_worker_stop_feeding(clo_worker *worker);

static inline bool clo_worker_is_slow(const clo_worker *worker, int64_t next_ns)
{
    return clo_share_is_slow(worker->pace.task_time_ns, next_ns);
}

/* Before each body: items that wait in the worker's deque are put on its shared pool if somebody has nothing to do, or
 * if the body is long, since meanwhile nobody else could get at them. Costs two loads of lines that are seldom
 * written. */
static inline void clo_worker_look_up(clo_worker *worker, int64_t next_ns)
{
    if (clo_deque_count(&worker->deque) == 0) {
        if (worker->feeding.feeds > 0 && clo_worker_is_slow(worker, next_ns))
            clo_worker_stop_feeding(worker);
        return;
    }
    uint32_t asked = atomic_load_explicit(&worker->asked, memory_order_relaxed);
    if (asked != 0 || clo_worker_is_slow(worker, next_ns) ||
        atomic_load_explicit(&worker->runtime->sleepers, memory_order_relaxed) != 0)
        clo_worker_share(worker, next_ns, asked);
    else if (worker->feeding.feeds > 0)
        clo_worker_keep_fed(worker);
}

#endif
