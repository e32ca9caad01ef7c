/* plan/schedule/budget.c - see budget.h. */
#include "plan/schedule/budget.h"

clo_status clo_budget_open(clo_budget *budget, const clo_cost *cost, const clo_plan_config *config,
                           uint64_t schedules_default)
{
    int64_t now_ns = clo_clock_ns(); /* before the bound, which the budget pays for where it is not known yet */
    clo_bound bound = CLO_BOUND_INIT;
    clo_status status = clo_cost_bound(cost, &bound);

    *budget = (clo_budget){.schedules_max = config->schedules_max,
                           .begin_ns = now_ns,
                           .end_ns = INT64_MAX,
                           .bound_ns = bound.best_ns,
                           .best_ns = INT64_MAX,
                           .told_ns = now_ns,
                           .config = config};
    if (config->budget_ns > 0 && config->budget_ns < INT64_MAX - now_ns)
        budget->end_ns = now_ns + config->budget_ns;
    if (config->budget_ns <= 0 && config->schedules_max == 0)
        budget->schedules_max = schedules_default;
    return status;
}

static void tell(clo_budget *budget, int64_t now_ns)
{
    clo_plan_progress now = {budget->schedules, budget->best_ns, budget->bound_ns, now_ns - budget->begin_ns};

    budget->told_ns = now_ns;
    budget->config->progress(budget->config->progress_context, &now);
}

bool clo_budget_is_spent(clo_budget *budget)
{
    bool is_told = budget->config->progress != NULL;
    int64_t now_ns = is_told || budget->end_ns != INT64_MAX ? clo_clock_ns() : 0;

    if (is_told && now_ns - budget->told_ns >= CLO_PROGRESS_NS)
        tell(budget, now_ns);
    if (budget->best_ns <= budget->bound_ns)
        return true;
    if (budget->schedules_max > 0 && budget->schedules >= budget->schedules_max)
        return true;
    return now_ns >= budget->end_ns;
}

uint32_t clo_budget_part_q16(const clo_budget *budget)
{
    uint64_t part = 0;

    if (budget->schedules_max > 0)
        part = (uint64_t)((clo_u128)budget->schedules * 65536 / budget->schedules_max);
    if (budget->end_ns != INT64_MAX && budget->end_ns > budget->begin_ns) {
        clo_u128 gone = (uint64_t)(clo_clock_ns() - budget->begin_ns);
        uint64_t of_time = (uint64_t)(gone * 65536 / (uint64_t)(budget->end_ns - budget->begin_ns));
        part = of_time > part ? of_time : part;
    }
    return part > 65536 ? 65536 : (uint32_t)part;
}
