/* hash.c - see hash.h. */
#define _GNU_SOURCE
#include "base/hash.h"

#include "base/clock.h"
#include "base/numbers/rng.h"

#include <sys/random.h>

uint64_t clo_entropy(void)
{
    uint64_t bits;

    if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) == (ssize_t)sizeof bits)
        return bits;
    return clo_mix64((uint64_t)clo_clock_ns() ^ clo_mix64((uint64_t)(uintptr_t)&bits));
}

clo_hash_key clo_hash_key_random(void)
{
    return (clo_hash_key){clo_entropy(), clo_entropy()};
}

static inline uint64_t rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static inline void rounds(uint64_t v[4], int count)
{
    for (int i = 0; i < count; i++) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] = rotate(v[2], 32);
    }
}

/* Little-endian, at most 8 bytes. */
static inline uint64_t load(const unsigned char *data, size_t bytes)
{
    uint64_t word = 0;

    for (size_t i = 0; i < bytes; i++)
        word |= (uint64_t)data[i] << (8 * i);
    return word;
}

uint64_t clo_hash(clo_hash_key key, const void *data, size_t bytes)
{
    uint64_t v[4] = {key.k0 ^ 0x736f6d6570736575u, key.k1 ^ 0x646f72616e646f6du, key.k0 ^ 0x6c7967656e657261u,
                     key.k1 ^ 0x7465646279746573u};
    const unsigned char *at = data;
    size_t left = bytes;

    for (; left >= 8; left -= 8, at += 8) {
        uint64_t word = load(at, 8);
        v[3] ^= word;
        rounds(v, 2);
        v[0] ^= word;
    }
    uint64_t last = (uint64_t)bytes << 56 | load(at, left);
    v[3] ^= last;
    rounds(v, 2);
    v[0] ^= last;
    v[2] ^= 0xff;
    rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
