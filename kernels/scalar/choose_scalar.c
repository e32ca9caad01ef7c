/* choose_scalar.c - noise and arg-max. Gumbel noise on scores turns an arg-max into sampling by softmax (Gumbel 1954;
 * Maddison et al., NIPS 2014). The noise of a candidate is a function of the seed and the candidate's key, so neither
 * the order of the lanes nor the number of candidates changes it. */
#include "kernels/arithmetic.h"
#include "kernels/scalar/scalar.h"

#define LN2_Q16 45426

/* splitmix64's number `key` from `seed` on (Steele et al. 2014). */
static uint64_t bits_of(uint64_t seed, uint64_t key)
{
    uint64_t x = seed + (key + 1) * 0x9e3779b97f4a7c15u;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* -ln(x / 2^32) in Q16 for x > 0: by the position of the highest bit, and a parabola for the rest. Within 0.01. */
static int32_t minus_ln_q16(uint32_t x)
{
    uint32_t shift = (uint32_t)__builtin_clz(x);
    uint32_t rest = (uint32_t)((uint64_t)x << (shift + 1) >> 16 & 0xffff); /* x = 2^(31 - shift) * (1 + rest / 65536) */
    uint32_t log2 = rest + (rest * (65536 - rest) >> 16) * 22544 / 65536;

    return (int32_t)((uint64_t)((shift + 1) * 65536 - log2) * LN2_Q16 >> 16);
}

void clo_gumbel_scalar(uint64_t seed, const uint64_t *keys, uint32_t count, int32_t *noise)
{
    for (uint32_t i = 0; i < count; i++) {
        int32_t exponential = minus_ln_q16((uint32_t)(bits_of(seed, keys[i]) >> 32) | 1); /* below 23 * 2^16 < 2^21 */

        noise[i] = minus_ln_q16((uint32_t)(exponential > 0 ? exponential : 1) << 11) - 5 * LN2_Q16;
    }
}

void clo_perturb_scalar(const int32_t *scores, int32_t scale, const int32_t *noise, uint32_t count, int32_t *y)
{
    for (uint32_t i = 0; i < count; i++) {
        int64_t value = clo_shift_right_64((int64_t)scores[i] * scale, 16), limit = (int64_t)1 << 30;

        value = value < -limit ? -limit : value > limit ? limit : value;
        y[i] = clo_wrap_add((int32_t)value, noise[i]);
    }
}

uint32_t clo_argmax_s32_scalar(const clo_candidates *candidates)
{
    const int32_t *scores = candidates->scores;
    uint32_t best = CLO_CANDIDATE_NONE;

    for (uint32_t i = 0; i < candidates->count; i++) {
        if (candidates->mask != NULL && candidates->mask[i] == 0)
            continue;
        if (best == CLO_CANDIDATE_NONE || scores[i] > scores[best] ||
            (scores[i] == scores[best] && candidates->keys[i] < candidates->keys[best]))
            best = i;
    }
    return best;
}
