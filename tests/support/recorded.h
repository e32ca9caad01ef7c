/* recorded.h - a run on real threads, and the same run decided again in the simulator. */
#ifndef CLO_TEST_RECORDED_H
#define CLO_TEST_RECORDED_H

#include <clotho/clotho.h>

/* The same executions at the same times, skipped or not, with the same arms; they may stand in another order. */
void same_events(const clo_trace *a, const clo_trace *b);

/* Runs a job twice as fast as it goes, hands the trace of the second run to `check`, and replays it in the simulator,
 * without the bodies and with them: every decision, every arm and the output are equal. No plan and no policy: work
 * stealing. `seed` is for messages. */
void record_and_replay(const clo_cost *cost, const clo_plan *plan, const clo_policy *policy, uint64_t seed,
                       void (*check)(const void *context, const clo_trace *recorded), const void *context);

#endif
