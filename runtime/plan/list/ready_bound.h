/* plan/list/ready_bound.h - what the scores below a node of the tree of ready tasks can be at most. */
#ifndef CLO_PLAN_LIST_READY_BOUND_H
#define CLO_PLAN_LIST_READY_BOUND_H

#include "plan/list/ready_box.h"

/* The two earliest ends, and their executors. */
typedef struct clo_ready_ends {
    int64_t first_ns, second_ns;
    uint32_t first, second;
} clo_ready_ends;

static const clo_ready_ends clo_ready_no_ends = {INT64_MAX, INT64_MAX, CLO_NONE, CLO_NONE};

static inline void clo_ready_take_end(clo_ready_ends *found, uint32_t executor, int64_t end_ns)
{
    if (end_ns < found->first_ns) {
        found->second_ns = found->first_ns;
        found->second = found->first;
        found->first_ns = end_ns;
        found->first = executor;
    } else if (end_ns < found->second_ns) {
        found->second_ns = end_ns;
        found->second = executor;
    }
}

/* Computes above, tie, deciding and lowering of a node. Where a demand forbids an upper bound of an end, everything is
 * possible. */
void clo_ready_bound(const clo_ready_tree *tree, uint32_t at);

/* Where ends have only lower bounds (CLO_PICK_LEAST), these hold for ever: takes what is known below a node into its
 * bound. */
void clo_ready_pull_up(const clo_ready_tree *tree, uint32_t at);

/* For a node with demands: true if the slot that its bound comes from (CLO_PICK_LARGEST) is still there. */
bool clo_ready_bound_holds(const clo_ready_tree *tree, uint32_t at);

/* For a node whose score is certain: it is exact as soon as the gain is known. */
void clo_ready_take_gain(const clo_ready_tree *tree, uint32_t at);

#endif
