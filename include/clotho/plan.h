/* plan.h - which executor runs which instance when: plans, the checker, metrics, pictures.
 *
 * A plan is immutable.
 *
 * Library: libclotho; libclotho-io has clo_plan_gantt_svg, clo_plan_gantt_text. */
#ifndef CLOTHO_PLAN_H
#define CLOTHO_PLAN_H

#include <clotho/cost.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clo_plan clo_plan; /* opaque: owns memory, has invariants */

typedef struct clo_planner clo_planner; /* planner.h */

/* One execution. All times count from the start of the plan. Plain values; without a size field: placements are passed
 * in arrays. */
typedef struct clo_placement {
    /* Id from clo_graph_add_task. */
    uint32_t task;

    /* 0 .. instances-1. */
    uint32_t instance;

    /* Index into the platform. */
    uint32_t executor;

    /* 0: the original; 1: a replica. */
    uint32_t is_replica;

    int64_t start_ns;

    /* Exclusive: the executor is free from here on. */
    int64_t finish_ns;
} clo_placement;

/* How far an anytime planner is. Made by the library, which appends fields. */
typedef struct clo_plan_progress {
    /* Schedules built so far. */
    uint64_t schedules;

    /* The shortest of them. */
    int64_t makespan_ns;

    /* No plan is shorter. */
    int64_t bound_ns;

    /* Since planning began. */
    int64_t elapsed_ns;

    /* Never NULL. Write 1 there, and planning ends with the best plan so far, as if its time were up. */
    uint32_t *stop;
} clo_plan_progress;

/* See clo_plan_config.contention. */
typedef enum clo_contention {
    /* The planner makes several plans, some as if more messages shared each port, and some on a part of the machines.
     * "heft" and "best" also insert messages at ports, and "best" searches. The plan that is shortest with ports is
     * taken. It is never longer than that of CLO_CONTENTION_TIMES, unless budget_ns ends the planning. Takes about ten
     * times as long. schedules_max is for each plan, budget_ns for all together; `progress` is called for the first
     * plan only. */
    CLO_CONTENTION_CHOOSE = 0,

    /* The planner makes one plan, as if each message were alone; its times then count the ports. */
    CLO_CONTENTION_TIMES = 1
} clo_contention;

typedef struct clo_plan_config {
    /* Set by CLO_PLAN_CONFIG_INIT. */
    size_t size;

    /* One of Clotho's (&clo_planner_deft, or clo_planner_find("deft")) or your own: planner.h. Borrowed during the
     * call. NULL: HEFT. */
    const clo_planner *planner;

    /* Same inputs and seed, same plan. */
    uint64_t seed;

    /* Anytime planners: schedules to try; 0: the planner's own number. "best" without any limit also makes the plan of
     * every other planner, justified, and takes the shortest: no planner is ahead of it, "exact" included. On a large
     * graph that takes as long as all of them together. */
    uint64_t schedules_max;

    /* Anytime planners: wall time; 0 or less: no limit. With both limits, the first one reached ends the search. The first
     * schedule is always finished, however long it takes. Anything else in progress when time is up is dropped, and the
     * best plan so far is returned: on 100 000 tasks within 10 ms of CPU time. */
    int64_t budget_ns;

    /* 1: no task is executed twice, even if the graph allows it. */
    uint32_t no_duplicates;

    /* For planners that use several threads; 0: 1. At most 64 are used. The plan does not depend on this number, unless
     * an anytime planner is limited by time alone: then more threads search more. */
    uint32_t threads;

    /* Anytime planners call it about five times a second, on the calling thread; NULL: no calls. */
    void (*progress)(void *context, const clo_plan_progress *now);

    /* Handed to `progress`. */
    void *progress_context;

    /* 1: the plan of any planner is moved right and then left, again and again as long as that makes it shorter (double
     * justification, Valls et al. 2005). It never gets longer: on a platform with ports, where the moves do not count
     * them, the plan before is taken if it is shorter with ports. Where budget_ns ends the planning, one without this
     * step may have had time for more plans. A round takes about as long as three HEFT plans. No round begins if the
     * plan is proved optimal, and none goes on past budget_ns. */
    uint32_t justify;

    /* What the planner takes (clo_planner.takes). Borrowed during the call. NULL: none. */
    const void *argument;

    /* On a platform with ports (clo_platform_desc.port_bytes_per_ns): how the planner handles them. A CLO_CONTENTION_
     * value; 0: CLO_CONTENTION_CHOOSE. Without ports it changes nothing. See docs/REMOTE.md. */
    uint32_t contention;
} clo_plan_config;

#define CLO_PLAN_CONFIG_INIT CLO_SIZED_INIT(clo_plan_config)

/* Plans every task. clo_cost_create has already checked that every task has an executor, and that no sum of times
 * overflows.
 *
 *   cost    borrowed during the call.
 *   config  NULL: all defaults. Read during the call only.
 *   out     the plan, owned by the caller.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT     also: what is no planner, unknown config fields, an argument for a planner that takes none, a
 *                        contention that is no CLO_CONTENTION_ value
 *   CLO_ERR_INVALID      your own planner has made no plan of this graph and platform; clo_last_error names the planner
 *                        and what is wrong
 *   CLO_ERR_UNSUPPORTED  the model cannot be run step by step (docs/MODELS.md); on a platform with ports: the graph has
 *                        branches
 *   CLO_ERR_LIMIT        with ports: too many pairs of instances, or times beyond 2^61 ns
 *   CLO_ERR_MEMORY
 *
 * Not promised: the shortest plan, unless clo_plan_is_optimal says so.
 *
 * Threads: any. Real time: no. "heft": O(instances * edges into a task * executors), and O(placements^2) in the worst
 * case of insertion; anytime planners: until a limit is reached; the others: docs/SCHEDULERS.md. */
CLO_API CLO_NODISCARD clo_status clo_plan_create(const clo_cost *cost, const clo_plan_config *config, clo_plan **out);

/* Makes a plan from your own placements, and sorts them by start. Checks ids and times of each placement, and nothing
 * more: see clo_plan_check.
 *
 *   cost        borrowed during the call.
 *   planner     name to show, copied; NULL: "own".
 *   placements  [count]; copied.
 *   out         the plan, owned by the caller.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (an id out of range, start > finish, negative start) or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. O(count * log count). */
CLO_API CLO_NODISCARD clo_status clo_plan_from_placements(const clo_cost *cost, const char *planner,
                                                          const clo_placement *placements, size_t count,
                                                          clo_plan **out);

/* Changes the name that clo_plan_planner and the charts show, and nothing else; copied.
 * Returns CLO_OK, CLO_ERR_ARGUMENT (NULL) or CLO_ERR_MEMORY; on a failure the name is as before.
 * Threads: one; no other thread may read the plan meanwhile. Real time: no. O(length). */
CLO_API CLO_NODISCARD clo_status clo_plan_set_planner(clo_plan *plan, const char *planner);

/* True if the task was skipped (branch.h) in the run that the plan was made from (clo_trace_to_plan). A planner's plan
 * skips nothing: it holds all arms.
 * Threads: any. Real time: yes, O(1). */
CLO_API bool clo_plan_is_skipped(const clo_plan *plan, uint32_t task);

/* Frees a plan. NULL is allowed. Jobs that replay it have copies.
 * Threads: one; the plan must not be used any more. Real time: no. O(1). */
CLO_API void clo_plan_destroy(clo_plan *plan);

/* Reading a plan. All calls up to clo_plan_placements:
 * Threads: any. Real time: yes. O(1), where nothing else is said. */

/* Name of the planner, owned by the plan. */
CLO_API const char *clo_plan_planner(const clo_plan *plan);

/* The last finish. */
CLO_API int64_t clo_plan_makespan_ns(const clo_plan *plan);

/* Schedules that the planner built to find the plan; 0 if no planner made it. */
CLO_API uint64_t clo_plan_schedules(const clo_plan *plan);

/* True if the planner proved that no plan is shorter (without replicas, if none were allowed): it met the lower bound,
 * or searched everything. */
CLO_API bool clo_plan_is_optimal(const clo_plan *plan);

/* The placements, sorted by (start, finish, executor); owned by the plan.
 *   count  receives their number; may be NULL. */
CLO_API const clo_placement *clo_plan_placements(const clo_plan *plan, size_t *count);

/* What the checker checks. */
enum {
    /* Durations, transfers, order, overlap, capacity, placement, completeness. */
    CLO_CHECK_FULL = 0,

    /* A measured schedule: durations and transfer times are not compared with the cost, capacities and an interval
     * (pipeline.h) are not looked at. Order, overlap, placement, completeness and replicas are checked. In both modes a
     * task may be skipped only in a plan that was made from a trace, and only if a branch led to that (branch.h). */
    CLO_CHECK_MEASURED = 1
};

/* Checks a plan. Shares no code with the planners. A consumer may start when, for each input, the nearest replica has
 * finished and its data have arrived (LACHESIS eq. 9). An instance has one original, and on each executor at most one
 * execution. What takes no time may begin when another execution on its executor begins or ends, not in between.
 *
 *   mode  CLO_CHECK_...
 *
 * Returns CLO_OK, or
 *   CLO_ERR_INVALID   clo_last_error names the first violation (also: the plan is of another graph or platform)
 *   CLO_ERR_ARGUMENT  unknown mode
 *   CLO_ERR_MEMORY
 *
 * Threads: any. Real time: no. O(placements * (log placements + edges into a task * executors)), times the replicas of
 * a task if there are any. */
CLO_API CLO_NODISCARD clo_status clo_plan_check(const clo_plan *plan, const clo_cost *cost, int mode);

/* How good a plan is. A divisor of 0 counts as 1 ns, and 0 / 0 is 1. */
typedef struct clo_plan_metrics {
    /* Set by CLO_PLAN_METRICS_INIT. */
    size_t size;

    int64_t makespan_ns;

    /* clo_bound.best_ns. */
    int64_t lower_bound_ns;

    /* makespan / lower bound - 1. */
    double gap;

    /* makespan / critical path of fastest times (LACHESIS eq. 14). */
    double slr;

    /* Serial time on the best single executor / makespan (LACHESIS eq. 13). */
    double speedup;

    /* Busy time / (executors * makespan). */
    double utilization;

    /* Sum of the durations of all executions. */
    int64_t busy_ns;

    /* Inputs that cross memories. */
    uint64_t transfers;

    uint64_t transferred_bytes;

    /* Replicas. */
    uint32_t duplicates;

    /* What the executors in use take while they run tasks, each at its highest clock (clotho.power_mw of the platform
     * file), in nJ; CLO_TIME_NEVER: more. Told only: no planner looks at it. -1: not known of one in use. */
    int64_t energy_nj;
} clo_plan_metrics;

#define CLO_PLAN_METRICS_INIT CLO_SIZED_INIT(clo_plan_metrics)

/* Measures a plan.
 *
 *   out  set out->size with CLO_PLAN_METRICS_INIT.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (the plan is of another graph or platform, out->size is wrong) or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. As clo_cost_bound, and O(placements * edges into a task), times the replicas of a task
 * if there are any. */
CLO_API CLO_NODISCARD clo_status clo_plan_measure(const clo_plan *plan, const clo_cost *cost, clo_plan_metrics *out);

/* Draws a Gantt chart as SVG: one row for each executor, one bar for each placement, replicas hatched, hover text. Says
 * "emulated" if the times are those of an emulated run. The file is written whole or not at all.
 *
 *   title  may be NULL.
 *   path   file to write.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (as clo_plan_measure), CLO_ERR_IO or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. O(placements). */
CLO_API CLO_NODISCARD clo_status clo_plan_gantt_svg(const clo_plan *plan, const clo_cost *cost, const char *title,
                                                    const char *path);

/* The same as text for a terminal, UTF-8.
 *
 *   columns  width; 0: 80.
 *   out      malloc'ed text, which the caller frees.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. O(placements). */
CLO_API CLO_NODISCARD clo_status clo_plan_gantt_text(const clo_plan *plan, const clo_cost *cost, uint32_t columns,
                                                     char **out);

#ifdef __cplusplus
}
#endif
#endif
