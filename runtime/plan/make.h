/* plan/make.h - one run of a planner. */
#ifndef CLO_PLAN_MAKE_H
#define CLO_PLAN_MAKE_H

#include "library.h"
#include "plan/schedule/planner.h"

/* Returns CLO_OK, or CLO_ERR_ARGUMENT for what is no planner; `call` is who asks. */
CLO_INTERNAL clo_status clo_planner_check(const clo_planner *planner, const char *call);

/* The same as clo_plan_make, with what shared ports do to the plan where there are some. */
CLO_INTERNAL clo_status clo_plan_make_over_ports(const clo_cost *cost, const clo_planner *planner,
                                                 const clo_plan_config *config, clo_plan **out);

/* config was read, and fits the planner. Returns as clo_plan_create does; *out is owned by the caller. */
clo_status clo_plan_make(const clo_cost *cost, const clo_planner *planner, const clo_plan_config *config,
                         clo_plan **out);

/* The same, and *plain is the plan before justification, owned by the caller: NULL if *out has not become shorter by it
 * and so is that plan. `plain` itself may be NULL: not asked for. */
clo_status clo_plan_make_both(const clo_cost *cost, const clo_planner *planner, const clo_plan_config *config,
                              clo_plan **plain, clo_plan **out);

#endif
