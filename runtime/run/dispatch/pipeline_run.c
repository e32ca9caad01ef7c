/* pipeline_run.c - runs the items of a job with several releases in flight. */
#include "base/clock.h"
#include "base/numbers/saturate.h"
#include "run/body/body.h"
#include "run/dispatch/dispatches.h"
#include "run/dispatch/pipeline.h"
#include "run/extras/capacity.h"
#include "run/job/cut.h"
#include "run/records/recorder.h"
#include "run/sharing/owner.h"
#include "run/sharing/share.h"
#include "run/sharing/wake.h"
#include "run/state/features.h"
#include "run/state/item.h"
#include "run/state/series.h"

/* The first body of a release begins, unless another worker was quicker. */
static void note_first(clo_job *job, clo_job_pipeline_slot *slot, uint64_t release)
{
    clo_series *series = job->series;

    if (atomic_exchange_explicit(&slot->is_first, 0, memory_order_relaxed) == 0)
        return;
    int64_t due_ns = series->period_ns > 0 ? clo_series_due_ns(series, release) : slot->opened_ns;
    clo_histogram_record(&series->start_ns, clo_time_sub(clo_clock_ns(), due_ns));
}

static uint64_t release_of(const clo_job *job, uint32_t item)
{
    return job->pipeline->releases->number[clo_releases_slot(job->pipeline->releases, item)];
}

static void note(clo_worker *worker, clo_job *job, uint32_t item, clo_releases_span span)
{
    const clo_graph *graph = job->program->graph;
    uint32_t execution = clo_releases_execution(job->pipeline->releases, item), task = graph->task_of[execution];
    uint64_t release = release_of(job, item);

    if (clo_recorder_takes(worker))
        clo_recorder_add(worker, job, item, span.start_ns, span.finish_ns);
    job->stats[worker->index].busy += span.finish_ns - span.start_ns;
    if (job->events == NULL)
        return;
    job->events[release % job->series->traced * job->program->executions + execution] =
        (clo_trace_event){.task = task,
                          .instance = execution - graph->first_instance[task],
                          .executor = worker->index,
                          .start_ns = span.start_ns,
                          .finish_ns = span.finish_ns,
                          .release = release};
}

/* The item has begun: the next ones ask for capacities. None of them is ours, for they do not wait for our end. */
static void let_ask(clo_worker *worker, clo_job *job, uint32_t item)
{
    clo_releases *releases = job->pipeline->releases;
    uint32_t cursor = 0, next;

    while ((next = clo_releases_let_ask(releases, item, &cursor)) != CLO_NONE) {
        clo_job_pipeline_ready(job->pipeline, next);
        clo_worker_send(worker->runtime, job->program->executor[clo_releases_execution(releases, next)],
                        clo_item(job, next), &job->links[next]);
    }
}

/* An item that begins. */
typedef struct occasion {
    /* In virtual time. */
    clo_releases_span span;
    /* It is behind the end of the series, or this was stopped: no body is called. */
    bool is_empty, is_stopped;
    /* It holds what it demands of the machine's semaphore. */
    bool holds;
} occasion;

/* Before the body. False: the item waits for capacities in the worker's line. */
static bool begin(clo_worker *worker, clo_job *job, uint32_t item, occasion *at)
{
    clo_releases *releases = job->pipeline->releases;
    bool asks = releases->is_free ? job->program->graph->has_demands
                                  : clo_releases_capacity_has(&releases->room, clo_releases_execution(releases, item));

    if (releases->finish_ns != NULL) {
        at->span = clo_releases_time(releases, item, at->is_empty || at->is_stopped);
    } else if (asks && !at->is_empty) { /* stopped or not: one that has waited may hold what it demands by now */
        if (!clo_capacity_enter(worker, clo_item(job, item), &at->holds))
            return false;
        at->is_stopped |= !at->holds; /* then it needs nothing */
    }
    if (asks)
        let_ask(worker, job, item);
    return true;
}

static bool is_noted(const clo_worker *worker, const clo_job *job)
{
    return job->pipeline->releases->finish_ns == NULL && (job->events != NULL || worker->recorder.ring.slots != NULL);
}

/* It has run. */
static void end(clo_worker *worker, clo_job *job, uint32_t item, clo_releases_span span)
{
    bool is_clocked = is_noted(worker, job);

    if (is_clocked)
        span.finish_ns = clo_clock_ns() - job->times.run_ns;
    if (is_clocked || job->pipeline->releases->finish_ns != NULL)
        note(worker, job, item, span);
}

/* The body. False: it is pending, on a slot. */
static bool run_body(clo_worker *worker, clo_job *job, uint32_t item, clo_job_pipeline_slot *slot,
                     clo_releases_span *span)
{
    const clo_releases *releases = job->pipeline->releases;
    uint32_t execution = clo_releases_execution(releases, item), task = clo_program_task(job->program, execution);

    if (atomic_load_explicit(&slot->is_first, memory_order_relaxed) != 0)
        note_first(job, slot, release_of(job, item));
    if (is_noted(worker, job))
        span->start_ns = clo_clock_ns() - job->times.run_ns;
    clo_body_run(worker, job, item, execution,
                 releases->finish_ns != NULL ? 0 : clo_cost_time(job->program->cost, task, worker->index));
    if (worker->pending.is_held)
        return false;
    end(worker, job, item, *span);
    return true;
}

static int call(clo_worker *worker, clo_job *job, uint32_t item, int64_t expected_ns)
{
    clo_job_pipeline *pipeline = job->pipeline;

    return clo_releases_call(pipeline->releases, item, worker->index, expected_ns, &pipeline->scratch[worker->scratch],
                             &job->stats[worker->index]);
}

/* What the item released goes to its workers; one of our own comes back. Others of our own wait in `local`. */
static uint64_t release(clo_worker *worker, clo_job *job, uint32_t item)
{
    clo_releases *releases = job->pipeline->releases;
    clo_releases_release released = clo_releases_releases(releases, item);
    uint64_t kept = CLO_ITEM_NONE;

    for (uint32_t next; (next = clo_releases_released(releases, &released)) != CLO_NONE;) {
        clo_job_pipeline_ready(job->pipeline, next);
        uint32_t home = job->is_pinned ? clo_job_owner(job, clo_releases_execution(releases, next)) : worker->index;
        if (kept != CLO_ITEM_NONE && !job->is_pinned) {
            clo_worker_push(worker, clo_item(job, next));
        } else if (home != worker->index) {
            clo_worker_send(worker->runtime, home, clo_item(job, next), &job->links[next]);
        } else if (kept == CLO_ITEM_NONE) {
            kept = clo_item(job, next);
        } else {
            job->links[next] = worker->local;
            worker->local = clo_item(job, next);
        }
    }
    return kept;
}

/* The item is over. Returns one of our own that follows it; with none the job may be gone. */
static uint64_t leave(clo_worker *worker, clo_job *job, uint32_t item, bool is_empty, bool holds)
{
    clo_releases *releases = job->pipeline->releases;
    uint32_t slot = clo_releases_slot(releases, item);

    if (holds)
        clo_capacity_leave(worker, job, clo_releases_execution(releases, item));
    uint64_t next = release(worker, job, item);
    if (is_empty)
        clo_job_pipeline_drop(job);
    else if (clo_releases_ended(releases, slot))
        clo_job_pipeline_end(job, slot);
    return next;
}

/* The slot's body is pending: the rest comes with `resume`. */
static uint64_t hold(clo_worker *slot, const clo_job *job, uint32_t item, const occasion *at)
{
    slot->pending.item = clo_item(job, item);
    slot->pending.keeps_room = at->holds;
    slot->pending.start_ns = at->span.start_ns;
    return CLO_ITEM_NONE;
}

/* Runs an item, and what follows from it. */
static uint64_t run(clo_worker *worker, clo_job *job, uint32_t item)
{
    clo_job_pipeline *pipeline = job->pipeline;
    clo_releases *releases = pipeline->releases;

    for (;;) { /* each turn runs an item of this job */
        uint32_t slot = clo_releases_slot(releases, item), execution = clo_releases_execution(releases, item);
        uint32_t task = job->program->graph->task_of[execution];

        atomic_store_explicit(&worker->current, clo_task_shown(job, task), memory_order_relaxed);
        clo_worker_look_up(worker, job->program->graph->rows[task].work_ns);
        occasion at = {.is_empty = pipeline->slots[slot].is_empty, .is_stopped = clo_stop_is_set(&job->stop)};
        if (!begin(worker, job, item, &at))
            return CLO_ITEM_NONE;
        worker->turns.bypasses++;
        if (at.is_stopped && !at.is_empty)
            clo_job_cut(job); /* no body stands for it */
        else if (!at.is_empty && !run_body(worker, job, item, &pipeline->slots[slot], &at.span))
            return hold(worker, job, item, &at);
        uint64_t next = leave(worker, job, item, at.is_empty, at.holds);
        if (next == CLO_ITEM_NONE || worker->turns.bypasses >= CLO_BYPASSES_MAX)
            return next;
        item = (uint32_t)next;
    }
}

static uint64_t resume(clo_worker *slot, clo_job *job, bool is_cut, int code)
{
    uint32_t item = (uint32_t)slot->pending.item;

    clo_body_end_held(slot, job, clo_releases_execution(job->pipeline->releases, item), is_cut, code);
    end(slot, job, item, (clo_releases_span){slot->pending.start_ns, 0});
    return leave(slot, job, item, false, slot->pending.keeps_room);
}

const clo_dispatch clo_dispatch_pipeline = {
    .run = run,
    .call = call,
    .release_of = release_of,
    .resume = resume,
    .start = clo_job_pipeline_start,
    .open = clo_job_pipeline_arm,
    .release = clo_job_pipeline_release,
    .close = clo_job_pipeline_close,
};

static const struct clo_pipeline_functions functions = {
    .dispatch = &clo_dispatch_pipeline,
    .check = clo_job_pipeline_check,
    .create = clo_job_pipeline_create,
};

const clo_pipeline_feature clo_with_pipelines = {&functions};
