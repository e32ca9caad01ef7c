/* owner.c - the worker for an execution that a plan does not place and that cannot run everywhere. */
#include "run/sharing/owner.h"

#include "run/state/runtime.h"

uint32_t clo_job_fastest(const clo_job *job, uint32_t execution)
{
    const clo_program *program = job->program;
    uint32_t workers = job->runtime->workers_count, best = CLO_NONE, task = clo_program_task(program, execution);
    int64_t best_ns = CLO_TIME_NEVER, least_ns = clo_cost_fastest(program->cost, task);

    for (uint32_t i = 0; i < workers && best_ns > least_ns; i++) {
        uint32_t w = (execution + i) % workers;
        int64_t execution_ns = clo_cost_execution_ns(program->cost, task, w);
        if (execution_ns < best_ns) {
            best_ns = execution_ns;
            best = w;
        }
    }
    return best;
}
