/* route.h - a request with a route passes its answer on to the next service, and gives back what that answers. */
#ifndef CLO_RPC_SERVICE_ROUTE_H
#define CLO_RPC_SERVICE_ROUTE_H

#include "rpc/service/work.h"

/* The answer goes on to the next service of the route, or back. */
void clo_rpc_route_proceed(clo_rpc_work *w);

#endif
