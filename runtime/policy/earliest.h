/* policy/earliest.h - the placement of eft: where an instance is expected to finish first. */
#ifndef CLO_POLICY_EARLIEST_H
#define CLO_POLICY_EARLIEST_H

#include <clotho/policy.h>

/* Sets the executor of a choice whose job and stage are set: where an instance is expected to finish first, busy ones
 * included. O(executors * inputs). */
void clo_place_eft(const clo_view *view, clo_choice *choice);

#endif
