/* graph/handles.h - the handles of a graph and how its tasks use them, as the other modules read them. */
#ifndef CLO_GRAPH_HANDLES_H
#define CLO_GRAPH_HANDLES_H

#include "library.h"
#include <clotho/handle.h>

typedef struct clo_graph_access_row {
    uint32_t task, handle, mode;
    uint32_t source; /* sealed: the access that wrote what this one reads; CLO_NONE: what was there before */
} clo_graph_access_row;

typedef struct clo_graph_data {
    clo_handle *handles; /* [handles_count]; the names are owned */
    clo_graph_access_row *accesses;
    uint32_t handles_count, accesses_count;
    size_t handles_capacity, accesses_capacity;

    /* Valid once sealed. Accesses then lie task by task. */
    uint32_t edges_added;         /* edges that were not derived */
    uint32_t *first;              /* [tasks + 1] accesses of each task */
    uint32_t *last;               /* [handles] the last access that writes each; CLO_NONE: none */
    uint32_t *pinned_by;          /* [tasks] see clo_graph_pinned_by */
    uint32_t *edge_by;            /* [derived edges] the handle that gave each */
    uint64_t *beside;             /* [edges_added] bytes of handles on an edge that was added */
    void *block;                  /* holds all of these */
    clo_graph_access_row *sorted; /* while the graph is being sealed: the accesses, task by task */
} clo_graph_data;

void clo_graph_data_free(clo_graph_data *data); /* NULL is allowed */

/* The name; of an unnamed one "h<ID>" in scratch, of at least 16 bytes. */
CLO_INTERNAL const char *clo_graph_handle_name(const clo_graph_data *data, uint32_t handle, char *scratch);

static inline bool clo_access_reads(uint32_t mode)
{
    return (mode & CLO_ACCESS_READ) != 0;
}

static inline bool clo_access_writes(uint32_t mode)
{
    return (mode & CLO_ACCESS_WRITE) != 0;
}

/* The content is there before the graph runs, in one place for all memories. */
static inline bool clo_handle_is_fixed(const clo_handle *handle)
{
    return handle->address != NULL || handle->kept;
}

#endif
