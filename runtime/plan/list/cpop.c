/* plan/list/cpop.c - CPOP, critical path on a processor: Topcuoglu, Hariri, Wu, "Performance-Effective and
 * Low-Complexity Task Scheduling for Heterogeneous Computing", IEEE TPDS 13(3), 2002, section 4.3.
 *
 * Ready instances in order of falling rank_u + rank_d (ties: the lowest id). Those on the critical path go to the
 * executor that takes least time for all of it, the others where they end first, gaps filled (ties: the lowest
 * executor).
 *
 *   The paper. The path is one path, and of a task with several instances only the first one lies on it:
 *              no path passes through two, and all of them on one executor would run one after another.
 *   SAGA's rules, on platforms that follow its conventions (mean_includes_self): rank_d counts a task's own time
 *              instead of its producer's, and as work over the mean speed (here: the harmonic mean of its times, which
 *              is the same where speeds are uniform); critical is every task whose sum of ranks is within 1e-5 of the
 *              largest of an entry.
 *
 * Beyond the paper: where no executor can run all of the path, the one that can run most of it is taken (ties: in
 * the least time, then the lowest), and what it cannot run is placed like the others; capacities of machines.
 *
 * O(edges * executors) for the arrivals and one search in each executor's timeline an instance. */
#include "plan/schedule/planner.h"

#include "base/memory.h"
#include "base/status.h"
#include "plan/schedule/ready.h"

#include <assert.h>

typedef struct cpop {
    int64_t *rank_ns;     /* [tasks] rank_u + rank_d                  */
    uint32_t *path;       /* [tasks] scratch                          */
    uint8_t *is_critical; /* [tasks]                                  */
    uint32_t executor;    /* of the critical path                     */
    bool is_saga;
} cpop;

/* Work over the mean speed: executors / sum of (1 / time), over those that can run the task. The quotients are taken
 * relative to the least time, which keeps 30 bits for each of up to 2^14 executors. */
static int64_t harmonic_mean(const clo_cost *cost, uint32_t task)
{
    uint32_t executors = cost->platform->executors_count, count = 0;
    int64_t least = clo_cost_fastest(cost, task);
    uint64_t sum_q30 = 0;

    if (least == 0)
        return 0;
    for (uint32_t e = 0; e < executors; e++) {
        int64_t time_ns = clo_cost_time(cost, task, e);
        if (time_ns == CLO_TIME_NEVER)
            continue;
        sum_q30 += (uint64_t)((((clo_u128)least << 30) + (uint64_t)time_ns / 2) / (uint64_t)time_ns);
        count++;
    }
    assert(sum_q30 > 0); /* the executor of the least time is one of them */
    return (int64_t)((((clo_u128)least * count << 30) + sum_q30 / 2) / sum_q30);
}

/* rank_d of SAGA; sums fit as rank_d's do, because no harmonic mean is above the longest time. */
static void saga_rank_d(const clo_cost *cost, int64_t *out)
{
    const clo_graph *graph = cost->graph;

    for (uint32_t i = 0; i < graph->tasks; i++) {
        uint32_t task = graph->task_order[i];
        int64_t own = harmonic_mean(cost, task);
        out[task] = 0;
        for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++) {
            int64_t way = out[clo_graph_source(graph, edge)] + own +
                          clo_cost_mean_transfer_ns(cost, clo_graph_in_bytes(graph, edge));
            if (way > out[task])
                out[task] = way;
        }
    }
}

/* rank_ns, with `scratch` of one value a task. */
static void find_ranks(cpop *c, const clo_cost *cost, int64_t *scratch)
{
    clo_cost_rank_u(cost, c->rank_ns);
    if (c->is_saga)
        saga_rank_d(cost, scratch);
    else
        clo_cost_rank_d(cost, scratch);
    for (uint32_t t = 0; t < cost->graph->tasks; t++)
        c->rank_ns[t] += scratch[t];
}

/* is_critical as in SAGA: as near to the largest rank of an entry as numpy's isclose asks. */
static void mark_close(cpop *c, const clo_graph *graph)
{
    int64_t highest = 0;

    for (uint32_t t = 0; t < graph->tasks; t++) {
        if (graph->in_first[t] == graph->in_first[t + 1] && c->rank_ns[t] > highest)
            highest = c->rank_ns[t];
    }
    for (uint32_t t = 0; t < graph->tasks; t++) {
        int64_t distance = c->rank_ns[t] > highest ? c->rank_ns[t] - highest : highest - c->rank_ns[t];
        c->is_critical[t] = distance <= highest / 100000;
    }
}

static clo_status mark_critical(cpop *c, const clo_cost *cost)
{
    if (c->is_saga) {
        mark_close(c, cost->graph);
        return CLO_OK;
    }
    uint32_t length = clo_cost_critical_path(cost, c->path);
    if (length == 0)
        return cost->graph->tasks == 0 ? CLO_OK : clo_fail_memory("a plan");
    for (uint32_t i = 0; i < length; i++)
        c->is_critical[c->path[i]] = 1;
    return CLO_OK;
}

static uint32_t critical_executor(const cpop *c, const clo_schedule *schedule)
{
    uint32_t best = 0, most = 0;
    int64_t least = 0;

    for (uint32_t e = 0; e < schedule->executors; e++) {
        uint32_t count = 0;
        int64_t time = 0;
        for (uint32_t t = 0; t < schedule->graph->tasks; t++) {
            int64_t each = c->is_critical[t] ? clo_cost_time(schedule->cost, t, e) : CLO_TIME_NEVER;
            if (each == CLO_TIME_NEVER)
                continue;
            count++;
            time += each;
        }
        if (count > most || (count == most && time < least)) {
            best = e;
            most = count;
            least = time;
        }
    }
    return best;
}

static clo_slot choose(const cpop *c, clo_ready *ready, uint32_t instance)
{
    clo_schedule *schedule = ready->schedule;
    uint32_t task = schedule->graph->task_of[instance];
    int64_t duration = clo_cost_time(schedule->cost, task, c->executor);

    if (!c->is_critical[task] || schedule->graph->first_instance[task] != instance || duration == CLO_TIME_NEVER)
        return clo_ready_earliest(ready, instance, true);
    int64_t start = clo_schedule_slot_ns(schedule, task, c->executor,
                                         clo_schedule_inputs_ns(schedule, instance, c->executor), duration);
    return (clo_slot){start, start + duration, c->executor};
}

static clo_status place_all(const cpop *c, clo_schedule *schedule)
{
    clo_ready ready;
    clo_status status = clo_ready_open(&ready, schedule);
    uint32_t instance;
    if (status != CLO_OK)
        return status;

    while (status == CLO_OK && schedule->count < schedule->graph->instances) { /* ends: some instance is always ready */
        while (clo_ready_next(&ready, &instance))
            clo_heap_push(&ready.heap, -c->rank_ns[schedule->graph->task_of[instance]], instance);
        instance = (uint32_t)clo_heap_pop(&ready.heap).id;
        status = clo_ready_place(&ready, instance, choose(c, &ready, instance));
    }
    clo_ready_close(&ready);
    return status;
}

static clo_status fill(clo_schedule *schedule, bool is_saga)
{
    uint32_t tasks = schedule->graph->tasks;
    cpop c = {.is_saga = is_saga};
    int64_t *scratch = clo_allocate(tasks, sizeof *scratch);
    clo_status status = CLO_OK;

    c.rank_ns = clo_allocate(tasks, sizeof *c.rank_ns);
    c.path = clo_allocate(tasks, sizeof *c.path);
    c.is_critical = clo_allocate(tasks, 1);
    if (scratch == NULL || c.rank_ns == NULL || c.path == NULL || c.is_critical == NULL) {
        status = clo_fail_memory("a plan");
    } else {
        find_ranks(&c, schedule->cost, scratch);
        status = mark_critical(&c, schedule->cost);
    }
    if (status == CLO_OK) {
        c.executor = critical_executor(&c, schedule);
        status = place_all(&c, schedule);
    }
    clo_free(scratch);
    clo_free(c.rank_ns);
    clo_free(c.path);
    clo_free(c.is_critical);
    return status;
}

static clo_status cpop_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    (void)config;
    return fill(schedule, schedule->platform->mean_includes_self);
}

const clo_planner clo_planner_cpop = {
    .name = "cpop",
    .summary = "critical path on one processor, the rest by earliest finish time (Topcuoglu, Hariri, Wu 2002)",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = cpop_fill,
};
