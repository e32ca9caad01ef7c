/* plan/schedule/profile_search.c - opens a profile, and searches it: see profile.h. */
#include "base/memory.h"
#include "plan/schedule/profile_nodes.h"

/* What is held from a step on. Whoever starts there and runs for a window holds all steps that begin in it: so the most
 * of each resource in use in them is what must leave room. A word of `held` is at most that, as it was when somebody
 * looked last, for what is in use never becomes less; 0: nobody looked. It has a field for each lane. The highest bit
 * of a field is for comparisons; an amount is rounded down to what fits into the others.
 *
 * A leaf keeps sets of its steps too: for each window and resource, and each class of what is left, those from which on
 * so much may be left. What may begin is in one set of each resource; and many leaves have no such step at all,
 * although each resource alone is left in some step of them.
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

/* Rises with the value, twice an octave; 0 of 0. */
static uint32_t half_octave(uint64_t value)
{
    if (value < 2)
        return (uint32_t)value;
    uint32_t octave = 63 - (uint32_t)__builtin_clzll(value);

    return 2 * octave + (uint32_t)(value >> (octave - 1) & 1);
}

/* About 256 times the logarithm of a length > 0, linear in each octave; and the length for it. */
static uint64_t log_of(uint64_t length)
{
    uint64_t octave = 63 - (uint64_t)__builtin_clzll(length);

    return octave << 8 | ((octave > 8 ? length >> (octave - 8) : length << (8 - octave)) & 255);
}

static int64_t length_of(uint64_t log)
{
    uint64_t octave = log >> 8, mantissa = 256 + (log & 255);

    return (int64_t)(octave > 8 ? mantissa << (octave - 8) : mantissa >> (8 - octave));
}

void clo_profile_set_windows(clo_profile *profile)
{
    uint64_t first = log_of((uint64_t)profile->shortest_ns), last = log_of((uint64_t)profile->longest_ns);

    for (uint64_t w = 0; w < CLO_PROFILE_WINDOWS; w++)
        profile->windows_ns[w] = length_of(first + (last - first) * w / CLO_PROFILE_WINDOWS);
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
    for (uint32_t k = 0; k < profile->counted_count; k++) {
        profile->wholes[k] = (uint64_t)(profile->limits[profile->counted[k]] >> profile->shifts[k]);
        profile->tops[k] = half_octave(profile->wholes[k]);
    }
    if (profile->shortest_ns > 0)
        clo_profile_set_windows(profile);
}

bool clo_profile_admits(const clo_profile *profile, const int64_t *demand)
{
    for (int r = 0; r < CLO_RESOURCES_MAX; r++)
        if (profile->limits[r] >= 0 && demand[r] > profile->limits[r])
            return false;
    return true;
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

static int64_t *held_below(const clo_profile *profile, const clo_profile_path *p, uint32_t level)
{
    return clo_profile_entry(profile, level, p->node[level], p->at[level]) + CLO_PROFILE_HELD + p->window;
}

/* No step of the path's node on `level` lets the demand begin: makes the word of the entry above it again, unless
 * nobody looked since. */
static void raise_held(const clo_profile *profile, const clo_profile_path *p, uint32_t level)
{
    if (level == profile->height || p->window == CLO_PROFILE_NO_WINDOW)
        return;
    int64_t *above = held_below(profile, p, level + 1);
    if (*above < 0)
        return;
    uint32_t count = *clo_profile_count(profile, level, p->node[level]), bits = field_bits(profile);
    uint64_t guards = guards_of(profile), least = ~guards;
    const uint64_t *held = clo_profile_held(profile, p->node[0], p->window, 0);

    for (uint32_t i = 0; i < count && level == 0; i++)
        least = least_fields(held[i], least, bits, guards);
    for (uint32_t i = 0; i < count && level > 0; i++)
        least = least_fields(
            (uint64_t)clo_profile_entry(profile, level, p->node[level], i)[CLO_PROFILE_HELD + p->window] & ~guards,
            least, bits, guards);
    *above = (int64_t)(least | UINT64_C(1) << 63);
    if (level + 1 < profile->height)
        *held_below(profile, p, level + 2) &= INT64_MAX;
}

static uint64_t field_at(const clo_profile *profile, uint64_t word, uint32_t k)
{
    return word >> k * field_bits(profile) & (uint64_t)field_max(profile);
}

/* The class of what is left of the k-th counted resource where a field of a word holds `held`: it rises with what is
 * left, by one for half an octave, up to CLO_PROFILE_CLASSES - 1 for all of it. */
static uint32_t class_of(const clo_profile *profile, uint32_t k, uint64_t held)
{
    uint64_t left = profile->wholes[k] > held ? profile->wholes[k] - held : 0;
    uint32_t below = profile->tops[k] - half_octave(left); /* those of the whole */

    return below < CLO_PROFILE_CLASSES ? CLO_PROFILE_CLASSES - 1 - below : 0;
}

/* The steps of a leaf, a bit each, that are in the sets of all lanes: where the demand may begin there are no
 * others. */
static uint64_t may_begin_at(const clo_profile *profile, const clo_profile_path *p, uint32_t node)
{
    uint32_t count = *clo_profile_count(profile, 0, node);
    uint64_t steps = ~UINT64_C(0) >> (CLO_PROFILE_ENTRIES - count);

    for (uint32_t k = 0; k < profile->counted_count; k++)
        if (p->classes[k] > 0)
            steps &= *clo_profile_left(profile, node, p->window, k, p->classes[k]);
    return steps;
}

/* The first step of a leaf from `at` on where the demand may begin; its count: none. */
static uint32_t next_start(const clo_profile *profile, const clo_profile_path *p, uint32_t at)
{
    uint32_t count = *clo_profile_count(profile, 0, p->node[0]);
    uint64_t guards = guards_of(profile), room = p->packed | guards;

    if (p->window == CLO_PROFILE_NO_WINDOW || at >= count)
        return at;
    const uint64_t *held = clo_profile_held(profile, p->node[0], p->window, 0);
    uint64_t steps = may_begin_at(profile, p, p->node[0]) & ~UINT64_C(0) << at;
    for (; steps != 0; steps &= steps - 1) {
        at = (uint32_t)__builtin_ctzll(steps);
        if (((room - held[at]) & guards) == guards)
            return at;
    }
    return count;
}

/* The first entry of a node on `level` from the path's on whose time is not before end_ns, or that has no room. */
static uint32_t scan_full(const clo_profile *profile, const clo_profile_path *p, uint32_t level, uint32_t count,
                          int64_t end_ns)
{
    const int64_t *entry = clo_profile_entry(profile, level, p->node[level], p->at[level]);
    const int64_t *most = clo_profile_most(profile, level, entry);
    size_t each = clo_profile_words(profile, level);
    uint32_t at = p->at[level];

    for (; at < count && entry[CLO_PROFILE_TIME] < end_ns; at++, entry += each, most += each)
        if (!has_room(most, p->room[level], profile->lanes))
            break;
    return at;
}

/* True if no step of the leaf below an entry lets the demand begin, and the entry's own word cannot be raised. */
static bool is_known_full(const clo_profile *profile, const clo_profile_path *p, uint32_t level, const int64_t *entry)
{
    return level == 1 && p->window != CLO_PROFILE_NO_WINDOW && entry[CLO_PROFILE_HELD + p->window] < 0 &&
           may_begin_at(profile, p, (uint32_t)entry[CLO_PROFILE_CHILD]) == 0;
}

/* The same on an inner level: or that may have room for what begins there. */
static uint32_t scan_free(const clo_profile *profile, const clo_profile_path *p, uint32_t level, uint32_t count,
                          int64_t end_ns)
{
    const int64_t *entry = clo_profile_entry(profile, level, p->node[level], p->at[level]);
    size_t each = clo_profile_words(profile, level), least = CLO_PROFILE_BELOW + 2 * profile->lanes;
    uint64_t guards = guards_of(profile), room = p->window == CLO_PROFILE_NO_WINDOW ? ~guards : p->packed;
    uint32_t window = p->window % CLO_PROFILE_WINDOWS, at = p->at[level];

    for (; at < count && entry[CLO_PROFILE_TIME] < end_ns; at++, entry += each)
        if (may_begin((uint64_t)entry[CLO_PROFILE_HELD + window], room, guards) &&
            has_room(entry + least, p->room[level], profile->lanes) && !is_known_full(profile, p, level, entry))
            break;
    return at;
}

/* From the step at *p on: the first one before end_ns where the demand does not fit; or (wants_room true), from the end
 * of a leaf on, the first one of the first leaf where it may fit. False: there is none. */
static bool search(const clo_profile *profile, clo_profile_path *p, int64_t end_ns, bool wants_room)
{
    for (uint32_t level = 0;;) { /* ends: each round goes down, or on in the order of time */
        uint32_t node = p->node[level], count = *clo_profile_count(profile, level, node);

        if (p->at[level] < count)
            p->at[level] =
                wants_room ? scan_free(profile, p, level, count, end_ns) : scan_full(profile, p, level, count, end_ns);
        if (p->at[level] < count) {
            if (clo_profile_entry(profile, level, node, p->at[level])[CLO_PROFILE_TIME] >= end_ns)
                return false;
            if (level == 0)
                return true;
            clo_profile_step_down(profile, p, level--);
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

/* The length of the window; 0: there is none. */
static int64_t window_ns(const clo_profile *profile, const clo_profile_path *p)
{
    return p->window == CLO_PROFILE_NO_WINDOW ? 0 : profile->windows_ns[p->window];
}

/* The most of each field of two words. */
static uint64_t most_fields(uint64_t a, uint64_t b, uint32_t bits, uint64_t guards)
{
    uint64_t is_less = ((b | guards) - a) & guards; /* the guards of fields where a is not above b */
    uint64_t mask = is_less - (is_less >> (bits - 1));

    return (b & mask) | (a & ~mask & ~guards);
}

/* Raises the word of an entry of a leaf. */
static void raise_word(const clo_profile *profile, uint32_t window, uint32_t node, uint32_t at, uint64_t word)
{
    uint64_t *held = clo_profile_held(profile, node, window, at), old = *held;

    if (may_begin(word, old, guards_of(profile)))
        return; /* it says as much */
    *held = most_fields(old, word, field_bits(profile), guards_of(profile));
    for (uint32_t k = 0; k < profile->counted_count; k++) {
        uint32_t class = class_of(profile, k, field_at(profile, old, k));
        for (uint32_t least = class_of(profile, k, field_at(profile, *held, k)); class > least; class --)
            *clo_profile_left(profile, node, window, k, class) &= ~(UINT64_C(1) << at);
    }
}

/* What is in use at an entry of the path's leaf, with what the levels above add. */
static uint64_t used_at(const clo_profile *profile, const clo_profile_path *p, const int64_t *entry)
{
    int64_t used[CLO_RESOURCES_MAX];

    for (uint32_t k = 0; k < profile->counted_count; k++)
        used[k] = entry[1 + k] + p->room[profile->height][k] - p->room[0][k];
    return pack(profile, used);
}

/* Where a search found room, in a leaf, that may end in another one. */
typedef struct trial {
    int64_t begin_ns;                        /* -1: there is none */
    uint32_t node, at, above_node, above_at; /* the step and the entry above its leaf; node CLO_NONE: not noted */
} trial;

static trial begin_at(const clo_profile *profile, const clo_profile_path *p, uint32_t at)
{
    trial run = {
        .begin_ns = clo_profile_entry(profile, 0, p->node[0], at)[CLO_PROFILE_TIME], .node = p->node[0], .at = at};

    if (profile->height > 0) {
        run.above_node = p->node[1];
        run.above_at = p->at[1];
    }
    return run;
}

/* The step `blocked` of the path's leaf has no room: so nothing begins at the steps of `run` from which on the window
 * holds it too. Those steps end with its leaf, or with `end`. */
static void note_held(const clo_profile *profile, const clo_profile_path *p, const trial *run, uint32_t end,
                      const int64_t *blocked)
{
    int64_t after_ns = blocked[CLO_PROFILE_TIME] - window_ns(profile, p);
    bool is_noted = false;

    if (run->node == CLO_NONE || p->window == CLO_PROFILE_NO_WINDOW ||
        clo_profile_entry(profile, 0, run->node, end - 1)[CLO_PROFILE_TIME] <= after_ns)
        return;
    uint64_t word = used_at(profile, p, blocked);
    for (uint32_t at = end; at-- > run->at;) {
        if (clo_profile_entry(profile, 0, run->node, at)[CLO_PROFILE_TIME] <= after_ns)
            break; /* the window has room */
        raise_word(profile, p->window, run->node, at, word);
        is_noted = true;
    }
    if (profile->height > 0 && is_noted)
        clo_profile_entry(profile, 1, run->above_node, run->above_at)[CLO_PROFILE_HELD + p->window] &= INT64_MAX;
}

/* Through the rest of a leaf, in one pass: `run` is where room has begun at its end, if it has; returns the start that
 * was wanted, or -1. */
static int64_t pass_leaf(const clo_profile *profile, const clo_profile_path *p, int64_t duration_ns, trial *run)
{
    uint32_t count = *clo_profile_count(profile, 0, p->node[0]), lanes = profile->lanes;
    const int64_t *first = clo_profile_entry(profile, 0, p->node[0], 0), *room = p->room[0];
    size_t each = clo_profile_words(profile, 0);
    bool passes = run->begin_ns < 0 && p->at[0] == 0;

    clo_profile_count_look(profile);
    for (uint32_t at = p->at[0]; at < count; at++) {
        if (run->begin_ns < 0 && (at = next_start(profile, p, at)) == count)
            break;
        const int64_t *entry = first + at * each;
        if (run->begin_ns >= 0 && entry[CLO_PROFILE_TIME] - run->begin_ns >= duration_ns)
            return run->begin_ns;
        if (run->begin_ns < 0) {
            clo_profile_count_look(profile);
            passes = false;
            *run = begin_at(profile, p, at);
        }
        if (has_room(entry + 1, room, lanes))
            continue;
        if (run->node == p->node[0])
            note_held(profile, p, run, at + (run->at == at), entry);
        run->begin_ns = -1;
    }
    if (passes)
        raise_held(profile, p, 0);
    return -1;
}

/* The window for a search, and what it compares with. */
static void choose_window(const clo_profile *profile, int64_t duration_ns, clo_profile_path *p)
{
    p->window = CLO_PROFILE_NO_WINDOW;
    for (uint32_t w = 0; w < CLO_PROFILE_WINDOWS && profile->windows_ns[w] <= duration_ns; w++)
        p->window = w;
    p->packed = pack(profile, p->room[profile->height]);
    for (uint32_t k = 0; k < profile->counted_count; k++)
        p->classes[k] = class_of(profile, k, field_at(profile, p->packed, k));
}

int64_t clo_profile_earliest_ns(const clo_profile *profile, int64_t start_ns, int64_t duration_ns, int64_t latest_ns,
                                const int64_t *demand)
{
    clo_profile_path p;

    if (profile->nodes[0].count == 0 || duration_ns <= 0) /* length 0 holds nothing */
        return start_ns;
    clo_profile_descend(profile, start_ns, demand, &p);
    choose_window(profile, duration_ns, &p);
    const int64_t *first = clo_profile_entry(profile, 0, p.node[0], p.at[0]);
    trial run = {.begin_ns = has_room(first + 1, p.room[0], profile->lanes) ? start_ns : -1, .node = CLO_NONE};

    for (;;) { /* a leaf at a time; in the last step of all there is room for ever */
        int64_t found_ns = pass_leaf(profile, &p, duration_ns, &run);
        if (found_ns >= 0 || run.begin_ns >= latest_ns)
            return found_ns >= 0 ? found_ns : run.begin_ns;
        p.at[0] = *clo_profile_count(profile, 0, p.node[0]);
        if (run.begin_ns >= 0 && !search(profile, &p, run.begin_ns + duration_ns, false))
            return run.begin_ns;
        if (run.begin_ns < 0 && !search(profile, &p, latest_ns, true))
            return latest_ns;
        if (run.begin_ns >= 0 && run.node != CLO_NONE)
            note_held(profile, &p, &run, *clo_profile_count(profile, 0, run.node),
                      clo_profile_entry(profile, 0, p.node[0], p.at[0]));
        run.begin_ns = -1;
    }
}

/* To the next step; false: there is none. */
static bool step_on(const clo_profile *profile, clo_profile_path *p)
{
    uint32_t level = 0;

    while (++p->at[level] == *clo_profile_count(profile, level, p->node[level])) /* ends: at the root */
        if (level++ == profile->height)
            return false;
    for (; level > 0; level--)
        clo_profile_step_down(profile, p, level);
    return true;
}

uint32_t clo_profile_read(const clo_profile *profile, int64_t from_ns, clo_profile_step *steps, uint32_t max)
{
    static const int64_t nothing[CLO_RESOURCES_MAX] = {0};
    clo_profile_path p;
    uint32_t count = 0;

    if (profile->nodes[0].count == 0) {
        for (uint32_t k = 0; k < profile->counted_count; k++)
            steps[0].free[k] = profile->limits[profile->counted[k]];
        steps[0].time_ns = 0;
        return 1;
    }
    clo_profile_descend(profile, from_ns, nothing, &p);
    do { /* ends: at the last step */
        const int64_t *entry = clo_profile_entry(profile, 0, p.node[0], p.at[0]);
        for (uint32_t k = 0; k < profile->counted_count; k++)
            steps[count].free[k] = p.room[0][k] - entry[1 + k];
        steps[count++].time_ns = entry[CLO_PROFILE_TIME];
    } while (count < max && step_on(profile, &p));
    return count;
}

int64_t clo_profile_least_free(const clo_profile *profile, int64_t from_ns, int64_t to_ns, const int64_t *demand,
                               int64_t *room)
{
    static const int64_t nothing[CLO_RESOURCES_MAX] = {0};
    clo_profile_path p;

    for (uint32_t k = 0; k < profile->counted_count; k++)
        room[k] = profile->limits[profile->counted[k]];
    if (profile->nodes[0].count == 0)
        return to_ns;
    clo_profile_descend(profile, from_ns, demand != NULL ? demand : nothing, &p);
    do { /* ends: at the last step */
        const int64_t *entry = clo_profile_entry(profile, 0, p.node[0], p.at[0]);
        if (entry[CLO_PROFILE_TIME] >= to_ns)
            return to_ns;
        if (demand != NULL && !has_room(entry + 1, p.room[0], profile->lanes))
            return entry[CLO_PROFILE_TIME];
        for (uint32_t k = 0; k < profile->counted_count; k++) {
            int64_t free = p.room[0][k] - entry[1 + k] + (demand != NULL ? demand[profile->counted[k]] : 0);
            room[k] = free < room[k] ? free : room[k];
        }
    } while (step_on(profile, &p));
    return to_ns;
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
        clo_free(profile->nodes[i].left);
        profile->nodes[i] = (clo_profile_nodes){0};
    }
}
