/* keys.h - idempotency keys that a service has applied, with the outputs: a request whose key is here is answered from
 * here. Holds the last KEYS_MAX; older ones are forgotten, as in any table that ends. */
#ifndef CLO_RPC_STORE_KEYS_H
#define CLO_RPC_STORE_KEYS_H

#include <stddef.h>
#include <stdint.h>

enum { CLO_RPC_KEYS_MAX = 1 << 16 };

typedef struct clo_rpc_keys clo_rpc_keys;

typedef struct clo_rpc_applied {
    uint64_t key;

    /* Hash of the request: another one with the same key is an error. */
    uint64_t what;

    const void *output;
    size_t output_bytes;
} clo_rpc_applied;

clo_rpc_keys *clo_rpc_keys_create(void);
void clo_rpc_keys_destroy(clo_rpc_keys *k);

/* NULL: it was not applied, or it was long ago. */
const clo_rpc_applied *clo_rpc_keys_find(const clo_rpc_keys *k, uint64_t key);

/* Of a key that is not there. Copies the output. Returns 0, or -1: no memory. */
int clo_rpc_keys_add(clo_rpc_keys *k, const clo_rpc_applied *a);

/* The last `count` that were added are for good: what they have replaced is forgotten. */
void clo_rpc_keys_settle(clo_rpc_keys *k, size_t count);

/* Takes back the last `count` that were added since then, all of them not settled: the table is as it was before, also
 * where it was full. */
void clo_rpc_keys_take_back(clo_rpc_keys *k, size_t count);

#endif
