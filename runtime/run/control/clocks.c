/* clocks.c - jobs whose times follow from the cost model: the padded and the virtual clock. */
#include "base/memory.h"
#include "base/status.h"
#include "engine/program/replay.h"
#include "plan/ports/ports.h"
#include "run/body/pacings.h"
#include "run/dispatch/dispatches.h"
#include "run/job/job_body.h"
#include "run/state/features.h"
#include "run/state/runtime.h"
#include "run/state/virtual_time.h"

static clo_status check(const clo_runtime *runtime, const clo_cost *cost, const clo_job_config *config)
{
    const char *what = config->plan == NULL             ? "a job without a plan under this clock does"
                       : config->releases_in_flight > 0 ? "releases in flight do"
                       : clo_cost_graph(cost)->has_demands
                           ? "tasks with demands on workers under this clock (clo_simulate can) do"
                           : NULL;

    return what != NULL ? clo_ports_refuse(runtime->platform, what) : CLO_OK;
}

/* Where messages share ports: when the inputs of each execution are there. */
static clo_status find_ready(const clo_cost *cost, const clo_placement *placements, size_t count, clo_job_body *body)
{
    const clo_program *program = body->program;
    int64_t *by_placement = clo_allocate(count, sizeof *by_placement);
    uint32_t replicas = 0;

    body->ports_ready_ns = clo_arena_take(body->arena, program->executions, sizeof *body->ports_ready_ns);
    clo_status status = by_placement != NULL && body->ports_ready_ns != NULL
                            ? clo_ports_find_ready(cost, placements, count, by_placement)
                            : clo_fail_memory("a job");
    for (size_t p = 0; p < count && status == CLO_OK; p++)
        body->ports_ready_ns[clo_replay_execution(program, &placements[p], &replicas)] = by_placement[p];
    clo_free(by_placement);
    return status;
}

static clo_status prepare(const clo_job *job, const clo_cost *cost, const clo_placement *placements, size_t count,
                          clo_job_body *body)
{
    const clo_runtime *runtime = job->runtime;
    clo_status status = CLO_OK;

    if (runtime->clock == CLO_CLOCK_VIRTUAL && !body->has_policy && body->slots == 0)
        status = clo_virtual_create(body->engine, body->arena, &body->virtual_time);
    if (status == CLO_OK && clo_ports_are_finite(runtime->platform))
        status = find_ready(cost, placements, count, body);
    return status;
}

static const clo_pacing *pacing_of(const clo_job *job)
{
    const clo_program *program = job->program;

    if (job->runtime->clock == CLO_CLOCK_VIRTUAL)
        return &clo_pacing_decided;
    bool keeps_moments = job->runtime->dilate > 1 && program->is_replay && !program->graph->has_demands;
    return keeps_moments ? &clo_pacing_stretched : &clo_pacing_padded;
}

static const struct clo_clock_functions functions = {
    .dispatch = &clo_dispatch_virtual,
    .check = check,
    .prepare = prepare,
    .pacing_of = pacing_of,
};

const clo_clock_feature clo_with_clocks = {&functions};
