/* cost/bound.h - shared by the two files of the lower bound. */
#ifndef CLO_COST_BOUND_H
#define CLO_COST_BOUND_H

#include "cost/cost.h"

/* How much each executor's time counts: Q62, the sum over executors is at most one. So fine, because a plan is proved
 * optimal by a bound that is equal to the last ns; times are below 2^61, products fit 128 bits. */
#define CLO_PRICE_BITS 62
typedef struct clo_prices {
    uint64_t *of_executor; /* [executors]                        */
    uint64_t *of_column;   /* [columns] the smallest in the column */
} clo_prices;

/* The work of the bound: arrays that live during one call. */
typedef struct clo_bound_work {
    const clo_cost *cost;
    uint32_t shift;   /* weights are ns in Q<shift>                               */
    int64_t *fastest; /* [tasks]                                                  */
    int64_t *head;    /* [tasks] longest chain of fastest times before the task   */
    int64_t *tail;    /* [tasks] the same after it                                */
    uint64_t *weight; /* [tasks] what all instances of a task add to the area     */
    uint64_t *load;   /* [columns] for the ascent                                 */
    clo_prices best, trial;
} clo_bound_work;

/* Fills work->weight for prices; returns their sum. */
uint64_t clo_bound_price(clo_bound_work *work, const clo_prices *prices);

/* Finds good prices: work->best. Returns the area in Q<shift>; weights are left undefined. */
uint64_t clo_bound_best_prices(clo_bound_work *work);

/* Every executor costs the same. */
void clo_bound_equal_prices(const clo_bound_work *work, clo_prices *prices);

#endif
