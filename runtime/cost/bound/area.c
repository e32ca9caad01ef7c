/* area.c - how long the executors need for all the work, from below.
 *
 * The area bound is the linear relaxation of "assign every instance to an executor, keep the fullest executor as
 * empty as possible" (R||Cmax). Its dual: for any prices y_e >= 0 of the executors' time with sum 1,
 *
 *     makespan >= sum over instances i of min over executors e that can run i of y_e * time(i, e).
 *
 * Proof: pick one execution of each instance, on e(i). Executor e works for at least L_e = sum of time(i, e) over
 * its instances, and L_e <= makespan. So makespan >= sum_e y_e L_e = sum_i y_e(i) time(i, e(i)) >= the sum of the
 * minima. Replicas only add executions, of which one is picked: the bound holds with duplication too.
 *
 * Any prices are valid, so they may be found by any means: equal prices (all work at its fastest, spread evenly),
 * prices in proportion to speed (exact for related executors), zero outside a set (work that is bound to some
 * executors), and some steps of ascent that raise the price where work crowds. All in integers, rounded down. */
#include "cost/bound/area.h"

#include <assert.h>
#include <string.h>

#define PRICE_ONE (1ull << CLO_PRICE_BITS)
#define SETS_MAX 16 /* different sets of allowed executors that are tried */
#define ASCENT_STEPS 48
#define ASCENT_VISITS (1u << 23) /* bounds steps * tasks * columns */

static void fill_columns(const clo_bound_work *work, clo_prices *prices)
{
    const clo_cost *cost = work->cost;

    for (uint32_t c = 0; c < cost->columns; c++)
        prices->of_column[c] = UINT64_MAX;
    for (uint32_t e = 0; e < cost->platform->executors_count; e++)
        if (prices->of_executor[e] < prices->of_column[cost->column_of[e]])
            prices->of_column[cost->column_of[e]] = prices->of_executor[e];
}

/* The cheapest way to run one instance: price * time; `column` receives where. */
static clo_u128 cheapest(const clo_cost *cost, const clo_prices *prices, uint32_t task, uint32_t *column)
{
    const int64_t *row = &cost->time_ns[(size_t)task * cost->columns];
    uint32_t placement = clo_graph_placement(cost->graph, task);
    clo_u128 best = ~(clo_u128)0;

    for (uint32_t c = 0; placement == CLO_NONE && c < cost->columns; c++) {
        clo_u128 price = (clo_u128)prices->of_column[c] * (uint64_t)row[c];
        if (row[c] != CLO_TIME_NEVER && price < best) {
            best = price;
            *column = c;
        }
    }
    for (uint32_t e = clo_cost_next_allowed(cost, placement, 0); e != CLO_NONE;
         e = clo_cost_next_allowed(cost, placement, e + 1)) {
        uint32_t c = cost->column_of[e];
        clo_u128 price = (clo_u128)prices->of_executor[e] * (uint64_t)row[c];
        if (row[c] != CLO_TIME_NEVER && price < best) {
            best = price;
            *column = c;
        }
    }
    return best;
}

uint64_t clo_bound_price(clo_bound_work *work, const clo_prices *prices)
{
    const clo_cost *cost = work->cost;
    uint64_t sum = 0;

    memset(work->load, 0, cost->columns * sizeof *work->load);
    for (uint32_t t = 0; t < cost->graph->tasks; t++) {
        uint32_t column = CLO_NONE, instances = cost->graph->rows[t].instances;
        clo_u128 price = cheapest(cost, prices, t, &column);
        assert(column < cost->columns); /* clo_cost_create refuses a task without an executor */
        work->weight[t] = (uint64_t)(price >> (CLO_PRICE_BITS - work->shift)) * instances;
        work->load[column] += (uint64_t)cost->time_ns[(size_t)t * cost->columns + column] * instances;
        sum += work->weight[t];
    }
    return sum;
}

void clo_bound_equal_prices(const clo_bound_work *work, clo_prices *prices)
{
    uint32_t executors = work->cost->platform->executors_count;

    for (uint32_t e = 0; e < executors; e++)
        prices->of_executor[e] = PRICE_ONE / executors;
    fill_columns(work, prices);
}

/* Sets the prices in proportion to relative[column] (at most 2^31), so that their sum is one. */
static void normalise(const clo_bound_work *work, const uint64_t *relative, clo_prices *prices)
{
    const clo_cost *cost = work->cost;
    uint64_t sum = 0;

    for (uint32_t c = 0; c < cost->columns; c++)
        sum += relative[c] * cost->column_size[c];
    for (uint32_t e = 0; e < cost->platform->executors_count && sum > 0; e++)
        prices->of_executor[e] = (uint64_t)(((clo_u128)relative[cost->column_of[e]] << CLO_PRICE_BITS) / sum);
    fill_columns(work, prices);
}

static void keep_if_better(clo_bound_work *work, uint64_t *best)
{
    uint64_t area = clo_bound_price(work, &work->trial);

    if (area <= *best)
        return;
    *best = area;
    memcpy(work->best.of_executor, work->trial.of_executor,
           work->cost->platform->executors_count * sizeof *work->best.of_executor);
    fill_columns(work, &work->best);
}

/* Prices in proportion to speed: the time of the work that runs everywhere, turned over. False without such work. */
static bool speed_prices(clo_bound_work *work, clo_prices *prices)
{
    const clo_cost *cost = work->cost;
    uint64_t least = UINT64_MAX;

    memset(work->load, 0, cost->columns * sizeof *work->load);
    for (uint32_t t = 0; t < cost->graph->tasks; t++) {
        const int64_t *row = &cost->time_ns[(size_t)t * cost->columns];
        bool everywhere = clo_graph_placement(cost->graph, t) == CLO_NONE;
        for (uint32_t c = 0; c < cost->columns && everywhere; c++)
            everywhere = row[c] != CLO_TIME_NEVER;
        for (uint32_t c = 0; c < cost->columns && everywhere; c++)
            work->load[c] += (uint64_t)row[c] * cost->graph->rows[t].instances;
    }
    for (uint32_t c = 0; c < cost->columns; c++)
        least = work->load[c] < least ? work->load[c] : least;
    if (least == 0)
        return false;
    for (uint32_t c = 0; c < cost->columns; c++)
        work->load[c] = (uint64_t)(((clo_u128)least << 31) / work->load[c]);
    normalise(work, work->load, prices);
    return true;
}

/* Bit of an executor: itself on small platforms, its column on large ones. */
static uint64_t executor_bit(const clo_cost *cost, uint32_t executor)
{
    return 1ull << (cost->platform->executors_count <= 64 ? executor : cost->column_of[executor]);
}

/* The executors that can run a task: those of `bits` that placement set `placement` has. On small platforms the bits
 * say it all, and `placement` is CLO_NONE. */
typedef struct allowed {
    uint64_t bits;
    uint32_t placement;
} allowed;

static bool has(const clo_cost *cost, const allowed *set, uint32_t executor)
{
    return (executor_bit(cost, executor) & set->bits) != 0 &&
           clo_placement_has(&cost->graph->sets, set->placement, executor);
}

static allowed allowed_set(const clo_cost *cost, const uint64_t *column_bits, uint32_t task)
{
    const int64_t *row = &cost->time_ns[(size_t)task * cost->columns];
    allowed set = {.placement = clo_graph_placement(cost->graph, task)};

    for (uint32_t c = 0; c < cost->columns; c++)
        if (row[c] != CLO_TIME_NEVER)
            set.bits |= column_bits[c];
    if (cost->platform->executors_count > 64 || set.placement == CLO_NONE)
        return set;
    uint64_t bits = 0;
    for (uint32_t e = clo_cost_next_allowed(cost, set.placement, 0); e != CLO_NONE;
         e = clo_cost_next_allowed(cost, set.placement, e + 1))
        bits |= executor_bit(cost, e);
    return (allowed){set.bits & bits, CLO_NONE};
}

/* The different sets of executors that some task is bound to, but for that of all; at most SETS_MAX. */
static uint32_t list_sets(clo_bound_work *work, allowed *sets)
{
    const clo_cost *cost = work->cost;
    uint64_t *column_bits = work->trial.of_column; /* free until the first trial */
    uint64_t all = 0;
    uint32_t count = 0;

    memset(column_bits, 0, cost->columns * sizeof *column_bits);
    for (uint32_t e = 0; e < cost->platform->executors_count; e++) {
        column_bits[cost->column_of[e]] |= executor_bit(cost, e);
        all |= executor_bit(cost, e);
    }
    for (uint32_t t = 0; t < cost->graph->tasks && count < SETS_MAX; t++) {
        allowed set = allowed_set(cost, column_bits, t);
        uint32_t s = 0;
        while (s < count && (sets[s].bits != set.bits || sets[s].placement != set.placement))
            s++;
        if (s == count && (set.bits != all || set.placement != CLO_NONE))
            sets[count++] = set;
    }
    return count;
}

/* Tries prices that are zero outside a set, for each set that some task is bound to. */
static void try_sets(clo_bound_work *work, uint64_t *best)
{
    const clo_cost *cost = work->cost;
    uint32_t executors = cost->platform->executors_count;
    allowed sets[SETS_MAX];

    if (cost->columns > 64)
        return;
    uint32_t count = list_sets(work, sets);
    for (uint32_t s = 0; s < count; s++) {
        uint32_t inside = 0;
        for (uint32_t e = 0; e < executors; e++)
            inside += has(cost, &sets[s], e);
        for (uint32_t e = 0; e < executors; e++)
            work->trial.of_executor[e] = has(cost, &sets[s], e) ? PRICE_ONE / inside : 0;
        fill_columns(work, &work->trial);
        keep_if_better(work, best);
    }
}

/* Multiplicative ascent from work->trial, with equal prices inside a column: where the load of an executor is high the
 * price rises by up to a share that falls with the steps. */
static void ascend(clo_bound_work *work, uint64_t *best)
{
    const clo_cost *cost = work->cost;
    uint64_t visits = (uint64_t)cost->graph->tasks * cost->columns + 1; /* + 1: never zero */
    uint64_t steps = ASCENT_VISITS / visits < ASCENT_STEPS ? ASCENT_VISITS / visits : ASCENT_STEPS;

    if (cost->columns == 1)
        return;
    (void)clo_bound_price(work, &work->trial); /* for the loads */
    for (uint64_t step = 0; step < steps; step++) {
        uint64_t highest = 1, largest = 1;
        for (uint32_t c = 0; c < cost->columns; c++) {
            work->load[c] /= cost->column_size[c];
            highest = work->load[c] > highest ? work->load[c] : highest;
        }
        for (uint32_t c = 0; c < cost->columns; c++) {
            uint64_t share_q16 = (uint64_t)(((clo_u128)work->load[c] << 16) / highest);
            uint64_t factor_q16 = 65536 + 2 * share_q16 / (step + 3);
            work->load[c] = ((work->trial.of_column[c] >> 30) * factor_q16) >> 16; /* below 2^33 */
            largest = work->load[c] > largest ? work->load[c] : largest;
        }
        for (uint32_t c = 0; c < cost->columns; c++)
            work->load[c] = (work->load[c] << 30) / largest;
        normalise(work, work->load, &work->trial);
        keep_if_better(work, best);
    }
}

uint64_t clo_bound_best_prices(clo_bound_work *work)
{
    uint64_t best = 0;

    clo_bound_equal_prices(work, &work->best);
    try_sets(work, &best);
    clo_bound_equal_prices(work, &work->trial);
    keep_if_better(work, &best);
    if (speed_prices(work, &work->trial))
        keep_if_better(work, &best);
    else
        clo_bound_equal_prices(work, &work->trial);
    ascend(work, &best);
    return best;
}
