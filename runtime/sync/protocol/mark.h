/* mark.h - a fact about a run that several threads may note: each of them notes the same.
 *
 *               set   get
 *      set       -     -
 *      get       -     -
 *
 * Progress: wait-free. Ordering: none. Who reads it has synchronised with one who set it, by the counters of what
 * follows (countdown.h) or by the scheduler's turn (combining.h); others may set the same value meanwhile. */
#ifndef CLO_SYNC_PROTOCOL_MARK_H
#define CLO_SYNC_PROTOCOL_MARK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct clo_mark {
    _Atomic uint8_t value;
} clo_mark;

static inline void clo_mark_set(clo_mark *mark, bool value)
{
    atomic_store_explicit(&mark->value, value, memory_order_relaxed);
}

static inline bool clo_mark_get(const clo_mark *mark)
{
    return atomic_load_explicit(&mark->value, memory_order_relaxed) != 0;
}

#endif
