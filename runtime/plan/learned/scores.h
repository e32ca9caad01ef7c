/* plan/learned/scores.h - what a network makes of the tasks of a graph before any of them has begun. */
#ifndef CLO_PLAN_LEARNED_SCORES_H
#define CLO_PLAN_LEARNED_SCORES_H

#include "cost/cost.h"

#include <clotho/model.h>

typedef struct clo_task_scores {
    /* [tasks] */
    int32_t *scores;
    /* Q32 of one unit, for clo_kernels.perturb; 0: the scores cannot be drawn from. */
    int32_t drawn_scale;
} clo_task_scores;

/* One pass of the network: the whole graph is one job, all its tasks are candidates, all executors are free. At most
 * CLO_HEAD_STAGES_MAX tasks.
 *
 *   model  NULL: the built-in one.
 *   out    scores is the caller's memory.
 *
 * Returns CLO_OK, CLO_ERR_ARGUMENT or CLO_ERR_UNSUPPORTED (clo_head_open), or CLO_ERR_MEMORY. O(tasks and edges, times
 * layers). */
clo_status clo_score_tasks(const clo_cost *cost, const clo_model *model, clo_task_scores *out);

#endif
