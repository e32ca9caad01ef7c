/* plan/list/batch.c - batch mode: of all ready tasks, the one with an extreme completion time goes first.
 *
 * Min-min and max-min: Ibarra, Kim, "Heuristic Algorithms for Scheduling Independent Tasks on Nonidentical
 * Processors", JACM 24(2), 1977; Duplex: Braun et al., JPDC 61(6), 2001; Sufferage:
 * Maheswaran et al., JPDC 59(2), 1999. With MCT(t) the least completion time of t on any executor:
 *
 *   minmin     the ready task with the least MCT goes to its executor
 *   maxmin     the ready task with the largest MCT does
 *   duplex     the shorter of both plans (ties: minmin)
 *   sufferage  the ready task that would lose most if it got only its second best executor
 *
 * Written for independent tasks. For dependent ones SAGA's rules are taken: minmin and maxmin empty the batch of ready
 * tasks before they look at what became ready meanwhile; sufferage looks at all ready tasks at each step, and
 * decides for one task a step (the paper: for one task an executor in each pass). Executions are appended. Ties: the
 * lowest task, then the lowest executor. Instances of a task are ready together and look alike, so one of them
 * stands for all. A task with one possible executor suffers 0. Beyond the papers: placement masks, and capacities
 * of machines.
 *
 * A completion time only grows as executors fill, and only where something was placed. So minmin keeps a heap of
 * times that may be too low and looks again at the first of it, and the others look again at a task only if the
 * executor they hold for it was taken. O(tasks * ready * executors) in the worst case. */
#include "plan/list/planners.h"

#include "base/memory.h"
#include "base/status.h"
#include "plan/schedule/ready.h"

#include <assert.h>

/* A ready task: its next instance, the best place for it, and the end at the second best one. */
typedef struct entry {
    clo_slot best;
    int64_t second_ns;
    uint32_t second; /* executor; CLO_NONE: none */
    uint32_t instance;
    bool is_stale;
} entry;

typedef struct batch {
    clo_ready ready;
    entry *entries; /* [count] of [tasks] */
    uint32_t count;
} batch;

typedef int64_t (*score)(const entry *candidate);

static int64_t score_completion(const entry *candidate)
{
    return candidate->best.finish_ns;
}

static int64_t score_sufferage(const entry *candidate)
{
    return candidate->second == CLO_NONE ? 0 : candidate->second_ns - candidate->best.finish_ns;
}

static bool is_first_instance(const clo_graph *graph, uint32_t instance)
{
    return graph->first_instance[graph->task_of[instance]] == instance;
}

static bool is_last_instance(const clo_graph *graph, uint32_t instance)
{
    return graph->first_instance[graph->task_of[instance] + 1] == instance + 1;
}

/* Empties the batch in order of the least completion time. */
static clo_status run_minmin(clo_ready *ready)
{
    const clo_graph *graph = ready->schedule->graph;
    clo_status status = CLO_OK;

    while (status == CLO_OK && ready->heap.count > 0) { /* ends: each round places one or raises a time to what it is */
        clo_heap_item item = clo_heap_pop(&ready->heap);
        uint32_t instance = (uint32_t)item.id;
        clo_slot slot = clo_ready_earliest(ready, instance, false);
        if (slot.finish_ns != item.key) {
            clo_heap_push(&ready->heap, slot.finish_ns, instance);
            continue;
        }
        status = clo_ready_place(ready, instance, slot);
        if (!is_last_instance(graph, instance))
            clo_heap_push(&ready->heap, slot.finish_ns, instance + 1);
    }
    return status;
}

static clo_status minmin_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    clo_ready ready;
    clo_status status = clo_ready_open(&ready, schedule);
    uint32_t instance;
    (void)config;
    if (status != CLO_OK)
        return status;

    while (status == CLO_OK && schedule->count < schedule->graph->instances) { /* ends: some task is always ready */
        while (clo_ready_next(&ready, &instance))
            if (is_first_instance(schedule->graph, instance))
                clo_heap_push(&ready.heap, 0, instance);
        status = run_minmin(&ready);
    }
    clo_ready_close(&ready);
    return status;
}

static void look_again(batch *b, entry *candidate)
{
    clo_schedule *schedule = b->ready.schedule;
    uint32_t task = schedule->graph->task_of[candidate->instance];

    candidate->best = (clo_slot){0, INT64_MAX, CLO_NONE};
    candidate->second_ns = INT64_MAX;
    candidate->second = CLO_NONE;
    candidate->is_stale = false;
    clo_schedule_find_ready(schedule, candidate->instance);
    for (uint32_t e = 0; e < schedule->executors; e++) {
        clo_slot slot = clo_ready_append(&b->ready, task, e, schedule->ready_ns[e]);
        if (slot.finish_ns < candidate->best.finish_ns) {
            candidate->second_ns = candidate->best.finish_ns;
            candidate->second = candidate->best.executor;
            candidate->best = slot;
        } else if (slot.finish_ns < candidate->second_ns) {
            candidate->second_ns = slot.finish_ns;
            candidate->second = e;
        }
    }
}

/* True if a placement on `taken` can have changed times on `executor`. */
static bool touches(const clo_schedule *schedule, uint32_t taken, uint32_t executor)
{
    if (executor == CLO_NONE || taken == executor)
        return taken == executor;
    return schedule->profiles != NULL &&
           schedule->platform->executors[taken].machine == schedule->platform->executors[executor].machine;
}

/* The entry with the highest score (ties: the lowest instance). */
static uint32_t choose(batch *b, score of)
{
    uint32_t best = CLO_NONE;
    int64_t highest = -1;

    for (uint32_t i = 0; i < b->count; i++) {
        entry *candidate = &b->entries[i];
        if (candidate->is_stale)
            look_again(b, candidate);
        int64_t value = of(candidate);
        if (value > highest || (value == highest && candidate->instance < b->entries[best].instance)) {
            highest = value;
            best = i;
        }
    }
    assert(best != CLO_NONE);
    return best;
}

static clo_status place_entry(batch *b, uint32_t index)
{
    const clo_schedule *schedule = b->ready.schedule;
    entry *chosen = &b->entries[index];
    uint32_t taken = chosen->best.executor;
    clo_status status = clo_ready_place(&b->ready, chosen->instance, chosen->best);

    if (is_last_instance(schedule->graph, chosen->instance))
        *chosen = b->entries[--b->count];
    else
        chosen->instance++;
    for (uint32_t i = 0; i < b->count; i++)
        if (touches(schedule, taken, b->entries[i].best.executor) || touches(schedule, taken, b->entries[i].second))
            b->entries[i].is_stale = true;
    return status;
}

static void take_released(batch *b)
{
    uint32_t instance;

    while (clo_ready_next(&b->ready, &instance))
        if (is_first_instance(b->ready.schedule->graph, instance))
            b->entries[b->count++] = (entry){.instance = instance, .is_stale = true};
}

static clo_status run_batch(clo_schedule *schedule, score of, bool in_rounds)
{
    batch b = {.count = 0};
    clo_status status = clo_ready_open(&b.ready, schedule);
    if (status != CLO_OK)
        return status;
    b.entries = clo_allocate(schedule->graph->tasks, sizeof *b.entries);
    if (b.entries == NULL)
        status = clo_fail_memory("a plan");

    while (status == CLO_OK && schedule->count < schedule->graph->instances) {
        if (b.count == 0 || !in_rounds)
            take_released(&b);
        status = place_entry(&b, choose(&b, of));
    }
    clo_free(b.entries);
    clo_ready_close(&b.ready);
    return status;
}

static clo_status maxmin_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    (void)config;
    return run_batch(schedule, score_completion, true);
}

static clo_status sufferage_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    (void)config;
    return run_batch(schedule, score_sufferage, false);
}

static clo_status duplex_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    clo_status status = minmin_fill(schedule, config);
    if (status != CLO_OK)
        return status;

    int64_t minmin_ns = clo_schedule_makespan_ns(schedule);
    clo_schedule_clear(schedule);
    status = maxmin_fill(schedule, config);
    if (status != CLO_OK || clo_schedule_makespan_ns(schedule) < minmin_ns)
        return status;
    clo_schedule_clear(schedule);
    return minmin_fill(schedule, config);
}

const clo_planner_desc clo_planner_minmin = {
    .name = "minmin",
    .summary = "of all ready tasks the one that can end first, where it ends first (Ibarra, Kim 1977)",
    .executions_each = 1,
    .fill = minmin_fill,
};

const clo_planner_desc clo_planner_maxmin = {
    .name = "maxmin",
    .summary = "of all ready tasks the one that ends last, where it ends first (Ibarra, Kim 1977)",
    .executions_each = 1,
    .fill = maxmin_fill,
};

const clo_planner_desc clo_planner_duplex = {
    .name = "duplex",
    .summary = "the shorter of minmin and maxmin",
    .executions_each = 1,
    .fill = duplex_fill,
};

const clo_planner_desc clo_planner_sufferage = {
    .name = "sufferage",
    .summary = "of all ready tasks the one that would lose most on its second best executor (Maheswaran 1999)",
    .executions_each = 1,
    .fill = sufferage_fill,
};
