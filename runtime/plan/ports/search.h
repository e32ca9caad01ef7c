/* plan/ports/search.h - search for a short plan over ports: order and placement, each judged by clo_ports_count. */
#ifndef CLO_PLAN_PORTS_SEARCH_H
#define CLO_PLAN_PORTS_SEARCH_H

#include <clotho/cost.h>
#include <clotho/plan.h>

typedef struct clo_ports_budget {
    uint64_t seed;
    uint64_t plans_max; /* that are judged */
    int64_t end_ns;     /* clo_clock_ns; INT64_MAX: no limit */
    int64_t bound_ns;   /* no plan is shorter: then it ends */
    uint64_t plans;     /* written: how many were judged */
} clo_ports_budget;

/* Record-to-record travel (Dueck, "New optimization heuristics", Journal of Computational Physics 104, 1993) from a
 * plan: a move gives an instance another executor, mostly one where an input or a consumer is, or another place in the
 * order.
 *
 *   placements  [count] of a valid plan with ports counted. Replaced by originals alone, producers first, where a
 *               shorter one is found; *count is their number then.
 *
 * Returns CLO_OK, CLO_ERR_LIMIT or CLO_ERR_MEMORY. The same seed gives the same plan, unless time ends it. */
clo_status clo_ports_search(const clo_cost *cost, clo_ports_budget *budget, clo_placement *placements, size_t *count);

#endif
