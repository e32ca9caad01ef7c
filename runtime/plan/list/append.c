/* plan/list/append.c - HEFT without its insertion: instances in order of falling rank_u (ties: earlier in topological
 * order), each behind the last execution of the executor where it then ends first (ties: the lowest executor).
 *
 * What insertion is worth is the difference to heft; see heft.c for the paper. Without gaps to search, an instance
 * costs O(inputs * executors) however full the plan is. */
#include "plan/schedule/planner.h"

#include "plan/schedule/ready.h"

static clo_status fill(clo_schedule *schedule, const clo_plan_config *config)
{
    clo_ready ready;
    clo_status status = clo_ready_open(&ready, schedule);
    (void)config;
    if (status != CLO_OK)
        return status;

    status = clo_schedule_order(schedule);
    for (uint32_t i = 0; status == CLO_OK && i < schedule->graph->instances; i++)
        status = clo_ready_place(&ready, schedule->order[i], clo_ready_earliest(&ready, schedule->order[i], false));
    clo_ready_close(&ready);
    return status;
}

const clo_planner clo_planner_heft_append = {
    .name = "heft-append",
    .summary = "HEFT that fills no gaps",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = fill,
};
