#include "plan/schedule/profile.h"

#include "base/memory.h"

#include <assert.h>
#include <string.h>

enum {
    ENTRIES = 64,    /* of a node */
    LEVELS_MAX = 12, /* nodes are half full at least: 16^8 steps would fill 64 GiB */
    TIME = 0,        /* words of an entry: a leaf's are its time and what is in use; an inner one's are these five */
    CHILD = 1,
    HELD = 2,    /* [WINDOWS] at most what any step below holds from itself on */
    WINDOWS = 4, /* lengths for which a leaf remembers what is in use from a step on */
    NO_WINDOW = WINDOWS,
    BELOW = HELD + WINDOWS /* added to all below it, then the most, then the least in use: [lanes] each, the first
                              included */
};

/* Where a search stands: a node and an entry on each level, leaves are level 0; room[l]: what may be in use by an entry
 * of level l, without what the levels above add to it, for the demand to fit. */
typedef struct path {
    uint32_t node[LEVELS_MAX], at[LEVELS_MAX];
    int64_t room[LEVELS_MAX][CLO_RESOURCES_MAX];
    uint32_t window; /* the longest that is no longer than what is searched for; NO_WINDOW: all are longer */
    uint64_t packed; /* what may be in use of the machine, packed */
} path;

static size_t words_of(const clo_profile *profile, uint32_t level)
{
    return level == 0 ? 1 + profile->lanes : BELOW + 3 * profile->lanes;
}

static int64_t *entry_at(const clo_profile *profile, uint32_t level, uint32_t node, uint32_t at)
{
    return profile->nodes[level > 0].words + ((size_t)node * ENTRIES + at) * words_of(profile, level);
}

static uint64_t *held_at(const clo_profile *profile, uint32_t node, uint32_t window, uint32_t at)
{
    return profile->nodes[0].held + ((size_t)node * WINDOWS + window) * ENTRIES + at;
}

static uint32_t *count_of(const clo_profile *profile, uint32_t level, uint32_t node)
{
    return &profile->nodes[level > 0].counts[node];
}

/* The most and the least in use in or below an entry, without what the levels above add. */
static const int64_t *most_of(const clo_profile *profile, uint32_t level, const int64_t *entry)
{
    return level == 0 ? entry + 1 : entry + BELOW + profile->lanes;
}

static const int64_t *least_of(const clo_profile *profile, uint32_t level, const int64_t *entry)
{
    return level == 0 ? entry + 1 : entry + BELOW + 2 * profile->lanes;
}

/* What is held from a step on. Whoever starts there and runs for a window holds all steps that begin in it: so the most
 * of each resource in use in them is what must leave room. A word of `held` is at most that, as it was when somebody
 * looked last, for what is in use never becomes less; 0: nobody looked. It has a field for each lane. The highest bit
 * of a field is for comparisons; an amount is rounded down to what fits into the others.
 *
 * A step cut off from another holds at least what that one does: both hold the rest of it and what comes then, the new
 * one for longer. An inner entry has the least of each field below it, so searches pass whole leaves by it. It may be
 * too low. The highest bit of the word, which comparisons ignore, says that nobody looked since it was made. */
static uint32_t field_bits(const clo_profile *profile)
{
    return 64 / profile->lanes;
}

static int64_t field_max(const clo_profile *profile)
{
    return (INT64_C(1) << (field_bits(profile) - 1)) - 1;
}

/* The highest bits of all fields. */
static uint64_t guards_of(const clo_profile *profile)
{
    return profile->lanes == 4 ? UINT64_C(0x8000800080008000) : UINT64_C(0x8080808080808080);
}

/* Of amounts >= 0. */
static uint64_t pack(const clo_profile *profile, const int64_t *amounts)
{
    int64_t most = field_max(profile);
    uint64_t packed = 0;

    for (uint32_t k = 0; k < profile->counted_count; k++) {
        int64_t field = amounts[k] >> profile->shifts[k];
        packed |= (uint64_t)(field < most ? field : most) << k * field_bits(profile);
    }
    return packed;
}

void clo_profile_open(clo_profile *profile)
{
    profile->counted_count = 0;
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        if (profile->limits[r] >= 0)
            profile->counted[profile->counted_count++] = r;
    profile->lanes = profile->counted_count <= 4 ? 4 : CLO_RESOURCES_MAX;
    for (uint32_t k = 0; k < profile->counted_count; k++)
        for (profile->shifts[k] = 0; profile->limits[profile->counted[k]] >> profile->shifts[k] > field_max(profile);)
            profile->shifts[k]++;
}

bool clo_profile_admits(const clo_profile *profile, const int64_t *demand)
{
    for (int r = 0; r < CLO_RESOURCES_MAX; r++)
        if (profile->limits[r] >= 0 && demand[r] > profile->limits[r])
            return false;
    return true;
}

static void step_down(const clo_profile *profile, path *p, uint32_t level)
{
    const int64_t *entry = entry_at(profile, level, p->node[level], p->at[level]);

    for (uint32_t k = 0; k < profile->lanes; k++)
        p->room[level - 1][k] = p->room[level][k] - entry[BELOW + k];
    p->node[level - 1] = (uint32_t)entry[CHILD];
    p->at[level - 1] = 0;
}

/* To the last step with time <= time_ns; the first stands at 0, so there is one. */
static void descend(const clo_profile *profile, int64_t time_ns, const int64_t *demand, path *p)
{
    for (uint32_t k = 0; k < profile->lanes; k++)
        p->room[profile->height][k] =
            k < profile->counted_count ? profile->limits[profile->counted[k]] - demand[profile->counted[k]] : 0;
    p->node[profile->height] = profile->root;
    for (uint32_t level = profile->height;; level--) {
        uint32_t low = 0, high = *count_of(profile, level, p->node[level]);
        while (high - low > 1) {
            uint32_t middle = low + (high - low) / 2;
            if (entry_at(profile, level, p->node[level], middle)[TIME] <= time_ns)
                low = middle;
            else
                high = middle;
        }
        p->at[level] = low;
        if (level == 0)
            return;
        step_down(profile, p, level);
    }
}

/* Without a branch for each resource: a negative difference leaves its sign. */
static inline bool has_room(const int64_t *used, const int64_t *room, uint32_t lanes)
{
    int64_t lack = 0;

    for (uint32_t k = 0; k < 4; k++)
        lack |= room[k] - used[k];
    for (uint32_t k = 4; k < lanes; k++)
        lack |= room[k] - used[k];
    return lack >= 0;
}

/* True if somebody who starts at a step with this word may have room. */
static bool may_begin(uint64_t held, uint64_t room, uint64_t guards)
{
    return (((room | guards) - (held & ~guards)) & guards) == guards;
}

/* The lesser of each field of two words. */
static uint64_t least_fields(uint64_t a, uint64_t b, uint32_t bits, uint64_t guards)
{
    uint64_t is_less = ((b | guards) - a) & guards; /* the guards of fields where a is not above b */
    uint64_t mask = is_less - (is_less >> (bits - 1));

    return (a & mask) | (b & ~mask & ~guards);
}

static int64_t *held_below(const clo_profile *profile, const path *p, uint32_t level)
{
    return entry_at(profile, level, p->node[level], p->at[level]) + HELD + p->window;
}

/* No step of the path's node on `level` lets the demand begin: makes the word of the entry above it again, unless
 * nobody looked since. */
static void raise_held(const clo_profile *profile, const path *p, uint32_t level)
{
    if (level == profile->height || p->window == NO_WINDOW)
        return;
    int64_t *above = held_below(profile, p, level + 1);
    if (*above < 0)
        return;
    uint32_t count = *count_of(profile, level, p->node[level]), bits = field_bits(profile);
    uint64_t guards = guards_of(profile), least = ~guards;
    const uint64_t *held = held_at(profile, p->node[0], p->window, 0);

    for (uint32_t i = 0; i < count && level == 0; i++)
        least = least_fields(held[i], least, bits, guards);
    for (uint32_t i = 0; i < count && level > 0; i++)
        least = least_fields((uint64_t)entry_at(profile, level, p->node[level], i)[HELD + p->window] & ~guards, least,
                             bits, guards);
    *above = (int64_t)(least | UINT64_C(1) << 63);
    if (level + 1 < profile->height)
        *held_below(profile, p, level + 2) &= INT64_MAX;
}

/* The first entry of a node on `level` from the path's on whose time is not before end_ns, or that has no room. */
static uint32_t scan_full(const clo_profile *profile, const path *p, uint32_t level, uint32_t count, int64_t end_ns)
{
    const int64_t *entry = entry_at(profile, level, p->node[level], p->at[level]);
    const int64_t *most = most_of(profile, level, entry);
    size_t each = words_of(profile, level);
    uint32_t at = p->at[level];

    for (; at < count && entry[TIME] < end_ns; at++, entry += each, most += each)
        if (!has_room(most, p->room[level], profile->lanes))
            break;
    return at;
}

/* The same on an inner level: or that may have room for what begins there. */
static uint32_t scan_free(const clo_profile *profile, const path *p, uint32_t level, uint32_t count, int64_t end_ns)
{
    const int64_t *entry = entry_at(profile, level, p->node[level], p->at[level]);
    size_t each = words_of(profile, level), least = BELOW + 2 * profile->lanes;
    uint64_t guards = guards_of(profile), room = p->window == NO_WINDOW ? ~guards : p->packed;
    uint32_t window = p->window % WINDOWS, at = p->at[level];

    for (; at < count && entry[TIME] < end_ns; at++, entry += each)
        if (may_begin((uint64_t)entry[HELD + window], room, guards) &&
            has_room(entry + least, p->room[level], profile->lanes))
            break;
    return at;
}

/* From the step at *p on: the first one before end_ns where the demand does not fit; or (wants_room true), from the end
 * of a leaf on, the first one of the first leaf where it may fit. False: there is none. */
static bool search(const clo_profile *profile, path *p, int64_t end_ns, bool wants_room)
{
    for (uint32_t level = 0;;) { /* ends: each round goes down, or on in the order of time */
        uint32_t node = p->node[level], count = *count_of(profile, level, node);

        if (p->at[level] < count)
            p->at[level] =
                wants_room ? scan_free(profile, p, level, count, end_ns) : scan_full(profile, p, level, count, end_ns);
        if (p->at[level] < count) {
            if (entry_at(profile, level, node, p->at[level])[TIME] >= end_ns)
                return false;
            if (level == 0)
                return true;
            step_down(profile, p, level--);
            if (level == 0 && wants_room)
                return true;
        } else {
            if (level == profile->height)
                return false;
            if (wants_room && level > 0)
                raise_held(profile, p, level);
            p->at[++level]++;
        }
    }
}

/* The first step of a leaf from `at` on where the demand may begin; its count: none. */
static uint32_t next_start(const clo_profile *profile, const path *p, uint32_t at)
{
    uint32_t count = *count_of(profile, 0, p->node[0]);
    uint64_t guards = guards_of(profile), room = p->packed | guards;

    if (p->window == NO_WINDOW)
        return at;
    const uint64_t *held = held_at(profile, p->node[0], p->window, 0);
    while (at < count && ((room - held[at]) & guards) != guards)
        at++;
    return at;
}

/* The length of the window; 0: there is none. */
static int64_t window_ns(const clo_profile *profile, const path *p)
{
    return p->window == NO_WINDOW ? 0 : INT64_C(1) << (profile->octave + p->window);
}

/* The demand cannot begin at entry `at`, for want of room within the window: writes down what is in use in it, as far
 * as the leaf goes. */
static void note_held(const clo_profile *profile, const path *p, uint32_t at)
{
    uint32_t count = *count_of(profile, 0, p->node[0]);
    size_t each = words_of(profile, 0);
    const int64_t *entry = entry_at(profile, 0, p->node[0], at);
    int64_t most[CLO_RESOURCES_MAX] = {0}, end_ns = entry[TIME] + window_ns(profile, p);

    for (uint32_t i = at; i < count && entry[TIME] < end_ns; i++, entry += each)
        for (uint32_t k = 0; k < profile->counted_count; k++)
            most[k] = entry[1 + k] > most[k] ? entry[1 + k] : most[k];
    for (uint32_t k = 0; k < profile->counted_count; k++) /* and what the levels above add */
        most[k] += p->room[profile->height][k] - p->room[0][k];
    *held_at(profile, p->node[0], p->window, at) = pack(profile, most);
    if (profile->height > 0)
        *held_below(profile, p, 1) &= INT64_MAX;
}

/* Through the rest of a leaf, in one pass: where room has begun (*run_ns; -1: there is none here) at its end, or the
 * start that was wanted, as the result, else -1. */
static int64_t pass_leaf(const clo_profile *profile, const path *p, int64_t duration_ns, int64_t *run_ns)
{
    uint32_t count = *count_of(profile, 0, p->node[0]), lanes = profile->lanes, begin = CLO_NONE;
    const int64_t *first = entry_at(profile, 0, p->node[0], 0), *room = p->room[0];
    size_t each = words_of(profile, 0);
    int64_t run = *run_ns;
    bool passes = run < 0 && p->at[0] == 0;

    clo_profile_count_look(profile);
    for (uint32_t at = p->at[0]; at < count; at++) {
        if (run < 0 && (at = next_start(profile, p, at)) == count)
            break;
        const int64_t *entry = first + at * each;
        if (run >= 0 && entry[TIME] - run >= duration_ns)
            return run;
        if (run < 0) {
            clo_profile_count_look(profile);
            passes = false;
            begin = at;
            run = entry[TIME];
        }
        if (has_room(entry + 1, room, lanes))
            continue;
        if (begin != CLO_NONE && entry[TIME] - run < window_ns(profile, p)) /* else the window has room */
            note_held(profile, p, begin);
        run = -1;
        begin = CLO_NONE;
    }
    if (passes)
        raise_held(profile, p, 0);
    *run_ns = run;
    return -1;
}

/* Of a length > 0. */
static uint32_t octave_of(int64_t length_ns)
{
    return 63 - (uint32_t)__builtin_clzll((uint64_t)length_ns);
}

/* The window for a search, and what it compares with. */
static void choose_window(const clo_profile *profile, int64_t duration_ns, path *p)
{
    uint32_t octave = octave_of(duration_ns);

    p->window = octave < profile->octave ? NO_WINDOW : octave - profile->octave;
    if (octave >= profile->octave + WINDOWS)
        p->window = WINDOWS - 1;
    p->packed = pack(profile, p->room[profile->height]);
}

int64_t clo_profile_earliest_ns(const clo_profile *profile, int64_t start_ns, int64_t duration_ns, int64_t latest_ns,
                                const int64_t *demand)
{
    path p;

    if (profile->nodes[0].count == 0 || duration_ns <= 0) /* length 0 holds nothing */
        return start_ns;
    descend(profile, start_ns, demand, &p);
    choose_window(profile, duration_ns, &p);
    const int64_t *first = entry_at(profile, 0, p.node[0], p.at[0]);
    int64_t run_ns = has_room(first + 1, p.room[0], profile->lanes) ? start_ns : -1;

    for (;;) { /* a leaf at a time; in the last step of all there is room for ever */
        int64_t found_ns = pass_leaf(profile, &p, duration_ns, &run_ns);
        if (found_ns >= 0 || run_ns >= latest_ns)
            return found_ns >= 0 ? found_ns : run_ns;
        p.at[0] = *count_of(profile, 0, p.node[0]);
        if (run_ns >= 0 && !search(profile, &p, run_ns + duration_ns, false))
            return run_ns;
        if (run_ns < 0 && !search(profile, &p, latest_ns, true))
            return latest_ns;
        run_ns = -1;
    }
}

/* Room for `wanted` more nodes. */
static int reserve_nodes(const clo_profile *profile, clo_profile_nodes *nodes, uint32_t level, uint32_t wanted)
{
    if (nodes->capacity - nodes->count >= wanted)
        return 0;
    size_t capacity = (size_t)nodes->capacity * 2 + wanted, each = ENTRIES * words_of(profile, level);
    int64_t *words = capacity < UINT32_MAX ? clo_allocate(capacity * each, sizeof *words) : NULL;
    uint32_t *counts = words != NULL ? clo_allocate(capacity, sizeof *counts) : NULL;
    size_t held_each = (size_t)WINDOWS * ENTRIES;
    uint64_t *held = counts != NULL && level == 0 ? clo_allocate(capacity * held_each, sizeof *held) : NULL;

    if (counts == NULL || (held == NULL && level == 0)) {
        clo_free(words);
        clo_free(counts);
        return -1;
    }
    if (nodes->count > 0) {
        memcpy(words, nodes->words, nodes->count * each * sizeof *words);
        memcpy(counts, nodes->counts, nodes->count * sizeof *counts);
        if (level == 0)
            memcpy(held, nodes->held, nodes->count * held_each * sizeof *held);
    }
    clo_free(nodes->words);
    clo_free(nodes->counts);
    clo_free(nodes->held);
    *nodes = (clo_profile_nodes){words, counts, held, nodes->count, (uint32_t)capacity};
    return 0;
}

static uint32_t new_node(clo_profile *profile, uint32_t level)
{
    clo_profile_nodes *nodes = &profile->nodes[level > 0];

    assert(nodes->count < nodes->capacity);
    nodes->counts[nodes->count] = 0;
    return nodes->count++;
}

/* What is in use below an inner entry, from its child's entries. */
static void refresh(const clo_profile *profile, uint32_t level, int64_t *entry)
{
    uint32_t n = profile->lanes;
    int64_t *most = entry + BELOW + n, *least = most + n;
    uint32_t child = (uint32_t)entry[CHILD], count = *count_of(profile, level - 1, child);

    for (uint32_t i = 0; i < count; i++) {
        const int64_t *below = entry_at(profile, level - 1, child, i);
        const int64_t *most_below = most_of(profile, level - 1, below);
        const int64_t *least_below = least_of(profile, level - 1, below);
        for (uint32_t k = 0; k < n; k++) {
            int64_t high = most_below[k] + entry[BELOW + k], low = least_below[k] + entry[BELOW + k];
            most[k] = i == 0 || high > most[k] ? high : most[k];
            least[k] = i == 0 || low < least[k] ? low : least[k];
        }
    }
}

/* Moves the upper half of a full node to a new one, which is returned. */
static uint32_t split_node(clo_profile *profile, uint32_t level, uint32_t node)
{
    uint32_t other = new_node(profile, level), half = ENTRIES / 2;
    size_t each = words_of(profile, level);

    memcpy(entry_at(profile, level, other, 0), entry_at(profile, level, node, half), half * each * sizeof(int64_t));
    for (uint32_t w = 0; w < WINDOWS && level == 0; w++)
        memcpy(held_at(profile, other, w, 0), held_at(profile, node, w, half), half * sizeof(uint64_t));
    *count_of(profile, level, node) = *count_of(profile, level, other) = half;
    return other;
}

/* Makes room for an entry at `at` in a node that has some. A step holds what the one before it does: see above. */
static int64_t *insert_at(clo_profile *profile, uint32_t level, uint32_t node, uint32_t at)
{
    uint32_t *count = count_of(profile, level, node);
    int64_t *entry = entry_at(profile, level, node, at);

    memmove(entry + words_of(profile, level), entry, (*count - at) * words_of(profile, level) * sizeof *entry);
    for (uint32_t w = 0; w < WINDOWS && level == 0; w++) {
        uint64_t *held = held_at(profile, node, w, at);
        memmove(held + 1, held, (*count - at) * sizeof *held);
        *held = at > 0 ? held[-1] : 0;
    }
    ++*count;
    return entry;
}

/* The old root and the node split off from it get a new root. */
static void grow_root(clo_profile *profile, uint32_t other)
{
    uint32_t level = profile->height + 1, root = new_node(profile, level);

    assert(level < LEVELS_MAX);
    for (uint32_t i = 0; i < 2; i++) {
        int64_t *entry = insert_at(profile, level, root, i);
        memset(entry, 0, words_of(profile, level) * sizeof *entry);
        entry[CHILD] = i == 0 ? profile->root : other;
        entry[TIME] = entry_at(profile, level - 1, (uint32_t)entry[CHILD], 0)[TIME];
        refresh(profile, level, entry);
    }
    profile->root = root;
    profile->height = level;
}

/* Puts `entry` behind the path's entry on `level`; nodes that are full are split, up to the root. What is in use does
 * not change, as the new step has what the one before it has. */
static void insert_behind(clo_profile *profile, const path *p, const int64_t *step)
{
    int64_t entry[BELOW + 3 * CLO_RESOURCES_MAX];

    memcpy(entry, step, words_of(profile, 0) * sizeof *entry);
    for (uint32_t level = 0;; level++) { /* to the first node with room */
        uint32_t node = p->node[level], at = p->at[level] + 1;
        if (*count_of(profile, level, node) < ENTRIES) {
            memcpy(insert_at(profile, level, node, at), entry, words_of(profile, level) * sizeof *entry);
            return;
        }
        uint32_t other = split_node(profile, level, node);
        bool is_upper = at > ENTRIES / 2;
        memcpy(insert_at(profile, level, is_upper ? other : node, is_upper ? at - ENTRIES / 2 : at), entry,
               words_of(profile, level) * sizeof *entry);
        if (level == profile->height) {
            grow_root(profile, other);
            return;
        }
        /* The entry for `other`: beside the one for `node`, which adds the same to both. */
        int64_t *mine = entry_at(profile, level + 1, p->node[level + 1], p->at[level + 1]);
        for (uint32_t w = 0; w < WINDOWS; w++)
            mine[HELD + w] &= INT64_MAX; /* half a node may hold more */
        memcpy(entry, mine, words_of(profile, level + 1) * sizeof *entry);
        entry[TIME] = entry_at(profile, level, other, 0)[TIME];
        entry[CHILD] = other;
        refresh(profile, level + 1, mine);
        refresh(profile, level + 1, entry);
    }
}

/* Makes a step begin at time_ns, with what is in use there. The memory is there. */
static void cut(clo_profile *profile, int64_t time_ns, const int64_t *demand)
{
    path p = {0};

    descend(profile, time_ns, demand, &p);
    const int64_t *here = entry_at(profile, 0, p.node[0], p.at[0]);
    if (here[TIME] == time_ns)
        return;
    int64_t step[1 + CLO_RESOURCES_MAX];
    memcpy(step, here, words_of(profile, 0) * sizeof *step);
    step[TIME] = time_ns;
    insert_behind(profile, &p, step);
}

/* Adds the demand to the entries first .. end-1 of a node. */
static void add_to(clo_profile *profile, uint32_t level, uint32_t node, uint32_t first, uint32_t end,
                   const int64_t *demand)
{
    for (uint32_t i = first; i < end; i++) {
        int64_t *words = entry_at(profile, level, node, i) + (level == 0 ? 1 : BELOW);
        for (uint32_t at = 0; at < (level == 0 ? 1u : 3u); at++, words += profile->lanes)
            for (uint32_t k = 0; k < profile->counted_count; k++)
                words[k] += demand[profile->counted[k]];
    }
}

/* Adds the demand to all steps from the one at *from to the one before *to. */
static void add_between(clo_profile *profile, const path *from, const path *to, const int64_t *demand)
{
    uint32_t level = 0;

    for (; from->node[level] != to->node[level]; level++) { /* at the root they meet */
        uint32_t first = from->at[level] + (level > 0);
        add_to(profile, level, from->node[level], first, *count_of(profile, level, from->node[level]), demand);
        add_to(profile, level, to->node[level], 0, to->at[level], demand);
        refresh(profile, level + 1, entry_at(profile, level + 1, from->node[level + 1], from->at[level + 1]));
        refresh(profile, level + 1, entry_at(profile, level + 1, to->node[level + 1], to->at[level + 1]));
    }
    add_to(profile, level, from->node[level], from->at[level] + (level > 0), to->at[level], demand);
    for (level++; level <= profile->height; level++)
        refresh(profile, level, entry_at(profile, level, from->node[level], from->at[level]));
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
        memset(insert_at(profile, 0, profile->root, 0), 0, words_of(profile, 0) * sizeof(int64_t));
        profile->octave = octave_of(finish_ns - start_ns);
        profile->octave -= profile->octave > 0; /* shorter ones may come */
    }
    path from = {0}, to = {0};

    cut(profile, start_ns, demand);
    cut(profile, finish_ns, demand);
    descend(profile, start_ns, demand, &from);
    descend(profile, finish_ns, demand, &to);
    add_between(profile, &from, &to, demand);
    return 0;
}

void clo_profile_clear(clo_profile *profile)
{
    profile->nodes[0].count = profile->nodes[1].count = 0;
}

void clo_profile_free(clo_profile *profile)
{
    for (int i = 0; i < 2; i++) {
        clo_free(profile->nodes[i].words);
        clo_free(profile->nodes[i].counts);
        clo_free(profile->nodes[i].held);
        profile->nodes[i] = (clo_profile_nodes){0};
    }
}
