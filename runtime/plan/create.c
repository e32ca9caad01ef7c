/* create.c - clo_plan_create: one planner, and "best" without a budget, which no planner is ahead of. */
#include "base/status.h"
#include "plan/contention.h"
#include "plan/make.h"
#include "plan/plan.h"
#include "plan/ports/ports.h"
#include "plan/registry.h"
#include "plan/schedule/planner.h"

static clo_status make(const clo_cost *cost, const clo_planner *planner, const clo_plan_config *config, clo_plan **out)
{
    return clo_ports_are_finite(clo_cost_platform(cost)) ? clo_plan_over_ports(cost, planner, config, out)
                                                         : clo_plan_make(cost, planner, config, out);
}

/* The plan of `best` or of another planner, whichever is shorter: *plan is that of `best`, and becomes the other. What
 * another planner cannot plan is no loss. */
static clo_status compare(const clo_cost *cost, const clo_planner *planner, const clo_plan_config *config,
                          clo_plan **plan)
{
    clo_plan *other = NULL;
    clo_status status = make(cost, planner, config, &other);

    if (status != CLO_OK)
        return status == CLO_ERR_MEMORY ? status : CLO_OK;
    uint64_t schedules = (*plan)->schedules + other->schedules;
    bool is_proved = other->is_optimal && other->makespan_ns <= (*plan)->makespan_ns;
    if (other->makespan_ns < (*plan)->makespan_ns) {
        clo_plan *worse = *plan;
        *plan = other;
        other = worse;
    }
    clo_plan_destroy(other);
    (*plan)->is_optimal |= is_proved;
    (*plan)->planner = clo_planner_best.name;
    (*plan)->schedules = schedules;
    return CLO_OK;
}

/* Its search first, then all planners with their own budgets, until one plan is proved shortest. A search that begins
 * with a few of them can miss what the others find; without a budget there is time for all. Each plan is justified,
 * which never makes it longer; where messages share ports it can, so there each is made twice. */
static clo_status make_best(const clo_cost *cost, const clo_plan_config *config, clo_plan **out)
{
    const clo_planner *const *planners = clo_planners.rows;
    bool has_ports = clo_ports_are_finite(clo_cost_platform(cost));
    clo_plan_config each = *config;
    clo_plan *plan = NULL;

    each.justify |= !has_ports;
    clo_status status = make(cost, &clo_planner_best, &each, &plan);
    each.progress = NULL;
    for (each.justify = !has_ports; each.justify <= 1; each.justify++)
        for (size_t i = 0; status == CLO_OK && planners[i] != NULL && !plan->is_optimal; i++)
            if (planners[i] != &clo_planner_best)
                status = compare(cost, planners[i], &each, &plan);
    if (status != CLO_OK)
        return clo_plan_destroy(plan), status;
    *out = plan;
    return CLO_OK;
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
    status =
        planner == &clo_planner_best && !has_budget ? make_best(cost, &mine, out) : make(cost, planner, &mine, out);
    if (status == CLO_OK)
        clo_fail_put_back(&kept);
    return status;
}
