/* plan/rcpsp/sgs.c - schedule generation with a rule that is fixed beforehand (Kolisch, "Serial and parallel
 * resource-constrained project scheduling methods revisited", EJOR 90, 1996), and the rules of the packing literature.
 *
 *   sgs-serial, sgs-parallel             the longest path to an end first (rank_u)
 *   sgs-serial-backward, -parallel-      from the end of the graph: the longest path to a beginning first
 *   critical-path                        as sgs-parallel: the baseline of Graphene and of the learned packers
 *   breadth-first                        the fewest edges from an entry first, in the longest path; parallel
 *   random                               an order drawn with the seed of the configuration; parallel
 *
 * The parallel scheme scans all that is ready, not only up to the first that does not fit. Ties: the lowest instance.
 * Fragments count: each machine has its own free shares, and an instance runs on one. Where the problem is no
 * packing the same order is dispatched (priority.h); backward has no counterpart there, because the times of
 * transfers depend on where the data come from: these two then order by rank_u as the forward ones do. */
#include "plan/rcpsp/priority.h"
#include "plan/schedule/planner.h"

#include "base/memory.h"
#include "base/numbers/rng.h"
#include "base/status.h"

/* The keys of a rule, [instances]; work: [instances] scratch. */
typedef void (*rule)(const clo_cost *cost, uint64_t seed, int64_t *work, int64_t *keys);

static clo_status fill(clo_schedule *schedule, const clo_plan_config *config, rule by, clo_priority_order way)
{
    uint32_t n = schedule->graph->instances;
    int64_t *keys = clo_allocate(2 * (size_t)n, sizeof *keys);

    if (keys == NULL)
        return clo_fail_memory("a plan");
    by(schedule->cost, config->seed, keys + n, keys);
    clo_status status = clo_priority_fill(schedule, keys, way);
    clo_free(keys);
    return status;
}

static void by_way_to_end(const clo_cost *cost, uint64_t seed, int64_t *work, int64_t *keys)
{
    (void)seed;
    clo_cost_rank_u(cost, work);
    for (uint32_t i = 0; i < cost->graph->instances; i++)
        keys[i] = -work[cost->graph->task_of[i]];
}

static void by_way_to_begin(const clo_cost *cost, uint64_t seed, int64_t *work, int64_t *keys)
{
    (void)seed;
    clo_cost_rank_d(cost, work);
    for (uint32_t i = 0; i < cost->graph->instances; i++) {
        uint32_t task = cost->graph->task_of[i];
        keys[i] = -(work[task] + cost->mean_ns[task]);
    }
}

/* NOLINTNEXTLINE(readability-non-const-parameter): one type for all */
static void by_level(const clo_cost *cost, uint64_t seed, int64_t *work, int64_t *keys)
{
    const clo_graph *graph = cost->graph;

    (void)seed;
    (void)work;
    for (uint32_t i = 0; i < graph->tasks; i++) {
        uint32_t t = graph->task_order[i];
        int64_t level = 0;
        for (uint32_t edge = graph->in_first[t]; edge < graph->in_first[t + 1]; edge++) {
            int64_t before = keys[graph->first_instance[clo_graph_source(graph, edge)]];
            level = before >= level ? before + 1 : level;
        }
        for (uint32_t v = graph->first_instance[t]; v < graph->first_instance[t + 1]; v++)
            keys[v] = level;
    }
}

/* NOLINTNEXTLINE(readability-non-const-parameter): one type for all */
static void by_chance(const clo_cost *cost, uint64_t seed, int64_t *work, int64_t *keys)
{
    clo_rng rng = clo_rng_seed(seed);

    (void)work;
    for (uint32_t i = 0; i < cost->graph->instances; i++)
        keys[i] = (int64_t)(clo_rng_next(&rng) >> 1);
}

static clo_status sgs_serial_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    return fill(schedule, config, by_way_to_end, CLO_PRIORITY_SERIAL);
}

static clo_status sgs_parallel_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    return fill(schedule, config, by_way_to_end, CLO_PRIORITY_PARALLEL);
}

/* Keys for the other end would order a dispatch the wrong way round. */
static clo_status fill_backward(clo_schedule *schedule, const clo_plan_config *config, clo_priority_order way)
{
    clo_rcpsp problem;
    clo_status status = clo_rcpsp_open(&problem, schedule->cost);

    clo_rcpsp_close(&problem);
    if (status != CLO_OK && status != CLO_ERR_UNSUPPORTED)
        return status;
    return fill(schedule, config, status == CLO_OK ? by_way_to_begin : by_way_to_end, way);
}

static clo_status sgs_serial_backward_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    return fill_backward(schedule, config, CLO_PRIORITY_SERIAL_BACKWARD);
}

static clo_status sgs_parallel_backward_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    return fill_backward(schedule, config, CLO_PRIORITY_PARALLEL_BACKWARD);
}

static clo_status breadth_first_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    return fill(schedule, config, by_level, CLO_PRIORITY_PARALLEL);
}

static clo_status random_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    return fill(schedule, config, by_chance, CLO_PRIORITY_PARALLEL);
}

const clo_planner clo_planner_sgs_serial = {
    .name = "sgs-serial",
    .summary = "packing: longest path to an end first, each at its earliest time (Kolisch 1996)",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = sgs_serial_fill,
};

const clo_planner clo_planner_sgs_parallel = {
    .name = "sgs-parallel",
    .summary = "packing: by a clock, of what fits the longest path to an end first (Kolisch 1996)",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = sgs_parallel_fill,
};

const clo_planner clo_planner_sgs_serial_backward = {
    .name = "sgs-serial-backward",
    .summary = "sgs-serial from the end of the graph",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = sgs_serial_backward_fill,
};

const clo_planner clo_planner_sgs_parallel_backward = {
    .name = "sgs-parallel-backward",
    .summary = "sgs-parallel from the end of the graph",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = sgs_parallel_backward_fill,
};

const clo_planner clo_planner_critical_path = {
    .name = "critical-path",
    .summary = "the packing baseline: sgs-parallel by its usual name",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = sgs_parallel_fill,
};

const clo_planner clo_planner_breadth_first = {
    .name = "breadth-first",
    .summary = "packing: by a clock, level by level",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = breadth_first_fill,
};

const clo_planner clo_planner_random = {
    .name = "random",
    .summary = "packing: by a clock, in random order",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = random_fill,
};
