/* cost/bound/work.h - what the parts of the lower bound work on. bound.c calls the parts, they know this header. */
#ifndef CLO_COST_BOUND_WORK_H
#define CLO_COST_BOUND_WORK_H

#include "cost/cost.h"

/* How much each executor's time counts: Q62, the sum over executors is at most one. So fine, because a plan is proved
 * optimal by a bound that is equal to the last ns; times are below 2^61, products fit 128 bits. */
#define CLO_PRICE_BITS 62
typedef struct clo_prices {
    /* [executors] */
    uint64_t *of_executor;
    /* [columns] the smallest in the column */
    uint64_t *of_column;
} clo_prices;

/* The arrays that live during one call. */
typedef struct clo_bound_work {
    const clo_cost *cost;
    /* Weights are ns in Q<shift>. */
    uint32_t shift;
    /* [tasks] the fastest time of one instance */
    int64_t *fastest;
    /* [tasks] what all instances of it take at least: waves of the fastest time */
    int64_t *span;
    /* [tasks] no execution starts before it */
    int64_t *head;
    /* [tasks] the first one ends so long before all is done */
    int64_t *tail;
    /* [tasks] fastest + tail */
    int64_t *rest;
    /* [tasks] what all instances of a task add to the area */
    uint64_t *weight;
    /* [columns] for the ascent */
    uint64_t *load;
    /* [tasks] what an instance of a task holds of the measure at hand while it runs */
    uint64_t *use;
    clo_prices best, trial;
} clo_bound_work;

/* Tasks in an order. */
typedef struct clo_bound_item {
    uint64_t key;
    uint32_t task;
} clo_bound_item;

static inline void clo_bound_raise(int64_t *to, int64_t value)
{
    if (value > *to)
        *to = value;
}

/* A sum of weights in whole ns. */
static inline int64_t clo_bound_round_up(const clo_bound_work *work, uint64_t sum)
{
    return (int64_t)((sum >> work->shift) + ((sum & ((1ull << work->shift) - 1)) != 0));
}

#endif
