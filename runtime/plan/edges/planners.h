/* plan/edges/planners.h - what this folder adds to the registry, and what plan/from_edges.c needs of it. */
#ifndef CLO_PLAN_EDGES_PLANNERS_H
#define CLO_PLAN_EDGES_PLANNERS_H

#include "plan/schedule/planner.h"

#include <clotho/edges.h>

extern const clo_planner_desc clo_planner_edges;
extern const clo_planner_desc clo_planner_edges_sjf;
extern const clo_planner_desc clo_planner_edges_tetris;
extern const clo_planner_desc clo_planner_edges_greedy;
extern const clo_planner_desc clo_planner_edges_random;
extern const clo_planner_desc clo_planner_edges_best;

/* Fills an empty schedule. Returns as clo_edges_plan. `is_strict`: where edges cannot be added, that is an error; else
 * the rule alone plans. */
clo_status clo_edges_fill(clo_schedule *schedule, const clo_edges_config *edges, const clo_plan_config *config,
                          bool is_strict);

#endif
