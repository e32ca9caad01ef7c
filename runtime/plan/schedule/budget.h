/* plan/schedule/budget.h - how long an anytime planner may go on: schedules built, wall time, a bound that cannot be beaten. */
#ifndef CLO_PLAN_SCHEDULE_BUDGET_H
#define CLO_PLAN_SCHEDULE_BUDGET_H

#include "base/clock.h"
#include "cost/cost.h"

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
    const clo_plan_config *config;
} clo_budget;

/* What config allows, beginning now; schedules_default where it limits nothing. Computes the lower bound if nobody has.
 * Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_budget_open(clo_budget *budget, const clo_cost *cost, const clo_plan_config *config,
                           uint64_t schedules_default);

/* True when it is over. Tells progress, and reads the clock, where somebody wants to know: some 25 ns. */
bool clo_budget_is_spent(clo_budget *budget);

/* How much of it is gone, 0 .. 65536: of schedules or of time, whichever is further. */
uint32_t clo_budget_part_q16(const clo_budget *budget);

#endif
