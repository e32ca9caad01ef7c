/* plan/budget/budget.h - how long an anytime planner may go on: schedules built, wall time, a bound that cannot be
 * beaten. */
#ifndef CLO_PLAN_BUDGET_BUDGET_H
#define CLO_PLAN_BUDGET_BUDGET_H

#include "base/clock.h"
#include "cost/cost.h"
#include "library.h"

#include <clotho/plan.h>

#define CLO_PROGRESS_NS 200000000 /* between two reports */

typedef struct clo_budget {
    uint64_t schedules_max; /* 0: no limit                     */
    uint64_t schedules;     /* built so far                    */
    int64_t begin_ns;       /* clo_clock_ns when it began      */
    int64_t end_ns;         /* likewise; INT64_MAX: no limit   */
    int64_t bound_ns;       /* no makespan is below this       */
    int64_t best_ns;        /* the shortest so far             */
    int64_t told_ns;        /* when progress was told last     */
    bool is_stopped;        /* by who was told                 */
    const clo_plan_config *config;
} clo_budget;

/* What config allows, beginning now; schedules_default where it limits nothing. The bound is 0. */
CLO_INTERNAL void clo_budget_open(clo_budget *budget, const clo_plan_config *config, uint64_t schedules_default);

/* Computes the lower bound where it is not dearer than what it can save. It takes about as long as some 4 (large
 * graphs) to 32 schedules. Where time is limited, it may take an eighth of what is left; else, as long as all
 * schedules.
 *
 *   schedule_ns  what one schedule took.
 *
 * Returns CLO_OK or CLO_ERR_MEMORY. */
CLO_INTERNAL clo_status clo_budget_bound(clo_budget *budget, const clo_cost *cost, int64_t schedule_ns);

/* True past the limit of time; reads the clock where there is one. */
CLO_INTERNAL bool clo_budget_is_late(const clo_budget *budget);

/* What is left of the time, >= 0; INT64_MAX: no limit. */
CLO_INTERNAL int64_t clo_budget_left_ns(const clo_budget *budget);

/* True when it is over. Tells progress, and reads the clock, where somebody wants to know: some 25 ns. */
CLO_INTERNAL bool clo_budget_is_spent(clo_budget *budget);

/* Takes back from a part of it, which was a copy with less, what that has used. */
static inline void clo_budget_take_back(clo_budget *budget, const clo_budget *part)
{
    budget->schedules = part->schedules;
    budget->is_stopped |= part->is_stopped;
    if (part->is_stopped)
        budget->end_ns = part->end_ns;
}

/* How much of it is gone, 0 .. 65536: of schedules or of time, whichever is further. */
CLO_INTERNAL uint32_t clo_budget_part_q16(const clo_budget *budget);

#endif
