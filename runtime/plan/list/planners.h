/* plan/list/planners.h - what this folder adds to the registry; each planner is described in its own file. */
#ifndef CLO_PLAN_LIST_PLANNERS_H
#define CLO_PLAN_LIST_PLANNERS_H

#include "plan/schedule/planner.h"

extern const clo_planner_desc clo_planner_heft;
extern const clo_planner_desc clo_planner_serial;
extern const clo_planner_desc clo_planner_cpop;
extern const clo_planner_desc clo_planner_peft;
extern const clo_planner_desc clo_planner_etf;
extern const clo_planner_desc clo_planner_dls;
extern const clo_planner_desc clo_planner_minmin;
extern const clo_planner_desc clo_planner_maxmin;
extern const clo_planner_desc clo_planner_duplex;
extern const clo_planner_desc clo_planner_sufferage;
extern const clo_planner_desc clo_planner_mct;
extern const clo_planner_desc clo_planner_met;
extern const clo_planner_desc clo_planner_olb;
extern const clo_planner_desc clo_planner_fastestnode;
extern const clo_planner_desc clo_planner_fcp;
extern const clo_planner_desc clo_planner_flb;
extern const clo_planner_desc clo_planner_heft_append;
extern const clo_planner_desc clo_planner_heft_expected;
extern const clo_planner_desc clo_planner_lookahead;
extern const clo_planner_desc clo_planner_fifo;
extern const clo_planner_desc clo_planner_sjf;
extern const clo_planner_desc clo_planner_hrrn;
extern const clo_planner_desc clo_planner_highrank;
extern const clo_planner_desc clo_planner_fifo_deft;
extern const clo_planner_desc clo_planner_sjf_deft;
extern const clo_planner_desc clo_planner_hrrn_deft;
extern const clo_planner_desc clo_planner_highrank_deft;

#endif
