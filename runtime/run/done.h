/* run/done.h - a job is done: whoever ends it, and whoever waits for that. */
#ifndef CLO_RUN_DONE_H
#define CLO_RUN_DONE_H

#include "run/job.h"

/* The last touch of a job: after DONE its owner may free it, unless the watchdog has yet to settle its misses. */
void clo_job_done(clo_job *job);

/* The same by a thread that goes on as a reader of the job (sync/phase.h), of which nobody watches anything. */
void clo_job_done_reading(clo_job *job);

/* Whoever waits for a job of this runtime shall look again. */
void clo_runtime_tell(clo_runtime *runtime);

/* Until the job is done and its misses are reported. False: the time was up first. INT64_MAX: no limit. */
bool clo_job_wait_until(clo_job *job, int64_t until_ns);

#endif
