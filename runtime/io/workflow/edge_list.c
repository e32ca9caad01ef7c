/* edge_list.c - see edge_list.h: one array, sorted twice. */
#include "io/workflow/edge_list.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdlib.h>

static int by_ends(const void *left, const void *right)
{
    const clo_listed_edge *a = left, *b = right;

    return a->ends != b->ends ? (a->ends < b->ends ? -1 : 1) : (a->order > b->order) - (a->order < b->order);
}

static int by_order(const void *left, const void *right)
{
    const clo_listed_edge *a = left, *b = right;

    return (a->order > b->order) - (a->order < b->order);
}

clo_status clo_edge_list_add(clo_edge_list *list, const clo_json *json, uint64_t ends, const cJSON *item)
{
    void *edges = list->edges;

    if (ends >> 32 == (ends & UINT32_MAX))
        return clo_json_fail(json, CLO_ERR_FORMAT, item, "is the task itself; remove it");
    if (clo_grow(&edges, &list->capacity, list->count + 1, sizeof *list->edges) != 0)
        return clo_fail_memory(json->file);
    list->edges = edges;
    list->edges[list->count] = (clo_listed_edge){.ends = ends, .order = (uint32_t)list->count, .item = item};
    list->count++;
    return CLO_OK;
}

void clo_edge_list_sort(clo_edge_list *list)
{
    if (list->count > 1)
        qsort(list->edges, list->count, sizeof *list->edges, by_ends);
}

clo_listed_edge *clo_edge_list_find(const clo_edge_list *list, size_t count, uint64_t ends)
{
    size_t low = 0, high = count;

    while (low < high) { /* the interval halves */
        size_t middle = low + (high - low) / 2;
        if (list->edges[middle].ends < ends)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && list->edges[low].ends == ends ? &list->edges[low] : NULL;
}

clo_status clo_edge_list_hand_over(clo_edge_list *list, const clo_json *json, clo_graph *graph)
{
    clo_status status = CLO_OK;

    if (list->count > 1)
        qsort(list->edges, list->count, sizeof *list->edges, by_order);
    for (size_t e = 0; e < list->count && status == CLO_OK; e++) {
        const clo_listed_edge *edge = &list->edges[e];
        status =
            clo_json_place(json, edge->item,
                           clo_graph_add_edge(graph, (uint32_t)(edge->ends >> 32), (uint32_t)edge->ends, edge->bytes));
    }
    return status;
}

void clo_edge_list_free(clo_edge_list *list)
{
    clo_free(list->edges);
    *list = (clo_edge_list){0};
}
