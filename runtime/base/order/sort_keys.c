#include "base/order/sort_keys.h"

#include <stdbool.h>
#include <string.h>

enum { FEW = 40, DIGIT_BITS = 8, WIDE_BITS = 11, WIDE_FROM = 4096 };

static void insert_sort(clo_sort_key *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        clo_sort_key item = items[i];
        size_t at = i;
        for (; at > 0 && items[at - 1].key > item.key; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

/* The span of the keys; *is_sorted: nothing has to be done. */
static uint64_t look_over(const clo_sort_key *items, size_t count, uint64_t *least, bool *is_sorted)
{
    uint64_t low = items[0].key, high = low;
    bool falls = false;

    for (size_t i = 1; i < count; i++) {
        uint64_t key = items[i].key;
        falls |= key < items[i - 1].key;
        low = key < low ? key : low;
        high = key > high ? key : high;
    }
    *least = low;
    *is_sorted = !falls;
    return high - low;
}

static void pass(const clo_sort_key *from, clo_sort_key *to, size_t count, uint64_t least, unsigned shift,
                 unsigned bits)
{
    uint32_t starts[1u << WIDE_BITS];
    uint32_t mask = (1u << bits) - 1, sum = 0;

    memset(starts, 0, ((size_t)mask + 1) * sizeof *starts);
    for (size_t i = 0; i < count; i++)
        starts[((from[i].key - least) >> shift) & mask]++;
    for (uint32_t d = 0; d <= mask; d++) {
        uint32_t here = starts[d];
        starts[d] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++)
        to[starts[((from[i].key - least) >> shift) & mask]++] = from[i];
}

clo_sort_key *clo_sort_keys(clo_sort_key *items, clo_sort_key *other, size_t count)
{
    unsigned bits = count >= WIDE_FROM ? WIDE_BITS : DIGIT_BITS;
    uint64_t least;
    bool is_sorted;

    if (count <= FEW) {
        insert_sort(items, count);
        return items;
    }
    uint64_t span = look_over(items, count, &least, &is_sorted);
    for (unsigned shift = 0; !is_sorted && shift < 64 && span >> shift != 0; shift += bits) {
        pass(items, other, count, least, shift, bits);
        clo_sort_key *sorted = other;
        other = items;
        items = sorted;
    }
    return items;
}
