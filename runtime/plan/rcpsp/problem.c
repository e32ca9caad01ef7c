#include "plan/rcpsp/problem.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/order/sort.h"
#include "base/status.h"

#include <assert.h>
#include <string.h>

#define LANES_MAX (CLO_RESOURCES_MAX + 1) /* and the executors */

/* Transfers cost nothing, and each machine has one column and every task may run on any executor. */
static bool applies(const clo_cost *cost)
{
    const clo_executor *executors = cost->platform->executors;
    uint32_t p = cost->platform->executors_count;

    for (uint32_t t = 0; t < cost->graph->tasks; t++)
        if (clo_graph_placement(cost->graph, t) != CLO_NONE)
            return false;
    for (uint32_t a = 0; a < p; a++)
        for (uint32_t b = 0; b < a; b++)
            if (executors[a].machine == executors[b].machine && cost->column_of[a] != cost->column_of[b])
                return false;
    return !clo_cost_has_transfers(cost);
}

/* One resource that can be scarce: demands in units of `unit`, which divides them all, so that rounding the capacity
 * down loses nothing; a larger unit only where the lane would overflow. */
typedef struct lane {
    uint32_t resource; /* CLO_RESOURCES_MAX: the executors */
    int64_t unit;
} lane;

static int64_t demand_of(const clo_graph *graph, uint32_t task, uint32_t resource)
{
    if (resource == CLO_RESOURCES_MAX)
        return 1;
    return !clo_graph_has_demand(graph, task) ? 0 : clo_graph_demand(graph, task)[resource];
}

static int64_t capacity_of(const clo_cost *cost, uint32_t machine, uint32_t resource)
{
    int64_t executors = 0;

    if (resource != CLO_RESOURCES_MAX)
        return clo_cost_capacity(cost, machine, resource);
    for (uint32_t e = 0; e < cost->platform->executors_count; e++)
        executors += cost->platform->executors[e].machine == machine;
    return executors;
}

/* Fills the lane; false if the resource is never scarce. */
static bool measure_lane(const clo_cost *cost, uint32_t resource, lane *out, int64_t *largest)
{
    const clo_graph *graph = cost->graph;
    int64_t unit = 0;
    uint64_t all = 0;
    bool scarce = false;

    for (uint32_t t = 0; t < graph->tasks; t++) {
        int64_t demand = demand_of(graph, t, resource);
        uint64_t times;
        unit = clo_greatest_divisor(unit, demand);
        if (__builtin_mul_overflow((uint64_t)demand, graph->rows[t].instances, &times) ||
            __builtin_add_overflow(all, times, &all))
            all = UINT64_MAX;
    }
    *largest = 0;
    for (uint32_t m = 0; m < cost->platform->machines_count && unit > 0; m++) {
        int64_t capacity = capacity_of(cost, m, resource);
        if (capacity < 0)
            continue;
        scarce = scarce || (uint64_t)capacity < all;
        if ((uint64_t)capacity > all) /* more is of no use, and would make units larger */
            capacity = (int64_t)all;
        if (capacity / unit > *largest)
            *largest = capacity / unit;
    }
    *out = (lane){resource, unit};
    return scarce;
}

static int by_size(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return a < b ? -1 : a > b;
}

/* How many of the smallest demands fit side by side. */
static uint64_t most_at_once(int64_t *demands, uint64_t count, int64_t capacity)
{
    uint64_t fit = 0;

    if (capacity < 0)
        return count;
    clo_sort(demands, count, sizeof *demands, by_size);
    while (fit < count && demands[fit] <= capacity)
        capacity -= demands[fit++];
    return fit;
}

/* True if what the tasks demand keeps more of them from running side by side than a machine has executors: each
 * instance counts at the first resource it needs. scratch: [instances]. */
static bool executors_suffice(const clo_cost *cost, const lane *lanes, uint32_t count, int64_t *scratch)
{
    const clo_graph *graph = cost->graph;

    for (uint32_t m = 0; m < cost->platform->machines_count; m++) {
        uint64_t at_once = 0;
        for (uint32_t l = 0; l <= count; l++) { /* the last round: those that need nothing */
            uint64_t here = 0;
            for (uint32_t t = 0; t < graph->tasks; t++) {
                uint32_t first = 0;
                while (first < count && demand_of(graph, t, lanes[first].resource) == 0)
                    first++;
                for (uint32_t i = 0; first == l && i < graph->rows[t].instances; i++)
                    scratch[here++] = l < count ? demand_of(graph, t, lanes[l].resource) : 0;
            }
            at_once += most_at_once(scratch, here, l < count ? capacity_of(cost, m, lanes[l].resource) : -1);
        }
        if (at_once > (uint64_t)capacity_of(cost, m, CLO_RESOURCES_MAX))
            return false;
    }
    return true;
}

/* Lanes of a word, their width and the guards. */
typedef struct packing {
    lane lanes[LANES_MAX];
    int64_t largest[LANES_MAX]; /* of the machines' capacities, in units */
    uint32_t count, bits;
    bool is_rounded;
} packing;

static void choose_lanes(const clo_cost *cost, packing *lanes, int64_t *scratch)
{
    int64_t largest = 0, most = 0;

    *lanes = (packing){.bits = 16};
    for (uint32_t r = 0; r <= CLO_RESOURCES_MAX; r++) {
        lane *next = &lanes->lanes[lanes->count];
        if (r == CLO_RESOURCES_MAX && executors_suffice(cost, lanes->lanes, lanes->count, scratch))
            break;
        if (!measure_lane(cost, r, next, &largest))
            continue;
        if (largest > INT32_MAX) { /* rounded: still safe, no longer exact */
            int64_t factor = largest / INT32_MAX + 1;
            next->unit *= factor;
            largest /= factor;
            lanes->is_rounded = true;
        }
        most = largest > most ? largest : most;
        lanes->largest[lanes->count++] = largest > 0 ? largest : 1;
    }
    if (most > INT16_MAX)
        lanes->bits = 32;
}

static uint64_t lane_value(const packing *lanes, uint32_t index, int64_t value)
{
    uint32_t each = 64 / lanes->bits;

    return (uint64_t)value << (index % each * lanes->bits);
}

/* A lane of a resource that this machine does not limit stays at its largest value, which all demands together fit. */
static void fill_capacities(clo_rcpsp *problem, const packing *lanes)
{
    uint32_t each = 64 / lanes->bits;
    int64_t top = lanes->bits == 16 ? INT16_MAX : INT32_MAX;

    for (uint32_t l = 0; l < each; l++)
        problem->guards |= 1ull << ((l + 1) * lanes->bits - 1);
    for (uint32_t m = 0; m < problem->machines; m++)
        for (uint32_t l = 0; l < lanes->count; l++) {
            int64_t capacity = capacity_of(problem->cost, m, lanes->lanes[l].resource);
            int64_t units = capacity < 0 ? top : capacity / lanes->lanes[l].unit;
            problem->capacity[m * problem->words + l / each] |= lane_value(lanes, l, units < top ? units : top);
        }
    for (uint32_t w = 0; w < problem->machines * problem->words; w++)
        problem->capacity[w] |= problem->guards;
}

static bool fits(const clo_rcpsp *problem, const uint64_t *free, const uint64_t *demand)
{
    uint64_t guards = problem->guards;

    for (uint32_t w = 0; w < problem->words; w++)
        guards &= free[w] - demand[w];
    return guards == problem->guards;
}

/* Demands and times; false if an instance fits no machine after rounding. */
static bool fill_tasks(clo_rcpsp *problem, const packing *lanes)
{
    uint32_t each = 64 / lanes->bits, *first_of = problem->first_of;
    const clo_platform *platform = problem->cost->platform;

    for (uint32_t e = platform->executors_count; e-- > 0;)
        first_of[platform->executors[e].machine] = e;
    for (uint32_t v = 0; v < problem->tasks; v++) {
        uint32_t task = problem->graph->task_of[v], places = 0;
        uint64_t *demand = &problem->demand[(size_t)v * problem->words];
        for (uint32_t l = 0; l < lanes->count; l++) {
            int64_t amount = demand_of(problem->graph, task, lanes->lanes[l].resource), unit = lanes->lanes[l].unit;
            int64_t units = amount / unit + (amount % unit != 0);
            demand[l / each] |= lane_value(lanes, l, units);
            problem->weight[v] += (uint32_t)(units * 1024 / lanes->largest[l]);
        }
        problem->weight[v] += problem->weight[v] == 0;
        for (uint32_t m = 0; m < problem->machines; m++) {
            int64_t time = clo_cost_time(problem->cost, task, first_of[m]);
            bool here = time != CLO_TIME_NEVER && fits(problem, &problem->capacity[m * problem->words], demand);
            problem->time_ns[(size_t)m * problem->tasks + v] = here ? time : CLO_TIME_NEVER;
            places += here;
        }
        if (places == 0)
            return false;
    }
    return true;
}

int64_t clo_rcpsp_fastest_ns(const clo_rcpsp *problem, uint32_t v)
{
    int64_t best = CLO_TIME_NEVER;

    for (uint32_t m = 0; m < problem->machines; m++) {
        int64_t time = problem->time_ns[(size_t)m * problem->tasks + v];
        best = time < best ? time : best;
    }
    return best;
}

/* The longest path of all instances of `task`, through those of beyond[first[task]] and on. */
static void fill_path(const clo_rcpsp *problem, int64_t *path_ns, uint32_t task, clo_ids beyond,
                      const uint32_t *beyond_first)
{
    const uint32_t *first = problem->graph->first_instance;
    int64_t longest = 0;

    for (uint32_t i = beyond_first[task]; i < beyond_first[task + 1]; i++) {
        int64_t there = path_ns[first[clo_ids_at(beyond, i)]];
        longest = there > longest ? there : longest;
    }
    longest += clo_rcpsp_fastest_ns(problem, first[task]);
    for (uint32_t v = first[task]; v < first[task + 1]; v++)
        path_ns[v] = longest;
}

static void fill_tails(clo_rcpsp *problem)
{
    const clo_graph *graph = problem->graph;
    int64_t *to_end = problem->tail_ns, *to_begin = problem->tail_ns + problem->tasks;

    for (uint32_t i = graph->tasks; i-- > 0;) {
        uint32_t t = graph->task_order[i];
        fill_path(problem, to_end, t, clo_ids_wide(graph->out), graph->out_first);
    }
    for (uint32_t i = 0; i < graph->tasks; i++) {
        uint32_t t = graph->task_order[i];
        fill_path(problem, to_begin, t, graph->in, graph->in_first);
    }
}

/* The k-th window is the k-th quantile of all times, rounded down to a power of two. */
static void fill_windows(clo_rcpsp *problem)
{
    size_t times = (size_t)problem->machines * problem->tasks, count = 0, passed = 0;
    size_t of_bits[64] = {0};
    uint32_t k = 1;

    for (size_t i = 0; i < times; i++)
        if (problem->time_ns[i] > 0 && problem->time_ns[i] < CLO_TIME_NEVER) {
            of_bits[63 - __builtin_clzll((uint64_t)problem->time_ns[i])]++;
            count++;
        }
    for (uint32_t bits = 0; bits < 63; bits++) {
        passed += of_bits[bits];
        for (; k < CLO_STEPS_WINDOWS && passed * CLO_STEPS_WINDOWS > count * k; k++)
            problem->windows_ns[k] = INT64_C(1) << bits;
    }
    for (; k < CLO_STEPS_WINDOWS; k++) /* nothing takes any time */
        problem->windows_ns[k] = 1;
}

static bool allocate(clo_rcpsp *problem, const packing *lanes)
{
    uint32_t each = 64 / lanes->bits;
    clo_block block = {0};

    problem->words = lanes->count == 0 ? 1 : (lanes->count + each - 1) / each;
    clo_carve(&block, &problem->time_ns, (size_t)problem->machines * problem->tasks);
    clo_carve(&block, &problem->demand, (size_t)problem->words * problem->tasks);
    clo_carve(&block, &problem->capacity, (size_t)problem->words * problem->machines);
    clo_carve(&block, &problem->weight, problem->tasks);
    clo_carve(&block, &problem->first_of, problem->machines);
    clo_carve(&block, &problem->tail_ns, 2 * (size_t)problem->tasks);
    problem->block = clo_block_allocate(&block);
    return problem->block != NULL;
}

clo_status clo_rcpsp_open(clo_rcpsp *problem, const clo_cost *cost)
{
    packing lanes;

    *problem = (clo_rcpsp){.cost = cost, .graph = cost->graph};
    problem->tasks = cost->graph->instances;
    problem->machines = cost->platform->machines_count;
    if (!applies(cost))
        return CLO_ERR_UNSUPPORTED;
    int64_t *scratch = clo_allocate(problem->tasks, sizeof *scratch);
    if (scratch == NULL)
        return clo_fail_memory("a plan");
    choose_lanes(cost, &lanes, scratch);
    clo_free(scratch);
    if (!allocate(problem, &lanes))
        return clo_fail_memory("a plan");
    problem->is_rounded = lanes.is_rounded;
    fill_capacities(problem, &lanes);
    if (!fill_tasks(problem, &lanes)) {
        clo_rcpsp_close(problem);
        return CLO_ERR_UNSUPPORTED;
    }
    fill_tails(problem);
    fill_windows(problem);
    return CLO_OK;
}

void clo_rcpsp_close(clo_rcpsp *problem)
{
    clo_free(problem->block);
    problem->block = NULL;
}
