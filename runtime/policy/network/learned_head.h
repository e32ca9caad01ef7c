/* policy/network/learned_head.h - the state of the policy `lachesis`, for tests and benchmarks that look into it. */
#ifndef CLO_POLICY_NETWORK_LEARNED_HEAD_H
#define CLO_POLICY_NETWORK_LEARNED_HEAD_H

#include "learn/jobs/ready.h"

#include <clotho/policy.h>

typedef struct clo_learned_head {
    clo_head head;
    clo_scored set;
    /* Stages of the band were ready and had no room; they may still be. */
    bool is_short[CLO_BANDS_MAX];
} clo_learned_head;

/* What lies in the memory of a policy's state, and of a job's. */
clo_learned_head *clo_learned_head_of(void *state);
clo_head_job *clo_learned_head_job(void *job_state);

#endif
