/* plan/check/check_interval.h - the part of the checker that is for plans with an interval. */
#ifndef CLO_PLAN_CHECK_CHECK_INTERVAL_H
#define CLO_PLAN_CHECK_CHECK_INTERVAL_H

#include <clotho/plan.h>

/* Of a plan that is valid as a plan of one release: no executions of any two releases overlap on an executor, nothing
 * is executed twice in a release, and no output is written over before its last consumer has ended. Returns CLO_OK,
 * CLO_ERR_INVALID or CLO_ERR_MEMORY. */
clo_status clo_plan_check_interval(const clo_plan *plan, const clo_cost *cost);

#endif
