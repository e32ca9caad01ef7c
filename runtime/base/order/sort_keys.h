/* base/order/sort_keys.h - a stable sort of numbers with an index each, for what is sorted by one number in the first
 * place: times, ranks. Radix sort, least significant digit first (Knuth, TAOCP 3, 5.2.5), over the digits in which the
 * keys differ; few are sorted by insertion. */
#ifndef CLO_BASE_ORDER_SORT_KEYS_H
#define CLO_BASE_ORDER_SORT_KEYS_H

#include "library.h"
#include <stddef.h>
#include <stdint.h>

typedef struct clo_sort_key {
    uint64_t key;
    uint32_t index;
} clo_sort_key;

/* Sorts items[count], fewer than 2^32, by rising key; equal keys keep their order. other[count]: scratch, any content.
 * Returns the one of the two arrays that holds the result. O(count) for each digit of 8 or 11 bits, one pass if they
 * are in order. */
CLO_INTERNAL clo_sort_key *clo_sort_keys(clo_sort_key *items, clo_sort_key *other, size_t count);

/* The key under which a signed number sorts. */
static inline uint64_t clo_sort_key_of(int64_t number)
{
    return (uint64_t)number ^ (1ull << 63);
}

#endif
