/* plan/midpoint/midpoint.c - lp-midpoint: list scheduling by LP midpoints (Munier, Queyranne, Schulz, "Approximation
 * bounds for a general class of precedence constrained parallel machine scheduling problems", 1998; Hall, Schulz,
 * Shmoys, Wein 1997 for intervals). It stands for the column "OR-Tools" of Hua et al., which follows the order of a
 * relaxation: theirs, with a variable for each pair of tasks, says nothing beyond the longest paths.
 *
 *   x[t][l]  share of task t that is done in interval l; all instances of a task together     sum over l = 1
 *   M[t]     mean time at which the task is done                                              sum of middle * x
 *   C        the makespan
 *
 *   capacities  in each interval the work of all tasks fits into the executors, and into each resource of all machines
 *   edges       M[u] - span[u] / 2 >= M[t] + span[t] / 2: u begins when t has ended
 *   ends        C >= M[t] + span[t] / 2
 *
 * min C + a small part of the mean of M, so that tasks beside the longest path are early, too. A span is the time of a
 * task, or longer where not all its instances can run at once. Nothing of a task is done before the longest path to it
 * ends. The horizon is the longest path and the largest load together; up to there intervals are equally long, and the
 * one behind it has no limit. Transfers take no time in it, and executors are alike: the schedule knows of these. It is
 * built in order of rising M, each task at its earliest time (serial, plan/rcpsp/priority.h).
 *
 * Deviation: no bound is taken from it; M only orders. */
#include "plan/rcpsp/priority.h"
#include "plan/schedule/planner.h"
#include "plan/synch_lp/lp.h"

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"
#include "cost/cost.h"
#include "platform/model/platform.h"

/* Columns x wanted; intervals, least and most; how many seconds the solver may take without a budget; bits of the
 * longest path that break ties. */
enum { COLUMNS_WANTED = 6000, INTERVALS_MIN = 4, INTERVALS_MAX = 16, SECONDS_MAX = 60, TIE_BITS = 20 };

/* Of the mean of M beside C. */
#define SHARE_OF_MEANS 0.05

/* No limit of what a resource may do in an interval. */
enum { LOADS = CLO_RESOURCES_MAX + 1, EXECUTORS = CLO_RESOURCES_MAX };

typedef struct relaxation {
    const clo_cost *cost;
    const clo_graph *graph;
    const clo_platform *platform;
    clo_lp *lp;
    int64_t *span_ns, *head_ns; /* [tasks] */
    uint32_t *mean;             /* [tasks] column */
    uint32_t *first;            /* [tasks] the first interval that x stands for */
    uint32_t *x;                /* [tasks] column of the first of these; the others follow */
    double capacity[LOADS];     /* of all machines; 0: no limit */
    int64_t horizon_ns;
    uint32_t intervals; /* with an end; one more has none */
} relaxation;

static int64_t work_ns(const relaxation *r, uint32_t task)
{
    return clo_time_mul(r->graph->rows[task].instances, r->cost->mean_ns[task]);
}

/* Work of the task on a resource of the platform, of all machines. */
static double load_of(const relaxation *r, uint32_t task, uint32_t resource)
{
    if (resource == EXECUTORS)
        return (double)work_ns(r, task);
    if (!r->graph->has_demands || !clo_graph_has_demand(r->graph, task))
        return 0;
    const int64_t *demand = clo_graph_demand(r->graph, task);
    double units = 0;
    for (uint32_t d = 0; d < CLO_RESOURCES_MAX; d++)
        units += r->cost->resource_of[d] == resource ? (double)demand[d] : 0;
    return (double)work_ns(r, task) * units;
}

static void take_capacities(relaxation *r)
{
    const clo_platform *p = r->platform;

    r->capacity[EXECUTORS] = p->executors_count;
    for (uint32_t i = 0; i < CLO_RESOURCES_MAX; i++) {
        bool is_limited = true;
        double sum = 0;
        for (uint32_t m = 0; m < p->machines_count; m++) {
            int64_t capacity = p->capacities[(size_t)m * CLO_RESOURCES_MAX + i];
            is_limited = is_limited && capacity >= 0;
            sum += capacity >= 0 ? (double)capacity : 0;
        }
        r->capacity[i] = is_limited ? sum : 0;
    }
}

/* Spans, heads and the horizon. */
static void take_times(relaxation *r)
{
    const clo_graph *graph = r->graph;
    double load[LOADS] = {0}, longest = 0;
    int64_t end_ns = 1;

    for (uint32_t i = 0; i < graph->tasks; i++) {
        uint32_t t = graph->task_order[i];
        int64_t waves_ns = work_ns(r, t) / r->platform->executors_count;
        r->span_ns[t] = waves_ns > r->cost->mean_ns[t] ? waves_ns : r->cost->mean_ns[t];
        r->head_ns[t] = 0;
        for (uint32_t k = graph->in_first[t]; k < graph->in_first[t + 1]; k++) {
            uint32_t source = clo_graph_source(graph, k);
            int64_t ends_ns = clo_time_add(r->head_ns[source], r->span_ns[source]);
            r->head_ns[t] = ends_ns > r->head_ns[t] ? ends_ns : r->head_ns[t];
        }
        int64_t ends_ns = clo_time_add(r->head_ns[t], r->span_ns[t]);
        end_ns = ends_ns > end_ns ? ends_ns : end_ns;
        for (uint32_t k = 0; k < LOADS; k++)
            load[k] += r->capacity[k] > 0 ? load_of(r, t, k) / r->capacity[k] : 0;
    }
    for (uint32_t k = 0; k < LOADS; k++)
        longest = load[k] > longest ? load[k] : longest;
    r->horizon_ns = clo_time_add(end_ns, longest < (double)INT64_MAX / 4 ? (int64_t)longest : INT64_MAX / 4);
}

/* Parts of the horizon from here on. */
static double part(const relaxation *r, int64_t time_ns)
{
    return (double)time_ns / (double)r->horizon_ns;
}

static double middle(const relaxation *r, uint32_t interval)
{
    return interval < r->intervals ? (interval + 0.5) / r->intervals : 1.5;
}

static void add_task(relaxation *r, uint32_t t)
{
    uint32_t first = (uint32_t)(part(r, r->head_ns[t]) * r->intervals);

    r->first[t] = first < r->intervals ? first : r->intervals;
    r->mean[t] = clo_lp_column(r->lp, 4, 1, SHARE_OF_MEANS / r->graph->tasks);
    for (uint32_t l = r->first[t]; l <= r->intervals; l++) {
        uint32_t column = clo_lp_column(r->lp, 1, 1, 0);
        r->x[t] = l == r->first[t] ? column : r->x[t];
    }
    clo_lp_row(r->lp, CLO_LP_EQUAL, 1);
    for (uint32_t l = r->first[t]; l <= r->intervals; l++)
        clo_lp_entry(r->lp, r->x[t] + l - r->first[t], 1);
    clo_lp_row(r->lp, CLO_LP_EQUAL, 0);
    clo_lp_entry(r->lp, r->mean[t], -1);
    for (uint32_t l = r->first[t]; l <= r->intervals; l++)
        clo_lp_entry(r->lp, r->x[t] + l - r->first[t], middle(r, l));
}

static void add_capacities(relaxation *r)
{
    for (uint32_t k = 0; k < LOADS; k++)
        for (uint32_t l = 0; l < r->intervals && r->capacity[k] > 0; l++) {
            double room = r->capacity[k] * (double)r->horizon_ns / r->intervals;
            clo_lp_row(r->lp, CLO_LP_AT_MOST, 1);
            for (uint32_t t = 0; t < r->graph->tasks; t++)
                if (l >= r->first[t] && load_of(r, t, k) > 0)
                    clo_lp_entry(r->lp, r->x[t] + l - r->first[t], load_of(r, t, k) / room);
        }
}

static void add_order(relaxation *r)
{
    const clo_graph *graph = r->graph;
    uint32_t makespan = clo_lp_column(r->lp, 4, 1, 1);

    for (uint32_t t = 0; t < graph->tasks; t++) {
        for (uint32_t k = graph->out_first[t]; k < graph->out_first[t + 1]; k++) {
            clo_lp_row(r->lp, CLO_LP_AT_LEAST, (part(r, r->span_ns[t]) + part(r, r->span_ns[graph->out[k]])) / 2);
            clo_lp_entry(r->lp, r->mean[graph->out[k]], 1);
            clo_lp_entry(r->lp, r->mean[t], -1);
        }
        if (graph->out_first[t + 1] > graph->out_first[t])
            continue;
        clo_lp_row(r->lp, CLO_LP_AT_LEAST, part(r, r->span_ns[t]) / 2);
        clo_lp_entry(r->lp, makespan, 1);
        clo_lp_entry(r->lp, r->mean[t], -1);
    }
}

static uint32_t seconds_of(const clo_plan_config *config)
{
    int64_t seconds = config->budget_ns > 0 ? config->budget_ns / 1000000000 + 1 : SECONDS_MAX;

    return seconds < SECONDS_MAX ? (uint32_t)seconds : SECONDS_MAX;
}

/* keys: [instances], rising with M; of tasks with one M the longer path to an end goes first. */
static clo_status solve(relaxation *r, const clo_plan_config *config, int64_t *rank_ns, int64_t *keys)
{
    const clo_graph *graph = r->graph;
    clo_lp_size size = clo_lp_measure(r->lp);
    int64_t *value = clo_allocate(size.columns, sizeof *value), most_ns = 1;

    if (value == NULL)
        return clo_fail_memory("a plan");
    clo_status status = clo_lp_solve(r->lp, "planner 'lp-midpoint'", seconds_of(config), 1, 0, value, NULL);
    clo_cost_rank_u(r->cost, rank_ns);
    for (uint32_t t = 0; t < graph->tasks; t++)
        most_ns = rank_ns[t] > most_ns ? rank_ns[t] : most_ns;
    for (uint32_t v = 0; v < graph->instances && status == CLO_OK; v++) {
        uint32_t t = graph->task_of[v];
        double behind = (double)rank_ns[t] / (double)most_ns * ((1 << TIE_BITS) - 1);
        keys[v] = value[r->mean[t]] * (INT64_C(1) << TIE_BITS) - (int64_t)behind;
    }
    clo_free(value);
    return status;
}

static uint32_t intervals_of(const clo_graph *graph)
{
    uint32_t wanted = COLUMNS_WANTED / graph->tasks;

    return wanted < INTERVALS_MIN ? INTERVALS_MIN : wanted < INTERVALS_MAX ? wanted : INTERVALS_MAX;
}

/* work: [3 * tasks]; places: [3 * tasks]; keys: [instances].
 * NOLINTNEXTLINE(readability-non-const-parameter): the relaxation writes to places */
static clo_status find_keys(const clo_cost *cost, const clo_plan_config *config, int64_t *work, uint32_t *places,
                            int64_t *keys)
{
    const clo_graph *graph = cost->graph;
    relaxation r = {.cost = cost,
                    .graph = graph,
                    .platform = clo_cost_platform(cost),
                    .lp = clo_lp_create(),
                    .span_ns = work,
                    .head_ns = work + graph->tasks,
                    .mean = places,
                    .first = places + graph->tasks,
                    .x = places + 2 * (size_t)graph->tasks,
                    .intervals = intervals_of(graph)};

    if (r.lp == NULL)
        return clo_fail_memory("a plan");
    take_capacities(&r);
    take_times(&r);
    for (uint32_t t = 0; t < graph->tasks; t++)
        add_task(&r, t);
    add_capacities(&r);
    add_order(&r);
    clo_status status = solve(&r, config, work + 2 * (size_t)graph->tasks, keys);
    clo_lp_destroy(r.lp);
    return status;
}

static clo_status midpoint_fill(clo_schedule *schedule, const clo_plan_config *config)
{
    const clo_graph *graph = schedule->graph;
    int64_t *keys = clo_allocate(graph->instances + 3 * (size_t)graph->tasks, sizeof *keys);
    uint32_t *places = clo_allocate(3 * (size_t)graph->tasks, sizeof *places);
    clo_status status = CLO_OK;

    if (keys == NULL || places == NULL)
        status = clo_fail_memory("a plan");
    else
        status = find_keys(schedule->cost, config, keys + graph->instances, places, keys);
    if (status == CLO_OK)
        status = clo_priority_fill(schedule, keys, CLO_PRIORITY_SERIAL);
    clo_free(places);
    clo_free(keys);
    return status;
}

const clo_planner clo_planner_lp_midpoint = {
    .name = "lp-midpoint",
    .summary = "list scheduling by LP midpoints (Munier, Queyranne, Schulz 1998); needs CLP, and is not in the list",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = midpoint_fill,
};
