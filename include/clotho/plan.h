/* plan.h - which executor runs which instance when: planners, the checker, metrics, pictures.
 *
 * A plan is immutable; every const call is thread-safe. */
#ifndef CLOTHO_PLAN_H
#define CLOTHO_PLAN_H

#include <clotho/cost.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct clo_plan clo_plan; /* opaque */

/* One execution. All times count from the start of the plan. */
typedef struct clo_placement {
    uint32_t task;       /* id returned by clo_graph_add_task                             */
    uint32_t instance;   /* 0 .. instances-1                                              */
    uint32_t executor;   /* index into the platform                                       */
    uint32_t is_replica; /* 0: the original, 1: a duplicated execution                   */
    int64_t start_ns;
    int64_t finish_ns; /* exclusive: the executor is free from here                     */
} clo_placement;

/* How far an anytime planner is. */
typedef struct clo_plan_progress {
    uint64_t schedules;  /* built so far                  */
    int64_t makespan_ns; /* the shortest so far           */
    int64_t bound_ns;    /* no plan is shorter            */
    int64_t elapsed_ns;  /* since planning began          */
} clo_plan_progress;

typedef struct clo_plan_config {
    size_t size;            /* CLO_PLAN_CONFIG_INIT                                       */
    const char *planner;    /* "heft", "deft", "best" ...; NULL means "heft". Case, '-' and '_' do not count */
    uint64_t seed;          /* same inputs and seed, same plan                            */
    uint64_t schedules_max; /* anytime planners: schedules to try; 0: the planner's own   */
    int64_t budget_ns;      /* anytime planners: wall time; 0: none. With both limits the first one reached ends
                               the search. The plans that it starts from are always finished: HEFT at least */
    uint32_t no_duplicates; /* 1: no task is executed twice, even where the graph allows it */
    uint32_t threads;       /* planners that use several; 0: 1, at most 64 are used. The plan does not depend on it,
                               but where an anytime planner is limited by time alone: there more is searched */
    /* Anytime planners call it about five times a second, from the calling thread; NULL: not. */
    void (*progress)(void *context, const clo_plan_progress *now);
    void *progress_context;
    /* 1: the plan is moved right and left again as long as that makes it shorter (double justification, Valls et al.
     * 2005), whatever the planner; never longer. A round takes about as long as three HEFT plans. No further one begins
     * where the plan is proved optimal, or past budget_ns. */
    uint32_t justify;
} clo_plan_config;

#define CLO_PLAN_CONFIG_INIT CLO_SIZED_INIT(clo_plan_config)

/* Plans every task.
 *   cost    borrowed during the call only.
 *   config  NULL means all defaults.
 *   out     owned by the caller; untouched on failure.
 * Returns CLO_OK, CLO_ERR_ARGUMENT (also: unknown planner, unknown config fields), CLO_ERR_MEMORY. That every task has
 * an executor and that no sum of times overflows was settled by clo_cost_create.
 * Time: heft O(arcs * executors + placements^2 in the worst case of insertion). */
CLO_API CLO_NODISCARD clo_status clo_plan_create(const clo_cost *cost, const clo_plan_config *config, clo_plan **out);

/* Makes a plan of your own. `placements` is copied and sorted by start; nothing is checked beyond
 * ids (use clo_plan_check).
 *   planner  name to show; NULL: "own".
 * Returns CLO_OK, CLO_ERR_ARGUMENT (an id out of range, start > finish, negative start), CLO_ERR_MEMORY. */
CLO_API CLO_NODISCARD clo_status clo_plan_from_placements(const clo_cost *cost, const char *planner,
                                                          const clo_placement *placements, size_t count,
                                                          clo_plan **out);

CLO_API void clo_plan_destroy(clo_plan *plan); /* NULL is allowed */

CLO_API const char *clo_plan_planner(const clo_plan *plan);
CLO_API int64_t clo_plan_makespan_ns(const clo_plan *plan);
/* How many schedules were built to find it; 0 where it was not made by a planner. */
CLO_API uint64_t clo_plan_schedules(const clo_plan *plan);
/* True if the planner proved that no plan is shorter (without replicas, if none were allowed): it met the lower
 * bound, or searched everything. */
CLO_API bool clo_plan_is_optimal(const clo_plan *plan);
/* True if its times are those of an emulated run (clo_trace_is_emulated), or were read from a plan file that says
 * so. */
CLO_API bool clo_plan_is_emulated(const clo_plan *plan);
/* Whether the plan can be of this cost: its graph had as many tasks and instances, its platform as many executors, and
 * all ids are in range. Every call that takes a plan and a cost asks this. Returns CLO_OK, or CLO_ERR_ARGUMENT with
 * the first difference in clo_last_error. Any thread. O(placements). */
CLO_API CLO_NODISCARD clo_status clo_plan_matches(const clo_plan *plan, const clo_cost *cost);
/* Sorted by (start, finish, executor); owned by the plan. */
CLO_API const clo_placement *clo_plan_placements(const clo_plan *plan, size_t *count);

/* What the independent checker asks for. */
enum {
    CLO_CHECK_FULL = 0,    /* durations, transfers, order, overlap, capacity, placement, completeness */
    CLO_CHECK_MEASURED = 1 /* a measured schedule: as above, but durations and transfer times are what
                                they were: only order, overlap, placement, completeness, replicas       */
};

/* Checks a plan; shares no code with the planners. A consumer may start when, for each input, the nearest
 * replica has finished and its data have arrived (LACHESIS eq. 9).
 * Returns CLO_OK, or CLO_ERR_INVALID with the first violation in clo_last_error (also: clo_plan_matches fails);
 * CLO_ERR_ARGUMENT (unknown mode), CLO_ERR_MEMORY. */
CLO_API CLO_NODISCARD clo_status clo_plan_check(const clo_plan *plan, const clo_cost *cost, int mode);

typedef struct clo_plan_metrics {
    size_t size; /* CLO_PLAN_METRICS_INIT */
    int64_t makespan_ns;
    int64_t lower_bound_ns; /* clo_bound.best_ns                                          */
    double gap;             /* makespan / lower bound - 1; here and below a divisor of 0 counts as 1 ns */
    double slr;             /* makespan / critical path of fastest times (LACHESIS eq. 14) */
    double speedup;         /* serial time on the best single executor / makespan (eq. 13) */
    double utilization;     /* busy time / (executors * makespan)                         */
    int64_t busy_ns;
    uint64_t transfers; /* inputs that cross memories                                 */
    uint64_t transferred_bytes;
    uint32_t duplicates; /* replicas                                                   */
} clo_plan_metrics;

#define CLO_PLAN_METRICS_INIT CLO_SIZED_INIT(clo_plan_metrics)
/* Returns CLO_OK, CLO_ERR_ARGUMENT (clo_plan_matches fails), CLO_ERR_MEMORY. */
CLO_API CLO_NODISCARD clo_status clo_plan_measure(const clo_plan *plan, const clo_cost *cost, clo_plan_metrics *out);

/* Gantt charts. SVG: one row an executor, a bar a placement, replicas hatched, hover text; written whole or
 * not at all. Text: `columns` wide (0: 80), UTF-8; *out is malloc'ed, the caller frees it. Both say "emulated" where
 * clo_plan_is_emulated.
 *   title  may be NULL.
 * Return CLO_OK, CLO_ERR_ARGUMENT (as clo_plan_measure), CLO_ERR_IO, CLO_ERR_MEMORY. */
CLO_API CLO_NODISCARD clo_status clo_plan_gantt_svg(const clo_plan *plan, const clo_cost *cost, const char *title,
                                                    const char *path);
CLO_API CLO_NODISCARD clo_status clo_plan_gantt_text(const clo_plan *plan, const clo_cost *cost, uint32_t columns,
                                                     char **out);

#ifdef __cplusplus
}
#endif
#endif
