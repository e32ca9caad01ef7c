/* hedges.c - see hedges.h. */
#include "engine/program/hedges.h"

#include "base/carve.h"
#include "base/status.h"

#include <assert.h>
#include <string.h>

bool clo_hedges_want(const clo_program *program, const int64_t *after_ns, uint32_t task)
{
    uint32_t able = 0;

    if (after_ns == NULL || after_ns[task] <= 0)
        return false;
    for (uint32_t e = 0; e < program->platform->executors_count && able < 2; e++)
        able += clo_cost_execution_ns(program->cost, task, e) != CLO_TIME_NEVER;
    return able == 2;
}

clo_status clo_hedges_reserve(clo_program *program, uint64_t count, clo_arena *arena)
{
    uint64_t executions = program->executions + count;
    clo_block block = {0};

    program->first_hedge = program->executions;
    if (count == 0)
        return CLO_OK;
    if (executions >= CLO_NONE)
        return clo_fail(CLO_ERR_LIMIT, "the job has more than 2^32 instances, replicas and hedges");
    clo_carve(&block, &program->replica_of, (size_t)(executions - program->instances));
    clo_carve(&block, &program->twin, (size_t)executions);
    if (!clo_block_take(&block, arena))
        return clo_fail_memory("the hedges of a job");
    memset(program->twin, 0xff, (size_t)executions * sizeof *program->twin);
    program->executions = (uint32_t)executions;
    return CLO_OK;
}

void clo_hedges_pair(clo_program *program, const int64_t *after_ns)
{
    const clo_graph *graph = program->graph;
    uint32_t hedge = program->first_hedge;

    for (uint32_t execution = 0; execution < program->first_hedge && program->twin != NULL; execution++) {
        uint32_t instance = clo_program_instance(program, execution), task = graph->task_of[instance];
        if (!clo_hedges_want(program, after_ns, task))
            continue;
        assert(hedge < program->executions);
        program->replica_of[hedge - program->instances] = instance;
        program->twin[execution] = hedge;
        program->twin[hedge++] = execution;
    }
    assert(hedge == program->executions);
}
