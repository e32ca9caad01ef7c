/* rank.c - highest rank_u first: list scheduling on the critical path (HEFT's order, Topcuoglu 2002, taken online),
 * over all jobs, on whichever executor is free. A job keeps its ready stages in a heap by rank, and stands in the queue
 * of jobs with the highest of them. A stage that has no instance left to start stays in its heap until it comes up. */
#include "base/heap.h"
#include "graph/graph.h"
#include "policy/by_job.h"
#include "policy/policies.h"

typedef struct rank_job {
    clo_heap heap;
    int64_t *by_task;     /* [tasks] */
    clo_heap_item *aside; /* [tasks] taken off while one decision looks further */
    uint32_t aside_count;
} rank_job;

static size_t rank_job_bytes(const clo_cost *cost, const void *argument)
{
    size_t tasks = clo_cost_graph(cost)->tasks;

    (void)argument;
    return sizeof(rank_job) + tasks * (sizeof(int64_t) + 2 * sizeof(clo_heap_item));
}

static clo_status rank_prepare(void *job_state, const clo_cost *cost, const void *argument)
{
    uint32_t tasks = clo_cost_graph(cost)->tasks;
    rank_job *job = job_state;

    (void)argument;
    job->heap.items = (clo_heap_item *)(job + 1);
    job->heap.capacity = tasks;
    job->aside = job->heap.items + tasks;
    job->by_task = (int64_t *)(job->aside + tasks);
    clo_cost_rank_u(cost, job->by_task);
    return CLO_OK;
}

/* Drops what has nothing left to start; the rank of the first that has, negated. */
static int64_t best_key(rank_job *mine, const clo_view *view, uint32_t slot)
{
    while (mine->heap.count > 0 && clo_view_stage(view, slot, (uint32_t)mine->heap.items[0].id)->unstarted == 0)
        (void)clo_heap_pop(&mine->heap);
    return mine->heap.count > 0 ? mine->heap.items[0].key : INT64_MAX;
}

static void rank_event(void *state, const clo_view *view, const clo_event *event)
{
    if (event->job == CLO_NONE)
        return;
    const clo_live_job *job = clo_view_job(view, event->job);

    if (event->kind == CLO_EVENT_ARRIVE) {
        ((rank_job *)job->state)->heap.count = 0;
        return;
    }
    if (event->kind == CLO_EVENT_READY) {
        rank_job *mine = job->state;
        clo_heap_push(&mine->heap, -mine->by_task[event->stage], event->stage);
    }
    if (clo_job_queue_event(state, view, event))
        clo_job_queue_put(state, job, event->job, best_key(job->state, view, event->job));
}

/* The job's highest ready stage that a free executor may run; CLO_NONE: none. */
static uint32_t best_stage(rank_job *mine, const clo_view *view, uint32_t slot, bool *is_cut)
{
    uint32_t found = CLO_NONE;

    while (mine->heap.count > 0 && found == CLO_NONE && !(*is_cut = !clo_view_step(view))) {
        clo_heap_item top = clo_heap_pop(&mine->heap);
        if (clo_view_stage(view, slot, (uint32_t)top.id)->unstarted == 0)
            continue;
        mine->aside[mine->aside_count++] = top;
        if (clo_view_free_for(view, slot, (uint32_t)top.id) != CLO_NONE)
            found = (uint32_t)top.id;
    }
    while (mine->aside_count > 0) {
        clo_heap_item item = mine->aside[--mine->aside_count];
        clo_heap_push(&mine->heap, item.key, item.id);
    }
    return found;
}

static bool rank_decide(void *state, const clo_view *view, clo_choice *choice)
{
    clo_job_queue *queue = state;
    uint32_t band = clo_view_band(view), slot, stage = CLO_NONE;
    bool is_cut = false;

    while (stage == CLO_NONE && !is_cut && (slot = clo_job_queue_first(queue, band)) != CLO_NONE) {
        const clo_live_job *job = clo_view_job(view, slot);
        if (job->running + job->committed < job->limit)
            stage = best_stage(job->state, view, slot, &is_cut);
        else
            is_cut = !clo_view_step(view);
        if (stage != CLO_NONE)
            *choice = (clo_choice){slot, stage, 1, CLO_NONE, CLO_NONE, 0, 0};
        else if (!is_cut)
            clo_job_queue_pass(queue, band);
    }
    clo_job_queue_restore(queue);
    return stage != CLO_NONE;
}

const clo_policy clo_policy_rank = {
    .size = sizeof(clo_policy),
    .name = "rank",
    .summary = "highest rank_u first over all jobs (HEFT's order, decided online), on whichever executor is free",
    .state_bytes = clo_by_job_bytes,
    .job_bytes = rank_job_bytes,
    .prepare = rank_prepare,
    .init = clo_by_job_init,
    .event = rank_event,
    .decide = rank_decide,
};
