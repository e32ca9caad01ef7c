/* plan/schedule/occupancy_take.c - takes amounts of an occupancy: steps are cut, nodes split, and what is in use below each
 * entry is brought up to date. */
#include "base/memory.h"
#include "plan/schedule/occupancy_nodes.h"

#include <assert.h>
#include <string.h>

/* Moves `bytes` of *array into one of `capacity` bytes. False: there is no memory. */
static bool enlarge(void *array, size_t bytes, size_t capacity, size_t each)
{
    void **words = array, *larger = clo_allocate(capacity, each);

    if (larger == NULL)
        return false;
    if (bytes > 0)
        memcpy(larger, *words, bytes);
    clo_free(*words);
    *words = larger;
    return true;
}

/* Room for `wanted` more nodes. */
static int reserve_nodes(const clo_occupancy *occupancy, clo_occupancy_nodes *nodes, uint32_t level, uint32_t wanted)
{
    if (nodes->capacity - nodes->count >= wanted)
        return 0;
    size_t capacity = (size_t)nodes->capacity * 2 + wanted, count = nodes->count;
    size_t words = CLO_OCCUPANCY_ENTRIES * clo_occupancy_words(occupancy, level) * sizeof *nodes->words;
    size_t held = (size_t)CLO_OCCUPANCY_WINDOWS * CLO_OCCUPANCY_ENTRIES * sizeof *nodes->held;
    size_t left = clo_occupancy_left_words(occupancy) * sizeof *nodes->left;

    if (capacity >= UINT32_MAX || !enlarge(&nodes->words, count * words, capacity, words) ||
        !enlarge(&nodes->counts, count * sizeof *nodes->counts, capacity, sizeof *nodes->counts))
        return -1;
    if (level == 0 &&
        (!enlarge(&nodes->held, count * held, capacity, held) || !enlarge(&nodes->left, count * left, capacity, left)))
        return -1;
    nodes->capacity = (uint32_t)capacity;
    return 0;
}

static uint32_t new_node(clo_occupancy *occupancy, uint32_t level)
{
    clo_occupancy_nodes *nodes = &occupancy->nodes[level > 0];

    assert(nodes->count < nodes->capacity);
    nodes->counts[nodes->count] = 0;
    if (level == 0) /* of steps that nobody looked at all may be left */
        memset(clo_occupancy_left(occupancy, nodes->count, 0, 0, 1), 0xff, clo_occupancy_left_words(occupancy) * 8);
    return nodes->count++;
}

/* What is in use below an inner entry, from its child's entries. */
static void refresh(const clo_occupancy *occupancy, uint32_t level, int64_t *entry)
{
    uint32_t n = occupancy->lanes;
    int64_t *most = entry + CLO_OCCUPANCY_BELOW + n, *least = most + n;
    uint32_t child = (uint32_t)entry[CLO_OCCUPANCY_CHILD], count = *clo_occupancy_count(occupancy, level - 1, child);

    for (uint32_t i = 0; i < count; i++) {
        const int64_t *below = clo_occupancy_entry(occupancy, level - 1, child, i);
        const int64_t *most_below = clo_occupancy_most(occupancy, level - 1, below);
        const int64_t *least_below = clo_occupancy_least(occupancy, level - 1, below);
        for (uint32_t k = 0; k < n; k++) {
            int64_t high = most_below[k] + entry[CLO_OCCUPANCY_BELOW + k],
                    low = least_below[k] + entry[CLO_OCCUPANCY_BELOW + k];
            most[k] = i == 0 || high > most[k] ? high : most[k];
            least[k] = i == 0 || low < least[k] ? low : least[k];
        }
    }
}

/* Moves the upper half of a full node to a new one, which is returned. */
static uint32_t split_node(clo_occupancy *occupancy, uint32_t level, uint32_t node)
{
    uint32_t other = new_node(occupancy, level), half = CLO_OCCUPANCY_ENTRIES / 2;
    size_t each = clo_occupancy_words(occupancy, level);

    memcpy(clo_occupancy_entry(occupancy, level, other, 0), clo_occupancy_entry(occupancy, level, node, half),
           half * each * sizeof(int64_t));
    for (uint32_t w = 0; w < CLO_OCCUPANCY_WINDOWS && level == 0; w++)
        memcpy(clo_occupancy_held(occupancy, other, w, 0), clo_occupancy_held(occupancy, node, w, half),
               half * sizeof(uint64_t));
    for (size_t i = 0; i < clo_occupancy_left_words(occupancy) && level == 0; i++)
        clo_occupancy_left(occupancy, other, 0, 0, 1)[i] = clo_occupancy_left(occupancy, node, 0, 0, 1)[i] >> half;
    *clo_occupancy_count(occupancy, level, node) = *clo_occupancy_count(occupancy, level, other) = half;
    return other;
}

/* Makes room for an entry at `at` in the sets of a leaf: it is in those of the entry before it. */
static void insert_left(const clo_occupancy *occupancy, uint32_t node, uint32_t at)
{
    uint64_t *left = clo_occupancy_left(occupancy, node, 0, 0, 1), before = (UINT64_C(1) << at) - 1;
    uint64_t last = before ^ before >> 1, is_first = at == 0; /* the entry before it; without one it is in all sets */
    size_t words = clo_occupancy_left_words(occupancy);

    for (size_t i = 0; i < words; i++)
        left[i] = (left[i] & before) | (left[i] & last) << 1 | (left[i] & ~before) << 1 | is_first;
}

/* Makes room for an entry at `at` in a node that has some. A step holds what the one before it does: see above. */
static int64_t *insert_at(clo_occupancy *occupancy, uint32_t level, uint32_t node, uint32_t at)
{
    uint32_t *count = clo_occupancy_count(occupancy, level, node);
    int64_t *entry = clo_occupancy_entry(occupancy, level, node, at);

    memmove(entry + clo_occupancy_words(occupancy, level), entry,
            (*count - at) * clo_occupancy_words(occupancy, level) * sizeof *entry);
    for (uint32_t w = 0; w < CLO_OCCUPANCY_WINDOWS && level == 0; w++) {
        uint64_t *held = clo_occupancy_held(occupancy, node, w, at);
        memmove(held + 1, held, (*count - at) * sizeof *held);
        *held = at > 0 ? held[-1] : 0;
    }
    if (level == 0)
        insert_left(occupancy, node, at);
    ++*count;
    return entry;
}

/* The old root and the node split off from it get a new root. */
static void grow_root(clo_occupancy *occupancy, uint32_t other)
{
    uint32_t level = occupancy->height + 1, root = new_node(occupancy, level);

    assert(level < CLO_OCCUPANCY_LEVELS);
    for (uint32_t i = 0; i < 2; i++) {
        int64_t *entry = insert_at(occupancy, level, root, i);
        memset(entry, 0, clo_occupancy_words(occupancy, level) * sizeof *entry);
        entry[CLO_OCCUPANCY_CHILD] = i == 0 ? occupancy->root : other;
        entry[CLO_OCCUPANCY_TIME] =
            clo_occupancy_entry(occupancy, level - 1, (uint32_t)entry[CLO_OCCUPANCY_CHILD], 0)[CLO_OCCUPANCY_TIME];
        refresh(occupancy, level, entry);
    }
    occupancy->root = root;
    occupancy->height = level;
}

/* Puts `entry` behind the path's entry on `level`; nodes that are full are split, up to the root. What is in use does
 * not change, as the new step has what the one before it has. */
static void insert_behind(clo_occupancy *occupancy, const clo_occupancy_path *p, const int64_t *step)
{
    int64_t entry[CLO_OCCUPANCY_BELOW + 3 * CLO_RESOURCES_MAX];

    memcpy(entry, step, clo_occupancy_words(occupancy, 0) * sizeof *entry);
    for (uint32_t level = 0;; level++) { /* to the first node with room */
        uint32_t node = p->node[level], at = p->at[level] + 1;
        if (*clo_occupancy_count(occupancy, level, node) < CLO_OCCUPANCY_ENTRIES) {
            memcpy(insert_at(occupancy, level, node, at), entry, clo_occupancy_words(occupancy, level) * sizeof *entry);
            return;
        }
        uint32_t other = split_node(occupancy, level, node);
        bool is_upper = at > CLO_OCCUPANCY_ENTRIES / 2;
        memcpy(insert_at(occupancy, level, is_upper ? other : node, is_upper ? at - CLO_OCCUPANCY_ENTRIES / 2 : at),
               entry, clo_occupancy_words(occupancy, level) * sizeof *entry);
        if (level == occupancy->height) {
            grow_root(occupancy, other);
            return;
        }
        /* The entry for `other`: beside the one for `node`, which adds the same to both. */
        int64_t *mine = clo_occupancy_entry(occupancy, level + 1, p->node[level + 1], p->at[level + 1]);
        for (uint32_t w = 0; w < CLO_OCCUPANCY_WINDOWS; w++)
            mine[CLO_OCCUPANCY_HELD + w] &= INT64_MAX; /* half a node may hold more */
        memcpy(entry, mine, clo_occupancy_words(occupancy, level + 1) * sizeof *entry);
        entry[CLO_OCCUPANCY_TIME] = clo_occupancy_entry(occupancy, level, other, 0)[CLO_OCCUPANCY_TIME];
        entry[CLO_OCCUPANCY_CHILD] = other;
        refresh(occupancy, level + 1, mine);
        refresh(occupancy, level + 1, entry);
    }
}

/* Makes a step begin at time_ns, with what is in use there. The memory is there. */
static void cut(clo_occupancy *occupancy, int64_t time_ns, const int64_t *demand)
{
    clo_occupancy_path p = {0};

    clo_occupancy_descend(occupancy, time_ns, demand, &p);
    const int64_t *here = clo_occupancy_entry(occupancy, 0, p.node[0], p.at[0]);
    if (here[CLO_OCCUPANCY_TIME] == time_ns)
        return;
    int64_t step[1 + CLO_RESOURCES_MAX];
    memcpy(step, here, clo_occupancy_words(occupancy, 0) * sizeof *step);
    step[CLO_OCCUPANCY_TIME] = time_ns;
    insert_behind(occupancy, &p, step);
}

/* Adds the demand to the entries first .. end-1 of a node. */
static void add_to(clo_occupancy *occupancy, uint32_t level, uint32_t node, uint32_t first, uint32_t end,
                   const int64_t *demand)
{
    for (uint32_t i = first; i < end; i++) {
        int64_t *words = clo_occupancy_entry(occupancy, level, node, i) + (level == 0 ? 1 : CLO_OCCUPANCY_BELOW);
        for (uint32_t at = 0; at < (level == 0 ? 1u : 3u); at++, words += occupancy->lanes)
            for (uint32_t k = 0; k < occupancy->counted_count; k++)
                words[k] += demand[occupancy->counted[k]];
    }
}

/* Adds the demand to all steps from the one at *from to the one before *to. */
static void add_between(clo_occupancy *occupancy, const clo_occupancy_path *from, const clo_occupancy_path *to,
                        const int64_t *demand)
{
    uint32_t level = 0;

    for (; from->node[level] != to->node[level]; level++) { /* at the root they meet */
        uint32_t first = from->at[level] + (level > 0);
        add_to(occupancy, level, from->node[level], first, *clo_occupancy_count(occupancy, level, from->node[level]),
               demand);
        add_to(occupancy, level, to->node[level], 0, to->at[level], demand);
        refresh(occupancy, level + 1,
                clo_occupancy_entry(occupancy, level + 1, from->node[level + 1], from->at[level + 1]));
        refresh(occupancy, level + 1,
                clo_occupancy_entry(occupancy, level + 1, to->node[level + 1], to->at[level + 1]));
    }
    add_to(occupancy, level, from->node[level], from->at[level] + (level > 0), to->at[level], demand);
    for (level++; level <= occupancy->height; level++)
        refresh(occupancy, level, clo_occupancy_entry(occupancy, level, from->node[level], from->at[level]));
}

int clo_occupancy_take(clo_occupancy *occupancy, int64_t start_ns, int64_t finish_ns, const int64_t *demand)
{
    if (start_ns >= finish_ns || occupancy->counted_count == 0)
        return 0;
    /* Two cuts: each splits one node a level at most, and grows the root. */
    if (reserve_nodes(occupancy, &occupancy->nodes[0], 0, 3) != 0 ||
        reserve_nodes(occupancy, &occupancy->nodes[1], 1, 2 * (occupancy->height + 2)) != 0)
        return -1;
    if (occupancy->nodes[0].count == 0) {
        occupancy->root = new_node(occupancy, 0);
        occupancy->height = 0;
        memset(insert_at(occupancy, 0, occupancy->root, 0), 0, clo_occupancy_words(occupancy, 0) * sizeof(int64_t));
        if (occupancy->shortest_ns == 0) {
            occupancy->longest_ns = finish_ns - start_ns;
            occupancy->shortest_ns = occupancy->longest_ns / 4 + 1; /* shorter ones may come */
            clo_occupancy_set_windows(occupancy);
        }
    }
    clo_occupancy_path from = {0}, to = {0};

    cut(occupancy, start_ns, demand);
    cut(occupancy, finish_ns, demand);
    clo_occupancy_descend(occupancy, start_ns, demand, &from);
    clo_occupancy_descend(occupancy, finish_ns, demand, &to);
    add_between(occupancy, &from, &to, demand);
    return 0;
}
