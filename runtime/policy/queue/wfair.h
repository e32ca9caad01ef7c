/* policy/queue/wfair.h - the key of weighted fair sharing with an exponent (wfair.c), by which graphene-star and
 * decima-wfair share too. */
#ifndef CLO_POLICY_QUEUE_WFAIR_H
#define CLO_POLICY_QUEUE_WFAIR_H

#include "library.h"
#include "policy/select/argument.h"

#include <clotho/policy.h>

#define CLO_WFAIR_DEFAULT_Q16 (-65536)

/* The exponent: from -2 to 2. */
CLO_INTERNAL clo_status clo_wfair_read(const char **text, const char *policy, int32_t *alpha_q16);

/* alpha log2(T) of a job whose whole work is T, in Q16. O(tasks). */
CLO_INTERNAL int64_t clo_wfair_share_q16(const clo_cost *cost, int32_t alpha_q16);

/* The job with the smallest key goes first. O(1). */
CLO_INTERNAL int64_t clo_wfair_key(const clo_live_job *job, int64_t share_q16);

#endif
