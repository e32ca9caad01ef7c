/* edges.h - edges that make a list schedule shorter (Hua et al., "Learning to Schedule DAG Tasks").
 *
 * A list scheduler starts any ready task that fits. An edge from a to b keeps b from starting before a has ended, so
 * that a finds its place free. Edges are added one by one; first the start of an edge is chosen, then its end. A
 * network, or a random draw, chooses the edges to try. Every plan keeps the graph's own edges, so it is a plan of the
 * graph.
 *
 * This works for packing problems: every task has one instance and runs equally on every executor of a machine, and
 * data transfers take no time. docs/SCHEDULERS.md says what the planners "edges" do elsewhere.
 *
 * Library: libclotho-decide. */
#ifndef CLOTHO_EDGES_H
#define CLOTHO_EDGES_H

#include <clotho/model.h>
#include <clotho/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    /* Edges that can be added to a graph, and its tasks at most. */
    CLO_EDGES_MAX = 512,
    CLO_EDGES_TASKS_MAX = 4096
};

/* Which ready task the list scheduler starts first. Ties: the lower task id. */
typedef enum clo_edges_rule {
    /* the longest path to the end, through added edges too */
    CLO_EDGES_CP = 0,
    /* the shortest task */
    CLO_EDGES_SJF = 1,
    /* the largest demand, summed over resources as shares of the machine */
    CLO_EDGES_TETRIS = 2
} clo_edges_rule;

/* What chooses the edges to try. */
typedef enum clo_edges_guide {
    /* a model's scores and the prior */
    CLO_EDGES_BY_MODEL = 0,
    CLO_EDGES_BY_PRIOR = 1,
    /* at random, all edges that may be added equally likely */
    CLO_EDGES_BY_CHANCE = 2
} clo_edges_guide;

typedef struct clo_edges_config {
    /* Set by CLO_EDGES_CONFIG_INIT. */
    size_t size;

    clo_edges_rule rule;
    clo_edges_guide guide;

    /* A model with feature list 3; NULL: the built-in one. Borrowed. */
    const clo_model *model;

    /* Width of the beam search: states that are kept in each step, at most 16. 0: 4. */
    uint32_t beam;

    /* 1: the edge with the highest score is tried, `edges` times. It stays if it makes the schedule shorter; otherwise
     * it is not tried again. `beam` is not used. */
    uint32_t greedy;

    /* 1: a quarter of the budget goes to edges, under the rule whose schedule is shortest without them (`rule` is not
     * used). The packing search of the planner "best" continues from there. */
    uint32_t then_best;

    /* Most edges to add (greedy: to try), at most CLO_EDGES_MAX. 0: 32. */
    uint32_t edges;

    uint64_t seed;

    /* As in clo_plan_config; both 0: 1000 schedules. */
    uint64_t schedules_max;
    int64_t budget_ns;
} clo_edges_config;

#define CLO_EDGES_CONFIG_INIT CLO_SIZED_INIT(clo_edges_config)

/* A plan of the shortest schedule that adding edges finds.
 *
 *   cost    borrowed during the call.
 *   config  NULL: all defaults. Read during the call only.
 *   out     the plan, owned by the caller.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT (also: a model with other features than list 3), CLO_ERR_UNSUPPORTED (no packing, or
 * a task has several instances), CLO_ERR_LIMIT (more than CLO_EDGES_TASKS_MAX tasks) or CLO_ERR_MEMORY.
 * Threads: any. Real time: no. Until a limit is reached. */
CLO_API CLO_NODISCARD clo_status clo_edges_plan(const clo_cost *cost, const clo_edges_config *config, clo_plan **out);

#ifdef __cplusplus
}
#endif
#endif
