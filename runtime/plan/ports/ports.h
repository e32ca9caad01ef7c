/* plan/ports/ports.h - the times of a plan when messages share the ports of machines and the links between them.
 *
 * Planners take every transfer as if it were alone. Here the finished plan is run through once more: executors keep
 * their order, inputs their source, and an output goes to each other machine once, as remote/ sends it. Messages that
 * move at once get equal shares of what they cross, max-min fair (Bertsekas and Gallager, Data Networks, 1992, section
 * 6.5.2, progressive filling). A message first occupies its ports, then travels for the latency of its link. All
 * arithmetic is of integers, so every machine finds the same times. */
#ifndef CLO_PLAN_PORTS_PORTS_H
#define CLO_PLAN_PORTS_PORTS_H

#include "library.h"
#include <clotho/cost.h>
#include <clotho/plan.h>

#include <stdbool.h>

/* Whether plans on this platform have ports to share. */
CLO_INTERNAL bool clo_ports_are_finite(const clo_platform *platform);

/* CLO_ERR_UNSUPPORTED where it has, for what does not count them; what: "plans of pipelines do". */
CLO_INTERNAL clo_status clo_ports_refuse(const clo_platform *platform, const char *what);

/* Gives `placements` the times that they have with ports; their lengths stay.
 *
 *   placements  [count] of a valid plan, in the order of clo_plan_placements.
 *
 * The result is valid, too: no input comes earlier than it would alone. Returns CLO_OK; with the placements unchanged
 * CLO_ERR_UNSUPPORTED (branches), CLO_ERR_LIMIT (too many pairs of instances, times beyond 2^61 ns) or CLO_ERR_MEMORY.
 * O(pairs of instances + messages * messages under way at once). */
clo_status clo_ports_count(const clo_cost *cost, clo_placement *placements, size_t count);

/* When the inputs of each of these placements are there, into ready_ns [count], in the same run. As clo_ports_count. */
clo_status clo_ports_find_ready(const clo_cost *cost, const clo_placement *placements, size_t count, int64_t *ready_ns);

#endif
