/* peer.h - one TCP connection that carries frames, on a libuv loop: TCP_NODELAY, and what is sent while a write is
 * under way goes out together with the next one. */
#ifndef RPC_PEER_H
#define RPC_PEER_H

#include "frame.h"

#include <uv.h>

#define PEER_UNSENT_MAX ((size_t)256 << 20)

typedef struct peer peer;

/* Called on the loop's thread; heartbeats are not shown. `closed` is the last call: the peer frees itself after it.
 * `why` is one line. */
typedef struct peer_events {
    void (*frame)(void *owner, peer *p, const frame *f);
    void (*closed)(void *owner, peer *p, const char *why);
} peer_events;

/* As uv_loop_init, which ends the process where there are no descriptors. */
int peer_loop_init(uv_loop_t *loop);

/* "ADDRESS:PORT", IPv4, or [IPv6]:PORT, as numbers. Returns 0, or -1 where it is neither. */
int peer_address(const char *endpoint, struct sockaddr_storage *out);

/* What all connections of the process, which are on one loop, may hold together that is not sent yet; PEER_UNSENT_MAX
 * where this is not called. Beyond it the connection that holds most is closed. */
void peer_limit_unsent(size_t most);

/* NULL: no memory, or no descriptor. */
peer *peer_accept(uv_stream_t *listener, const peer_events *events, void *owner);
peer *peer_connect(uv_loop_t *loop, const struct sockaddr *address, const peer_events *events, void *owner);

/* To be called at equal intervals while something is awaited: asks for a sign of life (FRAME_PING), and closes the
 * connection at the sixth call since the last byte came: the process is frozen, or its host cannot be reached. Calls
 * count, not time, so that one's own sleep is not taken for the other's. */
void peer_beat(peer *p);

/* Sends f's header and body; both are copied. A peer that does not read up to 64 MiB is closed. */
void peer_send(peer *p, const frame *f);

/* 1: the connection was made, so something may have been sent. */
int peer_was_open(const peer *p);

/* `closed` follows, from the loop. */
void peer_close(peer *p, const char *why);

#endif
