/* owed.h - what Graphene owes its groups, read from outside: how far the deficits of a run rise, and their bound; and
 * between how much it can choose. */
#ifndef CLO_BENCH_OWED_H
#define CLO_BENCH_OWED_H

#include <clotho/policy.h>

/* In shares of the cluster. */
typedef struct owed {
    double most;      /* the largest deficit of a group with live jobs, over all decisions */
    double bound;     /* the threshold and the largest grant: no deficit may be above it */
    double above;     /* the part of the decisions at which some deficit was above the threshold, so that kappa binds */
    uint64_t decided; /* decisions */
    /* Of the decisions that start something: their number, how many ready stages they have in the mean and how many of
     * these fit now, and the part at which two or more fit. Counted where that was asked for. */
    uint64_t started;
    double ready, fit, several;
    bool has_risen; /* a deficit was above its bound */
} owed;

/* The policy "graphene" with an eye on it: what it decides is the same. */
const clo_policy *owed_policy(void);

/* From now on, for all threads: what fits is counted. It takes time, so the rate of such runs says nothing. */
void owed_count_choices(void);

/* What the runs of this thread with that policy have shown since the last call. */
owed owed_take(void);

#endif
