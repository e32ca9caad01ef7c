/* graph/shape/derive.h - edges from the use of handles, added while a graph is sealed. */
#ifndef CLO_GRAPH_SHAPE_DERIVE_H
#define CLO_GRAPH_SHAPE_DERIVE_H

#include "graph/graph.h"

/* Checks the accesses of an open graph and adds the edges that they give; nothing to do without handles. On success
 * either clo_graph_derive_keep or _undo follows. Returns CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_LIMIT or CLO_ERR_MEMORY, and
 * then the graph is as before. */
clo_status clo_graph_derive(clo_graph *graph);

/* The graph is sealed: what was derived stays, and tasks that must not be duplicated are not duplicable any more. */
void clo_graph_derive_keep(clo_graph *graph);

/* It is not: takes the edges off again. */
void clo_graph_derive_undo(clo_graph *graph);

/* The handle that gave the edge from -> to, in a graph whose edges are derived; CLO_NONE: it was added. O(edges). */
uint32_t clo_graph_derived_by(const clo_graph *graph, uint32_t from, uint32_t to);

#endif
