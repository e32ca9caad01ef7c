/* engine.h - the workflow engine: requests of task bodies become calls to services, and answers complete their tokens.
 *
 * Bodies (engine_body) run on Clotho's workers: they take a token, note where their inputs are, and hand the request to
 * the driver, the one thread with a libuv loop, which does all else: attempts, hedges, retries, deadlines, the journal.
 *
 * A request has up to `attempts` attempts under one deadline, which travels as time left. Pure methods are hedged: no
 * answer after the service's 95th percentile (throttle.h), then another attempt at another replica; the first answer
 * wins, the others are cancelled. An error that may pass makes the next attempt due: at once beside a running one, or
 * where the request has not left and another replica can be reached; else after a backoff. Methods with an effect stay
 * at one replica, whose table of keys makes them happen once; their "started" is durable before the call leaves.
 * Nothing waits for a "finished": records become durable in their order, so the "started" of whatever follows carries
 * it. */
#ifndef CLO_RPC_ENGINE_ENGINE_H
#define CLO_RPC_ENGINE_ENGINE_H

#include "rpc/engine/method.h"

/* Starts the driver. The config is copied, what it points to is borrowed. */
clo_status clo_rpc_engine_start(const clo_rpc_engine_config *config, clo_rpc_engine **out);

/* The body of all tasks; its argument is a method. */
int clo_rpc_engine_body(const clo_call *call);

/* On a worker: an instance of a method that no service answers has failed. Returns what its body returns: 0, with an
 * empty answer, where the others go on. */
int clo_rpc_engine_fail_here(const clo_call *call, clo_status status, const char *why);

/* Sets the zero of arrivals and deadlines: just before clo_job_submit. */
void clo_rpc_engine_begin(clo_rpc_engine *e);

/* Waits until the driver has nothing left of a run that has ended and its journal is durable. */
void clo_rpc_engine_settle(clo_rpc_engine *e, clo_rpc_engine_stats *out);

/* After engine_settle: [instances] microseconds from a request's arrival to its answer; -1: it had none. */
const int64_t *clo_rpc_engine_latencies(const clo_rpc_engine *e);

/* From now on a replica is at another endpoint, which is one. Any thread. Returns 0, or -1: no memory. */
int clo_rpc_engine_move(clo_rpc_engine *e, uint32_t service, uint32_t replica, const char *endpoint);

/* Ends the driver. No job may run. NULL is allowed. */
void clo_rpc_engine_stop(clo_rpc_engine *e);

#endif
