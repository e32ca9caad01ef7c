/* base/numbers/rng.h - seeded random numbers: xoshiro256** (Blackman and Vigna 2018) seeded by splitmix64.
 * The same numbers on every machine; one generator a thread. */
#ifndef CLO_BASE_NUMBERS_RNG_H
#define CLO_BASE_NUMBERS_RNG_H

#include <stdint.h>

typedef struct clo_rng {
    uint64_t s[4];
} clo_rng;

static inline uint64_t clo_mix64(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline clo_rng clo_rng_seed(uint64_t seed)
{
    clo_rng rng;

    for (int i = 0; i < 4; i++)
        rng.s[i] = clo_mix64(seed + (uint64_t)i * 0x9e3779b97f4a7c15u);
    return rng;
}

static inline uint64_t clo_rng_next(clo_rng *rng)
{
    uint64_t *s = rng->s, m = s[1] * 5;
    uint64_t result = ((m << 7) | (m >> 57)) * 9, t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 45) | (s[3] >> 19);
    return result;
}

/* 0 .. bound-1; bound > 0. Multiply-shift on the upper half: a bias below 2^-32 is accepted. */
static inline uint32_t clo_rng_below(clo_rng *rng, uint32_t bound)
{
    return (uint32_t)(((clo_rng_next(rng) >> 32) * bound) >> 32);
}

/* [0, 1), 53 bits. */
static inline double clo_rng_unit(clo_rng *rng)
{
    return (double)(clo_rng_next(rng) >> 11) * 0x1p-53;
}

#endif
