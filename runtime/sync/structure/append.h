/* append.h - pointers that are added, never taken away: a table of fixed size, for what a process registers.
 *
 *            add   at
 *     add     -     -      one adder claims a place by compare-and-swap; the others take the next one
 *     at      -     -
 *
 * Progress: both wait-free, within CLO_APPEND_MAX steps. What the adder wrote before [A] is seen after [B]. */
#ifndef CLO_SYNC_STRUCTURE_APPEND_H
#define CLO_SYNC_STRUCTURE_APPEND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define CLO_APPEND_MAX 64u

/* All 0: empty. */
typedef struct clo_append {
    _Atomic(const void *) rows[CLO_APPEND_MAX];
} clo_append;

/* Any thread. *place: where it stands. False: full. */
static inline bool clo_append_add(clo_append *table, const void *row, size_t *place)
{
    for (size_t i = 0; i < CLO_APPEND_MAX; i++) {
        const void *none = NULL;
        if (atomic_compare_exchange_strong_explicit(&table->rows[i], &none, row, memory_order_release, /* [A] */
                                                    memory_order_relaxed)) {
            *place = i;
            return true;
        }
    }
    return false;
}

/* Any thread. NULL: nothing stands there, nor at any later place. */
static inline const void *clo_append_at(const clo_append *table, size_t place)
{
    return place < CLO_APPEND_MAX ? atomic_load_explicit(&table->rows[place], memory_order_acquire) /* [B] */ : NULL;
}

#endif
