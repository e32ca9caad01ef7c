/* begin.c - what a run of a job begins with. */
#include "run/job/begin.h"

#include "base/clock.h"
#include "base/numbers/saturate.h"
#include "run/job/job_body.h"
#include "run/sharing/borrow.h"
#include "run/sharing/deferred.h"
#include "run/sharing/owner.h"
#include "run/sharing/wake.h"
#include "run/state/item.h"
#include "run/state/pair.h"
#include "run/state/series.h"
#include "run/state/worker.h"

#include <string.h>

/* Plain and relaxed stores: the push of the first item publishes them all. */
static void reset(clo_job *job, uint64_t release)
{
    clo_engine_begin(job->engine, job->scheduled != NULL && (job->has_rest || !clo_outcome_is_open(&job->outcome)));
    job->has_rest = false;
    for (uint32_t execution = 0; job->events != NULL && execution < job->program->executions; execution++)
        if (job->is_fast) /* not executed */
            job->ticked[execution].executor = CLO_NONE;
        else
            job->events[execution].executor = CLO_NONE;
    atomic_store_explicit(&job->exits_left, job->program->exits + clo_pairs_begin(job), memory_order_relaxed);
    clo_outcome_open(&job->outcome);
    clo_stop_begin(&job->stop, job->first_run + release);
}

/* What the scheduler will see of the run. */
static void arm_scheduled(clo_job *job, uint64_t release)
{
    const clo_runtime *runtime = job->runtime;
    int64_t due_ns = job->series != NULL ? clo_series_due_ns(job->series, release) : job->run_ns;

    job->completions = 0;
    clo_scheduler_job_arm(job->scheduled);
    if (job->start_ns != NULL)
        return; /* the combiner knows the time */
    job->arrival_ns = (job->run_ns - runtime->scheduling.origin_ns) / (int64_t)runtime->dilate;
    job->scheduled->live.deadline_ns =
        job->deadline_ns > 0
            ? clo_time_add((due_ns - runtime->scheduling.origin_ns) / (int64_t)runtime->dilate, job->deadline_ns)
            : CLO_TIME_NEVER;
}

void clo_job_run_arm(clo_job *job, uint64_t release)
{
    clo_series *series = job->series;

    clo_job_adopt(job);
    reset(job, release);
    /* A submit has just read the clock; and of one run the deadline counts from there. */
    bool has_read = job->scheduled == NULL && (series == NULL || series->period_ns == 0);
    job->run_ns = has_read ? atomic_load_explicit(&job->submitted, memory_order_relaxed) : clo_clock_ns();
    if (job->scheduled != NULL)
        arm_scheduled(job, release);
    if (job->ticked != NULL)
        job->line = (clo_tick_line){.ticks = clo_ticks()};
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

/* Each of these may run on one worker only. */
static void send_roots(clo_job *job)
{
    const clo_program *program = job->program;

    for (uint32_t i = 0, count = program->roots_count; i < count; i++) { /* the last one may end the job */
        uint32_t execution = program->roots[i];
        clo_worker_send(job->runtime, clo_job_owner(job, execution), clo_item(job, execution), &job->links[execution]);
    }
}

void clo_job_run_distribute(clo_job *job)
{
    if (job->is_pinned)
        send_roots(job);
    else if (clo_job_is_helped(job) && (!clo_job_is_small(job) || job->program->roots_count <= CLO_BORROW_ROOTS_MAX))
        clo_deferred_put(job);
    else
        distribute_roots(job);
}
