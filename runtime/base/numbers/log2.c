/* log2.c - see log2.h. The logarithm by squaring (each squaring of a number in [1, 2) shifts one bit of its logarithm
 * in front of the point), the power as the product of 2^(2^-k) over the bits k of the fraction: Knuth, The Art of
 * Computer Programming, volume 1, section 1.2.2, exercises 25 and 28. */
#include "base/numbers/log2.h"

int32_t clo_log2_q16(uint64_t x)
{
    if (x == 0)
        return 0;
    int32_t whole = 63 - __builtin_clzll(x), fraction = 0;
    uint64_t m = x << (63 - whole); /* in [1, 2), Q63 */

    for (int bit = 15; bit >= 0; bit--) {
        uint64_t high = m >> 32, low = m & UINT32_MAX;      /* m * m without 128 bits */
        uint64_t square = high * high + (high * low >> 31); /* Q62 */
        if (square >> 63 != 0) {                            /* m * m >= 2 */
            fraction |= 1 << bit;
            m = square;
        } else {
            m = square << 1;
        }
    }
    return whole * 65536 + fraction;
}

uint64_t clo_exp2_q16(int32_t x)
{
    /* 2^(2^-k) in Q31, rounded; k = 1 .. 16 */
    static const uint32_t roots[16] = {3037000500u, 2553802834u, 2341847524u, 2242560872u, 2194507417u, 2170868212u,
                                       2159144272u, 2153306067u, 2150392887u, 2148937775u, 2148210589u, 2147847087u,
                                       2147665360u, 2147574502u, 2147529075u, 2147506361u};
    if (x < CLO_EXP2_Q16_LEAST)
        return 0;
    if (x >= CLO_EXP2_Q16_MOST)
        return UINT64_MAX;
    int32_t whole = x >= 0 ? x / 65536 : -((65535 - x) / 65536);
    uint32_t fraction = (uint32_t)(x - whole * 65536);
    uint64_t power = UINT64_C(1) << 31; /* Q31, in [1, 2) */

    for (int k = 0; k < 16; k++)
        if ((fraction >> (15 - k) & 1) != 0)
            power = (power * roots[k] + (UINT64_C(1) << 30)) >> 31;
    int shift = whole - 15; /* from Q31 to Q16 */
    if (shift >= 0)
        return power << shift;
    return (power + (UINT64_C(1) << (-shift - 1))) >> -shift;
}
