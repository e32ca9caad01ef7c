/* engine/program/control_flow.h - what the branches of a run chose, and who is skipped for that. The one rule of
 * branch.h, for all ways of dispatch and both drivers.
 *
 * A skipped execution goes the way of all others: its counter is hit, it has its place in the plan or gets an executor
 * from the scheduler, and it releases its successors. But nothing is moved, held or called for it, and it takes no
 * time. Whether it is skipped is settled when all edges into its task are; each instance finds the same. */
#ifndef CLO_ENGINE_PROGRAM_CONTROL_FLOW_H
#define CLO_ENGINE_PROGRAM_CONTROL_FLOW_H

#include "base/arena.h"
#include "graph/graph.h"
#include "library.h"
#include "sync/protocol/mark.h"

typedef struct clo_control_flow {
    /* NULL: it has no branches, and nothing else is valid. */
    const clo_graph *graph;
    /* [tasks] what a branch chose in this run, once it has ended; CLO_NONE: it failed. */
    uint32_t *arm;
    /* [tasks] of this run, once all edges into the task are settled. */
    clo_mark *skipped;
    /* Draws the arms that nobody chooses. Of this run. */
    uint64_t seed;
} clo_control_flow;

/* Everything lies in `arena`; nothing is taken for a graph without branches. Returns CLO_OK or CLO_ERR_MEMORY. */
CLO_INTERNAL clo_status clo_control_flow_create(clo_control_flow *control_flow, const clo_graph *graph, uint64_t seed,
                                                clo_arena *arena);

/* All edges into `task` are settled, and the run goes on: true if the task is skipped. O(edges into the task). */
bool clo_control_flow_settle(clo_control_flow *control_flow, uint32_t task);

/* The branch has ended with this arm, CLO_NONE: drawn. Returns 0, CLO_FAILED_ARM or CLO_FAILED_BOUND. */
CLO_INTERNAL int clo_control_flow_choose(clo_control_flow *control_flow, uint32_t task, uint32_t arm);

/* One line for a task that failed; returns CLO_ERR_TASK. */
CLO_INTERNAL clo_status clo_control_flow_fail_task(const clo_graph *graph, uint32_t task, int code);

static inline bool clo_control_flow_has_branch(const clo_control_flow *control_flow, uint32_t task)
{
    return control_flow->graph != NULL && control_flow->graph->control_flow->branch_of[task] != CLO_NONE;
}

/* Of a task that is settled. */
static inline bool clo_control_flow_skips(const clo_control_flow *control_flow, uint32_t task)
{
    return control_flow->graph != NULL && clo_mark_get(&control_flow->skipped[task]);
}

/* Nothing comes over graph->in[edge], once it is settled: its task has ended or was skipped. */
static inline bool clo_control_flow_is_dead(const clo_control_flow *control_flow, uint32_t edge)
{
    if (control_flow->graph == NULL)
        return false;
    uint32_t from = clo_graph_source(control_flow->graph, edge), arm = control_flow->graph->control_flow->in_arm[edge];
    return clo_mark_get(&control_flow->skipped[from]) || (arm < CLO_ARMS_MAX && arm != control_flow->arm[from]);
}

#endif
