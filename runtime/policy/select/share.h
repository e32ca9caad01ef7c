/* policy/select/share.h - shares of a platform: what is used of its resources, or demanded, of all that there is.
 * Executors count as a resource. */
#ifndef CLO_POLICY_SELECT_SHARE_H
#define CLO_POLICY_SELECT_SHARE_H

#include "cost/cost.h"

/* What is counted: the resources of the platform, and executors. */
enum { CLO_SHARE_EXECUTORS = CLO_RESOURCES_MAX, CLO_SHARE_AMOUNTS };

#define CLO_SHARE_ONE (INT64_C(1) << 32)

/* Sums over the machines; 0: some machine has no limit, so the resource is not counted. */
static inline void clo_share_totals(const clo_platform *platform, int64_t totals[CLO_SHARE_AMOUNTS])
{
    totals[CLO_SHARE_EXECUTORS] = platform->executors_count;
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        totals[r] = 0;
        for (uint32_t m = 0; m < platform->machines_count; m++) {
            int64_t capacity = platform->capacities[(size_t)m * CLO_RESOURCES_MAX + r];
            if (capacity < 0) {
                totals[r] = 0;
                break;
            }
            totals[r] = capacity > INT64_MAX - totals[r] ? INT64_MAX : totals[r] + capacity;
        }
    }
}

/* used / total, in units of 1 / CLO_SHARE_ONE; 0 of what is not limited. Within 2^-30. */
static inline int64_t clo_share(int64_t used, int64_t total)
{
    if (used <= 0 || total <= 0)
        return 0;
    int bits = 64 - __builtin_clzll((uint64_t)total), shift = bits > 31 ? bits - 31 : 0;
    uint64_t part = (uint64_t)used >> shift;
    return (int64_t)((part < UINT32_MAX ? part : UINT32_MAX) * (uint64_t)CLO_SHARE_ONE / ((uint64_t)total >> shift));
}

/* The largest share that an instance of the task demands of any resource, or as an executor. */
static inline int64_t clo_share_dominant(const clo_cost *cost, uint32_t task, const int64_t totals[CLO_SHARE_AMOUNTS])
{
    const int64_t *demand = clo_graph_demand(cost->graph, task);
    int64_t most = clo_share(1, totals[CLO_SHARE_EXECUTORS]);

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        int64_t part = cost->resource_of[r] != CLO_NONE ? clo_share(demand[r], totals[cost->resource_of[r]]) : 0;
        most = part > most ? part : most;
    }
    return most;
}

#endif
