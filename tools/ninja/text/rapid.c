/* rapid.c - see text.h. rapidhash of Nicolas De Carli (2024, BSD 2-clause; after wyhash of Wang Yi) with its default
 * seed and secret, written anew: 128-bit products of 64-bit words fold 48 bytes a round in three lanes. */
#define _DEFAULT_SOURCE /* endian.h */
#include "ninja/text/text.h"

#include <endian.h>
#include <string.h>

__extension__ typedef unsigned __int128 rapid_product;

static const uint64_t SEED = 0xbdd89aa982704029U;
static const uint64_t SECRET[3] = {0x2d358dccaa6c78a5U, 0x8bb84b93962eacc9U, 0x4b33a62ed433d4a3U};

static uint64_t mix(uint64_t a, uint64_t b)
{
    rapid_product product = (rapid_product)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t word64(const unsigned char *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof word);
    return le64toh(word);
}

static uint64_t word32(const unsigned char *at)
{
    uint32_t word;

    memcpy(&word, at, sizeof word);
    return le32toh(word);
}

/* The last two words of a text of at most 16 bytes, which may overlap. */
static void read_short(const unsigned char *at, size_t count, uint64_t *a, uint64_t *b)
{
    *a = *b = 0;
    if (count >= 4) {
        const unsigned char *last = at + count - 4;
        size_t delta = (count & 24) >> (count >> 3);
        *a = word32(at) << 32 | word32(last);
        *b = word32(at + delta) << 32 | word32(last - delta);
    } else if (count > 0) {
        *a = (uint64_t)at[0] << 56 | (uint64_t)at[count >> 1] << 32 | at[count - 1];
    }
}

/* All of a longer text but its last 16 bytes. */
static uint64_t fold(const unsigned char **at, size_t *left, uint64_t seed)
{
    uint64_t lanes[3] = {seed, seed, seed};
    bool is_long = *left > 48;

    for (; is_long && *left >= 48; *at += 48, *left -= 48)
        for (size_t i = 0; i < 3; i++)
            lanes[i] = mix(word64(*at + 16 * i) ^ SECRET[i], word64(*at + 16 * i + 8) ^ lanes[i]);
    if (is_long)
        seed = lanes[0] ^ lanes[1] ^ lanes[2];
    if (*left > 16)
        seed = mix(word64(*at) ^ SECRET[2], word64(*at + 8) ^ seed ^ SECRET[1]);
    if (*left > 32)
        seed = mix(word64(*at + 16) ^ SECRET[2], word64(*at + 24) ^ seed);
    return seed;
}

uint64_t rapid64(const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    uint64_t seed = SEED ^ mix(SEED ^ SECRET[0], SECRET[1]) ^ count, a, b;
    size_t left = count;

    if (count <= 16) {
        read_short(at, count, &a, &b);
    } else {
        seed = fold(&at, &left, seed);
        a = word64(at + left - 16); /* left may be below 16: the last bytes of the round before */
        b = word64(at + left - 8);
    }
    rapid_product product = (rapid_product)(a ^ SECRET[1]) * (b ^ seed);
    return mix((uint64_t)product ^ SECRET[0] ^ count, (uint64_t)(product >> 64) ^ SECRET[1]);
}
