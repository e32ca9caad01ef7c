/* handle.h - named data that the tasks of a graph use in place. Edges follow from how they use it.
 *
 * A handle is a buffer with a name. Each task declares which handles it reads, writes or updates, and its body finds
 * them in clo_call.data, in the order in which it declared them. clo_graph_seal derives edges, in addition to those
 * that were added: for each handle the tasks take effect in the order of their ids, as the same code would without
 * tasks.
 *
 *   read after write    waits for the last task that wrote or updated it; the edge carries the bytes
 *   write after read    waits for all that have read it since; the edge carries nothing
 *   write after write   waits for the last task that wrote or updated it, if none has read it since; no bytes
 *
 * Where a derived edge joins the same tasks as another edge, one edge is left, which carries the bytes of both.
 *
 * An update changes the buffer in place: nothing is copied between executors that share a memory. Between others the
 * content is moved as outputs are (clo_runtime_config.copy_always), once for each version and memory.
 *
 * In graphs with branches (branch.h) handles must have an address or be kept.
 *
 * A task that writes a handle, or reads one that a later task changes, is never duplicated: a replica could read or
 * write it at the wrong time. clo_graph_pinned_by returns the handle.
 *
 * Library: libclotho. */
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

    /* A flag, added to one of the above: instance i of n uses only the i-th of n equal parts. A task with several
     * instances may write or update a handle only in this way, because nothing orders its instances. The body still
     * gets the whole buffer; the part of instance i begins at byte i * bytes / n. */
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

    /* 1: the handle has content before the first task: what the last run of the job left, or zeros before the first
     * run. One buffer serves all memories. 0: a task must write it before any task reads it, unless `address` is
     * given. */
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
 * clo_graph_seal refuses what does not fit together (CLO_ERR_ARGUMENT), and names the handle and the task:
 *   - a task that uses one handle twice: declare an update
 *   - a task with several instances that writes a handle, but not in parts; parts that are not equal
 *   - a read before any write of a handle without content
 * A handle whose order contradicts the edges that were added is a cycle (CLO_ERR_CYCLE); the message names it.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (unknown task, handle or mode), CLO_ERR_STATE (sealed), CLO_ERR_LIMIT (more than
 * 2^32 - 2) or CLO_ERR_MEMORY.
 * Threads: one. Real time: no. Amortised O(1). */
CLO_API CLO_NODISCARD clo_status clo_graph_add_access(clo_graph *graph, uint32_t task, uint32_t handle, uint32_t mode);

/* Adds a copy of another graph, with all that it holds: a module. Its tasks, edges, kinds, sets of executors and
 * demands become those of `graph`; resources are matched by name. Its handles are bound to handles of `graph`; the
 * order of inner and outer tasks then follows from how they use them. You can also add edges to inner tasks, since
 * their ids are known.
 *
 *   module   sealed; not changed, and not needed afterwards. clo_command arguments and other pointers are shared.
 *   handles  [clo_graph_handles(module)] for each handle of the module the handle of `graph` that it stands for, with
 *            the same number of bytes; CLO_NONE: a new one like it. NULL: all of them new.
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

/* Reads back access `index`: in order of addition; once the graph is sealed, task by task.
 * Returns CLO_OK or CLO_ERR_ARGUMENT (no such access). */
CLO_API CLO_NODISCARD clo_status clo_graph_access(const clo_graph *graph, uint32_t index, clo_access *out);

/* Number of edges that were added, not derived. They are edges 0 .. this number - 1 of clo_graph_edge. Their bytes
 * include what handles carry between the same tasks. */
CLO_API uint32_t clo_graph_edges_added(const clo_graph *graph);

/* The handle that keeps a task from being duplicable although it was declared so (it reads back as not duplicable);
 * CLO_NONE: there is none. Only for a sealed graph. */
CLO_API uint32_t clo_graph_pinned_by(const clo_graph *graph, uint32_t task);

#ifdef __cplusplus
}
#endif
#endif
