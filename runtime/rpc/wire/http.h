/* http.h - the same call to a foreign service: POST over HTTP/1.1 or 2, libcurl's multi interface on a libuv loop.
 *
 * The inputs are the body, the response's body is the output. Headers: X-Task "TASK/INSTANCE", X-Attempt, X-Left-Us,
 * and Idempotency-Key where the call has one. Connections are kept and used again, at most 64 to a
 * host; more calls wait for one. */
#ifndef RPC_HTTP_H
#define RPC_HTTP_H

#include "frame.h"

#include <uv.h>

typedef struct http http;
typedef struct http_call http_call;

/* Called on the loop's thread, once, never from within http_start. */
typedef void (*http_answer_fn)(void *argument, const reply *r);

http *http_create(uv_loop_t *loop);

/* Copies what it needs. NULL: no memory. */
http_call *http_start(http *h, const char *url, const frame *head, const ask *a, http_answer_fn answer, void *argument);

/* The connection of an HTTP/1.1 call is closed, a stream of HTTP/2 reset. No answer follows. */
void http_cancel(http_call *call);

/* Ends all calls without an answer. The loop must run dry before http_destroy. */
void http_close(http *h);
void http_destroy(http *h);

#endif
