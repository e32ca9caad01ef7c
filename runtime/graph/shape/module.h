/* graph/shape/module.h - how much an open graph holds: what a call that adds many things goes back to if it fails. */
#ifndef CLO_GRAPH_SHAPE_MODULE_H
#define CLO_GRAPH_SHAPE_MODULE_H

#include "graph/graph.h"

typedef struct clo_graph_mark {
    uint32_t tasks, edges, kinds, handles, accesses;
    size_t names_bytes, demands_count, specials_count, codelets_count;
    uint64_t instances_open, work_open;
    bool has_outputs, has_demands, may_pend;
    bool had_resource[CLO_RESOURCES_MAX];
    clo_graph_control_flow_mark control_flow;
} clo_graph_mark;

clo_graph_mark clo_graph_look(const clo_graph *graph);

/* Tasks that were added since, and what belongs to them, are gone. */
void clo_graph_go_back(clo_graph *graph, const clo_graph_mark *was);

#endif
