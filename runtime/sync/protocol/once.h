/* once.h - work that several workers need and one does: a copy of a buffer into a memory.
 *
 * Progress: the first caller does the work, others wait for the length of one memcpy (executors that share a memory and
 * need the same input at the same moment). Ordering: what the first did happens before what the others do
 * next: [B] acquire pairs with [A] release. Mutation list: [A] relaxed; [B] relaxed. */
#ifndef CLO_SYNC_PROTOCOL_ONCE_H
#define CLO_SYNC_PROTOCOL_ONCE_H

#include "sync/sleep/park.h"

typedef struct clo_once {
    _Atomic uint64_t state; /* of run r, from 1: 2r - 1 somebody is at it, 2r done; anything else: open */
} clo_once;

/* True: do the work, then clo_once_end. False: it is done. Runs do not overlap. */
static inline bool clo_once_begin(clo_once *once, uint64_t run)
{
    uint64_t state = atomic_load_explicit(&once->state, memory_order_acquire); /* [B] */

    if (state < 2 * run - 1 && atomic_compare_exchange_strong_explicit(&once->state, &state, 2 * run - 1,
                                                                       memory_order_acquire, memory_order_acquire))
        return true;
    while (atomic_load_explicit(&once->state, memory_order_acquire) != 2 * run) /* [B] */
        clo_relax();
    return false;
}

static inline void clo_once_end(clo_once *once, uint64_t run)
{
    atomic_store_explicit(&once->state, 2 * run, memory_order_release); /* [A] */
}

#endif
