/* plan/plan.c - the plan object: one block with the placements in order of time. */
#include "plan/plan.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/order/sort.h"
#include "base/order/sort_keys.h"
#include "base/status.h"

#include <string.h>

/* Placements that are to be in order of time, wherever they come from. */
typedef struct source {
    const clo_graph *graph;
    const clo_schedule *schedule;    /* its executions, or */
    const clo_placement *placements; /* these, whose ids are known to be in range */
    const uint32_t *position;        /* [instances] in the topological order: executions of length 0 may tie in time,
                                        and a replay must start the producer first */
} source;

static clo_placement placement_at(const source *from, uint32_t index)
{
    if (from->schedule == NULL)
        return from->placements[index];
    const clo_execution *execution = &from->schedule->executions[index];
    uint32_t task = from->graph->task_of[execution->instance];

    return (clo_placement){.task = task,
                           .instance = execution->instance - from->graph->first_instance[task],
                           .executor = execution->executor,
                           .is_replica = from->schedule->first_execution[execution->instance] != index,
                           .start_ns = execution->start_ns,
                           .finish_ns = execution->finish_ns};
}

static int64_t start_of(const source *from, uint32_t index)
{
    return from->schedule != NULL ? from->schedule->executions[index].start_ns : from->placements[index].start_ns;
}

/* Placements that start together. */
typedef struct tie {
    clo_placement placement;
    uint32_t position;
} tie;

static int by_rest(const void *left, const void *right)
{
    const tie *a = left, *b = right;
    const clo_placement *p = &a->placement, *q = &b->placement;

    if (p->finish_ns != q->finish_ns)
        return p->finish_ns < q->finish_ns ? -1 : 1;
    if (p->executor != q->executor)
        return p->executor < q->executor ? -1 : 1;
    if (a->position != b->position)
        return a->position < b->position ? -1 : 1;
    return p->is_replica < q->is_replica ? -1 : p->is_replica > q->is_replica;
}

/* Writes `count` placements that start together. false: no memory for more than a few. */
static bool put_ties(const source *from, const clo_sort_key *keys, size_t count, clo_placement *out)
{
    enum { FEW = 16 };
    tie few[FEW], *ties = count <= FEW ? few : clo_allocate(count, sizeof *ties);

    if (ties == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        clo_placement p = placement_at(from, keys[i].index);
        ties[i] = (tie){p, from->position[from->graph->first_instance[p.task] + p.instance]};
    }
    if (count <= FEW) /* by insertion */
        for (size_t i = 1; i < count; i++) {
            tie taken = ties[i];
            size_t at = i;
            for (; at > 0 && by_rest(&ties[at - 1], &taken) > 0; at--)
                ties[at] = ties[at - 1];
            ties[at] = taken;
        }
    else
        clo_sort(ties, count, sizeof *ties, by_rest);
    for (size_t i = 0; i < count; i++)
        out[i] = ties[i].placement;
    if (ties != few)
        clo_free(ties);
    return true;
}

/* Writes the placements of `from` into out[count], in order of time: by start, and what starts together by by_rest. */
static clo_status sort_placements(source from, size_t count, clo_placement *out)
{
    clo_sort_key *keys = NULL, *other = NULL;
    uint32_t *position = NULL;
    clo_block block = {0};
    bool is_good = true;

    if (from.schedule == NULL && from.placements == NULL)
        return CLO_OK; /* an empty plan */
    clo_carve(&block, &keys, count);
    clo_carve(&block, &other, count);
    clo_carve(&block, &position, from.graph->instances);
    void *memory = clo_block_allocate(&block);
    if (memory == NULL)
        return clo_fail_memory("a plan");
    from.position = position;
    for (uint32_t i = 0; i < from.graph->instances; i++)
        position[from.graph->order[i]] = i;
    for (size_t i = 0; i < count; i++)
        keys[i] = (clo_sort_key){clo_sort_key_of(start_of(&from, (uint32_t)i)), (uint32_t)i};
    const clo_sort_key *sorted = clo_sort_keys(keys, other, count);
    for (size_t i = 0, end; i < count && is_good; i = end) {
        end = i + 1;
        while (end < count && sorted[end].key == sorted[i].key)
            end++;
        if (end == i + 1)
            out[i] = placement_at(&from, sorted[i].index);
        else
            is_good = put_ties(&from, sorted + i, end - i, out + i);
    }
    clo_free(memory);
    return is_good ? CLO_OK : clo_fail_memory("a plan");
}

/* A plan with room for `count` placements. */
static clo_plan *allocate_plan(const char *planner, size_t count)
{
    clo_block block = {0};
    clo_plan *plan = NULL;
    clo_placement *placements = NULL;
    char *name = NULL;

    clo_carve(&block, &plan, 1);
    clo_carve(&block, &placements, count);
    clo_carve(&block, &name, strlen(planner) + 1);
    void *memory = clo_block_allocate(&block);
    if (memory == NULL)
        return NULL;
    strcpy(name, planner);
    *plan = (clo_plan){.planner = name, .placements = placements, .count = count, .block = memory};
    return plan;
}

/* Last steps of both ways to make a plan. Frees it on failure. */
static clo_status finish_plan(clo_plan *plan, const clo_cost *cost, source from, clo_plan **out)
{
    const clo_graph *graph = clo_cost_graph(cost);

    from.graph = graph;
    clo_status status = sort_placements(from, plan->count, plan->placements);

    if (status != CLO_OK) {
        clo_plan_destroy(plan);
        return status;
    }
    plan->tasks = graph->tasks;
    plan->instances = graph->instances;
    plan->executors = clo_platform_executors(clo_cost_platform(cost));
    for (size_t i = 0; i < plan->count; i++)
        if (plan->placements[i].finish_ns > plan->makespan_ns)
            plan->makespan_ns = plan->placements[i].finish_ns;
    *out = plan;
    return CLO_OK;
}

clo_status clo_plan_from_schedule(const clo_schedule *schedule, const char *planner, clo_plan **out)
{
    clo_plan *plan = allocate_plan(planner, schedule->count);

    if (plan == NULL)
        return clo_fail_memory("a plan");
    plan->schedules = schedule->schedules;
    plan->is_optimal = schedule->is_optimal;
    return finish_plan(plan, schedule->cost, (source){.schedule = schedule}, out);
}

/* Ids and times of one placement. */
static bool is_valid(const clo_graph *graph, uint32_t executors, const clo_placement *p)
{
    return p->task < graph->tasks && p->instance < graph->rows[p->task].instances && p->executor < executors &&
           p->is_replica <= 1 && p->start_ns >= 0 && p->finish_ns >= p->start_ns;
}

/* Why it is not valid. `index` is for the message. */
static clo_status explain(const clo_graph *graph, uint32_t executors, const clo_placement *placement, size_t index)
{
    if (placement->task >= graph->tasks)
        return clo_fail(CLO_ERR_ARGUMENT, "placement %zu: task %u is unknown; the graph has %u tasks", index,
                        placement->task, graph->tasks);
    if (placement->instance >= graph->rows[placement->task].instances)
        return clo_fail(CLO_ERR_ARGUMENT, "placement %zu: task %u has no instance %u; it has %u", index,
                        placement->task, placement->instance, graph->rows[placement->task].instances);
    if (placement->executor >= executors)
        return clo_fail(CLO_ERR_ARGUMENT, "placement %zu: executor %u is unknown; the platform has %u executors", index,
                        placement->executor, executors);
    if (placement->is_replica > 1)
        return clo_fail(CLO_ERR_ARGUMENT, "placement %zu: is_replica is %u; use 0 or 1", index, placement->is_replica);
    return clo_fail(CLO_ERR_ARGUMENT, "placement %zu: from %lld to %lld ns; use 0 <= start <= finish", index,
                    (long long)placement->start_ns, (long long)placement->finish_ns);
}

static clo_status validate(const clo_cost *cost, const clo_placement *placements, size_t count)
{
    const clo_graph *graph = clo_cost_graph(cost);
    uint32_t executors = clo_platform_executors(clo_cost_platform(cost));

    for (size_t i = 0; i < count; i++)
        if (!is_valid(graph, executors, &placements[i]))
            return explain(graph, executors, &placements[i], i);
    return CLO_OK;
}

clo_status clo_plan_from_placements(const clo_cost *cost, const char *planner, const clo_placement *placements,
                                    size_t count, clo_plan **out)
{
    if (cost == NULL || out == NULL || (placements == NULL && count > 0))
        return clo_fail_null("clo_plan_from_placements", "cost, out or placements");
    if (count >= CLO_NONE)
        return clo_fail(CLO_ERR_ARGUMENT, "%zu placements; give fewer than 2^32 - 1", count);
    clo_status status = validate(cost, placements, count);
    if (status != CLO_OK)
        return status;
    clo_plan *plan = allocate_plan(planner != NULL ? planner : "own", count);
    if (plan == NULL)
        return clo_fail_memory("a plan");
    return finish_plan(plan, cost, (source){.placements = placements}, out);
}

void clo_plan_destroy(clo_plan *plan)
{
    if (plan == NULL)
        return;
    clo_free(plan->outcome);
    clo_free(plan->name);
    clo_free(plan->block);
}

clo_status clo_plan_set_planner(clo_plan *plan, const char *planner)
{
    if (plan == NULL || planner == NULL)
        return clo_fail_null("clo_plan_set_planner", "plan or planner");
    char *name = clo_allocate(strlen(planner) + 1, 1);
    if (name == NULL)
        return clo_fail_memory("the name of a planner");
    memcpy(name, planner, strlen(planner) + 1);
    clo_free(plan->name);
    plan->planner = plan->name = name;
    return CLO_OK;
}

bool clo_plan_is_skipped(const clo_plan *plan, uint32_t task)
{
    return plan != NULL && plan->outcome != NULL && task < plan->tasks && plan->outcome[task].skipped != 0;
}

const char *clo_plan_planner(const clo_plan *plan)
{
    return plan != NULL ? plan->planner : NULL;
}

int64_t clo_plan_makespan_ns(const clo_plan *plan)
{
    return plan != NULL ? plan->makespan_ns : 0;
}

uint64_t clo_plan_schedules(const clo_plan *plan)
{
    return plan != NULL ? plan->schedules : 0;
}

bool clo_plan_is_optimal(const clo_plan *plan)
{
    return plan != NULL && plan->is_optimal;
}

const clo_placement *clo_plan_placements(const clo_plan *plan, size_t *count)
{
    if (count != NULL)
        *count = plan != NULL ? plan->count : 0;
    return plan != NULL ? plan->placements : NULL;
}

clo_status clo_plan_matches(const clo_plan *plan, const clo_cost *cost)
{
    if (plan == NULL || cost == NULL)
        return clo_fail_null("clo_plan_matches", "plan or cost");
    const clo_graph *graph = clo_cost_graph(cost);
    uint32_t executors = clo_platform_executors(clo_cost_platform(cost));

    if (plan->tasks != graph->tasks || plan->instances != graph->instances)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "the plan is for another graph: of %u tasks and %u instances, this one has %u and %u",
                        plan->tasks, plan->instances, graph->tasks, graph->instances);
    if (plan->executors != executors)
        return clo_fail(CLO_ERR_ARGUMENT, "the plan is for another platform: of %u executors, this one has %u",
                        plan->executors, executors);
    return validate(cost, plan->placements, plan->count) == CLO_OK
               ? CLO_OK
               : clo_fail_prefix(CLO_ERR_ARGUMENT, "the plan is for another graph or platform: ");
}
