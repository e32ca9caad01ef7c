/* policy/placement/planned.h - what policies take from a plan that `prepare` makes: of each stage when its first
 * instance starts. Off the turn, on the submitter's thread; takes scratch for the time of the planning
 * (clo_arena_scratch_open). */
#ifndef CLO_POLICY_PLACEMENT_PLANNED_H
#define CLO_POLICY_PLACEMENT_PLANNED_H

#include "policy/placement/enforced.h"

#include <clotho/planner.h>

/* Plans the job on an empty platform, no task twice.
 *
 *   start_ns  [tasks] receives the start of the first instance of each.
 *   executor  [tasks] receives the executor of each of one instance, CLO_NONE of others; NULL: not wanted.
 *   enforced  open; receives all instances; NULL: not wanted.
 *
 * Returns what clo_plan_create returns. */
clo_status clo_planned(const clo_cost *cost, const clo_planner *planner, uint64_t schedules, int64_t *start_ns,
                       uint32_t *executor, clo_enforced *enforced);

#endif
