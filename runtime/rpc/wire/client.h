/* client.h - calls to endpoints: one call is one attempt at one endpoint.
 *
 * An endpoint is ADDRESS:PORT of a service of ours, or a URL of a foreign one. There is one connection to each, which
 * is made with the first call and made again with the first call after it broke. When it breaks, its calls are answered
 * with REPLY_UNAVAILABLE. While calls are under way, services of ours are asked for a sign of life (peer_beat); one
 * that gives none has lost its connection. Everything is done on the loop's thread. */
#ifndef RPC_CLIENT_H
#define RPC_CLIENT_H

#include "frame.h"

#include <uv.h>

typedef struct client client;

/* Called once for each call that is not cancelled, never from within client_call. May call and cancel others. */
typedef void (*client_answer_fn)(void *argument, const reply *r);

client *client_create(uv_loop_t *loop);

/* How often it asks; 0: never. 2000 ms where this is not called. */
void client_set_beat(client *c, uint32_t every_ms);

/* Number of the endpoint, the same for the same name; -1: the name is neither kind, or there is no memory. Of more than
 * 2048 names those without a connection and a call give their numbers to others; -1: all have. */
int client_endpoint(client *c, const char *name);
const char *client_endpoint_name(const client *c, int number);

/* Begins a call to endpoint `number`. `head` gives run, task, instance, attempt, left_us and key. Everything is copied.
 * Returns its number, or 0: no memory. */
uint64_t client_call(client *c, int number, const frame *head, const ask *a, client_answer_fn answer, void *argument);

/* No answer follows; the service is told. A call that has ended, or 0: nothing happens. */
void client_cancel(client *c, uint64_t number);

/* Closes all connections, without answers. The loop must run dry before client_destroy. */
void client_close(client *c);
void client_destroy(client *c);

#endif
