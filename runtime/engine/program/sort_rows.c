/* sort_rows.c - see sort_rows.h. */
#include "engine/program/sort_rows.h"

#include <stdbool.h>

static bool comes_first(const clo_sort_row *x, const clo_sort_row *y)
{
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns;
    if (x->finish_ns != y->finish_ns)
        return x->finish_ns < y->finish_ns;
    if (x->topological != y->topological)
        return x->topological < y->topological;
    return x->placement < y->placement;
}

static void merge(const clo_sort_row *from, clo_sort_row *to, uint32_t first, uint32_t middle, uint32_t end)
{
    uint32_t a = first, b = middle;

    for (uint32_t i = first; i < end; i++)
        to[i] = a < middle && (b == end || !comes_first(&from[b], &from[a])) ? from[a++] : from[b++];
}

clo_sort_row *clo_sort_rows(clo_sort_row *rows, clo_sort_row *other, uint32_t count)
{
    for (uint64_t width = 1; width < count; width *= 2) {
        for (uint64_t first = 0; first < count; first += 2 * width) {
            uint64_t middle = first + width < count ? first + width : count;
            uint64_t end = middle + width < count ? middle + width : count;
            merge(rows, other, (uint32_t)first, (uint32_t)middle, (uint32_t)end);
        }
        clo_sort_row *sorted = other;
        other = rows;
        rows = sorted;
    }
    return rows;
}
