/* check_interval.c - the checker of plans with an interval. Like check.c it shares no code with the planner: it does
 * not know reservation tables, but sorts what each executor does in one interval of the steady state.
 *
 * Release k does what release 0 does, k intervals later. So two executions overlap in some releases exactly where they
 * overlap in time modulo the interval; an execution longer than the interval overlaps itself. Nor do they hold more of
 * a machine together than it has: what reaches over the end of an interval is counted at the begin of it too. */
#include "plan/check/check_interval.h"

#include "base/memory.h"
#include "base/order/sort.h"
#include "base/status.h"
#include "plan/check/check_holds.h"
#include "plan/facts.h"

#include <clotho/pipeline.h>

#include <stdio.h>

/* What an executor does, in the interval in which it begins. */
typedef struct turn {
    int64_t offset_ns, length_ns;
    const clo_placement *placement;
} turn;

static int by_executor_and_offset(const void *left, const void *right)
{
    const turn *a = left, *b = right;

    if (a->placement->executor != b->placement->executor)
        return a->placement->executor < b->placement->executor ? -1 : 1;
    if (a->offset_ns != b->offset_ns)
        return a->offset_ns < b->offset_ns ? -1 : 1;
    if (a->length_ns != b->length_ns)
        return a->length_ns < b->length_ns ? -1 : 1;
    return a->placement < b->placement ? -1 : a->placement > b->placement;
}

static const char *name_of(const clo_cost *cost, const clo_placement *p, char text[100])
{
    char scratch[16];

    snprintf(text, 100, "task '%.60s' instance %u", clo_graph_task_name(clo_cost_graph(cost), p->task, scratch),
             p->instance);
    return text;
}

static clo_status overlap(const clo_cost *cost, const turn *one, const turn *other, int64_t interval_ns)
{
    char first[100], second[100];

    return clo_fail(
        CLO_ERR_INVALID, "%s at %lld ns and %s at %lld ns overlap on executor '%.32s' in other releases, %lld ns apart",
        name_of(cost, one->placement, first), (long long)one->placement->start_ns,
        name_of(cost, other->placement, second), (long long)other->placement->start_ns,
        clo_platform_executor_name(clo_cost_platform(cost), one->placement->executor), (long long)interval_ns);
}

/* turns[0 .. count - 1] of one executor, by offset: each ends before the next begins, and the last before the first of
 * the next interval does. */
static clo_status check_executor(const clo_cost *cost, const turn *turns, size_t count, int64_t interval_ns)
{
    char text[100];

    for (size_t i = 0; i < count; i++) {
        const turn *next = &turns[(i + 1) % count];
        /* Offsets are less than the interval, which may be as long as a time can be. */
        int64_t room_ns = (i + 1 == count ? interval_ns : 0) - turns[i].offset_ns + next->offset_ns;
        if (turns[i].length_ns > interval_ns)
            return clo_fail(CLO_ERR_INVALID, "%s takes %lld ns, longer than the interval of %lld ns",
                            name_of(cost, turns[i].placement, text), (long long)turns[i].length_ns,
                            (long long)interval_ns);
        if (turns[i].length_ns > room_ns)
            return overlap(cost, &turns[i], next, interval_ns);
    }
    return CLO_OK;
}

static clo_status check_turns(const clo_cost *cost, const clo_placement *placements, size_t count, int64_t interval_ns)
{
    turn *turns = clo_allocate(count, sizeof *turns);
    clo_status status = CLO_OK;

    if (turns == NULL)
        return clo_fail_memory("the check of a plan");
    for (size_t i = 0; i < count; i++)
        turns[i] = (turn){placements[i].start_ns % interval_ns, placements[i].finish_ns - placements[i].start_ns,
                          &placements[i]};
    clo_sort(turns, count, sizeof *turns, by_executor_and_offset);
    for (size_t first = 0, end = 0; first < count && status == CLO_OK; first = end) {
        while (end < count && turns[end].placement->executor == turns[first].placement->executor)
            end++;
        status = check_executor(cost, turns + first, end - first, interval_ns);
    }
    clo_free(turns);
    return status;
}

/* What all releases hold in one interval of the steady state. */
static clo_status check_capacities(const clo_cost *cost, const clo_placement *placements, size_t count,
                                   int64_t interval_ns)
{
    clo_hold *holds = clo_allocate(count, 2 * sizeof *holds);
    clo_hold_fault fault = {0};
    char text[CLO_HOLD_TEXT], mine[100];
    size_t held = 0;

    if (holds == NULL)
        return clo_fail_memory("the check of a plan");
    for (size_t i = 0; i < count; i++) {
        const clo_placement *p = &placements[i];
        int64_t offset_ns = p->start_ns % interval_ns, length_ns = p->finish_ns - p->start_ns;
        int64_t over_ns = length_ns - (interval_ns - offset_ns);
        int64_t end_ns = over_ns > 0 ? interval_ns : offset_ns + length_ns;
        holds[held++] = (clo_hold){offset_ns, end_ns, p->task, p->executor, i};
        if (over_ns > 0)
            holds[held++] = (clo_hold){0, over_ns, p->task, p->executor, i};
    }
    clo_status status = clo_check_holds(cost, holds, held, &fault);
    clo_free(holds);
    if (status != CLO_ERR_INVALID)
        return status;
    clo_hold_fault_text(clo_cost_graph(cost), &fault, text);
    return clo_fail(CLO_ERR_INVALID, "%s at %lld ns: %s, by releases %lld ns apart",
                    name_of(cost, &placements[fault.index], mine), (long long)placements[fault.index].start_ns, text,
                    (long long)interval_ns);
}

/* The output of p lives until `consumer` has ended; its buffer is written again `depth` releases later. */
static clo_status check_use(const clo_cost *cost, const clo_placement *p, const clo_placement *consumer, uint32_t depth,
                            int64_t interval_ns)
{
    char mine[100], theirs[100];
    int64_t lives_ns = consumer->finish_ns - p->start_ns;

    if (lives_ns <= 0 || (lives_ns - 1) / interval_ns < (int64_t)depth)
        return CLO_OK;
    return clo_fail(CLO_ERR_INVALID, "%s writes its output again before %s has read it: a depth of %u is too small",
                    name_of(cost, p, mine), name_of(cost, consumer, theirs), depth);
}

/* For each edge only the consumer that ends last: it speaks for the others. */
static clo_status check_depths(const clo_cost *cost, const clo_placement *placements, size_t count,
                               const uint32_t *depths, int64_t interval_ns)
{
    const clo_graph *graph = clo_cost_graph(cost);
    const clo_placement **last = clo_allocate(clo_graph_tasks(graph), sizeof *last);
    const clo_placement **of = clo_allocate(clo_graph_instances(graph), sizeof *of);
    size_t *first = clo_allocate((size_t)clo_graph_tasks(graph) + 1, sizeof *first);
    clo_status status = last != NULL && of != NULL && first != NULL ? CLO_OK : clo_fail_memory("the check of a plan");
    clo_edge edge = {0, 0, 0};

    for (uint32_t t = 0; t < clo_graph_tasks(graph) && status == CLO_OK; t++)
        first[t + 1] = first[t] + clo_graph_ranges(graph, t);
    for (size_t i = 0; i < count && status == CLO_OK; i++) { /* the check of one release: each has one */
        const clo_placement *p = &placements[i];
        of[first[p->task] + p->instance] = p;
        if (last[p->task] == NULL || p->finish_ns > last[p->task]->finish_ns)
            last[p->task] = p;
    }
    for (uint32_t k = 0; k < clo_graph_edges(graph) && status == CLO_OK; k++) {
        clo_task task = {0};
        status = clo_graph_edge(graph, k, &edge);
        if (status == CLO_OK)
            status = clo_graph_task(graph, edge.from, &task);
        for (size_t i = first[edge.from]; i < first[edge.from + 1] && status == CLO_OK && task.output_bytes > 0; i++)
            status = check_use(cost, of[i], last[edge.to], depths[i], interval_ns);
    }
    clo_free(last);
    clo_free(of);
    clo_free(first);
    return status;
}

clo_status clo_plan_check_interval(const clo_plan *plan, const clo_cost *cost)
{
    const clo_graph *graph = clo_cost_graph(cost);
    int64_t interval_ns = clo_plan_interval_ns(plan);
    size_t count;
    const clo_placement *placements = clo_plan_placements(plan, &count);

    for (size_t i = 0; i < count; i++)
        if (placements[i].is_replica)
            return clo_fail(CLO_ERR_INVALID, "the plan has an interval and replicas; a pipeline has none");
    clo_status status = check_turns(cost, placements, count, interval_ns);
    if (status == CLO_OK)
        status = check_capacities(cost, placements, count, interval_ns);
    uint32_t *depths = NULL;
    if (status == CLO_OK && (depths = clo_allocate(clo_graph_instances(graph), sizeof *depths)) == NULL)
        status = clo_fail_memory("the check of a plan");
    if (status == CLO_OK)
        status = clo_plan_buffer_depths(plan, cost, depths);
    if (status == CLO_ERR_ARGUMENT)
        status = CLO_ERR_INVALID; /* of the plan */
    if (status == CLO_OK)
        status = check_depths(cost, placements, count, depths, interval_ns);
    clo_free(depths);
    return status;
}
