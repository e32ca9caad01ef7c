/* plan/pick/row.h - the ready tasks in a row, for rules that place the one with an extreme start or end next.
 *
 * Executions are appended. The *value* of a task on executor e is its start there, max(A(e), R(t, e)), or its end, that
 * and the time D(t, e): A when e has nothing more to do, R when the inputs are there. With demands it starts there or
 * later, where the capacities of the machine let it. Invariant: R and D never change while t is ready, A and what is in
 * use only rise, so a value never falls.
 *
 * A pick passes the whole row, and looks at all executors for those tasks only that may win:
 *   - where the least value wins, a key that was found before is a bound for ever. So is the time when the first
 *     executor is idle, plus the least time of the task;
 *   - without demands the two executors that were best are brought up to date. The earlier one is the best as long as
 *     it is before all others were at the last look;
 *   - with demands, what was found holds as long as its slot is free, and holes.h leaves tasks out without a search of
 *     the capacities.
 * For the least start, two heaps take the place of the pass, as long as capacities hold few tasks back.
 * Else O(ready) comparisons a pick, and O(executors) for each look. A tree of ready tasks would save comparisons where
 * thousands are ready; for some hundreds it does not pay (./dev bench planners). */
#ifndef CLO_PLAN_PICK_ROW_H
#define CLO_PLAN_PICK_ROW_H

#include "plan/pick/entry.h"

/* Fills an empty schedule, one task after the other. Returns CLO_OK or what clo_schedule_place does. */
clo_status clo_row_fill(clo_schedule *schedule, const clo_row_order *order);

#endif
