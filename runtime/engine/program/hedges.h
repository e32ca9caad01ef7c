/* engine/program/hedges.h - room for executions that the runtime itself may add: hedges
 * (clo_job_config.hedge_after_ns).
 *
 * Each execution of a hedged task, whether an original or a replica of a plan, has one hedge: a second execution of the
 * same instance, with an output buffer of its own. The two are a pair. A hedge releases nobody and waits for nobody:
 * whoever wins releases what the other one of the pair, the *first*, has in its row, and consumers read the winner's
 * output (clo_data.winner). Hedges have the highest numbers of all executions, from first_hedge on. */
#ifndef CLO_ENGINE_PROGRAM_HEDGES_H
#define CLO_ENGINE_PROGRAM_HEDGES_H

#include "base/arena.h"
#include "engine/program/program.h"

/* after_ns: [tasks]; NULL: nothing is hedged. A task that only one executor can run has no hedges. Mostly O(1), in the
 * worst case O(executors). */
bool clo_hedges_want(const clo_program *program, const int64_t *after_ns, uint32_t task);

/* Makes room for `count` hedges behind the executions that there are; `replica_of` comes with it, for all that are no
 * originals. Nothing where count is 0. Returns CLO_OK, CLO_ERR_LIMIT or CLO_ERR_MEMORY. */
clo_status clo_hedges_reserve(clo_program *program, uint64_t count, clo_arena *arena);

/* Pairs executions with hedges, in order; replica_of of all the others is there. */
void clo_hedges_pair(clo_program *program, const int64_t *after_ns);

#endif
