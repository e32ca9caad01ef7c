/* plan/rcpsp/steps.h - what is free on a machine over time, for the packing builder: a step function in chunks.
 *
 * Steps are sorted by time, the first stands at 0, each holds until the next one, the last for ever with everything
 * free. Chunks of steps are chained in order of time, so inserting moves at most a chunk. A search looks at the last
 * LOOK_BACK chunks only: in a packing of 100 000 tasks nearly every hole further back is too short, and looking at all
 * of them made the time grow with the square of the tasks. Up to some 2 000 tasks nothing is ever out of sight. Of
 * those in sight it passes at once what is known to have too little free anywhere. */
#ifndef CLO_PLAN_RCPSP_STEPS_H
#define CLO_PLAN_RCPSP_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/carve.h"
#include "base/memory.h"

enum { CLO_STEPS_CHUNK = 64, CLO_STEPS_LOOK_BACK = 128 };

typedef struct clo_rcpsp_steps {
    int64_t *time_ns; /* [chunks * CHUNK]                                            */
    uint64_t *free;   /* [chunks * CHUNK * words] with guards                        */
    uint64_t *most;   /* [chunks * words] with guards: no step of the chunk has more free  */
    uint32_t *exact;  /* [chunks] nothing was taken since `most` was made exact             */
    uint32_t *used;   /* [chunks] steps in each                                      */
    uint32_t *chain;  /* [count] chunks in order of time                             */
    uint32_t count;
    uint64_t looks; /* at chunks, by searches since it was cleared */
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
    clo_carve(block, &all->most, chunks * words);
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
    part.most += from * words;
    part.exact += from;
    part.used += from;
    part.chain += from;
    return part;
}

static inline void clo_rcpsp_steps_clear(clo_rcpsp_steps *steps, const uint64_t *capacity, uint32_t words)
{
    steps->count = 1;
    steps->looks = 0;
    steps->chain[0] = 0;
    steps->used[0] = steps->exact[0] = 1;
    steps->time_ns[0] = 0;
    memcpy(steps->free, capacity, words * sizeof *capacity);
    memcpy(steps->most, capacity, words * sizeof *capacity);
}

/* The higher value in each lane. Both have their guards. */
static inline uint64_t clo_rcpsp_higher(uint64_t a, uint64_t b, uint64_t guards)
{
    uint64_t above = (a - (b & ~guards)) & guards; /* guards of the lanes where a >= b */
    uint64_t mask = above - (above >> __builtin_ctzll(guards));

    return guards | (a & mask) | (b & ~mask);
}

/* What is free only falls, so `most` holds once it is right. It is made exact when a search has looked at a whole chunk
 * in vain, and lets the next ones pass. */
static inline void clo_rcpsp_chunk_refresh(clo_rcpsp_steps *steps, uint32_t chunk, uint32_t words, uint64_t guards)
{
    const uint64_t *free = &steps->free[(size_t)chunk * CLO_STEPS_CHUNK * words];

    for (uint32_t w = 0; w < words; w++) {
        uint64_t most = guards;
        for (uint32_t at = 0; at < steps->used[chunk]; at++)
            most = clo_rcpsp_higher(most, free[(size_t)at * words + w], guards);
        steps->most[(size_t)chunk * words + w] = most;
    }
    steps->exact[chunk] = 1;
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

/* Earliest start >= ready_ns within sight of `duration_ns` > 0 with `demand`; *found receives its step. Ends: in the
 * last step everything is free, and the demand fits an empty machine. */
static inline int64_t clo_rcpsp_steps_find(clo_rcpsp_steps *steps, int64_t ready_ns, int64_t duration_ns,
                                           const uint64_t *demand, uint32_t words, uint64_t guards,
                                           clo_rcpsp_step *found)
{
    clo_rcpsp_step here = clo_rcpsp_step_at(steps, ready_ns);
    int64_t start = ready_ns;
    if (here.link + CLO_STEPS_LOOK_BACK < steps->count) {
        here = (clo_rcpsp_step){steps->count - CLO_STEPS_LOOK_BACK, 0};
        start = clo_rcpsp_chunk_begin_ns(steps, here.link);
    }
    bool is_open = true; /* everything from start to here fits */

    *found = here;
    for (;; here = (clo_rcpsp_step){here.link + 1, 0}) {
        uint32_t chunk = steps->chain[here.link], used = steps->used[chunk];
        const int64_t *time = &steps->time_ns[(size_t)chunk * CLO_STEPS_CHUNK];
        const uint64_t *free = &steps->free[(size_t)chunk * CLO_STEPS_CHUNK * words];
        bool is_whole = here.at == 0, is_full = is_whole;

        if (is_whole && !clo_rcpsp_fits(&steps->most[(size_t)chunk * words], demand, words, guards)) {
            is_open = false;
            continue;
        }
        steps->looks++;
        for (; here.at < used; here.at++) {
            if (!clo_rcpsp_fits(&free[(size_t)here.at * words], demand, words, guards)) {
                is_open = false;
                continue;
            }
            is_full = false;
            if (!is_open) {
                start = time[here.at];
                *found = here;
            }
            is_open = true;
            int64_t end = here.at + 1 < used ? time[here.at + 1] : clo_rcpsp_chunk_begin_ns(steps, here.link + 1);
            if (end - duration_ns >= start)
                return start;
        }
        if (is_full && steps->exact[chunk] == 0)
            clo_rcpsp_chunk_refresh(steps, chunk, words, guards);
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
    memcpy(&steps->most[(size_t)fresh * words], &steps->most[(size_t)chunk * words], words * sizeof *steps->most);
    memmove(&steps->chain[link + 2], &steps->chain[link + 1], (steps->count - link - 1) * sizeof *steps->chain);
    steps->chain[link + 1] = fresh;
    steps->used[chunk] = steps->used[fresh] = HALF;
    steps->exact[chunk] = steps->exact[fresh] = 0;
    steps->count++;
}

/* Makes a step begin at time_ns, which lies in step `in`; gives it. */
static inline clo_rcpsp_step clo_rcpsp_steps_cut(clo_rcpsp_steps *steps, clo_rcpsp_step in, int64_t time_ns,
                                                 uint32_t words)
{
    if (steps->time_ns[(size_t)steps->chain[in.link] * CLO_STEPS_CHUNK + in.at] == time_ns)
        return in;
    if (steps->used[steps->chain[in.link]] == CLO_STEPS_CHUNK) {
        clo_rcpsp_chunk_halve(steps, in.link, words);
        if (in.at >= CLO_STEPS_CHUNK / 2)
            in = (clo_rcpsp_step){in.link + 1, in.at - CLO_STEPS_CHUNK / 2};
    }
    uint32_t chunk = steps->chain[in.link], behind = steps->used[chunk]++ - in.at - 1;
    int64_t *time = &steps->time_ns[(size_t)chunk * CLO_STEPS_CHUNK + in.at];
    uint64_t *free = &steps->free[((size_t)chunk * CLO_STEPS_CHUNK + in.at) * words];
    memmove(time + 2, time + 1, behind * sizeof *time);
    memmove(free + 2 * words, free + words, (size_t)behind * words * sizeof *free);
    time[1] = time_ns;
    for (uint32_t w = 0; w < words; w++)
        free[words + w] = free[w];
    return (clo_rcpsp_step){in.link, in.at + 1};
}

/* Takes `demand` during [start_ns, finish_ns), where it fits; `in`: the step that start_ns lies in. */
static inline void clo_rcpsp_steps_take(clo_rcpsp_steps *steps, clo_rcpsp_step in, int64_t start_ns, int64_t finish_ns,
                                        const uint64_t *demand, uint32_t words)
{
    clo_rcpsp_step here = clo_rcpsp_steps_cut(steps, in, start_ns, words);

    for (;;) { /* ends at finish_ns, or in the last step */
        uint32_t chunk = steps->chain[here.link];
        bool is_last = here.at + 1 == steps->used[chunk];
        size_t index = (size_t)chunk * CLO_STEPS_CHUNK + here.at;
        int64_t end = is_last ? clo_rcpsp_chunk_begin_ns(steps, here.link + 1) : steps->time_ns[index + 1];

        if (end > finish_ns) {
            clo_rcpsp_step rest = clo_rcpsp_steps_cut(steps, here, finish_ns, words);
            if (rest.at > 0) /* a halved chunk has moved it */
                here = (clo_rcpsp_step){rest.link, rest.at - 1};
            else
                here = (clo_rcpsp_step){rest.link - 1, steps->used[steps->chain[rest.link - 1]] - 1};
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
