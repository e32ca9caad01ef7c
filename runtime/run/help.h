/* run/help.h - a thread that waits for a short job helps: it borrows what a sleeping worker has (sync/park.h) and runs
 * tasks of the job as that worker, which sleeps on. So a job that one thread submits and waits for needs neither a
 * wake-up on its way out nor one on its way back.
 *
 * The thread runs tasks of its own job only: a body of another job could take long, or wait for this very thread. It
 * gives the worker back when the job is over, when there has been nothing to do for spin_ns, and when somebody calls
 * for the worker on behalf of other jobs. Only jobs that the fast path runs and whose tasks may run anywhere are
 * helped, without periods, policies or plans; only clo_job_wait helps, not waits with a time limit; and threads that
 * are workers or watchdogs, of any runtime, never do. */
#ifndef CLO_RUN_HELP_H
#define CLO_RUN_HELP_H

#include "run/job.h"
#include "run/runtime.h"

/* A job with at most so many roots is left in one place, for the thread that will wait for it. */
#define CLO_HELP_ROOTS_MAX 8u

/* clo_runtime.helps and clo_runtime.is_uniform. */
bool clo_help_is_on(const clo_runtime_config *config);
bool clo_help_is_uniform(const clo_platform *platform);

/* Who waits for this job may run tasks of it. Constant between a submit and its end. */
static inline bool clo_job_is_helped(const clo_job *job)
{
    return job->runtime->helps && !job->is_pinned && job->series == NULL && job->is_fast;
}

/* Runs tasks of the job on the calling thread, if it may. The job need not be over afterwards. */
void clo_job_help(clo_job *job);

/* The worker on whose public list the calling thread's next job is best put. */
uint32_t clo_help_place(const clo_runtime *runtime);

#endif
