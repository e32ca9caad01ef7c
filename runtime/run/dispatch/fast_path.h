/* run/dispatch/fast_path.h - runs executions of jobs that need nothing but their bodies called. */
#ifndef CLO_RUN_DISPATCH_FAST_PATH_H
#define CLO_RUN_DISPATCH_FAST_PATH_H

#include "run/state/job.h"
#include "run/state/worker.h"

/* Runs an execution of a job that is_fast, and those that follow from it. Returns the next item to run, or
 * CLO_ITEM_NONE; then the job may be gone. */
uint64_t clo_worker_run_fast(clo_worker *worker, clo_job *job, uint32_t execution);

/* Counts one that the end of the job waits for, and was no execution that releases nothing. The job may be gone. */
void clo_worker_count_end(clo_job *job);

/* Hands on what an execution of any job without a policy released; returns as clo_worker_run_fast does. */
uint64_t clo_worker_release(clo_worker *worker, clo_job *job, uint32_t execution);

#endif
