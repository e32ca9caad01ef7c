/* run/dispatch/execute.h - runs one item of any job. */
#ifndef CLO_RUN_DISPATCH_EXECUTE_H
#define CLO_RUN_DISPATCH_EXECUTE_H

#include "run/extras/pending.h"
#include "run/state/worker.h"

/* Returns the next item to run, or CLO_ITEM_NONE. The item's job may be gone afterwards. */
uint64_t clo_worker_execute(clo_worker *worker, uint64_t item);

/* Ends what a slot has left pending (worker->is_held) and is not open any more. Returns as clo_worker_execute. */
uint64_t clo_worker_resume(clo_worker *slot, clo_pending_state state, int code);

#endif
