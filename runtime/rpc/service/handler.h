/* handler.h - who answers a request, and on which thread: the loop's, or one of libuv's pool. */
#ifndef CLO_RPC_SERVICE_HANDLER_H
#define CLO_RPC_SERVICE_HANDLER_H

#include "rpc/service/work.h"

/* The request has a unit, and its time to wait is over. */
void clo_rpc_handler_call(clo_rpc_work *w);

#endif
