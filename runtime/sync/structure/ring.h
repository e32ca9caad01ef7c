/* ring.h - records from one thread to another, in fixed memory: when the reader is behind, new ones are dropped and
 * counted.
 *
 *               put   take
 *      put       X     -      (one producer)
 *      take      -     X      (one consumer)
 *
 * Progress: both wait-free. Ordering: a record's content travels from put to take along [A] -> [B]; the emptied slot
 * goes back along [C] -> [D]. Indices count up and wrap; their difference is the number of records.
 * Mutation list: [A] relaxed; [B] relaxed; [C] relaxed; [D] relaxed. */
#ifndef CLO_SYNC_STRUCTURE_RING_H
#define CLO_SYNC_STRUCTURE_RING_H

#include "base/memory.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct clo_ring {
    alignas(CLO_CACHE_LINE_BYTES) _Atomic uint32_t tail; /* the producer's */
    _Atomic uint64_t dropped;
    alignas(CLO_CACHE_LINE_BYTES) _Atomic uint32_t head; /* the consumer's */
    alignas(CLO_CACHE_LINE_BYTES) char *slots;
    size_t slot_bytes;
    uint32_t mask; /* slots - 1, a power of two less one */
} clo_ring;

static inline void clo_ring_init(clo_ring *ring, void *slots, size_t slot_bytes, uint32_t count)
{
    atomic_init(&ring->tail, 0);
    atomic_init(&ring->head, 0);
    atomic_init(&ring->dropped, 0);
    ring->slots = slots;
    ring->slot_bytes = slot_bytes;
    ring->mask = count - 1;
}

/* False: full, and counted. */
static inline bool clo_ring_put(clo_ring *ring, const void *record)
{
    uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

    if (tail - atomic_load_explicit(&ring->head, memory_order_acquire) > ring->mask) { /* [D] */
        atomic_store_explicit(&ring->dropped, atomic_load_explicit(&ring->dropped, memory_order_relaxed) + 1,
                              memory_order_relaxed);
        return false;
    }
    memcpy(ring->slots + (size_t)(tail & ring->mask) * ring->slot_bytes, record, ring->slot_bytes);
    atomic_store_explicit(&ring->tail, tail + 1, memory_order_release); /* [A] */
    return true;
}

/* False: empty. */
static inline bool clo_ring_take(clo_ring *ring, void *record)
{
    uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

    if (head == atomic_load_explicit(&ring->tail, memory_order_acquire)) /* [B] */
        return false;
    memcpy(record, ring->slots + (size_t)(head & ring->mask) * ring->slot_bytes, ring->slot_bytes);
    atomic_store_explicit(&ring->head, head + 1, memory_order_release); /* [C] */
    return true;
}

#endif
