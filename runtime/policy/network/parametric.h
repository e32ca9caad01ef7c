/* policy/network/parametric.h - the tuned parametric policy, for the policies that add to what it decides by. */
#ifndef CLO_POLICY_NETWORK_PARAMETRIC_H
#define CLO_POLICY_NETWORK_PARAMETRIC_H

#include "policy/network/parametric_argument.h"
#include "policy/network/residual_network.h"

/* As the functions of clo_policy. */
size_t clo_parametric_bytes(const clo_limits *limits, const void *argument);
void clo_parametric_event(void *state, const clo_view *view, const clo_event *e);
bool clo_parametric_decide(void *state, const clo_view *view, clo_choice *choice);

/* Fills the state, clo_parametric_bytes of zeros.
 *   given     copied; NULL: the built-in numbers.
 *   residual  adds to values, limits and bonuses; borrowed with the state. NULL: nothing does. */
void clo_parametric_open(void *state, const clo_view *view, const clo_parametric *given, clo_residual *residual);

#endif
