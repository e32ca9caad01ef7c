/* plan/modulo/table.h - the modulo reservation table of one executor: who has it at which offset of the interval. */
#ifndef CLO_PLAN_MODULO_TABLE_H
#define CLO_PLAN_MODULO_TABLE_H

#include <stdbool.h>
#include <stdint.h>

/* [start, end) with 0 <= start < interval; the last one may reach beyond the interval, into the first ones of the next.
 * One of no length is a point that nothing may lie across. */
typedef struct clo_reservation {
    int64_t start_ns, end_ns;
} clo_reservation;

typedef struct clo_reservations {
    int64_t interval_ns;
    /* Sum of lengths. */
    int64_t load_ns;
    /* [count] by start. */
    clo_reservation *rows;
    uint32_t count;
} clo_reservations;

/* The earliest moment from `from_ns` on, at most an interval later, when the executor is free for length_ns in every
 * interval; -1: there is none. O(rows). */
int64_t clo_reservations_find(const clo_reservations *table, int64_t from_ns, int64_t length_ns);

/* Takes it; there is room for one more row. O(rows). */
void clo_reservations_take(clo_reservations *table, int64_t start_ns, int64_t length_ns);

#endif
