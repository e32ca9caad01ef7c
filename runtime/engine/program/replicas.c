/* replicas.c - see replicas.h. */
#include "engine/program/replicas.h"

#include "base/carve.h"
#include "base/numbers/saturate.h"
#include "base/status.h"

#include <assert.h>

static bool may_have_replicas(const clo_graph *graph, uint32_t task)
{
    return graph->rows[task].duplicable && graph->rows[task].instances == 1 &&
           graph->out_first[task] < graph->out_first[task + 1];
}

clo_status clo_replicas_reserve(clo_program *program, clo_arena *arena)
{
    const clo_graph *graph = program->graph;
    uint32_t sources = program->platform->sources_count;
    uint64_t executions = program->instances;
    clo_block block = {0};

    for (uint32_t t = 0; t < graph->tasks; t++)
        executions += may_have_replicas(graph, t) ? sources : 0;
    if (executions == program->instances)
        return CLO_OK;
    if (executions >= CLO_NONE)
        return clo_fail(CLO_ERR_LIMIT, "the graph has more than 2^32 instances and replicas");
    clo_carve(&block, &program->replica_first, graph->tasks);
    clo_carve(&block, &program->has_replica, graph->tasks);
    clo_carve(&block, &program->replica_of, (size_t)(executions - program->instances));
    if (!clo_block_take(&block, arena))
        return clo_fail_memory("the replicas of a job");
    program->executions = program->instances;
    for (uint32_t t = 0; t < graph->tasks; t++) {
        program->replica_first[t] = CLO_NONE;
        if (!may_have_replicas(graph, t))
            continue;
        program->has_replica[t] = 1;
        program->replica_first[t] = program->executions;
        for (uint32_t s = 0; s < sources; s++)
            program->replica_of[program->executions++ - program->instances] = graph->first_instance[t];
    }
    assert(program->executions == executions);
    return CLO_OK;
}

clo_status clo_replicas_table(clo_program *program, clo_arena *arena)
{
    const clo_graph *graph = program->graph;
    uint64_t entries = 0;
    uint32_t at = 0;
    clo_block block = {0};

    if (program->replica_first == NULL)
        return CLO_OK;
    for (uint32_t execution = 0; execution < program->executions; execution++) {
        uint32_t task = clo_program_task(program, execution);
        for (uint32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++)
            entries += program->has_replica[clo_graph_source(graph, k)];
    }
    if (entries >= CLO_NONE)
        return clo_fail(CLO_ERR_LIMIT, "the graph has more than 2^32 inputs that may come from replicas");
    clo_carve(&block, &program->chosen_first, (size_t)program->executions + 1);
    clo_carve(&block, &program->chosen, (size_t)entries);
    if (!clo_block_take(&block, arena))
        return clo_fail_memory("the inputs of a job");
    for (uint32_t execution = 0; execution < program->executions; execution++) {
        uint32_t task = clo_program_task(program, execution);
        program->chosen_first[execution] = at;
        for (uint32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++)
            if (program->has_replica[clo_graph_source(graph, k)])
                program->chosen[at++] = graph->first_instance[clo_graph_source(graph, k)];
    }
    program->chosen_first[program->executions] = at;
    return CLO_OK;
}

clo_status clo_replicas_create(clo_replicas *replicas, const clo_program *program, clo_arena *arena)
{
    clo_block block = {0};

    *replicas = (clo_replicas){.program = program, .run = 1};
    if (program->replica_first == NULL)
        return CLO_OK;
    clo_carve(&block, &replicas->ended, program->executions);
    clo_carve(&block, &replicas->replicated, program->graph->tasks);
    return clo_block_take(&block, arena) ? CLO_OK : clo_fail_memory("the replicas of a job");
}

void clo_replicas_note(clo_replicas *replicas, uint32_t execution)
{
    if (replicas->ended == NULL)
        return;
    replicas->ended[execution] = replicas->run;
    if (execution >= replicas->program->instances)
        replicas->replicated[clo_program_task(replicas->program, execution)] = replicas->run;
}

/* The execution of `task` whose output is there first; ties: the original, then in order of sources. */
static uint32_t nearest(const clo_replicas *replicas, uint32_t task, uint32_t executor, uint64_t bytes,
                        const uint32_t *ran_on, const int64_t *finish_ns, int64_t decided_ns)
{
    const clo_program *program = replicas->program;
    uint32_t original = program->graph->first_instance[task], first = program->replica_first[task], best = CLO_NONE;
    int64_t best_ns = INT64_MAX;

    for (uint32_t i = 0; i <= program->platform->sources_count; i++) {
        uint32_t source = i == 0 ? original : first + i - 1;
        if (replicas->ended[source] != replicas->run)
            continue;
        int64_t leave_ns = finish_ns[source] > decided_ns ? finish_ns[source] : decided_ns;
        int64_t there_ns =
            clo_time_add(leave_ns, clo_platform_transfer_ns(program->platform, bytes, ran_on[source], executor));
        if (best == CLO_NONE || there_ns < best_ns) {
            best = source;
            best_ns = there_ns;
        }
    }
    return best != CLO_NONE ? best : original;
}

void clo_replicas_choose(const clo_replicas *replicas, uint32_t execution, uint32_t executor, const uint32_t *ran_on,
                         const int64_t *finish_ns, int64_t decided_ns)
{
    const clo_program *program = replicas->program;

    if (replicas->ended == NULL)
        return;
    const clo_graph *graph = program->graph;
    uint32_t task = clo_program_task(program, execution), at = program->chosen_first[execution];
    for (uint32_t k = graph->in_first[task]; k < graph->in_first[task + 1]; k++) {
        uint32_t producer = clo_graph_source(graph, k);
        if (!program->has_replica[producer])
            continue;
        program->chosen[at++] =
            replicas->replicated[producer] != replicas->run
                ? graph->first_instance[producer]
                : nearest(replicas, producer, executor, clo_graph_in_bytes(graph, k), ran_on, finish_ns, decided_ns);
    }
}
