/* service.h - a service: answers requests of its peers on one loop.
 *
 * It has `slots` units of concurrency and a bounded queue. What a unit does is a timer: the expected time of the
 * request times a lognormal factor, now and then a stall; both follow from the seed, the run, the task, the instance
 * and the attempt. The output is a function of the inputs (answer.h).
 *
 * Rules. A request that cannot finish in the time that is left is not begun. Work stops at the deadline and at a
 * cancel, also on the services that it has called. When the queue is full, the request with the least slack (time left
 * - time still needed) is turned away, with a hint when to come again. An effect is applied once for each key; with
 * `keys` that holds across a kill: the answer leaves when the effect and its key are durable. */
#ifndef RPC_SERVICE_H
#define RPC_SERVICE_H

#include "peer.h"

#include <stdio.h>

typedef struct service_config {
    uint32_t slots, queue;
    uint64_t seed;

    /* Times of requests are multiplied by this, and have this spread. */
    double pace, sigma;

    /* Stalls in a thousand requests, and their length. */
    uint32_t stall_permille, stall_ms;

    /* After so many requests all take `slow` times as long. */
    double slow;
    uint64_t slow_after;

    /* In a thousand answers, those that are sent twice: a fault that callers must bear. */
    uint32_t twice_permille;

    /* One line an event, one an effect that is applied; NULL: none. */
    FILE *log, *effects;

    /* Path of the table of keys and effects (store.h); NULL: keys are in memory only. 1: it survives a loss of power. */
    const char *keys;
    uint32_t is_durable;
} service_config;

typedef struct service service;

/* The config is copied. NULL: no memory, or a table of keys that cannot be used, with one line in `error`. */
service *service_create(uv_loop_t *loop, const service_config *config, char *error, size_t error_bytes);

/* Takes a connection that waits at the listener. */
void service_accept(service *s, uv_stream_t *listener);

/* Drops everything; what was applied becomes durable. The loop must run dry before service_destroy. */
void service_close(service *s);
void service_destroy(service *s);

#endif
