/* plan/edges/steps.h - edges added to a packing one by one, for a trainer: first the start of an edge is chosen, then
 * its end. */
#ifndef CLO_PLAN_EDGES_STEPS_H
#define CLO_PLAN_EDGES_STEPS_H

#include "learn/infer/edges_features.h"

#include <clotho/edges.h>

/* A prior of this value makes a choice e times as likely. */
enum { CLO_EDGES_PRIOR_ONE = 256 };

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

typedef struct clo_edges clo_edges;

/* Makes the schedule of `rule`, without added edges. `cost` is borrowed while the object lives; `out` is the caller's.
 * Returns CLO_OK, CLO_ERR_UNSUPPORTED (no packing, or a task has several instances), CLO_ERR_LIMIT (more than
 * CLO_EDGES_TASKS_MAX tasks) or CLO_ERR_MEMORY. O(tasks * edges / 64 + tasks^2). */
clo_status clo_edges_create(const clo_cost *cost, clo_edges_rule rule, clo_edges **out);
void clo_edges_destroy(clo_edges *edges); /* NULL is allowed */

/* The calls below allocate no memory. */

/* Length of the schedule. O(1). */
int64_t clo_edges_makespan_ns(const clo_edges *edges);

/* The rows that may be chosen as the start of an edge, or as the end of an edge that starts in row `start`. Edges that
 * would close a cycle, or that other edges already imply, are left out. If there is no such row, the view is empty.
 * O(tasks * log(tasks) + edges). */
void clo_edges_starts(clo_edges *edges, clo_edges_view *out);
void clo_edges_ends(clo_edges *edges, uint32_t start, clo_edges_view *out);

/* Adds the edge between two rows of the last view and builds the schedule anew.
 * Returns CLO_OK, CLO_ERR_ARGUMENT (the edge may not be added) or CLO_ERR_LIMIT (CLO_EDGES_MAX edges).
 * O(tasks * (tasks / 64 + log(tasks)) + edges). */
clo_status clo_edges_add(clo_edges *edges, uint32_t start, uint32_t end);

/* Removes the edge that was added last; a second call does nothing. Not before clo_edges_add. */
void clo_edges_undo(clo_edges *edges);

#endif
