/* make.c - see make.h. */
#include "plan/make.h"

#include "base/clock.h"
#include "plan/plan.h"
#include "plan/schedule/budget.h"
#include "plan/schedule/compact.h"

/* Within what the planner left of the time. */
static clo_status justify(clo_schedule *schedule, const clo_plan_config *config, int64_t begin_ns)
{
    int64_t each_ns = (clo_clock_ns() - begin_ns) / (int64_t)schedule->schedules;
    clo_budget budget;

    clo_budget_open(&budget, config, 0);
    budget.schedules_max = 0;
    if (budget.end_ns != INT64_MAX)
        budget.end_ns -= budget.begin_ns - begin_ns;
    clo_status status = clo_budget_bound(&budget, schedule->cost, each_ns);
    if (status == CLO_OK)
        status = clo_schedule_justify(schedule, budget.bound_ns, budget.end_ns);
    schedule->is_optimal = status == CLO_OK && clo_schedule_makespan_ns(schedule) <= budget.bound_ns;
    return status;
}

clo_status clo_plan_make(const clo_cost *cost, const clo_planner_desc *planner, const clo_plan_config *config,
                         clo_plan **out)
{
    int64_t begin_ns = clo_clock_ns();
    clo_schedule schedule;
    clo_status status = clo_schedule_open(&schedule, cost, planner->executions_each);

    if (status != CLO_OK)
        return status;
    schedule.may_duplicate = config->no_duplicates == 0;
    status = planner->fill(&schedule, config);
    if (schedule.schedules == 0)
        schedule.schedules = 1;
    if (status == CLO_OK && config->justify != 0 && !schedule.is_optimal)
        status = justify(&schedule, config, begin_ns);
    if (status == CLO_OK)
        status = clo_plan_from_schedule(&schedule, planner->name, out);
    clo_schedule_close(&schedule);
    return status;
}
