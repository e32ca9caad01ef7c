/* peer.h - one TCP connection that carries frames, on a libuv loop: TCP_NODELAY, and what is sent while a write is
 * under way goes out together with the next one. */
#ifndef CLO_RPC_WIRE_PEER_H
#define CLO_RPC_WIRE_PEER_H

#include "rpc/wire/frame.h"

#include <uv.h>

typedef struct clo_rpc_peer clo_rpc_peer;

/* Called on the loop's thread; heartbeats are not shown. `closed` is the last call: the peer frees itself after it.
 * `why` is one line. */
typedef struct clo_rpc_peer_events {
    void (*frame)(void *owner, clo_rpc_peer *p, const clo_rpc_frame *f);
    void (*closed)(void *owner, clo_rpc_peer *p, const char *why);
} clo_rpc_peer_events;

/* "ADDRESS:PORT", IPv4, or [IPv6]:PORT, as numbers. Returns 0, or -1 where it is neither. */
int clo_rpc_peer_address(const char *endpoint, struct sockaddr_storage *out);

/* NULL: no memory, or no descriptor. */
clo_rpc_peer *clo_rpc_peer_accept(uv_stream_t *listener, const clo_rpc_peer_events *events, void *owner);
clo_rpc_peer *clo_rpc_peer_connect(uv_loop_t *loop, const struct sockaddr *address, const clo_rpc_peer_events *events,
                                   void *owner);

/* To be called at equal intervals while something is awaited: asks for a sign of life (FRAME_PING), and closes the
 * connection at the sixth call since the last byte came: the process is frozen, or its host cannot be reached. Calls
 * count, not time, so that one's own sleep is not taken for the other's. */
void clo_rpc_peer_beat(clo_rpc_peer *p);

/* Sends f's header and body; both are copied. What is not sent yet has the limit of the loop (loop.h). */
void clo_rpc_peer_send(clo_rpc_peer *p, const clo_rpc_frame *f);

/* 1: the connection was made, so something may have been sent. */
int clo_rpc_peer_was_open(const clo_rpc_peer *p);

/* `closed` follows, from the loop. */
void clo_rpc_peer_close(clo_rpc_peer *p, const char *why);

#endif
