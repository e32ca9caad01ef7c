/* mix.h - hashes: of requests, for the table of keys; of run, task and instance: the key. Both sides compute them, and
 * journals keep them, so they never change, nor does clo_mix64, of which the key is made. */
#ifndef CLO_RPC_WIRE_MIX_H
#define CLO_RPC_WIRE_MIX_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1a over bytes, from `hash` on; begin with CLO_RPC_HASH_BEGIN. */
#define CLO_RPC_HASH_BEGIN UINT64_C(14695981039346656037)
uint64_t clo_rpc_hash(uint64_t hash, const void *bytes, size_t count);

/* Idempotency key: the same for all attempts, never 0. */
uint64_t clo_rpc_key(uint64_t run, uint32_t task, uint32_t instance);

#endif
