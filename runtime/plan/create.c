/* create.c - clo_plan_create: a planner by its name. */
#include "base/status.h"
#include "plan/contention.h"
#include "plan/make.h"
#include "plan/ports/ports.h"
#include "plan/registry.h"

clo_status clo_plan_create(const clo_cost *cost, const clo_plan_config *config, clo_plan **out)
{
    if (cost == NULL || out == NULL)
        return clo_fail_null("clo_plan_create", "cost or out");
    clo_plan_config mine = CLO_PLAN_CONFIG_INIT;
    clo_status status = clo_config_read(&mine, sizeof mine, config, "clo_plan_config");

    if (status != CLO_OK)
        return status;
    const clo_planner_desc *planner = clo_planner_find(mine.planner != NULL ? mine.planner : "heft");
    if (planner == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "unknown planner '%.100s'; `clotho list planners` shows their names",
                        mine.planner);
    if ((mine.keys != NULL && !planner->takes_keys) || (mine.model != NULL && !planner->takes_model))
        return clo_fail(CLO_ERR_ARGUMENT, "planner '%s' takes no %s; leave clo_plan_config.%s out", planner->name,
                        mine.keys != NULL && !planner->takes_keys ? "keys" : "model",
                        mine.keys != NULL && !planner->takes_keys ? "keys" : "model");
    if (mine.contention > CLO_CONTENTION_TIMES)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_plan_config.contention is %u; use a CLO_CONTENTION_ value",
                        mine.contention);
    return clo_ports_are_finite(clo_cost_platform(cost)) ? clo_plan_over_ports(cost, planner, &mine, out)
                                                         : clo_plan_make(cost, planner, &mine, out);
}
