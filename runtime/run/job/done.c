/* done.c - the end of a job meets those who wait for it: they sleep on one futex word of the runtime. */
#include "run/job/done.h"

#include "base/clock.h"
#include "base/numbers/saturate.h"
#include "run/records/stamp.h"
#include "run/state/runtime.h"
#include "run/state/series.h"

/* True: somebody sleeps, or is about to. */
static bool move_epoch(clo_runtime *runtime)
{
    /* seq_cst: either we see the waiter, or it sees the new epoch (two locations, see clo_runtime_wait_until). */
    atomic_fetch_add_explicit(&runtime->done_epoch, 1, memory_order_seq_cst);
    return atomic_load_explicit(&runtime->waiters, memory_order_seq_cst) > 0;
}

void clo_runtime_tell(clo_runtime *runtime)
{
    if (move_epoch(runtime))
        clo_runtime_wake_waiters(runtime);
}

void clo_job_done(clo_job *job)
{
    clo_runtime *runtime = job->runtime;

    clo_stamp_response(job);
    clo_phase_end(&job->phase);
    clo_runtime_tell(runtime);
}

void clo_job_done_here(clo_worker *worker, clo_job *job)
{
    clo_runtime *runtime = worker->runtime;

    if (!runtime->helps || runtime->spin_ns == 0 || worker->serving.thread != NULL) { /* it is not idle before it sleeps */
        clo_job_done(job);
        return;
    }
    clo_stamp_response(job);
    clo_phase_end(&job->phase);
    worker->deferred.owes_wake |= move_epoch(runtime);
}

void clo_runtime_wake_waiters(clo_runtime *runtime)
{
    clo_futex_wake_all(&runtime->done_epoch);
}

void clo_job_done_reading(clo_job *job)
{
    clo_runtime *runtime = job->runtime;

    clo_stamp_response(job);
    clo_phase_end_reading(&job->phase);
    /* seq_cst: either we see the waiter, or it sees the end (two locations, waiters and phase). */
    if (atomic_load_explicit(&runtime->waiters, memory_order_seq_cst) > 0)
        clo_runtime_tell(runtime);
}

static bool is_over(const clo_job *job)
{
    if (!clo_phase_is_done(&job->phase))
        return false;
    return job->series == NULL || job->series->miss == NULL ||
           atomic_load_explicit(&job->series->is_settled, memory_order_acquire) != 0;
}

static bool job_is_over(void *job)
{
    return is_over(job);
}

bool clo_job_is_over(const clo_job *job)
{
    return clo_phase_get(&job->phase) == CLO_PHASE_IDLE || is_over(job);
}

bool clo_runtime_wait_until(clo_runtime *runtime, int64_t until_ns, int64_t step_ns, clo_ended_fn has_ended,
                            void *argument)
{
    bool is_so;

    /* seq_cst with clo_runtime_tell and clo_job_done_reading: two locations, waiters and done_epoch or phase. */
    atomic_fetch_add_explicit(&runtime->waiters, 1, memory_order_seq_cst);
    for (;;) { /* every end of a job moves the epoch */
        uint32_t epoch = atomic_load_explicit(&runtime->done_epoch, memory_order_seq_cst);
        is_so = has_ended(argument);
        if (is_so || (until_ns != INT64_MAX && clo_clock_ns() >= until_ns))
            break;
        int64_t next_ns = step_ns != INT64_MAX ? clo_time_add(clo_clock_ns(), step_ns) : INT64_MAX;
        clo_futex_wait_until(&runtime->done_epoch, epoch, next_ns < until_ns ? next_ns : until_ns);
    }
    atomic_fetch_sub_explicit(&runtime->waiters, 1, memory_order_relaxed);
    return is_so;
}

bool clo_job_wait_until(clo_job *job, int64_t until_ns)
{
    return clo_job_is_over(job) || clo_runtime_wait_until(job->runtime, until_ns, INT64_MAX, job_is_over, job);
}
