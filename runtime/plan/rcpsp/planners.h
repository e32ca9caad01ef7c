/* plan/rcpsp/planners.h - what this folder adds to the registry; each planner is described in its own file. */
#ifndef CLO_PLAN_RCPSP_PLANNERS_H
#define CLO_PLAN_RCPSP_PLANNERS_H

#include "plan/schedule/planner.h"

extern const clo_planner_desc clo_planner_sgs_serial;
extern const clo_planner_desc clo_planner_sgs_parallel;
extern const clo_planner_desc clo_planner_sgs_serial_backward;
extern const clo_planner_desc clo_planner_sgs_parallel_backward;
extern const clo_planner_desc clo_planner_critical_path;
extern const clo_planner_desc clo_planner_tetris;
extern const clo_planner_desc clo_planner_breadth_first;
extern const clo_planner_desc clo_planner_random;
extern const clo_planner_desc clo_planner_coffman_graham;
extern const clo_planner_desc clo_planner_strip_part;

#endif
