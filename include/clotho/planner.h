/* planner.h - planners: the built-in ones, and how a program brings its own.
 *
 * A program that names &clo_planner_heft links HEFT; clo_planner_find links all of them.
 *
 * Library: libclotho-decide; libclotho has clo_planner_heft, clo_planner_deft, clo_planner_deft_append. */
#ifndef CLOTHO_PLANNER_H
#define CLOTHO_PLANNER_H

#include <clotho/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A partial schedule that the library's own planners fill. No part of the API. */
struct clo_schedule;

/* What clo_plan_config.argument points to. */
typedef enum clo_planner_argument {
    /* It must be NULL. */
    CLO_PLANNER_NO_ARGUMENT = 0,

    /* const int64_t [clo_graph_tasks]: a key for each task ("deft"). Of the tasks whose predecessors are all placed,
     * the one with the largest key is placed next; of equal keys the one with the larger rank_u. So you can plan with
     * any selection rule. NULL: rank_u alone. */
    CLO_PLANNER_KEYS = 1,

    /* const clo_model: the network ("lachesis"), of the kind CLO_MODEL_LACHESIS or CLO_MODEL_HEAD with list 2 of
     * features (docs/MODELS.md). NULL: the built-in one. */
    CLO_PLANNER_MODEL = 2,

    /* Defined by your own planner. */
    CLO_PLANNER_OWN = 3
} clo_planner_argument;

/* A planner. Yours is a static const object: fill in `size`, `name`, `summary` and `plan`, leave the rest 0.
 *
 *     static clo_status place(const clo_planner *planner, const clo_cost *cost, const clo_plan_config *config,
 *                             clo_placement *placements, size_t *count);
 *     const clo_planner mine = {.name = "mine", .summary = "...", .size = sizeof mine, .plan = place}; */
struct clo_planner {
    /* Letters, digits, '-' and '_'; not that of another planner. */
    const char *name;

    /* One line for a reader. */
    const char *summary;

    /* sizeof(clo_planner). */
    size_t size;

    /* A clo_planner_argument. */
    uint32_t takes;

    /* Executions of each instance, on average, that there is room for: more than 1 only with replicas. 0: 1. */
    uint32_t executions_each;

    /* Plans all instances of clo_cost_graph(cost) on clo_cost_platform(cost).
     *
     *   config      `argument` and `seed` are for the planner. `justify`, `contention` and `planner` are the library's.
     *   placements  room for *count of them, in any order.
     *   count       how many you have written.
     *
     * Returns CLO_OK, or any other status, which clo_plan_create passes on. It may be called several times for one
     * plan: on a platform with ports, with other costs and parts of the platform. Called on the thread of
     * clo_plan_create, and by several threads at once if they plan at once. Not promised: any protection from a planner
     * that crashes or does not return. */
    clo_status (*plan)(const clo_planner *planner, const clo_cost *cost, const clo_plan_config *config,
                       clo_placement *placements, size_t *count);

    /* NULL in yours: how the library's planners work, and what "best" does where nothing limits it. */
    clo_status (*fill)(struct clo_schedule *schedule, const clo_plan_config *config);
    clo_status (*plan_without_budget)(const clo_cost *cost, const clo_plan_config *config, clo_plan **out);
};

/* Clotho's planners. docs/SCHEDULERS.md says what each does, and where it comes from. */
CLO_API extern const clo_planner
    /* list scheduling: highest rank first */
    clo_planner_heft,
    clo_planner_heft_append, clo_planner_heft_expected, clo_planner_cpop, clo_planner_peft, clo_planner_etf,
    clo_planner_dls, clo_planner_lookahead, clo_planner_fcp, clo_planner_flb, clo_planner_serial,
    /* batch and immediate mode */
    clo_planner_minmin, clo_planner_maxmin, clo_planner_duplex, clo_planner_sufferage, clo_planner_mct, clo_planner_met,
    clo_planner_olb, clo_planner_fastestnode,
    /* the baselines of LACHESIS */
    clo_planner_fifo, clo_planner_sjf, clo_planner_hrrn, clo_planner_highrank, clo_planner_fifo_deft,
    clo_planner_sjf_deft, clo_planner_hrrn_deft, clo_planner_highrank_deft,
    /* duplication */
    clo_planner_deft, clo_planner_deft_append, clo_planner_dfrn, clo_planner_tds, clo_planner_tdca,
    /* packing */
    clo_planner_sgs_serial, clo_planner_sgs_parallel, clo_planner_sgs_serial_backward,
    clo_planner_sgs_parallel_backward, clo_planner_critical_path, clo_planner_tetris, clo_planner_breadth_first,
    clo_planner_random, clo_planner_coffman_graham, clo_planner_strip_part, clo_planner_graphene,
    clo_planner_graphene_paper,
    /* networks, and edges that make list schedules shorter */
    clo_planner_lachesis, clo_planner_edges, clo_planner_edges_sjf, clo_planner_edges_tetris, clo_planner_edges_greedy,
    clo_planner_edges_random, clo_planner_edges_best,
    /* search */
    clo_planner_exact, clo_planner_best,
    /* the order of a linear program; not in clo_registry_entry("planners"), because its plans depend on the solver (CLP)
     * and on floating point. Returns CLO_ERR_UNSUPPORTED without CLP, CLO_ERR_TIMEOUT after a minute, or the budget. */
    clo_planner_lp_midpoint;

/* The planner of that name, built in or registered. Case, '-' and '_' are ignored: "Min-Min" is "minmin". Static, or
 * the registered object. Returns NULL for an unknown name and for NULL, with a text in clo_last_error.
 *
 * Threads: any. Real time: no. */
CLO_API const clo_planner *clo_planner_find(const char *name);

/* Adds a planner to those that clo_planner_find and clo_registry_entry("planners") know. A planner need not be
 * registered: clo_plan_config.planner takes any.
 *
 *   planner  borrowed until the process ends.
 *
 * Returns CLO_OK, or
 *   CLO_ERR_ARGUMENT  NULL; no name, summary or function; a name with other characters, or of another planner
 *   CLO_ERR_LIMIT     64 planners are registered
 *
 * Threads: any. Real time: no. */
CLO_API CLO_NODISCARD clo_status clo_planner_register(const clo_planner *planner);

#ifdef __cplusplus
}
#endif
#endif
