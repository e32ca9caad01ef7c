#include "serve.h"
#include "answer.h"
#include "work.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COME_AGAIN_MAX_MS 60000.0

/* A number in [0, 1) that belongs to this attempt at this service. */
static double chance(const work *w, uint64_t which)
{
    uint64_t x = answer_mix(w->owner->config.seed * 8 + which);

    x = answer_mix(x ^ w->head.run);
    x = answer_mix(x ^ ((uint64_t)w->head.task << 32 | w->head.instance));
    x = answer_mix(x ^ w->head.attempt);
    return (double)(x >> 11) / 9007199254740992.0;
}

static int64_t draw_us(const work *w)
{
    const service_config *c = &w->owner->config;
    double normal = sqrt(-2 * log(1 - chance(w, 0))) * cos(6.283185307179586 * chance(w, 1));
    double us = (double)w->what.work_us * c->pace * exp(c->sigma * normal);

    if (chance(w, 2) * 1000 < c->stall_permille)
        us = c->stall_ms * 1e3;
    if (w->owner->served > c->slow_after)
        us *= c->slow;
    return us < 1e12 ? (int64_t)us : INT64_C(1000000000000);
}

static void free_work(uv_handle_t *timer)
{
    work *w = timer->data;

    free(w->output);
    free(w);
}

/* Its unit is free for the next request, which serve_next begins. */
static void end_work(work *w)
{
    service *s = w->owner;

    s->running -= w->state == WORK_RUNNING;
    s->waiting_onward -= w->state == WORK_ONWARD;
    if (w->state == WORK_QUEUED)
        backlog_remove(&s->queue, &w->wait);
    client_cancel(s->onward, w->onward);
    w->state = WORK_ENDED;
    work_unlink(w);
    free(w->output); /* now: a round of the loop may end hundreds, and the rest of them goes at its end */
    w->output = NULL;
    uv_close((uv_handle_t *)&w->timer, free_work);
}

static void answer_with(work *w, const reply *r)
{
    frame f = w->head;
    msgpack_sbuffer body;

    msgpack_sbuffer_init(&body);
    reply_write(&body, r);
    f.kind = FRAME_ANSWER;
    f.body = body.data;
    f.body_bytes = body.size;
    peer_send(w->from->p, &f);
    if (chance(w, 3) * 1000 < w->owner->config.twice_permille)
        peer_send(w->from->p, &f);
    msgpack_sbuffer_destroy(&body);
    end_work(w);
}

static void refuse(work *w, reply_status status, int64_t pushback_ms, const char *text)
{
    reply r = {.status = status, .pushback_ms = pushback_ms};

    snprintf(r.text, sizeof r.text, "%.*s", (int)sizeof r.text - 1, text);
    answer_with(w, &r);
}

static void give_output(work *w)
{
    reply r = {.status = REPLY_OK, .output = w->output, .output_bytes = w->output_bytes};

    work_note(w, "done", work_now_us() - w->began_us);
    answer_with(w, &r);
}

static void on_deadline(uv_timer_t *timer)
{
    work *w = timer->data;

    work_note(w, "expire", work_now_us() - w->began_us);
    refuse(w, REPLY_DEADLINE, 0, "the deadline has passed");
}

static void arm(work *w, uv_timer_cb then, int64_t us)
{
    uv_update_time(w->owner->loop);
    uv_timer_start(&w->timer, then, us <= 0 ? 0 : (uint64_t)(us + 999) / 1000, 0);
}

static void on_onward(void *argument, const reply *r)
{
    work *w = argument;

    w->onward = 0;
    if (r->status != REPLY_OK)
        refuse(w, r->status, r->pushback_ms, r->text);
    else if (r->output_bytes > w->what.output_bytes) {
        char text[sizeof r->text];
        snprintf(text, sizeof text, "the answer of the next service has %zu bytes, and %u were asked for",
                 r->output_bytes, w->what.output_bytes);
        refuse(w, REPLY_INVALID, 0, text);
    } else {
        if (r->output_bytes > 0)
            memcpy(w->output, r->output, r->output_bytes);
        w->output_bytes = (uint32_t)r->output_bytes;
        give_output(w);
    }
}

/* When to come again, by the work that waits. */
static int64_t pushback_ms(const work *w)
{
    const service *s = w->owner;
    double ms = (double)w->what.work_us * s->config.pace * s->queue.count / s->config.slots / 1000 + 1;

    return (int64_t)(ms < COME_AGAIN_MAX_MS ? ms : COME_AGAIN_MAX_MS);
}

/* Only what the service was told of with --allow: a request may name any address. */
static int is_allowed(const service *s, const char *endpoint)
{
    for (uint32_t i = 0; i < s->config.allowed_count; i++)
        if (fnmatch(s->config.allowed[i], endpoint, 0) == 0)
            return 1;
    return 0;
}

static void refuse_hop(work *w)
{
    char text[sizeof((reply *)0)->text];

    snprintf(text, sizeof text, "the next service, %.80s, is none that this one may call (--allow)", w->what.hop[0]);
    refuse(w, REPLY_INVALID, 0, text);
}

/* Calls the next service of the route with this one's output; the time that is left has shrunk. */
static void go_onward(work *w)
{
    service *s = w->owner;
    frame head = w->head;
    ask next = w->what;

    if (!is_allowed(s, w->what.hop[0])) {
        refuse_hop(w);
        return;
    }
    if (s->waiting_onward >= s->config.queue + s->config.slots) {
        refuse(w, REPLY_EXHAUSTED, pushback_ms(w), "too many requests wait for the next service");
        return;
    }
    next.hops--;
    memmove(next.hop[0], next.hop[1], sizeof next.hop[0] * (HOPS_MAX - 1));
    next.rest_us = next.rest_us > next.work_us ? next.rest_us - next.work_us : 0;
    next.input = w->output;
    next.input_bytes = next.output_bytes;
    head.left_us = work_left_us(w);
    int endpoint = client_endpoint(s->onward, w->what.hop[0]);
    w->onward = endpoint < 0 ? 0 : client_call(s->onward, endpoint, &head, &next, on_onward, w);
    if (w->onward == 0) {
        refuse(w, endpoint < 0 ? REPLY_INVALID : REPLY_UNAVAILABLE, 0,
               endpoint < 0 ? "the next service of the route is no ADDRESS:PORT, or one of too many"
                            : "no memory for the call to the next service");
        return;
    }
    work_note(w, "onward", work_now_us() - w->began_us);
    s->running -= w->state == WORK_RUNNING; /* waiting takes no unit */
    s->waiting_onward++;
    w->state = WORK_ONWARD;
    if (w->expires_us != FRAME_NO_DEADLINE)
        arm(w, on_deadline, work_left_us(w));
}

static void proceed(work *w)
{
    if (w->what.hops > 0)
        go_onward(w);
    else
        give_output(w);
}

static void show_effect(const work *w)
{
    FILE *effects = w->owner->config.effects;

    if (effects != NULL)
        fprintf(effects, "%" PRIu64 " %u %u\n", w->head.run, w->head.task, w->head.instance);
}

/* What has an effect goes on when that is durable: group commit, once before and once after each wait of the loop. */
static void keep_effects(service *s)
{
    work *list = s->keeping;

    if (list == NULL)
        return;
    int is_bad = store_commit(&s->store) != 0;
    if (is_bad)
        keys_take_back(s->applied, s->fresh);
    else
        keys_settle(s->applied, s->fresh);
    s->fresh = 0;
    s->keeping = NULL;
    while (list != NULL) {
        work *w = list;
        list = w->next_keeping;
        if (!is_bad && w->is_fresh)
            show_effect(w);
        if (w->state != WORK_KEEPING) /* cancelled: its memory goes after this turn of the loop */
            continue;
        if (is_bad)
            refuse(w, REPLY_UNAVAILABLE, 0, s->store.d.error);
        else
            proceed(w);
    }
}

/* Returns 0, or -1: no memory. */
static int apply(work *w, const applied *a)
{
    service *s = w->owner;
    int is_keyed = w->what.effect == ASK_KEYED;

    if (is_keyed && keys_add(s->applied, a) != 0)
        return -1;
    w->is_fresh = 1;
    if (s->config.keys == NULL) {
        keys_settle(s->applied, (size_t)is_keyed);
        show_effect(w);
    } else {
        s->fresh += (size_t)is_keyed;
        (void)store_add(&s->store, &w->head, is_keyed ? a : NULL); /* no: the commit fails too */
    }
    return 0;
}

/* The effect happens, or has happened before. */
static void have_effect(work *w)
{
    service *s = w->owner;
    uint32_t numbers[3] = {w->head.task, w->head.instance, w->what.output_bytes};
    uint64_t what = answer_hash(answer_hash(w->inputs_hash, numbers, sizeof numbers), &w->head.run, sizeof w->head.run);
    applied a = {.key = w->head.key, .what = what, .output = w->output, .output_bytes = w->what.output_bytes};
    const applied *before = w->what.effect == ASK_KEYED ? keys_find(s->applied, w->head.key) : NULL;

    if (before != NULL && (before->what != what || before->output_bytes != a.output_bytes)) {
        refuse(w, REPLY_INVALID, 0, "the key is that of another request");
        return;
    }
    if (before != NULL) {
        if (a.output_bytes > 0)
            memcpy(w->output, before->output, a.output_bytes);
        work_note(w, "again", 0);
    } else if (apply(w, &a) != 0) {
        refuse(w, REPLY_UNAVAILABLE, 0, "no memory for the key");
        return;
    }
    if (!s->store.d.is_dirty) {
        proceed(w);
        return;
    }
    s->running--;
    w->state = WORK_KEEPING;
    w->next_keeping = s->keeping;
    s->keeping = w;
}

static void on_worked(uv_timer_t *timer)
{
    work *w = timer->data;
    int64_t left = work_left_us(w);

    if (left <= 0) {
        on_deadline(timer);
        return;
    }
    w->output = calloc(1, (size_t)w->what.output_bytes + 1); /* not before: thousands may wait */
    if (w->output == NULL) {
        refuse(w, REPLY_UNAVAILABLE, 0, "no memory for the answer");
        return;
    }
    work_note(w, "worked", left);
    w->inputs_hash = answer_hash(ANSWER_BEGIN, w->input, w->what.input_bytes);
    answer_fill(w->head.task, w->head.instance, w->inputs_hash, w->output, w->what.output_bytes);
    if (w->what.effect != ASK_PURE)
        have_effect(w);
    else
        proceed(w);
}

static void begin(work *w)
{
    int64_t left = work_left_us(w);

    if (left < (int64_t)w->what.rest_us) {
        char text[96];
        snprintf(text, sizeof text, "%" PRId64 " us are left, %" PRIu64 " are needed", left, w->what.rest_us);
        work_note(w, "drop", (int64_t)w->what.rest_us);
        refuse(w, REPLY_DEADLINE, 0, text);
        return;
    }
    w->owner->served++;
    w->began_us = work_now_us();
    w->needs_us = draw_us(w);
    work_note(w, "start", w->needs_us);
    if (w->needs_us <= 0)
        on_worked(&w->timer);
    else if (w->needs_us > left)
        arm(w, on_deadline, left);
    else
        arm(w, on_worked, w->needs_us);
}

/* Begins what waits, where units are free: before and after each wait of the loop. */
static void serve_next(service *s)
{
    while (s->queue.first != NULL && s->running < s->config.slots && !s->is_closing) {
        work *w = (work *)s->queue.first;
        backlog_remove(&s->queue, &w->wait);
        s->running++;
        w->state = WORK_RUNNING;
        begin(w);
    }
    keep_effects(s);
}

static void on_before_poll(uv_prepare_t *prepare)
{
    serve_next(prepare->data);
}

static void on_after_poll(uv_check_t *check)
{
    serve_next(check->data);
}

/* The queue is full: the one with the least slack goes. */
static void shed(service *s)
{
    work *victim = (work *)backlog_least(&s->queue);

    work_note(victim, "shed", victim->wait.latest_us - work_now_us());
    refuse(victim, REPLY_EXHAUSTED, pushback_ms(victim), "the service is overloaded");
}

static work *make_work(connection *from, const frame *f, const ask *a)
{
    work *w = calloc(1, sizeof *w + a->input_bytes);

    if (w == NULL)
        return NULL;
    w->owner = from->owner;
    w->from = from;
    w->head = *f;
    w->what = *a;
    w->what.input = w->input;
    w->output_bytes = a->output_bytes;
    if (a->input_bytes > 0)
        memcpy(w->input, a->input, a->input_bytes);
    w->arrived_us = work_now_us();
    w->expires_us = f->left_us > INT64_MAX / 2 ? FRAME_NO_DEADLINE : w->arrived_us + f->left_us;
    w->wait.latest_us = w->expires_us == FRAME_NO_DEADLINE ? FRAME_NO_DEADLINE : w->expires_us - (int64_t)a->rest_us;
    w->state = WORK_QUEUED;
    w->timer.data = w;
    return w;
}

static void take_request(connection *from, const frame *f)
{
    service *s = from->owner;
    ask a;

    if (ask_read(f, &a) != 0 || (a.effect == ASK_KEYED && f->key == 0)) {
        peer_close(from->p, "it sent no request");
        return;
    }
    if (work_find(from, f->call) != NULL) {
        peer_close(from->p, "two of its requests have one number");
        return;
    }
    work *w = make_work(from, f, &a);
    if (w == NULL || backlog_add(&s->queue, &w->wait) != 0) {
        free(w);
        peer_close(from->p, "no memory");
        return;
    }
    uv_timer_init(s->loop, &w->timer);
    work_link(w);
    work_note(w, "arrive", s->queue.count - 1);
    if (s->queue.count > s->config.queue + (s->config.slots - s->running))
        shed(s);
}

static void on_frame(void *owner, peer *p, const frame *f)
{
    connection *from = owner;

    (void)p;
    if (from->owner->is_closing)
        return;
    if (f->kind == FRAME_REQUEST) {
        take_request(from, f);
        return;
    }
    work *w = f->kind == FRAME_CANCEL ? work_find(from, f->call) : NULL;
    if (w != NULL) {
        work_note(w, "cancel", w->state);
        end_work(w);
    }
}

static void on_closed(void *owner, peer *p, const char *why)
{
    connection *from = owner;

    (void)p;
    (void)why;
    while (from->works != NULL) {
        work_note(from->works, "lost", from->works->state);
        end_work(from->works);
    }
    *(from->before != NULL ? &from->before->next : &from->owner->connections) = from->next;
    if (from->next != NULL)
        from->next->before = from->before;
    free(from);
}

service *service_create(uv_loop_t *loop, const service_config *config, char *error, size_t error_bytes)
{
    service *s = calloc(1, sizeof *s);

    snprintf(error, error_bytes, "no memory");
    if (s == NULL)
        return NULL;
    s->config = *config;
    s->loop = loop;
    s->onward = client_create(loop);
    s->applied = keys_create();
    if (s->onward != NULL)
        client_set_beat(s->onward, config->beat_ms);
    int is_bad = s->onward == NULL || s->applied == NULL;
    if (!is_bad && config->keys != NULL && store_open(&s->store, config->keys, config->is_durable, s->applied) != 0) {
        snprintf(error, error_bytes, "%s", s->store.d.error);
        is_bad = 1;
    }
    if (is_bad) {
        service_destroy(s);
        return NULL;
    }
    uv_prepare_init(loop, &s->before_poll);
    uv_check_init(loop, &s->after_poll);
    s->before_poll.data = s->after_poll.data = s;
    uv_prepare_start(&s->before_poll, on_before_poll);
    uv_check_start(&s->after_poll, on_after_poll);
    return s;
}

void service_accept(service *s, uv_stream_t *listener)
{
    static const peer_events events = {.frame = on_frame, .closed = on_closed};
    connection *mine = calloc(1, sizeof *mine);

    if (mine == NULL)
        return;
    mine->owner = s;
    mine->p = peer_accept(listener, &events, mine);
    if (mine->p == NULL) {
        free(mine);
        return;
    }
    mine->next = s->connections;
    if (mine->next != NULL)
        mine->next->before = mine;
    s->connections = mine;
}

void service_close(service *s)
{
    keep_effects(s);
    s->is_closing = 1;
    for (connection *l = s->connections; l != NULL; l = l->next)
        peer_close(l->p, "closed");
    client_close(s->onward);
    uv_close((uv_handle_t *)&s->before_poll, NULL);
    uv_close((uv_handle_t *)&s->after_poll, NULL);
}

void service_destroy(service *s)
{
    if (s == NULL)
        return;
    client_destroy(s->onward);
    keys_destroy(s->applied);
    backlog_free(&s->queue);
    if (s->config.keys != NULL)
        store_close(&s->store);
    free(s);
}
