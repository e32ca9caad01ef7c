/* finish.c - how a request ends: with an answer, with a refusal, at its deadline, or without anybody who waits for it.
 * */
#include "base/memory.h"
#include "rpc/service/work.h"

#include <stdio.h>

#define COME_AGAIN_MAX_MS 60000.0

static void on_freed(uv_handle_t *timer)
{
    clo_rpc_work *w = timer->data;

    clo_free(w->output);
    clo_free(w);
}

void clo_rpc_finish_free(clo_rpc_work *w)
{
    uv_close((uv_handle_t *)&w->timer, on_freed);
}

static void leave_same(clo_rpc_work *w)
{
    clo_rpc_work **link = &w->owner->same;

    while (*link != w) /* it is there */
        link = &(*link)->next_kept;
    *link = w->next_kept;
}

/* Its unit is free for the next request, which serve_next begins; but that of a handler on a thread of the pool, which
 * nobody can end: it has the unit and the memory until it returns. */
void clo_rpc_finish_end(clo_rpc_work *w)
{
    clo_rpc_service *s = w->owner;
    clo_rpc_work_state state = w->state;

    s->running -= state == CLO_RPC_WORK_RUNNING || state == CLO_RPC_WORK_SAME;
    s->waiting_onward -= state == CLO_RPC_WORK_ONWARD;
    if (state == CLO_RPC_WORK_QUEUED)
        clo_rpc_backlog_remove(&s->queue, &w->wait);
    if (state == CLO_RPC_WORK_SAME)
        leave_same(w);
    clo_rpc_client_cancel(s->onward, w->onward);
    w->state = CLO_RPC_WORK_ENDED;
    clo_rpc_work_unlink(w);
    if (state == CLO_RPC_WORK_POOLED) {
        uv_timer_stop(&w->timer);
        (void)uv_cancel((uv_req_t *)&w->pooled);
        return;
    }
    clo_free(w->output); /* now: a round of the loop may end hundreds, and the rest of them goes at its end */
    w->output = NULL;
    clo_rpc_finish_free(w);
}

static void answer_with(clo_rpc_work *w, const clo_rpc_reply *r)
{
    clo_rpc_frame f = w->head;
    msgpack_sbuffer body;

    msgpack_sbuffer_init(&body);
    clo_rpc_reply_write(&body, r);
    f.kind = CLO_RPC_FRAME_ANSWER;
    f.body = body.data;
    f.body_bytes = body.size;
    clo_rpc_peer_send(w->from->p, &f);
    if (w->fault.twice)
        clo_rpc_peer_send(w->from->p, &f);
    msgpack_sbuffer_destroy(&body);
    clo_rpc_finish_end(w);
}

void clo_rpc_finish_refuse(clo_rpc_work *w, clo_rpc_reply_status status, int64_t pushback_ms, const char *text)
{
    clo_rpc_reply r = {.status = status, .pushback_ms = pushback_ms};

    snprintf(r.text, sizeof r.text, "%.*s", (int)sizeof r.text - 1, text);
    answer_with(w, &r);
}

void clo_rpc_finish_output(clo_rpc_work *w)
{
    clo_rpc_reply r = {.status = CLO_RPC_REPLY_OK, .output = w->output, .output_bytes = w->output_bytes};

    clo_rpc_work_note(w, "done", clo_rpc_work_now_us() - w->began_us);
    answer_with(w, &r);
}

void clo_rpc_finish_on_deadline(uv_timer_t *timer)
{
    clo_rpc_work *w = timer->data;

    clo_rpc_work_note(w, "expire", clo_rpc_work_now_us() - w->began_us);
    clo_rpc_finish_refuse(w, CLO_RPC_REPLY_DEADLINE, 0, "the deadline has passed");
}

void clo_rpc_finish_arm(clo_rpc_work *w, uv_timer_cb then, int64_t us)
{
    uv_update_time(&w->owner->loop);
    uv_timer_start(&w->timer, then, us <= 0 ? 0 : (uint64_t)(us + 999) / 1000, 0);
}

int64_t clo_rpc_finish_pushback_ms(const clo_rpc_work *w)
{
    const clo_rpc_service *s = w->owner;
    double ms = (double)w->what.work_us * s->queue.count / s->config.slots / 1000 + 1;

    return (int64_t)(ms < COME_AGAIN_MAX_MS ? ms : COME_AGAIN_MAX_MS);
}
