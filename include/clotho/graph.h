/* graph.h - the task graph: declare tasks and edges, seal, share.
 *
 * A new graph is open: tasks and edges may be added, by one thread at a time. clo_graph_seal checks it and makes it
 * immutable; then any number of jobs may run it at once.
 *
 * A task with n instances is executed n times, possibly in parallel, each time with an output buffer of its own. An
 * edge t -> u makes every instance of u wait for every instance of t. Its bytes are split evenly over the pairs of
 * instances, rounded up. Its cost grows with the number of instances of the two tasks, not with the number of pairs.
 *
 * A task with a *grain* g is executed in *ranges*: one call of its body serves up to g consecutive instances, from a
 * multiple of g on; only the last range may be shorter. Everything but the body then deals with ranges: where other
 * tasks have instance r (in placements, traces, policies, costs, jobs), this task has range r. Each range takes g times
 * the work of an instance, also a shorter last one. Only the body sees instances.
 *
 * Library: libclotho. */
#ifndef CLOTHO_GRAPH_H
#define CLOTHO_GRAPH_H

#include <clotho/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "No task", "no executor", "no kind", "no instance". */
#define CLO_NONE UINT32_MAX

/* Length of a vector of demands and of capacities. */
#define CLO_RESOURCES_MAX 8

/* Executors of one platform, so their ids are 0 .. CLO_EXECUTORS_MAX-1. */
#define CLO_EXECUTORS_MAX 65536u

/* Kinds of executors that one graph may name. */
#define CLO_GRAPH_KINDS_MAX 32

/* Returned by a body that finishes later: see token.h. */
#define CLO_PENDING INT32_MIN

/* Codes of failure (clo_job_result.failed_code) of a body that did not return: a C++ exception has left it; it has
 * called pthread_exit, or its thread was cancelled. See clo_task_fn. */
#define CLO_FAILED_THROWN (INT32_MIN + 3)
#define CLO_FAILED_EXITED (INT32_MIN + 4)

/* Execution time on an executor that cannot run the task. */
#define CLO_TIME_NEVER INT64_MAX

/* Task classes: what a task mostly does, so that an executor can have one speed for each. Numbers from
 * CLO_CLASSES_BUILTIN on are free for the application and have the speed of CLO_CLASS_GENERIC. */
enum {
    CLO_CLASS_GENERIC = 0,
    CLO_CLASS_INTEGER = 1,
    CLO_CLASS_FLOAT = 2,
    CLO_CLASS_MEMORY = 3,
    CLO_CLASSES_BUILTIN = 4
};

typedef struct clo_graph clo_graph; /* opaque: owns memory, has invariants */

/* What a task body gets. The runtime owns everything that it points to, except `argument`. All of it is valid during
 * the call only (longer for a body that finishes later: token.h). Made by the library, which appends fields. */
typedef struct clo_call {
    /* clo_task.argument, as given. */
    void *argument;

    /* Id from clo_graph_add_task. */
    uint32_t task;

    /* 0 .. instances-1: the first one of this call. */
    uint32_t instance;

    /* Instances of this task. */
    uint32_t instances;

    /* Index into the platform. */
    uint32_t executor;

    /* Number of executions (instances, or ranges of them) that this one waited for. 0 if no task of the graph declares
     * output_bytes. */
    uint32_t inputs_count;

    /* [inputs_count] the outputs of these executions: in the order in which the edges were added, then those of edges
     * that follow from handles. NULL for a task that declares 0 bytes, and for a dead edge (branch.h). */
    const void *const *inputs;

    /* [inputs_count] bytes of each. */
    const size_t *inputs_bytes;

    /* This execution's buffer; NULL if output_bytes is 0. The output of instance + i begins at byte i *
     * clo_task.output_bytes. */
    void *output;

    /* Size of `output`: `count` times clo_task.output_bytes. */
    size_t output_bytes;

    /* Time that the cost gives this execution; 0 if unknown. */
    int64_t expected_ns;

    /* 1: this execution is a replica. */
    uint32_t is_replica;

    /* Instances that this call serves: instance .. instance + count - 1. 1, unless the task has a grain. */
    uint32_t count;

    /* Number of handles that the task declared to use (handle.h). */
    uint32_t data_count;

    /* [data_count] their buffers, in the order in which the task declared them. */
    void *const *data;

    /* [data_count] bytes of each. */
    const size_t *data_bytes;

    /* [data_count] how the task uses each: CLO_ACCESS_... */
    const uint32_t *data_modes;

    /* A branch (branch.h) writes here which arm goes on: 0 .. arms-1. It holds CLO_NONE before; if the body leaves it
     * so, or there is no body, the arm is drawn by the chances. NULL: the task is not a branch. */
    uint32_t *arm;

    /* Number of the release, from 0, if several are in flight (clo_job_config.releases_in_flight); else 0. */
    uint64_t release;
} clo_call;

/* A task body. Returns 0, or any other value to fail the job: the first failure wins, bodies that have not started are
 * skipped, and clo_job_wait returns CLO_ERR_TASK. A body with a token returns CLO_PENDING to finish later (token.h).
 * Runs on a worker, or on a thread in clo_job_wait (clo_runtime_config.help) or clo_simulate. What it may call: see
 * job.h.
 *
 * A body that does not return fails like any other, on each of these threads:
 *   exceptions    a C++ exception that leaves the body ends there: the code of failure is CLO_FAILED_THROWN, and the
 *                 exception is destroyed. It never comes out of a call of the library.
 *   pthread_exit  ends the body, not its thread: the code is CLO_FAILED_EXITED.
 *   cancellation  is disabled on workers, and on a thread in clo_job_wait while it runs bodies: there a request waits
 *                 until the call returns. If the body enables it, or in clo_simulate, it is as pthread_exit.
 *   fork          the child may call exec or _exit in the body, and whatever else POSIX allows, also make a runtime of
 *                 its own, or call clo_simulate. A child that returns from the body ends there, with one line on stderr
 *                 and exit status 1. (One that _Fork or clone has made is not noticed.) It has the signal mask that the
 *                 thread would have without the library; what posix_spawn and system start has the worker's mask,
 *                 which blocks most signals (posix_spawnattr_setsigmask).
 * These rules hold on x86-64, aarch64 and riscv64, for bodies with unwind tables, which is how compilers make them.
 * Else an exception ends the process (std::terminate), and so does pthread_exit, with one line on stderr. A body that
 * leaves by longjmp is not noticed, and nothing is promised then. */
typedef int (*clo_task_fn)(const clo_call *call);

/* One task. Zero is a good value for every field but `body`: use CLO_TASK_INIT or `= {0}`. Plain values, copied when
 * added. Without a size field: tasks are passed in arrays. */
typedef struct clo_task {
    /* At most 65535 bytes; NULL: "t<ID>". */
    const char *name;

    /* The body on every kind of executor; NULL: the task does nothing, but see clo_graph_set_body. */
    clo_task_fn body;

    /* Handed to the body. Owned by the caller. */
    void *argument;

    /* Time of one instance on the reference executor (speed 65536); >= 0. 0: it takes no time; but if it has a time for
     * some kinds (clo_graph_set_time), it runs on executors of these kinds only. */
    int64_t work_ns;

    /* Size of the buffer that the runtime gives each instance; 0: none. */
    uint64_t output_bytes;

    /* 0 means 1. */
    uint32_t instances;

    /* CLO_CLASS_... */
    uint16_t task_class;

    /* 1: pure. The same inputs give the same output, with no other effect, so it may be executed more than once. */
    uint8_t duplicable;

    /* 1: the body may take a token and return CLO_PENDING, see token.h. Not kept in files. 0: it may not. */
    uint8_t may_pend;

    /* 0: any executor. Else bit e allows executor e, and executors from 64 on are excluded. The short form of
     * clo_graph_set_executors, which takes any executors. It also reads back as 0 if the task may run on an executor
     * from 64 on: then ask clo_graph_executors. */
    uint64_t executors_mask;

    /* What an execution holds on its machine while it runs, in the unit of the capacity; >= 0. A task that demands
     * something takes 1 ns at least, also where its time is 0. */
    int64_t demand[CLO_RESOURCES_MAX];

    /* Most instances that one call serves, for bodies too short to be scheduled one by one; 0: one. More than
     * `instances` means all. A range holds `demand` once. 1 reads back as 0. */
    uint32_t grain;
} clo_task;

/* One edge. Plain values; without a size field: edges are passed in arrays. */
typedef struct clo_edge {
    /* Ids from clo_graph_add_task: `to` runs after `from`. */
    uint32_t from, to;

    /* Bytes that travel over the edge, in total. */
    uint64_t bytes;
} clo_edge;

/* What a task runs. Plain values; without a size field: as clo_edge. */
typedef struct clo_codelet {
    /* "gemm": 1 .. 255 bytes. */
    const char *name;

    /* Of the code: raise it when times change. Times of other versions are not used. */
    uint32_t version;

    /* Tells sizes apart that take different times; 0: the bytes of the task's inputs and outputs do. */
    uint64_t footprint;
} clo_codelet;

/* Makes an empty, open graph.
 *
 *   name  copied; NULL: "graph".
 *   out   the graph, owned by the caller.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. O(1). */
CLO_API CLO_NODISCARD clo_status clo_graph_create(const char *name, clo_graph **out);

/* Frees a graph. NULL is allowed.
 * Threads: one; no cost, job or document may use the graph any more. Real time: no. O(kinds). */
CLO_API void clo_graph_destroy(clo_graph *graph);

/* Adds one task. Ids count from 0 in order of addition.
 *
 *   task  copied.
 *   id    receives the id; may be NULL.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  negative work or demand, may_pend above 1
 *   CLO_ERR_STATE     the graph is sealed
 *   CLO_ERR_LIMIT     more than 2^32 - 2 instances in all, a name that is too long, different masks that take more than
 *                     32 GiB, work or output of a range beyond 2^63
 *   CLO_ERR_MEMORY
 *
 * Threads: one. Real time: no. Amortised O(length of name). */
CLO_API CLO_NODISCARD clo_status clo_graph_add_task(clo_graph *graph, const clo_task *task, uint32_t *id);

/* Adds the edge from -> to, which carries `bytes` in all.
 * Not promised: a check of the ids. They may belong to tasks that are added later; clo_graph_seal checks them, and
 * refuses self edges, duplicates and cycles.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  graph is NULL
 *   CLO_ERR_STATE     the graph is sealed
 *   CLO_ERR_LIMIT     more than 2^32 - 2 edges
 *   CLO_ERR_MEMORY
 *
 * Threads: one. Real time: no. Amortised O(1). */
CLO_API CLO_NODISCARD clo_status clo_graph_add_edge(clo_graph *graph, uint32_t from, uint32_t to, uint64_t bytes);

/* Adds an array of tasks: the same graph as clo_graph_add_task for each in turn, in less time. All or nothing: on a
 * failure the graph is as before, and clo_last_error names the index of the bad task ("tasks[7]: ...").
 *
 *   tasks  [count]; copied; may be NULL if count is 0.
 *   first  receives the id of tasks[0]; the others follow. May be NULL.
 *
 * Returns as clo_graph_add_task.
 * Threads: one. Real time: no. Amortised O(count + length of names). */
CLO_API CLO_NODISCARD clo_status clo_graph_add_tasks(clo_graph *graph, const clo_task *tasks, size_t count,
                                                     uint32_t *first);

/* Adds an array of edges: the same graph as clo_graph_add_edge for each in turn, in less time. All or nothing: on a
 * failure the graph is as before. For CLO_ERR_LIMIT clo_last_error names the index of the first edge too many.
 *
 *   edges  [count]; copied; may be NULL if count is 0.
 *
 * Returns as clo_graph_add_edge.
 * Threads: one. Real time: no. Amortised O(count). */
CLO_API CLO_NODISCARD clo_status clo_graph_add_edges(clo_graph *graph, const clo_edge *edges, size_t count);

/* Gives the number of executor kind `name` in this graph; adds the kind if it is new. Kinds are matched to those of a
 * platform by name when a cost is created; clo_cost_unmatched_kind lists those without a match.
 *
 *   name  copied.
 *   kind  receives the number, from 0.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_STATE (sealed), CLO_ERR_LIMIT (more than CLO_GRAPH_KINDS_MAX) or
 * CLO_ERR_MEMORY.
 * Threads: one. Real time: no. O(kinds). */
CLO_API CLO_NODISCARD clo_status clo_graph_kind(clo_graph *graph, const char *name, uint32_t *kind);

/* Gives `task` a body of its own on executors of `kind`. If clo_task.body is NULL and the task has at least one such
 * body, it can run only on kinds that have a body.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (unknown task or kind, body NULL), CLO_ERR_STATE (sealed) or CLO_ERR_MEMORY.
 * Threads: one. Real time: no. Amortised O(kinds of the task). */
CLO_API CLO_NODISCARD clo_status clo_graph_set_body(clo_graph *graph, uint32_t task, uint32_t kind, clo_task_fn body);

/* The same, and this body gets an argument of its own in place of clo_task.argument.
 *
 *   argument  owned by the caller; not read by the library.
 *
 * Returns as clo_graph_set_body.
 * Threads: one. Real time: no. Amortised O(kinds of the task). */
CLO_API CLO_NODISCARD clo_status clo_graph_set_body_argument(clo_graph *graph, uint32_t task, uint32_t kind,
                                                             clo_task_fn body, void *argument);

/* Gives `task` a measured time on `kind`, in place of work / speed. On kinds without a time, work / speed holds; a task
 * without work (work_ns is 0) that has a time for some kinds cannot run on the others.
 *
 *   time_ns  of one instance; >= 0, or CLO_TIME_NEVER: the task cannot run there.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (unknown task or kind, negative time), CLO_ERR_STATE (sealed), CLO_ERR_LIMIT (the
 * time of a range exceeds 2^63) or CLO_ERR_MEMORY.
 * Threads: one. Real time: no. Amortised O(kinds of the task). */
CLO_API CLO_NODISCARD clo_status clo_graph_set_time(clo_graph *graph, uint32_t task, uint32_t kind, int64_t time_ns);

/* Says what `task` runs, so that times which were measured of it are found again: in other graphs, other runs, other
 * processes (profile.h). Tasks with equal codelets take equal times on executors of one kind. Replaces what an earlier
 * call said.
 *
 *   codelet  copied.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (unknown task, no name or an empty one), CLO_ERR_STATE (sealed), CLO_ERR_LIMIT (the
 * names take more than 4 GiB) or CLO_ERR_MEMORY.
 * Threads: one. Real time: no. Amortised O(length of the name). */
CLO_API CLO_NODISCARD clo_status clo_graph_set_codelet(clo_graph *graph, uint32_t task, const clo_codelet *codelet);

/* Restricts `task` to a set of executors, in place of what its executors_mask or an earlier call said. clo_cost_create
 * leaves out executors that the platform does not have, and refuses a set of which none is left. Equal sets are stored
 * once, however many tasks have them.
 *
 *   executors  [count] ids of executors of the platform, 0 .. CLO_EXECUTORS_MAX-1, in any order; copied. An id that is
 *              given twice counts once.
 *   count      >= 1.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  unknown task, no executors, an id out of range
 *   CLO_ERR_STATE     the graph is sealed
 *   CLO_ERR_LIMIT     the different sets take more than 32 GiB
 *   CLO_ERR_MEMORY
 *
 * After a failure the task may run where it could before.
 * Threads: one. Real time: no. Amortised O(count + CLO_EXECUTORS_MAX / 64). */
CLO_API CLO_NODISCARD clo_status clo_graph_set_executors(clo_graph *graph, uint32_t task, const uint32_t *executors,
                                                         size_t count);

/* Names resource `index`, to be matched by name with the capacities of machines. What is unnamed in the graph or on the
 * platform matches by index, unless that one is matched by name, or is CLO_MEMORY_RESOURCE. No match: no limit.
 *
 *   index  0 .. CLO_RESOURCES_MAX-1.
 *   name   copied; no two resources of a graph may have the same.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_STATE (sealed) or CLO_ERR_MEMORY.
 * Threads: one. Real time: no. O(1). */
CLO_API CLO_NODISCARD clo_status clo_graph_set_resource(clo_graph *graph, uint32_t index, const char *name);

/* Validates the graph and makes it immutable. Derives edges from the use of handles (handle.h). Builds both directions
 * of adjacency and a topological order, in one allocation. On a failure the graph stays open and unchanged.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  no tasks, an edge names an unknown task, a self edge, a duplicate edge, accesses to a handle that
 *                     nothing orders (handle.h), an arm that its branch does not have, a branch that has several
 *                     instances, is duplicable or may pend
 *   CLO_ERR_UNSUPPORTED  a graph with branches has a handle that has no address and is not kept
 *   CLO_ERR_STATE     already sealed
 *   CLO_ERR_CYCLE     clo_last_error names the tasks on one cycle
 *   CLO_ERR_LIMIT     the total work overflows
 *   CLO_ERR_MEMORY
 *
 * Threads: one. Real time: no. O(instances + edges). */
CLO_API CLO_NODISCARD clo_status clo_graph_seal(clo_graph *graph);

/* Reading a graph. All calls below this line:
 * Threads: any, once the graph is sealed; one before. Real time: yes. O(1), where nothing else is said. */

/* The name, owned by the graph. */
CLO_API const char *clo_graph_name(const clo_graph *graph);

/* Number of tasks. */
CLO_API uint32_t clo_graph_tasks(const clo_graph *graph);

/* Number of edges; once sealed, including those that follow from handles. */
CLO_API uint32_t clo_graph_edges(const clo_graph *graph);

/* Number of instances of all tasks; a range counts once. 0 until sealed. */
CLO_API uint32_t clo_graph_instances(const clo_graph *graph);

/* How often the body of a task is called: the number of its ranges, or of its instances if it has no grain. 0 for an
 * unknown id. */
CLO_API uint32_t clo_graph_ranges(const clo_graph *graph, uint32_t task);

/* Name of a task, never NULL; "?" for an unknown id.
 *
 *   scratch  at least 16 bytes. Receives "t<ID>" for an unnamed task, and is then returned. NULL: "?" instead. */
CLO_API const char *clo_graph_task_name(const clo_graph *graph, uint32_t task, char *scratch);

/* Reads back a task. out->name is owned by the graph, and NULL for an unnamed task.
 * Returns CLO_OK or CLO_ERR_ARGUMENT (unknown id). */
CLO_API CLO_NODISCARD clo_status clo_graph_task(const clo_graph *graph, uint32_t task, clo_task *out);

/* Reads back the executors that a task may run on, by its mask or by clo_graph_set_executors, ascending.
 *
 *   executors  [capacity] receives as many of them as fit; may be NULL if capacity is 0.
 *
 * Returns how many there are, also if that is more than capacity. 0: the task may run on any executor, or there is no
 * such task. O(executors of the set + CLO_EXECUTORS_MAX / 64). */
CLO_API uint32_t clo_graph_executors(const clo_graph *graph, uint32_t task, uint32_t *executors, size_t capacity);

/* Reads back edge `index`, in order of addition.
 * Returns CLO_OK or CLO_ERR_ARGUMENT (no such edge). O(log tasks). */
CLO_API CLO_NODISCARD clo_status clo_graph_edge(const clo_graph *graph, uint32_t index, clo_edge *out);

/* Number of kinds that the graph names. */
CLO_API uint32_t clo_graph_kinds(const clo_graph *graph);

/* Name of a kind, owned by the graph; NULL for an unknown one. */
CLO_API const char *clo_graph_kind_name(const clo_graph *graph, uint32_t kind);

/* Name of a resource, owned by the graph; NULL for an unnamed one. */
CLO_API const char *clo_graph_resource_name(const clo_graph *graph, uint32_t index);

/* Reads the time that was set for (task, kind). Returns false if none was set; then `time_ns` is untouched.
 * O(kinds of the task). */
CLO_API bool clo_graph_time(const clo_graph *graph, uint32_t task, uint32_t kind, int64_t *time_ns);

/* What `task` runs, as clo_graph_set_codelet said.
 *
 *   codelet  receives it; the name is owned by the graph.
 *
 * Returns true, or false (and *codelet is untouched): nobody has said, or there is no such task.
 * Threads: any, once the graph is sealed. Real time: yes, O(1). */
CLO_API bool clo_graph_codelet(const clo_graph *graph, uint32_t task, clo_codelet *codelet);

/* Initialiser of a clo_task: zeros. */
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
