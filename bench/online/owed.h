/* owed.h - what Graphene owes its groups, read from outside: how far the deficits of a run rise, and their bound. */
#ifndef CLO_BENCH_OWED_H
#define CLO_BENCH_OWED_H

#include <clotho/policy.h>

/* In shares of the cluster. */
typedef struct owed {
    double most;      /* the largest deficit of a group with live jobs, over all decisions */
    double bound;     /* the threshold and the largest grant: no deficit may be above it */
    double above;     /* the part of the decisions at which some deficit was above the threshold, so that kappa binds */
    uint64_t decided; /* decisions */
    bool has_risen;   /* a deficit was above its bound */
} owed;

/* The policy "graphene" with an eye on it: what it decides is the same. */
const clo_policy *owed_policy(void);

/* What the runs of this thread with that policy have shown since the last call. */
owed owed_take(void);

#endif
