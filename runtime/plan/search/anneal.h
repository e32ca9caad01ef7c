/* plan/search/anneal.h - simulated annealing on order and placement. */
#ifndef CLO_PLAN_SEARCH_ANNEAL_H
#define CLO_PLAN_SEARCH_ANNEAL_H

#include "plan/budget/budget.h"
#include "plan/schedule/schedule.h"

/* From the plan that is kept in *best. Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_anneal(clo_schedule *schedule, uint64_t seed, clo_budget *budget, clo_snapshot *best);

#endif
