/* returns.h - what the choices of an episode were worth: the jobs that lived from a decision on. */
#ifndef CLO_TOOLS_TRAIN_AGENT_RETURNS_H
#define CLO_TOOLS_TRAIN_AGENT_RETURNS_H

#include "train/agent/decision.h"

#include <clotho/stream.h>

/* Rollouts of one arrival sequence, of `jobs` jobs each. The return of a decision at t is minus the integral of the
 * number of live jobs from t on (Mao et al. 2019: the sum of all is minus the sum of the completion times). Later times
 * count e times less each `horizon_s` seconds, which leaves out what a decision of a long stream has no part in; 0: all
 * count the same. From it the baseline of the other rollouts at that time is taken (train/numbers/losses.h), in which
 * the mean rate of a stream, the same in all of them, is cancelled. Advantages are divided by their deviation over the
 * rollouts.
 *   outcomes  [rollouts][jobs]
 * False: no memory. */
bool returns_to_advantages(episode *rollouts, uint32_t count, const clo_stream_outcome *outcomes, uint32_t jobs,
                           double horizon_s);

#endif
