/* heaps.c - see heaps.h. */
#include "policy/select/heaps.h"

static uint32_t rank_of(const clo_heaps_node *nodes, uint32_t node)
{
    return node != CLO_NONE ? nodes[node].rank : 0;
}

static bool is_before(const clo_heaps_node *a, const clo_heaps_node *b)
{
    return a->key != b->key ? a->key < b->key : a->tie < b->tie;
}

/* From `at` upwards: the shorter way to the right, ranks right. Ends where nothing changes; ranks fall by one a step at
 * least and are at most log2(nodes), so that is soon. */
static void mend(clo_heaps_node *nodes, uint32_t at)
{
    while (at != CLO_NONE) {
        clo_heaps_node *n = &nodes[at];
        if (rank_of(nodes, n->left) < rank_of(nodes, n->right)) {
            uint32_t left = n->left;
            n->left = n->right;
            n->right = left;
        }
        uint32_t rank = rank_of(nodes, n->right) + 1;
        if (rank == n->rank)
            break;
        n->rank = rank;
        at = n->parent;
    }
}

/* One heap of two; returns its root, without a parent. Goes down the ways to the right, then up again: O(log nodes). */
static uint32_t merge(clo_heaps_node *nodes, uint32_t a, uint32_t b)
{
    uint32_t root = CLO_NONE, last = CLO_NONE;

    while (a != CLO_NONE && b != CLO_NONE) {
        if (is_before(&nodes[b], &nodes[a])) {
            uint32_t other = a;
            a = b;
            b = other;
        }
        nodes[a].parent = last;
        if (last == CLO_NONE)
            root = a;
        else
            nodes[last].right = a;
        last = a;
        a = nodes[a].right;
    }
    uint32_t rest = a != CLO_NONE ? a : b;
    if (rest != CLO_NONE)
        nodes[rest].parent = last;
    if (last == CLO_NONE)
        return rest;
    nodes[last].right = rest;
    for (uint32_t at = last; at != CLO_NONE; at = nodes[at].parent) {
        clo_heaps_node *n = &nodes[at];
        if (rank_of(nodes, n->left) < rank_of(nodes, n->right)) {
            uint32_t left = n->left;
            n->left = n->right;
            n->right = left;
        }
        n->rank = rank_of(nodes, n->right) + 1;
    }
    return root;
}

void clo_heaps_put(clo_heaps_node *nodes, uint32_t *root, uint32_t node, int64_t key, uint64_t tie)
{
    nodes[node] = (clo_heaps_node){key, tie, CLO_NONE, CLO_NONE, CLO_NONE, 1};
    *root = merge(nodes, *root, node);
}

void clo_heaps_remove(clo_heaps_node *nodes, uint32_t *root, uint32_t node)
{
    clo_heaps_node *gone = &nodes[node];
    uint32_t parent = gone->parent, rest = merge(nodes, gone->left, gone->right);

    if (rest != CLO_NONE)
        nodes[rest].parent = parent;
    if (parent == CLO_NONE)
        *root = rest;
    else if (nodes[parent].left == node)
        nodes[parent].left = rest;
    else
        nodes[parent].right = rest;
    gone->rank = 0;
    gone->parent = gone->left = gone->right = CLO_NONE;
    mend(nodes, parent);
}

void clo_heaps_walk_open(clo_heaps_walk *walk, const clo_heaps_node *nodes, uint32_t root)
{
    walk->nodes = nodes;
    walk->taken = walk->ends_count = 0;
    if (root != CLO_NONE)
        walk->ends[walk->ends_count++] = root;
}

uint32_t clo_heaps_walk_next(clo_heaps_walk *walk)
{
    uint32_t first = 0;

    if (walk->ends_count == 0 || walk->taken == CLO_HEAPS_WALK_MAX)
        return CLO_NONE;
    for (uint32_t i = 1; i < walk->ends_count; i++)
        if (is_before(&walk->nodes[walk->ends[i]], &walk->nodes[walk->ends[first]]))
            first = i;
    uint32_t node = walk->ends[first];
    walk->ends[first] = walk->ends[--walk->ends_count];
    walk->taken++;
    if (walk->nodes[node].left != CLO_NONE)
        walk->ends[walk->ends_count++] = walk->nodes[node].left;
    if (walk->nodes[node].right != CLO_NONE)
        walk->ends[walk->ends_count++] = walk->nodes[node].right;
    return node;
}
