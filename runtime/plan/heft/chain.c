#include "plan/heft/chain.h"

#include <assert.h>

bool clo_schedule_may_duplicate(const clo_schedule *schedule, uint32_t instance, uint32_t executor)
{
    uint32_t task = schedule->graph->task_of[instance];

    return schedule->may_duplicate && schedule->graph->rows[task].duplicable &&
           clo_cost_time(schedule->cost, task, executor) != CLO_TIME_NEVER &&
           !clo_schedule_has_execution(schedule, instance, executor);
}

uint32_t clo_schedule_room(const clo_schedule *schedule, uint32_t unplaced)
{
    assert(schedule->capacity - schedule->count >= unplaced);
    return schedule->capacity - schedule->count - unplaced;
}

clo_status clo_chain_place(const clo_chain *chain, clo_schedule *schedule)
{
    clo_status status = CLO_OK;

    for (uint32_t i = 0; status == CLO_OK && i < chain->count; i++)
        status = clo_schedule_place(schedule, chain->duplicates[i], chain->executor, chain->starts_ns[i]);
    return status == CLO_OK ? clo_schedule_place(schedule, chain->instance, chain->executor, chain->start_ns) : status;
}
