/* plan/schedule/occupancy_search.c - opens an occupancy, and searches it: see occupancy.h. */
#include "base/memory.h"
#include "plan/schedule/occupancy_nodes.h"

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
static uint32_t field_bits(const clo_occupancy *occupancy)
{
    return 64 / occupancy->lanes;
}

static int64_t field_max(const clo_occupancy *occupancy)
{
    return (INT64_C(1) << (field_bits(occupancy) - 1)) - 1;
}

/* The highest bits of all fields. */
static uint64_t guards_of(const clo_occupancy *occupancy)
{
    return occupancy->lanes == 4 ? UINT64_C(0x8000800080008000) : UINT64_C(0x8080808080808080);
}

/* Of amounts >= 0. */
static uint64_t pack(const clo_occupancy *occupancy, const int64_t *amounts)
{
    int64_t most = field_max(occupancy);
    uint64_t packed = 0;

    for (uint32_t k = 0; k < occupancy->counted_count; k++) {
        int64_t field = amounts[k] >> occupancy->shifts[k];
        packed |= (uint64_t)(field < most ? field : most) << k * field_bits(occupancy);
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

void clo_occupancy_set_windows(clo_occupancy *occupancy)
{
    uint64_t first = log_of((uint64_t)occupancy->shortest_ns), last = log_of((uint64_t)occupancy->longest_ns);

    for (uint64_t w = 0; w < CLO_OCCUPANCY_WINDOWS; w++)
        occupancy->windows_ns[w] = length_of(first + (last - first) * w / CLO_OCCUPANCY_WINDOWS);
}

void clo_occupancy_open(clo_occupancy *occupancy)
{
    occupancy->counted_count = 0;
    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        if (occupancy->limits[r] >= 0)
            occupancy->counted[occupancy->counted_count++] = r;
    occupancy->lanes = occupancy->counted_count <= 4 ? 4 : CLO_RESOURCES_MAX;
    for (uint32_t k = 0; k < occupancy->counted_count; k++)
        for (occupancy->shifts[k] = 0;
             occupancy->limits[occupancy->counted[k]] >> occupancy->shifts[k] > field_max(occupancy);)
            occupancy->shifts[k]++;
    for (uint32_t k = 0; k < occupancy->counted_count; k++) {
        occupancy->wholes[k] = (uint64_t)(occupancy->limits[occupancy->counted[k]] >> occupancy->shifts[k]);
        occupancy->tops[k] = half_octave(occupancy->wholes[k]);
    }
    if (occupancy->shortest_ns > 0)
        clo_occupancy_set_windows(occupancy);
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

static int64_t *held_below(const clo_occupancy *occupancy, const clo_occupancy_path *p, uint32_t level)
{
    return clo_occupancy_entry(occupancy, level, p->node[level], p->at[level]) + CLO_OCCUPANCY_HELD + p->window;
}

/* No step of the path's node on `level` lets the demand begin: makes the word of the entry above it again, unless
 * nobody looked since. */
static void raise_held(const clo_occupancy *occupancy, const clo_occupancy_path *p, uint32_t level)
{
    if (level == occupancy->height || p->window == CLO_OCCUPANCY_NO_WINDOW)
        return;
    int64_t *above = held_below(occupancy, p, level + 1);
    if (*above < 0)
        return;
    uint32_t count = *clo_occupancy_count(occupancy, level, p->node[level]), bits = field_bits(occupancy);
    uint64_t guards = guards_of(occupancy), least = ~guards;
    const uint64_t *held = clo_occupancy_held(occupancy, p->node[0], p->window, 0);

    for (uint32_t i = 0; i < count && level == 0; i++)
        least = least_fields(held[i], least, bits, guards);
    for (uint32_t i = 0; i < count && level > 0; i++)
        least = least_fields(
            (uint64_t)clo_occupancy_entry(occupancy, level, p->node[level], i)[CLO_OCCUPANCY_HELD + p->window] &
                ~guards,
            least, bits, guards);
    *above = (int64_t)(least | UINT64_C(1) << 63);
    if (level + 1 < occupancy->height)
        *held_below(occupancy, p, level + 2) &= INT64_MAX;
}

static uint64_t field_at(const clo_occupancy *occupancy, uint64_t word, uint32_t k)
{
    return word >> k * field_bits(occupancy) & (uint64_t)field_max(occupancy);
}

/* The class of what is left of the k-th counted resource where a field of a word holds `held`: it rises with what is
 * left, by one for half an octave, up to CLO_OCCUPANCY_CLASSES - 1 for all of it. */
static uint32_t class_of(const clo_occupancy *occupancy, uint32_t k, uint64_t held)
{
    uint64_t left = occupancy->wholes[k] > held ? occupancy->wholes[k] - held : 0;
    uint32_t below = occupancy->tops[k] - half_octave(left); /* those of the whole */

    return below < CLO_OCCUPANCY_CLASSES ? CLO_OCCUPANCY_CLASSES - 1 - below : 0;
}

/* The steps of a leaf, a bit each, that are in the sets of all lanes: where the demand may begin there are no
 * others. */
static uint64_t may_begin_at(const clo_occupancy *occupancy, const clo_occupancy_path *p, uint32_t node)
{
    uint32_t count = *clo_occupancy_count(occupancy, 0, node);
    uint64_t steps = ~UINT64_C(0) >> (CLO_OCCUPANCY_ENTRIES - count);

    for (uint32_t k = 0; k < occupancy->counted_count; k++)
        if (p->classes[k] > 0)
            steps &= *clo_occupancy_left(occupancy, node, p->window, k, p->classes[k]);
    return steps;
}

/* The first step of a leaf from `at` on where the demand may begin; its count: none. */
static uint32_t next_start(const clo_occupancy *occupancy, const clo_occupancy_path *p, uint32_t at)
{
    uint32_t count = *clo_occupancy_count(occupancy, 0, p->node[0]);
    uint64_t guards = guards_of(occupancy), room = p->packed | guards;

    if (p->window == CLO_OCCUPANCY_NO_WINDOW || at >= count)
        return at;
    const uint64_t *held = clo_occupancy_held(occupancy, p->node[0], p->window, 0);
    uint64_t steps = may_begin_at(occupancy, p, p->node[0]) & ~UINT64_C(0) << at;
    for (; steps != 0; steps &= steps - 1) {
        at = (uint32_t)__builtin_ctzll(steps);
        if (((room - held[at]) & guards) == guards)
            return at;
    }
    return count;
}

/* The first entry of a node on `level` from the path's on whose time is not before end_ns, or that has no room. */
static uint32_t scan_full(const clo_occupancy *occupancy, const clo_occupancy_path *p, uint32_t level, uint32_t count,
                          int64_t end_ns)
{
    const int64_t *entry = clo_occupancy_entry(occupancy, level, p->node[level], p->at[level]);
    const int64_t *most = clo_occupancy_most(occupancy, level, entry);
    size_t each = clo_occupancy_words(occupancy, level);
    uint32_t at = p->at[level];

    for (; at < count && entry[CLO_OCCUPANCY_TIME] < end_ns; at++, entry += each, most += each)
        if (!has_room(most, p->room[level], occupancy->lanes))
            break;
    return at;
}

/* True if no step of the leaf below an entry lets the demand begin, and the entry's own word cannot be raised. */
static bool is_known_full(const clo_occupancy *occupancy, const clo_occupancy_path *p, uint32_t level,
                          const int64_t *entry)
{
    return level == 1 && p->window != CLO_OCCUPANCY_NO_WINDOW && entry[CLO_OCCUPANCY_HELD + p->window] < 0 &&
           may_begin_at(occupancy, p, (uint32_t)entry[CLO_OCCUPANCY_CHILD]) == 0;
}

/* The same on an inner level: or that may have room for what begins there. */
static uint32_t scan_free(const clo_occupancy *occupancy, const clo_occupancy_path *p, uint32_t level, uint32_t count,
                          int64_t end_ns)
{
    const int64_t *entry = clo_occupancy_entry(occupancy, level, p->node[level], p->at[level]);
    size_t each = clo_occupancy_words(occupancy, level), least = CLO_OCCUPANCY_BELOW + 2 * occupancy->lanes;
    uint64_t guards = guards_of(occupancy), room = p->window == CLO_OCCUPANCY_NO_WINDOW ? ~guards : p->packed;
    uint32_t window = p->window % CLO_OCCUPANCY_WINDOWS, at = p->at[level];

    for (; at < count && entry[CLO_OCCUPANCY_TIME] < end_ns; at++, entry += each)
        if (may_begin((uint64_t)entry[CLO_OCCUPANCY_HELD + window], room, guards) &&
            has_room(entry + least, p->room[level], occupancy->lanes) && !is_known_full(occupancy, p, level, entry))
            break;
    return at;
}

/* From the step at *p on: the first one before end_ns where the demand does not fit; or (wants_room true), from the end
 * of a leaf on, the first one of the first leaf where it may fit. False: there is none. */
static bool search(const clo_occupancy *occupancy, clo_occupancy_path *p, int64_t end_ns, bool wants_room)
{
    for (uint32_t level = 0;;) { /* ends: each round goes down, or on in the order of time */
        uint32_t node = p->node[level], count = *clo_occupancy_count(occupancy, level, node);

        if (p->at[level] < count)
            p->at[level] = wants_room ? scan_free(occupancy, p, level, count, end_ns)
                                      : scan_full(occupancy, p, level, count, end_ns);
        if (p->at[level] < count) {
            if (clo_occupancy_entry(occupancy, level, node, p->at[level])[CLO_OCCUPANCY_TIME] >= end_ns)
                return false;
            if (level == 0)
                return true;
            clo_occupancy_step_down(occupancy, p, level--);
            if (level == 0 && wants_room)
                return true;
        } else {
            if (level == occupancy->height)
                return false;
            if (wants_room && level > 0)
                raise_held(occupancy, p, level);
            p->at[++level]++;
        }
    }
}

/* The length of the window; 0: there is none. */
static int64_t window_ns(const clo_occupancy *occupancy, const clo_occupancy_path *p)
{
    return p->window == CLO_OCCUPANCY_NO_WINDOW ? 0 : occupancy->windows_ns[p->window];
}

/* The most of each field of two words. */
static uint64_t most_fields(uint64_t a, uint64_t b, uint32_t bits, uint64_t guards)
{
    uint64_t is_less = ((b | guards) - a) & guards; /* the guards of fields where a is not above b */
    uint64_t mask = is_less - (is_less >> (bits - 1));

    return (b & mask) | (a & ~mask & ~guards);
}

/* Raises the word of an entry of a leaf. */
static void raise_word(const clo_occupancy *occupancy, uint32_t window, uint32_t node, uint32_t at, uint64_t word)
{
    uint64_t *held = clo_occupancy_held(occupancy, node, window, at), old = *held;

    if (may_begin(word, old, guards_of(occupancy)))
        return; /* it says as much */
    *held = most_fields(old, word, field_bits(occupancy), guards_of(occupancy));
    for (uint32_t k = 0; k < occupancy->counted_count; k++) {
        uint32_t class = class_of(occupancy, k, field_at(occupancy, old, k));
        for (uint32_t least = class_of(occupancy, k, field_at(occupancy, *held, k)); class > least; class --)
            *clo_occupancy_left(occupancy, node, window, k, class) &= ~(UINT64_C(1) << at);
    }
}

/* What is in use at an entry of the path's leaf, with what the levels above add. */
static uint64_t used_at(const clo_occupancy *occupancy, const clo_occupancy_path *p, const int64_t *entry)
{
    int64_t used[CLO_RESOURCES_MAX];

    for (uint32_t k = 0; k < occupancy->counted_count; k++)
        used[k] = entry[1 + k] + p->room[occupancy->height][k] - p->room[0][k];
    return pack(occupancy, used);
}

/* Where a search found room, in a leaf, that may end in another one. */
typedef struct trial {
    int64_t begin_ns;                        /* -1: there is none */
    uint32_t node, at, above_node, above_at; /* the step and the entry above its leaf; node CLO_NONE: not noted */
} trial;

static trial begin_at(const clo_occupancy *occupancy, const clo_occupancy_path *p, uint32_t at)
{
    trial run = {.begin_ns = clo_occupancy_entry(occupancy, 0, p->node[0], at)[CLO_OCCUPANCY_TIME],
                 .node = p->node[0],
                 .at = at};

    if (occupancy->height > 0) {
        run.above_node = p->node[1];
        run.above_at = p->at[1];
    }
    return run;
}

/* The step `blocked` of the path's leaf has no room: so nothing begins at the steps of `run` from which on the window
 * holds it too. Those steps end with its leaf, or with `end`. */
static void note_held(const clo_occupancy *occupancy, const clo_occupancy_path *p, const trial *run, uint32_t end,
                      const int64_t *blocked)
{
    int64_t after_ns = blocked[CLO_OCCUPANCY_TIME] - window_ns(occupancy, p);
    bool is_noted = false;

    if (run->node == CLO_NONE || p->window == CLO_OCCUPANCY_NO_WINDOW ||
        clo_occupancy_entry(occupancy, 0, run->node, end - 1)[CLO_OCCUPANCY_TIME] <= after_ns)
        return;
    uint64_t word = used_at(occupancy, p, blocked);
    for (uint32_t at = end; at-- > run->at;) {
        if (clo_occupancy_entry(occupancy, 0, run->node, at)[CLO_OCCUPANCY_TIME] <= after_ns)
            break; /* the window has room */
        raise_word(occupancy, p->window, run->node, at, word);
        is_noted = true;
    }
    if (occupancy->height > 0 && is_noted)
        clo_occupancy_entry(occupancy, 1, run->above_node, run->above_at)[CLO_OCCUPANCY_HELD + p->window] &= INT64_MAX;
}

/* Through the rest of a leaf, in one pass: `run` is where room has begun at its end, if it has; returns the start that
 * was wanted, or -1. */
static int64_t pass_leaf(const clo_occupancy *occupancy, const clo_occupancy_path *p, int64_t duration_ns, trial *run)
{
    uint32_t count = *clo_occupancy_count(occupancy, 0, p->node[0]), lanes = occupancy->lanes;
    const int64_t *first = clo_occupancy_entry(occupancy, 0, p->node[0], 0), *room = p->room[0];
    size_t each = clo_occupancy_words(occupancy, 0);
    bool passes = run->begin_ns < 0 && p->at[0] == 0;

    clo_occupancy_count_look(occupancy);
    for (uint32_t at = p->at[0]; at < count; at++) {
        if (run->begin_ns < 0 && (at = next_start(occupancy, p, at)) == count)
            break;
        const int64_t *entry = first + at * each;
        if (run->begin_ns >= 0 && entry[CLO_OCCUPANCY_TIME] - run->begin_ns >= duration_ns)
            return run->begin_ns;
        if (run->begin_ns < 0) {
            clo_occupancy_count_look(occupancy);
            passes = false;
            *run = begin_at(occupancy, p, at);
        }
        if (has_room(entry + 1, room, lanes))
            continue;
        if (run->node == p->node[0])
            note_held(occupancy, p, run, at + (run->at == at), entry);
        run->begin_ns = -1;
    }
    if (passes)
        raise_held(occupancy, p, 0);
    return -1;
}

/* The window for a search, and what it compares with. */
static void choose_window(const clo_occupancy *occupancy, int64_t duration_ns, clo_occupancy_path *p)
{
    p->window = CLO_OCCUPANCY_NO_WINDOW;
    for (uint32_t w = 0; w < CLO_OCCUPANCY_WINDOWS && occupancy->windows_ns[w] <= duration_ns; w++)
        p->window = w;
    p->packed = pack(occupancy, p->room[occupancy->height]);
    for (uint32_t k = 0; k < occupancy->counted_count; k++)
        p->classes[k] = class_of(occupancy, k, field_at(occupancy, p->packed, k));
}

int64_t clo_occupancy_earliest_ns(const clo_occupancy *occupancy, int64_t start_ns, int64_t duration_ns,
                                  int64_t latest_ns, const int64_t *demand)
{
    clo_occupancy_path p;

    if (occupancy->nodes[0].count == 0 || duration_ns <= 0) /* length 0 holds nothing */
        return start_ns;
    clo_occupancy_descend(occupancy, start_ns, demand, &p);
    choose_window(occupancy, duration_ns, &p);
    const int64_t *first = clo_occupancy_entry(occupancy, 0, p.node[0], p.at[0]);
    trial run = {.begin_ns = has_room(first + 1, p.room[0], occupancy->lanes) ? start_ns : -1, .node = CLO_NONE};

    for (;;) { /* a leaf at a time; in the last step of all there is room for ever */
        int64_t found_ns = pass_leaf(occupancy, &p, duration_ns, &run);
        if (found_ns >= 0 || run.begin_ns >= latest_ns)
            return found_ns >= 0 ? found_ns : run.begin_ns;
        p.at[0] = *clo_occupancy_count(occupancy, 0, p.node[0]);
        if (run.begin_ns >= 0 && !search(occupancy, &p, run.begin_ns + duration_ns, false))
            return run.begin_ns;
        if (run.begin_ns < 0 && !search(occupancy, &p, latest_ns, true))
            return latest_ns;
        if (run.begin_ns >= 0 && run.node != CLO_NONE)
            note_held(occupancy, &p, &run, *clo_occupancy_count(occupancy, 0, run.node),
                      clo_occupancy_entry(occupancy, 0, p.node[0], p.at[0]));
        run.begin_ns = -1;
    }
}

/* To the next step; false: there is none. */
static bool step_on(const clo_occupancy *occupancy, clo_occupancy_path *p)
{
    uint32_t level = 0;

    while (++p->at[level] == *clo_occupancy_count(occupancy, level, p->node[level])) /* ends: at the root */
        if (level++ == occupancy->height)
            return false;
    for (; level > 0; level--)
        clo_occupancy_step_down(occupancy, p, level);
    return true;
}

uint32_t clo_occupancy_read(const clo_occupancy *occupancy, int64_t from_ns, clo_occupancy_step *steps, uint32_t max)
{
    static const int64_t nothing[CLO_RESOURCES_MAX] = {0};
    clo_occupancy_path p;
    uint32_t count = 0;

    if (occupancy->nodes[0].count == 0) {
        for (uint32_t k = 0; k < occupancy->counted_count; k++)
            steps[0].free[k] = occupancy->limits[occupancy->counted[k]];
        steps[0].time_ns = 0;
        return 1;
    }
    clo_occupancy_descend(occupancy, from_ns, nothing, &p);
    do { /* ends: at the last step */
        const int64_t *entry = clo_occupancy_entry(occupancy, 0, p.node[0], p.at[0]);
        for (uint32_t k = 0; k < occupancy->counted_count; k++)
            steps[count].free[k] = p.room[0][k] - entry[1 + k];
        steps[count++].time_ns = entry[CLO_OCCUPANCY_TIME];
    } while (count < max && step_on(occupancy, &p));
    return count;
}

int64_t clo_occupancy_least_free(const clo_occupancy *occupancy, int64_t from_ns, int64_t to_ns, const int64_t *demand,
                                 int64_t *room)
{
    static const int64_t nothing[CLO_RESOURCES_MAX] = {0};
    clo_occupancy_path p;

    for (uint32_t k = 0; k < occupancy->counted_count; k++)
        room[k] = occupancy->limits[occupancy->counted[k]];
    if (occupancy->nodes[0].count == 0)
        return to_ns;
    clo_occupancy_descend(occupancy, from_ns, demand != NULL ? demand : nothing, &p);
    do { /* ends: at the last step */
        const int64_t *entry = clo_occupancy_entry(occupancy, 0, p.node[0], p.at[0]);
        if (entry[CLO_OCCUPANCY_TIME] >= to_ns)
            return to_ns;
        if (demand != NULL && !has_room(entry + 1, p.room[0], occupancy->lanes))
            return entry[CLO_OCCUPANCY_TIME];
        for (uint32_t k = 0; k < occupancy->counted_count; k++) {
            int64_t free = p.room[0][k] - entry[1 + k] + (demand != NULL ? demand[occupancy->counted[k]] : 0);
            room[k] = free < room[k] ? free : room[k];
        }
    } while (step_on(occupancy, &p));
    return to_ns;
}

void clo_occupancy_clear(clo_occupancy *occupancy)
{
    occupancy->nodes[0].count = occupancy->nodes[1].count = 0;
}

void clo_occupancy_free(clo_occupancy *occupancy)
{
    for (int i = 0; i < 2; i++) {
        clo_free(occupancy->nodes[i].words);
        clo_free(occupancy->nodes[i].counts);
        clo_free(occupancy->nodes[i].held);
        clo_free(occupancy->nodes[i].left);
        occupancy->nodes[i] = (clo_occupancy_nodes){0};
    }
}
