/* plan/schedule/profile_take.c - takes amounts of a profile: steps are cut, nodes split, and what is in use below each
 * entry is brought up to date. */
#include "base/memory.h"
#include "plan/schedule/profile_nodes.h"

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
static int reserve_nodes(const clo_profile *profile, clo_profile_nodes *nodes, uint32_t level, uint32_t wanted)
{
    if (nodes->capacity - nodes->count >= wanted)
        return 0;
    size_t capacity = (size_t)nodes->capacity * 2 + wanted, count = nodes->count;
    size_t words = CLO_PROFILE_ENTRIES * clo_profile_words(profile, level) * sizeof *nodes->words;
    size_t held = (size_t)CLO_PROFILE_WINDOWS * CLO_PROFILE_ENTRIES * sizeof *nodes->held;
    size_t left = clo_profile_left_words(profile) * sizeof *nodes->left;

    if (capacity >= UINT32_MAX || !enlarge(&nodes->words, count * words, capacity, words) ||
        !enlarge(&nodes->counts, count * sizeof *nodes->counts, capacity, sizeof *nodes->counts))
        return -1;
    if (level == 0 &&
        (!enlarge(&nodes->held, count * held, capacity, held) || !enlarge(&nodes->left, count * left, capacity, left)))
        return -1;
    nodes->capacity = (uint32_t)capacity;
    return 0;
}

static uint32_t new_node(clo_profile *profile, uint32_t level)
{
    clo_profile_nodes *nodes = &profile->nodes[level > 0];

    assert(nodes->count < nodes->capacity);
    nodes->counts[nodes->count] = 0;
    if (level == 0) /* of steps that nobody looked at all may be left */
        memset(clo_profile_left(profile, nodes->count, 0, 0, 1), 0xff, clo_profile_left_words(profile) * 8);
    return nodes->count++;
}

/* What is in use below an inner entry, from its child's entries. */
static void refresh(const clo_profile *profile, uint32_t level, int64_t *entry)
{
    uint32_t n = profile->lanes;
    int64_t *most = entry + CLO_PROFILE_BELOW + n, *least = most + n;
    uint32_t child = (uint32_t)entry[CLO_PROFILE_CHILD], count = *clo_profile_count(profile, level - 1, child);

    for (uint32_t i = 0; i < count; i++) {
        const int64_t *below = clo_profile_entry(profile, level - 1, child, i);
        const int64_t *most_below = clo_profile_most(profile, level - 1, below);
        const int64_t *least_below = clo_profile_least(profile, level - 1, below);
        for (uint32_t k = 0; k < n; k++) {
            int64_t high = most_below[k] + entry[CLO_PROFILE_BELOW + k],
                    low = least_below[k] + entry[CLO_PROFILE_BELOW + k];
            most[k] = i == 0 || high > most[k] ? high : most[k];
            least[k] = i == 0 || low < least[k] ? low : least[k];
        }
    }
}

/* Moves the upper half of a full node to a new one, which is returned. */
static uint32_t split_node(clo_profile *profile, uint32_t level, uint32_t node)
{
    uint32_t other = new_node(profile, level), half = CLO_PROFILE_ENTRIES / 2;
    size_t each = clo_profile_words(profile, level);

    memcpy(clo_profile_entry(profile, level, other, 0), clo_profile_entry(profile, level, node, half),
           half * each * sizeof(int64_t));
    for (uint32_t w = 0; w < CLO_PROFILE_WINDOWS && level == 0; w++)
        memcpy(clo_profile_held(profile, other, w, 0), clo_profile_held(profile, node, w, half),
               half * sizeof(uint64_t));
    for (size_t i = 0; i < clo_profile_left_words(profile) && level == 0; i++)
        clo_profile_left(profile, other, 0, 0, 1)[i] = clo_profile_left(profile, node, 0, 0, 1)[i] >> half;
    *clo_profile_count(profile, level, node) = *clo_profile_count(profile, level, other) = half;
    return other;
}

/* Makes room for an entry at `at` in the sets of a leaf: it is in those of the entry before it. */
static void insert_left(const clo_profile *profile, uint32_t node, uint32_t at)
{
    uint64_t *left = clo_profile_left(profile, node, 0, 0, 1), before = (UINT64_C(1) << at) - 1;
    uint64_t last = before ^ before >> 1, is_first = at == 0; /* the entry before it; without one it is in all sets */
    size_t words = clo_profile_left_words(profile);

    for (size_t i = 0; i < words; i++)
        left[i] = (left[i] & before) | (left[i] & last) << 1 | (left[i] & ~before) << 1 | is_first;
}

/* Makes room for an entry at `at` in a node that has some. A step holds what the one before it does: see above. */
static int64_t *insert_at(clo_profile *profile, uint32_t level, uint32_t node, uint32_t at)
{
    uint32_t *count = clo_profile_count(profile, level, node);
    int64_t *entry = clo_profile_entry(profile, level, node, at);

    memmove(entry + clo_profile_words(profile, level), entry,
            (*count - at) * clo_profile_words(profile, level) * sizeof *entry);
    for (uint32_t w = 0; w < CLO_PROFILE_WINDOWS && level == 0; w++) {
        uint64_t *held = clo_profile_held(profile, node, w, at);
        memmove(held + 1, held, (*count - at) * sizeof *held);
        *held = at > 0 ? held[-1] : 0;
    }
    if (level == 0)
        insert_left(profile, node, at);
    ++*count;
    return entry;
}

/* The old root and the node split off from it get a new root. */
static void grow_root(clo_profile *profile, uint32_t other)
{
    uint32_t level = profile->height + 1, root = new_node(profile, level);

    assert(level < CLO_PROFILE_LEVELS);
    for (uint32_t i = 0; i < 2; i++) {
        int64_t *entry = insert_at(profile, level, root, i);
        memset(entry, 0, clo_profile_words(profile, level) * sizeof *entry);
        entry[CLO_PROFILE_CHILD] = i == 0 ? profile->root : other;
        entry[CLO_PROFILE_TIME] =
            clo_profile_entry(profile, level - 1, (uint32_t)entry[CLO_PROFILE_CHILD], 0)[CLO_PROFILE_TIME];
        refresh(profile, level, entry);
    }
    profile->root = root;
    profile->height = level;
}

/* Puts `entry` behind the path's entry on `level`; nodes that are full are split, up to the root. What is in use does
 * not change, as the new step has what the one before it has. */
static void insert_behind(clo_profile *profile, const clo_profile_path *p, const int64_t *step)
{
    int64_t entry[CLO_PROFILE_BELOW + 3 * CLO_RESOURCES_MAX];

    memcpy(entry, step, clo_profile_words(profile, 0) * sizeof *entry);
    for (uint32_t level = 0;; level++) { /* to the first node with room */
        uint32_t node = p->node[level], at = p->at[level] + 1;
        if (*clo_profile_count(profile, level, node) < CLO_PROFILE_ENTRIES) {
            memcpy(insert_at(profile, level, node, at), entry, clo_profile_words(profile, level) * sizeof *entry);
            return;
        }
        uint32_t other = split_node(profile, level, node);
        bool is_upper = at > CLO_PROFILE_ENTRIES / 2;
        memcpy(insert_at(profile, level, is_upper ? other : node, is_upper ? at - CLO_PROFILE_ENTRIES / 2 : at), entry,
               clo_profile_words(profile, level) * sizeof *entry);
        if (level == profile->height) {
            grow_root(profile, other);
            return;
        }
        /* The entry for `other`: beside the one for `node`, which adds the same to both. */
        int64_t *mine = clo_profile_entry(profile, level + 1, p->node[level + 1], p->at[level + 1]);
        for (uint32_t w = 0; w < CLO_PROFILE_WINDOWS; w++)
            mine[CLO_PROFILE_HELD + w] &= INT64_MAX; /* half a node may hold more */
        memcpy(entry, mine, clo_profile_words(profile, level + 1) * sizeof *entry);
        entry[CLO_PROFILE_TIME] = clo_profile_entry(profile, level, other, 0)[CLO_PROFILE_TIME];
        entry[CLO_PROFILE_CHILD] = other;
        refresh(profile, level + 1, mine);
        refresh(profile, level + 1, entry);
    }
}

/* Makes a step begin at time_ns, with what is in use there. The memory is there. */
static void cut(clo_profile *profile, int64_t time_ns, const int64_t *demand)
{
    clo_profile_path p = {0};

    clo_profile_descend(profile, time_ns, demand, &p);
    const int64_t *here = clo_profile_entry(profile, 0, p.node[0], p.at[0]);
    if (here[CLO_PROFILE_TIME] == time_ns)
        return;
    int64_t step[1 + CLO_RESOURCES_MAX];
    memcpy(step, here, clo_profile_words(profile, 0) * sizeof *step);
    step[CLO_PROFILE_TIME] = time_ns;
    insert_behind(profile, &p, step);
}

/* Adds the demand to the entries first .. end-1 of a node. */
static void add_to(clo_profile *profile, uint32_t level, uint32_t node, uint32_t first, uint32_t end,
                   const int64_t *demand)
{
    for (uint32_t i = first; i < end; i++) {
        int64_t *words = clo_profile_entry(profile, level, node, i) + (level == 0 ? 1 : CLO_PROFILE_BELOW);
        for (uint32_t at = 0; at < (level == 0 ? 1u : 3u); at++, words += profile->lanes)
            for (uint32_t k = 0; k < profile->counted_count; k++)
                words[k] += demand[profile->counted[k]];
    }
}

/* Adds the demand to all steps from the one at *from to the one before *to. */
static void add_between(clo_profile *profile, const clo_profile_path *from, const clo_profile_path *to,
                        const int64_t *demand)
{
    uint32_t level = 0;

    for (; from->node[level] != to->node[level]; level++) { /* at the root they meet */
        uint32_t first = from->at[level] + (level > 0);
        add_to(profile, level, from->node[level], first, *clo_profile_count(profile, level, from->node[level]), demand);
        add_to(profile, level, to->node[level], 0, to->at[level], demand);
        refresh(profile, level + 1, clo_profile_entry(profile, level + 1, from->node[level + 1], from->at[level + 1]));
        refresh(profile, level + 1, clo_profile_entry(profile, level + 1, to->node[level + 1], to->at[level + 1]));
    }
    add_to(profile, level, from->node[level], from->at[level] + (level > 0), to->at[level], demand);
    for (level++; level <= profile->height; level++)
        refresh(profile, level, clo_profile_entry(profile, level, from->node[level], from->at[level]));
}

int clo_profile_take(clo_profile *profile, int64_t start_ns, int64_t finish_ns, const int64_t *demand)
{
    if (start_ns >= finish_ns || profile->counted_count == 0)
        return 0;
    /* Two cuts: each splits one node a level at most, and grows the root. */
    if (reserve_nodes(profile, &profile->nodes[0], 0, 3) != 0 ||
        reserve_nodes(profile, &profile->nodes[1], 1, 2 * (profile->height + 2)) != 0)
        return -1;
    if (profile->nodes[0].count == 0) {
        profile->root = new_node(profile, 0);
        profile->height = 0;
        memset(insert_at(profile, 0, profile->root, 0), 0, clo_profile_words(profile, 0) * sizeof(int64_t));
        if (profile->shortest_ns == 0) {
            profile->longest_ns = finish_ns - start_ns;
            profile->shortest_ns = profile->longest_ns / 4 + 1; /* shorter ones may come */
            clo_profile_set_windows(profile);
        }
    }
    clo_profile_path from = {0}, to = {0};

    cut(profile, start_ns, demand);
    cut(profile, finish_ns, demand);
    clo_profile_descend(profile, start_ns, demand, &from);
    clo_profile_descend(profile, finish_ns, demand, &to);
    add_between(profile, &from, &to, demand);
    return 0;
}
