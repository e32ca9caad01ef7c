/* deque.h - a worker's ready tasks: the owner pushes and pops at the bottom, thieves take from the top.
 *
 * Algorithm: Chase and Lev 2005 in the C11 form of Le, Pop, Cohen and Zappa Nardelli 2013, with a fixed ring (push says
 * "full" instead of growing: no allocation while running; the caller spills) and with the fences
 * replaced by seq_cst operations, which ThreadSanitizer understands.
 *
 *               push   pop   steal
 *      push      X      X      -      (owner only)
 *      pop       X      X      -      (owner only)
 *      steal     -      -      -
 *
 * Progress: push wait-free, pop and steal lock-free (a failing CAS means somebody else got the item).
 * Ordering: what the owner wrote before push happens before what the thief does with the item: [B] acquire pairs with
 * [A] release. The two-location race that needs seq_cst: the owner lowers bottom then reads top ([C], [D]), a thief
 * reads top then bottom ([E], [B]); without a total order both could take the last item.
 * Mutation list: [A] relaxed; [C] or [D] relaxed; [F] without CAS. */
#ifndef CLO_SYNC_DEQUE_H
#define CLO_SYNC_DEQUE_H

#include "base/memory.h"
#include "sync/stack.h"

#include <stdalign.h>

#define CLO_DEQUE_SLOTS 4096u /* power of two */

typedef struct clo_deque {
    alignas(CLO_CACHE_LINE_BYTES) _Atomic int64_t top;    /* thieves write    */
    alignas(CLO_CACHE_LINE_BYTES) _Atomic int64_t bottom; /* the owner writes */
    int64_t top_seen;                                     /* owner's bound on top, saves reading the thieves' line */
    alignas(CLO_CACHE_LINE_BYTES) _Atomic uint64_t slots[CLO_DEQUE_SLOTS];
} clo_deque;

static inline void clo_deque_init(clo_deque *deque)
{
    atomic_init(&deque->top, 0);
    atomic_init(&deque->bottom, 0);
    deque->top_seen = 0;
}

static inline _Atomic uint64_t *clo_deque_slot(clo_deque *deque, int64_t index)
{
    return &deque->slots[(uint64_t)index & (CLO_DEQUE_SLOTS - 1)];
}

/* A hint: may be stale by the time it is used. */
static inline bool clo_deque_is_empty(const clo_deque *deque)
{
    return atomic_load_explicit(&deque->bottom, memory_order_relaxed) <=
           atomic_load_explicit(&deque->top, memory_order_relaxed);
}

/* Owner only. False: full. */
static inline bool clo_deque_push(clo_deque *deque, uint64_t item)
{
    int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_relaxed);

    if (bottom - deque->top_seen >= (int64_t)CLO_DEQUE_SLOTS) {
        deque->top_seen = atomic_load_explicit(&deque->top, memory_order_acquire);
        if (bottom - deque->top_seen >= (int64_t)CLO_DEQUE_SLOTS)
            return false;
    }
    atomic_store_explicit(clo_deque_slot(deque, bottom), item, memory_order_relaxed);
    atomic_store_explicit(&deque->bottom, bottom + 1, memory_order_release); /* [A] */
    return true;
}

/* Owner only. CLO_ITEM_NONE: empty. */
static inline uint64_t clo_deque_pop(clo_deque *deque)
{
    int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_relaxed);

    /* Nobody but us can add: an empty deque stays empty, and looking costs no locked instruction. */
    if (bottom <= atomic_load_explicit(&deque->top, memory_order_relaxed))
        return CLO_ITEM_NONE;
    bottom--;
    atomic_store_explicit(&deque->bottom, bottom, memory_order_seq_cst);   /* [C] */
    int64_t top = atomic_load_explicit(&deque->top, memory_order_seq_cst); /* [D] */
    if (top < bottom)
        return atomic_load_explicit(clo_deque_slot(deque, bottom), memory_order_relaxed);

    uint64_t item = CLO_ITEM_NONE;
    if (top == bottom) { /* the last one: race the thieves for it */
        item = atomic_load_explicit(clo_deque_slot(deque, bottom), memory_order_relaxed);
        if (!atomic_compare_exchange_strong_explicit(&deque->top, &top, top + 1, memory_order_seq_cst,
                                                     memory_order_relaxed))
            item = CLO_ITEM_NONE;
    }
    atomic_store_explicit(&deque->bottom, bottom + 1, memory_order_relaxed);
    return item;
}

/* Any thread. CLO_ITEM_NONE: empty, or somebody else was quicker. */
static inline uint64_t clo_deque_steal(clo_deque *deque)
{
    int64_t top = atomic_load_explicit(&deque->top, memory_order_seq_cst);       /* [E] */
    int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_seq_cst); /* [B], acquires [A] */

    if (top >= bottom)
        return CLO_ITEM_NONE;
    uint64_t item = atomic_load_explicit(clo_deque_slot(deque, top), memory_order_relaxed);
    if (!atomic_compare_exchange_strong_explicit(&deque->top, &top, top + 1, memory_order_seq_cst, /* [F] */
                                                 memory_order_relaxed))
        return CLO_ITEM_NONE;
    return item;
}

#endif
