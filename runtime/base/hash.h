/* base/hash.h - a hash with a key, for tables whose keys come from outside: who does not know the key cannot write
 * names that collide. SipHash-2-4 (Aumasson and Bernstein, INDOCRYPT 2012), without deviation. */
#ifndef CLO_BASE_HASH_H
#define CLO_BASE_HASH_H

#include "library.h"
#include <stddef.h>
#include <stdint.h>

typedef struct clo_hash_key {
    uint64_t k0, k1;
} clo_hash_key;

/* 64 random bits from the system. Where it has none yet: from the clock and an address, which is enough for a table. */
uint64_t clo_entropy(void);

/* A new key. What a program computes must not depend on it: a hash decides where an entry lies, never the order of
 * results. */
CLO_INTERNAL clo_hash_key clo_hash_key_random(void);

CLO_INTERNAL uint64_t clo_hash(clo_hash_key key, const void *data, size_t bytes);

#endif
