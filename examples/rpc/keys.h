/* keys.h - idempotency keys that a service has applied, with the outputs: a request whose key is here is answered from
 * here. Holds the last KEYS_MAX; older ones are forgotten, as in any table that ends. */
#ifndef RPC_KEYS_H
#define RPC_KEYS_H

#include <stddef.h>
#include <stdint.h>

enum { KEYS_MAX = 1 << 16 };

typedef struct keys keys;

keys *keys_create(void);
void keys_destroy(keys *k);

/* The output of that key, or NULL: it was not applied, or had no output of `bytes`. */
const void *keys_find(const keys *k, uint64_t key, size_t bytes);

/* Copies the output. Returns 0, or -1: no memory. */
int keys_add(keys *k, uint64_t key, const void *output, size_t bytes);

#endif
