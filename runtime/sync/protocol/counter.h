/* counter.h - a count of what one thread does, which anybody may read meanwhile.
 *
 *               add   clear   read
 *      add       X      X      -
 *      clear     X      X      -
 *
 * Progress: wait-free, without an atomic read-modify-write: only one thread at a time adds, so a load and a store do.
 * Ordering: none, each value is whole. Who needs the exact sum reads behind the end of the work. */
#ifndef CLO_SYNC_PROTOCOL_COUNTER_H
#define CLO_SYNC_PROTOCOL_COUNTER_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct clo_counter {
    _Atomic uint64_t value;
} clo_counter;

static inline uint64_t clo_counter_read(const clo_counter *counter)
{
    return atomic_load_explicit(&counter->value, memory_order_relaxed);
}

static inline void clo_counter_add(clo_counter *counter, uint64_t count)
{
    atomic_store_explicit(&counter->value, clo_counter_read(counter) + count, memory_order_relaxed);
}

static inline void clo_counter_clear(clo_counter *counter)
{
    atomic_store_explicit(&counter->value, 0, memory_order_relaxed);
}

#endif
