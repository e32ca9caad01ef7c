/* run/sharing/borrow.h - which jobs are helped by those who wait for them (help.h), and which worker such a thread
 * borrows. */
#ifndef CLO_RUN_SHARING_BORROW_H
#define CLO_RUN_SHARING_BORROW_H

#include "run/state/job.h"
#include "run/state/runtime.h"
#include "run/state/worker.h"

/* A job with at most so many roots is left in one place, for the thread that will wait for it. */
#define CLO_BORROW_ROOTS_MAX 8u

/* Jobs with more executions are helped only if they are quicker so (serial.h). To wake a worker costs them little, and
 * the waiting thread and a worker that is pinned to the same CPU would be in each other's way. */
#define CLO_BORROW_EXECUTIONS_MAX 256u

/* clo_runtime.helps, on the real clock, and clo_runtime.is_uniform. */
bool clo_borrow_is_on(const clo_runtime_config *config);
bool clo_borrow_is_uniform(const clo_platform *platform);

static inline bool clo_job_is_small(const clo_job *job)
{
    return job->program->executions <= CLO_BORROW_EXECUTIONS_MAX;
}

/* Jobs of which all that unshared.h knows is needed. */
static inline bool clo_job_may_be_unshared(const clo_job *job)
{
    return clo_job_counts_ticks(job) && job->program->barriers == 0;
}

/* Whoever waits for jobs like this one may run tasks of them, if they are small or quicker so; of a plan all. */
static inline bool clo_job_may_be_helped(const clo_job *job)
{
    return job->runtime->helps && job->series == NULL && job->dispatch->is_helped &&
           (!job->is_pinned || (job->waiting.serial_plan != NULL && clo_job_may_be_unshared(job)));
}

/* Then whether a run is serial is decided at its submit. */
static inline bool clo_job_is_judged(const clo_job *job)
{
    return job->is_pinned || !clo_job_is_small(job);
}

/* Who waits for this job may run tasks of it. Constant between a submit and its end. Any thread that waits asks, also
 * while another one submits and takes a new plan: of jobs that have plans nothing is read that plans change. */
static inline bool clo_job_is_helped(const clo_job *job)
{
    return clo_job_is_judged(job) ? atomic_load_explicit(&job->waiting.is_serial, memory_order_relaxed) != 0
                                  : clo_job_may_be_helped(job);
}

/* The calling thread's CPU, for the moment; -1: unknown. */
int32_t clo_borrow_cpu(void);

/* Executors that differ are tied to their CPUs: the calling thread may stand in for this worker. */
bool clo_borrow_suits(const clo_runtime *runtime, const clo_worker *worker);

/* The worker that the calling thread would borrow now, if any: there its job is best left. `lately`: a hint. */
uint32_t clo_borrow_place(const clo_runtime *runtime, uint32_t lately);

/* Borrows a worker that is asleep or idle (sync/sleep/park.h) for the job; NULL: there is none, or its executor differs
 * from others and the calling thread is on another CPU. */
clo_worker *clo_borrow_take(clo_job *job);

#endif
