/* engine/program/capacity_order.h - in which order the executions of a plan take the capacities of a machine.
 *
 * Each resource of each machine is a queue in the plan's order of starts: an execution asks for what it demands only
 * when all that stand before it in the queues of its resources hold what they demand. So with the plan's times (or
 * shorter ones, Graham's anomalies included) nothing starts later than planned: when an execution is due, whoever holds
 * capacity is before it in the plan and holds it there at that time too, and all of them fit together. Greedy starts,
 * whatever fits first, have no such bound.
 *
 * A deep slot (program.h) is such a queue, too: what is to begin there begins in the order of the plan.
 *
 * Nobody waits for ever: the order of starts is one order for all queues, all inputs and all executors, so the first in
 * it that has not started waits for nothing but capacity. */
#ifndef CLO_ENGINE_PROGRAM_CAPACITY_ORDER_H
#define CLO_ENGINE_PROGRAM_CAPACITY_ORDER_H

#include "base/arena.h"
#include "engine/program/program.h"

#include <clotho/plan.h>

/* Bit r: on the executor the task demands some of resource r of the platform, of which the machine has only so much. */
uint32_t clo_capacity_order_demanded(const clo_program *program, uint32_t task, uint32_t executor);

/* Takes the rows of program->taken, where the graph has demands, or executions are on deep slots. placements:
 * [first_hedge], checked. Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_capacity_order_create(clo_program *program, const clo_placement *placements, clo_arena *arena);

/* Fills the rows, and counts them in program->needs. `arena` is for scratch.
 * Returns CLO_OK or CLO_ERR_MEMORY. O(executions * resources). */
clo_status clo_capacity_order_link(clo_program *program, clo_arena *arena);

#endif
