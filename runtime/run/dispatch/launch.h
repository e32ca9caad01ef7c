/* run/dispatch/launch.h - starts runs of any job, for submit and the watchdog. */
#ifndef CLO_RUN_DISPATCH_LAUNCH_H
#define CLO_RUN_DISPATCH_LAUNCH_H

#include "run/state/job.h"

/* Makes the job ready for the run of that release and starts it. The job may have ended, and be freed, when this
 * returns. */
void clo_job_run_start(clo_job *job, uint64_t release);

/* Of a series: starts the run after the one that ended last, or leaves it out if the series was stopped. */
void clo_job_run_next(clo_job *job);

/* The run of that release, if it has not ended, is cut short. */
void clo_job_run_abort(clo_job *job, uint64_t release);

/* Of clo_dispatch, where one run of the series follows the other. */
void clo_job_open(clo_job *job);
void clo_job_release(clo_job *job, uint64_t number, int64_t late_ns);
void clo_job_close(clo_job *job, uint64_t count);

#endif
