/* plan/synch/order.h - orders of jobs: the primal-dual reverse rule, LP3, by a key; and the bound without LP. */
#ifndef CLO_PLAN_SYNCH_ORDER_H
#define CLO_PLAN_SYNCH_ORDER_H

#include "plan/synch_lp/lp.h"
#include "plan/synch_lp/problem.h"

/* Loads of jobs on bins, [jobs * bins]; a kind that may run on several groups is spread evenly over the fastest of
 * them. NULL: no memory. Released with clo_free. */
int64_t *clo_synch_job_loads(const clo_synch_scope *scope);

/* The reverse rule for concurrent open shop (Mastrolilli et al. 2010): the job that goes last is the one with the least
 * weight per load on the bin with the largest load; its share is taken from the weights of the others. O(jobs * (jobs +
 * bins)). order [jobs] is written; jobs without tasks go first. */
clo_status clo_synch_reverse_order(const clo_synch_scope *scope, const int64_t *loads, uint32_t *order);

/* Rising key; equal ones by index. False: no memory. */
bool clo_synch_order_by(const int64_t *key, uint32_t count, uint32_t *order);

/* LP3: order by the completion times of the LP that knows pairs of jobs. */
clo_status clo_synch_pair_order(const clo_synch_scope *scope, const int64_t *loads, uint32_t seconds, uint32_t *order,
                                int64_t *bound, clo_lp_size *size);

/* clo_synch_figures.free_bound. False: no memory. */
bool clo_synch_free_bound(const clo_synch_problem *problem, int64_t *bound);

#endif
