/* trace/log_kinds.h - kinds of records that only a scheduler, its replay and its judges read, beside those of
 * clotho/log.h. */
#ifndef CLO_TRACE_LOG_KINDS_H
#define CLO_TRACE_LOG_KINDS_H

#include <clotho/log.h>

/* Inputs:
 *   ROOM      executor: index of a machine. Jobs outside this scheduler use its capacities too, so the answer to a
 *             question about them differs from what the scheduler's own executions alone would give. instance: number
 *             of the question since the input. value: the answer: 0 no or fits, 1 yes or kept for another stage, 2
 *             refused.
 *   TOGETHER  the scheduler was told the next input before it was asked for decisions about the one before.
 *   ENTER     job: the next CLO_LOG_PIECE of its stages without predecessors are ready, in order of their numbers.
 *             value: how many are not ready yet. So the arrival of a large job does not keep other inputs waiting.
 *   MORE      job (a cancelled one): the next CLO_LOG_PIECE of its ready stages leave the scheduler's lists. Until the
 *             last piece the job does not end, and nothing is decided about its band and lower ones. Without a job: the
 *             policy that came with SWAP is told of the next CLO_LOG_PIECE live jobs and ready stages. Until the last
 *             piece the policy is not asked, and the scheduler's own rule decides. Left out if one piece is enough.
 *
 * Outputs:
 *   KEEP      job, stage, executor: index of a machine. From here on this stage waits for capacity of that machine, in
 *             place of the stage that waited before. value: how many starts of other stages that demand capacity there
 *             have passed it, 0 or CLO_LOG_OVERTAKES. With the latter its demand is reserved: stages of its own and of
 *             lower bands get only what is left. Without a job: no stage waits there any more. */
#define CLO_LOG_PROTOCOL_KINDS(X) \
    X(ROOM, 10, "room")           \
    X(TOGETHER, 11, "together")   \
    X(ENTER, 13, "enter")         \
    X(MORE, 14, "more")           \
    X(KEEP, 24, "keep")

enum {
#define X(name, value, text) CLO_LOG_##name = value,
    CLO_LOG_PROTOCOL_KINDS(X)
#undef X
};

/* Starts that may pass the stage that waits for capacity of a machine (KEEP). */
#define CLO_LOG_OVERTAKES 64

#endif
