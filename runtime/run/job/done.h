/* run/job/done.h - a job is done: whoever ends it, and whoever waits for that. */
#ifndef CLO_RUN_JOB_DONE_H
#define CLO_RUN_JOB_DONE_H

#include "run/state/job.h"
#include "run/state/worker.h"

/* The last touch of a job: after DONE its owner may free it, unless the watchdog has yet to settle its misses. */
void clo_job_done(clo_job *job);

/* The same by a thread that goes on as a reader of the job (sync/protocol/phase.h), of which nobody watches
 * anything. */
void clo_job_done_reading(clo_job *job);

/* The same by a worker between two items. It wakes nobody before it is idle, so that a thread that waits on its CPU
 * and displaces it can borrow it (run/threads/help.h): clo_worker_wake_waiters follows before the next body. */
void clo_job_done_here(clo_worker *worker, clo_job *job);

/* The two halves of clo_worker_wake_waiters, for a worker that becomes idle in between, and may be lent then. True:
 * somebody is to be woken, by the caller. */
static inline bool clo_worker_take_wake(clo_worker *worker)
{
    bool owes_wake = worker->deferred.owes_wake;

    worker->deferred.owes_wake = false;
    return owes_wake;
}

void clo_runtime_wake_waiters(clo_runtime *runtime);

static inline void clo_worker_wake_waiters(clo_worker *worker) /* before each item: mostly there is nothing */
{
    if (worker->deferred.owes_wake && clo_worker_take_wake(worker))
        clo_runtime_wake_waiters(worker->runtime);
}

/* Whoever waits for a job of this runtime shall look again. */
void clo_runtime_tell(clo_runtime *runtime);

/* It does not run, and its misses are reported. */
bool clo_job_is_over(const clo_job *job);

/* Whether what somebody waits for has come. */
typedef bool (*clo_ended_fn)(void *argument);

/* Until that is so: it is asked after each end of a job, and each step_ns (INT64_MAX: not so). False: the time was up
 * first. INT64_MAX: no limit. */
bool clo_runtime_wait_until(clo_runtime *runtime, int64_t until_ns, int64_t step_ns, clo_ended_fn has_ended,
                            void *argument);

/* Until the job is over. False and INT64_MAX as above. */
bool clo_job_wait_until(clo_job *job, int64_t until_ns);

#endif
