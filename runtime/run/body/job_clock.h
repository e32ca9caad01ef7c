/* run/body/job_clock.h - a job's own time: ns since its run began, stretched where the runtime's clock is. */
#ifndef CLO_RUN_BODY_JOB_CLOCK_H
#define CLO_RUN_BODY_JOB_CLOCK_H

#include "base/clock.h"
#include "run/state/job.h"
#include "run/state/runtime.h"
#include "run/state/worker.h"

/* Since the run began. */
static inline int64_t clo_job_now_ns(const clo_job *job)
{
    int64_t passed_ns = clo_clock_ns() - job->times.run_ns;

    return job->runtime->dilate > 1 ? passed_ns / (int64_t)job->runtime->dilate : passed_ns;
}

/* Somebody wants to know when things happen. */
static inline bool clo_job_keeps_clock(const clo_worker *worker, const clo_job *job)
{
    return job->events != NULL || job->engine->is_timed || worker->recorder.ring.slots != NULL;
}

/* Now, or 0 where nobody wants to know; as clo_pacing.pass, of something that takes no time. */
int64_t clo_job_moment_ns(const clo_worker *worker, const clo_job *job);
clo_span clo_job_pass_now(const clo_worker *worker, const clo_job *job, uint32_t execution);

/* clo_pacing.response_ns where times are kept by the clock. */
int64_t clo_job_response_ns(const clo_job *job);

/* The moment of the job's time on CLOCK_MONOTONIC. */
int64_t clo_job_wall_ns(const clo_job *job, int64_t when_ns);

/* Returns when the job's time has come, or, stretched, as soon as the job is stopped. */
void clo_job_wait_for_time(const clo_job *job, int64_t when_ns);

/* When the inputs of an execution are there, not before now_ns; the clock follows the cost model. */
int64_t clo_job_arrival_ns(const clo_worker *worker, const clo_job *job, uint32_t execution, int64_t now_ns);

#endif
