/* plan/search/anneal.h - simulated annealing on order and placement. */
#ifndef CLO_PLAN_SEARCH_ANNEAL_H
#define CLO_PLAN_SEARCH_ANNEAL_H

#include "plan/budget/budget.h"
#include "plan/search/sketch.h"

/* From the plan that is kept in *best. sketch: that of the schedule, where one fits, else NULL. Returns CLO_OK or
 * CLO_ERR_MEMORY. */
clo_status clo_anneal(clo_schedule *schedule, clo_sketch *sketch, uint64_t seed, clo_budget *budget,
                      clo_snapshot *best);

#endif
