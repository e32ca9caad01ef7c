/* barrier.c - a stage gets a barrier where that saves hits. */
#include "engine/program/barrier.h"

#include "base/carve.h"
#include "base/status.h"

#include <string.h>

static uint64_t consumers_of(const clo_graph *graph, uint32_t task)
{
    uint64_t instances = 0;

    for (uint32_t k = graph->out_first[task]; k < graph->out_first[task + 1]; k++)
        instances += graph->rows[graph->out[k]].instances;
    return instances;
}

/* One barrier serves all consumers of a stage. Where only one instance waits for many, a barrier costs one hit more
 * than none; but if data move, it saves that instance a look at each of its sources for each executor. */
static bool wants_barrier(const clo_program *program, uint32_t task)
{
    uint64_t instances = program->graph->rows[task].instances, consumers;

    if (instances == 1 || clo_program_has_replica(program, task))
        return false;
    consumers = consumers_of(program->graph, task);
    if (consumers == 0)
        return false;
    bool saves_hits = (instances - 1) * (consumers - 1) > 1; /* n * m > n + m */
    return saves_hits || (program->crosses_memories && instances > program->platform->executors_count);
}

clo_status clo_barriers_choose(clo_program *program, clo_arena *arena)
{
    const clo_graph *graph = program->graph;
    uint32_t count = 0;
    clo_block block = {0};

    if (graph->instances == graph->tasks)
        return CLO_OK;
    for (uint32_t t = 0; t < graph->tasks; t++)
        count += wants_barrier(program, t);
    if (count == 0)
        return CLO_OK;
    clo_carve(&block, &program->barrier_of, graph->tasks);
    clo_carve(&block, &program->barrier_task, count);
    if (!clo_block_take(&block, arena))
        return clo_fail_memory("the barriers of a job");
    memset(program->barrier_of, 0xff, graph->tasks * sizeof *program->barrier_of);
    for (uint32_t t = 0; t < graph->tasks; t++)
        if (wants_barrier(program, t)) {
            program->barrier_of[t] = program->barriers;
            program->barrier_task[program->barriers++] = t;
        }
    return CLO_OK;
}
