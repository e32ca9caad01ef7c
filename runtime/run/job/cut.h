/* run/job/cut.h - how a run is cut short: a body failed, its time was up, or somebody cancelled the job. The executions
 * that are left go through the same steps without their bodies. */
#ifndef CLO_RUN_JOB_CUT_H
#define CLO_RUN_JOB_CUT_H

#include "run/state/job.h"

/* The body of the execution returned this code, not 0: the rest of the run is left out. */
void clo_job_fail(clo_job *job, uint32_t execution, int code);

/* Aborts the run of that release, if it is the one that runs. */
void clo_job_abort(clo_job *job, uint64_t release);

/* For a job with a series: no further run starts. */
bool clo_job_is_stopped(const clo_job *job);

/* A body of the run was left out, because the caller has seen that the run is stopped. */
__attribute__((cold)) void clo_job_cut(clo_job *job);

#endif
