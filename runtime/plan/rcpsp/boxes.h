/* plan/rcpsp/boxes.h - ready tasks in a tree of boxes (a bounding volume hierarchy): each node knows the least and the
 * most that is demanded below it and the sums, so that a search passes at once what fits nowhere, what cannot win, and
 * what all fits.
 *
 * Tasks that a decision cannot tell apart but by their demands, their numbers, their own work and the machines that are
 * far from their inputs are of one group. The order of the leaves is settled once: by group, so that groups do not lie
 * among each other, along a curve through the demands (Morton 1966), so that neighbours demand much the same, and the
 * lowest of those that demand the same last, where the walk begins.
 *
 * The sums take the most memory: one for each different machine and each resource. So the lowest nodes have none where
 * that would be too much; what is below them is summed when it is asked for. */
#ifndef CLO_PLAN_RCPSP_BOXES_H
#define CLO_PLAN_RCPSP_BOXES_H

#include "base/carve.h"
#include "base/order/sort_keys.h"
#include "plan/rcpsp/problem.h"

typedef struct clo_box {
    uint32_t count;    /* tasks that are ready below; 0: nothing else is set */
    uint32_t first;    /* the lowest of them */
    uint32_t group;    /* that all of them are of; CLO_NONE: of several */
    bool is_uniform;   /* of one group, of equal demands and work, the same machines are far */
    uint64_t work;     /* of their own, the least */
    clo_u128 all_work; /* the sum */
} clo_box;

typedef struct clo_boxes {
    const clo_rcpsp *problem;
    /* Of tasks: both are of one group; and a hash that is equal for all of a group. Never change. */
    bool (*is_alike)(const void *context, uint32_t a, uint32_t b);
    uint64_t (*hash_of)(const void *context, uint32_t task);
    const void *context;
    uint32_t leaves, shapes;
    uint32_t *place;        /* [tasks of the graph] its leaf */
    uint32_t *task;         /* [tasks of the graph] of a leaf */
    uint32_t *shape_of;     /* [machines] those of equal capacities have one */
    uint32_t *machine_of;   /* [shapes] one of them */
    clo_box *nodes;         /* [2 * leaves] 1 is the root */
    uint64_t *least, *most; /* [2 * leaves * words] without guards */
    uint32_t summed;        /* nodes from here on have no sums */
    uint64_t *shares;       /* [summed * shapes * lanes] sums of clo_box_share */
    uint8_t *ways;          /* [2 * leaves * machines] CLO_BOX_NEAR, CLO_BOX_FAR or both: of some task below */
    uint32_t *group_of;     /* [tasks of the graph] */
    uint32_t *samples;      /* [groups_count] a task of each group */
    uint32_t *table;        /* [mask + 1] groups by hash; CLO_NONE: empty */
    uint32_t groups_count, mask;
    clo_sort_key *keys; /* [2 * tasks of the graph] scratch */
} clo_boxes;

enum { CLO_BOX_SHARE_BITS = 12, CLO_BOX_NEAR = 1, CLO_BOX_FAR = 2 };

/* Part of a capacity; 0 of none. */
static inline uint64_t clo_box_share(int64_t amount, int64_t capacity)
{
    return capacity > 0 ? (uint64_t)((amount << CLO_BOX_SHARE_BITS) / capacity) : 0;
}

/* Carves the arrays, with sums_max sums at most but those of the root; the caller sets is_alike, hash_of and context.
 * Then, with the memory there, all 0, clo_boxes_begin. */
void clo_boxes_carve(clo_boxes *boxes, const clo_rcpsp *problem, size_t sums_max, clo_block *block);
void clo_boxes_begin(clo_boxes *boxes);

/* The task is ready, with work of its own; ways: [machines] CLO_BOX_NEAR or CLO_BOX_FAR. O(machines * log tasks). */
void clo_boxes_add(clo_boxes *boxes, uint32_t task, const uint8_t *ways, uint64_t work);

/* It is not any more. */
void clo_boxes_take(clo_boxes *boxes, uint32_t task);

/* The sums of a node are known: they are kept, or all tasks below demand the same. */
static inline bool clo_boxes_has_sums(const clo_boxes *boxes, uint32_t node)
{
    return node < boxes->summed || boxes->nodes[node].is_uniform;
}

/* One of them, for a machine of that shape and a lane. */
uint64_t clo_boxes_sum(const clo_boxes *boxes, uint32_t node, uint32_t shape, uint32_t lane);

/* The walk over the tree, from the last leaf to the first: after the node with all below it; 0: that was all. */
static inline uint32_t clo_boxes_after(uint32_t node)
{
    while ((node & 1) == 0)
        node /= 2;
    return node - 1;
}

#endif
