/* engine/program/program.h - a graph compiled for one way of dispatch; immutable, shared by the real and the simulated
 * run.
 *
 * The unit is the *execution*, one run of an instance's body: executions 0 .. instances-1 are the originals, the
 * replicas of a plan, or those that a policy may ask for (replicas.h), follow. An execution is ready exactly when its
 * counter reaches zero, in every mode but policy, where a scheduler counts. What counts there are edges between
 * executions and, under replay, one more from each execution to the next on its executor, and those that give turns at
 * capacities (capacity_order.h).
 *
 * *Barriers* stand for edges between stages, tasks of many instances: all n instances of the producer hit the counter
 * of its barrier, and whoever hits it last hits the counters of all m executions of all consumers at once. So rows,
 * counters and time are O(n + m), not O(n * m). A barrier is no execution: it has no body, waits in no queue, and is
 * in no trace. Not behind a barrier are: tasks of one instance; producers whose edges cost no more without one; under
 * replay, producers with replicas, because there each consumer has a source of its own for each instance.
 *
 * Where all tasks have one instance and no plan is given, the graph's own adjacency is used as it is. */
#ifndef CLO_ENGINE_PROGRAM_PROGRAM_H
#define CLO_ENGINE_PROGRAM_PROGRAM_H

#include "cost/cost.h"
#include "graph/graph.h"
#include "platform/model/platform.h"

typedef struct clo_program {
    const clo_cost *cost;
    const clo_graph *graph;
    const clo_platform *platform;
    uint32_t executions, instances;
    /* Hedges have the numbers from here on (hedges.h); = executions: there are none. */
    uint32_t first_hedge;
    /* In rows and counters they follow the executions. */
    uint32_t barriers;
    bool is_replay;
    /* Deep slots (CLO_OS_SLOT_DEEP) begin several executions before the first has ended: on one, the order of a plan
     * leads from the end of each to the `depth`-th behind it, and from its begin to the next (`taken`). */
    bool is_deep;
    /* Steal: some task cannot run on some executor. */
    bool is_restricted;
    /* The platform has more than one memory. */
    bool crosses_memories;
    /* Executions that release nothing. */
    uint32_t exits;
    /* [roots_count] executions that wait for nothing. */
    const uint32_t *roots;
    uint32_t roots_count;
    /* Most inputs of one execution, of a task whose executions do not share them (clo_program_shares_inputs). */
    uint32_t inputs_max;

    /* [executions + barriers + 1], []: whom an execution or a barrier releases. Barrier b stands there as
     * executions + b; the rows of barriers hold executions only. */
    const uint32_t *succ_first, *succ;
    /* [executions + barriers] initial counters; NULL: as many as the task has predecessors, which is in_first. */
    uint32_t *needs;
    /* The graph's. */
    const uint32_t *in_first;

    /* [tasks] the barrier behind all its instances; CLO_NONE: none. NULL: the program has no barriers. */
    uint32_t *barrier_of;
    /* [barriers] */
    uint32_t *barrier_task;

    /* Replay only, else NULL. */

    /* [executions] */
    uint32_t *executor;
    /* [first_hedge] in the plan's order, each behind those that it waits for. */
    const uint32_t *order;
    /* [executions + 1], []: whom an execution lets ask for capacities once it holds its own, or begin on a deep slot
     * (capacity_order.h): these count in `needs` too. NULL: nobody demands anything or is on a deep slot. */
    uint32_t *taken_first, *taken;

    /* Policy only: [tasks] the first of the executions that are kept for replicas, one for each source of data of the
     * platform; CLO_NONE: the task has none. NULL: no task has. */
    uint32_t *replica_first;

    /* [executions] the other one of the pair, of an execution and its hedge; CLO_NONE: it is in none. NULL: there are
     * no hedges. */
    uint32_t *twin;

    /* [executions - instances] instance; NULL: nobody has a replica or a hedge */
    uint32_t *replica_of;

    /* Replay and policy; NULL: nobody has a replica. */

    /* [tasks] 1: some instance has a replica, or may have one. */
    uint8_t *has_replica;
    /* [executions + 1], []: the sources of each execution in tasks with has_replica, in the order of its inputs. Under
     * a policy they are written whenever an execution is handed out (clo_replicas_choose). */
    uint32_t *chosen_first, *chosen;

    /* Graph kind -> platform kind; CLO_NONE: none. */
    uint32_t kind_of[CLO_GRAPH_KINDS_MAX];
} clo_program;

static inline uint32_t clo_program_instance(const clo_program *program, uint32_t execution)
{
    return execution < program->instances ? execution : program->replica_of[execution - program->instances];
}

static inline uint32_t clo_program_task(const clo_program *program, uint32_t execution)
{
    return program->graph->task_of[clo_program_instance(program, execution)];
}

/* Initial counter of an execution, or of a barrier. */
static inline uint32_t clo_program_needs(const clo_program *program, uint32_t execution)
{
    return program->needs != NULL ? program->needs[execution]
                                  : program->in_first[execution + 1] - program->in_first[execution];
}

static inline uint32_t clo_program_barrier(const clo_program *program, uint32_t task)
{
    return program->barrier_of == NULL ? CLO_NONE : program->barrier_of[task];
}

static inline bool clo_program_has_replica(const clo_program *program, uint32_t task)
{
    return program->has_replica != NULL && program->has_replica[task] != 0;
}

/* Policy: the execution that is kept for a replica of `task` on `executor`. */
static inline uint32_t clo_program_replica(const clo_program *program, uint32_t task, uint32_t executor)
{
    return program->replica_first[task] + program->platform->source_of[executor];
}

/* The inputs of one execution, edge by edge; between edges in the order they were added, then by instance. */
typedef struct clo_inputs {
    const clo_program *program;
    /* The next edge in graph->in, and where they end. */
    uint32_t edge, end;
    /* Sources of the next edge from a task that has replicas. */
    const uint32_t *chosen;

    /* Of the edge that clo_inputs_next has gone to. */

    /* The producer. */
    uint32_t task;
    /* So many of its executions: first, first + 1 ..., if `sources` is NULL. */
    uint32_t count, first;
    /* [count] */
    const uint32_t *sources;
    /* What each of them sends to this execution. */
    uint64_t bytes;
} clo_inputs;

static inline clo_inputs clo_inputs_of(const clo_program *program, uint32_t execution)
{
    uint32_t task = clo_program_task(program, execution);

    return (clo_inputs){.program = program,
                        .edge = program->in_first[task],
                        .end = program->in_first[task + 1],
                        .chosen =
                            program->has_replica == NULL ? NULL : program->chosen + program->chosen_first[execution]};
}

/* Goes to the next edge; false: there is none. */
static inline bool clo_inputs_next(clo_inputs *inputs)
{
    const clo_program *program = inputs->program;
    const clo_graph *graph = program->graph;

    if (inputs->edge == inputs->end)
        return false;
    inputs->bytes = clo_graph_in_bytes(graph, inputs->edge);
    inputs->task = clo_graph_source(graph, inputs->edge++);
    inputs->first = graph->first_instance[inputs->task];
    inputs->count = graph->first_instance[inputs->task + 1] - inputs->first;
    inputs->sources = NULL;
    if (clo_program_has_replica(program, inputs->task)) {
        inputs->sources = inputs->chosen;
        inputs->chosen += inputs->count;
    }
    return true;
}

static inline uint32_t clo_inputs_source(const clo_inputs *inputs, uint32_t i)
{
    return inputs->sources == NULL ? inputs->first + i : inputs->sources[i];
}

/* How many inputs each execution of `task` has. O(edges of the task). */
uint32_t clo_program_inputs(const clo_program *program, uint32_t task);

/* True if the executions of `task` are so many, with so many inputs, that one list of them serves all executions in a
 * memory. */
bool clo_program_shares_inputs(const clo_program *program, uint32_t task);

/* What `task` holds on its machine while it runs, in the platform's order of resources. */
void clo_program_demand(const clo_program *program, uint32_t task, int64_t *demand);

/* The body of a task on an executor, and what it gets as its argument; NULL: nothing to call. */
clo_task_fn clo_program_body(const clo_program *program, uint32_t task, uint32_t executor, void **argument);

#endif
