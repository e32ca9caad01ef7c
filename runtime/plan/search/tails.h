/* plan/search/tails.h - list schedules that know what follows: each looks at the way to the end in the one before. */
#ifndef CLO_PLAN_SEARCH_TAILS_H
#define CLO_PLAN_SEARCH_TAILS_H

#include "plan/budget/budget.h"
#include "plan/search/sketch.h"

/* Builds HEFT's plan, whatever the budget is, and computes the lower bound as clo_budget_bound does. Then looks for
 * shorter plans until `end_q16` of the budget is gone (clo_budget_part_q16) and a few passes are done, or all of it is
 * gone.
 *
 *   schedule  that of the sketch; its order[] is filled.
 *   best      receives the shortest plan; empty before.
 *   heft_ns   receives what HEFT's took.
 *
 * Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_tails(clo_sketch *sketch, clo_schedule *schedule, clo_budget *budget, uint32_t end_q16,
                     clo_snapshot *best, int64_t *heft_ns);

#endif
