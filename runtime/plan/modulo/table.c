/* table.c - see table.h. */
#include "plan/modulo/table.h"

#include <assert.h>
#include <string.h>

/* The first row that starts at `offset` or later; count: none. */
static uint32_t first_from(const clo_reservations *table, int64_t offset_ns)
{
    uint32_t low = 0, high = table->count;

    while (low < high) { /* the distance halves */
        uint32_t middle = low + (high - low) / 2;
        if (table->rows[middle].start_ns < offset_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Moments count from the begin of the interval of from_ns; a row that is reached after a turn stands an interval
 * later. */
int64_t clo_reservations_find(const clo_reservations *table, int64_t from_ns, int64_t length_ns)
{
    int64_t interval_ns = table->interval_ns, offset_ns = from_ns % interval_ns, at_ns = offset_ns;

    assert(from_ns >= 0);
    assert(length_ns >= 0);
    if (length_ns > interval_ns - table->load_ns)
        return -1;
    if (table->count == 0)
        return from_ns;
    uint32_t next = first_from(table, offset_ns);
    const clo_reservation *before = &table->rows[next > 0 ? next - 1 : table->count - 1];
    int64_t before_end_ns = next > 0 ? before->end_ns : before->end_ns - interval_ns;
    if (before_end_ns > at_ns)
        at_ns = before_end_ns;
    for (uint32_t k = 0; k <= table->count; k++) { /* once round */
        uint32_t row = next + k;
        int64_t turns_ns = 0;
        while (row >= table->count) { /* twice at most */
            row -= table->count;
            turns_ns += interval_ns;
        }
        if (table->rows[row].start_ns + turns_ns - at_ns >= length_ns)
            return at_ns - offset_ns <= interval_ns ? from_ns + (at_ns - offset_ns) : -1;
        if (table->rows[row].end_ns + turns_ns > at_ns)
            at_ns = table->rows[row].end_ns + turns_ns;
    }
    return -1;
}

void clo_reservations_take(clo_reservations *table, int64_t start_ns, int64_t length_ns)
{
    int64_t offset_ns = start_ns % table->interval_ns;
    uint32_t row = first_from(table, offset_ns);

    while (row < table->count && table->rows[row].start_ns == offset_ns &&
           table->rows[row].end_ns == offset_ns) /* points first: what begins here follows them */
        row++;
    memmove(&table->rows[row + 1], &table->rows[row], (table->count - row) * sizeof *table->rows);
    table->rows[row] = (clo_reservation){offset_ns, offset_ns + length_ns};
    table->count++;
    table->load_ns += length_ns;
}
