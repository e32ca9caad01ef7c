/* plan/synch/pack.h - SynchPack-2: plans without preemption. */
#ifndef CLO_PLAN_SYNCH_PACK_H
#define CLO_PLAN_SYNCH_PACK_H

#include "plan/synch/timeline.h"
#include "plan/synch_lp/intervals.h"

typedef struct clo_synch_settings {
    bool has_lp;
    bool has_free; /* beside it: the better plan of both forms is kept */
    uint32_t grid_percent, seconds;
} clo_synch_settings;

/* What a planner found out beside the plan. */
typedef struct clo_synch_found {
    int64_t bound;
    clo_lp_size size;
    uint32_t rounds;
} clo_synch_found;

/* Places all that is left of `scope` on `timeline`, which may hold batches already. On a failure the timeline is as
 * before or may only be destroyed. */
clo_status clo_synch_pack(const clo_synch_scope *scope, const clo_synch_settings *settings,
                          clo_synch_timeline *timeline, clo_synch_found *found);

/* The form without LP, whose order of jobs is not improved. */
clo_status clo_synch_pack_quickly(const clo_synch_scope *scope, clo_synch_timeline *timeline);

/* Online: whenever jobs arrive, all that has not started is planned anew, quickly; at `first_ns`, and again after
 * intervals that grow by growth_percent, thoroughly. */
clo_status clo_synch_pack_online(const clo_synch_problem *problem, const clo_synch_settings *settings, int64_t first_ns,
                                 uint32_t growth_percent, clo_synch_timeline *timeline, clo_synch_found *found);

/* The last finish of a timeline; 0 if it is empty. */
int64_t clo_synch_makespan(const clo_synch_timeline *timeline);

#endif
