/* engine/program/sort_rows.h - the placements of a plan in order of time. */
#ifndef CLO_ENGINE_PROGRAM_SORT_ROWS_H
#define CLO_ENGINE_PROGRAM_SORT_ROWS_H

#include <stdint.h>

/* Sort keys: time first; tasks of no length that start together keep the order of the graph. */
typedef struct clo_sort_row {
    int64_t start_ns, finish_ns;
    uint32_t topological, placement;
} clo_sort_row;

/* By merging, bottom up; qsort may allocate. rows, other: [count]. Returns the array of the two that holds the result.
 * O(count log count). */
clo_sort_row *clo_sort_rows(clo_sort_row *rows, clo_sort_row *other, uint32_t count);

#endif
