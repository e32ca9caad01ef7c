/* run/sharing/deferred.h - short jobs that are left for the thread that submitted them and will wait for them (help.h).
 *
 * Such a job lies nowhere but in a note with the parker of some worker that sleeps or is idle (sync/sleep/park.h): its
 * roots are in no list, and nothing of it is visible to others. Who waits takes the note and borrows the worker in one
 * step. For every note some worker looks for work (sync/sleep/searching.h), or has been woken: an idle worker takes
 * what it has seen there before while no job has ended since. If neither is possible, or that worker has found
 * something else to do, the roots go to the shared pools, where everybody finds them. */
#ifndef CLO_RUN_SHARING_DEFERRED_H
#define CLO_RUN_SHARING_DEFERRED_H

#include "run/state/job.h"
#include "run/state/runtime.h"
#include "run/state/worker.h"

/* Leaves the job, and sees to it that somebody will run it. */
void clo_deferred_put(clo_job *job);

/* The roots of a job whose items may run on one worker each go to these. The job may end, and be freed, as soon as the
 * last one is given away. */
void clo_deferred_send_roots(clo_job *job);

/* Who waits for the job: it lies still where it was left, and is the caller's from now on, with a worker that the
 * caller has borrowed. NULL: it does not. */
clo_worker *clo_deferred_claim(clo_job *job);

/* Puts the roots of the job of this note, which the caller has taken, into the deque of the worker, but for the first:
 * that is returned. Those of a planned job go to their workers; what is returned then is the next item of this worker
 * alone, CLO_ITEM_NONE: there is none. The worker's owner or borrower. */
uint64_t clo_deferred_unpack(clo_worker *worker, uint32_t note);

/* An idle worker, awake or lent: a root of a job that was left for a while; the others go to its deque. CLO_ITEM_NONE:
 * nothing. With `now` (awake) whatever there is. *is_lent becomes false if the job was left with this very worker,
 * which is awake then; what was left elsewhere and is found by a lent one goes to a shared pool. */
uint64_t clo_deferred_take(clo_worker *worker, bool now, bool *is_lent);

/* Everything that is left goes to the shared pools. */
void clo_deferred_publish(clo_runtime *runtime);

/* Moves whenever a job ends. */
uint64_t clo_deferred_ends(const clo_runtime *runtime);

#endif
