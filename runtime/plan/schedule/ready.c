#include "plan/schedule/ready.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"

#include <assert.h>
#include <string.h>

static void release(clo_ready *ready, uint32_t task)
{
    const clo_graph *graph = ready->schedule->graph;

    for (uint32_t v = graph->first_instance[task]; v < graph->first_instance[task + 1]; v++)
        ready->released[ready->released_count++] = v;
}

clo_status clo_ready_open(clo_ready *ready, clo_schedule *schedule)
{
    const clo_graph *graph = schedule->graph;
    clo_block block = {0};

    assert(schedule->count == 0);
    *ready = (clo_ready){.schedule = schedule, .heap = {.capacity = graph->instances}};
    clo_carve(&block, &ready->left, graph->tasks);
    clo_carve(&block, &ready->waiting, graph->tasks);
    clo_carve(&block, &ready->released, graph->instances);
    clo_carve(&block, &ready->heap.items, graph->instances);
    clo_carve(&block, &ready->available_ns, schedule->executors);
    ready->block = clo_block_allocate(&block);
    if (ready->block == NULL)
        return clo_fail_memory("a plan");
    for (uint32_t t = 0; t < graph->tasks; t++) {
        ready->left[t] = clo_graph_instances_of(graph, t);
        ready->waiting[t] = graph->in_first[t + 1] - graph->in_first[t];
        if (ready->waiting[t] == 0)
            release(ready, t);
    }
    return CLO_OK;
}

void clo_ready_close(clo_ready *ready)
{
    clo_free(ready->block);
    memset(ready, 0, sizeof *ready);
}

bool clo_ready_next(clo_ready *ready, uint32_t *instance)
{
    if (ready->taken == ready->released_count)
        return false;
    *instance = ready->released[ready->taken++];
    return true;
}

uint32_t clo_ready_most_promising(uint32_t executors, const int64_t *from_ns, const int64_t *times_ns,
                                  int64_t *least_ns)
{
    uint32_t at = CLO_NONE;

    *least_ns = INT64_MAX;
    for (uint32_t e = 0; e < executors; e++) {
        if (times_ns[e] == CLO_TIME_NEVER || from_ns[e] + times_ns[e] >= *least_ns)
            continue;
        *least_ns = from_ns[e] + times_ns[e];
        at = e;
    }
    return at;
}

/* The earliest end of a task with a demand. A search of the capacities is what costs: so those executors come first
 * that may be the best, and most others are not asked for. */
static clo_slot earliest_with_demand(clo_schedule *schedule, uint32_t task, const int64_t *available_ns)
{
    int64_t *from_ns = schedule->row_ns, *times_ns = schedule->times_ns, least_ns;
    clo_slot best = {0, INT64_MAX, CLO_NONE};

    for (uint32_t e = 0; e < schedule->executors; e++) {
        from_ns[e] = schedule->ready_ns[e];
        if (available_ns != NULL && available_ns[e] > from_ns[e])
            from_ns[e] = available_ns[e];
        times_ns[e] = clo_cost_time(schedule->cost, task, e);
        if (times_ns[e] == CLO_TIME_NEVER)
            from_ns[e] = INT64_MAX;
    }
    clo_schedule_raise_starts(schedule, task, from_ns);
    for (uint32_t e = 0; e < schedule->executors; e++)
        if (from_ns[e] != INT64_MAX)
            from_ns[e] = clo_timeline_find(&schedule->timelines[e], from_ns[e], times_ns[e]);
    for (;;) { /* ends: each round takes an executor away */
        uint32_t e = clo_ready_most_promising(schedule->executors, from_ns, times_ns, &least_ns);
        if (e == CLO_NONE || least_ns > best.finish_ns || (least_ns == best.finish_ns && e > best.executor))
            return best;
        int64_t duration = times_ns[e];
        int64_t latest = best.finish_ns - duration + (e < best.executor && best.executor != CLO_NONE);
        int64_t start = clo_schedule_slot_before_ns(schedule, task, e, from_ns[e], duration, latest);
        if (start < latest)
            best = (clo_slot){start, start + duration, e};
        times_ns[e] = CLO_TIME_NEVER;
    }
}

clo_slot clo_schedule_earliest(clo_schedule *schedule, uint32_t instance, const int64_t *available_ns)
{
    uint32_t task = schedule->graph->task_of[instance];
    clo_slot best = {0, INT64_MAX, CLO_NONE};

    clo_schedule_find_ready(schedule, instance);
    if (clo_schedule_has_demand(schedule, task))
        return earliest_with_demand(schedule, task, available_ns);
    const clo_cost *cost = schedule->cost;
    const int64_t *times_ns = &cost->time_ns[(size_t)task * cost->columns], *ready_ns = schedule->ready_ns;
    const uint32_t *column_of = cost->column_of;
    bool is_anywhere = clo_graph_placement(schedule->graph, task) == CLO_NONE;
    for (uint32_t e = 0, count = schedule->executors; e < count; e++) {
        int64_t duration = is_anywhere ? times_ns[column_of[e]] : clo_cost_time(cost, task, e), from = ready_ns[e];
        if (available_ns != NULL && available_ns[e] > from)
            from = available_ns[e];
        if (duration == CLO_TIME_NEVER || from + duration >= best.finish_ns)
            continue; /* cannot run there, or cannot be earlier whatever the gaps */
        int64_t start = clo_timeline_earliest(&schedule->timelines[e], from, duration);
        if (start + duration < best.finish_ns)
            best = (clo_slot){start, start + duration, e};
    }
    assert(best.executor != CLO_NONE); /* a cost exists only if every task has an executor */
    return best;
}

clo_slot clo_ready_append(const clo_ready *ready, uint32_t task, uint32_t executor, int64_t ready_ns)
{
    const clo_schedule *schedule = ready->schedule;
    int64_t duration = clo_cost_time(schedule->cost, task, executor), from = ready->available_ns[executor];

    if (duration == CLO_TIME_NEVER)
        return (clo_slot){0, INT64_MAX, CLO_NONE};
    int64_t start = clo_schedule_slot_ns(schedule, task, executor, ready_ns > from ? ready_ns : from, duration);
    return (clo_slot){start, start + duration, executor};
}

clo_slot clo_ready_append_on(const clo_ready *ready, uint32_t instance, uint32_t executor)
{
    const clo_schedule *schedule = ready->schedule;

    return clo_ready_append(ready, schedule->graph->task_of[instance], executor,
                            clo_schedule_inputs_ns(schedule, instance, executor));
}

clo_slot clo_ready_earliest(clo_ready *ready, uint32_t instance, bool fill_gaps)
{
    return clo_schedule_earliest(ready->schedule, instance, fill_gaps ? NULL : ready->available_ns);
}

void clo_ready_placed(clo_ready *ready, uint32_t instance, uint32_t first_execution)
{
    const clo_schedule *schedule = ready->schedule;
    const clo_graph *graph = schedule->graph;
    uint32_t task = graph->task_of[instance];

    for (uint32_t c = first_execution; c < schedule->count; c++) {
        int64_t *available_ns = &ready->available_ns[schedule->executions[c].executor];
        if (schedule->executions[c].finish_ns > *available_ns)
            *available_ns = schedule->executions[c].finish_ns;
    }
    assert(ready->left[task] > 0);
    if (--ready->left[task] > 0)
        return;
    for (uint32_t at = graph->out_first[task]; at < graph->out_first[task + 1]; at++) {
        uint32_t successor = graph->out[at];
        assert(ready->waiting[successor] > 0);
        if (--ready->waiting[successor] == 0)
            release(ready, successor);
    }
}

clo_status clo_ready_place(clo_ready *ready, uint32_t instance, clo_slot slot)
{
    uint32_t first_execution = ready->schedule->count;
    clo_status status = clo_schedule_place(ready->schedule, instance, slot.executor, slot.start_ns);

    if (status == CLO_OK)
        clo_ready_placed(ready, instance, first_execution);
    return status;
}

int64_t clo_ready_first_idle_ns(const clo_ready *ready)
{
    int64_t first = INT64_MAX;

    for (uint32_t e = 0; e < ready->schedule->executors; e++)
        first = ready->available_ns[e] < first ? ready->available_ns[e] : first;
    return first;
}
