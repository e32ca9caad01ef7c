/* plan/search/starts.h - the plans that a search begins with: those of the other planners. */
#ifndef CLO_PLAN_SEARCH_STARTS_H
#define CLO_PLAN_SEARCH_STARTS_H

#include "plan/budget/budget.h"
#include "plan/schedule/schedule.h"

/* Builds one plan with each planner that fits a share of the budget, and keeps it in *best if it is shorter; HEFT's
 * is there already, and took heft_ns; is_serial_known: so is all on one executor, where that is shorter than HEFT's.
 * Returns CLO_OK, also where time is up, or CLO_ERR_MEMORY. */
clo_status clo_start_plans(clo_schedule *schedule, clo_budget *budget, clo_snapshot *best, int64_t heft_ns,
                           bool is_serial_known);

#endif
