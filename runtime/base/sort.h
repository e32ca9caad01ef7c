/* base/sort.h - qsort for what may be called where memory is the caller's: stable on every C library, and its scratch
 * comes from clo_allocate_raw, so from clo_scratch where that is open. */
#ifndef CLO_BASE_SORT_H
#define CLO_BASE_SORT_H

#include <stddef.h>

/* As qsort; equal items keep their order. Without memory for scratch it sorts by insertion: O(count^2). */
void clo_sort(void *items, size_t count, size_t size, int (*compare)(const void *left, const void *right));

#endif
