/* run/extras/capacity.h - items that wait for capacities of a machine.
 *
 * They hold no executor: the worker goes on with other items. One that only one worker may run (replay) waits in
 * that worker's own line; one that anybody may run (steal) in the line of the machine, from which whoever finds it
 * first takes it. Whenever the machine's semaphore reports that somebody may fit, and whenever a job is stopped, those
 * who have such lines look through them, oldest first. Items of a stopped job need no capacity and leave at once. */
#ifndef CLO_RUN_EXTRAS_CAPACITY_H
#define CLO_RUN_EXTRAS_CAPACITY_H

#include "run/state/job.h"
#include "run/state/runtime.h"
#include "run/state/worker.h"

/* True: the item may run; *holds: it holds what it demands, and clo_capacity_leave follows (if its job is stopped, it
 * needs nothing). False: it waits in a line and is not the caller's any more. */
bool clo_capacity_enter(clo_worker *worker, uint64_t item, bool *holds);

/* The execution, which held what it demands, is over. */
void clo_capacity_leave(clo_worker *worker, const clo_job *job, uint32_t execution);

/* True: it holds what it demands, and clo_capacity_leave follows. It does not wait for it. */
bool clo_capacity_try(clo_worker *worker, const clo_job *job, uint32_t execution);

/* An item that has waited and may run now, on this worker and at once, or the hedge that was put into its mailbox;
 * CLO_ITEM_NONE: none. */
uint64_t clo_capacity_next(clo_worker *worker);

/* The machine's semaphore reports: who waits there may fit. The scheduler's own items never wait here: it takes what
 * they demand before it hands them out, and is told if `tells_scheduler`. Any thread. */
void clo_capacity_report(clo_runtime *runtime, clo_machine *machine, bool tells_scheduler);

/* The job has been stopped: what waits of it is to leave the lines. Any thread. */
void clo_capacity_let_go(const clo_job *job);

/* True if clo_capacity_next may find something. */
static inline bool clo_capacity_is_called(const clo_worker *worker)
{
    return atomic_load_explicit(&worker->is_called, memory_order_relaxed) != 0 ||
           atomic_load_explicit(&worker->machine->is_called, memory_order_relaxed) != 0;
}

#endif
