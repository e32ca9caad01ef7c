/* base/numbers/noise.h - random noise in fixed point, without floating point, so that every machine draws the same. */
#ifndef CLO_BASE_NUMBERS_NOISE_H
#define CLO_BASE_NUMBERS_NOISE_H

#include "base/numbers/rng.h"

#include <stdbool.h>

#define CLO_LN2_Q16 45426

/* -ln(x / 2^32) in Q16 for x > 0: by the position of the highest bit, and a parabola for the rest. Within 0.01. */
static inline int32_t clo_minus_ln_q16(uint32_t x)
{
    uint32_t shift = (uint32_t)__builtin_clz(x);
    int64_t rest = (int64_t)((uint64_t)x << (shift + 1) >> 16 & 0xffff); /* x = 2^(31 - shift) * (1 + rest / 65536) */
    int64_t log2 = rest + (rest * (65536 - rest) >> 16) * 22544 / 65536;

    return (int32_t)((((int64_t)shift + 1) * 65536 - log2) * CLO_LN2_Q16 >> 16);
}

/* Exponential with mean 1, in Q16; at least 1. */
static inline int32_t clo_exponential_q16(clo_rng *rng)
{
    int32_t e = clo_minus_ln_q16((uint32_t)(clo_rng_next(rng) >> 32) | 1);

    return e > 0 ? e : 1;
}

#define CLO_EXPONENTIAL_WHOLE_MAX 63 /* met with a chance of e^-63 */

/* Exponential with mean 1, in Q32, below 64 * 2^32. Exact but for rounding: von Neumann, "Various techniques used in
 * connection with random digits" (1951). A run of falling numbers is of odd length with the chance e^-(its first
 * number): then that number is the fraction; else one more is added to the whole part, and the next run decides. */
static inline uint64_t clo_exponential_q32(clo_rng *rng)
{
    for (uint64_t whole = 0;; whole++) {
        uint64_t first = clo_rng_next(rng) >> 32, last = first, next;
        bool is_odd = true;

        for (; (next = clo_rng_next(rng) >> 32) < last; last = next) /* falls: at most 2^32 rounds, e - 1 on average */
            is_odd = !is_odd;
        if (is_odd || whole == CLO_EXPONENTIAL_WHOLE_MAX)
            return whole << 32 | first;
    }
}

/* Gumbel (location 0, scale 1) in Q16: what turns an argmax into sampling by softmax. */
static inline int32_t clo_gumbel_q16(clo_rng *rng)
{
    uint32_t e = (uint32_t)clo_exponential_q16(rng); /* below 23 * 2^16 < 2^21 */

    return clo_minus_ln_q16(e << 11) - 5 * CLO_LN2_Q16;
}

#endif
