/* interval.c - lower bounds on the interval between releases of one graph (the minimum initiation interval of Rau
 * 1994).
 *
 * Why they hold. In a plan with an interval I every executor is busy with one execution of each instance placed on it
 * in any I of the steady state, so its load is at most I: each bound on the load of the fullest executor, and each on
 * what a machine's capacity must serve, is one on I (area.c; assign.c where it went to the end). An instance stands on
 * one executor in all releases and is not executed twice at once, so I is at least its time. There are no other cycles
 * through releases: edges lead from a release to the same release. */
#include "cost/bound/assign.h"
#include "cost/cost.h"

#include "base/memory.h"
#include "base/status.h"

#include <clotho/pipeline.h>

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
    take_best(&bound);
    status = raise_by_assignment(cost, &bound);
    if (status != CLO_OK)
        return status;
    take_best(&bound);
    clo_result_write(out, &bound, sizeof bound);
    return CLO_OK;
}
