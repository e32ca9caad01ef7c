/* control_flow.c - the memory of what control_flow.h keeps; branch.c fills it. */
#include "graph/control_flow.h"

#include "base/memory.h"

void clo_graph_control_flow_free(clo_graph_control_flow *control_flow)
{
    if (control_flow == NULL)
        return;
    clo_free(control_flow->branches);
    clo_free(control_flow->arms);
    clo_free(control_flow->chances);
    clo_free(control_flow->merges);
    clo_free(control_flow->block);
    clo_free(control_flow);
}

clo_graph_control_flow_mark clo_graph_control_flow_look(const clo_graph_control_flow *control_flow)
{
    if (control_flow == NULL)
        return (clo_graph_control_flow_mark){0};
    return (clo_graph_control_flow_mark){control_flow->branches_count, control_flow->arms_count,
                                         control_flow->chances_count, control_flow->merges_count};
}

void clo_graph_control_flow_go_back(clo_graph_control_flow *control_flow, const clo_graph_control_flow_mark *mark)
{
    if (control_flow == NULL)
        return;
    control_flow->branches_count = mark->branches;
    control_flow->arms_count = mark->arms;
    control_flow->chances_count = mark->chances;
    control_flow->merges_count = mark->merges;
}
