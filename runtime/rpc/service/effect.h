/* effect.h - an effect happens once for each key. The key goes into the table with the answer, and the answer leaves when
 * that is durable: group commit, once before and once after each wait of the loop. */
#ifndef CLO_RPC_SERVICE_EFFECT_H
#define CLO_RPC_SERVICE_EFFECT_H

#include "rpc/service/work.h"

/* 1: the key was applied before, and the request has its answer or a refusal. */
int clo_rpc_effect_known(clo_rpc_work *w);

/* Its handler has answered, and the effect is to be kept. `left`: nobody waits for the answer. */
void clo_rpc_effect_have(clo_rpc_work *w);
void clo_rpc_effect_left(clo_rpc_work *w);

/* Makes durable what is to be kept; then the answers leave. */
void clo_rpc_effect_keep(clo_rpc_service *s);

#endif
