/* plan/duplicate/dfrn.c - DFRN-like: Park, Shirazi, Marquis, "DFRN: A New Approach for Duplication Based Scheduling for
 * Distributed Memory Multiprocessor Systems", IPPS 1997: duplication first, reduction next.
 *
 * Instances level by level (levels count from the entries), within a level the heaviest mean time first (ties: earlier
 * in topological order): the paper's HNF. Each is tried on its critical executor, where the parent runs whose data
 * come last, and on the executor that is idle first. On either, parents are duplicated in order of falling arrival, one
 * behind the other, as long as the duplicate ends before the message would arrive and the parent still delays
 * the instance: what the paper duplicates first and deletes then. The earlier end wins (ties: the critical one).
 *
 * The paper has as many processors as it wants and copies the schedule of a processor up to the parent to a fresh one;
 * here executors are few, so the idle one takes the fresh one's place, and of the ancestors only parents are
 * duplicated, at most CLO_CHAIN_MAX for an instance. The critical executor is that of the message which arrives last
 * over a mean link. Gaps are filled; the clean-up of the end is schedule/compact.c. Beyond the paper: placement masks
 * (an executor that cannot run the instance is neither), capacities of machines, instances, tasks that may not be
 * duplicated. Duplicates end when the schedule is full.
 *
 * O(inputs + executors) an instance, an edge being an input, plus the searches in the timelines. */
#include "plan/schedule/compact.h"
#include "plan/schedule/planner.h"

#include "base/memory.h"
#include "base/order/sort.h"
#include "base/status.h"
#include "plan/heft/chain.h"
#include "plan/schedule/ready.h"

typedef struct level_key {
    int64_t mean_ns;
    uint32_t level, position, instance;
} level_key;

static int by_level(const void *left, const void *right)
{
    const level_key *a = left, *b = right;

    if (a->level != b->level)
        return a->level < b->level ? -1 : 1;
    if (a->mean_ns != b->mean_ns)
        return a->mean_ns > b->mean_ns ? -1 : 1;
    return a->position < b->position ? -1 : a->position > b->position;
}

/* schedule->order: by level. */
static clo_status find_order(clo_schedule *schedule)
{
    const clo_graph *graph = schedule->graph;
    level_key *keys = clo_allocate(graph->instances, sizeof *keys);
    uint32_t *levels = clo_allocate(graph->tasks, sizeof *levels);
    clo_status status = CLO_OK;

    if (keys == NULL || levels == NULL) {
        status = clo_fail_memory("the levels of a plan");
    } else {
        clo_graph_levels(graph, levels);
        for (uint32_t i = 0; i < graph->instances; i++) {
            uint32_t task = graph->task_of[graph->order[i]];
            keys[i] = (level_key){schedule->cost->mean_ns[task], levels[task], i, graph->order[i]};
        }
        clo_sort(keys, graph->instances, sizeof *keys, by_level);
        for (uint32_t i = 0; i < graph->instances; i++)
            schedule->order[i] = keys[i].instance;
    }
    clo_free(keys);
    clo_free(levels);
    return status;
}

/* Where the parent runs whose data come last over a mean link; CLO_NONE for an entry. */
static uint32_t critical_executor(const clo_schedule *schedule, uint32_t task)
{
    const clo_graph *graph = schedule->graph;
    uint32_t executor = CLO_NONE;
    int64_t latest = -1;

    for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++) {
        uint32_t last = clo_schedule_last_of(schedule, clo_graph_source(graph, edge));
        const clo_execution *execution = &schedule->executions[schedule->first_execution[last]];
        int64_t arrival =
            execution->finish_ns + clo_cost_mean_transfer_ns(schedule->cost, clo_graph_in_bytes(graph, edge));
        if (arrival <= latest)
            continue;
        latest = arrival;
        executor = execution->executor;
    }
    return executor;
}

/* Duplicates parents while that helps, at most `room` of them. */
static clo_chain find_chain(const clo_schedule *schedule, uint32_t instance, uint32_t executor, uint32_t room)
{
    clo_chain chain = {.executor = executor, .instance = instance};
    uint32_t task = schedule->graph->task_of[instance];
    int64_t duration = clo_cost_time(schedule->cost, task, executor), arrival, before = 0;

    for (;;) { /* ends: at most CLO_CHAIN_MAX duplicates */
        clo_inputs left = clo_schedule_inputs_but(schedule, instance, executor, chain.duplicates, chain.count);
        uint32_t parent = left.producer;
        arrival = left.latest_ns;
        if (parent == CLO_NONE || arrival <= before || chain.count == CLO_CHAIN_MAX || chain.count >= room ||
            !clo_schedule_may_duplicate(schedule, parent, executor))
            break;
        uint32_t parent_task = schedule->graph->task_of[parent];
        int64_t time = clo_cost_time(schedule->cost, parent_task, executor);
        int64_t inputs = clo_schedule_inputs_ns(schedule, parent, executor);
        int64_t start = clo_schedule_slot_ns(schedule, parent_task, executor, inputs > before ? inputs : before, time);
        if (start + time >= arrival)
            break; /* its message comes first, and delays the instance as much as before */
        chain.duplicates[chain.count] = parent;
        chain.starts_ns[chain.count++] = start;
        before = start + time;
    }
    chain.start_ns = clo_schedule_slot_ns(schedule, task, executor, arrival > before ? arrival : before, duration);
    chain.finish_ns = chain.start_ns + duration;
    return chain;
}

static clo_status place(clo_ready *ready, uint32_t instance, uint32_t unplaced)
{
    clo_schedule *schedule = ready->schedule;
    uint32_t task = schedule->graph->task_of[instance], room = clo_schedule_room(schedule, unplaced);
    uint32_t critical = critical_executor(schedule, task), first_execution = schedule->count;
    clo_chain chain = find_chain(schedule, instance, clo_ready_idle_first(ready, task), room);

    if (critical != CLO_NONE && clo_cost_time(schedule->cost, task, critical) != CLO_TIME_NEVER) {
        clo_chain other = find_chain(schedule, instance, critical, room);
        if (other.finish_ns <= chain.finish_ns)
            chain = other;
    }
    clo_status status = clo_chain_place(&chain, schedule);
    if (status == CLO_OK)
        clo_ready_placed(ready, instance, first_execution);
    return status;
}

static clo_status fill(clo_schedule *schedule, const clo_plan_config *config)
{
    uint32_t instances = schedule->graph->instances;
    clo_ready ready;
    clo_status status = clo_ready_open(&ready, schedule);
    (void)config;
    if (status != CLO_OK)
        return status;

    status = find_order(schedule);
    for (uint32_t i = 0; status == CLO_OK && i < instances; i++)
        status = place(&ready, schedule->order[i], instances - i);
    clo_ready_close(&ready);
    return status == CLO_OK ? clo_schedule_compact(schedule) : status;
}

const clo_planner clo_planner_dfrn = {
    .name = "dfrn",
    .summary = "duplicates parents in order of arrival, two executors to choose from (DFRN-like; Park 1997)",
    .size = sizeof(clo_planner),
    .executions_each = CLO_EXECUTIONS_EACH,
    .fill = fill,
};
