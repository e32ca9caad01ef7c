/* base/order/sort.h - qsort for what may be called where memory is the caller's: it takes none. */
#ifndef CLO_BASE_ORDER_SORT_H
#define CLO_BASE_ORDER_SORT_H

#include "library.h"
#include <stddef.h>

/* As qsort, in place, O(count log count) always. The order of items that compare equal is not theirs before: where it
 * matters, `compare` must tell them apart. */
CLO_INTERNAL void clo_sort(void *items, size_t count, size_t size, int (*compare)(const void *left, const void *right));

#endif
