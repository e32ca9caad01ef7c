/* plan/pick/ready_bound.h - what the scores below a node of the tree of ready tasks can be at most. */
#ifndef CLO_PLAN_PICK_READY_BOUND_H
#define CLO_PLAN_PICK_READY_BOUND_H

#include "plan/pick/ready_fit.h"

/* Computes above, tie, deciding and lowering of a node. Where a demand forbids an upper bound of an end, everything is
 * possible. */
void clo_ready_bound(const clo_ready_tree *tree, uint32_t at);

/* For a node whose score is certain: it is exact as soon as the gain is known. */
void clo_ready_take_gain(const clo_ready_tree *tree, uint32_t at);

#endif
