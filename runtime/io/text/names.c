/* names.c - see names.h. */
#include "io/text/names.h"

int clo_names_of_tasks(clo_names *names, const clo_graph *graph)
{
    clo_task task;

    for (uint32_t t = 0; t < clo_graph_tasks(graph); t++)
        if (clo_graph_task(graph, t, &task) == CLO_OK && task.name != NULL && clo_names_add(names, task.name, t) != 0)
            return -1;
    return 0;
}
