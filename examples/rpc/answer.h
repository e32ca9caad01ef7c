/* answer.h - what a service answers: a function of the task, the instance and the inputs. So a run over sockets and a
 * run within one process must have the same outputs, bit for bit. */
#ifndef RPC_ANSWER_H
#define RPC_ANSWER_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1a over bytes, from `hash` on; begin with ANSWER_BEGIN. */
#define ANSWER_BEGIN UINT64_C(14695981039346656037)
uint64_t answer_hash(uint64_t hash, const void *bytes, size_t count);

/* One step of splitmix64: spreads the bits of `x`. */
uint64_t answer_mix(uint64_t x);

/* Idempotency key: the same for all attempts, never 0. */
uint64_t answer_key(uint64_t run, uint32_t task, uint32_t instance);

/* Fills `output` from the hash of the inputs. */
void answer_fill(uint32_t task, uint32_t instance, uint64_t inputs_hash, void *output, size_t output_bytes);

#endif
