/* policy/decima/decima.h - the functions of a policy of Decima's simulator, which differs from the others in `room`
 * alone. The rules stand in decima_state.h. */
#ifndef CLO_POLICY_DECIMA_DECIMA_H
#define CLO_POLICY_DECIMA_DECIMA_H

#include "policy/decima/decima_state.h"

size_t clo_decima_bytes(const clo_limits *limits, const void *argument);
size_t clo_decima_job_bytes(const clo_cost *cost, const void *argument);
clo_status clo_decima_init(void *state, const clo_view *view, clo_decima_room_fn room);
void clo_decima_event(void *state, const clo_view *view, const clo_event *event);
bool clo_decima_decide(void *state, const clo_view *view, clo_choice *choice);

/* What all their descriptors say alike; the rest is name, summary, init, and what reads an argument. */
#define CLO_DECIMA_POLICY                                                                           \
    .size = sizeof(clo_policy), .state_bytes = clo_decima_bytes, .job_bytes = clo_decima_job_bytes, \
    .event = clo_decima_event, .decide = clo_decima_decide, .moves = 1

#endif
