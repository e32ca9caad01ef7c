/* throttle.h - when a service may be sent more than one attempt: the rules of gRPC's retryThrottling, a budget for
 * retries and one for hedges, and the delay after which a hedge is due.
 *
 *   health  from 10 down by 1 for each failure, up by 0.1 for each request that is answered in time. At 5 or less there
 *           is no retry and no hedge. A request without an answer when its hedge is due counts as a failure.
 *   budget  a retry for every 10 requests, a hedge for every 20, and a few retries in store.
 *   delay   the 95th percentile of the service's answers. While the throttle is closed it is not learned: slow answers
 *           of a service in trouble must not look ordinary. After 30 s the service is learned anew. */
#ifndef CLO_RPC_ENGINE_THROTTLE_H
#define CLO_RPC_ENGINE_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

enum { CLO_RPC_DELAY_FINE = 32, CLO_RPC_DELAY_OCTAVES = 40, CLO_RPC_DELAY_SAMPLES_MIN = 40 };

typedef struct clo_rpc_throttle {
    double health, retries, hedges;

    /* When it was closed; 0: it is open. */
    int64_t closed_us;

    /* Histogram of answers' times: 32 buckets an octave. Halved when it is full, so that new answers count more. */
    uint32_t buckets[CLO_RPC_DELAY_FINE * CLO_RPC_DELAY_OCTAVES], samples, until_next;
    int64_t p95_us;

    /* Stands for it until it is known; 0: nothing does. */
    int64_t usual_us;
} clo_rpc_throttle;

void clo_rpc_throttle_init(clo_rpc_throttle *t);

/* Hedges are due after so long until the delay is known, and a few are in store. */
void clo_rpc_throttle_expect(clo_rpc_throttle *t, int64_t usual_us);

/* A request begins; one was answered before its hedge was due; one failed, or was not. */
void clo_rpc_throttle_request(clo_rpc_throttle *t);
void clo_rpc_throttle_success(clo_rpc_throttle *t);
void clo_rpc_throttle_failure(clo_rpc_throttle *t, int64_t now_us);

/* Takes one retry or hedge, where there may be one. */
bool clo_rpc_throttle_take_retry(clo_rpc_throttle *t);
bool clo_rpc_throttle_take_hedge(clo_rpc_throttle *t);

/* Time of an answer. */
void clo_rpc_throttle_learn(clo_rpc_throttle *t, int64_t took_us, int64_t now_us);

/* When a hedge is due after the first attempt; 0: not known yet. */
int64_t clo_rpc_throttle_delay_us(const clo_rpc_throttle *t);

/* After an error while another attempt is under way: when the next copy may go. At once, when the service says, or
 * never (0) where it wants no other. */
int64_t clo_rpc_throttle_next_copy_us(int64_t now_us, int64_t pushback_ms);

/* Before attempt `next` (2, 3 ...): random(0, min(initial * 2^(next - 2), most)); `chance` in [0, 1). */
int64_t clo_rpc_throttle_backoff_us(uint32_t next, int64_t initial_us, int64_t most_us, double chance);

#endif
