/* kernels/arithmetic.h - the arithmetic of the specification, on single numbers, without undefined behaviour. */
#ifndef CLO_KERNELS_ARITHMETIC_H
#define CLO_KERNELS_ARITHMETIC_H

#include "kernels/kernels.h"

static inline uint32_t clo_round_up(uint32_t count, uint32_t unit)
{
    return (count + unit - 1) / unit * unit;
}

/* Modulo 2^32. */
static inline int32_t clo_wrap_add(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

/* Rounds down, for negative numbers too, where C leaves >> to the compiler; shift < 32. */
static inline int32_t clo_shift_right(int32_t value, int32_t shift)
{
    return value < 0 ? ~(~value >> shift) : value >> shift;
}

static inline int64_t clo_shift_right_64(int64_t value, int32_t shift)
{
    return value < 0 ? ~(~value >> shift) : value >> shift;
}

static inline int32_t clo_clamp(int32_t value, int32_t lo, int32_t hi)
{
    return value < lo ? lo : value > hi ? hi : value;
}

/* What vpmulhrsw and sqrdmulh compute, for m > -32768: a and m in int16. */
static inline int32_t clo_multiply_q15(int32_t a, int32_t m)
{
    return clo_shift_right(a * m + 0x4000, 15);
}

static inline int32_t clo_leaky(int32_t value, int32_t leaky)
{
    return value >= 0 || leaky == CLO_LEAKY_NONE ? value : clo_shift_right(value * leaky + 128, 8);
}

/* The one requantization rule; see kernels.h. */
static inline int32_t clo_requantize(const clo_rule *rule, uint32_t output, int32_t sum)
{
    int32_t t = clo_clamp(clo_shift_right(sum, rule->pre[output]), INT16_MIN, INT16_MAX);

    return clo_clamp(clo_leaky(clo_multiply_q15(t, rule->m[output]), rule->leaky), rule->lo, rule->hi);
}

/* Rows of a tensor in lanes. */
static inline uint32_t clo_lanes_rows(clo_number number, uint32_t rows)
{
    return number == CLO_S32 ? rows : clo_round_up(rows, 4);
}

/* Position of a number within its block. */
static inline size_t clo_lane_index(clo_number number, uint32_t row, uint32_t lane)
{
    uint32_t unit = number == CLO_S8 ? 4 : number == CLO_S16 ? 2 : 1;

    return (size_t)(row / unit) * unit * CLO_LANES + lane * unit + row % unit;
}

/* Position of a weight among packed weights. */
static inline size_t clo_weight_index(uint32_t inputs, uint32_t output, uint32_t input)
{
    size_t quads = (size_t)(output / CLO_LANES) * (clo_round_up(inputs, 4) / 4) + input / 4;

    return (quads * CLO_LANES + output % CLO_LANES) * 4 + input % 4;
}

/* Where a block of a tensor begins. */
static inline void *clo_block_of(void *tensor, clo_number number, uint32_t rows, uint32_t block)
{
    size_t bytes = number == CLO_S8 ? 1 : number == CLO_S16 ? 2 : 4;

    return (char *)tensor + bytes * CLO_LANES * clo_lanes_rows(number, rows) * block;
}

#endif
