/* run/dispatch/launch.h - starts a run of any job, with a policy or without; for submit and the watchdog. */
#ifndef CLO_RUN_DISPATCH_LAUNCH_H
#define CLO_RUN_DISPATCH_LAUNCH_H

#include "run/state/job.h"

/* Starts the run for which the job was made ready (clo_job_run_arm). The job may have ended, and be freed, when this
 * returns. */
void clo_job_run_go(clo_job *job);

/* Makes the job ready for the run of that release and starts it. The job may have ended, and be freed, when this
 * returns. */
void clo_job_run_start(clo_job *job, uint64_t release);

/* Of a series: starts the run after the one that ended last, or leaves it out if the series was stopped. */
void clo_job_run_next(clo_job *job);

#endif
