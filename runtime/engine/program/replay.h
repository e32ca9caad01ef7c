/* engine/program/replay.h - the part of compiling that concerns plans. */
#ifndef CLO_ENGINE_PROGRAM_REPLAY_H
#define CLO_ENGINE_PROGRAM_REPLAY_H

#include "base/arena.h"
#include "engine/program/program.h"
#include "graph/graph.h"

#include <clotho/plan.h>

/* Sets everything of `program` that follows from the plan; its graph, cost and platform are set. Returns as
 * clo_program_create does. */
clo_status clo_program_replay(clo_program *program, const clo_placement *placements, size_t count,
                              const int64_t *hedge_after_ns, clo_arena *arena);

/* The execution of a placement: originals have the number of their instance, replicas follow in the order of the plan.
 * *replicas: how many came before it; 0 at first. */
static inline uint32_t clo_replay_execution(const clo_program *program, const clo_placement *placement,
                                            uint32_t *replicas)
{
    if (placement->is_replica)
        return program->instances + (*replicas)++;
    return program->graph->first_instance[placement->task] + placement->instance;
}

#endif
