/* run/dispatch/fast_path.h - hands on whom an execution releases. */
#ifndef CLO_RUN_DISPATCH_FAST_PATH_H
#define CLO_RUN_DISPATCH_FAST_PATH_H

#include "run/state/job.h"
#include "run/state/worker.h"

/* Hands on what an execution of any job without a policy released; returns as clo_worker_execute. */
uint64_t clo_worker_release(clo_worker *worker, clo_job *job, uint32_t execution);

#endif
