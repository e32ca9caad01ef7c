/* control_flow.c - the memory of what control_flow.h keeps; branch.c fills it. */
#include "graph/control_flow.h"

#include "base/memory.h"

void clo_graph_modes_free(clo_graph_modes *modes)
{
    if (modes == NULL)
        return;
    clo_free(modes->branches);
    clo_free(modes->arms);
    clo_free(modes->chances);
    clo_free(modes->merges);
    clo_free(modes->block);
    clo_free(modes);
}

clo_graph_modes_mark clo_graph_modes_look(const clo_graph_modes *modes)
{
    if (modes == NULL)
        return (clo_graph_modes_mark){0};
    return (clo_graph_modes_mark){modes->branches_count, modes->arms_count, modes->chances_count, modes->merges_count};
}

void clo_graph_modes_go_back(clo_graph_modes *modes, const clo_graph_modes_mark *mark)
{
    if (modes == NULL)
        return;
    modes->branches_count = mark->branches;
    modes->arms_count = mark->arms;
    modes->chances_count = mark->chances;
    modes->merges_count = mark->merges;
}
