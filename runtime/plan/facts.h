/* plan/facts.h - what other modules ask of a plan beyond the public calls. */
#ifndef CLO_PLAN_FACTS_H
#define CLO_PLAN_FACTS_H

#include "library.h"
#include <clotho/plan.h>

/* Checks that the plan can belong to this cost: its graph had the same number of tasks and instances, its platform the
 * same number of executors, and all ids are in range. Every public call that takes a plan and a cost makes this check.
 * Returns CLO_OK, or CLO_ERR_ARGUMENT with the first difference in clo_last_error. O(placements). */
CLO_INTERNAL clo_status clo_plan_matches(const clo_plan *plan, const clo_cost *cost);

/* As clo_plan_from_placements, with an interval (>= 0; 0: none). Whether releases overlap is clo_plan_check's. */
CLO_INTERNAL clo_status clo_plan_from_interval(const clo_cost *cost, const char *planner,
                                               const clo_placement *placements, size_t count, int64_t interval_ns,
                                               clo_plan **out);

/* As clo_pipeline_metrics.in_flight; 1 for a plan without an interval. */
CLO_INTERNAL uint32_t clo_plan_in_flight(const clo_plan *plan);

/* For each instance, the number of releases whose outputs must be kept at once, so that none is overwritten before its
 * last consumer in the plan has ended: from 1 up to clo_plan_in_flight. An instance without output has 1.
 * depths [clo_graph_instances] is written; instances are numbered task by task. Returns CLO_OK or CLO_ERR_ARGUMENT
 * (also: clo_plan_matches fails, or the plan does not place every instance once).
 * O(placements + pairs of instances of edges). */
clo_status clo_plan_buffer_depths(const clo_plan *plan, const clo_cost *cost, uint32_t *depths);

#endif
