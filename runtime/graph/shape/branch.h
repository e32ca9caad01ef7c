/* graph/shape/branch.h - branches as other parts of the library ask for them. */
#ifndef CLO_GRAPH_SHAPE_BRANCH_H
#define CLO_GRAPH_SHAPE_BRANCH_H

#include "graph/graph.h"
#include "library.h"

/* Checks what an open graph has, and makes what a sealed one has; in_first: [tasks + 1]. Nothing to do without
 * branches. Returns CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_UNSUPPORTED or CLO_ERR_MEMORY. */
clo_status clo_graph_control_flow_seal(clo_graph *graph, const uint32_t *in_first);

/* CLO_OK, or CLO_ERR_UNSUPPORTED for a sealed graph with branches or merges: `what` knows nothing of them. */
CLO_INTERNAL clo_status clo_graph_refuse_control_flow(const clo_graph *graph, const char *what);

/* Whether the task is a branch with chances of its own (clo_graph_set_branch). */
CLO_INTERNAL bool clo_graph_has_chances(const clo_graph *graph, uint32_t task);

/* As clo_graph_set_branch, for the last condition of a loop of `bound` iterations. */
CLO_INTERNAL clo_status clo_graph_set_last(clo_graph *graph, uint32_t task, uint32_t bound);

#endif
