/* plan/planners.h - the planners, one a file; registry.c names them.
 *
 * A planner gets an open, empty draft and fills it. */
#ifndef CLO_PLAN_PLANNERS_H
#define CLO_PLAN_PLANNERS_H

#include "plan/schedule/budget.h"
#include "plan/schedule/schedule.h"

typedef struct clo_planner_row {
    const char *name, *summary;
    uint32_t copies_each; /* what clo_draft_open needs */
    /* Returns CLO_OK or CLO_ERR_MEMORY. */
    clo_status (*fill)(clo_draft *draft, const clo_plan_config *config);
} clo_planner_row;

/* NULL for an unknown name. Case, '-' and '_' do not count: "Min-Min" is minmin. */
const clo_planner_row *clo_planner_find(const char *name);

clo_status clo_heft_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_deft_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_serial_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_best_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_exact_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_cpop_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_peft_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_mct_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_met_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_olb_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_fastestnode_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_minmin_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_maxmin_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_duplex_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_sufferage_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_fcp_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_flb_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_etf_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_dls_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_heft_append_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_lookahead_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_fifo_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_sjf_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_hrrn_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_highrank_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_fifo_deft_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_sjf_deft_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_hrrn_deft_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_highrank_deft_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_deft_append_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_tds_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_tdca_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_dfrn_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_sgs_serial_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_sgs_parallel_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_sgs_serial_backward_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_sgs_parallel_backward_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_breadth_first_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_random_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_tetris_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_coffman_graham_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_strip_part_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_graphene_fill(clo_draft *draft, const clo_plan_config *config);
clo_status clo_graphene_paper_fill(clo_draft *draft, const clo_plan_config *config);

/* Places one instance, whose producers are placed, by DEFT: with a duplicate of its critical parent where that lets it
 * end first. Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_deft_place(clo_draft *draft, uint32_t instance);
/* The same on an executor that can run it. */
clo_status clo_deft_place_on(clo_draft *draft, uint32_t instance, uint32_t executor);
/* The same, but nothing starts before tail_ns[executor]; NULL: gaps are filled. */
clo_status clo_deft_place_behind(clo_draft *draft, uint32_t instance, const int64_t *tail_ns);

/* Simulated annealing on order and placement, from the plan that is kept; anneal.c. */
clo_status clo_anneal(clo_draft *draft, uint64_t seed, clo_budget *budget, clo_snapshot *best);

/* True if a replica could save a transfer: then a proof without replicas is none with them. */
bool clo_draft_could_replicate(const clo_draft *draft);

/* Branch and bound over the plans without replicas, from the plan that is kept (none: HEFT's); exact.c. *proved: none is
 * shorter than what is kept then. Does nothing more where the problem is too large for it. The draft is left in any
 * state. Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_exact(clo_draft *draft, clo_budget *budget, clo_snapshot *best, bool *proved);

/* DEFT as published, without the clean-up that clo_deft_fill adds. */
clo_status clo_deft_place_all(clo_draft *draft);

/* Drops copies whose data nobody reads, then moves every copy as early as possible on its executor, in order of
 * start. No copy ends later than before. Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_draft_tidy(clo_draft *draft);

/* Double justification, in rounds as long as the draft gets shorter, is above bound_ns and clo_clock_ns is below end_ns
 * (INT64_MAX: no limit); else it stays. Counts schedules. Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_draft_justify(clo_draft *draft, int64_t bound_ns, int64_t end_ns);

#endif
