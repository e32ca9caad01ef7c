/* run/state/deque.h - a worker's own ready items: the owner pushes and pops at the young end and takes from the old end
 * what it gives away. Plain memory: nobody else ever looks at it, so an item costs two plain stores and no fence. What
 * others may have is put on the worker's shared pool (share.h); Acar, Chargueraud and Rainey 2013, "Scheduling parallel
 * programs by work stealing with private deques", is the idea, with a shared pool in place of their answers to single
 * requests. */
#ifndef CLO_RUN_STATE_DEQUE_H
#define CLO_RUN_STATE_DEQUE_H

#include "sync/structure/stack.h"

#define CLO_DEQUE_ITEMS 4096u /* power of two */

typedef struct clo_deque {
    uint32_t old, young; /* items old .. young-1, modulo 2^32 */
    uint64_t items[CLO_DEQUE_ITEMS];
} clo_deque;

static inline uint32_t clo_deque_count(const clo_deque *deque)
{
    return deque->young - deque->old;
}

/* There must be room. */
static inline void clo_deque_push(clo_deque *deque, uint64_t item)
{
    deque->items[deque->young++ % CLO_DEQUE_ITEMS] = item;
}

/* The item that pop would return; CLO_ITEM_NONE: empty. */
static inline uint64_t clo_deque_peek(const clo_deque *deque)
{
    return deque->young == deque->old ? CLO_ITEM_NONE : deque->items[(deque->young - 1) % CLO_DEQUE_ITEMS];
}

static inline uint64_t clo_deque_pop(clo_deque *deque)
{
    uint64_t item = clo_deque_peek(deque);

    deque->young -= item != CLO_ITEM_NONE;
    return item;
}

/* Below all others. There must be room. */
static inline void clo_deque_push_old(clo_deque *deque, uint64_t item)
{
    deque->items[--deque->old % CLO_DEQUE_ITEMS] = item;
}

/* From the other end: what has waited longest. */
static inline uint64_t clo_deque_pop_old(clo_deque *deque)
{
    return deque->young == deque->old ? CLO_ITEM_NONE : deque->items[deque->old++ % CLO_DEQUE_ITEMS];
}

#endif
