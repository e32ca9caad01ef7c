/* begin.c - what a run of a job begins with. */
#include "run/job/begin.h"

#include "base/clock.h"
#include "base/numbers/saturate.h"
#include "run/job/job_body.h"
#include "run/sharing/borrow.h"
#include "run/sharing/deferred.h"
#include "run/sharing/owner.h"
#include "run/sharing/serial.h"
#include "run/sharing/wake.h"
#include "run/state/item.h"
#include "run/state/pair.h"
#include "run/state/series.h"
#include "run/state/worker.h"

#include <string.h>

/* Plain and relaxed stores: the push of the first item publishes them all. */
static void reset(clo_job *job, uint64_t release)
{
    clo_engine_begin(job->engine,
                     job->kind->drops_rest && (job->submit.has_rest || !clo_outcome_is_open(&job->outcome)));
    job->submit.has_rest = false;
    for (uint32_t execution = 0; job->events != NULL && execution < job->program->executions; execution++)
        if (job->dispatch->is_ticked) /* not executed */
            job->ticked[execution].executor = CLO_NONE;
        else
            job->events[execution].executor = CLO_NONE;
    atomic_store_explicit(&job->exits_left, job->program->exits + clo_pairs_begin(job), memory_order_relaxed);
    clo_outcome_open(&job->outcome);
    clo_stop_begin(&job->stop, job->submit.first_run + release);
}

void clo_job_run_arm(clo_job *job, uint64_t release)
{
    clo_series *series = job->series;

    clo_job_adopt(job);
    if (series == NULL && clo_job_is_judged(job))
        clo_serial_decide(job); /* of the plan that runs now */
    reset(job, release);
    /* A submit has just read the clock; and of one run the deadline counts from there. */
    bool is_periodic = series != NULL && series->period_ns > 0;
    job->times.run_ns =
        is_periodic ? clo_clock_ns() : atomic_load_explicit(&job->times.submitted, memory_order_relaxed);
    if (job->kind->arm != NULL)
        job->kind->arm(job, release);
    if (job->ticked != NULL)
        job->times.line = (clo_tick_line){.ticks = clo_ticks()};
    if (series != NULL) {
        atomic_store_explicit(&series->current, release, memory_order_relaxed);
        atomic_store_explicit(&series->is_first, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&series->released, 1, memory_order_relaxed);
    }
}

/* Anybody may run these: each worker's shared pool gets one stretch of them, in one piece. */
static void distribute_roots(clo_job *job)
{
    clo_runtime *runtime = job->runtime;
    const clo_program *program = job->program;
    uint32_t workers = runtime->workers_count, roots = program->roots_count;
    bool is_helped = clo_job_is_helped(job); /* it may be gone in the end */

    for (uint32_t w = 0; w < workers; w++) {
        uint32_t first = (uint32_t)((uint64_t)roots * w / workers),
                 end = (uint32_t)((uint64_t)roots * (w + 1) / workers);
        if (first == end)
            continue;
        for (uint32_t i = first; i + 1 < end; i++)
            job->links[program->roots[i]] = clo_item(job, program->roots[i + 1]);
        clo_stack_push(&runtime->workers[w].shared_pool, clo_item(job, program->roots[first]),
                       &job->links[program->roots[end - 1]]);
    }
    (void)clo_runtime_call(runtime, roots, is_helped);
}

void clo_job_run_distribute(clo_job *job)
{
    if (clo_job_is_helped(job) && (clo_job_is_judged(job) || job->program->roots_count <= CLO_BORROW_ROOTS_MAX))
        clo_deferred_put(job);
    else if (job->is_pinned)
        clo_deferred_send_roots(job);
    else
        distribute_roots(job);
}
