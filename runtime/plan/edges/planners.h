/* plan/edges/planners.h - what plan/all/from_edges.c needs of this folder. */
#ifndef CLO_PLAN_EDGES_PLANNERS_H
#define CLO_PLAN_EDGES_PLANNERS_H

#include "plan/schedule/planner.h"

#include <clotho/edges.h>

/* Fills an empty schedule. Returns as clo_edges_plan. `is_strict`: where edges cannot be added, that is an error; else
 * the rule alone plans. */
clo_status clo_edges_fill(clo_schedule *schedule, const clo_edges_config *edges, const clo_plan_config *config,
                          bool is_strict);

#endif
