/* plan/search/best.h - the search of the planner "best", within a budget. */
#ifndef CLO_PLAN_SEARCH_BEST_H
#define CLO_PLAN_SEARCH_BEST_H

#include "plan/schedule/planner.h"

/* clo_planner.fill of clo_planner_best (plan/all/all.c). */
clo_status clo_best_fill(clo_schedule *schedule, const clo_plan_config *config);

#endif
