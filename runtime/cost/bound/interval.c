/* interval.c - lower bounds on the interval between releases of one graph (the minimum initiation interval of Rau
 * 1994).
 *
 * Why they hold. In a plan with an interval I every executor is busy with one execution of each instance placed on it
 * in any I of the steady state, so its load is at most I: each bound on the load of the fullest executor, and each on
 * what a machine's capacity must serve, is one on I (area.c; assign.c where it went to the end). An instance stands on
 * one executor in all releases and is not executed twice at once, so I is at least its time. There are no other cycles
 * through releases: edges lead from a release to the same release.
 *
 * Capacities of one machine: at each moment the demands that are met fit together, and so do those that a dual feasible
 * function makes of them (Fekete and Schepers, IPCO 1998; Martello and Toth's L2): with a threshold k, up to half of
 * the capacity, a demand above capacity - k counts as all of it, one below k as nothing. */
#include "cost/bound/assign.h"
#include "cost/cost.h"

#include "base/memory.h"
#include "base/numbers/saturate.h"
#include "base/status.h"

#include <clotho/pipeline.h>

enum { THRESHOLDS_TASKS_MAX = 1000 }; /* beyond, trying each demand as a threshold takes too long */

static clo_status raise_by_assignment(const clo_cost *cost, clo_interval_bound *bound)
{
    clo_assignment best = {.executor = clo_allocate(cost->graph->instances, sizeof *best.executor)};

    if (best.executor == NULL)
        return clo_fail_memory("a lower bound");
    clo_status status = clo_assign(cost, bound->best_ns, &best);
    if (status == CLO_OK && best.is_exact && best.load_ns > bound->resource_ns)
        bound->resource_ns = best.load_ns;
    clo_free(best.executor);
    return status;
}

/* What the task demands of the platform's resource r. */
static int64_t demand_of(const clo_cost *cost, uint32_t task, uint32_t r)
{
    int64_t demand = 0;

    for (uint32_t own = 0; own < CLO_RESOURCES_MAX; own++)
        if (cost->resource_of[own] == r)
            demand = clo_time_add(demand, clo_graph_demand(cost->graph, task)[own]);
    return demand;
}

/* time_ns * demand / capacity, a little less at most; demand <= capacity. */
static int64_t part_ns(int64_t time_ns, int64_t demand, int64_t capacity)
{
    int64_t share_q16 = capacity > INT64_MAX >> 16 ? demand / (capacity >> 16) : (demand << 16) / capacity;

    share_q16 = share_q16 > 65536 ? 65536 : share_q16;
    return (time_ns >> 16) * share_q16 + ((time_ns & 65535) * share_q16 >> 16);
}

/* What all instances take of the resource, as the threshold has it. */
static int64_t taken_ns(const clo_cost *cost, uint32_t r, int64_t capacity, int64_t threshold)
{
    int64_t sum_ns = 0;

    for (uint32_t t = 0; t < cost->graph->tasks; t++) {
        int64_t demand = demand_of(cost, t, r),
                all_ns = clo_time_mul(clo_cost_fastest(cost, t), cost->graph->rows[t].instances);
        if (demand > capacity - threshold)
            sum_ns = clo_time_add(sum_ns, all_ns);
        else if (demand >= threshold)
            sum_ns = clo_time_add(sum_ns, part_ns(all_ns, demand, capacity));
    }
    return sum_ns;
}

/* Instances that exclude each other. */
static void raise_by_thresholds(const clo_cost *cost, clo_interval_bound *bound)
{
    if (!cost->graph->has_demands || cost->platform->machines_count != 1 || cost->graph->tasks > THRESHOLDS_TASKS_MAX)
        return;
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        int64_t capacity = cost->platform->capacities[r];
        for (uint32_t t = 0; t < cost->graph->tasks && capacity > 0; t++) {
            int64_t demand = demand_of(cost, t, r);
            int64_t threshold = demand <= capacity / 2 ? demand : capacity - demand + 1; /* where it counts for more */
            if (demand == 0 || threshold > capacity / 2)
                continue;
            int64_t least_ns = taken_ns(cost, r, capacity, threshold);
            bound->resource_ns = least_ns > bound->resource_ns ? least_ns : bound->resource_ns;
        }
    }
}

static void take_best(clo_interval_bound *bound)
{
    bound->best_ns = bound->resource_ns > bound->recurrence_ns ? bound->resource_ns : bound->recurrence_ns;
}

clo_status clo_cost_interval_bound(const clo_cost *cost, clo_interval_bound *out)
{
    if (cost == NULL || out == NULL)
        return clo_fail_null("clo_cost_interval_bound", "cost or out");
    clo_interval_bound bound = CLO_INTERVAL_BOUND_INIT;
    clo_bound of_release = CLO_BOUND_INIT;
    clo_status status = clo_result_check(out, sizeof bound, "clo_interval_bound");

    if (status == CLO_OK)
        status = clo_cost_bound(cost, &of_release);
    if (status != CLO_OK)
        return status;
    bound.resource_ns = of_release.area_ns > of_release.resource_ns ? of_release.area_ns : of_release.resource_ns;
    for (uint32_t t = 0; t < cost->graph->tasks; t++) {
        int64_t fastest_ns = clo_cost_fastest(cost, t);
        if (fastest_ns > bound.recurrence_ns)
            bound.recurrence_ns = fastest_ns;
    }
    raise_by_thresholds(cost, &bound);
    take_best(&bound);
    status = raise_by_assignment(cost, &bound);
    if (status != CLO_OK)
        return status;
    take_best(&bound);
    clo_result_write(out, &bound, sizeof bound);
    return CLO_OK;
}
