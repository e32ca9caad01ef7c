/* route.c - a request with a route passes its answer on to the next service, and gives back what that answers. */
#include "rpc/service/work.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

static void on_onward(void *argument, const clo_rpc_reply *r)
{
    clo_rpc_work *w = argument;
    char text[sizeof r->text];

    w->onward = 0;
    if (r->status != CLO_RPC_REPLY_OK) {
        clo_rpc_finish_refuse(w, r->status, r->pushback_ms, r->text);
        return;
    }
    if (r->output_bytes > w->what.output_bytes) {
        snprintf(text, sizeof text, "the answer of the next service has %zu bytes, and %u were asked for",
                 r->output_bytes, w->what.output_bytes);
        clo_rpc_finish_refuse(w, CLO_RPC_REPLY_INVALID, 0, text);
        return;
    }
    if (r->output_bytes > 0)
        memcpy(w->output, r->output, r->output_bytes);
    w->output_bytes = (uint32_t)r->output_bytes;
    clo_rpc_finish_output(w);
}

/* Only what the service was told of: a request may name any address. */
static int is_allowed(const clo_rpc_service *s, const char *endpoint)
{
    for (uint32_t i = 0; i < s->config.allowed_count; i++)
        if (fnmatch(s->allowed[i], endpoint, 0) == 0)
            return 1;
    return 0;
}

/* 1: it is refused. */
static int is_refused(clo_rpc_work *w)
{
    const clo_rpc_service *s = w->owner;
    char text[sizeof((clo_rpc_reply *)0)->text];

    if (!is_allowed(s, w->what.hop[0])) {
        snprintf(text, sizeof text, "the next service, %.80s, is none that this one may call (--allow)",
                 w->what.hop[0]);
        clo_rpc_finish_refuse(w, CLO_RPC_REPLY_INVALID, 0, text);
        return 1;
    }
    if (s->waiting_onward < s->config.queue + s->config.slots)
        return 0;
    clo_rpc_finish_refuse(w, CLO_RPC_REPLY_EXHAUSTED, clo_rpc_finish_pushback_ms(w),
                          "too many requests wait for the next service");
    return 1;
}

/* Calls the next service of the route with this one's output; the time that is left has shrunk. */
static void go_onward(clo_rpc_work *w)
{
    clo_rpc_service *s = w->owner;
    clo_rpc_frame head = w->head;
    clo_rpc_ask next = w->what;

    if (is_refused(w))
        return;
    next.hops--;
    memmove(next.hop[0], next.hop[1], sizeof next.hop[0] * (CLO_RPC_HOPS_MAX - 1));
    next.rest_us = next.rest_us > next.work_us ? next.rest_us - next.work_us : 0;
    next.input = w->output;
    next.input_bytes = w->output_bytes;
    head.left_us = clo_rpc_work_left_us(w);
    int endpoint = clo_rpc_client_endpoint(s->onward, w->what.hop[0]);
    w->onward = endpoint < 0 ? 0 : clo_rpc_client_call(s->onward, endpoint, &head, &next, on_onward, w);
    if (w->onward == 0) {
        clo_rpc_finish_refuse(w, endpoint < 0 ? CLO_RPC_REPLY_INVALID : CLO_RPC_REPLY_UNAVAILABLE, 0,
                              endpoint < 0 ? "the next service of the route is no ADDRESS:PORT, or one of too many"
                                           : "no memory for the call to the next service");
        return;
    }
    clo_rpc_work_note(w, "onward", clo_rpc_work_now_us() - w->began_us);
    s->running -= w->state == CLO_RPC_WORK_RUNNING; /* waiting takes no unit */
    s->waiting_onward++;
    w->state = CLO_RPC_WORK_ONWARD;
    if (w->expires_us != CLO_RPC_FRAME_NO_DEADLINE)
        clo_rpc_finish_arm(w, clo_rpc_finish_on_deadline, clo_rpc_work_left_us(w));
}

void clo_rpc_route_proceed(clo_rpc_work *w)
{
    if (w->what.hops > 0)
        go_onward(w);
    else
        clo_rpc_finish_output(w);
}
