/* plan/synch_lp/intervals.h - LP1 and LP2: in which interval of time, on which group, is which share of every kind. */
#ifndef CLO_PLAN_SYNCH_LP_INTERVALS_H
#define CLO_PLAN_SYNCH_LP_INTERVALS_H

#include "plan/synch_lp/lp.h"
#include "plan/synch_lp/problem.h"

enum { CLO_SYNCH_INTERVALS_MAX = 256 };

/* Intervals end at end[0] < end[1] < ... from the scope's now_ns; the one behind the last has no end. */
typedef struct clo_synch_intervals {
    uint32_t count;
    int64_t end[CLO_SYNCH_INTERVALS_MAX];
} clo_synch_intervals;

/* A share of a kind: so many tasks, in units of 1 / CLO_LP_ONE. */
typedef struct clo_synch_share {
    uint32_t kind, group, interval;
    int64_t amount;
} clo_synch_share;

typedef struct clo_synch_shares {
    clo_synch_intervals intervals;
    clo_synch_share *share; /* in order of kind, then of interval; those of one kind sum up to its tasks */
    size_t count;
    int64_t *completion; /* [jobs] what the LP says, from now_ns */
    int64_t bound;       /* on the weighted sum of completion times; from time 0 */
    clo_lp_size size;
} clo_synch_shares;

typedef struct clo_synch_lp_config {
    uint32_t grid_percent; /* 0: chosen */
    uint32_t seconds;
    bool is_preemptive; /* LP1, else LP2 */
    int64_t horizon_ns; /* from now_ns: where intervals end; any number gives a valid bound */
} clo_synch_lp_config;

clo_status clo_synch_shares_create(const clo_synch_scope *scope, const clo_synch_lp_config *config,
                                   clo_synch_shares *out);
void clo_synch_shares_destroy(clo_synch_shares *shares);

/* Gives every task a group and an interval by the shares: Shmoys and Tardos' rounding.
 *
 *   is_sped_up  true: of each share twice as much, until the kind is whole (the paper's slow motion by two).
 *   out         receives shares of whole tasks: `amount` is a number of tasks. Released with clo_free.
 *
 * Returns CLO_OK or CLO_ERR_MEMORY. */
clo_status clo_synch_round(const clo_synch_scope *scope, const clo_synch_shares *shares, bool is_sped_up,
                           clo_synch_share **out, size_t *count);

#endif
