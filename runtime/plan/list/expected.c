/* plan/list/expected.c - HEFT by the chances of branches (clotho/branch.h): for graphs of which most outcomes skip
 * much.
 *
 * The worst case, that all arms run, decides too much where the long arms are unlikely: they come first, and whole
 * executors are kept for them. Here a task's *expected time* is its time times the chance that it runs
 * (graph/shape/outcomes.h). HEFT makes four schedules: its order (rank_u) and its placement go by worst or by expected
 * times, each. Of each the order on every executor is kept and run in OUTCOMES_TRIED drawn outcomes, as replay would
 * (what is skipped takes no time and keeps its place); the order with the least mean makespan wins, the worst case of
 * equal ones.
 *
 * Invariant: the plan that comes out is one for worst times, without gaps to fill later: it passes the checker, and
 * holds for every outcome. Its makespan, where all arms run, is mostly longer than HEFT's: it is no planner for hard
 * deadlines.
 *
 * In the trial runs of the outcomes capacities of machines do not count, and of a producer of several instances the one
 * that ends last stands for all. Without branches this is HEFT. */
#include "graph/shape/outcomes.h"
#include "plan/schedule/planner.h"
#include "plan/schedule/ready.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/order/sort_keys.h"
#include "base/status.h"

#include <string.h>

enum { OUTCOMES_TRIED = 64 };

/* Which executor runs each instance, and in which order. */
typedef struct sequence {
    uint32_t *instances; /* [instances] by start */
    uint32_t *executors; /* [instances], by instance */
} sequence;

typedef struct expecting {
    clo_schedule *schedule; /* of worst times */
    clo_schedule expected;  /* of expected ones */
    struct clo_cost cost;   /* of those */
    clo_outcomes outcomes;
    sequence best, tried;
    uint64_t best_sum;               /* of the makespans in the outcomes, saturated */
    int64_t *free_ns, *finish_ns;    /* [executors]; [tasks] of the instance that ends last */
    uint32_t *last_on;               /* [tasks] where that ran */
    clo_sort_key *keys, *other_keys; /* [instances] */
    uint32_t *place;                 /* [instances] in the order of placement */
    void *block;
} expecting;

static clo_status take_memory(expecting *x)
{
    const clo_graph *graph = x->schedule->graph;
    clo_block block = {0};

    clo_carve(&block, &x->best.instances, graph->instances);
    clo_carve(&block, &x->best.executors, graph->instances);
    clo_carve(&block, &x->tried.instances, graph->instances);
    clo_carve(&block, &x->tried.executors, graph->instances);
    clo_carve(&block, &x->free_ns, x->schedule->executors);
    clo_carve(&block, &x->finish_ns, graph->tasks);
    clo_carve(&block, &x->last_on, graph->tasks);
    clo_carve(&block, &x->keys, graph->instances);
    clo_carve(&block, &x->other_keys, graph->instances);
    clo_carve(&block, &x->place, graph->instances);
    clo_carve(&block, &x->cost.time_ns, (size_t)graph->tasks * x->cost.columns);
    clo_carve(&block, &x->cost.mean_ns, graph->tasks);
    x->block = clo_block_allocate(&block);
    return x->block != NULL ? CLO_OK : clo_fail_memory("a plan by chances");
}

/* time * count / CLO_OUTCOMES, without an overflow. */
static int64_t expect(int64_t time_ns, uint32_t count)
{
    if (time_ns == CLO_TIME_NEVER)
        return time_ns;
    return time_ns / CLO_OUTCOMES * count + time_ns % CLO_OUTCOMES * count / CLO_OUTCOMES;
}

static void expect_times(expecting *x)
{
    const clo_cost *worst = x->schedule->cost;
    size_t columns = worst->columns;

    for (uint32_t t = 0; t < x->schedule->graph->tasks; t++) {
        uint32_t count = clo_outcomes_count(&x->outcomes, t);
        for (size_t c = 0; c < columns; c++)
            x->cost.time_ns[t * columns + c] = expect(worst->time_ns[t * columns + c], count);
        x->cost.mean_ns[t] = expect(worst->mean_ns[t], count);
    }
}

/* HEFT. The order is in x->place. */
static clo_status fill_heft(const expecting *x, clo_schedule *schedule)
{
    clo_status status = CLO_OK;

    clo_schedule_clear(schedule);
    for (uint32_t i = 0; i < schedule->graph->instances && status == CLO_OK; i++) {
        clo_slot slot = clo_schedule_earliest(schedule, x->place[i], NULL);
        status = clo_schedule_place(schedule, x->place[i], slot.executor, slot.start_ns);
    }
    return status;
}

/* By start; what starts together as it was placed: the sort keeps that order, in which producers come first. */
static void take_sequence(const expecting *x, const clo_schedule *schedule)
{
    uint32_t instances = schedule->graph->instances;

    for (uint32_t i = 0; i < instances; i++) {
        const clo_execution *execution = &schedule->executions[schedule->first_execution[x->place[i]]];
        x->keys[i] = (clo_sort_key){clo_sort_key_of(execution->start_ns), execution->instance};
        x->tried.executors[execution->instance] = execution->executor;
    }
    const clo_sort_key *sorted = clo_sort_keys(x->keys, x->other_keys, instances);
    for (uint32_t i = 0; i < instances; i++)
        x->tried.instances[i] = sorted[i].index;
}

/* When all inputs of a task are on the executor; of one that is skipped, when they are settled. */
static int64_t inputs_ns(const expecting *x, uint32_t task, uint32_t executor, uint32_t outcome)
{
    const clo_schedule *schedule = x->schedule;
    const clo_graph *graph = schedule->graph;
    bool is_run = clo_outcomes_has(&x->outcomes, task, outcome);
    int64_t latest_ns = 0;

    for (uint32_t e = graph->in_first[task]; e < graph->in_first[task + 1]; e++) {
        uint32_t from = clo_graph_source(graph, e);
        int64_t there_ns = x->finish_ns[from];
        if (is_run && clo_outcomes_has(&x->outcomes, from, outcome))
            there_ns += clo_schedule_transfer_ns(schedule, clo_graph_in_bytes(graph, e), x->last_on[from], executor);
        latest_ns = there_ns > latest_ns ? there_ns : latest_ns;
    }
    return latest_ns;
}

/* The makespan of what was tried, in one outcome. */
static int64_t run_outcome(const expecting *x, uint32_t outcome)
{
    const clo_schedule *schedule = x->schedule;
    const clo_graph *graph = schedule->graph;
    int64_t end_ns = 0;

    memset(x->free_ns, 0, schedule->executors * sizeof *x->free_ns);
    memset(x->finish_ns, 0, graph->tasks * sizeof *x->finish_ns);
    for (uint32_t i = 0; i < graph->instances; i++) {
        uint32_t instance = x->tried.instances[i], task = graph->task_of[instance];
        uint32_t executor = x->tried.executors[instance];
        int64_t now_ns = inputs_ns(x, task, executor, outcome);
        if (now_ns < x->free_ns[executor])
            now_ns = x->free_ns[executor];
        if (clo_outcomes_has(&x->outcomes, task, outcome))
            now_ns += clo_cost_time(schedule->cost, task, executor);
        x->free_ns[executor] = now_ns;
        if (now_ns >= x->finish_ns[task]) {
            x->finish_ns[task] = now_ns;
            x->last_on[task] = executor;
        }
        end_ns = now_ns > end_ns ? now_ns : end_ns;
    }
    return end_ns;
}

static void keep_if_best(expecting *x)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < OUTCOMES_TRIED; i++)
        if (__builtin_add_overflow(sum, (uint64_t)run_outcome(x, i * (CLO_OUTCOMES / OUTCOMES_TRIED)), &sum))
            sum = UINT64_MAX - 1;
    if (sum >= x->best_sum)
        return;
    sequence was = x->best;
    x->best_sum = sum;
    x->best = x->tried;
    x->tried = was;
}

/* Ranks by one kind of times, placement by the other or the same. */
static clo_status try_heft(expecting *x, clo_schedule *ranks, clo_schedule *places)
{
    clo_status status = clo_schedule_order(ranks);

    if (status == CLO_OK) {
        memcpy(x->place, ranks->order, ranks->graph->instances * sizeof *x->place);
        status = fill_heft(x, places);
    }
    if (status == CLO_OK) {
        x->schedule->schedules++;
        take_sequence(x, places);
        keep_if_best(x);
    }
    return status;
}

/* The best order, with worst times, each as early as its executor's order lets it. */
static clo_status place_best(expecting *x)
{
    clo_schedule *schedule = x->schedule;
    clo_status status = CLO_OK;

    clo_schedule_clear(schedule);
    memset(x->free_ns, 0, schedule->executors * sizeof *x->free_ns);
    for (uint32_t i = 0; i < schedule->graph->instances && status == CLO_OK; i++) {
        uint32_t instance = x->best.instances[i], task = schedule->graph->task_of[instance];
        uint32_t executor = x->best.executors[instance];
        int64_t duration_ns = clo_cost_time(schedule->cost, task, executor);
        int64_t ready_ns = clo_schedule_inputs_ns(schedule, instance, executor);
        if (ready_ns < x->free_ns[executor])
            ready_ns = x->free_ns[executor];
        int64_t start_ns = clo_schedule_slot_ns(schedule, task, executor, ready_ns, duration_ns);
        status = clo_schedule_place(schedule, instance, executor, start_ns);
        x->free_ns[executor] = start_ns + duration_ns;
    }
    return status;
}

static clo_status fill_by_chances(expecting *x)
{
    clo_status status = take_memory(x);

    if (status != CLO_OK)
        return status;
    expect_times(x);
    status = clo_schedule_open(&x->expected, &x->cost, 1);
    if (status != CLO_OK)
        return status;
    x->expected.stop_ns = x->schedule->stop_ns;
    for (unsigned kind = 0; kind < 4 && status == CLO_OK; kind++)
        status = try_heft(x, kind & 1 ? &x->expected : x->schedule, kind & 2 ? &x->expected : x->schedule);
    clo_schedule_close(&x->expected);
    return status == CLO_OK ? place_best(x) : status;
}

static clo_status fill(clo_schedule *schedule, const clo_plan_config *config)
{
    expecting x = {.schedule = schedule, .cost = *schedule->cost, .best_sum = UINT64_MAX};

    if (clo_graph_branches(schedule->graph) == 0)
        return clo_planner_heft.fill(schedule, config);
    clo_status status = clo_outcomes_open(&x.outcomes, schedule->graph);
    if (status == CLO_OK)
        status = fill_by_chances(&x);
    clo_outcomes_close(&x.outcomes);
    clo_free(x.block);
    return status;
}

const clo_planner clo_planner_heft_expected = {
    .name = "heft-expected",
    .summary = "HEFT by expected times: a task counts with the chance that it runs (branches)",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = fill,
};
