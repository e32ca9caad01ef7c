/* base/numbers/saturate.h - times that stop at the ends of int64_t instead of overflowing.
 *
 * A time of INT64_MAX means "never" or "without end" in many places, and callers may hand in any number. So every sum,
 * difference and product of times that come from outside goes through these; all are exact where the result fits. */
#ifndef CLO_BASE_NUMBERS_SATURATE_H
#define CLO_BASE_NUMBERS_SATURATE_H

#include <stdint.h>

/* a + b */
static inline int64_t clo_time_add(int64_t a, int64_t b)
{
    int64_t sum;

    /* Both have the same sign where the sum does not fit. */
    return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? INT64_MIN : INT64_MAX) : sum;
}

/* a - b */
static inline int64_t clo_time_sub(int64_t a, int64_t b)
{
    int64_t difference;

    return __builtin_sub_overflow(a, b, &difference) ? (a < 0 ? INT64_MIN : INT64_MAX) : difference;
}

/* a * b */
static inline int64_t clo_time_mul(int64_t a, int64_t b)
{
    int64_t product;

    return __builtin_mul_overflow(a, b, &product) ? ((a < 0) != (b < 0) ? INT64_MIN : INT64_MAX) : product;
}

/* a + b of unsigned amounts, e.g. bytes */
static inline uint64_t clo_amount_add(uint64_t a, uint64_t b)
{
    uint64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* a * b of unsigned amounts */
static inline uint64_t clo_amount_mul(uint64_t a, uint64_t b)
{
    uint64_t product;

    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

#endif
