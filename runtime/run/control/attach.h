/* run/control/attach.h - jobs with a policy come to the runtime's scheduler, and leave it; its policy is exchanged. */
#ifndef CLO_RUN_CONTROL_ATTACH_H
#define CLO_RUN_CONTROL_ATTACH_H

#include "run/state/job.h"

/* What the scheduler of a runtime takes, beside the states of policies. */
size_t clo_scheduling_bytes(const clo_platform *platform, uint32_t jobs_max, clo_clock clock);

void clo_scheduling_init(clo_runtime *runtime);

/* Opens the place for states that is not in use. */
void clo_scheduling_open_states(const clo_runtime *runtime, clo_arena *arena);

/* CLO_ERR_LIMIT: that much does not fit into the place. */
clo_status clo_scheduling_check_states(const clo_runtime *runtime, const clo_policy *policy, size_t bytes);

/* The states in `arena` are in use now, and those of before are not any more. */
void clo_scheduling_keep_states(clo_runtime *runtime, const clo_arena *arena);

/* The job is made, or has failed: its maker does not use the policy and its argument any more. */
void clo_scheduling_made(clo_runtime *runtime, uint32_t version);

/* Until all who make a job under that policy are done; only when no more can come, with `swapping` held. */
void clo_scheduling_wait_for_makers(clo_runtime *runtime, uint32_t version);

/* One less. With `coming` held. */
void clo_scheduling_detach(clo_runtime *runtime);

void clo_scheduling_free(clo_runtime *runtime);

#endif
