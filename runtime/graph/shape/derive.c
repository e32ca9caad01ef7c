/* derive.c - edges from the use of handles.
 *
 * Tasks are gone through in the order of their ids, accesses task by task. For each handle there is one last writer and
 * a list of those that have read its version: a reader gets an edge from the writer, the next writer gets one from each
 * reader, or from the writer before where nobody read. So the edges are as many as the accesses at most, and transitive
 * ones between writers are left out: readers stand between them.
 *
 * Two edges between the same tasks become one that carries both: an edge that was added takes on the bytes, and
 * `beside` remembers them. */
#include "graph/shape/derive.h"

#include "base/carve.h"
#include "base/memory.h"
#include "base/status.h"

#include <string.h>

#define NAME_SHOWN 40

/* What is known of a handle so far. */
typedef struct state {
    uint32_t writer;  /* the access that wrote its version; CLO_NONE: none */
    uint32_t readers; /* the last access that read it; CLO_NONE: none */
    uint32_t user;    /* the last task that used it; CLO_NONE: none */
} state;

typedef struct derived {
    uint32_t from, to, handle;
    uint64_t bytes;
} derived;

typedef struct derivation {
    clo_graph *graph;
    clo_graph_data *data;
    clo_graph_access_row *sorted;
    state *states;       /* [handles] */
    uint32_t *reader;    /* [accesses] the next reader of the same version */
    uint32_t *last;      /* [tasks] the last derived edge from each, to tell two edges between the same tasks */
    uint32_t *added_to;  /* [tasks] the last edge added to each; CLO_NONE: none */
    uint32_t *added;     /* [edges] the next edge added to the same task */
    uint32_t *edge_from; /* [tasks] the edge added from each to the task that is looked at */
    derived *edges;      /* [edges_max] */
    uint32_t edges_count;
    void *block;
} derivation;

static bool make_room(derivation *d)
{
    clo_graph_data *data = d->data;
    size_t tasks = d->graph->tasks, edges = d->graph->edges, accesses = data->accesses_count;
    clo_block kept = {0}, passing = {0};

    clo_carve(&kept, &data->beside, edges);
    clo_carve(&kept, &data->first, tasks + 1);
    clo_carve(&kept, &data->last, data->handles_count);
    clo_carve(&kept, &data->pinned_by, tasks);
    clo_carve(&kept, &data->edge_by, 2 * accesses);
    clo_carve(&passing, &d->edges, 2 * accesses);
    clo_carve(&passing, &d->states, data->handles_count);
    clo_carve(&passing, &d->reader, accesses);
    clo_carve(&passing, &d->last, tasks);
    clo_carve(&passing, &d->added_to, tasks);
    clo_carve(&passing, &d->added, edges);
    clo_carve(&passing, &d->edge_from, tasks);
    data->block = clo_block_allocate(&kept);
    d->block = clo_block_allocate(&passing);
    data->sorted = clo_allocate(accesses, sizeof *data->sorted);
    d->sorted = data->sorted;
    return data->block != NULL && d->block != NULL && data->sorted != NULL;
}

/* Task by task, else as they were added. */
static void sort_accesses(const derivation *d)
{
    clo_graph_data *data = d->data;
    uint32_t tasks = d->graph->tasks;

    for (uint32_t a = 0; a < data->accesses_count; a++)
        data->first[data->accesses[a].task + 1]++;
    for (uint32_t t = 0; t < tasks; t++)
        data->first[t + 1] += data->first[t];
    for (uint32_t a = 0; a < data->accesses_count; a++)
        d->sorted[data->first[data->accesses[a].task]++] = data->accesses[a];
    for (uint32_t t = tasks; t > 0; t--)
        data->first[t] = data->first[t - 1];
    data->first[0] = 0;
}

static void start(derivation *d)
{
    const clo_graph *graph = d->graph;

    memset(d->states, 0xff, d->data->handles_count * sizeof *d->states);
    memset(d->last, 0xff, graph->tasks * sizeof *d->last);
    memset(d->added_to, 0xff, graph->tasks * sizeof *d->added_to);
    memset(d->edge_from, 0xff, graph->tasks * sizeof *d->edge_from);
    memset(d->data->pinned_by, 0xff, graph->tasks * sizeof *d->data->pinned_by);
    for (uint32_t e = 0; e < graph->edges; e++)
        if (graph->ends[e].to < graph->tasks && graph->ends[e].from < graph->tasks) { /* others: seal refuses them */
            d->added[e] = d->added_to[graph->ends[e].to];
            d->added_to[graph->ends[e].to] = e;
        }
    sort_accesses(d);
}

/* Refuses an access that nothing orders, by the names of handle and task. */
static clo_status check_access(const derivation *d, const clo_graph_access_row *access)
{
    const clo_handle *handle = &d->data->handles[access->handle];
    uint32_t items = clo_graph_grain_of(d->graph, access->task).items;
    const state *before = &d->states[access->handle];
    char handle_scratch[16], task_scratch[16];
    const char *name = clo_graph_handle_name(d->data, access->handle, handle_scratch);
    const char *task = clo_graph_task_name(d->graph, access->task, task_scratch);

    if (before->user == access->task)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "handle \"%.*s\": task \"%.*s\" (%u) uses it twice, and nothing orders that; declare one "
                        "access, for both an update",
                        NAME_SHOWN, name, NAME_SHOWN, task, access->task);
    if ((access->mode & CLO_ACCESS_PARTS) != 0 && handle->bytes % items != 0)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "handle \"%.*s\": %llu bytes are not %u equal parts, for the instances of task \"%.*s\" (%u); "
                        "give it a multiple of that",
                        NAME_SHOWN, name, (unsigned long long)handle->bytes, items, NAME_SHOWN, task, access->task);
    if (clo_access_writes(access->mode) && items > 1 && (access->mode & CLO_ACCESS_PARTS) == 0)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "handle \"%.*s\": the %u instances of task \"%.*s\" (%u) write it without order; add "
                        "CLO_ACCESS_PARTS, or use one instance",
                        NAME_SHOWN, name, items, NAME_SHOWN, task, access->task);
    if (clo_access_reads(access->mode) && before->writer == CLO_NONE && !clo_handle_is_fixed(handle))
        return clo_fail(CLO_ERR_ARGUMENT,
                        "handle \"%.*s\": task \"%.*s\" (%u) reads it, and no task before writes it; add a writer "
                        "before, or give the handle an address or kept",
                        NAME_SHOWN, name, NAME_SHOWN, task, access->task);
    return CLO_OK;
}

static clo_status fail_bytes(const derivation *d, uint32_t handle)
{
    char scratch[16];

    return clo_fail(CLO_ERR_LIMIT, "handle \"%.*s\": what its readers get exceeds 2^64 bytes; use fewer instances",
                    NAME_SHOWN, clo_graph_handle_name(d->data, handle, scratch));
}

/* from -> to waits because of the handle. Edges to one task come one after another. */
static clo_status derive(derivation *d, uint32_t from, uint32_t to, uint32_t handle, uint64_t bytes)
{
    uint32_t known = d->last[from], added = d->edge_from[from];

    if (added != CLO_NONE && d->graph->ends[added].to == to) {
        uint64_t *beside = &d->data->beside[added];
        return __builtin_add_overflow(*beside, bytes, beside) ? fail_bytes(d, handle) : CLO_OK;
    }
    if (known != CLO_NONE && d->edges[known].to == to) {
        uint64_t *carried = &d->edges[known].bytes;
        return __builtin_add_overflow(*carried, bytes, carried) ? fail_bytes(d, handle) : CLO_OK;
    }
    d->last[from] = d->edges_count;
    d->edges[d->edges_count++] = (derived){from, to, handle, bytes};
    return CLO_OK;
}

/* The next version: all that used the last one come before. */
static clo_status derive_write(derivation *d, uint32_t at)
{
    const clo_graph_access_row *access = &d->sorted[at];
    state *handle = &d->states[access->handle];
    uint32_t *pinned_by = d->data->pinned_by;
    clo_status status = CLO_OK;

    if (handle->readers == CLO_NONE && handle->writer != CLO_NONE && !clo_access_reads(access->mode))
        status = derive(d, d->sorted[handle->writer].task, access->task, access->handle, 0);
    for (uint32_t r = handle->readers; r != CLO_NONE && status == CLO_OK; r = d->reader[r]) {
        status = derive(d, d->sorted[r].task, access->task, access->handle, 0);
        pinned_by[d->sorted[r].task] = access->handle;
    }
    pinned_by[access->task] = access->handle;
    handle->writer = at;
    handle->readers = CLO_NONE;
    return status;
}

/* Bytes that an access gets over its edge: each execution that reads all of the handle gets all of it. */
static bool bytes_read(const derivation *d, const clo_graph_access_row *access, uint64_t *bytes)
{
    uint64_t readers = (access->mode & CLO_ACCESS_PARTS) != 0 ? 1 : d->graph->rows[access->task].instances;

    return !__builtin_mul_overflow(d->data->handles[access->handle].bytes, readers, bytes);
}

static clo_status derive_access(derivation *d, uint32_t at)
{
    clo_graph_access_row *access = &d->sorted[at];
    state *handle = &d->states[access->handle];
    clo_status status = check_access(d, access);
    uint64_t bytes = 0;

    if (status != CLO_OK)
        return status;
    handle->user = access->task;
    access->source = clo_access_reads(access->mode) ? handle->writer : CLO_NONE;
    if (access->source != CLO_NONE) {
        if (!bytes_read(d, access, &bytes))
            return fail_bytes(d, access->handle);
        status = derive(d, d->sorted[access->source].task, access->task, access->handle, bytes);
    }
    if (status != CLO_OK || clo_access_writes(access->mode))
        return status == CLO_OK ? derive_write(d, at) : status;
    d->reader[at] = handle->readers;
    handle->readers = at;
    return CLO_OK;
}

static clo_status derive_all(derivation *d)
{
    clo_status status = CLO_OK;

    for (uint32_t t = 0; t < d->graph->tasks && status == CLO_OK; t++) {
        for (uint32_t e = d->added_to[t]; e != CLO_NONE; e = d->added[e])
            d->edge_from[d->graph->ends[e].from] = e;
        for (uint32_t a = d->data->first[t]; a < d->data->first[t + 1] && status == CLO_OK; a++)
            status = derive_access(d, a);
    }
    for (uint32_t h = 0; h < d->data->handles_count; h++)
        d->data->last[h] = d->states[h].writer;
    return status;
}

/* Nothing is changed before all is known to fit. */
static clo_status add_edges(derivation *d)
{
    clo_graph *graph = d->graph;
    clo_graph_data *data = d->data;
    bool has_bytes = false;

    for (uint32_t e = 0; e < d->edges_count; e++)
        has_bytes |= d->edges[e].bytes > 0;
    for (uint32_t e = 0; e < graph->edges; e++) {
        uint64_t own = graph->edge_bytes == NULL ? 0 : graph->edge_bytes[e];
        has_bytes |= data->beside[e] > 0;
        if (data->beside[e] > UINT64_MAX - own)
            return clo_fail(CLO_ERR_LIMIT, "edge %u carries more than 2^64 bytes, with its handles; use fewer", e);
    }
    clo_status status = clo_graph_reserve_edges(graph, d->edges_count, has_bytes);
    if (status != CLO_OK)
        return status;
    for (uint32_t e = 0; e < graph->edges && graph->edge_bytes != NULL; e++)
        graph->edge_bytes[e] += data->beside[e];
    for (uint32_t e = 0; e < d->edges_count; e++) {
        graph->ends[graph->edges + e] = (clo_graph_ends){d->edges[e].from, d->edges[e].to};
        if (graph->edge_bytes != NULL)
            graph->edge_bytes[graph->edges + e] = d->edges[e].bytes;
        data->edge_by[e] = d->edges[e].handle;
    }
    data->edges_added = graph->edges;
    graph->edges += d->edges_count;
    return CLO_OK;
}

static void forget(clo_graph_data *data)
{
    clo_free(data->block);
    clo_free(data->sorted);
    data->block = NULL;
    data->sorted = NULL;
}

clo_status clo_graph_derive(clo_graph *graph)
{
    derivation d = {.graph = graph, .data = graph->data};
    clo_status status = CLO_OK;

    if (graph->data == NULL)
        return CLO_OK;
    if (!make_room(&d))
        status = clo_fail_memory("the handles of a graph");
    if (status == CLO_OK) {
        start(&d);
        status = derive_all(&d);
    }
    if (status == CLO_OK)
        status = add_edges(&d);
    clo_free(d.block);
    if (status != CLO_OK)
        forget(graph->data);
    return status;
}

void clo_graph_derive_keep(clo_graph *graph)
{
    clo_graph_data *data = graph->data;

    if (data == NULL)
        return;
    clo_free(data->accesses);
    data->accesses = data->sorted;
    data->sorted = NULL;
    for (uint32_t t = 0; t < graph->tasks; t++) {
        if (!graph->rows[t].duplicable)
            data->pinned_by[t] = CLO_NONE;
        else if (data->pinned_by[t] != CLO_NONE)
            graph->rows[t].duplicable = 0;
    }
}

void clo_graph_derive_undo(clo_graph *graph)
{
    clo_graph_data *data = graph->data;

    if (data == NULL)
        return;
    graph->edges = data->edges_added;
    for (uint32_t e = 0; e < graph->edges && graph->edge_bytes != NULL; e++)
        graph->edge_bytes[e] -= data->beside[e];
    forget(data);
}

uint32_t clo_graph_derived_by(const clo_graph *graph, uint32_t from, uint32_t to)
{
    const clo_graph_data *data = graph->data;
    clo_edge edge;

    if (data == NULL || data->block == NULL)
        return CLO_NONE;
    for (uint32_t e = data->edges_added; e < graph->edges; e++)
        if (clo_graph_edge(graph, e, &edge) == CLO_OK && edge.from == from && edge.to == to)
            return data->edge_by[e - data->edges_added];
    return CLO_NONE;
}
