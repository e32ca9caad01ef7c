/* run/records/recorder.h - the flight recorder: each worker notes its last executions in a ring. */
#ifndef CLO_RUN_RECORDS_RECORDER_H
#define CLO_RUN_RECORDS_RECORDER_H

#include "base/numbers/rng.h"
#include "run/state/job.h"
#include "run/state/worker.h"

/* What lies in the ring. */
typedef struct clo_recorded {
    clo_release_record noted;

    /* Its times are ticks, else ns of the clock. */
    bool is_ticks;
} clo_recorded;

/* Whether to note the execution that begins, or has just ended. Once for each; the owner's. */
static inline bool clo_recorder_takes(clo_worker *worker)
{
    if (worker->recorder.ring.slots == NULL)
        return false;
    if (worker->recorder.passes > 0) {
        worker->recorder.passes--;
        return false;
    }
    if (worker->recorder.every > 1) /* not each n-th: tasks of a graph may come round as often */
        worker->recorder.passes = clo_rng_below(&worker->rng, 2 * worker->recorder.every - 1);
    return true;
}

/* Notes the execution of an item. start, finish: ticks on the fast path, else ns since the run began. The owner's. */
void clo_recorder_add(clo_worker *worker, const clo_job *job, uint32_t item, int64_t start, int64_t finish);

#endif
