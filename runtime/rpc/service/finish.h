/* finish.h - how a request ends: with an answer, with a refusal, at its deadline, or without anybody who waits for it. */
#ifndef CLO_RPC_SERVICE_FINISH_H
#define CLO_RPC_SERVICE_FINISH_H

#include "rpc/service/work.h"

/* Ends it without an answer: cancelled, or its connection broke. */
void clo_rpc_finish_end(clo_rpc_work *w);

/* Ends it with an answer: a refusal, or its output. */
void clo_rpc_finish_refuse(clo_rpc_work *w, clo_rpc_reply_status status, int64_t pushback_ms, const char *text);
void clo_rpc_finish_output(clo_rpc_work *w);

/* Calls `then` after `us`; the timer's data is the request. on_deadline refuses it. */
void clo_rpc_finish_arm(clo_rpc_work *w, uv_timer_cb then, int64_t us);
void clo_rpc_finish_on_deadline(uv_timer_t *timer);

/* Frees it, when its timer is closed. */
void clo_rpc_finish_free(clo_rpc_work *w);

/* When to come again, by the work that waits. */
int64_t clo_rpc_finish_pushback_ms(const clo_rpc_work *w);

#endif
