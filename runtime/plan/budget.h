/* plan/budget.h - how long an anytime planner may go on: schedules built, wall time, a bound that cannot be beaten. */
#ifndef CLO_PLAN_BUDGET_H
#define CLO_PLAN_BUDGET_H

#include "base/clock.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct clo_budget {
    uint64_t schedules_max; /* 0: no limit                     */
    uint64_t schedules;     /* built so far                    */
    int64_t begin_ns;       /* clo_clock_ns when it began      */
    int64_t end_ns;         /* likewise; INT64_MAX: no limit   */
    int64_t bound_ns;       /* no makespan is below this       */
    int64_t best_ns;        /* the shortest so far             */
} clo_budget;

/* True when it is over. Reads the clock: some 25 ns. */
static inline bool clo_budget_is_spent(const clo_budget *budget)
{
    if (budget->best_ns <= budget->bound_ns)
        return true;
    if (budget->schedules_max > 0 && budget->schedules >= budget->schedules_max)
        return true;
    return budget->end_ns != INT64_MAX && clo_clock_ns() >= budget->end_ns;
}

/* How much of it is gone, 0 .. 65536: of schedules or of time, whichever is further. */
static inline uint32_t clo_budget_part_q16(const clo_budget *budget)
{
    uint64_t part = 0;

    if (budget->schedules_max > 0)
        part = budget->schedules * 65536 / budget->schedules_max;
    if (budget->end_ns != INT64_MAX && budget->end_ns > budget->begin_ns) {
        uint64_t gone = (uint64_t)(clo_clock_ns() - budget->begin_ns);
        uint64_t of_time = gone * 65536 / (uint64_t)(budget->end_ns - budget->begin_ns);
        part = of_time > part ? of_time : part;
    }
    return part > 65536 ? 65536 : (uint32_t)part;
}

#endif
