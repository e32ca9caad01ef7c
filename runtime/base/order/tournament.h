/* base/order/tournament.h - the first of a fixed number of places, each with one event or none: a tournament tree
 * (Knuth, The Art of Computer Programming, volume 3, section 5.4.1). Earliest key first, ties in order of id, as in
 * base/order/heap.h.
 *
 * Who takes an event away mostly gives the same place another one soon. So a place that is cleared is only noted, and
 * the way up is walked once for both: one comparison a level, where a heap compares twice on the way down and again on
 * the way up. */
#ifndef CLO_BASE_ORDER_TOURNAMENT_H
#define CLO_BASE_ORDER_TOURNAMENT_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#define CLO_TOURNAMENT_NONE UINT32_MAX
#define CLO_TOURNAMENT_EMPTY UINT64_MAX /* an id that no event has; the key of such a place is INT64_MAX */

typedef struct clo_tournament {
    int64_t *keys;     /* [leaves] */
    uint64_t *ids;     /* [leaves] */
    uint32_t *winners; /* [2 * leaves] the place that is first below each node; 1 is the root, leaves + p place p */
    uint32_t leaves;   /* a power of two */
    uint32_t cleared;  /* a place that is empty, and may still be a winner; CLO_TOURNAMENT_NONE: none */
    uint32_t count;    /* events */
} clo_tournament;

/* How many leaves so many places need; places >= 1, at most 2^31. */
static inline uint32_t clo_tournament_leaves(uint32_t places)
{
    uint32_t leaves = 1;

    while (leaves < places)
        leaves *= 2;
    return leaves;
}

/* Empty, in the user's memory: keys[leaves], ids[leaves], winners[2 * leaves]. O(leaves). */
static inline void clo_tournament_open(clo_tournament *t, int64_t *keys, uint64_t *ids, uint32_t *winners,
                                       uint32_t leaves)
{
    *t = (clo_tournament){keys, ids, winners, leaves, CLO_TOURNAMENT_NONE, 0};
    for (uint32_t p = 0; p < leaves; p++) {
        keys[p] = INT64_MAX;
        ids[p] = CLO_TOURNAMENT_EMPTY;
        winners[leaves + p] = p;
    }
    for (uint32_t node = leaves - 1; node > 0; node--)
        winners[node] = winners[2 * node];
}

/* The event of the place is another one. Not inline: by itself the compiler chooses winners without branches, of which
 * each second one would be guessed wrong. */
static __attribute__((noinline)) void clo_tournament_play(clo_tournament *t, uint32_t place)
{
    uint32_t winner = place, *winners = t->winners;
    const int64_t *keys = t->keys;
    int64_t key = keys[place];

    for (uint32_t node = t->leaves + place; node > 1; node /= 2) {
        uint32_t other = winners[node ^ 1];
        int64_t against = keys[other];
        bool loses = against < key;
        if (against == key)
            loses = t->ids[other] < t->ids[winner];
        winner = loses ? other : winner;
        key = loses ? against : key;
        winners[node / 2] = winner;
    }
}

/* An event for a place that has none. */
static inline void clo_tournament_put(clo_tournament *t, uint32_t place, int64_t key, uint64_t id)
{
    assert(place < t->leaves);
    assert(t->ids[place] == CLO_TOURNAMENT_EMPTY && id != CLO_TOURNAMENT_EMPTY);
    t->count++;
    t->keys[place] = key;
    t->ids[place] = id;
    if (t->cleared == place)
        t->cleared = CLO_TOURNAMENT_NONE;
    clo_tournament_play(t, place);
}

/* The place has no event any more. */
static inline void clo_tournament_clear(clo_tournament *t, uint32_t place)
{
    assert(t->ids[place] != CLO_TOURNAMENT_EMPTY);
    if (t->cleared != CLO_TOURNAMENT_NONE)
        clo_tournament_play(t, t->cleared);
    t->count--;
    t->keys[place] = INT64_MAX;
    t->ids[place] = CLO_TOURNAMENT_EMPTY;
    t->cleared = place;
}

/* The place whose event is first; any place if there is no event. */
static inline uint32_t clo_tournament_first(clo_tournament *t)
{
    if (t->cleared != CLO_TOURNAMENT_NONE) {
        clo_tournament_play(t, t->cleared);
        t->cleared = CLO_TOURNAMENT_NONE;
    }
    return t->winners[1];
}

#endif
