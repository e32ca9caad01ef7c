/* combining.h - flat combining (Hendler, Incze, Shavit, Tzafrir, SPAA 2010) with one publication record for each
 * poster.
 *
 * Under policy dispatch a worker runs at most one execution of a job at a time, and gets the next one only after this
 * one's completion has been read. So its completions need no queue: it writes the execution into its own record and
 * adds one to `posts`. Whoever finds `posts` at 0 becomes the combiner: it reads records and decides, until it has
 * handled exactly as many posts as were added; then `posts` goes back to 0 in one step. Until then it only grows:
 * subtracting what is handled would let it pass through 0 when an add comes late, and the next to post would be a
 * second combiner. A combiner that was quicker than an add goes round until it arrives, one instruction later. Instead
 * of the paper's lock, the count itself says who combines.
 *
 *               post   read   leave
 *      post      -*      -      -      (* one post at a time for one record, the next only after it was read)
 *      read      -       X      X      (the combiner only)
 *      leave     -       X      X      (the combiner only)
 *
 * Progress: post is wait-free (a store and an add). The combiner waits only for adds of posts that it has already read.
 * Ordering: what a poster wrote before post happens before what the combiner does after read: [B] acquire pairs with
 * [A] release. What one combiner wrote happens before what the next one does: [C] and [D] are read-modify-writes of one
 * word, both acq_rel. The emptied record at [E] reaches its poster with the item that it is given next.
 * Mutation list: [A] relaxed; [B] relaxed; [C] relaxed; [D] relaxed; [D] a subtraction. */
#ifndef CLO_SYNC_COMBINING_H
#define CLO_SYNC_COMBINING_H

#include "base/memory.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define CLO_COMBINING_EMPTY UINT32_MAX

typedef struct clo_combining_slot {
    alignas(CLO_CACHE_LINE_BYTES) _Atomic uint32_t news;
} clo_combining_slot;

typedef struct clo_combining {
    alignas(CLO_CACHE_LINE_BYTES) _Atomic uint32_t posts; /* since nobody combined */
    clo_combining_slot *slots;
} clo_combining;

static inline void clo_combining_init(clo_combining *combining, clo_combining_slot *slots, uint32_t count)
{
    combining->slots = slots;
    atomic_init(&combining->posts, 0);
    for (uint32_t s = 0; s < count; s++)
        atomic_init(&slots[s].news, CLO_COMBINING_EMPTY);
}

/* True: the caller is the combiner now, its own news are among the records. False: the combiner will read them. */
static inline bool clo_combining_post(clo_combining *combining, uint32_t slot, uint32_t news)
{
    atomic_store_explicit(&combining->slots[slot].news, news, memory_order_release);   /* [A] */
    return atomic_fetch_add_explicit(&combining->posts, 1, memory_order_acq_rel) == 0; /* [C] */
}

/* Combiner: takes what is in a record; CLO_COMBINING_EMPTY: nothing. */
static inline uint32_t clo_combining_read(clo_combining *combining, uint32_t slot)
{
    _Atomic uint32_t *place = &combining->slots[slot].news;
    uint32_t news = atomic_load_explicit(place, memory_order_acquire); /* [B] */

    if (news != CLO_COMBINING_EMPTY)
        atomic_store_explicit(place, CLO_COMBINING_EMPTY, memory_order_relaxed); /* [E] */
    return news;
}

/* Combiner, having handled `handled` posts: true if it is none any more. False: there are more posts. */
static inline bool clo_combining_leave(clo_combining *combining, uint32_t handled)
{
    return atomic_compare_exchange_strong_explicit(&combining->posts, &handled, 0, memory_order_acq_rel, /* [D] */
                                                   memory_order_relaxed);
}

#endif
