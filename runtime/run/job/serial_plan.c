/* serial_plan.c - see serial_plan.h. */
#include "run/job/serial_plan.h"

#include "base/status.h"
#include "run/sharing/borrow.h"
#include "run/sharing/serial.h"
#include "run/sharing/share_rule.h"

/* False: no thread would run it alone. */
static bool suits(const clo_runtime *runtime, const clo_program *program)
{
    if (!runtime->helps || !program->is_replay || program->executions > CLO_BORROW_EXECUTIONS_MAX ||
        program->executions != program->instances || program->barriers > 0)
        return false;
    for (uint32_t e = 0; e < program->executions; e++)
        if (program->executor[e] >= runtime->first_slot ||
            clo_cost_time(program->cost, clo_program_task(program, e), program->executor[e]) > CLO_SHORT_NS)
            return false;
    return true;
}

static uint32_t place_of(clo_serial_plan *plan, uint32_t worker)
{
    uint32_t place = 0;

    while (place < plan->workers_count && plan->workers[place] != worker)
        place++;
    if (place == plan->workers_count && place < CLO_SERIAL_WORKERS_MAX)
        plan->workers[plan->workers_count++] = worker;
    return place;
}

clo_status clo_serial_plan_create(const clo_runtime *runtime, const clo_program *program, clo_arena *arena,
                                  clo_serial_plan **out)
{
    uint32_t executions = program->executions;

    *out = NULL;
    if (executions == 0 || !suits(runtime, program))
        return CLO_OK;
    clo_serial_plan *plan = clo_arena_take(arena, 1, sizeof *plan + executions * sizeof plan->steps[0]);
    if (plan == NULL)
        return clo_fail_memory("a job");
    bool fits = true;
    for (uint32_t i = 0; i < executions && fits; i++) {
        plan->steps[i].execution = program->order[i];
        plan->steps[i].place = place_of(plan, program->executor[program->order[i]]);
        fits = plan->steps[i].place < CLO_SERIAL_WORKERS_MAX;
    }
    plan->limit_ns = plan->workers_count > 1 ? CLO_SERIAL_SURE_NS : CLO_SHORT_NS;
    if (plan->limit_ns < CLO_WAKE_NS / executions) /* to wake somebody would take longer than all of it */
        plan->limit_ns = CLO_WAKE_NS / executions;
    *out = fits ? plan : NULL;
    return CLO_OK;
}
