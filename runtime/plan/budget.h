/* plan/budget.h - how long an anytime planner may go on: schedules built, wall time, a bound that cannot be beaten. */
#ifndef CLO_PLAN_BUDGET_H
#define CLO_PLAN_BUDGET_H

#include "base/clock.h"

#include <clotho/plan.h>

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

#define CLO_PROGRESS_NS 200000000

/* Tells progress five times a second. */
static inline void clo_budget_tell(clo_budget *budget, int64_t now_ns)
{
    if (now_ns - budget->told_ns < CLO_PROGRESS_NS)
        return;
    clo_plan_progress now = {budget->schedules, budget->best_ns, budget->bound_ns, now_ns - budget->begin_ns};
    budget->told_ns = now_ns;
    budget->config->progress(budget->config->progress_context, &now);
}

/* True when it is over. Reads the clock where somebody wants to know the time: some 25 ns. */
static inline bool clo_budget_is_spent(clo_budget *budget)
{
    bool is_told = budget->config->progress != NULL;
    int64_t now_ns = is_told || budget->end_ns != INT64_MAX ? clo_clock_ns() : 0;

    if (is_told)
        clo_budget_tell(budget, now_ns);
    if (budget->best_ns <= budget->bound_ns)
        return true;
    if (budget->schedules_max > 0 && budget->schedules >= budget->schedules_max)
        return true;
    return now_ns >= budget->end_ns;
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
