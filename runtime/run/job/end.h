/* run/job/end.h - a run of a job has ended, or is left out. */
#ifndef CLO_RUN_JOB_END_H
#define CLO_RUN_JOB_END_H

#include "run/state/job.h"
#include "run/state/worker.h"

/* By the last worker of the run: its last touch of the job. Of a series without a policy, the next run that waits
 * begins here. */
void clo_job_run_ended(clo_job *job);

/* The same by a worker, or who has borrowed it, between two items. */
void clo_job_run_ended_here(clo_worker *worker, clo_job *job);

/* Counts one that the end of the run waits for, and was no execution that releases nothing. The job may be gone. */
void clo_job_count_end(clo_job *job);

/* The last run of a series has ended, and no other one comes. The last touch of the job, as clo_job_done. */
void clo_job_series_ended(clo_job *job);

/* Takes one run off a series, and settles what comes next: the end of the job, or the next run. */
void clo_job_run_take_off(clo_job *job);

#endif
