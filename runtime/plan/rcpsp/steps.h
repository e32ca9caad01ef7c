/* plan/rcpsp/steps.h - what is free on a machine over time, for the packing builders: a step function in chunks.
 *
 * Steps are sorted by time, each holds until the next one, the last for ever with everything free. Chunks of steps are
 * chained in order of time, so inserting moves at most a chunk. The search of serial generation looks at the last
 * LOOK_BACK chunks only: in a packing of 100 000 tasks nearly every hole further back is too short, and looking at all
 * of them made the time grow with the square of the tasks. Up to some 2 000 tasks nothing is ever out of sight. Of
 * those in sight a search passes at once what is known to have too little free anywhere, or nowhere long enough. */
#ifndef CLO_PLAN_RCPSP_STEPS_H
#define CLO_PLAN_RCPSP_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/carve.h"
#include "base/memory.h"

enum { CLO_STEPS_CHUNK = 64, CLO_STEPS_LOOK_BACK = 128, CLO_STEPS_WINDOWS = 4, CLO_STEPS_SPAN = 32 };

/* What is known of parts of a chunk: of blocks of steps, one after the other, and behind them of all of it. */
enum {
    CLO_STEPS_BLOCK = 8,
    CLO_STEPS_BLOCKS = CLO_STEPS_CHUNK / CLO_STEPS_BLOCK,
    CLO_STEPS_PARTS = CLO_STEPS_BLOCKS + 1
};

/* Words of what is free at a step, or demanded, at most. */
enum { CLO_STEPS_WORDS_MAX = 5 };

typedef struct clo_rcpsp_steps {
    int64_t *time_ns; /* [chunks * CHUNK]                                            */
    uint64_t *free;   /* [chunks * CHUNK * words] with guards                        */
    uint64_t *most; /* [chunks * PARTS * WINDOWS * words] with guards: at no time of the part more stays free as long as
                         the window lasts */
    uint32_t *exact; /* [chunks] nothing was taken since `most` was made exact             */
    uint32_t *used;  /* [chunks] steps in each                                      */
    uint32_t *chain; /* [count] chunks in order of time                             */
    uint32_t count;
    uint32_t look_back;        /* chunks at the end that a search from the front looks at; UINT32_MAX: all */
    const int64_t *windows_ns; /* [WINDOWS] rising, the first one 0: how long tasks last, see problem.h */
    uint64_t looks;            /* at steps, by searches since it was cleared */
} clo_rcpsp_steps;

/* A step: `at` in the chunk at `link` of the chain. */
typedef struct clo_rcpsp_step {
    uint32_t link, at;
} clo_rcpsp_step;

/* Chunks that steps_max steps can need: all but one are at least half full. */
static inline size_t clo_rcpsp_steps_chunks(size_t steps_max)
{
    return steps_max / (CLO_STEPS_CHUNK / 2) + 2;
}

/* Carves what `machines` machines need; the pointers of `all` are those of the first one. */
static inline void clo_rcpsp_steps_carve(clo_block *block, clo_rcpsp_steps *all, size_t machines, size_t steps_max,
                                         uint32_t words)
{
    size_t chunks = clo_rcpsp_steps_chunks(steps_max) * machines;

    clo_carve(block, &all->time_ns, chunks * CLO_STEPS_CHUNK);
    clo_carve(block, &all->free, chunks * CLO_STEPS_CHUNK * words);
    clo_carve(block, &all->most, chunks * CLO_STEPS_PARTS * CLO_STEPS_WINDOWS * words);
    clo_carve(block, &all->exact, chunks);
    clo_carve(block, &all->used, chunks);
    clo_carve(block, &all->chain, chunks);
}

/* The part of one machine of what was carved for all. */
static inline clo_rcpsp_steps clo_rcpsp_steps_part(const clo_rcpsp_steps *all, size_t machine, size_t steps_max,
                                                   uint32_t words)
{
    size_t from = clo_rcpsp_steps_chunks(steps_max) * machine;
    clo_rcpsp_steps part = *all;

    part.time_ns += from * CLO_STEPS_CHUNK;
    part.free += from * CLO_STEPS_CHUNK * words;
    part.most += from * CLO_STEPS_PARTS * CLO_STEPS_WINDOWS * words;
    part.exact += from;
    part.used += from;
    part.chain += from;
    return part;
}

/* Everything is free from begin_ns on. */
static inline void clo_rcpsp_steps_clear(clo_rcpsp_steps *steps, int64_t begin_ns, const uint64_t *capacity,
                                         uint32_t words)
{
    steps->count = 1;
    steps->looks = 0;
    steps->chain[0] = 0;
    steps->used[0] = steps->exact[0] = 1;
    steps->time_ns[0] = begin_ns;
    memcpy(steps->free, capacity, words * sizeof *capacity);
    for (uint32_t k = 0; k < CLO_STEPS_PARTS * CLO_STEPS_WINDOWS; k++)
        memcpy(&steps->most[(size_t)k * words], capacity, words * sizeof *capacity);
}

static inline void clo_rcpsp_steps_copy(clo_rcpsp_steps *to, const clo_rcpsp_steps *from, uint32_t words)
{
    size_t chunks = from->count, steps = chunks * CLO_STEPS_CHUNK;

    to->count = from->count;
    memcpy(to->time_ns, from->time_ns, steps * sizeof *to->time_ns);
    memcpy(to->free, from->free, steps * words * sizeof *to->free);
    memcpy(to->most, from->most, chunks * CLO_STEPS_PARTS * CLO_STEPS_WINDOWS * words * sizeof *to->most);
    memcpy(to->exact, from->exact, chunks * sizeof *to->exact);
    memcpy(to->used, from->used, chunks * sizeof *to->used);
    memcpy(to->chain, from->chain, chunks * sizeof *to->chain);
}

/* The higher value in each lane. Both have their guards. */
static inline uint64_t clo_rcpsp_higher(uint64_t a, uint64_t b, uint64_t guards)
{
    uint64_t above = (a - (b & ~guards)) & guards; /* guards of the lanes where a >= b */
    uint64_t mask = above - (above >> __builtin_ctzll(guards));

    return guards | (a & mask) | (b & ~mask);
}

/* The lower value in each lane. Both have their guards. */
static inline uint64_t clo_rcpsp_lower(uint64_t a, uint64_t b, uint64_t guards)
{
    uint64_t above = (a - (b & ~guards)) & guards;
    uint64_t mask = above - (above >> __builtin_ctzll(guards));

    return guards | (a & ~mask) | (b & mask);
}

/* True where the demand fits: no guard is borrowed. */
static inline bool clo_rcpsp_fits(const uint64_t *free, const uint64_t *demand, uint32_t words, uint64_t guards)
{
    uint64_t left = guards;

    for (uint32_t w = 0; w < words; w++)
        left &= free[w] - demand[w];
    return left == guards;
}

static inline int64_t clo_rcpsp_chunk_begin_ns(const clo_rcpsp_steps *steps, uint32_t link)
{
    return link < steps->count ? steps->time_ns[(size_t)steps->chain[link] * CLO_STEPS_CHUNK] : INT64_MAX;
}

/* The last step with time <= time_ns. Most searches look near the end: that is tried first. */
static inline clo_rcpsp_step clo_rcpsp_step_at(const clo_rcpsp_steps *steps, int64_t time_ns)
{
    uint32_t low = 0, high = steps->count;

    if (clo_rcpsp_chunk_begin_ns(steps, high - 1) <= time_ns)
        low = high - 1;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (clo_rcpsp_chunk_begin_ns(steps, middle) <= time_ns)
            low = middle;
        else
            high = middle;
    }
    uint32_t chunk = steps->chain[low], first = 0, end = steps->used[chunk];
    const int64_t *time = &steps->time_ns[(size_t)chunk * CLO_STEPS_CHUNK];
    while (end - first > 1) {
        uint32_t middle = first + (end - first) / 2;
        if (time[middle] <= time_ns)
            first = middle;
        else
            end = middle;
    }
    return (clo_rcpsp_step){low, first};
}

static inline clo_rcpsp_step clo_rcpsp_step_after(const clo_rcpsp_steps *steps, clo_rcpsp_step step)
{
    return step.at + 1 < steps->used[steps->chain[step.link]] ? (clo_rcpsp_step){step.link, step.at + 1}
                                                              : (clo_rcpsp_step){step.link + 1, 0};
}

static inline clo_rcpsp_step clo_rcpsp_step_before(const clo_rcpsp_steps *steps, clo_rcpsp_step step)
{
    return step.at > 0 ? (clo_rcpsp_step){step.link, step.at - 1}
                       : (clo_rcpsp_step){step.link - 1, steps->used[steps->chain[step.link - 1]] - 1};
}

static inline size_t clo_rcpsp_step_index(const clo_rcpsp_steps *steps, clo_rcpsp_step step)
{
    return (size_t)steps->chain[step.link] * CLO_STEPS_CHUNK + step.at;
}

/* Where the most of a part of a chunk lies, for the first window. */
static inline size_t clo_rcpsp_part(uint32_t chunk, uint32_t part, uint32_t words)
{
    return ((size_t)chunk * CLO_STEPS_PARTS + part) * CLO_STEPS_WINDOWS * words;
}

/* Raises the most of a part of a chunk to that of another one. */
static inline void clo_rcpsp_part_raise(clo_rcpsp_steps *steps, size_t part, size_t other, uint32_t words,
                                        uint64_t guards)
{
    for (uint32_t i = 0; i < CLO_STEPS_WINDOWS * words; i++)
        steps->most[part + i] = clo_rcpsp_higher(steps->most[part + i], steps->most[other + i], guards);
}

/* Raises the most of a step's block to what stays free from the step on: as long as each window, but not more than SPAN
 * steps on, which is no less. */
static inline void clo_rcpsp_spread(clo_rcpsp_steps *steps, clo_rcpsp_step from, uint32_t words, uint64_t guards)
{
    size_t most = clo_rcpsp_part(steps->chain[from.link], from.at / CLO_STEPS_BLOCK, words);
    size_t index = clo_rcpsp_step_index(steps, from);
    int64_t begin_ns = steps->time_ns[index];
    clo_rcpsp_step next = clo_rcpsp_step_after(steps, from);
    uint64_t least[CLO_STEPS_WORDS_MAX];

    memcpy(least, &steps->free[index * words], words * sizeof *least);
    for (uint32_t k = 0, span = 0; k < CLO_STEPS_WINDOWS; k++) {
        for (; span < CLO_STEPS_SPAN && next.link < steps->count; span++) {
            index = clo_rcpsp_step_index(steps, next);
            if (steps->time_ns[index] - begin_ns >= steps->windows_ns[k])
                break;
            for (uint32_t w = 0; w < words; w++)
                least[w] = clo_rcpsp_lower(least[w], steps->free[index * words + w], guards);
            next = clo_rcpsp_step_after(steps, next);
        }
        for (uint32_t w = 0; w < words; w++, most++)
            steps->most[most] = clo_rcpsp_higher(steps->most[most], least[w], guards);
    }
}

/* What is free only falls, so `most` holds once it is right. It is made exact when a search has looked at a chunk in
 * vain, and lets the next ones pass. */
static inline void clo_rcpsp_chunk_refresh(clo_rcpsp_steps *steps, uint32_t link, uint32_t words, uint64_t guards)
{
    uint32_t chunk = steps->chain[link];
    size_t first = clo_rcpsp_part(chunk, 0, words), all = clo_rcpsp_part(chunk, CLO_STEPS_BLOCKS, words);

    if (steps->exact[chunk])
        return;
    for (size_t i = first; i < clo_rcpsp_part(chunk + 1, 0, words); i++)
        steps->most[i] = guards;
    for (uint32_t at = 0; at < steps->used[chunk]; at++)
        clo_rcpsp_spread(steps, (clo_rcpsp_step){link, at}, words, guards);
    for (uint32_t block = 0; block < CLO_STEPS_BLOCKS; block++)
        clo_rcpsp_part_raise(steps, all, clo_rcpsp_part(chunk, block, words), words, guards);
    steps->exact[chunk] = 1;
}

/* The longest window that is no longer than the duration. */
static inline uint32_t clo_rcpsp_window_of(const clo_rcpsp_steps *steps, int64_t duration_ns)
{
    uint32_t k = 0;

    while (k + 1 < CLO_STEPS_WINDOWS && steps->windows_ns[k + 1] <= duration_ns)
        k++;
    return k;
}

/* False: the demand fits at no time of that part of the chunk for as long as the window. */
static inline bool clo_rcpsp_part_may_hold(const clo_rcpsp_steps *steps, uint32_t chunk, uint32_t part, uint32_t window,
                                           const uint64_t *demand, uint32_t words, uint64_t guards)
{
    return clo_rcpsp_fits(&steps->most[clo_rcpsp_part(chunk, part, words) + (size_t)window * words], demand, words,
                          guards);
}

/* Earliest start >= ready_ns within sight of `duration_ns` > 0 with `demand`; *found receives its step. Ends: in the
 * last step everything is free, and the demand fits an empty machine. */
static inline int64_t clo_rcpsp_steps_find(clo_rcpsp_steps *steps, int64_t ready_ns, int64_t duration_ns,
                                           const uint64_t *demand, uint32_t words, uint64_t guards,
                                           clo_rcpsp_step *found)
{
    clo_rcpsp_step here = clo_rcpsp_step_at(steps, ready_ns);
    uint32_t window = clo_rcpsp_window_of(steps, duration_ns);
    bool is_open = false; /* everything from start to here fits */
    int64_t start = ready_ns;

    if (steps->look_back < steps->count && here.link < steps->count - steps->look_back) {
        here = (clo_rcpsp_step){steps->count - steps->look_back, 0};
        ready_ns = clo_rcpsp_chunk_begin_ns(steps, here.link);
    }
    for (;; here = (clo_rcpsp_step){here.link + 1, 0}) {
        uint32_t chunk = steps->chain[here.link], used = steps->used[chunk];
        const int64_t *time = &steps->time_ns[(size_t)chunk * CLO_STEPS_CHUNK];
        const uint64_t *free = &steps->free[(size_t)chunk * CLO_STEPS_CHUNK * words];
        bool may_hold = clo_rcpsp_part_may_hold(steps, chunk, CLO_STEPS_BLOCKS, window, demand, words, guards);
        for (; here.at < used && (is_open || may_hold); here.at++) {
            if (!is_open &&
                !clo_rcpsp_part_may_hold(steps, chunk, here.at / CLO_STEPS_BLOCK, window, demand, words, guards)) {
                here.at |= CLO_STEPS_BLOCK - 1;
                continue;
            }
            steps->looks++;
            if (!clo_rcpsp_fits(&free[(size_t)here.at * words], demand, words, guards)) {
                is_open = false;
                continue;
            }
            if (!is_open) {
                start = time[here.at] > ready_ns ? time[here.at] : ready_ns;
                *found = here;
            }
            is_open = true;
            int64_t end = here.at + 1 < used ? time[here.at + 1] : clo_rcpsp_chunk_begin_ns(steps, here.link + 1);
            if (end - duration_ns >= start)
                return start;
        }
        if (is_open || may_hold)
            clo_rcpsp_chunk_refresh(steps, here.link, words, guards);
    }
}

/* From the step that an execution would begin in back to the first one whose part may hold it. Ends: the first step
 * does. */
static inline clo_rcpsp_step clo_rcpsp_pass_back(const clo_rcpsp_steps *steps, clo_rcpsp_step from, uint32_t window,
                                                 const uint64_t *demand, uint32_t words, uint64_t guards)
{
    for (;; from = clo_rcpsp_step_before(steps, from)) {
        uint32_t chunk = steps->chain[from.link], block = from.at / CLO_STEPS_BLOCK;

        if (!clo_rcpsp_part_may_hold(steps, chunk, CLO_STEPS_BLOCKS, window, demand, words, guards))
            from.at = 0;
        else if (!clo_rcpsp_part_may_hold(steps, chunk, block, window, demand, words, guards))
            from.at = block * CLO_STEPS_BLOCK;
        else
            return from;
    }
}

/* Latest start that ends by due_ns, as above, but nothing is out of sight. Ends: in the first step everything is free,
 * and it begins long before. */
static inline int64_t clo_rcpsp_steps_find_late(clo_rcpsp_steps *steps, int64_t due_ns, int64_t duration_ns,
                                                const uint64_t *demand, uint32_t words, uint64_t guards)
{
    clo_rcpsp_step here = clo_rcpsp_step_at(steps, due_ns - 1);
    uint32_t window = clo_rcpsp_window_of(steps, duration_ns);
    clo_rcpsp_step from = here; /* where it would start */
    int64_t finish = due_ns;

    for (;;) {
        if (clo_rcpsp_chunk_begin_ns(steps, from.link) > finish - duration_ns)
            from = clo_rcpsp_step_at(steps, finish - duration_ns);
        while (steps->time_ns[clo_rcpsp_step_index(steps, from)] > finish - duration_ns)
            from = clo_rcpsp_step_before(steps, from);
        clo_rcpsp_step to = clo_rcpsp_pass_back(steps, from, window, demand, words, guards);
        if (to.link != from.link || to.at != from.at) {
            clo_rcpsp_step next = clo_rcpsp_step_after(steps, to);
            finish = steps->time_ns[clo_rcpsp_step_index(steps, next)] - 1 + duration_ns;
            here = clo_rcpsp_step_at(steps, finish - 1);
            from = to;
        }
        size_t index = clo_rcpsp_step_index(steps, here);
        while (clo_rcpsp_fits(&steps->free[index * words], demand, words, guards)) {
            if (steps->time_ns[index] <= finish - duration_ns)
                return finish - duration_ns;
            here = clo_rcpsp_step_before(steps, here);
            index = clo_rcpsp_step_index(steps, here);
            steps->looks++;
        }
        int64_t part_ns = steps->time_ns[clo_rcpsp_step_index(steps, to) - to.at % CLO_STEPS_BLOCK];
        do {
            finish = steps->time_ns[index];
            here = clo_rcpsp_step_before(steps, here);
            index = clo_rcpsp_step_index(steps, here);
            steps->looks++;
        } while (finish - duration_ns >= part_ns &&
                 !clo_rcpsp_fits(&steps->free[index * words], demand, words, guards));
        clo_rcpsp_chunk_refresh(steps, to.link, words, guards);
    }
}

/* Cuts a full chunk in two halves, the second behind it in the chain. */
static inline void clo_rcpsp_chunk_halve(clo_rcpsp_steps *steps, uint32_t link, uint32_t words)
{
    enum { HALF = CLO_STEPS_CHUNK / 2 };
    uint32_t chunk = steps->chain[link], fresh = steps->count;
    size_t from = (size_t)chunk * CLO_STEPS_CHUNK + HALF, to = (size_t)fresh * CLO_STEPS_CHUNK;

    memcpy(&steps->time_ns[to], &steps->time_ns[from], HALF * sizeof *steps->time_ns);
    memcpy(&steps->free[to * words], &steps->free[from * words], HALF * words * sizeof *steps->free);
    memcpy(&steps->most[clo_rcpsp_part(fresh, 0, words)], &steps->most[clo_rcpsp_part(chunk, 0, words)],
           CLO_STEPS_PARTS * CLO_STEPS_WINDOWS * words * sizeof *steps->most);
    memcpy(&steps->most[clo_rcpsp_part(fresh, 0, words)],
           &steps->most[clo_rcpsp_part(chunk, CLO_STEPS_BLOCKS / 2, words)],
           (size_t)CLO_STEPS_BLOCKS / 2 * CLO_STEPS_WINDOWS * words * sizeof *steps->most);
    memmove(&steps->chain[link + 2], &steps->chain[link + 1], (steps->count - link - 1) * sizeof *steps->chain);
    steps->chain[link + 1] = fresh;
    steps->used[chunk] = steps->used[fresh] = HALF;
    steps->exact[chunk] = steps->exact[fresh] = 0;
    steps->count++;
}

/* Makes a step begin at time_ns, which lies in step `in`; gives it. */
static inline clo_rcpsp_step clo_rcpsp_steps_cut(clo_rcpsp_steps *steps, clo_rcpsp_step in, int64_t time_ns,
                                                 uint32_t words, uint64_t guards)
{
    if (steps->time_ns[(size_t)steps->chain[in.link] * CLO_STEPS_CHUNK + in.at] == time_ns)
        return in;
    if (steps->used[steps->chain[in.link]] == CLO_STEPS_CHUNK) {
        clo_rcpsp_chunk_halve(steps, in.link, words);
        if (in.at >= CLO_STEPS_CHUNK / 2)
            in = (clo_rcpsp_step){in.link + 1, in.at - CLO_STEPS_CHUNK / 2};
    }
    uint32_t chunk = steps->chain[in.link], behind = steps->used[chunk]++ - in.at - 1;
    for (uint32_t block = CLO_STEPS_BLOCKS; --block > in.at / CLO_STEPS_BLOCK;) /* the last step of each moves on */
        clo_rcpsp_part_raise(steps, clo_rcpsp_part(chunk, block, words), clo_rcpsp_part(chunk, block - 1, words), words,
                             guards);
    int64_t *time = &steps->time_ns[(size_t)chunk * CLO_STEPS_CHUNK + in.at];
    uint64_t *free = &steps->free[((size_t)chunk * CLO_STEPS_CHUNK + in.at) * words];
    memmove(time + 2, time + 1, behind * sizeof *time);
    memmove(free + 2 * words, free + words, (size_t)behind * words * sizeof *free);
    time[1] = time_ns;
    for (uint32_t w = 0; w < words; w++)
        free[words + w] = free[w];
    return (clo_rcpsp_step){in.link, in.at + 1};
}

/* Takes `demand` during [start_ns, finish_ns), not empty, where it fits; `in`: the step that start_ns lies in. */
static inline void clo_rcpsp_steps_take(clo_rcpsp_steps *steps, clo_rcpsp_step in, int64_t start_ns, int64_t finish_ns,
                                        const uint64_t *demand, uint32_t words, uint64_t guards)
{
    clo_rcpsp_step here = clo_rcpsp_steps_cut(steps, in, start_ns, words, guards);

    if (here.link > 0)
        steps->exact[steps->chain[here.link - 1]] = 0; /* windows of its last steps end behind it */
    for (;;) {                                         /* ends at finish_ns, or in the last step */
        uint32_t chunk = steps->chain[here.link];
        bool is_last = here.at + 1 == steps->used[chunk];
        size_t index = (size_t)chunk * CLO_STEPS_CHUNK + here.at;
        int64_t end = is_last ? clo_rcpsp_chunk_begin_ns(steps, here.link + 1) : steps->time_ns[index + 1];

        if (end > finish_ns) {
            clo_rcpsp_step rest = clo_rcpsp_steps_cut(steps, here, finish_ns, words, guards);
            here = (clo_rcpsp_step){rest.link, rest.at - 1}; /* of its chunk: a halved one has moved it */
            index = (size_t)steps->chain[here.link] * CLO_STEPS_CHUNK + here.at;
        }
        for (uint32_t w = 0; w < words; w++)
            steps->free[index * words + w] -= demand[w];
        steps->exact[steps->chain[here.link]] = 0;
        if (end >= finish_ns)
            return;
        here = is_last ? (clo_rcpsp_step){here.link + 1, 0} : (clo_rcpsp_step){here.link, here.at + 1};
    }
}

#endif
