/* io/workflow/edge_list.h - edges as a JSON text lists them, before the graph has them: found by their ends, and handed
 * over in the order of the text. */
#ifndef CLO_IO_WORKFLOW_EDGE_LIST_H
#define CLO_IO_WORKFLOW_EDGE_LIST_H

#include "io/text/json_read.h"

#include <clotho/graph.h>

typedef struct clo_listed_edge {
    uint64_t ends;     /* from << 32 | to */
    uint32_t order;    /* in the text     */
    const cJSON *item; /* where it stands */
    uint64_t bytes;
} clo_listed_edge;

/* Begins as {0}. */
typedef struct clo_edge_list {
    clo_listed_edge *edges;
    size_t count, capacity;
} clo_edge_list;

static inline uint64_t clo_edge_ends(uint32_t from, uint32_t to)
{
    return (uint64_t)from << 32 | to;
}

/* Refuses an edge from a task to itself. */
clo_status clo_edge_list_add(clo_edge_list *list, const clo_json *json, uint64_t ends, const cJSON *item);
/* By their ends; those with the same ends stay in the order of the text. */
void clo_edge_list_sort(clo_edge_list *list);
/* Among the first `count` edges, which are sorted; NULL: none. */
clo_listed_edge *clo_edge_list_find(const clo_edge_list *list, size_t count, uint64_t ends);
/* Adds them to the graph in the order of the text. */
clo_status clo_edge_list_hand_over(clo_edge_list *list, const clo_json *json, clo_graph *graph);
void clo_edge_list_free(clo_edge_list *list);

#endif
