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

#include "service_config.h"

#include <stddef.h>
#include <uv.h>

typedef struct service service;

/* The config is copied. NULL: no memory, or a table of keys that cannot be used, with one line in `error`. */
service *service_create(uv_loop_t *loop, const service_config *config, char *error, size_t error_bytes);

/* Takes a connection that waits at the listener. */
void service_accept(service *s, uv_stream_t *listener);

/* Drops everything; what was applied becomes durable. The loop must run dry before service_destroy. */
void service_close(service *s);
void service_destroy(service *s);

#endif
