/* http.h - the same call to a foreign service: POST over HTTP/1.1 or 2, libcurl's multi interface on a libuv loop.
 *
 * The inputs are the body, the response's body is the output. A method is a part of the path. Headers: X-Task
 * "TASK/INSTANCE", X-Attempt, X-Left-Us, and Idempotency-Key where the call has one. Connections are kept and used
 * again, at most 64 to a host; more calls wait for one. */
#ifndef CLO_RPC_WIRE_HTTP_H
#define CLO_RPC_WIRE_HTTP_H

#include "rpc/wire/frame.h"

#include <uv.h>

typedef struct clo_rpc_http clo_rpc_http;
typedef struct clo_rpc_http_call clo_rpc_http_call;

/* Called on the loop's thread, once, never from within http_start. */
typedef void (*clo_rpc_http_answer_fn)(void *argument, const clo_rpc_reply *r);

clo_rpc_http *clo_rpc_http_create(uv_loop_t *loop);

/* Copies what it needs. NULL: no memory. */
clo_rpc_http_call *clo_rpc_http_start(clo_rpc_http *h, const char *url, const clo_rpc_frame *head, const clo_rpc_ask *a,
                                      clo_rpc_http_answer_fn answer, void *argument);

/* The connection of an HTTP/1.1 call is closed, a stream of HTTP/2 reset. No answer follows. */
void clo_rpc_http_cancel(clo_rpc_http_call *call);

/* Ends all calls without an answer. The loop must run dry before http_destroy. */
void clo_rpc_http_close(clo_rpc_http *h);
void clo_rpc_http_destroy(clo_rpc_http *h);

#endif
