/* cost.h - execution and transfer times of one graph on one platform, and what follows from them alone.
 *
 *   time(t, e)      the time set with clo_graph_set_time for the kind of e, else work(t) / speed(e, class(t))
 *   transfer(b,a,e) clo_platform_transfer_ns: 0 within a memory, else latency + bytes / bandwidth, by pieces
 *
 * A cost is immutable; every const call is thread-safe. */
#ifndef CLOTHO_COST_H
#define CLOTHO_COST_H

#include <clotho/graph.h>
#include <clotho/platform.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clo_cost clo_cost; /* opaque */

/* Builds the cost tables.
 *   graph     sealed; borrowed until clo_cost_destroy.
 *   platform  borrowed likewise.
 * Returns CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_STATE (not sealed), CLO_ERR_PLATFORM (a task that no executor can run:
 * named), CLO_ERR_LIMIT (the sum of the longest times overflows), CLO_ERR_MEMORY. O(tasks * kinds of executors). */
CLO_API CLO_NODISCARD clo_status clo_cost_create(const clo_graph *graph, const clo_platform *platform, clo_cost **out);
CLO_API void clo_cost_destroy(clo_cost *cost); /* NULL is allowed */

CLO_API const clo_graph *clo_cost_graph(const clo_cost *cost);
CLO_API const clo_platform *clo_cost_platform(const clo_cost *cost);

/* The kinds that the graph names (clo_graph_kind) and no executor of the platform has, by `index` from 0 on in order of
 * naming; NULL past the last, or without a cost. The times and bodies for such a kind are not used. That is as it
 * should be where a graph describes several platforms; else a name is misspelt. The name is owned by the graph.
 * Threads: safe. O(kinds * executors). */
CLO_API const char *clo_cost_unmatched_kind(const clo_cost *cost, uint32_t index);

/* Time of one instance of `task` on `executor`; CLO_TIME_NEVER where it cannot run. O(1). */
CLO_API int64_t clo_cost_execution_ns(const clo_cost *cost, uint32_t task, uint32_t executor);

/* Mean over the executors that can run it (Topcuoglu 2002, eq. 1; mean of w/v, not w / mean v). */
CLO_API int64_t clo_cost_mean_execution_ns(const clo_cost *cost, uint32_t task);
/* Mean transfer time of `bytes` over executor pairs (eq. 2; see clo_platform_desc.mean_includes_self). */
CLO_API int64_t clo_cost_mean_transfer_ns(const clo_cost *cost, uint64_t bytes);

/* Ranks by task, ns: rank_u (Topcuoglu 2002, eq. 8: own mean time + longest way to an exit), rank_d
 * (eq. 9: longest way from an entry, own time excluded). out: [clo_graph_tasks], written. O(arcs). */
CLO_API void clo_cost_rank_u(const clo_cost *cost, int64_t *out);
CLO_API void clo_cost_rank_d(const clo_cost *cost, int64_t *out);
/* Level of each task: the number of edges on the longest way from an entry. Of a graph that is not sealed nothing is
 * written. */
CLO_API void clo_graph_levels(const clo_graph *graph, uint32_t *out);
/* The critical path by mean costs: task ids from entry to exit into out[clo_graph_tasks];
 * returns their number, 0 if there is no memory. */
CLO_API uint32_t clo_cost_critical_path(const clo_cost *cost, uint32_t *out);

/* Lower bounds on the makespan of any valid plan, with or without replicas, ns; docs/SCHEDULERS.md tells how they are
 * found. Returns CLO_OK, CLO_ERR_ARGUMENT or CLO_ERR_MEMORY. Any thread. Near-linear in arcs and tasks * executors,
 * beyond 4096 tasks. */
typedef struct clo_bound {
    size_t size;              /* CLO_BOUND_INIT */
    int64_t critical_path_ns; /* longest chain of fastest execution times, no transfers               */
    int64_t area_ns;          /* all work at its cheapest spread over all executors                   */
    int64_t resource_ns;      /* largest over machines' resources of demand*time / capacity           */
    int64_t combined_ns;      /* these in windows of time, stages, energy; at least as large as the others. Where no
                                 transfer takes time, a multiple of the greatest common divisor of all times */
    int64_t best_ns;          /* the largest of these                                                 */
} clo_bound;

#define CLO_BOUND_INIT CLO_SIZED_INIT(clo_bound)
CLO_API CLO_NODISCARD clo_status clo_cost_bound(const clo_cost *cost, clo_bound *out);

#ifdef __cplusplus
}
#endif
#endif
