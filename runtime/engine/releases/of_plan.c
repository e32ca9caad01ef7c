/* of_plan.c - see of_plan.h. */
#include "engine/releases/of_plan.h"

#include "base/status.h"
#include "plan/facts.h"

#include <clotho/pipeline.h>

clo_status clo_releases_of_plan(const clo_program *program, const clo_releases_use *use, clo_arena *arena,
                                clo_releases **out)
{
    if (use->plan == NULL) {
        const clo_releases_config of_none = {.slots = use->slots, .has_data = use->has_data, .copies = use->copies};
        return clo_releases_create(program, &of_none, arena, out);
    }
    int64_t interval_ns = clo_plan_interval_ns(use->plan), makespan_ns = clo_plan_makespan_ns(use->plan);
    uint32_t *depths = clo_arena_take(arena, program->instances, sizeof *depths);
    clo_releases_config config = {.depths = depths,
                                  .slots = use->slots,
                                  .period_ns = use->period_ns,
                                  .has_data = use->has_data,
                                  .copies = use->copies,
                                  .is_timed = use->is_timed};

    if (depths == NULL)
        return clo_fail_memory("a job");
    config.placements = clo_plan_placements(use->plan, &config.count);
    config.interval_ns = interval_ns > 0 ? interval_ns : makespan_ns > 0 ? makespan_ns : 1;
    /* What a valid plan cannot, another one may: wait in a circle. */
    clo_scratch scratch;
    clo_arena_scratch_open(&scratch);
    clo_status status = clo_plan_check(use->plan, use->cost, CLO_CHECK_FULL);
    if (status == CLO_OK && program->executions == program->instances)
        status = clo_plan_buffer_depths(use->plan, use->cost, depths);
    clo_arena_scratch_close(&scratch);
    return status == CLO_OK ? clo_releases_create(program, &config, arena, out) : status;
}
