/* run/recorder.h - the flight recorder: each worker notes its last executions in a ring. */
#ifndef CLO_RUN_RECORDER_H
#define CLO_RUN_RECORDER_H

#include "run/job.h"
#include "run/worker.h"

/* What lies in the ring. */
typedef struct clo_recorded {
    clo_record record;
    /* Its times are ticks, not ns. */
    bool is_ticks;
} clo_recorded;

/* Notes an execution; start and finish as the job's events have them. The owner's. */
void clo_recorder_add(clo_worker *worker, const clo_job *job, uint32_t execution, int64_t start, int64_t finish);

#endif
