/* run/job/done.h - a job is done: whoever ends it, and whoever waits for that. */
#ifndef CLO_RUN_JOB_DONE_H
#define CLO_RUN_JOB_DONE_H

#include "run/state/job.h"

/* The last touch of a job: after DONE its owner may free it, unless the watchdog has yet to settle its misses. */
void clo_job_done(clo_job *job);

/* The same by a thread that goes on as a reader of the job (sync/protocol/phase.h), of which nobody watches
 * anything. */
void clo_job_done_reading(clo_job *job);

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
