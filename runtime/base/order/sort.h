/* base/order/sort.h - qsort for what may be called where memory is the caller's: it takes none; times in order; and
 * orders that are changed in one place. */
#ifndef CLO_BASE_ORDER_SORT_H
#define CLO_BASE_ORDER_SORT_H

#include "library.h"
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* As qsort, in place, O(count log count) always. The order of items that compare equal is not theirs before: where it
 * matters, `compare` must tell them apart. */
CLO_INTERNAL void clo_sort(void *items, size_t count, size_t size, int (*compare)(const void *left, const void *right));

static inline int clo_by_time(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

/* Times in rising order, by qsort, which may take memory. */
static inline void clo_sort_times(int64_t *times, size_t count)
{
    qsort(times, count, sizeof *times, clo_by_time);
}

/* What stands at place `from` goes to place `to`. */
static inline void clo_order_move(uint32_t *order, uint32_t from, uint32_t to)
{
    uint32_t moved = order[from];

    for (; from < to; from++)
        order[from] = order[from + 1];
    for (; from > to; from--)
        order[from] = order[from - 1];
    order[to] = moved;
}

#endif
