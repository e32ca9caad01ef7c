/* board.h - news for whoever decides: one slot for each poster, and the turn to read them.
 *
 * Under policy dispatch a worker runs at most one entry of a job at a time, and gets the next one only after this one's
 * completion has been read. So its completions need no queue: it writes the entry into its own slot and adds one to
 * the turn. Whoever finds the turn at 0 holds it, reads slots and decides, until it has handled exactly as
 * many posts as were added; then the turn goes back to 0 in one step. While the turn is held it only grows:
 * subtracting what is handled would let it pass through 0 when an add comes late, and the next to post would be a
 * second holder. A holder that was quicker than an add goes round until it arrives, one instruction later.
 *
 *               post   read   leave
 *      post      -*      -      -      (* one post at a time for one slot, the next only after it was read)
 *      read      -       X      X      (the holder only)
 *      leave     -       X      X      (the holder only)
 *
 * Progress: post is wait-free (a store and an add). The holder waits only for adds of posts that it has already read.
 * Ordering: what a poster wrote before post happens before what the holder does after read: [B] acquire pairs with [A]
 * release. What one holder wrote happens before what the next one does: [C] and [D] are read-modify-writes of one
 * word, both acq_rel. The emptied slot at [E] reaches its poster with the item that it is given next.
 * Mutation list: [A] relaxed; [B] relaxed; [C] relaxed; [D] relaxed; [D] a subtraction. */
#ifndef CLO_SYNC_BOARD_H
#define CLO_SYNC_BOARD_H

#include "base/memory.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define CLO_BOARD_EMPTY UINT32_MAX

typedef struct clo_board_slot {
    alignas(CLO_CACHE_LINE_BYTES) _Atomic uint32_t news;
} clo_board_slot;

typedef struct clo_board {
    alignas(CLO_CACHE_LINE_BYTES) _Atomic uint32_t turn; /* posts since it was free */
    clo_board_slot *slots;
} clo_board;

static inline void clo_board_init(clo_board *board, clo_board_slot *slots, uint32_t count)
{
    board->slots = slots;
    atomic_init(&board->turn, 0);
    for (uint32_t s = 0; s < count; s++)
        atomic_init(&slots[s].news, CLO_BOARD_EMPTY);
}

/* True: the caller holds the turn now, its own news are on the board. False: the holder will read them. */
static inline bool clo_board_post(clo_board *board, uint32_t slot, uint32_t news)
{
    atomic_store_explicit(&board->slots[slot].news, news, memory_order_release);  /* [A] */
    return atomic_fetch_add_explicit(&board->turn, 1, memory_order_acq_rel) == 0; /* [C] */
}

/* Holder: takes what is in a slot; CLO_BOARD_EMPTY: nothing. */
static inline uint32_t clo_board_read(clo_board *board, uint32_t slot)
{
    _Atomic uint32_t *place = &board->slots[slot].news;
    uint32_t news = atomic_load_explicit(place, memory_order_acquire); /* [B] */

    if (news != CLO_BOARD_EMPTY)
        atomic_store_explicit(place, CLO_BOARD_EMPTY, memory_order_relaxed); /* [E] */
    return news;
}

/* Holder, having handled `handled` posts: true if the turn is free now. False: there are more. */
static inline bool clo_board_leave(clo_board *board, uint32_t handled)
{
    return atomic_compare_exchange_strong_explicit(&board->turn, &handled, 0, memory_order_acq_rel, /* [D] */
                                                   memory_order_relaxed);
}

#endif
