/* planned.c - see planned.h. */
#include "policy/placement/planned.h"

#include "base/arena.h"
#include "cost/cost.h"

static clo_status take_plan(const clo_cost *cost, const clo_planner *planner, uint64_t schedules, int64_t *start_ns,
                            uint32_t *executor, clo_enforced *enforced)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan;
    size_t count;

    config.planner = planner;
    config.schedules_max = schedules;
    config.no_duplicates = 1;
    clo_status status = clo_plan_create(cost, &config, &plan);
    if (status != CLO_OK)
        return status;
    const clo_placement *placements = clo_plan_placements(plan, &count);
    for (uint32_t t = 0; t < cost->graph->tasks; t++)
        start_ns[t] = INT64_MAX;
    for (size_t p = 0; p < count; p++) {
        uint32_t task = placements[p].task;
        if (placements[p].start_ns >= start_ns[task])
            continue;
        start_ns[task] = placements[p].start_ns;
        if (executor != NULL)
            executor[task] = cost->graph->rows[task].instances == 1 ? placements[p].executor : CLO_NONE;
    }
    if (enforced != NULL)
        clo_enforced_fill(enforced, plan, cost->platform);
    clo_plan_destroy(plan);
    return CLO_OK;
}

clo_status clo_planned(const clo_cost *cost, const clo_planner *planner, uint64_t schedules, int64_t *start_ns,
                       uint32_t *executor, clo_enforced *enforced)
{
    clo_scratch scratch;

    clo_arena_scratch_open(&scratch);
    clo_status status = take_plan(cost, planner, schedules, start_ns, executor, enforced);
    clo_arena_scratch_close(&scratch);
    return status;
}
