/* branch.h - tasks that choose what runs: branches, merges and bounded loops.
 *
 * A *branch* is a task with a fixed number of arms. Its body chooses the arm that goes on (clo_call.arm). Each edge
 * that was added with clo_graph_add_arm belongs to one arm. An edge is *dead* if its branch chose another arm, or if
 * the task that it comes from was skipped. Once all edges into a task are settled, one rule decides:
 *
 *   a task is skipped if any edge into it is dead;
 *   a *merge* (clo_graph_set_merge) is skipped only if all edges into it are dead.
 *
 * (TensorFlow handles dead tensors in the same way: Yu et al., "Dynamic Control Flow in Large-Scale Machine Learning",
 * EuroSys 2018.) A skipped task has no execution: no body is called, nothing is demanded or moved, it takes no time.
 * All its instances are skipped. It appears in the trace (clo_trace_event.is_skipped), and under a plan it keeps its
 * place in the order of its executor. An input from a dead edge is NULL with 0 bytes.
 *
 * A graph holds all its arms, so nothing grows while it runs. Planners and bounds count every arm as if it ran. So a
 * plan is valid for every outcome: under a plan nothing starts later than if all arms ran. Each release of a periodic
 * job chooses anew.
 *
 * In a graph with branches each handle (handle.h) must have an `address` or be `kept`: one buffer then serves all
 * memories, and has content before the first task. The edges that follow from the use of handles only order tasks: they
 * are never dead. A task that uses a handle after a skipped task finds the content from before, as the same code would
 * without tasks. Tasks in two arms of one branch are ordered too, by their ids; if one is skipped, the other waits only
 * for the branch. Other handles are refused: a reader might find nothing, and only at run time would it be known which
 * memory has the last content, too late for a plan.
 *
 * A branch has one instance; it may neither be duplicable nor pend. Graphs with branches have no hedges and no
 * instances that are done before the run (clo_job_config.done), do not run on several machines, and are not planned
 * modulo an interval (pipeline.h). Each of these is refused, and clo_last_error says why in one line. The formats
 * clotho.graph/1, DOT and clotho.workload/1 store branches; other formats refuse them. Simulated streams, logs and the
 * stream checker (CLO_STREAM_ARM) know branches.
 *
 * Library: libclotho. */
#ifndef CLOTHO_BRANCH_H
#define CLOTHO_BRANCH_H

#include <clotho/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Arms of one branch, at most. */
#define CLO_ARMS_MAX 256

/* Chances of the arms of a branch add up to this. */
#define CLO_CHANCES_ONE 65536u

/* Iterations of one loop, at most. */
#define CLO_LOOP_BOUND_MAX 65536

/* What the condition of a loop chooses (clo_call.arm). */
enum { CLO_LOOP_DONE = 0, CLO_LOOP_AGAIN = 1 };

/* clo_job_result.failed_code if a branch chose an arm that it does not have, and if the condition of a loop chose
 * CLO_LOOP_AGAIN after the last iteration. */
#define CLO_FAILED_ARM (INT32_MIN + 1)
#define CLO_FAILED_BOUND (INT32_MIN + 2)

/* Makes `task` a branch. Call it once for a task: clo_graph_seal refuses a task that was made a branch twice.
 *
 *   arms     1 .. CLO_ARMS_MAX.
 *   chances  [arms] how likely each arm is; they add up to CLO_CHANCES_ONE; copied. If the body does not choose an arm,
 *            as in a simulation, the arm is drawn with these chances. NULL: all arms are equally likely. Planners take
 *            the worst case, that all arms run; "heft-expected" uses the chances.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  unknown task, arms out of range, chances that do not add up
 *   CLO_ERR_STATE     the graph is sealed
 *   CLO_ERR_LIMIT     more than 2^32 - 2 branches
 *   CLO_ERR_MEMORY
 *
 * Threads: one. Real time: no. Amortised O(arms). */
CLO_API CLO_NODISCARD clo_status clo_graph_set_branch(clo_graph *graph, uint32_t task, uint32_t arms,
                                                      const uint32_t *chances);

/* Adds the edge from -> to, as part of arm `arm` of `from`; otherwise as clo_graph_add_edge. clo_graph_seal checks that
 * `from` is a branch with such an arm.
 *
 * Returns as clo_graph_add_edge; CLO_ERR_ARGUMENT also if `arm` >= CLO_ARMS_MAX.
 * Threads: one. Real time: no. Amortised O(1). */
CLO_API CLO_NODISCARD clo_status clo_graph_add_arm(clo_graph *graph, uint32_t from, uint32_t to, uint64_t bytes,
                                                   uint32_t arm);

/* Makes `task` a merge: it runs if any edge into it is alive. A second call changes nothing.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (unknown task), CLO_ERR_STATE (sealed) or CLO_ERR_MEMORY.
 * Threads: one. Real time: no. Amortised O(1). */
CLO_API CLO_NODISCARD clo_status clo_graph_set_merge(clo_graph *graph, uint32_t task);

/* A loop: a body that runs 1 .. bound times, each time after the one before. */
typedef struct clo_loop {
    /* Set by CLO_LOOP_INIT. */
    size_t size;

    /* The tasks of one iteration: a sealed graph, which is copied. Pointers that it holds are shared. */
    const clo_graph *body;

    /* The task of `body` that decides at its end whether another iteration follows: CLO_LOOP_AGAIN or CLO_LOOP_DONE. It
     * must not be a branch in `body`. Iterations may overlap if it does not wait for all other tasks. */
    uint32_t condition;

    /* 1 .. CLO_LOOP_BOUND_MAX. */
    uint32_t bound;

    /* The chance of CLO_LOOP_AGAIN, out of CLO_CHANCES_ONE; 0: unknown. */
    uint32_t again;

    /* [carried_count] edges from a task of one iteration to a task of the next, both by their ids in `body`; copied.
     * They come after the body's own edges. An edge from the condition belongs to the arm CLO_LOOP_AGAIN. */
    const clo_edge *carried;
    size_t carried_count;

    /* The task that runs when the loop is done. It is a merge with one edge from the condition of each iteration; all
     * these edges are dead, except the one from the last iteration that ran. NULL: a task "done" without a body. */
    const clo_task *exit;

    /* Bytes that each condition sends to the exit. */
    uint64_t exit_bytes;

    /* [clo_graph_handles(body)] as for clo_graph_add_module. All iterations use the same handles, one after another:
     * CLO_NONE makes one new handle that they share. NULL: all handles are new. */
    const uint32_t *handles;
} clo_loop;

#define CLO_LOOP_INIT CLO_SIZED_INIT(clo_loop)

/* Adds a loop, unrolled: `bound` copies of the body (clo_graph_add_module), the exit, and the edges between them.
 * CLO_LOOP_AGAIN after the last iteration fails the job: clo_last_error names the task, and
 * clo_job_result.failed_code is CLO_FAILED_BOUND.
 *
 *   loop   what it points to is borrowed during the call.
 *   first  receives the id of task 0 of the first iteration. Task t of iteration i has the id first + i * tasks + t,
 *          where tasks is clo_graph_tasks(body). May be NULL.
 *   exit   receives the id of the exit. May be NULL.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  a number out of range, a carried edge to an unknown task, a condition that is a branch already,
 *                     handles as for clo_graph_add_module
 *   CLO_ERR_STATE     `graph` is sealed, or the body is not
 *   CLO_ERR_UNSUPPORTED  as clo_graph_add_module
 *   CLO_ERR_LIMIT, CLO_ERR_MEMORY
 * On a failure the graph is as before.
 *
 * Threads: one. Real time: no. O(bound * size of the body). */
CLO_API CLO_NODISCARD clo_status clo_graph_add_loop(clo_graph *graph, const clo_loop *loop, uint32_t *first,
                                                    uint32_t *exit);

/* Reading. All calls below this line:
 * Threads: any, once the graph is sealed; one before. Real time: yes. */

/* Number of branches. O(1). */
CLO_API uint32_t clo_graph_branches(const clo_graph *graph);

/* Number of arms of a task; 0: it is no branch. O(1), before the graph is sealed O(branches). */
CLO_API uint32_t clo_graph_arms(const clo_graph *graph, uint32_t task);

/* The chance of an arm, out of CLO_CHANCES_ONE; 0 if there is no such arm, or its chance is unknown. Complexity as
 * clo_graph_arms. */
CLO_API uint32_t clo_graph_chance(const clo_graph *graph, uint32_t task, uint32_t arm);

/* True for a merge. Complexity as clo_graph_arms. */
CLO_API bool clo_graph_is_merge(const clo_graph *graph, uint32_t task);

/* The arm of edge `index`, as clo_graph_edge numbers it; CLO_NONE: it belongs to none. O(log edges of arms). */
CLO_API uint32_t clo_graph_edge_arm(const clo_graph *graph, uint32_t index);

#ifdef __cplusplus
}
#endif
#endif
