/* graph/graph.h - the sealed graph as the other modules read it: structure of arrays, indices only.
 *
 * Planners, engine and simulator work on *instances*: a task's instances are contiguous, first_instance[t] ..
 * first_instance[t + 1] - 1, and where every task has one instance the two numberings are the same. Adjacency is CSR
 * both ways between tasks, the same for all instances of a task; predecessors stand in the order the edges were added.
 * An edge stands for all pairs of instances of its two tasks: whoever follows it pays for their instances at most,
 * never for the pairs.
 *
 * A task with a grain has ranges in place of instances: everything in here, and all that read it, call a range an
 * instance, and hold its work, times and output. What an application counts is in a column, for the call of
 * the body (clo_graph_serve) and for reading back. */
#ifndef CLO_GRAPH_GRAPH_H
#define CLO_GRAPH_GRAPH_H

#include "graph/columns.h"
#include "graph/control_flow.h"
#include "graph/handles.h"
#include "graph/ids.h"
#include "graph/sets.h"
#include "graph/waves.h"
#include "library.h"

#include <clotho/graph.h>

/* Per (task, kind): a body or a time that differs from the task's own. Chained by task in order of kind; once sealed
 * they also lie in that order, so a task's are special, special + 1 ... */
typedef struct clo_graph_special {
    uint32_t task, kind;
    clo_task_fn body; /* NULL: none of its own                      */
    void *argument;   /* of that body                               */
    int64_t time_ns;  /* < 0: none set                              */
    uint32_t next;    /* of the same task; CLO_NONE: last           */
} clo_graph_special;

/* What a task runs: clo_codelet, with its name in the graph's names. */
typedef struct clo_graph_codelet_row {
    uint64_t footprint;
    uint32_t name, version;
} clo_graph_codelet_row;

/* What every task has, two in a cache line. The rest is in columns. */
typedef struct clo_graph_task_row {
    clo_task_fn body;
    void *argument;
    int64_t work_ns;    /* of a range                              */
    uint32_t instances; /* >= 1                                    */
    uint16_t task_class;
    uint8_t duplicable;
    uint8_t has_kind_body : 1; /* 1: some kind has a body of its own  */
    uint8_t may_pend : 1;      /* 1: a body may finish later          */
} clo_graph_task_row;

typedef struct clo_graph_ends {
    uint32_t from, to;
} clo_graph_ends;

struct clo_graph {
    char *name;
    bool sealed;
    bool has_outputs; /* some output_bytes > 0                      */
    bool has_demands;
    bool may_pend; /* some task may                             */
    uint32_t tasks, edges;
    uint32_t kinds;
    char *kind_names[CLO_GRAPH_KINDS_MAX];
    char *resource_names[CLO_RESOURCES_MAX];

    clo_graph_task_row *rows; /* [tasks]                              */
    clo_graph_columns columns;
    char *names; /* pool of 0-terminated strings         */
    int64_t (*demands)[CLO_RESOURCES_MAX];
    clo_graph_special *specials;
    size_t specials_count;
    clo_graph_codelet_row *codelets;
    size_t codelets_count;
    clo_placement_sets sets;              /* where tasks may run                    */
    clo_graph_waves *waves;               /* measured times; NULL: none             */
    clo_graph_data *data;                 /* handles; NULL: none                    */
    clo_graph_control_flow *control_flow; /* branches and merges; NULL: none        */
    /* Edges in order of addition; NULL once sealed, for `in` and `in_place` say the same. */
    clo_graph_ends *ends;
    /* NULL: all 0, or in in_bytes: once sealed it is there for stages alone, whose pairs share the bytes of an edge. */
    uint64_t *edge_bytes;

    /* From here on: valid once sealed, inside the one block `sealed_block`. */
    uint32_t instances;
    uint32_t *first_instance; /* [tasks + 1]                          */
    uint32_t *task_of;        /* [instances]                          */
    uint32_t *in_first;       /* [tasks + 1]                          */
    clo_ids in;               /* [edges] source task, in the order of the edges; see clo_graph_source */
    uint32_t *in_place;       /* [edges] in order of addition: where each is in `in`; NULL: in that order */
    uint64_t *in_bytes;       /* [edges] of one pair of instances; NULL: each_bytes, all of them */
    uint64_t each_bytes;      /* 0: no edge carries bytes, or in_bytes tells */
    uint32_t *out_first;      /* [tasks + 1]                          */
    uint32_t *out;            /* [edges] target task, by id           */
    uint32_t *out_edge;       /* [edges] index of the same edge in `in`; NULL with in_bytes */
    uint32_t *task_order;     /* [tasks] topological; may be first_instance */
    uint32_t *order;          /* [instances] topological, task_order with all instances of each; may be task_of */
    void *sealed_block;       /* holds `specials` too                 */

    /* Growth of the open graph. */
    uint64_t instances_open; /* sum of rows' instances               */
    uint64_t work_open;      /* sum of work * instances, saturated   */
    size_t rows_capacity, names_capacity, names_bytes, demands_capacity, demands_count;
    size_t specials_capacity, codelets_capacity, edges_capacity, edge_bytes_capacity;
};

/* Sets the work of one item of a task; keeps work_open. Open graphs only. */
CLO_INTERNAL void clo_graph_set_work(clo_graph *graph, uint32_t task, int64_t work_ns);

/* The set of `graph->sets` that restricts a task; CLO_NONE: it may run on any executor. Tasks with the same index have
 * the same executors. */
static inline uint32_t clo_graph_placement(const clo_graph *graph, uint32_t task)
{
    return clo_columns_get(&graph->columns, CLO_COLUMN_PLACEMENT, task);
}

/* True if `task` may be placed on `executor`: its set says so, whatever times and demands say. O(1). */
static inline bool clo_graph_allows(const clo_graph *graph, uint32_t task, uint32_t executor)
{
    return clo_placement_has(&graph->sets, clo_graph_placement(graph, task), executor);
}

/* Room for `count` more edges, and for their bytes if has_bytes; nothing is counted yet. */
clo_status clo_graph_reserve_edges(clo_graph *graph, size_t count, bool has_bytes);

/* Edge `index` as it was added: without what handles carry beside it. index < clo_graph_edges_added. */
CLO_INTERNAL clo_edge clo_graph_edge_as_added(const clo_graph *graph, uint32_t index);

/* CLO_OK, or the failure of a call that must `what` ("set times") to a task of an open graph. */
clo_status clo_graph_check_task(const clo_graph *graph, uint32_t task, const char *what);

/* Restricts a task of an open graph to the executors of `bits`, which are not empty. Returns CLO_OK, CLO_ERR_LIMIT or
 * CLO_ERR_MEMORY. */
CLO_INTERNAL clo_status clo_graph_restrict(clo_graph *graph, uint32_t task, const clo_executor_bits *bits);

/* Demand of a task, never NULL: zeros where it has none. */
CLO_INTERNAL const int64_t *clo_graph_demand(const clo_graph *graph, uint32_t task);

/* The special row of (task, kind); NULL if there is none. O(kinds of that task). */
const clo_graph_special *clo_graph_special_find(const clo_graph *graph, uint32_t task, uint32_t kind);

/* The name of a task; NULL: it has none. */
static inline const char *clo_graph_name_of(const clo_graph *graph, uint32_t task)
{
    uint32_t name = clo_columns_get(&graph->columns, CLO_COLUMN_NAME, task);

    return name == CLO_NONE ? NULL : graph->names + name;
}

/* Whether a task holds anything while it runs. */
static inline bool clo_graph_has_demand(const clo_graph *graph, uint32_t task)
{
    return clo_columns_get(&graph->columns, CLO_COLUMN_DEMAND, task) != CLO_NONE;
}

/* The first special row of a task; CLO_NONE: it has none. */
static inline uint32_t clo_graph_special_first(const clo_graph *graph, uint32_t task)
{
    return clo_columns_get(&graph->columns, CLO_COLUMN_SPECIAL, task);
}

/* True if some kind has a body of its own for the task. */
CLO_INTERNAL bool clo_graph_has_kind_body(const clo_graph *graph, uint32_t task);

static inline uint32_t clo_graph_instances_of(const clo_graph *graph, uint32_t task)
{
    return graph->first_instance[task + 1] - graph->first_instance[task];
}

/* How the items of a task are cut: size >= 1. */
static inline clo_graph_grain clo_graph_grain_of(const clo_graph *graph, uint32_t task)
{
    const clo_graph_grain *of = graph->columns.of[CLO_COLUMN_GRAIN];

    return of != NULL && of[task].size > 0 ? of[task] : (clo_graph_grain){graph->rows[task].instances, 1};
}

/* Items of range `range`, which begins at item range * size. */
static inline uint32_t clo_graph_items_of(clo_graph_grain grain, uint32_t range)
{
    uint32_t left = grain.items - range * grain.size;

    return left < grain.size ? left : grain.size;
}

/* Says in the call which items it serves. */
static inline void clo_graph_serve(const clo_graph *graph, uint32_t task, uint32_t range, clo_call *call)
{
    clo_graph_grain grain = clo_graph_grain_of(graph, task);

    call->instance = range * grain.size;
    call->instances = grain.items;
    call->count = clo_graph_items_of(grain, range);
}

/* Bytes that a whole range puts out. */
static inline uint64_t clo_graph_output(const clo_graph *graph, uint32_t task)
{
    const uint64_t *of = graph->columns.of[CLO_COLUMN_OUTPUT];

    return of == NULL ? 0 : of[task];
}

/* Bytes that range `range` puts out. */
static inline uint64_t clo_graph_output_bytes(const clo_graph *graph, uint32_t task, uint32_t range)
{
    clo_graph_grain grain = clo_graph_grain_of(graph, task);
    uint32_t items = clo_graph_items_of(grain, range);
    uint64_t bytes = clo_graph_output(graph, task);

    return items == grain.size ? bytes : bytes / grain.size * items;
}

/* The task that in[edge] comes from. */
static inline uint32_t clo_graph_source(const clo_graph *graph, uint32_t edge)
{
    return clo_ids_at(graph->in, edge);
}

/* Pairs of instances that an edge stands for. */
static inline uint64_t clo_graph_pairs(const clo_graph *graph, uint32_t from, uint32_t to)
{
    return (uint64_t)clo_graph_instances_of(graph, from) * clo_graph_instances_of(graph, to);
}

/* Whether some edge carries bytes. */
static inline bool clo_graph_has_bytes(const clo_graph *graph)
{
    return graph->in_bytes != NULL || graph->each_bytes > 0;
}

/* Bytes that one pair of instances exchanges over in[edge]. */
static inline uint64_t clo_graph_in_bytes(const clo_graph *graph, uint32_t edge)
{
    return graph->in_bytes == NULL ? graph->each_bytes : graph->in_bytes[edge];
}

/* The same over out[at]. */
static inline uint64_t clo_graph_out_bytes(const clo_graph *graph, uint32_t at)
{
    return graph->in_bytes == NULL ? graph->each_bytes : graph->in_bytes[graph->out_edge[at]];
}

#endif
