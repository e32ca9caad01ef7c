/* run/records/stamp.h - when a job was submitted and when its run ended.
 *
 * Of a plain job that nobody watches, the CPU's counter is read, since the clock would cost a short job more than
 * anything else; what is asked for later is turned into ns then, along the line from the start of the runtime. */
#ifndef CLO_RUN_RECORDS_STAMP_H
#define CLO_RUN_RECORDS_STAMP_H

#include "run/state/job.h"
#include "run/state/runtime.h"

/* The job is submitted now. */
static inline void clo_stamp_submit(clo_job *job)
{
    int64_t now = clo_job_counts_ticks(job) ? clo_ticks() : clo_clock_ns();

    atomic_store_explicit(&job->times.submitted, now, memory_order_relaxed);
}

/* Its run has ended now. */
static inline void clo_stamp_end(clo_job *job)
{
    if (clo_job_counts_ticks(job))
        job->times.end_ticks = clo_ticks();
    else
        job->times.end_ns = clo_clock_ns();
}

/* Before the phase changes: how long the run took, for clo_stamp_response_ns. */
static inline void clo_stamp_response(clo_job *job)
{
    int64_t response;

    if (clo_job_counts_ticks(job))
        response = job->times.end_ticks - atomic_load_explicit(&job->times.submitted, memory_order_relaxed);
    else
        response = job->pacing->response_ns(job);
    atomic_store_explicit(&job->times.response, response, memory_order_relaxed);
}

/* From the submit until then, of a job that counts ticks; good enough to judge bodies. */
static inline int64_t clo_stamp_length_ns(const clo_job *job, int64_t until_ticks)
{
    int64_t ticks = until_ticks - atomic_load_explicit(&job->times.submitted, memory_order_relaxed);

    return ticks * 1000 / job->runtime->ticks_in_us;
}

/* CLOCK_MONOTONIC at the submit; 0: there was none. Any thread. */
int64_t clo_stamp_submit_ns(const clo_job *job);

/* Of the last run that ended, in the job's time. Any thread. */
int64_t clo_stamp_response_ns(const clo_job *job);

/* Ticks of the counter in a us, at least 1; good enough to judge bodies. `line`: its first moment is known. */
int64_t clo_stamp_ticks_in_us(const clo_tick_line *line);

#endif
