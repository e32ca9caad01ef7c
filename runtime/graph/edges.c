/* edges.c - the edges of a graph: added to an open one, read back from any. They stand in order of addition, those that
 * handles gave behind them (derive.c). */
#include "graph/graph.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

#define EDGES_MAX (CLO_NONE - 1)

/* Room for the bytes of `count` more edges. The first edge that carries bytes makes room for all; those before it carry
 * none. */
static clo_status reserve_bytes(clo_graph *graph, size_t count)
{
    void *all = graph->edge_bytes;
    bool is_first = all == NULL;

    if (clo_grow(&all, &graph->edge_bytes_capacity, graph->edges + count, sizeof *graph->edge_bytes) != 0)
        return clo_fail_memory("an edge");
    graph->edge_bytes = all;
    if (is_first)
        memset(graph->edge_bytes, 0, graph->edges * sizeof *graph->edge_bytes);
    return CLO_OK;
}

static clo_status reserve_edges(clo_graph *graph, size_t count)
{
    void *ends = graph->ends;

    if (graph->sealed)
        return clo_fail(CLO_ERR_STATE, "graph \"%.60s\" is sealed; add edges before clo_graph_seal", graph->name);
    if (count > EDGES_MAX - graph->edges)
        return clo_fail(CLO_ERR_LIMIT, "more than %u edges; use fewer", EDGES_MAX);
    if (clo_grow(&ends, &graph->edges_capacity, graph->edges + count, sizeof *graph->ends) != 0)
        return clo_fail_memory("an edge");
    graph->ends = ends;
    return CLO_OK;
}

clo_status clo_graph_reserve_edges(clo_graph *graph, size_t count, bool has_bytes)
{
    clo_status status = reserve_edges(graph, count);

    return status == CLO_OK && (has_bytes || graph->edge_bytes != NULL) ? reserve_bytes(graph, count) : status;
}

clo_status clo_graph_add_edge(clo_graph *graph, uint32_t from, uint32_t to, uint64_t bytes)
{
    if (graph == NULL)
        return clo_fail_null("clo_graph_add_edge", "graph");
    clo_status status = CLO_OK;

    if (graph->edges >= graph->edges_capacity || graph->sealed)
        status = reserve_edges(graph, 1);
    if (status == CLO_OK && (bytes | (uintptr_t)graph->edge_bytes) != 0) {
        status = reserve_bytes(graph, 1);
        if (status == CLO_OK)
            graph->edge_bytes[graph->edges] = bytes;
    }
    if (status != CLO_OK)
        return status;
    graph->ends[graph->edges++] = (clo_graph_ends){from, to};
    return CLO_OK;
}

clo_status clo_graph_add_edges(clo_graph *graph, const clo_edge *edges, size_t count)
{
    if (graph == NULL || (edges == NULL && count > 0))
        return clo_fail_null("clo_graph_add_edges", "graph or edges");
    uint64_t any_bytes = 0;
    clo_status status = reserve_edges(graph, count);

    if (status == CLO_ERR_LIMIT)
        return clo_fail(status, "edges[%u]: more than %u edges; use fewer", EDGES_MAX - graph->edges, EDGES_MAX);
    for (size_t i = 0; status == CLO_OK && i < count; i++)
        any_bytes |= edges[i].bytes;
    if (status == CLO_OK && (any_bytes | (uintptr_t)graph->edge_bytes) != 0)
        status = reserve_bytes(graph, count);
    if (status != CLO_OK || count == 0) /* of none there may be no array yet */
        return status;
    clo_graph_ends *ends = graph->ends + graph->edges;
    for (size_t i = 0; i < count; i++)
        ends[i] = (clo_graph_ends){edges[i].from, edges[i].to};
    for (size_t i = 0; graph->edge_bytes != NULL && i < count; i++)
        graph->edge_bytes[graph->edges + i] = edges[i].bytes;
    graph->edges += (uint32_t)count;
    return CLO_OK;
}

clo_status clo_graph_edge(const clo_graph *graph, uint32_t index, clo_edge *out)
{
    if (graph == NULL || out == NULL)
        return clo_fail_null("clo_graph_edge", "graph or out");
    if (index >= graph->edges)
        return clo_fail(CLO_ERR_ARGUMENT, "edge %u does not exist; edges go from 0 to %lld", index,
                        (long long)graph->edges - 1);
    if (!graph->sealed) {
        *out = (clo_edge){graph->ends[index].from, graph->ends[index].to,
                          graph->edge_bytes == NULL ? 0 : graph->edge_bytes[index]};
        return CLO_OK;
    }
    uint32_t at = graph->in_place == NULL ? index : graph->in_place[index];
    uint32_t low = 0, high = graph->tasks; /* in_first[low] <= at < in_first[high] */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (graph->in_first[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    *out = (clo_edge){clo_graph_source(graph, at), low,
                      graph->edge_bytes == NULL ? clo_graph_in_bytes(graph, at) : graph->edge_bytes[index]};
    return CLO_OK;
}

uint32_t clo_graph_edges_added(const clo_graph *graph)
{
    if (graph == NULL)
        return 0;
    return graph->sealed && graph->data != NULL ? graph->data->edges_added : graph->edges;
}

clo_edge clo_graph_edge_as_added(const clo_graph *graph, uint32_t index)
{
    clo_edge edge = {0};
    clo_status status = clo_graph_edge(graph, index, &edge);

    if (status == CLO_OK && graph->sealed && graph->data != NULL)
        edge.bytes -= graph->data->beside[index];
    return edge;
}
