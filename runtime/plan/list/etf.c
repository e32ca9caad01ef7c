/* plan/list/etf.c - the best pair of ready instance and executor: ETF and DLS.
 *
 *   etf  earliest task first: Hwang, Chow, Anger, Lee, "Scheduling Precedence Graphs in Systems with Interprocessor
 *        Communication Times", SIAM J. Computing 18(2), 1989. The pair with the earliest start; ties: the highest
 *        static level, then the lowest id, then the lowest executor. The paper moves a clock from one completion to the
 *        next; always to take the earliest start of all pairs gives the same starts without one.
 *   dls  dynamic level scheduling: Sih, Lee, "A Compile-Time Scheduling Heuristic for Interconnection-Constrained
 *        Heterogeneous Processor Architectures", IEEE TPDS 4(2), 1993. The pair with the highest static level - start +
 *        (mean time - time there); ties: the lowest id, then the lowest executor. Mean times instead of the
 *        paper's medians; of its generalised level neither the descendants' nor the resources' term.
 *
 * The static level is the longest path to an exit in mean times, without transfers. Both append, fill no gaps. Beyond
 * the papers: placement masks, capacities of machines, instances (of a task they look alike: one stands for all).
 *
 * The pair with the highest dynamic level is the one with the least end - level - mean time: pick/row.h. */

#include "base/memory.h"
#include "base/order/sort.h"
#include "base/status.h"
#include "plan/pick/row.h"
#include "plan/schedule/planner.h"

typedef struct level_key {
    int64_t level_ns;
    uint32_t task;
} level_key;

/* In reverse topological order: successors are complete. */
static void find_levels(const clo_cost *cost, int64_t *level_ns)
{
    const clo_graph *graph = cost->graph;

    for (uint32_t i = graph->tasks; i-- > 0;) {
        uint32_t task = graph->task_order[i];
        level_ns[task] += cost->mean_ns[task];
        for (uint32_t edge = graph->in_first[task]; edge < graph->in_first[task + 1]; edge++) {
            int64_t *above = &level_ns[clo_graph_source(graph, edge)];
            *above = level_ns[task] > *above ? level_ns[task] : *above;
        }
    }
}

static int by_falling_level(const void *left, const void *right)
{
    const level_key *a = left, *b = right;

    if (a->level_ns != b->level_ns)
        return a->level_ns > b->level_ns ? -1 : 1;
    return a->task < b->task ? -1 : a->task > b->task;
}

/* ETF: the order in which ties are broken. Returns CLO_OK or CLO_ERR_MEMORY. */
static clo_status find_places(uint32_t tasks, const int64_t *level_ns, uint32_t *place)
{
    level_key *keys = clo_allocate(tasks, sizeof *keys);

    if (keys == NULL)
        return clo_fail_memory("the levels of a plan");
    for (uint32_t t = 0; t < tasks; t++)
        keys[t] = (level_key){level_ns[t], t};
    clo_sort(keys, tasks, sizeof *keys, by_falling_level);
    for (uint32_t i = 0; i < tasks; i++)
        place[keys[i].task] = i;
    clo_free(keys);
    return CLO_OK;
}

static clo_status etf_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    uint32_t tasks = schedule->graph->tasks;
    int64_t *level_ns = clo_allocate(tasks, sizeof *level_ns);
    uint32_t *place = clo_allocate(tasks, sizeof *place);
    clo_status status = level_ns == NULL || place == NULL ? clo_fail_memory("a plan") : CLO_OK;

    (void)config;
    if (status == CLO_OK) {
        find_levels(schedule->cost, level_ns);
        status = find_places(tasks, level_ns, place);
    }
    if (status == CLO_OK)
        status = clo_row_fill(schedule, &(clo_row_order){.rule = CLO_PICK_START, .place = place});
    clo_free(level_ns);
    clo_free(place);
    return status;
}

static clo_status dls_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    uint32_t tasks = schedule->graph->tasks;
    int64_t *offset_ns = clo_allocate(tasks, sizeof *offset_ns);

    (void)config;
    if (offset_ns == NULL)
        return clo_fail_memory("a plan");
    find_levels(schedule->cost, offset_ns);
    for (uint32_t t = 0; t < tasks; t++)
        offset_ns[t] = -offset_ns[t] - schedule->cost->mean_ns[t];
    clo_status status = clo_row_fill(schedule, &(clo_row_order){.rule = CLO_PICK_LEAST, .offset_ns = offset_ns});
    clo_free(offset_ns);
    return status;
}

const clo_planner clo_planner_etf = {
    .name = "etf",
    .summary = "of all ready tasks and executors the pair with the earliest start (Hwang et al. 1989)",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = etf_fill,
};

const clo_planner clo_planner_dls = {
    .name = "dls",
    .summary = "of all ready tasks and executors the pair with the highest dynamic level (Sih, Lee 1993)",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = dls_fill,
};
