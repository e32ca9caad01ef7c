/* client.h - calls to endpoints: one call is one attempt at one endpoint.
 *
 * An endpoint is ADDRESS:PORT of a service of ours, or a URL of a foreign one. There is one connection to each, which
 * is made with the first call and made again with the first call after it broke. When it breaks, its calls are answered
 * with REPLY_UNAVAILABLE. While calls are under way, services of ours are asked for a sign of life (peer_beat); one
 * that gives none has lost its connection. Everything is done on the loop's thread. */
#ifndef CLO_RPC_WIRE_CLIENT_H
#define CLO_RPC_WIRE_CLIENT_H

#include "rpc/wire/frame.h"

#include <uv.h>

typedef struct clo_rpc_client clo_rpc_client;

/* Called once for each call that is not cancelled, never from within client_call. May call and cancel others. */
typedef void (*clo_rpc_client_answer_fn)(void *argument, const clo_rpc_reply *r);

clo_rpc_client *clo_rpc_client_create(uv_loop_t *loop);

/* How often it asks; 0: never. 2000 ms where this is not called. */
void clo_rpc_client_set_beat(clo_rpc_client *c, uint32_t every_ms);

/* Number of the endpoint, the same for the same name; -1: the name is neither kind, or there is no memory. Of more than
 * 2048 names those without a connection and a call give their numbers to others; -1: all have. */
int clo_rpc_client_endpoint(clo_rpc_client *c, const char *name);
const char *clo_rpc_client_endpoint_name(const clo_rpc_client *c, int number);

/* Begins a call to endpoint `number`. `head` gives run, task, instance, attempt, left_us and key. Everything is copied.
 * Returns its number, or 0: no memory. */
uint64_t clo_rpc_client_call(clo_rpc_client *c, int number, const clo_rpc_frame *head, const clo_rpc_ask *a,
                             clo_rpc_client_answer_fn answer, void *argument);

/* No answer follows; the service is told. A call that has ended, or 0: nothing happens. */
void clo_rpc_client_cancel(clo_rpc_client *c, uint64_t number);

/* Closes all connections, without answers. The loop must run dry before client_destroy. */
void clo_rpc_client_close(clo_rpc_client *c);
void clo_rpc_client_destroy(clo_rpc_client *c);

#endif
