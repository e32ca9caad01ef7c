/* serve.h - how a request comes, waits for a unit, and begins; then handler.h, effect.h, route.h and finish.h have it. */
#ifndef CLO_RPC_SERVICE_SERVE_H
#define CLO_RPC_SERVICE_SERVE_H

#include "rpc/service/work.h"

/* Takes a request; its connection may be closed for it. */
void clo_rpc_serve_take(clo_rpc_connection *from, const clo_rpc_frame *f);

/* Begins what waits, where units are free, and keeps effects: before and after each wait of the loop. */
void clo_rpc_serve_next(clo_rpc_service *s);

#endif
