/* plan/heft/heft.c - HEFT: Topcuoglu, Hariri, Wu, "Performance-Effective and Low-Complexity Task Scheduling for
 * Heterogeneous Computing", IEEE TPDS 13(3), 2002, section 4.2.
 *
 * Instances in order of falling rank_u (ties: earlier in topological order), each on the executor with the
 * earliest finish time, gaps included (ties: the lowest executor). Beyond the paper: task instances,
 * placement masks, and capacities of machines (a start must also fit the machine's occupancy).
 *
 * O(edges * executors) for the arrivals and one search in each executor's timeline an instance. */
#include "plan/schedule/planner.h"
#include "plan/schedule/ready.h"

#include <assert.h>

static clo_status place(clo_schedule *schedule, uint32_t instance)
{
    clo_slot slot = clo_schedule_earliest(schedule, instance, NULL);

    return clo_schedule_place(schedule, instance, slot.executor, slot.start_ns);
}

static clo_status fill(clo_schedule *schedule, const clo_plan_config *config)
{
    (void)config;
    assert(schedule->count == 0);
    clo_status status = clo_schedule_order(schedule);

    for (uint32_t i = 0; status == CLO_OK && i < schedule->graph->instances; i++)
        status = place(schedule, schedule->order[i]);
    return status;
}

const clo_planner clo_planner_heft = {
    .name = "heft",
    .summary = "earliest finish time in order of rank_u, filling gaps (Topcuoglu, Hariri, Wu 2002)",
    .size = sizeof(clo_planner),
    .executions_each = 1,
    .fill = fill,
};
