#include "base/memory.h"
#include "plan/schedule/profile_nodes.h"

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
            has_room(entry + least, p->room[level], profile->lanes))
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

/* The first step of a leaf from `at` on where the demand may begin; its count: none. */
static uint32_t next_start(const clo_profile *profile, const clo_profile_path *p, uint32_t at)
{
    uint32_t count = *clo_profile_count(profile, 0, p->node[0]);
    uint64_t guards = guards_of(profile), room = p->packed | guards;

    if (p->window == CLO_PROFILE_NO_WINDOW)
        return at;
    const uint64_t *held = clo_profile_held(profile, p->node[0], p->window, 0);
    while (at < count && ((room - held[at]) & guards) != guards)
        at++;
    return at;
}

/* The length of the window; 0: there is none. */
static int64_t window_ns(const clo_profile *profile, const clo_profile_path *p)
{
    return p->window == CLO_PROFILE_NO_WINDOW ? 0 : INT64_C(1) << (profile->octave + p->window);
}

/* The demand cannot begin at entry `at`, for want of room within the window: writes down what is in use in it, as far
 * as the leaf goes. */
static void note_held(const clo_profile *profile, const clo_profile_path *p, uint32_t at)
{
    uint32_t count = *clo_profile_count(profile, 0, p->node[0]);
    size_t each = clo_profile_words(profile, 0);
    const int64_t *entry = clo_profile_entry(profile, 0, p->node[0], at);
    int64_t most[CLO_RESOURCES_MAX] = {0}, end_ns = entry[CLO_PROFILE_TIME] + window_ns(profile, p);

    for (uint32_t i = at; i < count && entry[CLO_PROFILE_TIME] < end_ns; i++, entry += each)
        for (uint32_t k = 0; k < profile->counted_count; k++)
            most[k] = entry[1 + k] > most[k] ? entry[1 + k] : most[k];
    for (uint32_t k = 0; k < profile->counted_count; k++) /* and what the levels above add */
        most[k] += p->room[profile->height][k] - p->room[0][k];
    *clo_profile_held(profile, p->node[0], p->window, at) = pack(profile, most);
    if (profile->height > 0)
        *held_below(profile, p, 1) &= INT64_MAX;
}

/* Through the rest of a leaf, in one pass: where room has begun (*run_ns; -1: there is none here) at its end, or the
 * start that was wanted, as the result, else -1. */
static int64_t pass_leaf(const clo_profile *profile, const clo_profile_path *p, int64_t duration_ns, int64_t *run_ns)
{
    uint32_t count = *clo_profile_count(profile, 0, p->node[0]), lanes = profile->lanes, begin = CLO_NONE;
    const int64_t *first = clo_profile_entry(profile, 0, p->node[0], 0), *room = p->room[0];
    size_t each = clo_profile_words(profile, 0);
    int64_t run = *run_ns;
    bool passes = run < 0 && p->at[0] == 0;

    clo_profile_count_look(profile);
    for (uint32_t at = p->at[0]; at < count; at++) {
        if (run < 0 && (at = next_start(profile, p, at)) == count)
            break;
        const int64_t *entry = first + at * each;
        if (run >= 0 && entry[CLO_PROFILE_TIME] - run >= duration_ns)
            return run;
        if (run < 0) {
            clo_profile_count_look(profile);
            passes = false;
            begin = at;
            run = entry[CLO_PROFILE_TIME];
        }
        if (has_room(entry + 1, room, lanes))
            continue;
        if (begin != CLO_NONE && entry[CLO_PROFILE_TIME] - run < window_ns(profile, p)) /* else the window has room */
            note_held(profile, p, begin);
        run = -1;
        begin = CLO_NONE;
    }
    if (passes)
        raise_held(profile, p, 0);
    *run_ns = run;
    return -1;
}

/* The window for a search, and what it compares with. */
static void choose_window(const clo_profile *profile, int64_t duration_ns, clo_profile_path *p)
{
    uint32_t octave = clo_profile_octave(duration_ns);

    p->window = octave < profile->octave ? CLO_PROFILE_NO_WINDOW : octave - profile->octave;
    if (octave >= profile->octave + CLO_PROFILE_WINDOWS)
        p->window = CLO_PROFILE_WINDOWS - 1;
    p->packed = pack(profile, p->room[profile->height]);
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
    int64_t run_ns = has_room(first + 1, p.room[0], profile->lanes) ? start_ns : -1;

    for (;;) { /* a leaf at a time; in the last step of all there is room for ever */
        int64_t found_ns = pass_leaf(profile, &p, duration_ns, &run_ns);
        if (found_ns >= 0 || run_ns >= latest_ns)
            return found_ns >= 0 ? found_ns : run_ns;
        p.at[0] = *clo_profile_count(profile, 0, p.node[0]);
        if (run_ns >= 0 && !search(profile, &p, run_ns + duration_ns, false))
            return run_ns;
        if (run_ns < 0 && !search(profile, &p, latest_ns, true))
            return latest_ns;
        run_ns = -1;
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
