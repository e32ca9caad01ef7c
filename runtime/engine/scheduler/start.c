/* start.c - executions begin: at once on a free executor, or from the queue of one for which they were chosen before it
 * was free or their inputs were there. */
#include "engine/scheduler/start.h"

#include "engine/scheduler/data_placement.h"
#include "engine/scheduler/reservation.h"
#include "engine/state/note.h"

#include "base/numbers/saturate.h"

/* `count` instances are assigned now; with the last one the stage's successors may count as ready. */
static void assign(clo_scheduler *scheduler, clo_scheduler_job *job, uint32_t stage, uint32_t count)
{
    const clo_graph *graph = job->live.cost->graph;
    clo_stage_row *row = &job->stages[stage];

    row->live.unstarted -= count;
    row->next_instance += count;
    if (row->is_listed)
        job->live.startable -= count;
    if (row->live.unstarted > 0)
        return;
    clo_reserve_forget(scheduler, job, stage); /* on other machines */
    if (row->is_listed)
        clo_lists_remove_stage(scheduler, job, stage);
    for (uint32_t k = graph->out_first[stage]; k < graph->out_first[stage + 1]; k++) {
        uint32_t child = graph->out[k];
        scheduler->turn_steps++;
        if (--job->stages[child].live.parents_unassigned > 0 || scheduler->use.policy->readiness != CLO_READY_ASSIGNED)
            continue;
        clo_lists_add_stage(scheduler, job, child);
        clo_tell_ready(scheduler, job, child, CLO_NONE);
    }
}

/* An execution begins now on an idle executor; its instance is assigned and placed already, its demand taken. The order
 * is one of the ring's (clo_start_order), whole but for what the executor was bound to. */
static void begin(clo_scheduler *scheduler, clo_order *order)
{
    clo_scheduler_job *job = order->job;
    clo_live_executor *row = &scheduler->executors[order->executor];

    order->is_bound = clo_bind_is(scheduler, order->executor, job);
    order->last_stage = order->is_bound ? row->last_stage : CLO_NONE;
    if (!order->is_bound)
        clo_bind(scheduler, order->executor, job);
    row->last_stage = order->stage;
    row->job = job->slot;
    row->stage = order->stage;
    row->instance = order->instance;
    row->is_replica = order->is_replica;
    row->last_job = job->live.id;
    job->stages[order->stage].live.running++;
    job->live.running++;
    job->unbegun -= !order->is_replica;
    scheduler->running++;
    clo_start_set_free(scheduler, order->executor, false);
    scheduler->counts.decisions++;
    clo_reserve_tell(scheduler, order->executor);
}

/* How long an execution of the stage takes; before it is ready, nobody knows whether it is skipped. */
static int64_t time_of(const clo_scheduler_job *job, uint32_t stage, uint32_t executor)
{
    return job->stages[stage].is_skipped ? 0 : clo_cost_time(job->live.cost, stage, executor);
}

/* When its inputs are there. */
static int64_t begin_ns(const clo_scheduler_job *job, uint32_t stage, uint32_t executor, int64_t decided_ns)
{
    return job->stages[stage].is_skipped ? decided_ns : clo_data_placement_begin_ns(job, stage, executor, decided_ns);
}

/* How long the executor is on its way to the job, once all that it has queued is done. */
static int64_t moving_ns_to(const clo_scheduler *scheduler, uint32_t executor, const clo_scheduler_job *job)
{
    uint32_t tail = scheduler->queues[executor].tail;
    bool is_there =
        tail != CLO_NONE ? scheduler->entries[tail].job == job->slot : clo_bind_is(scheduler, executor, job);

    return is_there ? 0 : scheduler->limits.moving_ns;
}

/* Each input of the stage is looked at. */
static void count_inputs(clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t stage)
{
    const clo_graph *graph = job->live.cost->graph;

    scheduler->turn_steps += 1 + graph->in_first[stage + 1] - graph->in_first[stage];
}

static uint32_t band_of(const clo_scheduler *scheduler, uint32_t entry)
{
    return scheduler->jobs[scheduler->entries[entry].job]->live.band;
}

/* The last entry of the queue that is not of a lower band; CLO_NONE: there is none. */
static uint32_t find_last(clo_scheduler *scheduler, const clo_queue *queue, uint32_t band)
{
    uint32_t last = CLO_NONE;

    if (queue->tail == CLO_NONE || band_of(scheduler, queue->tail) <= band)
        return queue->tail;
    for (uint32_t i = queue->head; band_of(scheduler, i) <= band;
         i = scheduler->entries[i].next) { /* tail: it is not */
        scheduler->turn_steps++;
        last = i;
    }
    return last;
}

/* Appends to the executor's queue, before all that is of a lower band; false: no entry is free. */
static bool append(clo_scheduler *scheduler, const clo_scheduler_job *job, uint32_t stage, uint32_t executor,
                   uint32_t count, bool is_replica)
{
    clo_queue *queue = &scheduler->queues[executor];
    uint32_t last = find_last(scheduler, queue, job->live.band);
    bool has_tail = last != CLO_NONE;
    clo_queue_entry *tail = &scheduler->entries[has_tail ? last : 0];
    uint32_t instance = is_replica ? 0 : job->stages[stage].next_instance;

    if (has_tail && tail->job == job->slot && tail->stage == stage && !tail->is_replica && !is_replica &&
        tail->decided_ns == scheduler->now_ns && tail->instance + tail->count == instance)
        return tail->count += count, true;
    if (!clo_start_has_entries(scheduler, job, 1))
        return false;
    uint32_t entry = scheduler->free_entry, next = has_tail ? tail->next : queue->head;
    if (!has_tail && next != CLO_NONE &&
        queue->lacks_capacity) { /* what waits at the head is not the next one any more: nothing is kept */
        const clo_queue_entry *head = &scheduler->entries[next];
        clo_reserve_forget(scheduler, scheduler->jobs[head->job], head->stage);
    }
    scheduler->free_entry = scheduler->entries[entry].next;
    scheduler->free_entries--;
    scheduler->entries[entry] =
        (clo_queue_entry){job->slot, stage, instance, count, is_replica, scheduler->now_ns, next};
    if (has_tail)
        tail->next = entry;
    else
        queue->head = entry;
    if (next == CLO_NONE)
        queue->tail = entry;
    return true;
}

bool clo_start_commit(clo_scheduler *scheduler, clo_scheduler_job *job, uint32_t stage, uint32_t executor,
                      uint32_t count, bool is_replica)
{
    clo_live_executor *row = &scheduler->executors[executor];
    int64_t time_ns =
        clo_time_add(moving_ns_to(scheduler, executor, job), clo_time_mul(count, time_of(job, stage, executor)));
    int64_t arrival_ns = job->stages[stage].is_skipped
                             ? scheduler->now_ns
                             : clo_data_placement_arrival_ns(job, stage, executor, scheduler->now_ns);

    count_inputs(scheduler, job, stage);
    if (!append(scheduler, job, stage, executor, count, is_replica))
        return false;
    for (uint32_t i = 0; i < count && scheduler->log != NULL; i++)
        clo_note(scheduler, CLO_LOG_COMMIT, job, stage, is_replica ? 0 : job->stages[stage].next_instance + i, executor,
                 is_replica ? CLO_LOG_REPLICA : 0);
    row->free_ns = clo_time_add(arrival_ns > row->free_ns ? arrival_ns : row->free_ns, time_ns);
    row->committed += count;
    job->stages[stage].live.committed += count;
    job->live.committed += count;
    clo_data_placement_assign(job, stage, executor, count, row->free_ns);
    clo_start_set_free(scheduler, executor, false);
    if (is_replica) {
        clo_data_placement_replicate(job, stage, executor);
    } else {
        job->stages[stage].original_at = executor + 1;
        assign(scheduler, job, stage, count);
        clo_view_tell(scheduler, CLO_EVENT_START, job->slot, stage, executor, count);
    }
    clo_start_queued(scheduler, executor);
    return true;
}

static void drop_head(clo_scheduler *scheduler, uint32_t executor)
{
    clo_queue *queue = &scheduler->queues[executor];
    uint32_t entry = queue->head;

    queue->head = scheduler->entries[entry].next;
    if (queue->head == CLO_NONE)
        queue->tail = CLO_NONE;
    scheduler->entries[entry].next = scheduler->free_entry;
    scheduler->free_entry = entry;
    scheduler->free_entries++;
}

static void set_lacking(clo_scheduler *scheduler, uint32_t executor, bool lacks)
{
    clo_queue *queue = &scheduler->queues[executor];

    scheduler->lacking += (uint32_t)lacks - (uint32_t)queue->lacks_capacity;
    queue->lacks_capacity = lacks;
}

static void set_yielding(clo_scheduler *scheduler, uint32_t executor, bool yields)
{
    clo_queue *queue = &scheduler->queues[executor];

    scheduler->yielding += (uint32_t)yields - (uint32_t)queue->yields;
    queue->yields = yields;
}

/* A body of a lower band would begin after something of a higher one has become ready. */
static bool must_yield(const clo_scheduler *scheduler, uint32_t entry)
{
    return clo_bands_open(scheduler, scheduler->listed_bands & ((1u << band_of(scheduler, entry)) - 1)) != 0;
}

void clo_start_head(clo_scheduler *scheduler, uint32_t executor)
{
    clo_queue *queue = &scheduler->queues[executor];
    clo_live_executor *row = &scheduler->executors[executor];

    if (row->job != CLO_NONE && queue->head != CLO_NONE)
        return;
    set_lacking(scheduler, executor, false);
    if (row->job != CLO_NONE) /* and all that was queued behind it was dropped */
        return;
    set_yielding(scheduler, executor, queue->head != CLO_NONE && must_yield(scheduler, queue->head));
    if (queue->yields) {
        clo_start_set_free(scheduler, executor, true);
        return;
    }
    if (queue->head == CLO_NONE) { /* it was dropped */
        clo_start_idle(scheduler, executor);
        return;
    }
    clo_queue_entry *head = &scheduler->entries[queue->head];
    clo_scheduler_job *job = scheduler->jobs[head->job];
    uint32_t stage = head->stage;
    bool is_there = job->stages[stage].live.parents_left == 0;
    bool fits = is_there && clo_reserve_fits(scheduler, job, stage, executor) &&
                clo_reserve_take(scheduler, job, stage, executor);
    clo_start_set_free(scheduler, executor, is_there && !fits);
    set_lacking(scheduler, executor, is_there && !fits);
    if (!fits)
        return;
    count_inputs(scheduler, job, stage);
    int64_t arrival_ns = begin_ns(job, stage, executor, head->decided_ns);
    clo_order *order = clo_start_order(scheduler);
    *order = (clo_order){.job = job,
                         .stage = stage,
                         .instance = head->instance,
                         .executor = executor,
                         .is_replica = head->is_replica,
                         .is_skipped = job->stages[stage].is_skipped,
                         .arrival_ns = arrival_ns > scheduler->now_ns ? arrival_ns : scheduler->now_ns,
                         .decided_ns = head->decided_ns};
    row->committed--;
    job->stages[stage].live.committed--;
    job->live.committed--;
    head->instance++;
    if (--head->count == 0)
        drop_head(scheduler, executor);
    begin(scheduler, order);
}

bool clo_start(clo_scheduler *scheduler, clo_scheduler_job *job, uint32_t stage, uint32_t executor)
{
    clo_live_executor *row = &scheduler->executors[executor];

    bool yields = scheduler->queues[executor].yields;

    if (!yields && !clo_reserve_take(scheduler, job, stage, executor))
        return false;
    if (scheduler->showing.phase != CLO_SHOW_OVER)
        clo_show_stage(scheduler, job, stage);
    if (yields) /* what it yields to goes to the queue's head, as logs say it */
        return clo_start_commit(scheduler, job, stage, executor, 1, false);
    count_inputs(scheduler, job, stage);
    int64_t arrival_ns = begin_ns(job, stage, executor, scheduler->now_ns);
    int64_t moving_ns = clo_bind_is(scheduler, executor, job) ? 0 : scheduler->limits.moving_ns;
    int64_t time_ns = clo_time_add(moving_ns, time_of(job, stage, executor));
    int64_t finish_ns = clo_time_add(arrival_ns, time_ns);

    row->free_ns = row->committed > 0 && row->free_ns > finish_ns ? row->free_ns : finish_ns;
    clo_data_placement_assign(job, stage, executor, 1, finish_ns);
    job->stages[stage].original_at = executor + 1;
    uint32_t instance = job->stages[stage].next_instance;
    clo_note(scheduler, CLO_LOG_START, job, stage, instance, executor,
             job->stages[stage].is_skipped ? CLO_LOG_SKIPPED : 0);
    clo_order *order = clo_start_order(scheduler);
    *order = (clo_order){.job = job,
                         .stage = stage,
                         .instance = instance,
                         .executor = executor,
                         .is_skipped = job->stages[stage].is_skipped,
                         .arrival_ns = arrival_ns,
                         .decided_ns = scheduler->now_ns};
    begin(scheduler, order);
    assign(scheduler, job, stage, 1);
    clo_view_tell(scheduler, CLO_EVENT_START, job->slot, stage, executor, 1);
    return true;
}

bool clo_start_yielding(clo_scheduler *scheduler, uint32_t band)
{
    bool has_begun = false;

    for (uint32_t e = 0; e < scheduler->limits.executors && scheduler->yielding > 0; e++) {
        scheduler->turn_steps++;
        if (!scheduler->queues[e].yields)
            continue;
        if (scheduler->queues[e].head != CLO_NONE && band_of(scheduler, scheduler->queues[e].head) > band)
            continue;
        clo_start_head(scheduler, e); /* an executor that is busy meanwhile tries again when it is not */
        if (scheduler->queues[e].yields)
            set_yielding(scheduler, e, false);
        has_begun = true;
    }
    return has_begun;
}

/* Everything of the job leaves the queues. */
void clo_start_drop_queued(clo_scheduler *scheduler, clo_scheduler_job *job)
{
    for (uint32_t e = 0; e < scheduler->limits.executors && job->live.committed > 0; e++) {
        clo_queue *queue = &scheduler->queues[e];
        uint32_t kept = CLO_NONE;
        for (uint32_t i = queue->head, next; i != CLO_NONE; i = next) {
            clo_queue_entry *entry = &scheduler->entries[i];
            next = entry->next;
            scheduler->turn_steps++;
            if (entry->job != job->slot) {
                kept = i;
                continue;
            }
            for (uint32_t k = 0; k < entry->count && scheduler->log != NULL; k++)
                clo_note(scheduler, CLO_LOG_DROP, job, entry->stage, entry->instance + k, e,
                         entry->is_replica ? CLO_LOG_REPLICA : 0);
            scheduler->executors[e].committed -= entry->count;
            job->stages[entry->stage].live.committed -= entry->count;
            job->live.committed -= entry->count;
            if (kept == CLO_NONE)
                queue->head = next;
            else
                scheduler->entries[kept].next = next;
            entry->next = scheduler->free_entry;
            scheduler->free_entry = i;
            scheduler->free_entries++;
        }
        queue->tail = kept;
        clo_start_queued(scheduler, e);
    }
}
