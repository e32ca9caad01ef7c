/* plan/pick/levels.h - sets of the positions whose value is at most an amount, for some amounts.
 *
 * What is at most a value lies between two of these sets: so 64 positions are told apart by one word, but for those
 * between the two amounts beside the value. */
#ifndef CLO_PLAN_PICK_LEVELS_H
#define CLO_PLAN_PICK_LEVELS_H

#include <stddef.h>
#include <stdint.h>

typedef struct clo_levels {
    uint32_t words; /* of a set, at least one bit a position */
    uint32_t amounts_count;
    int64_t *amounts; /* [amounts_count] rising; the last is the largest value */
    uint64_t *sets;   /* [amounts_count][words] */
} clo_levels;

/* Chooses the amounts so that as many values lie between each two, and fills the sets, for `count` > 0 values that lie
 * `stride` apart. `words`, amounts_count and the memory are set. */
void clo_levels_fill(clo_levels *levels, const int64_t *values, size_t stride, uint32_t count);

/* A set in which all values are at most `value`, and few that are so are left out; NULL: none is known to be. */
const uint64_t *clo_levels_within(const clo_levels *levels, int64_t value);

/* A set that holds all values that are at most `value`, and few others; NULL: no value is larger. */
const uint64_t *clo_levels_around(const clo_levels *levels, int64_t value);

#endif
