/* policy/policies.h - the built-in policies, one a file; registry.c lists them. */
#ifndef CLO_POLICY_POLICIES_H
#define CLO_POLICY_POLICIES_H

#include <clotho/policy.h>

extern const clo_policy clo_policy_fifo;
extern const clo_policy clo_policy_rank;
extern const clo_policy clo_policy_eft;
extern const clo_policy clo_policy_steal;
extern const clo_policy clo_policy_fair;
extern const clo_policy clo_policy_edf;
extern const clo_policy clo_policy_deft;
extern const clo_policy clo_policy_decima_fifo;
extern const clo_policy clo_policy_decima_fair;
extern const clo_policy clo_policy_decima_wfair;

#endif
