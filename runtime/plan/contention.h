/* plan/contention.h - the choice of a plan where messages share the ports of machines. */
#ifndef CLO_PLAN_CONTENTION_H
#define CLO_PLAN_CONTENTION_H

#include "plan/schedule/planner.h"

/* As clo_plan_make, on a platform with ports: the plan has the times of plan/ports. Of several plans that the planner
 * makes the shortest is chosen, unless config->contention says CLO_CONTENTION_TIMES. */
clo_status clo_plan_over_ports(const clo_cost *cost, const clo_planner *planner, const clo_plan_config *config,
                               clo_plan **out);

#endif
