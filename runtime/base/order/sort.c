/* base/order/sort.c - heapsort (Williams 1964), the way down bottom up (Wegener 1993): about as many comparisons as
 * merging. */
#include "base/order/sort.h"

#include <string.h>

enum { SWAP_BYTES = 64 };

typedef int comparison(const void *left, const void *right);

static void swap(char *a, char *b, size_t size)
{
    char kept[SWAP_BYTES];

    for (size_t at = 0, part; at < size; at += part) {
        part = size - at < SWAP_BYTES ? size - at : SWAP_BYTES;
        memcpy(kept, a + at, part);
        memcpy(a + at, b + at, part);
        memcpy(b + at, kept, part);
    }
}

/* Below `top` the items are a heap: so is all from `top` on then. */
static void sift(char *items, size_t top, size_t count, size_t size, comparison *compare)
{
    size_t at = top;

    while (2 * at + 2 < count) /* along the larger child, to a leaf */
        at = compare(items + (2 * at + 1) * size, items + (2 * at + 2) * size) > 0 ? 2 * at + 1 : 2 * at + 2;
    if (2 * at + 2 == count)
        at = 2 * at + 1;
    while (at > top && compare(items + top * size, items + at * size) > 0)
        at = (at - 1) / 2;
    for (; at > top; at = (at - 1) / 2) /* the top goes here; what lies above moves up */
        swap(items + top * size, items + at * size, size);
}

void clo_sort(void *items, size_t count, size_t size, comparison *compare)
{
    for (size_t top = count / 2; top-- > 0;)
        sift(items, top, count, size, compare);
    for (size_t left = count; left-- > 1;) {
        swap(items, (char *)items + left * size, size);
        sift(items, 0, left, size, compare);
    }
}
