/* codelet.c - what a task runs. Rows are shared by neighbours that run the same, names by rows of the same name among
 * the last ones: a graph of a million tasks and a dozen codelets keeps a dozen rows. */
#define _POSIX_C_SOURCE 200809L
#include "base/memory.h"
#include "base/status.h"
#include "graph/graph.h"

#include <string.h>

enum { NAME_BYTES_MAX = 255, LOOKS_MAX = 32 };

static bool equals(const clo_graph *graph, const clo_graph_codelet_row *row, const clo_codelet *codelet)
{
    return row->version == codelet->version && row->footprint == codelet->footprint &&
           strcmp(graph->names + row->name, codelet->name) == 0;
}

/* Among the last rows: an equal one, else (*name) the name of one that has it; CLO_NONE: there is none. */
static uint32_t find(const clo_graph *graph, const clo_codelet *codelet, uint32_t *name)
{
    size_t count = graph->codelets_count;

    *name = CLO_NONE;
    for (size_t i = 0; i < LOOKS_MAX && i < count; i++) {
        const clo_graph_codelet_row *row = &graph->codelets[count - 1 - i];
        if (equals(graph, row, codelet))
            return (uint32_t)(count - 1 - i);
        if (strcmp(graph->names + row->name, codelet->name) == 0)
            *name = row->name;
    }
    return CLO_NONE;
}

/* A new row. Room first, so that a failure changes nothing. */
static clo_status add(clo_graph *graph, const clo_codelet *codelet, uint32_t name, uint32_t *index)
{
    void *rows = graph->codelets, *names = graph->names;
    size_t name_bytes = name == CLO_NONE ? strlen(codelet->name) + 1 : 0;

    if (graph->names_bytes + name_bytes >= CLO_NONE || graph->codelets_count >= CLO_NONE - 1)
        return clo_fail(CLO_ERR_LIMIT, "codelet \"%.60s\": the names of the graph take 4 GiB; use shorter ones",
                        codelet->name);
    int failed = clo_grow(&rows, &graph->codelets_capacity, graph->codelets_count + 1, sizeof *graph->codelets);
    graph->codelets = rows;
    if (!failed && name_bytes > 0)
        failed = clo_grow(&names, &graph->names_capacity, graph->names_bytes + name_bytes, 1);
    graph->names = names;
    if (failed)
        return clo_fail_memory("a codelet");
    if (name == CLO_NONE) {
        name = (uint32_t)graph->names_bytes;
        memcpy(graph->names + name, codelet->name, name_bytes);
        graph->names_bytes += name_bytes;
    }
    *index = (uint32_t)graph->codelets_count++;
    graph->codelets[*index] = (clo_graph_codelet_row){codelet->footprint, name, codelet->version};
    return CLO_OK;
}

clo_status clo_graph_set_codelet(clo_graph *graph, uint32_t task, const clo_codelet *codelet)
{
    if (graph == NULL || codelet == NULL)
        return clo_fail_null("clo_graph_set_codelet", "graph or codelet");
    clo_status status = clo_graph_check_task(graph, task, "set codelets");
    uint32_t name;

    if (status != CLO_OK)
        return status;
    size_t length = codelet->name != NULL ? strnlen(codelet->name, NAME_BYTES_MAX + 1) : 0;
    if (length == 0 || length > NAME_BYTES_MAX)
        return clo_fail(CLO_ERR_ARGUMENT, "task %u: a codelet needs a name of 1 to %d bytes", task, NAME_BYTES_MAX);
    if (clo_columns_reserve(&graph->columns, 1u << CLO_COLUMN_CODELET, graph->tasks, 0) != 0)
        return clo_fail_memory("a codelet");
    uint32_t index = find(graph, codelet, &name);
    if (index == CLO_NONE)
        status = add(graph, codelet, name, &index);
    if (status == CLO_OK)
        clo_columns_set(&graph->columns, CLO_COLUMN_CODELET, task, index);
    return status;
}

bool clo_graph_codelet(const clo_graph *graph, uint32_t task, clo_codelet *codelet)
{
    uint32_t index = graph != NULL && codelet != NULL && task < graph->tasks
                         ? clo_columns_get(&graph->columns, CLO_COLUMN_CODELET, task)
                         : CLO_NONE;

    if (index == CLO_NONE)
        return false;
    const clo_graph_codelet_row *row = &graph->codelets[index];
    *codelet = (clo_codelet){graph->names + row->name, row->version, row->footprint};
    return true;
}
