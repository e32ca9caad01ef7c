/* engine/program.h - a graph compiled for one way of dispatch; immutable, shared by the real and the simulated run.
 *
 * The unit is the *execution*, one run of an instance's body: executions 0 .. instances-1 are the originals, the
 * replicas of a plan follow. Under replay an execution's executor and the source of each input are fixed, data edges
 * within an executor are implied by its order, and that order is one more edge from each execution to the next on its
 * executor: an execution is ready exactly when its counter reaches zero, in every mode. Under steal and policy the
 * graph's own adjacency is used as it is. */
#ifndef CLO_ENGINE_PROGRAM_H
#define CLO_ENGINE_PROGRAM_H

#include "base/arena.h"
#include "cost/cost.h"
#include "graph/graph.h"
#include "platform/platform.h"

#include <clotho/cost.h>
#include <clotho/plan.h>

typedef struct clo_program {
    const clo_cost *cost;
    const clo_graph *graph;
    const clo_platform *platform;
    uint32_t executions, instances;
    bool is_replay;
    bool is_restricted;    /* steal: some task cannot run on some executor            */
    bool crosses_memories; /* the platform has more than one memory                  */
    uint32_t exits;        /* executions that release nothing                            */
    uint32_t *roots;       /* [roots_count] executions that wait for nothing            */
    uint32_t roots_count;
    uint32_t inputs_max; /* most inputs of one execution                                */

    const uint32_t *succ_first, *succ; /* [executions + 1], []: whom an execution releases   */
    const uint32_t *input_first;       /* [executions + 1]                               */
    const uint32_t *input_source;      /* [] execution that delivers, in order of the graph's predecessors */

    /* Replay only, else NULL. */
    uint32_t *needs;                       /* [executions] initial counter                       */
    uint32_t *executor;                    /* [executions]                                       */
    uint32_t *replica_of;                  /* [executions - instances] instance                  */
    uint32_t kind_of[CLO_GRAPH_KINDS_MAX]; /* graph kind -> platform kind; CLO_NONE         */
} clo_program;

/* placements NULL: steal or policy. Everything lies in `arena`, which the caller closes, also after a failure. Returns CLO_OK,
 * CLO_ERR_INVALID, CLO_ERR_LIMIT, CLO_ERR_MEMORY. */
clo_status clo_program_create(const clo_cost *cost, const clo_placement *placements, size_t count, clo_arena *arena,
                              clo_program **out);

static inline uint32_t clo_program_instance(const clo_program *program, uint32_t execution)
{
    return execution < program->instances ? execution : program->replica_of[execution - program->instances];
}

static inline uint32_t clo_program_task(const clo_program *program, uint32_t execution)
{
    return program->graph->task_of[clo_program_instance(program, execution)];
}

static inline uint32_t clo_program_needs(const clo_program *program, uint32_t execution)
{
    return program->is_replay ? program->needs[execution]
                              : program->input_first[execution + 1] - program->input_first[execution];
}

/* Bytes that input k of an execution moves. */
static inline uint64_t clo_program_input_bytes(const clo_program *program, uint32_t execution, uint32_t k)
{
    const clo_graph *graph = program->graph;

    return clo_graph_arc_bytes(graph, graph->pred_first[clo_program_instance(program, execution)] + k -
                                          program->input_first[execution]);
}

/* What `task` holds on its machine while it runs, in the platform's order of resources. */
void clo_program_demand(const clo_program *program, uint32_t task, int64_t *demand);

/* The body of a task on an executor; NULL: nothing to call. */
clo_task_fn clo_program_body(const clo_program *program, uint32_t task, uint32_t executor);

#endif
