/* edges.h - edges that make a list schedule shorter (Hua et al., "Learning to Schedule DAG Tasks").
 *
 * A list scheduler starts whatever is ready and fits. An edge from a to b keeps b from starting before a has ended: a
 * task that matters then finds its place free. Edges are added one by one; first the start of an edge is chosen, then
 * its end. A network, or a random draw, chooses the edges to try. Every plan keeps the graph's own edges, so it is a
 * plan of the graph.
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

/* Number of the list of features (clo_model_desc.feature_set). */
#define CLO_FEATURES_EDGES 3

enum {
    /* Edges that can be added to a graph, and its tasks at most. */
    CLO_EDGES_MAX = 512,
    CLO_EDGES_TASKS_MAX = 4096,
    /* A prior of this value makes a choice e times as likely. */
    CLO_EDGES_PRIOR_ONE = 256
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

/* The features of a task, in order. "log" of a time is log2(1 + time / unit) in Q8, linear between two powers of two;
 * unit is the power of two below a sixteenth of the mean time. The log of a negative time is negative. "share" is in
 * Q12. */
enum {
    /* "time", "tail": log of the task's time, and of the longest path from it to the end, its own time included */
    CLO_EDGES_TIME = 0,
    CLO_EDGES_TAIL = 1,
    /* "demand": share of the machine */
    CLO_EDGES_DEMAND = 2,
    /* "wait": log of how long it was ready before it started */
    CLO_EDGES_WAIT = 3,
    /* "slack": log of makespan - start - tail */
    CLO_EDGES_SLACK = 4,
    /* "position": its start as a share of the makespan */
    CLO_EDGES_POSITION = 5,
    /* These are 0 while a start is chosen. "second": 4096 while an end is chosen. */
    CLO_EDGES_SECOND = 6,
    /* "before": log of how much earlier the task starts than the start that was chosen */
    CLO_EDGES_BEFORE = 7,
    /* "overlap": log of how long it runs while the chosen one is ready and waits */
    CLO_EDGES_OVERLAP = 8,
    /* "spare": log of how much more slack it has than the chosen one */
    CLO_EDGES_SPARE = 9,
    /* "excess": share by which the demands of both together exceed the machine; negative: they fit */
    CLO_EDGES_EXCESS = 10,
    /* "shorter": log of how much shorter its tail is than that of the chosen one */
    CLO_EDGES_SHORTER = 11,
    CLO_EDGES_FEATURES = 12
};

/* The choices, and the features of each task. Rows are the tasks in the order of their starts in the current schedule:
 * that of the graph with the edges added so far. All pointers are owned by the clo_edges, and valid until its next
 * call. */
typedef struct clo_edges_view {
    /* stages, one job, and children through added edges too; `inputs` is NULL */
    clo_model_case shape;
    /* [shape.stages][CLO_EDGES_FEATURES] */
    const int32_t *features;
    /* [count] rows that may be chosen, in rising order; and their priors, which are added to the scores, in units of
     * CLO_EDGES_PRIOR_ONE */
    const uint32_t *rows;
    const int32_t *prior;
    uint32_t count;
    /* The task of each row. */
    const uint32_t *task_of;
} clo_edges_view;

typedef struct clo_edges clo_edges; /* opaque: owns memory */

/* Makes the schedule of `rule`, without added edges.
 *
 *   cost  borrowed while the object lives.
 *   out   owned by the caller.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT, CLO_ERR_UNSUPPORTED (no packing, or a task has several instances), CLO_ERR_LIMIT
 * (more than CLO_EDGES_TASKS_MAX tasks) or CLO_ERR_MEMORY.
 * Threads: any, each object by one at a time. Real time: no. O(tasks * edges / 64 + tasks^2). */
CLO_API CLO_NODISCARD clo_status clo_edges_create(const clo_cost *cost, clo_edges_rule rule, clo_edges **out);
/* NULL is allowed. */
CLO_API void clo_edges_destroy(clo_edges *edges);

/* The calls up to clo_edges_clear allocate no memory. Threads: one at a time. If a pointer is NULL, they do nothing,
 * and the numbers that they return are 0. */

/* Length of the schedule, and how many edges were added. O(1). */
CLO_API int64_t clo_edges_makespan_ns(const clo_edges *edges);
CLO_API uint32_t clo_edges_added(const clo_edges *edges);

/* The rows that may be chosen as the start of an edge, or as the end of an edge that starts in row `start`. Edges that
 * would close a cycle, or that other edges already imply, are left out. If there is no such row, the view is empty.
 * O(tasks * log(tasks) + edges). */
CLO_API void clo_edges_starts(clo_edges *edges, clo_edges_view *out);
CLO_API void clo_edges_ends(clo_edges *edges, uint32_t start, clo_edges_view *out);

/* Adds the edge between two rows of the last view and builds the schedule anew.
 * Returns CLO_OK, CLO_ERR_ARGUMENT (no such row; the edge may not be added) or CLO_ERR_LIMIT (CLO_EDGES_MAX edges).
 * O(tasks * (tasks / 64 + log(tasks)) + edges). */
CLO_API CLO_NODISCARD clo_status clo_edges_add(clo_edges *edges, uint32_t start, uint32_t end);

/* Removes the edge that was added last; a second call does nothing. */
CLO_API void clo_edges_undo(clo_edges *edges);

/* Removes all added edges. */
CLO_API void clo_edges_clear(clo_edges *edges);

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
 *   config  NULL: all defaults.
 *   out     owned by the caller.
 *
 * Returns as clo_edges_create, and CLO_ERR_ARGUMENT also for a model with other features.
 * Threads: any. Real time: no. Until a limit is reached. */
CLO_API CLO_NODISCARD clo_status clo_edges_plan(const clo_cost *cost, const clo_edges_config *config, clo_plan **out);

#ifdef __cplusplus
}
#endif
#endif
