/* plan/search/search.h - what the planner "best" tries, one after the other. */
#ifndef CLO_PLAN_SEARCH_SEARCH_H
#define CLO_PLAN_SEARCH_SEARCH_H

#include "plan/budget/budget.h"
#include "plan/schedule/planner.h"
#include "plan/search/sketch.h"

/* best.c: the search of the planner "best", within a budget. */

/* clo_planner.fill of clo_planner_best (plan/all/all.c). */
clo_status clo_best_fill(clo_schedule *schedule, const clo_plan_config *config);

/* starts.c: the plans that a search begins with: those of the other planners. */

/* Builds one plan with each planner that fits a share of the budget, and keeps it in *best if it is shorter; HEFT's
 * is there already, and took heft_ns; is_sketched: so is what tails.c finds, all on one executor included.
 * Returns CLO_OK, also where time is up, or CLO_ERR_MEMORY. */
clo_status clo_start_plans(clo_schedule *schedule, clo_budget *budget, clo_snapshot *best, int64_t heft_ns,
                           bool is_sketched);

/* tails.c: list schedules that know what follows: each looks at the way to the end in the one before. */

/* Builds HEFT's plan, whatever the budget is, and computes the lower bound as clo_budget_bound does. Then looks for
 * shorter plans in a few passes and a small part of the budget, or until it is gone.
 *
 *   schedule  that of the sketch; its order[] is filled.
 *   best      receives the shortest plan; empty before.
 *   heft_ns   receives what HEFT's took.
 *
 * Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_tails(clo_sketch *sketch, clo_schedule *schedule, clo_budget *budget, clo_snapshot *best,
                     int64_t *heft_ns);

/* exact.c: branch and bound over the plans of a small graph. */

/* Over the plans without replicas, from the plan that is kept (none: HEFT's). *proved: none is shorter than what is
 * kept then. Does nothing more where the problem is too large for it. The schedule is left in any state. Returns CLO_OK
 * or CLO_ERR_MEMORY. */
clo_status clo_exact(clo_schedule *schedule, clo_budget *budget, clo_snapshot *best, bool *proved);

/* True if a replica could save a transfer: then a proof without replicas is none with them. */
bool clo_schedule_could_replicate(const clo_schedule *schedule);

/* climb.c: moves on the longest path, and parts built again, where a sketch fits. */

/* From the plan that is kept in *best until the budget is gone. sketch: its tables; what is placed there is not touched.
 * Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_climb(clo_sketch *sketch, clo_budget *budget, clo_snapshot *best);

/* anneal.c: simulated annealing on order and placement, where none fits. */

/* From the plan that is kept in *best. Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_anneal(clo_schedule *schedule, clo_budget *budget, clo_snapshot *best);

#endif
