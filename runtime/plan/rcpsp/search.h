/* plan/rcpsp/search.h - the shortest packing that can be found within a budget. */
#ifndef CLO_PLAN_RCPSP_SEARCH_H
#define CLO_PLAN_RCPSP_SEARCH_H

#include "plan/budget/budget.h"
#include "plan/rcpsp/problem.h"

/* Searches until the budget is spent and leaves the best in `out` (open), built in *direction. The first schedule is
 * the serial one of `first`, keys [tasks]; it is finished, unless the budget has a best already. The seed is that of
 * the budget's config. Deterministic where only schedules are limited. Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_rcpsp_search(const clo_rcpsp *problem, const int64_t *first, clo_budget *budget, clo_packing *out,
                            int *direction);

#endif
