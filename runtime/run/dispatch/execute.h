/* run/dispatch/execute.h - runs one item of any job. */
#ifndef CLO_RUN_DISPATCH_EXECUTE_H
#define CLO_RUN_DISPATCH_EXECUTE_H

#include "run/state/worker.h"

/* Returns the next item to run, or CLO_ITEM_NONE. The item's job may be gone afterwards. */
uint64_t clo_worker_execute(clo_worker *worker, uint64_t item);

/* clo_dispatch.run, .call, .release_of and .resume of the general path. */
uint64_t clo_worker_run_general(clo_worker *worker, clo_job *job, uint32_t execution);
int clo_worker_call(clo_worker *worker, clo_job *job, uint32_t item, int64_t expected_ns);
uint64_t clo_job_current_release(const clo_job *job, uint32_t item);
uint64_t clo_worker_resume_general(clo_worker *slot, clo_job *job, bool is_cut, int code);

/* Ends what a slot has left pending (worker->pending.is_held), and is not open now. Returns as clo_worker_execute. */
uint64_t clo_worker_resume(clo_worker *slot, bool is_cut, int code);

#endif
