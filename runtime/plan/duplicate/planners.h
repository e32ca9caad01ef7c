/* plan/duplicate/planners.h - what this folder adds to the registry; each planner is described in its own file. */
#ifndef CLO_PLAN_DUPLICATE_PLANNERS_H
#define CLO_PLAN_DUPLICATE_PLANNERS_H

#include "plan/schedule/planner.h"

extern const clo_planner_desc clo_planner_deft;
extern const clo_planner_desc clo_planner_deft_append;
extern const clo_planner_desc clo_planner_dfrn;
extern const clo_planner_desc clo_planner_tds;
extern const clo_planner_desc clo_planner_tdca;

#endif
