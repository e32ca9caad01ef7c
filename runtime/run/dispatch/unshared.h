/* run/dispatch/unshared.h - a job that one thread has to itself: it was left for the thread that waits for it
 * (deferred.h), and nothing of it is visible to anybody else. It is small, or its run is serial (serial.h).
 *
 * So counters are plain, ends are not counted, and an item costs its body and little else. Once more is ready than the
 * thread should run by itself, or somebody calls for the worker that it has borrowed, the rest of the run takes the
 * general path: whoever gets an item from then on finds all that was done before it. */
#ifndef CLO_RUN_DISPATCH_UNSHARED_H
#define CLO_RUN_DISPATCH_UNSHARED_H

#include "run/state/job.h"
#include "run/state/worker.h"

/* Runs the item, those in the worker's deque, and what they release; of a job that may be run so
 * (clo_job_may_be_unshared). CLO_ITEM_NONE: all of the run is done, but for clo_unshared_end; else with this item the
 * general path goes on. */
uint64_t clo_unshared_run(clo_worker *worker, clo_job *job, uint64_t item);

/* The run is over; the caller is a reader of the job (sync/protocol/phase.h). */
void clo_unshared_end(clo_worker *worker, clo_job *job);

#endif
