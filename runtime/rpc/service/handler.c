/* handler.c - who answers a request, and on which thread: the loop's, or one of libuv's pool. */
#include "base/memory.h"
#include "rpc/service/work.h"
#include "rpc/wire/mix.h"

#include <stdio.h>
#include <string.h>

/* Who answers that method: "" stands for those that nobody else answers. */
static const clo_rpc_served *find(const clo_rpc_service *s, const char *method)
{
    const clo_rpc_served *other = NULL;

    for (size_t i = 0; i < s->methods_count; i++) {
        if (strcmp(s->methods[i].method, method) == 0)
            return &s->methods[i];
        if (s->methods[i].method[0] == '\0')
            other = &s->methods[i];
    }
    return other;
}

static clo_rpc_reply_status meaning(clo_status status)
{
    switch (status) {
    case CLO_ERR_ARGUMENT:
        return CLO_RPC_REPLY_INVALID;
    case CLO_ERR_LIMIT:
        return CLO_RPC_REPLY_EXHAUSTED;
    case CLO_ERR_TIMEOUT:
        return CLO_RPC_REPLY_DEADLINE;
    default:
        return CLO_RPC_REPLY_UNAVAILABLE;
    }
}

static int is_good(const clo_rpc_work *w)
{
    return w->status == CLO_OK && w->answer.count <= w->what.output_bytes;
}

/* The handler has returned. */
static void finish(clo_rpc_work *w)
{
    char text[sizeof w->answer.text];

    if (w->status != CLO_OK) {
        w->answer.text[sizeof w->answer.text - 1] = '\0';
        clo_rpc_finish_refuse(w, meaning(w->status), w->status == CLO_ERR_LIMIT ? clo_rpc_finish_pushback_ms(w) : 0,
                              w->answer.text[0] != '\0' ? w->answer.text : clo_status_text(w->status));
        return;
    }
    if (!is_good(w)) {
        snprintf(text, sizeof text, "the answer of '%.60s' has %zu bytes, and there is room for %u", w->what.method,
                 w->answer.count, w->what.output_bytes);
        clo_rpc_finish_refuse(w, CLO_RPC_REPLY_INVALID, 0, text);
        return;
    }
    w->output_bytes = (uint32_t)w->answer.count;
    if (w->what.effect != CLO_RPC_PURE)
        clo_rpc_effect_have(w);
    else
        clo_rpc_route_proceed(w);
}

static void answer(clo_rpc_work *w)
{
    w->status = w->by->handler(w->by->argument, &w->request, &w->answer);
}

/* On the loop's thread; what the handler writes into the table of keys stays if it succeeds. */
static void answer_here(clo_rpc_work *w)
{
    clo_rpc_effects *table = &w->owner->effects;
    int has_table = w->what.effect == CLO_RPC_KEYED && w->owner->keys != NULL;

    if (has_table && clo_rpc_effects_begin(table) != 0) {
        clo_rpc_finish_refuse(w, CLO_RPC_REPLY_UNAVAILABLE, 0, table->d.error);
        return;
    }
    w->request.database = has_table ? table->d.db : NULL;
    answer(w);
    if (has_table && clo_rpc_effects_end(table, is_good(w)) != 0)
        clo_rpc_finish_refuse(w, CLO_RPC_REPLY_UNAVAILABLE, 0, table->d.error);
    else
        finish(w);
}

static void on_pool(uv_work_t *pooled)
{
    answer(pooled->data);
}

/* Requests of that key need not wait any more. */
static void wake_same(clo_rpc_service *s, uint64_t key)
{
    clo_rpc_work *list = s->same;

    s->same = NULL;
    while (list != NULL) {
        clo_rpc_work *w = list;
        list = w->next_kept;
        if (w->head.key != key) {
            w->next_kept = s->same;
            s->same = w;
            continue;
        }
        uv_timer_stop(&w->timer);
        w->state = CLO_RPC_WORK_RUNNING;
        clo_rpc_handler_call(w);
    }
}

static void leave_pool(clo_rpc_service *s, const clo_rpc_work *w)
{
    clo_rpc_work **link = &s->pooled;

    while (*link != w) /* it is there */
        link = &(*link)->next_kept;
    *link = w->next_kept;
}

static void on_pooled(uv_work_t *pooled, int status)
{
    clo_rpc_work *w = pooled->data;
    clo_rpc_service *s = w->owner;
    uint64_t key = w->head.key;
    int is_keyed = w->what.effect == CLO_RPC_KEYED;

    uv_timer_stop(&w->timer);
    if (is_keyed)
        leave_pool(s, w);
    if (w->state == CLO_RPC_WORK_ENDED) {
        s->running--;
        if (status == 0 && is_good(w) && w->what.effect != CLO_RPC_PURE) {
            w->output_bytes = (uint32_t)w->answer.count;
            clo_rpc_effect_left(w);
        }
        clo_rpc_finish_free(w); /* after this round of the loop */
    } else {
        w->state = CLO_RPC_WORK_RUNNING;
        finish(w);
    }
    if (is_keyed)
        wake_same(s, key);
}

/* A handler on a thread of the pool has a request of that key. */
static int is_busy(const clo_rpc_service *s, uint64_t key)
{
    const clo_rpc_work *w = s->pooled;

    while (w != NULL && w->head.key != key)
        w = w->next_kept;
    return w != NULL;
}

static void arm_deadline(clo_rpc_work *w)
{
    if (w->expires_us != CLO_RPC_FRAME_NO_DEADLINE)
        clo_rpc_finish_arm(w, clo_rpc_finish_on_deadline, clo_rpc_work_left_us(w));
}

static void wait_for_same(clo_rpc_work *w)
{
    w->state = CLO_RPC_WORK_SAME;
    w->next_kept = w->owner->same;
    w->owner->same = w;
    arm_deadline(w);
}

static void answer_in_pool(clo_rpc_work *w)
{
    clo_rpc_service *s = w->owner;

    if (uv_queue_work(&s->loop, &w->pooled, on_pool, on_pooled) != 0) {
        clo_rpc_finish_refuse(w, CLO_RPC_REPLY_UNAVAILABLE, 0, "no thread for the handler");
        return;
    }
    w->state = CLO_RPC_WORK_POOLED;
    if (w->what.effect == CLO_RPC_KEYED) {
        w->next_kept = s->pooled;
        s->pooled = w;
    }
    arm_deadline(w);
}

void clo_rpc_handler_call(clo_rpc_work *w)
{
    char text[sizeof w->answer.text];
    int64_t left_us = clo_rpc_work_left_us(w);

    if (left_us <= 0) {
        clo_rpc_finish_on_deadline(&w->timer);
        return;
    }
    if (w->output == NULL) /* not before: thousands may wait */
        w->output = clo_allocate(1, (size_t)w->what.output_bytes + 1);
    if (w->output == NULL) {
        clo_rpc_finish_refuse(w, CLO_RPC_REPLY_UNAVAILABLE, 0, "no memory for the answer");
        return;
    }
    clo_rpc_work_note(w, "worked", left_us);
    w->inputs_hash = clo_rpc_hash(CLO_RPC_HASH_BEGIN, w->input, w->what.input_bytes);
    if (w->what.effect == CLO_RPC_KEYED && clo_rpc_effect_known(w))
        return;
    if (w->what.effect == CLO_RPC_KEYED && is_busy(w->owner, w->head.key)) {
        wait_for_same(w);
        return;
    }
    w->by = find(w->owner, w->what.method);
    if (w->by == NULL) {
        snprintf(text, sizeof text, "the service has no method '%.80s'", w->what.method);
        clo_rpc_finish_refuse(w, CLO_RPC_REPLY_INVALID, 0, text);
        return;
    }
    w->request = clo_rpc_work_request(w);
    w->answer = (clo_rpc_answer){.bytes = w->output, .room = w->what.output_bytes};
    (w->by->is_short ? answer_here : answer_in_pool)(w);
}
