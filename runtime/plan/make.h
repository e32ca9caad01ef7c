/* plan/make.h - one run of a planner. */
#ifndef CLO_PLAN_MAKE_H
#define CLO_PLAN_MAKE_H

#include "plan/schedule/planner.h"

/* config was read, and fits the planner. Returns as clo_plan_create does; *out is owned by the caller. */
clo_status clo_plan_make(const clo_cost *cost, const clo_planner_desc *planner, const clo_plan_config *config,
                         clo_plan **out);

#endif
