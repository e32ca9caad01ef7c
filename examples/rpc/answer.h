/* answer.h - what the demo's services answer: a function of the task, the instance and the inputs. So a run over sockets
 * and a run within one process must have the same outputs, bit for bit. */
#ifndef RPC_ANSWER_H
#define RPC_ANSWER_H

#include <clotho/rpc.h>

/* FNV-1a over bytes, from `hash` on; begin with ANSWER_BEGIN. */
#define ANSWER_BEGIN UINT64_C(14695981039346656037)
uint64_t answer_hash(uint64_t hash, const void *bytes, size_t count);

/* One step of splitmix64: spreads the bits of `x`. */
uint64_t answer_mix(uint64_t x);

/* A number in [0, 1) of the bits of `x`. */
double answer_chance(uint64_t x);

/* Fills the room of the answer from the hash of the body. The handler of a service. */
clo_status answer_request(void *argument, const clo_rpc_request *request, clo_rpc_answer *answer);

/* The same for a route: what all its services would answer, one after the other. `argument`: uint32_t, services after
 * the first. */
clo_status answer_route(void *argument, const clo_rpc_request *request, clo_rpc_answer *answer);

#endif
