/* plan/budget/budget.c - see budget.h. */
#include "plan/budget/budget.h"

/* Tasks up to which the bound tries more (cost/bound/bound.c), and what it then takes, in schedules, at most. */
enum { FEW_TASKS = 64, THOROUGH_TASKS = 1024, SAMPLED_TASKS = 4096, FEW = 16, THOROUGH = 32, SAMPLED = 12, LINEAR = 4 };

enum { PART_OF_TIME = 8 };

void clo_budget_open(clo_budget *budget, const clo_plan_config *config, uint64_t schedules_default)
{
    int64_t now_ns = clo_clock_ns();

    *budget = (clo_budget){.schedules_max = config->schedules_max,
                           .begin_ns = now_ns,
                           .end_ns = INT64_MAX,
                           .best_ns = INT64_MAX,
                           .told_ns = now_ns,
                           .config = config};
    if (config->budget_ns > 0 && config->budget_ns < INT64_MAX - now_ns)
        budget->end_ns = now_ns + config->budget_ns;
    if (config->budget_ns <= 0 && config->schedules_max == 0)
        budget->schedules_max = schedules_default;
}

clo_status clo_budget_bound(clo_budget *budget, const clo_cost *cost, int64_t schedule_ns)
{
    uint32_t tasks = cost->graph->tasks;
    int64_t schedules = tasks <= FEW_TASKS        ? FEW
                        : tasks <= THOROUGH_TASKS ? THOROUGH
                        : tasks <= SAMPLED_TASKS  ? SAMPLED
                                                  : LINEAR;
    clo_bound bound = CLO_BOUND_INIT;

    if (budget->end_ns != INT64_MAX && schedule_ns > clo_budget_left_ns(budget) / PART_OF_TIME / schedules)
        return CLO_OK;
    if (budget->schedules_max > 0 && (uint64_t)schedules > budget->schedules_max)
        return CLO_OK;
    clo_status status = clo_cost_bound(cost, &bound);
    if (status == CLO_OK)
        budget->bound_ns = bound.best_ns;
    return status;
}

bool clo_budget_is_late(const clo_budget *budget)
{
    return budget->end_ns != INT64_MAX && clo_clock_ns() >= budget->end_ns;
}

int64_t clo_budget_left_ns(const clo_budget *budget)
{
    int64_t left_ns = budget->end_ns == INT64_MAX ? INT64_MAX : budget->end_ns - clo_clock_ns();

    return left_ns > 0 ? left_ns : 0;
}

static void tell(clo_budget *budget, int64_t now_ns)
{
    uint32_t stop = 0;
    clo_plan_progress now = {budget->schedules, budget->best_ns, budget->bound_ns, now_ns - budget->begin_ns, &stop};

    budget->told_ns = now_ns;
    budget->config->progress(budget->config->progress_context, &now);
    if (stop != 0) {
        budget->end_ns = now_ns;
        budget->is_stopped = true;
    }
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
