/* create.c - clo_plan_create. */
#include "base/status.h"
#include "plan/contention.h"
#include "plan/make.h"
#include "plan/ports/ports.h"
#include "plan/schedule/planner.h"

clo_status clo_plan_make_over_ports(const clo_cost *cost, const clo_planner *planner, const clo_plan_config *config,
                                    clo_plan **out)
{
    return clo_ports_are_finite(clo_cost_platform(cost)) ? clo_plan_over_ports(cost, planner, config, out)
                                                         : clo_plan_make(cost, planner, config, out);
}

clo_status clo_plan_create(const clo_cost *cost, const clo_plan_config *config, clo_plan **out)
{
    if (cost == NULL || out == NULL)
        return clo_fail_null("clo_plan_create", "cost or out");
    clo_plan_config mine = CLO_PLAN_CONFIG_INIT;
    clo_status status = clo_config_read(&mine, sizeof mine, config, "clo_plan_config");

    if (status != CLO_OK)
        return status;
    const clo_planner *planner = mine.planner != NULL ? mine.planner : &clo_planner_heft;
    status = clo_planner_check(planner, "clo_plan_create");
    if (status != CLO_OK)
        return status;
    if (mine.argument != NULL && planner->takes == CLO_PLANNER_NO_ARGUMENT)
        return clo_fail(CLO_ERR_ARGUMENT, "planner '%.60s' takes no argument; leave clo_plan_config.argument out",
                        planner->name);
    if (mine.contention > CLO_CONTENTION_TIMES)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_plan_config.contention is %u; use a CLO_CONTENTION_ value",
                        mine.contention);
    bool has_budget = mine.schedules_max > 0 || mine.budget_ns > 0;
    clo_fail_text kept;
    clo_fail_keep(&kept); /* a planner that fails beside one that does not is nothing to the caller */
    status = planner->plan_without_budget != NULL && !has_budget ? planner->plan_without_budget(cost, &mine, out)
                                                                 : clo_plan_make_over_ports(cost, planner, &mine, out);
    if (status == CLO_OK)
        clo_fail_put_back(&kept);
    return status;
}
