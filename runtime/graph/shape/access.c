/* access.c - declares handles and accesses on an open graph, and reads them back. */
#include "graph/graph.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

#define NAME_BYTES_MAX 65535u
#define BYTES_MAX (1ull << 46)

static clo_status check_handle(const clo_graph *graph, const clo_handle *handle)
{
    if (graph->sealed)
        return clo_fail(CLO_ERR_STATE, "graph \"%.60s\" is sealed; add handles before clo_graph_seal", graph->name);
    if (handle->name != NULL && strlen(handle->name) > NAME_BYTES_MAX)
        return clo_fail(CLO_ERR_LIMIT, "a handle's name is too long; use at most %u bytes", NAME_BYTES_MAX);
    if (handle->bytes == 0 || handle->kept > 1)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "handle \"%.60s\": bytes is %llu and kept %u; give bytes >= 1 and kept 0 or 1",
                        handle->name != NULL ? handle->name : "", (unsigned long long)handle->bytes, handle->kept);
    if (handle->bytes > BYTES_MAX || (graph->data != NULL && graph->data->handles_count >= CLO_NONE - 1))
        return clo_fail(CLO_ERR_LIMIT, "handle \"%.60s\": at most 2^46 bytes, and 2^32 - 2 handles; use fewer",
                        handle->name != NULL ? handle->name : "");
    return CLO_OK;
}

clo_status clo_graph_add_handle(clo_graph *graph, const clo_handle *handle, uint32_t *id)
{
    if (graph == NULL || handle == NULL)
        return clo_fail_null("clo_graph_add_handle", "graph or handle");
    clo_status status = check_handle(graph, handle);

    if (status != CLO_OK)
        return status;
    if (graph->data == NULL && (graph->data = clo_allocate(1, sizeof *graph->data)) == NULL)
        return clo_fail_memory("a handle");
    clo_graph_data *data = graph->data;
    void *rows = data->handles;
    if (clo_grow(&rows, &data->handles_capacity, (size_t)data->handles_count + 1, sizeof *data->handles) != 0)
        return clo_fail_memory("a handle");
    data->handles = rows;
    char *name = handle->name != NULL ? clo_duplicate(handle->name) : NULL;
    if (handle->name != NULL && name == NULL)
        return clo_fail_memory("a handle");
    if (id != NULL)
        *id = data->handles_count;
    data->handles[data->handles_count] = *handle;
    data->handles[data->handles_count++].name = name;
    return CLO_OK;
}

clo_status clo_graph_add_access(clo_graph *graph, uint32_t task, uint32_t handle, uint32_t mode)
{
    if (graph == NULL)
        return clo_fail_null("clo_graph_add_access", "graph");
    clo_status status = clo_graph_check_task(graph, task, "declare accesses");
    clo_graph_data *data = graph->data;

    if (status != CLO_OK)
        return status;
    if (data == NULL || handle >= data->handles_count)
        return clo_fail(CLO_ERR_ARGUMENT, "handle %u does not exist (the graph has %u); add it first", handle,
                        clo_graph_handles(graph));
    if ((mode & ~(uint32_t)CLO_ACCESS_PARTS) < CLO_ACCESS_READ || (mode & ~(uint32_t)CLO_ACCESS_PARTS) > 3)
        return clo_fail(CLO_ERR_ARGUMENT, "task %u, handle %u: mode %u is unknown; use a CLO_ACCESS_...", task, handle,
                        mode);
    if (data->accesses_count >= CLO_NONE - 1)
        return clo_fail(CLO_ERR_LIMIT, "more than %u accesses; use fewer", CLO_NONE - 1);
    void *rows = data->accesses;
    if (clo_grow(&rows, &data->accesses_capacity, (size_t)data->accesses_count + 1, sizeof *data->accesses) != 0)
        return clo_fail_memory("an access");
    data->accesses = rows;
    data->accesses[data->accesses_count++] = (clo_graph_access_row){task, handle, mode, CLO_NONE};
    return CLO_OK;
}

uint32_t clo_graph_handles(const clo_graph *graph)
{
    return graph != NULL && graph->data != NULL ? graph->data->handles_count : 0;
}

clo_status clo_graph_handle(const clo_graph *graph, uint32_t handle, clo_handle *out)
{
    if (graph == NULL || out == NULL)
        return clo_fail_null("clo_graph_handle", "graph or out");
    if (handle >= clo_graph_handles(graph))
        return clo_fail(CLO_ERR_ARGUMENT, "handle %u does not exist (the graph has %u)", handle,
                        clo_graph_handles(graph));
    *out = graph->data->handles[handle];
    return CLO_OK;
}

uint32_t clo_graph_accesses(const clo_graph *graph)
{
    return graph != NULL && graph->data != NULL ? graph->data->accesses_count : 0;
}

clo_status clo_graph_access(const clo_graph *graph, uint32_t index, clo_access *out)
{
    if (graph == NULL || out == NULL)
        return clo_fail_null("clo_graph_access", "graph or out");
    if (index >= clo_graph_accesses(graph))
        return clo_fail(CLO_ERR_ARGUMENT, "access %u does not exist (the graph has %u)", index,
                        clo_graph_accesses(graph));
    const clo_graph_access_row *row = &graph->data->accesses[index];
    *out = (clo_access){row->task, row->handle, row->mode};
    return CLO_OK;
}

uint32_t clo_graph_pinned_by(const clo_graph *graph, uint32_t task)
{
    if (graph == NULL || !graph->sealed || graph->data == NULL || task >= graph->tasks)
        return CLO_NONE;
    return graph->data->pinned_by[task];
}
