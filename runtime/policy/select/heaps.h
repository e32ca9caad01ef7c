/* policy/select/heaps.h - many heaps over the same nodes, each node in one of them at most: leftist heaps (Crane 1972;
 * Knuth, The Art of Computer Programming, volume 3, section 5.2.3). Smallest key first, ties by `tie`. All memory is a
 * row for each node, however the nodes are divided. Put and remove: O(log nodes), also in the worst case. */
#ifndef CLO_POLICY_SELECT_HEAPS_H
#define CLO_POLICY_SELECT_HEAPS_H

#include "library.h"
#include <clotho/policy.h>

typedef struct clo_heaps_node {
    int64_t key;
    uint64_t tie;
    uint32_t left, right, parent; /* CLO_NONE: none */
    uint32_t rank;                /* nodes on the way along `right`, this one included; 0: in no heap */
} clo_heaps_node;

static inline bool clo_heaps_has(const clo_heaps_node *nodes, uint32_t node)
{
    return nodes[node].rank > 0;
}

/* Puts a node that is in no heap into the one whose root is *root (CLO_NONE: an empty one). */
CLO_INTERNAL void clo_heaps_put(clo_heaps_node *nodes, uint32_t *root, uint32_t node, int64_t key, uint64_t tie);

/* Takes a node out of its heap, whose root is *root. */
CLO_INTERNAL void clo_heaps_remove(clo_heaps_node *nodes, uint32_t *root, uint32_t node);

/* The first nodes of a heap, in order, without taking any off: CLO_HEAPS_WALK_MAX at most. */
enum { CLO_HEAPS_WALK_MAX = 32 };

typedef struct clo_heaps_walk {
    const clo_heaps_node *nodes;
    uint32_t taken, ends_count;
    uint32_t ends[CLO_HEAPS_WALK_MAX + 1]; /* nodes whose parents were taken */
} clo_heaps_walk;

CLO_INTERNAL void clo_heaps_walk_open(clo_heaps_walk *walk, const clo_heaps_node *nodes, uint32_t root);

/* The next node; CLO_NONE: none is left, or enough were taken. O(nodes taken so far). */
CLO_INTERNAL uint32_t clo_heaps_walk_next(clo_heaps_walk *walk);

#endif
