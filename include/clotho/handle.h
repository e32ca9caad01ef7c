/* handle.h - named data that the tasks of a graph use in place; who waits for whom follows from how they use it.
 *
 * A handle is a buffer with a name. Each task declares which handles it reads, writes or updates, and its body finds
 * them in clo_call.data, in the order in which it declared them. clo_graph_seal derives the edges, beside those that
 * were added: for each handle the tasks take effect in the order of their ids, as the same code would without tasks.
 *
 *   read after write    waits for the last task that wrote or updated it; the edge carries the bytes
 *   write after read    waits for all that have read it since; the edge carries nothing
 *   write after write   the same where nobody has read it since
 *
 * An update changes the buffer in place: nothing is copied between executors that share a memory. Between others the
 * content is moved as outputs are (clo_runtime_config.copy_always), once for each version and memory.
 *
 * In graphs with branches (branch.h) handles have an address or are kept.
 *
 * A task is never duplicated that writes a handle, or reads one that a later task changes: a replica could read or
 * write it at the wrong time. clo_graph_pinned_by says so. */
#ifndef CLOTHO_HANDLE_H
#define CLOTHO_HANDLE_H

#include <clotho/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a task uses a handle. */
enum {
    /* Its content is read. Any number of tasks may do so at once. */
    CLO_ACCESS_READ = 1,

    /* All of it is written; what it held is lost. */
    CLO_ACCESS_WRITE = 2,

    /* It is changed in place. */
    CLO_ACCESS_UPDATE = 3,

    /* Added to one of these: instance i of n uses the i-th of n equal parts alone. Only so may a task of many instances
     * write or update a handle, because nothing orders its instances. The body gets the whole buffer all the same, so
     * that a part stands where the instance's number says: bytes i * bytes / n and on. */
    CLO_ACCESS_PARTS = 4
};

/* One handle. Plain values, copied when added. Without a size field: initialise with `= {0}`. */
typedef struct clo_handle {
    /* For messages, pictures and files; at most 65535 bytes. NULL: "h<ID>". */
    const char *name;

    /* Size of the buffer, >= 1. */
    uint64_t bytes;

    /* The caller's buffer, used in place by all executors and never copied. It stays the caller's, and jobs that run at
     * the same time must not share it. NULL: each job has a buffer of its own. */
    void *address;

    /* 1: it has content before the first task: what the last run of the job has left, zeros before the first run. One
     * buffer serves all memories. 0: a task must write it before any reads it, unless `address` is given. */
    uint32_t kept;
} clo_handle;

/* How one task uses one handle. Plain values. */
typedef struct clo_access {
    /* Ids. */
    uint32_t task, handle;

    /* CLO_ACCESS_... */
    uint32_t mode;
} clo_access;

/* Adds a handle. Ids count from 0 in order of addition. Names need not differ.
 *
 *   handle  copied; the caller keeps what `address` points to until no job runs the graph.
 *   id      receives the id; may be NULL.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  0 bytes, kept above 1
 *   CLO_ERR_STATE     the graph is sealed
 *   CLO_ERR_LIMIT     more than 2^46 bytes, 2^32 - 2 handles, or a name that is too long
 *   CLO_ERR_MEMORY
 *
 * Threads: one. Real time: no. Amortised O(length of name). */
CLO_API CLO_NODISCARD clo_status clo_graph_add_handle(clo_graph *graph, const clo_handle *handle, uint32_t *id);

/* Declares how a task uses a handle. The k-th call for a task is clo_call.data[k] of its body.
 *
 *   task, handle  ids of what was added before.
 *   mode          CLO_ACCESS_READ, _WRITE or _UPDATE, and _PARTS where wanted.
 *
 * What does not fit together is refused by clo_graph_seal (CLO_ERR_ARGUMENT) with the names of handle and task:
 *   - a task that uses one handle twice: declare an update
 *   - many instances that write a handle not in parts, or parts that are not equal
 *   - a read before any write of a handle without content
 * A handle whose order contradicts the edges that were added is a cycle (CLO_ERR_CYCLE); the message names it.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (unknown task, handle or mode), CLO_ERR_STATE (sealed), CLO_ERR_LIMIT (more than
 * 2^32 - 2) or CLO_ERR_MEMORY.
 * Threads: one. Real time: no. Amortised O(1). */
CLO_API CLO_NODISCARD clo_status clo_graph_add_access(clo_graph *graph, uint32_t task, uint32_t handle, uint32_t mode);

/* Adds a copy of all that another graph holds: a module. Its tasks, edges, kinds, sets of executors and demands become
 * those of `graph`; resources are matched by name. Its handles are bound to handles of `graph`, and then the order of
 * inner and outer tasks follows from their use; or inner tasks are reached by edges, since their ids are known.
 *
 *   module   sealed; not changed, and not needed afterwards. clo_command arguments and other pointers are shared.
 *   handles  [clo_graph_handles(module)] the handle of `graph` that each handle of the module stands for, of the same
 *            bytes; CLO_NONE: a new one like it. NULL: all of them new.
 *   first    receives the id of the module's task 0; the others follow. May be NULL.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  the module is `graph`, a handle that does not exist or has other bytes, a resource whose name or
 *                     number stands for another one in `graph`
 *   CLO_ERR_STATE     `graph` is sealed, or the module is not
 *   CLO_ERR_UNSUPPORTED  the module has measured times (waves.h)
 *   CLO_ERR_LIMIT, CLO_ERR_MEMORY
 * On a failure the graph is as before.
 *
 * Threads: one for `graph`, any for the module. Real time: no. O(size of the module + kinds). */
CLO_API CLO_NODISCARD clo_status clo_graph_add_module(clo_graph *graph, const clo_graph *module,
                                                      const uint32_t *handles, uint32_t *first);

/* Reading. All calls below this line:
 * Threads: any, once the graph is sealed; one before. Real time: yes. O(1). */

/* Number of handles. */
CLO_API uint32_t clo_graph_handles(const clo_graph *graph);

/* Reads back a handle. out->name is owned by the graph, NULL for an unnamed one.
 * Returns CLO_OK or CLO_ERR_ARGUMENT (unknown id). */
CLO_API CLO_NODISCARD clo_status clo_graph_handle(const clo_graph *graph, uint32_t handle, clo_handle *out);

/* Number of declared accesses. */
CLO_API uint32_t clo_graph_accesses(const clo_graph *graph);

/* Reads back access `index`: in order of addition, once the graph is sealed task by task.
 * Returns CLO_OK or CLO_ERR_ARGUMENT (no such access). */
CLO_API CLO_NODISCARD clo_status clo_graph_access(const clo_graph *graph, uint32_t index, clo_access *out);

/* Number of edges that were added, not derived. Edges 0 .. this - 1 of clo_graph_edge are those; their bytes hold what
 * handles carry between the same tasks, too. */
CLO_API uint32_t clo_graph_edges_added(const clo_graph *graph);

/* The handle because of which a task that was declared duplicable is not, and reads back so; CLO_NONE: none. Of a
 * sealed graph. */
CLO_API uint32_t clo_graph_pinned_by(const clo_graph *graph, uint32_t task);

#ifdef __cplusplus
}
#endif
#endif
