/* make.c - see make.h. */
#include "plan/make.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "plan/budget/budget.h"
#include "plan/plan.h"
#include "plan/schedule/compact.h"

#include <stdio.h>
#include <string.h>

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

clo_status clo_planner_check(const clo_planner *planner, const char *call)
{
    if (planner == NULL)
        return clo_fail_null(call, "planner");
    if (planner->size < sizeof(clo_planner))
        return clo_fail(CLO_ERR_ARGUMENT, "%s: clo_planner.size is %zu; set it to sizeof(clo_planner)", call,
                        planner->size);
    if (planner->name == NULL || planner->name[0] == 0 || planner->summary == NULL ||
        (planner->plan == NULL) == (planner->fill == NULL) ||
        (planner->plan != NULL && planner->plan_without_budget != NULL))
        return clo_fail(CLO_ERR_ARGUMENT, "%s: a planner has a name, a summary and `plan`", call);
    return CLO_OK;
}

/* What a program's own planner has placed, as a plan that the checker has seen. */
static clo_status ask_own(const clo_cost *cost, const clo_planner *planner, const clo_plan_config *config,
                          clo_plan **out)
{
    const clo_graph *graph = clo_cost_graph(cost);
    size_t room = (size_t)clo_graph_instances(graph) * (planner->executions_each > 0 ? planner->executions_each : 1);
    size_t count = room;
    clo_placement *placements = clo_allocate(room, sizeof *placements);
    clo_plan *plan = NULL;

    if (placements == NULL)
        return clo_fail_memory("a plan");
    memset(placements, 0, room * sizeof *placements); /* what it leaves out is no plan */
    clo_status status = planner->plan(planner, cost, config, placements, &count);
    if (status == CLO_OK && count > room)
        status = clo_fail(CLO_ERR_INVALID, "it has written %zu placements, where there is room for %zu", count, room);
    if (status == CLO_OK)
        status = clo_plan_from_placements(cost, planner->name, placements, count, &plan);
    if (status == CLO_OK)
        status = clo_plan_check(plan, cost, CLO_CHECK_FULL);
    status = status == CLO_ERR_ARGUMENT ? CLO_ERR_INVALID : status;
    if (status == CLO_OK && config->no_duplicates != 0 && count > clo_graph_instances(graph))
        status = clo_fail(CLO_ERR_INVALID, "it plans replicas, and clo_plan_config.no_duplicates forbids them");
    clo_free(placements);
    if (status != CLO_OK)
        return clo_plan_destroy(plan), status;
    *out = plan;
    return CLO_OK;
}

/* Own planners are asked for a whole plan, which is placed again, so that it can be justified as all others. */
static clo_status fill_as_own(clo_schedule *schedule, const clo_planner *planner, const clo_plan_config *config)
{
    char prefix[100];
    clo_plan *plan = NULL;

    clo_fail(CLO_OK, "it has failed without a text"); /* for those that do not use clo_last_error */
    clo_status status = ask_own(schedule->cost, planner, config, &plan);
    if (status != CLO_OK) {
        snprintf(prefix, sizeof prefix, "planner '%.60s': ", planner->name);
        return clo_fail_prefix(status, prefix);
    }
    for (size_t i = 0; i < plan->count && status == CLO_OK; i++) {
        const clo_placement *p = &plan->placements[i];
        status = clo_schedule_place(schedule, schedule->graph->first_instance[p->task] + p->instance, p->executor,
                                    p->start_ns);
    }
    clo_plan_destroy(plan);
    return status;
}

/* Justifies the schedule. *plain (NULL: not asked for): the plan before that, NULL if it stays as it is. */
static clo_status justify_beside(clo_schedule *schedule, const clo_planner *planner, const clo_plan_config *config,
                                 int64_t begin_ns, clo_plan **plain)
{
    int64_t plain_ns = clo_schedule_makespan_ns(schedule);
    clo_status status = plain != NULL ? clo_plan_from_schedule(schedule, planner->name, plain) : CLO_OK;

    if (status == CLO_OK)
        status = justify(schedule, config, begin_ns);
    if (plain != NULL && (status != CLO_OK || clo_schedule_makespan_ns(schedule) == plain_ns)) {
        clo_plan_destroy(*plain);
        *plain = NULL;
    }
    return status;
}

clo_status clo_plan_make_both(const clo_cost *cost, const clo_planner *planner, const clo_plan_config *config,
                              clo_plan **plain, clo_plan **out)
{
    int64_t begin_ns = clo_clock_ns();
    clo_plan *before = NULL;
    clo_schedule schedule;
    clo_status status = clo_schedule_open(&schedule, cost, planner->executions_each > 0 ? planner->executions_each : 1);

    if (status != CLO_OK)
        return status;
    schedule.may_duplicate = config->no_duplicates == 0;
    status = planner->fill != NULL ? planner->fill(&schedule, config) : fill_as_own(&schedule, planner, config);
    if (schedule.schedules == 0)
        schedule.schedules = 1;
    if (status == CLO_OK && config->justify != 0 && !schedule.is_optimal)
        status = justify_beside(&schedule, planner, config, begin_ns, plain != NULL ? &before : NULL);
    if (status == CLO_OK)
        status = clo_plan_from_schedule(&schedule, planner->name, out);
    clo_schedule_close(&schedule);
    if (status != CLO_OK)
        return clo_plan_destroy(before), status;
    if (plain != NULL)
        *plain = before;
    return CLO_OK;
}

clo_status clo_plan_make(const clo_cost *cost, const clo_planner *planner, const clo_plan_config *config,
                         clo_plan **out)
{
    return clo_plan_make_both(cost, planner, config, NULL, out);
}
