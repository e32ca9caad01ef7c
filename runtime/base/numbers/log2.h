/* base/numbers/log2.h - logarithm and power of two in fixed point, without floating point, so that every machine
 * computes the same. Both never fall where their argument rises. */
#ifndef CLO_BASE_NUMBERS_LOG2_H
#define CLO_BASE_NUMBERS_LOG2_H

#include "library.h"
#include <stdint.h>

/* Beyond these clo_exp2_q16 stops: 2^x in Q16 would be below 1/2, or above UINT64_MAX. */
#define CLO_EXP2_Q16_LEAST (-17 * 65536)
#define CLO_EXP2_Q16_MOST (48 * 65536)

/* log2(x) in Q16, rounded down; 0 for x of 0. Error: above the exact value by nothing, below it by less than
 * 1.01 / 65536. O(1): 16 multiplications. */
CLO_INTERNAL int32_t clo_log2_q16(uint64_t x);

/* 2^(x / 65536) in Q16. Error: at most 2^-26 of the result, and half a unit of rounding. 0 below CLO_EXP2_Q16_LEAST,
 * UINT64_MAX from CLO_EXP2_Q16_MOST on. O(1): 16 multiplications. */
CLO_INTERNAL uint64_t clo_exp2_q16(int32_t x);

#endif
