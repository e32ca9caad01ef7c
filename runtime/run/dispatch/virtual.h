/* run/dispatch/virtual.h - replay under the virtual clock.
 *
 * The bodies run on the workers, side by side. What happens when is the simulator's business (sim/time/timeline.h); one
 * thread at a time, the combiner (sync/structure/combining.h), drives it. An end is handled once its body has really
 * ended, and no event is handled before an earlier one. So times and waits for capacities are those of clo_simulate,
 * event for event. Each job has its own time and its own semaphores, as if it ran alone. */
#ifndef CLO_RUN_DISPATCH_VIRTUAL_H
#define CLO_RUN_DISPATCH_VIRTUAL_H

#include "run/state/job.h"
#include "run/state/virtual_time.h"
#include "run/state/worker.h"

/* Starts a run. The job may have ended, and be freed, when this returns. */
void clo_virtual_start(clo_job *job);

/* The worker has run the body of an execution. Returns the next item for this worker, or CLO_ITEM_NONE. The job may be
 * gone afterwards. */
uint64_t clo_virtual_complete(clo_worker *worker, clo_job *job, uint32_t execution);

#endif
