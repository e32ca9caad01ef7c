/* cost.h - execution and transfer times of one graph on one platform, and what follows from them alone.
 *
 *   time(t, e)         the time set with clo_graph_set_time for the kind of e, else work(t) / speed(e, class(t)),
 *                      rounded to the nearest ns, and at least 1 ns where there is work; at least 1 ns if t has a
 *                      demand, so that it holds its share of the machine at some moment
 *   transfer(b, a, e)  clo_platform_transfer_ns: 0 within a memory, else latency + bytes / bandwidth, by pieces
 *
 * A cost does not change as far as a caller can see; every const call is thread-safe.
 *
 * Library: libclotho. */
#ifndef CLOTHO_COST_H
#define CLOTHO_COST_H

#include <clotho/graph.h>
#include <clotho/platform.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clo_cost clo_cost; /* opaque: owns memory */

/* Builds the tables of a cost.
 *
 *   graph     sealed; borrowed until clo_cost_destroy.
 *   platform  borrowed likewise.
 *   out       the cost, owned by the caller.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT
 *   CLO_ERR_STATE     the graph is not sealed
 *   CLO_ERR_PLATFORM  no executor can run a task; clo_last_error names the task
 *   CLO_ERR_LIMIT     the longest times of all instances are 2^61 ns or more in all, or together with the slowest
 *                     transfers between all pairs of instances 2^62 ns; so no plan has a time that overflows
 *   CLO_ERR_MEMORY
 *
 * Threads: any. Real time: no. O(tasks * groups of equal executors). */
CLO_API CLO_NODISCARD clo_status clo_cost_create(const clo_graph *graph, const clo_platform *platform, clo_cost **out);

/* Frees a cost. NULL is allowed.
 * Threads: one; no job may use the cost any more. Real time: no. O(1). */
CLO_API void clo_cost_destroy(clo_cost *cost);

/* The graph and the platform it was built for.
 * Threads: any. Real time: yes, O(1). */
CLO_API const clo_graph *clo_cost_graph(const clo_cost *cost);
CLO_API const clo_platform *clo_cost_platform(const clo_cost *cost);

/* Kinds that the graph names (clo_graph_kind) and no executor of the platform has. Times and bodies for such a kind are
 * not used. That is normal for a graph that describes several platforms; otherwise a name is misspelt.
 *
 *   index  from 0, in order of naming.
 *
 * Returns the name, owned by the graph; NULL past the last.
 * Threads: any. Real time: yes, O(kinds * executors). */
CLO_API const char *clo_cost_unmatched_kind(const clo_cost *cost, uint32_t index);

/* Time of one instance of `task` on `executor`; CLO_TIME_NEVER if it cannot run.
 * Threads: any. Real time: yes, O(1). */
CLO_API int64_t clo_cost_execution_ns(const clo_cost *cost, uint32_t task, uint32_t executor);

/* Mean time of one instance over the executors that can run it (Topcuoglu 2002, eq. 1; the mean of w/v, not w / mean
 * v).
 * Threads: any. Real time: yes, O(1). */
CLO_API int64_t clo_cost_mean_execution_ns(const clo_cost *cost, uint32_t task);

/* Mean transfer time of `bytes` over pairs of executors (eq. 2; see clo_platform_desc.mean_includes_self).
 * Threads: any. Real time: yes, O(link pieces). */
CLO_API int64_t clo_cost_mean_transfer_ns(const clo_cost *cost, uint64_t bytes);

/* Ranks of all tasks in ns. rank_u: own mean time plus the longest path to an exit (Topcuoglu 2002, eq. 8). rank_d: the
 * longest path from an entry, own time excluded (eq. 9).
 *
 *   out  [clo_graph_tasks], written.
 *
 * Threads: any. Real time: yes, O(tasks + edges). */
CLO_API void clo_cost_rank_u(const clo_cost *cost, int64_t *out);
CLO_API void clo_cost_rank_d(const clo_cost *cost, int64_t *out);

/* Level of each task: the number of edges on the longest path from an entry.
 *
 *   graph  sealed; else nothing is written.
 *   out    [clo_graph_tasks], written.
 *
 * Threads: any. Real time: yes, O(tasks + edges). */
CLO_API void clo_graph_levels(const clo_graph *graph, uint32_t *out);

/* The critical path by mean costs.
 *
 *   out  [clo_graph_tasks]; receives task ids from entry to exit.
 *
 * Returns their number; 0 if there is no memory.
 * Threads: any. Real time: no. O(tasks + edges). */
CLO_API uint32_t clo_cost_critical_path(const clo_cost *cost, uint32_t *out);

/* Lower bounds on the makespan of any valid plan, with or without replicas. docs/SCHEDULERS.md says how they are
 * found. */
typedef struct clo_bound {
    /* Set by CLO_BOUND_INIT. */
    size_t size;

    /* The longest chain of fastest execution times, without transfers. */
    int64_t critical_path_ns;

    /* All work at its cheapest, spread over all executors. */
    int64_t area_ns;

    /* The largest, over the resources of all machines, of demand * time / capacity. */
    int64_t resource_ns;

    /* The three above in windows of time, with stages and energy; at least as large as each of them. Where no transfer
     * takes time, it is a multiple of the greatest common divisor of all times. */
    int64_t combined_ns;

    /* The largest of all. */
    int64_t best_ns;
} clo_bound;

#define CLO_BOUND_INIT CLO_SIZED_INIT(clo_bound)

/* The bounds of a cost. The first call computes them and stores them with the cost; later calls read the stored values.
 * Planners and metrics that need the bounds do the same. After a failure the next call tries again.
 *
 *   out  set out->size with CLO_BOUND_INIT.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (also: out->size is wrong) or CLO_ERR_MEMORY.
 * Not promised: that a plan of that makespan exists.
 * Threads: any; a call waits while another one computes the bounds of the same cost. Real time: no. Near-linear in
 * edges and tasks * executors beyond 4096 tasks; with fewer tasks, more is tried. O(1) once they are stored. */
CLO_API CLO_NODISCARD clo_status clo_cost_bound(const clo_cost *cost, clo_bound *out);

#ifdef __cplusplus
}
#endif
#endif
