/* plan/search/exact.h - branch and bound over the plans of a small graph. */
#ifndef CLO_PLAN_SEARCH_EXACT_H
#define CLO_PLAN_SEARCH_EXACT_H

#include "plan/budget/budget.h"
#include "plan/schedule/schedule.h"

/* Over the plans without replicas, from the plan that is kept (none: HEFT's). *proved: none is shorter than what is
 * kept then. Does nothing more where the problem is too large for it. The schedule is left in any state. Returns CLO_OK
 * or CLO_ERR_MEMORY. */
clo_status clo_exact(clo_schedule *schedule, clo_budget *budget, clo_snapshot *best, bool *proved);

/* True if a replica could save a transfer: then a proof without replicas is none with them. */
bool clo_schedule_could_replicate(const clo_schedule *schedule);

#endif
