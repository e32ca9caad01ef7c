/* io/workflow/dot_control_flow.h - branches, merges and arms (clotho/branch.h) in DOT: arms=2, chances="49152,16384",
 * bound=10 and merge=true on nodes, arm=1 on edges. */
#ifndef CLO_IO_WORKFLOW_DOT_CONTROL_FLOW_H
#define CLO_IO_WORKFLOW_DOT_CONTROL_FLOW_H

#include "base/text.h"
#include "io/workflow/dot_attributes.h"

#include <clotho/graph.h>

/* Makes the task that was added last what its attributes say. `at`: where the node was first mentioned. */
clo_status clo_dot_add_control_flow(const clo_dot_lexer *l, clo_graph *graph, const clo_dot_attributes *a, size_t at);

/* May an edge that stands at `at` belong to this arm of a node with these attributes? */
clo_status clo_dot_check_arm(const clo_dot_lexer *l, const clo_dot_attributes *from, uint32_t arm, size_t at);

/* Attributes of a node, each with a comma before it. */
void clo_dot_write_control_flow(const clo_graph *graph, uint32_t task, clo_text *text);

#endif
