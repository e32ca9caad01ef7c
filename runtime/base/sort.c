/* base/sort.c - merging, bottom up, from runs that are sorted by insertion (Knuth, The Art of Computer Programming,
 * volume 3, section 5.2.4). */
#include "base/sort.h"

#include "base/memory.h"

#include <string.h>

enum { RUN = 8, SWAP_BYTES = 64 };

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

static void insert(char *items, size_t count, size_t size, comparison *compare)
{
    for (size_t i = 1; i < count; i++)
        for (char *at = items + i * size; at > items && compare(at - size, at) > 0; at -= size)
            swap(at - size, at, size);
}

/* Two sorted neighbours into `out`. */
static void merge(const char *left, const char *middle, const char *end, char *out, size_t size, comparison *compare)
{
    for (const char *right = middle; left < middle || right < end; out += size) { /* each round takes one */
        if (right == end || (left < middle && compare(left, right) <= 0)) {
            memcpy(out, left, size);
            left += size;
        } else {
            memcpy(out, right, size);
            right += size;
        }
    }
}

void clo_sort(void *items, size_t count, size_t size, comparison *compare)
{
    size_t run = RUN;
    char *from = items, *scratch = count > RUN && size > 0 ? clo_allocate_raw(count * size) : NULL, *to = scratch;

    if (scratch == NULL) {
        insert(items, count, size, compare);
        return;
    }
    for (size_t i = 0; i < count; i += RUN)
        insert(from + i * size, count - i < RUN ? count - i : RUN, size, compare);
    for (; run < count; run *= 2) {
        for (size_t i = 0; i < count; i += 2 * run) {
            size_t middle = count - i < run ? count : i + run, end = count - i < 2 * run ? count : i + 2 * run;
            merge(from + i * size, from + middle * size, from + end * size, to + i * size, size, compare);
        }
        char *other = from;
        from = to;
        to = other;
    }
    if (from != items)
        memcpy(items, from, count * size);
    clo_free(scratch);
}
