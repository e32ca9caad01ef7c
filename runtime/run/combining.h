/* run/combining.h - policy dispatch: one thread at a time is the combiner, and handles what all others have posted. */
#ifndef CLO_RUN_COMBINING_H
#define CLO_RUN_COMBINING_H

#include "run/job.h"
#include "run/worker.h"

/* Starts a run of a job with a policy; any thread but the combiner. The job may have ended, and be freed,
 * when this returns. */
void clo_job_start_turn(clo_job *job);

/* Posts that the worker has run an execution; takes the turn if nobody has it. Returns the next item for this worker,
 * or CLO_ITEM_NONE. The job may be gone afterwards. */
uint64_t clo_worker_complete(clo_worker *worker, clo_job *job, uint32_t execution);

#endif
