/* graph/control_flow.h - branches, arms and merges, as a graph keeps them: beside the rows and the edges, since few
 * graphs have any. */
#ifndef CLO_GRAPH_CONTROL_FLOW_H
#define CLO_GRAPH_CONTROL_FLOW_H

#include "library.h"
#include <clotho/branch.h>

/* In place of an arm: the edge follows from the use of a handle (handles.h). It orders, and is never dead. */
#define CLO_ARM_ORDER (CLO_NONE - 1)

typedef struct clo_graph_branch_row {
    uint32_t task, arms;
    /* Of the last condition of a loop: its iterations; else 0. */
    uint32_t bound;
    /* First of its `chances`; CLO_NONE: unknown. */
    uint32_t chance;
} clo_graph_branch_row;

typedef struct clo_graph_arm_row {
    uint32_t edge, arm;
} clo_graph_arm_row;

typedef struct clo_graph_control_flow {
    clo_graph_branch_row *branches;
    /* By edge, in order of addition. */
    clo_graph_arm_row *arms;
    uint32_t *chances, *merges;
    uint32_t branches_count, arms_count, chances_count, merges_count;
    size_t branches_capacity, arms_capacity, chances_capacity, merges_capacity;

    /* From here on: valid once sealed, in one block. */
    uint32_t *branch_of; /* [tasks] row of `branches`; CLO_NONE: it is no branch */
    uint32_t *in_arm;    /* [edges] arm of graph->in[edge]; CLO_NONE: none; CLO_ARM_ORDER */
    uint8_t *is_merge;   /* [tasks] */
    void *block;
} clo_graph_control_flow;

/* How much there was, to go back to. */
typedef struct clo_graph_control_flow_mark {
    uint32_t branches, arms, chances, merges;
} clo_graph_control_flow_mark;

void clo_graph_control_flow_free(clo_graph_control_flow *control_flow); /* NULL is allowed */
clo_graph_control_flow_mark clo_graph_control_flow_look(
    const clo_graph_control_flow *control_flow); /* NULL is allowed */
void clo_graph_control_flow_go_back(clo_graph_control_flow *control_flow, const clo_graph_control_flow_mark *mark);

/* If `task` is the last condition of a loop: the number of iterations of that loop; else 0. O(1), before the graph is
 * sealed O(branches). */
CLO_INTERNAL uint32_t clo_graph_bound(const clo_graph *graph, uint32_t task);

#endif
