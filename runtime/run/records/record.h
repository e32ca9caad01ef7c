/* run/records/record.h - what the workers noted of a run, as times. */
#ifndef CLO_RUN_RECORDS_RECORD_H
#define CLO_RUN_RECORDS_RECORD_H

#include "run/state/job.h"

/* How many events the job has room for. */
size_t clo_job_events(const clo_job *job);

/* ns of what a worker has summed up in `busy`. */
int64_t clo_job_busy_ns(const clo_job *job, int64_t busy);

#endif
