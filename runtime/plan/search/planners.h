/* plan/search/planners.h - what this folder adds to the registry; each planner is described in its own file. */
#ifndef CLO_PLAN_SEARCH_PLANNERS_H
#define CLO_PLAN_SEARCH_PLANNERS_H

#include "plan/schedule/planner.h"

extern const clo_planner_desc clo_planner_best;
extern const clo_planner_desc clo_planner_exact;

#endif
