/* graph.h - the task graph: declare tasks and edges, seal, share.
 *
 * A graph is open (tasks and edges may be added, one thread at a time) until
 * clo_graph_seal checks it; from then on it is immutable, every const call is
 * safe from any thread, and any number of jobs may run it at once.
 *
 * A task with n instances is executed n times, possibly in parallel, each with
 * its own output buffer. An edge t -> u makes every instance of u wait for every
 * instance of t; its bytes are split evenly over the instance pairs. */
#ifndef CLOTHO_GRAPH_H
#define CLOTHO_GRAPH_H

#include <clotho/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CLO_NONE UINT32_MAX      /* "no task / executor / kind"                     */
#define CLO_RESOURCES_MAX 8      /* length of a demand and of a capacity vector     */
#define CLO_GRAPH_KINDS_MAX 32   /* executor kinds that one graph may name          */
#define CLO_TIME_NEVER INT64_MAX /* execution time where an executor cannot run a task */

/* Task classes: what a task mostly does, so that an executor can have one speed
 * for each. Numbers from CLO_CLASSES_BUILTIN on are free for the application
 * and use the speed of CLO_CLASS_GENERIC. */
enum {
    CLO_CLASS_GENERIC = 0,
    CLO_CLASS_INTEGER = 1,
    CLO_CLASS_FLOAT = 2,
    CLO_CLASS_MEMORY = 3,
    CLO_CLASSES_BUILTIN = 4
};

typedef struct clo_graph clo_graph; /* opaque: owns memory, has invariants */

/* What a task body gets. All pointers are owned by the runtime and valid only
 * during the call. */
typedef struct clo_call {
    void *argument;             /* clo_task.argument, as given                            */
    uint32_t task;              /* id from clo_graph_add_task                             */
    uint32_t instance;          /* 0 .. instances-1                                       */
    uint32_t instances;         /* of this task                                           */
    uint32_t executor;          /* index into the platform                                */
    uint32_t inputs_count;      /* predecessors' instances, in the order the edges were added; 0 if no
                                   task of the graph declares output_bytes                */
    const void *const *inputs;  /* [inputs_count] their outputs; NULL where they declared 0 bytes */
    const size_t *inputs_bytes; /* [inputs_count]                                         */
    void *output;               /* this instance's buffer of output_bytes; NULL for 0     */
    size_t output_bytes;
    int64_t expected_ns; /* time the cost model gives this execution; 0 if unknown */
    uint32_t is_replica; /* 1: another execution of the same instance exists       */
} clo_call;

/* A task body. Returns 0, or any other value to fail the job: the first error
 * wins, bodies not yet started are skipped, clo_job_wait returns CLO_ERR_TASK. Runs on a
 * worker thread; must not call clo_job_wait or destroy its own job. */
typedef int (*clo_task_fn)(const clo_call *call);

/* One task. Zero is a good default for every field but `body`; use
 * CLO_TASK_INIT or `= {0}`. Everything is copied by clo_graph_add_task. */
typedef struct clo_task {
    const char *name;                  /* NULL: "t<ID>". At most 65535 bytes                            */
    clo_task_fn body;                  /* for every executor kind; NULL: does nothing (or see
                              clo_graph_set_body for one kind)                              */
    void *argument;                    /* handed to the body; owned by the caller                       */
    int64_t work_ns;                   /* time on the reference executor (speed 65536), per instance; >= 0 */
    uint64_t output_bytes;             /* buffer the runtime gives each instance; 0: none               */
    uint32_t instances;                /* 0 means 1                                                     */
    uint16_t task_class;               /* CLO_CLASS_...                                                 */
    uint8_t duplicable;                /* 1: pure - same inputs, same output, no other effect; planners
                              may execute it more than once                                 */
    uint8_t reserved;                  /* 0                                                             */
    uint64_t executors_mask;           /* 0: any. Else bit e allows executor e, and executors >= 64 are out */
    int64_t demand[CLO_RESOURCES_MAX]; /* held on the machine while it runs; unit of the capacity; >= 0 */
} clo_task;

typedef struct clo_edge {
    uint32_t from, to;
    uint64_t bytes;
} clo_edge;

/* Creates an empty, open graph.
 *   name  copied; NULL means "graph".
 *   out   the new graph, owned by the caller; untouched on failure.
 * Returns CLO_OK or CLO_ERR_MEMORY, CLO_ERR_ARGUMENT (out is NULL). */
CLO_API CLO_NODISCARD clo_status clo_graph_create(const char *name, clo_graph **out);

/* Frees the graph. NULL is allowed. No job may be using it. */
CLO_API void clo_graph_destroy(clo_graph *graph);

/* Adds one task; ids count from 0 in order of addition.
 *   task  copied.
 *   id    receives the id; may be NULL.
 * Returns CLO_OK, or CLO_ERR_STATE (sealed), CLO_ERR_ARGUMENT (negative work or
 * demand, reserved not 0), CLO_ERR_LIMIT (2^32-2 instances, name too long), CLO_ERR_MEMORY.
 * Amortised O(1). */
CLO_API CLO_NODISCARD clo_status clo_graph_add_task(clo_graph *graph, const clo_task *task, uint32_t *id);

/* Adds the edge from -> to that carries `bytes` in all. The ids may belong to tasks added later;
 * seal checks them, as it checks self edges, duplicates and cycles.
 * Returns CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_STATE, CLO_ERR_LIMIT, CLO_ERR_MEMORY. Amortised O(1). */
CLO_API CLO_NODISCARD clo_status clo_graph_add_edge(clo_graph *graph, uint32_t from, uint32_t to, uint64_t bytes);

/* Adds `count` tasks: the same graph as `count` calls of clo_graph_add_task, in less time. All or nothing.
 *   tasks  [count]; copied; NULL is allowed for 0.
 *   first  receives the id of tasks[0], the others follow; may be NULL. */
CLO_API CLO_NODISCARD clo_status clo_graph_add_tasks(clo_graph *graph, const clo_task *tasks, size_t count,
                                                     uint32_t *first);

/* Adds `count` edges: the same graph as `count` calls of clo_graph_add_edge, in less time. All or nothing.
 *   edges  [count]; copied; NULL is allowed for 0. */
CLO_API CLO_NODISCARD clo_status clo_graph_add_edges(clo_graph *graph, const clo_edge *edges, size_t count);

/* Number of executor kind `name` in this graph (added when new), to be used below.
 * Kinds are matched to a platform's kinds by name when a cost is created; clo_cost_unmatched_kind tells which found
 * none.
 * Returns CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_STATE, CLO_ERR_LIMIT (more than CLO_GRAPH_KINDS_MAX), CLO_ERR_MEMORY. */
CLO_API CLO_NODISCARD clo_status clo_graph_kind(clo_graph *graph, const char *name, uint32_t *kind);

/* Gives `task` a body of its own on executors of `kind`. A task with clo_task.body
 * NULL and at least one such body can only run on the kinds it was given.
 * Returns CLO_OK, CLO_ERR_STATE, CLO_ERR_ARGUMENT (unknown id, body NULL), CLO_ERR_MEMORY. */
CLO_API CLO_NODISCARD clo_status clo_graph_set_body(clo_graph *graph, uint32_t task, uint32_t kind, clo_task_fn body);

/* Gives `task` a measured time on `kind`, in place of work / speed.
 *   time_ns  >= 0, or CLO_TIME_NEVER: cannot run there.
 * Returns CLO_OK, CLO_ERR_STATE, CLO_ERR_ARGUMENT, CLO_ERR_MEMORY. */
CLO_API CLO_NODISCARD clo_status clo_graph_set_time(clo_graph *graph, uint32_t task, uint32_t kind, int64_t time_ns);

/* Names resource `index` (0..CLO_RESOURCES_MAX-1), to be matched by name with the
 * machines' capacities; unnamed resources match by index. Copied.
 * Returns CLO_OK, CLO_ERR_STATE, CLO_ERR_ARGUMENT, CLO_ERR_MEMORY. */
CLO_API CLO_NODISCARD clo_status clo_graph_set_resource(clo_graph *graph, uint32_t index, const char *name);

/* Validates the graph and makes it immutable: both adjacency directions, a
 * topological order and every table in one allocation. On failure the graph stays
 * open and unchanged.
 * Returns CLO_OK, or
 *   CLO_ERR_STATE     already sealed
 *   CLO_ERR_ARGUMENT  no tasks, an edge names an unknown task, a self edge, a duplicate edge
 *   CLO_ERR_CYCLE     clo_last_error names the tasks on one cycle
 *   CLO_ERR_LIMIT     the total work, the instances or the instance pairs overflow
 *   CLO_ERR_MEMORY
 * O(tasks + edges). */
CLO_API CLO_NODISCARD clo_status clo_graph_seal(clo_graph *graph);

/* Counts. Instances and arcs (edges between instances) are 0 until sealed. */
CLO_API const char *clo_graph_name(const clo_graph *graph);
CLO_API bool clo_graph_is_sealed(const clo_graph *graph);
CLO_API uint32_t clo_graph_tasks(const clo_graph *graph);
CLO_API uint32_t clo_graph_edges(const clo_graph *graph);
CLO_API uint32_t clo_graph_instances(const clo_graph *graph);

/* Name of a task, never NULL ("?" for an unknown id); for unnamed tasks "t<ID>" is written
 * into `scratch` (at least 16 bytes) and returned, or "?" if that is NULL. */
CLO_API const char *clo_graph_task_name(const clo_graph *graph, uint32_t task, char *scratch);

/* Reads back a task; out->name is NULL for an unnamed task and is else owned by the graph.
 * Returns CLO_OK or CLO_ERR_ARGUMENT (unknown id). */
CLO_API CLO_NODISCARD clo_status clo_graph_task(const clo_graph *graph, uint32_t task, clo_task *out);

/* Edge `index` in order of addition. Returns CLO_OK or CLO_ERR_ARGUMENT. */
CLO_API CLO_NODISCARD clo_status clo_graph_edge(const clo_graph *graph, uint32_t index, clo_edge *out);

/* Kinds, resources, and the time set for (task, kind): false where none was set. */
CLO_API uint32_t clo_graph_kinds(const clo_graph *graph);
CLO_API const char *clo_graph_kind_name(const clo_graph *graph, uint32_t kind);      /* NULL: unknown */
CLO_API const char *clo_graph_resource_name(const clo_graph *graph, uint32_t index); /* NULL: unnamed */
CLO_API bool clo_graph_time(const clo_graph *graph, uint32_t task, uint32_t kind, int64_t *time_ns);

#ifdef __cplusplus
#define CLO_TASK_INIT \
    {                 \
    }
#else
#define CLO_TASK_INIT \
    {                 \
        0             \
    }
#endif

#ifdef __cplusplus
}
#endif
#endif
