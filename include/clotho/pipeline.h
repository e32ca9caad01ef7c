/* pipeline.h - several releases of one graph in flight: how far apart they can begin, and plans that reach it.
 *
 * A plan *with an interval* says where and when each instance of release 0 is executed, and that release k does the
 * same k * interval later (modulo scheduling: Rau, "Iterative Modulo Scheduling", MICRO 1994; Lam, "Software
 * Pipelining", PLDI 1988). No two executions of any releases overlap on an executor: at any time modulo the interval an
 * executor runs at most one execution, and all executions together demand no more of a machine than it has. The
 * makespan is the latency of one release, 1 / interval the throughput.
 *
 * An instance is executed on the same executor in every release, in order of releases. So it may keep state from one
 * release to the next, and no interval is shorter than its time. Tasks are executed once in each release (no replicas).
 *
 * In a run, tasks take their demands, all or nothing, in the order of the planned starts of all releases. A body that
 * takes longer than planned delays the tasks that need what it holds, and no capacity is ever exceeded.
 *
 * A job replays such a plan with clo_job_config.releases_in_flight. In any other use it is a plan like any other.
 *
 * Library: libclotho; libclotho-decide has clo_plan_pipeline. */
#ifndef CLOTHO_PIPELINE_H
#define CLOTHO_PIPELINE_H

#include <clotho/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Releases of one job that may be in flight at most. */
#define CLO_IN_FLIGHT_MAX 1024u

/* Lower bounds on the interval between releases, in any plan of the cost. */
typedef struct clo_interval_bound {
    /* Set by CLO_INTERVAL_BOUND_INIT. */
    size_t size;

    /* The time that one release takes on the executors and on the capacities of machines: as clo_bound.area_ns and
     * clo_bound.resource_ns, also the time of tasks that cannot run at the same time; for few instances also the exact
     * smallest load of the fullest executor. */
    int64_t resource_ns;

    /* The longest of the fastest times: an instance waits for itself in the release before. */
    int64_t recurrence_ns;

    /* The larger of the two. */
    int64_t best_ns;
} clo_interval_bound;

#define CLO_INTERVAL_BOUND_INIT CLO_SIZED_INIT(clo_interval_bound)

/* Computes the bounds.
 *
 *   cost  borrowed during the call.
 *   out   set out->size with CLO_INTERVAL_BOUND_INIT.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (also: out->size is wrong) or CLO_ERR_MEMORY.
 * Not promised: that a plan with this interval exists.
 * Threads: any. Real time: no. As clo_cost_bound, and O(instances^2 * executors), bounded for large graphs. */
CLO_API CLO_NODISCARD clo_status clo_cost_interval_bound(const clo_cost *cost, clo_interval_bound *out);

typedef struct clo_pipeline_config {
    /* Set by CLO_PIPELINE_CONFIG_INIT. */
    size_t size;

    /* Most releases in flight: the latency is at most that many intervals. 0: any number up to CLO_IN_FLIGHT_MAX. Fewer
     * may need a longer interval. */
    uint32_t releases_in_flight;

    /* Plan for this interval, such as the period of a sensor. 0: for the shortest that is found. */
    int64_t interval_ns;
} clo_pipeline_config;

#define CLO_PIPELINE_CONFIG_INIT CLO_SIZED_INIT(clo_pipeline_config)

/* Plans for throughput: the shortest interval first, then a short latency. The plan's planner is "modulo".
 *
 *   cost    borrowed during the call.
 *   config  NULL: all defaults. Read during the call only.
 *   out     the plan, owned by the caller.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT     also: unknown config fields, releases_in_flight above CLO_IN_FLIGHT_MAX, a negative interval
 *   CLO_ERR_LIMIT        no plan with that interval_ns was found; clo_last_error says which bound it breaks, if any
 *   CLO_ERR_UNSUPPORTED  the graph has branches, or the platform machines with ports
 *   CLO_ERR_MEMORY
 *
 * clo_plan_is_optimal says whether the interval is the lower bound: then no plan has a shorter one.
 * Threads: any. Real time: no. O(instances^2 * executors) in the worst case, some times over. */
CLO_API CLO_NODISCARD clo_status clo_plan_pipeline(const clo_cost *cost, const clo_pipeline_config *config,
                                                   clo_plan **out);

/* The interval of a plan; 0: it has none.
 * Threads: any. Real time: yes. O(1). */
CLO_API int64_t clo_plan_interval_ns(const clo_plan *plan);

/* How good a plan with an interval is. */
typedef struct clo_pipeline_metrics {
    /* Set by CLO_PIPELINE_METRICS_INIT. */
    size_t size;

    int64_t interval_ns;

    /* clo_interval_bound.best_ns. */
    int64_t bound_ns;

    /* interval / bound - 1; a bound of 0 counts as 1 ns. */
    double gap;

    /* Releases a second in the steady state. */
    double per_second;

    /* From the beginning of a release to its end. */
    int64_t latency_ns;

    /* The length of the critical path of fastest times: no latency is shorter. */
    int64_t latency_bound_ns;

    /* Releases that are in flight at once if each begins one interval after the one before: makespan / interval,
     * rounded up, at least 1. */
    uint32_t in_flight;

    /* Busy time of a release / (executors * interval). */
    double utilization;

    /* Bytes of outputs, each kept for as many releases as the plan needs before its last consumer has ended, without
     * copies in other memories; and with one release at a time. */
    uint64_t buffer_bytes, single_bytes;
} clo_pipeline_metrics;

#define CLO_PIPELINE_METRICS_INIT CLO_SIZED_INIT(clo_pipeline_metrics)

/* Measures a plan with an interval.
 *
 *   out  set out->size with CLO_PIPELINE_METRICS_INIT.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (the plan has no interval, does not place every instance once, or is of another
 * graph or platform; out->size is wrong) or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. As clo_cost_interval_bound, and O(placements + pairs of instances of edges). */
CLO_API CLO_NODISCARD clo_status clo_plan_pipeline_measure(const clo_plan *plan, const clo_cost *cost,
                                                           clo_pipeline_metrics *out);

/* Checks the trace of a series with releases in flight, as clo_simulate and clo_job_trace (traced_releases) return it.
 * Shares no code with the engine: it compares each event with the plan, the costs and the events of other releases.
 *
 *   trace               of a whole series: each instance once in each release, from release 0 to the last one.
 *   plan                the plan of the run; clo_plan_check(plan, cost, CLO_CHECK_FULL) must accept it.
 *   releases_in_flight  as clo_job_config.releases_in_flight; at least 1.
 *   period_ns           >= 0: release k may not begin before it is due, at k * period_ns. 0: there is no period.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_INVALID   clo_last_error names the first violation: an instance that is missing or executed twice, or on
 *                     another executor than planned, for another time than its cost (in an emulated trace), before
 *                     its inputs have arrived, beside another one on its executor, or not in the order of the plan
 *                     modulo its interval (of executors, and of capacities in an emulated trace); more of a capacity in
 *                     use, by all releases, than a machine has; an output overwritten before its last consumer has
 *                     ended; a release that begins while releases_in_flight releases before it are in flight, or
 *                     before it is due
 *   CLO_ERR_ARGUMENT  also: the trace or the plan is of another graph or platform, or has replicas
 *   CLO_ERR_MEMORY
 *
 * Not promised: that each release began as soon as it could; that a task with several instances kept only as many
 * outputs as the plan needs (it may keep as many as releases may be in flight).
 * Threads: any. Real time: no. O(events * (log events + edges into a task * instances of a task)). */
CLO_API CLO_NODISCARD clo_status clo_pipeline_check_period(const clo_trace *trace, const clo_plan *plan,
                                                           const clo_cost *cost, uint32_t releases_in_flight,
                                                           int64_t period_ns);

#ifdef __cplusplus
}
#endif
#endif
