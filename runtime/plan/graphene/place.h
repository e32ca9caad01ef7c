/* plan/graphene/place.h - BuildSchedule of Graphene for one candidate of troublesome stages. */
#ifndef CLO_PLAN_GRAPHENE_PLACE_H
#define CLO_PLAN_GRAPHENE_PLACE_H

#include "base/order/heap.h"
#include "plan/graphene/parts.h"
#include "plan/graphene/space.h"

/* The scratch of one thread, and the best it found for the part at hand. */
typedef struct clo_graphene {
    const clo_parts *parts;
    clo_space work, trouble, best;
    /* INT64_MAX: nothing yet. */
    int64_t best_ns;
    uint32_t best_round;
    /* Of the round at hand. */
    bool by_way;
    clo_heap heap;
    /* [stages] others of the subset that come first and are not placed; instances that are not */
    uint32_t *waits_for, *left;
    void *block;
} clo_graphene;

/* Safe to close after a failure. */
clo_status clo_graphene_open(clo_graphene *graphene, const clo_parts *parts);
void clo_graphene_close(clo_graphene *graphene);

/* Forgets what was found for the part before. */
void clo_graphene_begin(clo_graphene *graphene);

/* Tries all orders of the subsets of one candidate; keeps what is shorter than the best so far. Rounds 0 ..
 * candidates - 1: the paper's, inside a subset the longest time goes first; the next `candidates` rounds: the
 * longest path, our addition. */
void clo_graphene_build(clo_graphene *graphene, const clo_part *part, uint32_t round);

#endif
