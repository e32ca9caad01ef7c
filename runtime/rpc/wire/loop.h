/* loop.h - a libuv loop and all its connections, which share what may wait to be sent. */
#ifndef CLO_RPC_WIRE_LOOP_H
#define CLO_RPC_WIRE_LOOP_H

#include <uv.h>

/* Of a service. A caller has no limit: its calls are as many as it has slots, and it holds their inputs anyway. */
#define CLO_RPC_UNSENT_MAX ((size_t)256 << 20)
#define CLO_RPC_UNSENT_ANY (SIZE_MAX / 4)

/* uv_loop_t.data. */
typedef struct clo_rpc_peers {
    struct clo_rpc_peer *first;

    /* Bytes of connections that are open and not sent yet, and how many there may be: beyond it the connection that
     * holds most is closed. */
    size_t unsent, unsent_max;

    /* What libuv holds of those that are closed, until the end of a round of the loop. */
    size_t closing;
} clo_rpc_peers;

/* As uv_loop_init, which ends the process where there are no descriptors. */
int clo_rpc_loop_init(uv_loop_t *loop, clo_rpc_peers *all, size_t unsent_max);

/* Runs the loop dry, without SIGPIPE on this thread. */
void clo_rpc_loop_run(uv_loop_t *loop);

#endif
