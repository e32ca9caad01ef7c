/* plan/all/from_edges.c - clo_edges_plan. */
#include "plan/plan.h"

#include "base/memory.h"
#include "base/status.h"
#include "plan/edges/planners.h"

static clo_status to_plan(const clo_schedule *schedule, clo_plan **out)
{
    clo_placement *placements = clo_allocate(schedule->count, sizeof *placements);

    if (placements == NULL)
        return clo_fail_memory("a plan");
    for (uint32_t i = 0; i < schedule->count; i++) {
        const clo_execution *execution = &schedule->executions[i];
        placements[i] = (clo_placement){.task = execution->instance,
                                        .executor = execution->executor,
                                        .start_ns = execution->start_ns,
                                        .finish_ns = execution->finish_ns};
    }
    clo_status status = clo_plan_from_placements(schedule->cost, "edges", placements, schedule->count, out);
    if (status == CLO_OK) {
        (*out)->schedules = schedule->schedules;
        (*out)->is_optimal = schedule->is_optimal;
    }
    clo_free(placements);
    return status;
}

clo_status clo_edges_plan(const clo_cost *cost, const clo_edges_config *config, clo_plan **out)
{
    clo_edges_config mine = CLO_EDGES_CONFIG_INIT;
    clo_plan_config limits = CLO_PLAN_CONFIG_INIT;
    clo_schedule schedule;

    if (cost == NULL || out == NULL)
        return clo_fail_null("clo_edges_plan", "cost or out");
    clo_status status = clo_config_read(&mine, sizeof mine, config, "clo_edges_config");
    if (status != CLO_OK)
        return status;
    if ((unsigned)mine.rule > CLO_EDGES_TETRIS)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_edges_config.rule is %d; use a clo_edges_rule", (int)mine.rule);
    if ((unsigned)mine.guide > CLO_EDGES_BY_CHANCE)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_edges_config.guide is %d; use a clo_edges_guide", (int)mine.guide);
    limits.seed = mine.seed;
    limits.schedules_max = mine.schedules_max;
    limits.budget_ns = mine.budget_ns;
    status = clo_schedule_open(&schedule, cost, 1);
    if (status != CLO_OK)
        return status;
    status = clo_edges_fill(&schedule, &mine, &limits, true);
    if (status == CLO_OK)
        status = to_plan(&schedule, out);
    clo_schedule_close(&schedule);
    return status;
}
