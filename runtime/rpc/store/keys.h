/* keys.h - idempotency keys that a service has applied, with the outputs: a request whose key is here is answered from
 * here. Holds the last KEYS_MAX; older ones are forgotten, as in any table that ends. */
#ifndef RPC_KEYS_H
#define RPC_KEYS_H

#include <stddef.h>
#include <stdint.h>

enum { KEYS_MAX = 1 << 16 };

typedef struct keys keys;

typedef struct applied {
    uint64_t key;

    /* Hash of the request: another one with the same key is an error. */
    uint64_t what;

    const void *output;
    size_t output_bytes;
} applied;

keys *keys_create(void);
void keys_destroy(keys *k);

/* NULL: it was not applied, or it was long ago. */
const applied *keys_find(const keys *k, uint64_t key);

/* Of a key that is not there. Copies the output. Returns 0, or -1: no memory. */
int keys_add(keys *k, const applied *a);

/* The last `count` that were added are for good: what they have replaced is forgotten. */
void keys_settle(keys *k, size_t count);

/* Takes back the last `count` that were added since then, all of them not settled: the table is as it was before, also
 * where it was full. */
void keys_take_back(keys *k, size_t count);

#endif
