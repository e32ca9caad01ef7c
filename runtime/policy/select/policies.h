/* policy/select/policies.h - the built-in policies, one a file; policy/registry.c lists them. */
#ifndef CLO_POLICY_SELECT_POLICIES_H
#define CLO_POLICY_SELECT_POLICIES_H

#include "library.h"
#include "policy/select/select.h"

extern CLO_INTERNAL const clo_policy clo_policy_fifo;
extern CLO_INTERNAL const clo_policy clo_policy_rank;
extern const clo_policy clo_policy_eft;
extern const clo_policy clo_policy_steal;
extern CLO_INTERNAL const clo_policy clo_policy_fair;
extern CLO_INTERNAL const clo_policy clo_policy_edf;
extern const clo_policy clo_policy_deft;
extern const clo_policy clo_policy_decima;
extern const clo_policy clo_policy_decima_fifo;
extern const clo_policy clo_policy_decima_fair;
extern const clo_policy clo_policy_decima_wfair;
extern CLO_INTERNAL const clo_policy clo_policy_sjf;
extern CLO_INTERNAL const clo_policy clo_policy_sjf_cp;
extern CLO_INTERNAL const clo_policy clo_policy_hrrn;
extern CLO_INTERNAL const clo_policy clo_policy_wfair;
extern const clo_policy clo_policy_parametric;
extern const clo_policy clo_policy_easy_parametric;
extern const clo_policy clo_policy_auto;
extern const clo_policy clo_policy_wspt;
extern const clo_policy clo_policy_strict_sjf;
extern const clo_policy clo_policy_easy_sjf;
extern const clo_policy clo_policy_conservative_sjf;
extern const clo_policy clo_policy_follow;
extern const clo_policy clo_policy_mdd;
extern const clo_policy clo_policy_synchpack_1;
extern const clo_policy clo_policy_synchpack_2;
extern const clo_policy clo_policy_synchpack_3;
extern const clo_policy clo_policy_psrs;
extern const clo_policy clo_policy_tetris_weighted;
extern const clo_policy clo_policy_jsq_maxweight;
extern CLO_INTERNAL const clo_policy clo_policy_drf;
extern CLO_INTERNAL const clo_policy clo_policy_capacity;
extern const clo_policy clo_policy_tetris;
extern const clo_policy clo_policy_graphene;
extern const clo_policy clo_policy_graphene_star;
extern const clo_policy clo_policy_replan;

/* Need an argument, so they are not in the list of those that anybody may take; policy/registry.c. */
extern const clo_policy clo_policy_lachesis;
extern const clo_policy clo_policy_residual;
extern const clo_policy clo_policy_easy_residual;

/* Those that only select; placement/two_phase.c lists them. */
extern CLO_INTERNAL const clo_selector clo_selector_fifo;
extern CLO_INTERNAL const clo_selector clo_selector_fair;
extern CLO_INTERNAL const clo_selector clo_selector_edf;
extern CLO_INTERNAL const clo_selector clo_selector_rank;
extern CLO_INTERNAL const clo_selector clo_selector_sjf;
extern CLO_INTERNAL const clo_selector clo_selector_sjf_cp;
extern CLO_INTERNAL const clo_selector clo_selector_hrrn;
extern CLO_INTERNAL const clo_selector clo_selector_wfair;
extern CLO_INTERNAL const clo_selector clo_selector_drf;
extern CLO_INTERNAL const clo_selector clo_selector_capacity;
extern const clo_selector clo_selector_replan;
extern const clo_selector clo_selector_decima;
extern const clo_selector clo_selector_task_fifo;
extern const clo_selector clo_selector_task_sjf;
extern const clo_selector clo_selector_task_hrrn;
extern const clo_selector clo_selector_mdd;

#endif
