/* eventcount.h - one thread sleeps until something has changed; anybody who changes something rings. An eventcount
 * (Reed and Kanodia 1979): ring is their advance, hear their read, wait their await.
 *
 * The listener hears first, looks at everything afterwards, and sleeps only while nobody has rung since:
 *
 *     heard = clo_eventcount_hear(eventcount);
 *     ... look at all that a ringer may have changed, the wish to stop included ...
 *     clo_eventcount_wait_until(eventcount, heard, until_ns);
 *
 * A listener that looks at something before it hears loses the ring that comes in between, and sleeps for ever.
 *
 *               ring   hear   wait
 *      ring      -      -      -
 *      hear      -      X      X   (the listener only)
 *      wait      -      X      X   (the listener only)
 *
 * Progress: ring and hear are wait-free; ring makes one system call.
 * Ordering: what a ringer wrote before it rang is visible to a listener that hears the ring: [B] acquire pairs with
 * [A] release; a later ring is a read-modify-write and continues the release sequence of the earlier ones.
 * Mutation list: [A] relaxed; [B] relaxed; no wake; the listener of tests/model that looks before it hears. */
#ifndef CLO_SYNC_SLEEP_EVENTCOUNT_H
#define CLO_SYNC_SLEEP_EVENTCOUNT_H

#include "sync/sleep/park.h"

typedef struct clo_eventcount {
    _Atomic uint32_t rings; /* futex word */
} clo_eventcount;

static inline void clo_eventcount_ring(clo_eventcount *eventcount)
{
    atomic_fetch_add_explicit(&eventcount->rings, 1, memory_order_release); /* [A] */
    clo_futex_wake_all(&eventcount->rings);
}

static inline uint32_t clo_eventcount_hear(const clo_eventcount *eventcount)
{
    return atomic_load_explicit(&eventcount->rings, memory_order_acquire); /* [B] */
}

/* Returns once somebody has rung since `heard`, at until_ns (INT64_MAX: never), or for no reason. */
static inline void clo_eventcount_wait_until(clo_eventcount *eventcount, uint32_t heard, int64_t until_ns)
{
    clo_futex_wait_until(&eventcount->rings, heard, until_ns);
}

#endif
