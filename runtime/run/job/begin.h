/* run/job/begin.h - begins a run of a job: first everything that a run needs, then its first items. */
#ifndef CLO_RUN_JOB_BEGIN_H
#define CLO_RUN_JOB_BEGIN_H

#include "run/state/job.h"

/* Makes the job ready for the run of that release, with the plan that was swapped in, if there is one. Nobody runs the
 * job. */
void clo_job_run_arm(clo_job *job, uint64_t release);

/* Hands out the first items of a job without a policy; any thread. The job may end, and be freed, as soon as the last
 * root is given away. */
void clo_job_run_distribute(clo_job *job);

#endif
