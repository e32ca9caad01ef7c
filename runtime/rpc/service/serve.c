/* serve.c - see serve.h: how a request comes, waits and begins. */
#include "base/memory.h"
#include "rpc/service/work.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void on_waited(uv_timer_t *timer)
{
    clo_rpc_handler_call(timer->data);
}

static void begin(clo_rpc_work *w)
{
    const clo_rpc_service_config *c = &w->owner->config;
    int64_t left = clo_rpc_work_left_us(w), waits_us;

    if (left < (int64_t)w->what.rest_us) {
        char text[96];
        snprintf(text, sizeof text, "%" PRId64 " us are left, %" PRIu64 " are needed", left, w->what.rest_us);
        clo_rpc_work_note(w, "drop", (int64_t)w->what.rest_us);
        clo_rpc_finish_refuse(w, CLO_RPC_REPLY_DEADLINE, 0, text);
        return;
    }
    w->began_us = clo_rpc_work_now_us();
    if (c->fault != NULL) {
        clo_rpc_request request = clo_rpc_work_request(w);
        c->fault(c->argument, &request, &w->fault);
    }
    waits_us = w->fault.delay_ns / 1000;
    clo_rpc_work_note(w, "start", waits_us);
    if (waits_us <= 0)
        clo_rpc_handler_call(w);
    else if (waits_us > left)
        clo_rpc_finish_arm(w, clo_rpc_finish_on_deadline, left);
    else
        clo_rpc_finish_arm(w, on_waited, waits_us);
}

void clo_rpc_serve_next(clo_rpc_service *s)
{
    while (s->queue.first != NULL && s->running < s->config.slots && !s->is_closing) {
        clo_rpc_work *w = (clo_rpc_work *)s->queue.first;
        clo_rpc_backlog_remove(&s->queue, &w->wait);
        s->running++;
        w->state = CLO_RPC_WORK_RUNNING;
        begin(w);
    }
    clo_rpc_effect_keep(s);
}

/* The queue is full: the one with the least slack goes. */
static void shed(clo_rpc_service *s)
{
    clo_rpc_work *victim = (clo_rpc_work *)clo_rpc_backlog_least(&s->queue);

    clo_rpc_work_note(victim, "shed", victim->wait.latest_us - clo_rpc_work_now_us());
    clo_rpc_finish_refuse(victim, CLO_RPC_REPLY_EXHAUSTED, clo_rpc_finish_pushback_ms(victim),
                          "the service is overloaded");
}

static clo_rpc_work *make_work(clo_rpc_connection *from, const clo_rpc_frame *f, const clo_rpc_ask *a)
{
    clo_rpc_work *w = clo_allocate(1, sizeof *w + a->input_bytes);

    if (w == NULL)
        return NULL;
    w->owner = from->owner;
    w->from = from;
    w->head = *f;
    w->what = *a;
    w->what.input = w->input;
    if (a->input_bytes > 0)
        memcpy(w->input, a->input, a->input_bytes);
    w->arrived_us = clo_rpc_work_now_us();
    w->expires_us = f->left_us > INT64_MAX / 2 ? CLO_RPC_FRAME_NO_DEADLINE : w->arrived_us + f->left_us;
    w->wait.latest_us =
        w->expires_us == CLO_RPC_FRAME_NO_DEADLINE ? CLO_RPC_FRAME_NO_DEADLINE : w->expires_us - (int64_t)a->rest_us;
    w->state = CLO_RPC_WORK_QUEUED;
    w->timer.data = w->pooled.data = w;
    return w;
}

void clo_rpc_serve_take(clo_rpc_connection *from, const clo_rpc_frame *f)
{
    clo_rpc_service *s = from->owner;
    clo_rpc_ask a;

    if (clo_rpc_ask_read(f, &a) != 0 || (a.effect == CLO_RPC_KEYED && f->key == 0)) {
        clo_rpc_peer_close(from->p, "it sent no request");
        return;
    }
    if (clo_rpc_work_find(from, f->call) != NULL) {
        clo_rpc_peer_close(from->p, "two of its requests have one number");
        return;
    }
    clo_rpc_work *w = make_work(from, f, &a);
    if (w == NULL || clo_rpc_backlog_add(&s->queue, &w->wait) != 0) {
        clo_free(w);
        clo_rpc_peer_close(from->p, "no memory");
        return;
    }
    uv_timer_init(&s->loop, &w->timer);
    clo_rpc_work_link(w);
    clo_rpc_work_note(w, "arrive", s->queue.count - 1);
    if (s->queue.count > s->config.queue + (s->config.slots - s->running))
        shed(s);
}
