/* policy/select/deficits.h - Graphene's deficit counters (OSDI 2016, section 5): what the cluster owes each group, so
 * that packing may favour some groups for a while, and never for long.
 *
 * n groups have live jobs, each has a share of 1/n. A grant of the amount f to one group adds f/n to the deficit of
 * each other group that could have been granted something instead, and takes the sum of these from the group that got
 * it. A group accrues nothing while it has nothing that fits. If some deficit is above a threshold (kappa * cluster),
 * only the group with the largest deficit, of those that have something that fits, may be granted something
 * (clo_deficits_choose).
 *
 * Then no deficit ever exceeds the threshold by more than the largest single grant F. Let S(k) be the sum of the k
 * largest excesses over the threshold; S(k) <= k (n - k) F / n holds by induction: while nothing is above the
 * threshold, at most n - 1 deficits grow, by F/n each; else the largest deficit of those that fit pays for whatever
 * grows. k = 1 is the claim. (Where groups come and go n changes, so what is above the threshold is forgiven when one
 * goes; and when a group has nothing to start.) Deviation from the paper: there the served group pays f (1 - 1/n),
 * and all others get f/n. */
#ifndef CLO_POLICY_SELECT_DEFICITS_H
#define CLO_POLICY_SELECT_DEFICITS_H

#include "library.h"
#include <clotho/policy.h>

/* Groups count modulo this. */
#define CLO_DEFICIT_GROUPS 64u

typedef struct clo_deficits {
    int64_t threshold;
    int64_t largest_grant; /* so far */
    uint32_t groups;       /* with live jobs */
    uint32_t jobs[CLO_DEFICIT_GROUPS];
    int64_t owed[CLO_DEFICIT_GROUPS];
} clo_deficits;

/* A job of the group comes, goes. O(1); O(groups) where its last one goes. */
CLO_INTERNAL void clo_deficits_join(clo_deficits *deficits, uint32_t group);
CLO_INTERNAL void clo_deficits_leave(clo_deficits *deficits, uint32_t group);

/* The group has nothing to start. O(1). */
CLO_INTERNAL void clo_deficits_rest(clo_deficits *deficits, uint32_t group);

/* Of the groups in the set `fits`, which is not empty, the one that alone may be served; CLO_NONE: any of them may.
 * O(groups). */
CLO_INTERNAL uint32_t clo_deficits_choose(const clo_deficits *deficits, uint64_t fits);

/* `group`, of the set `fits`, is granted `amount` >= 0. O(groups). */
CLO_INTERNAL void clo_deficits_grant(clo_deficits *deficits, uint32_t group, uint64_t fits, int64_t amount);

#endif
