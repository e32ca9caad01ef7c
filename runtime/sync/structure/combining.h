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
 * A combiner that has other things to do may hand over while there are posts still: the turn is vacant then, and
 * belongs to whoever takes it. A poster that finds others before it tries to; but all may have posted already, so
 * whoever hands over sees to it that somebody looks.
 *
 *               post   read   leave   hand over   take
 *      post      -*      -      -         -        -     (* one at a time for one record, the next after it was read)
 *      read      -       X      X         X        -     (the combiner only)
 *      leave     -       X      X         X        -     (the combiner only)
 *      hand over -       X      X         X        -     (the combiner only)
 *      take      -       -      -         -        -     (anybody)
 *
 * Progress: post and take are wait-free. The combiner waits only for adds of posts that it has already read.
 * Ordering: what a poster wrote before post happens before what the combiner does after read: [B] acquire pairs with
 * [A] release. What one combiner wrote happens before what the next one does: [C] and [D] are read-modify-writes of one
 * word, both acq_rel. The emptied record at [E] reaches its poster with the item that it is given next. With a vacant
 * turn what its last combiner wrote travels by [F] release and [G] acquire.
 * Mutation list: [A] relaxed; [B] relaxed; [C] relaxed; [D] relaxed; [D] a subtraction; [F] relaxed; [G] relaxed; a
 * take without an exchange. */
#ifndef CLO_SYNC_STRUCTURE_COMBINING_H
#define CLO_SYNC_STRUCTURE_COMBINING_H

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
    alignas(CLO_CACHE_LINE_BYTES) _Atomic uint32_t posts;  /* since nobody combined */
    alignas(CLO_CACHE_LINE_BYTES) _Atomic uint32_t vacant; /* 1: the turn belongs to whoever takes it */
    uint32_t handled;                                      /* posts, by those who had that turn */
    clo_combining_slot *slots;
} clo_combining;

static inline void clo_combining_init(clo_combining *combining, clo_combining_slot *slots, uint32_t count)
{
    combining->slots = slots;
    atomic_store_explicit(&combining->posts, 0, memory_order_relaxed);
    atomic_store_explicit(&combining->vacant, 0, memory_order_relaxed);
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

/* Combiner, having handled `handled` posts: it is none any more, although there may be others. */
static inline void clo_combining_hand_over(clo_combining *combining, uint32_t handled)
{
    combining->handled = handled;
    atomic_store_explicit(&combining->vacant, 1, memory_order_release); /* [F] */
}

/* Hint: clo_combining_take may have something to take. */
static inline bool clo_combining_is_vacant(const clo_combining *combining)
{
    return atomic_load_explicit(&combining->vacant, memory_order_relaxed) != 0;
}

/* True: the caller is the combiner now, and *handled posts are handled already. */
static inline bool clo_combining_take(clo_combining *combining, uint32_t *handled)
{
    if (!clo_combining_is_vacant(combining) ||
        atomic_exchange_explicit(&combining->vacant, 0, memory_order_acquire) == 0) /* [G] */
        return false;
    *handled = combining->handled;
    return true;
}

#endif
