/* handles.c - what a graph keeps of its handles. */
#include "graph/handles.h"

#include "base/memory.h"

#include <stdio.h>

void clo_graph_data_free(clo_graph_data *data)
{
    if (data == NULL)
        return;
    for (uint32_t h = 0; h < data->handles_count; h++)
        clo_free((char *)(uintptr_t)data->handles[h].name);
    clo_free(data->handles);
    clo_free(data->accesses);
    clo_free(data->block);
    clo_free(data);
}

const char *clo_graph_handle_name(const clo_graph_data *data, uint32_t handle, char *scratch)
{
    if (data->handles[handle].name != NULL)
        return data->handles[handle].name;
    snprintf(scratch, 16, "h%u", handle);
    return scratch;
}
