#include "service.h"
#include "answer.h"
#include "client.h"
#include "keys.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum work_state { WORK_QUEUED, WORK_RUNNING, WORK_ONWARD, WORK_ENDED } work_state;

/* One request. */
typedef struct work {
    service *owner;
    peer *from;
    struct work *next, *before;
    frame head;
    ask what;
    work_state state;
    int64_t arrived_us, began_us, expires_us, needs_us;
    uint64_t onward;
    unsigned char *output;
    uv_timer_t timer;
    unsigned char input[];
} work;

typedef struct connection {
    peer *p;
    struct connection *next;
} connection;

struct service {
    service_config config;
    uv_loop_t *loop;
    client *onward;
    keys *applied;
    work *first, *last;
    connection *peers;
    uint32_t running, queued;
    uint64_t served;
    uv_prepare_t before_poll;
    uv_check_t after_poll;
    int is_closing;
};

static int64_t now_us(void)
{
    return (int64_t)(uv_hrtime() / 1000);
}

static int64_t left_us(const work *w)
{
    return w->expires_us == FRAME_NO_DEADLINE ? FRAME_NO_DEADLINE : w->expires_us - now_us();
}

static int64_t slack_us(const work *w)
{
    return w->expires_us == FRAME_NO_DEADLINE ? FRAME_NO_DEADLINE : left_us(w) - (int64_t)w->what.rest_us;
}

static void note(const work *w, const char *event, int64_t value)
{
    FILE *log = w->owner->config.log;

    if (log != NULL)
        fprintf(log, "%s time=%" PRId64 " run=%" PRIu64 " task=%u instance=%u attempt=%u left=%" PRId64 " value=%" PRId64 "\n",
                event, now_us(), w->head.run, w->head.task, w->head.instance, w->head.attempt,
                w->expires_us == FRAME_NO_DEADLINE ? -1 : left_us(w), value);
}

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
    s->queued -= w->state == WORK_QUEUED;
    client_cancel(s->onward, w->onward);
    w->state = WORK_ENDED;
    *(w->before != NULL ? &w->before->next : &s->first) = w->next;
    *(w->next != NULL ? &w->next->before : &s->last) = w->before;
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
    peer_send(w->from, &f);
    if (chance(w, 3) * 1000 < w->owner->config.twice_permille)
        peer_send(w->from, &f);
    msgpack_sbuffer_destroy(&body);
    end_work(w);
}

static void refuse(work *w, reply_status status, int64_t pushback_ms, const char *text)
{
    reply r = {.status = status, .pushback_ms = pushback_ms};

    snprintf(r.text, sizeof r.text, "%s", text);
    answer_with(w, &r);
}

static void give_output(work *w)
{
    reply r = {.status = REPLY_OK, .output = w->output, .output_bytes = w->what.output_bytes};

    note(w, "done", now_us() - w->began_us);
    answer_with(w, &r);
}

static void on_deadline(uv_timer_t *timer)
{
    work *w = timer->data;

    note(w, "expire", now_us() - w->began_us);
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
    else if (r->output_bytes != w->what.output_bytes)
        refuse(w, REPLY_INVALID, 0, "the next service gave an output of another size");
    else {
        if (r->output_bytes > 0)
            memcpy(w->output, r->output, r->output_bytes);
        give_output(w);
    }
}

/* Calls the next service of the route with this one's output; the time that is left has shrunk. */
static void go_onward(work *w)
{
    service *s = w->owner;
    int endpoint = client_endpoint(s->onward, w->what.hop[0]);
    frame head = w->head;
    ask next = w->what;

    next.hops--;
    memmove(next.hop[0], next.hop[1], sizeof next.hop[0] * (HOPS_MAX - 1));
    next.rest_us = next.rest_us > next.work_us ? next.rest_us - next.work_us : 0;
    next.input = w->output;
    next.input_bytes = next.output_bytes;
    head.left_us = left_us(w);
    w->onward = endpoint < 0 ? 0 : client_call(s->onward, endpoint, &head, &next, on_onward, w);
    if (w->onward == 0) {
        refuse(w, REPLY_INVALID, 0, "the next service of the route is no ADDRESS:PORT");
        return;
    }
    note(w, "onward", now_us() - w->began_us);
    s->running--; /* waiting takes no unit */
    w->state = WORK_ONWARD;
    if (w->expires_us != FRAME_NO_DEADLINE)
        arm(w, on_deadline, left_us(w));
}

/* Returns 0, or -1 where the effect could not be kept. */
static int apply(work *w)
{
    service *s = w->owner;
    const void *before = keys_find(s->applied, w->head.key, w->what.output_bytes);

    if (before != NULL) {
        memcpy(w->output, before, w->what.output_bytes);
        note(w, "again", 0);
        return 0;
    }
    if (keys_add(s->applied, w->head.key, w->output, w->what.output_bytes) != 0)
        return -1;
    if (s->config.effects != NULL)
        fprintf(s->config.effects, "%" PRIu64 " %u %u\n", w->head.run, w->head.task, w->head.instance);
    return 0;
}

static void on_worked(uv_timer_t *timer)
{
    work *w = timer->data;

    if (left_us(w) <= 0) {
        on_deadline(timer);
        return;
    }
    answer_fill(w->head.task, w->head.instance, answer_hash(ANSWER_BEGIN, w->input, w->what.input_bytes), w->output,
                w->what.output_bytes);
    if (w->what.keyed && apply(w) != 0)
        refuse(w, REPLY_UNAVAILABLE, 0, "no memory for the key");
    else if (w->what.hops > 0)
        go_onward(w);
    else
        give_output(w);
}

static void begin(work *w)
{
    int64_t left = left_us(w);

    if (left < (int64_t)w->what.rest_us) {
        char text[96];
        snprintf(text, sizeof text, "%" PRId64 " us are left, %" PRIu64 " are needed", left, w->what.rest_us);
        note(w, "drop", (int64_t)w->what.rest_us);
        refuse(w, REPLY_DEADLINE, 0, text);
        return;
    }
    w->owner->served++;
    w->began_us = now_us();
    w->needs_us = draw_us(w);
    note(w, "start", w->needs_us);
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
    for (work *w = s->first, *next; w != NULL && s->running < s->config.slots && s->queued > 0; w = next) {
        next = w->next; /* what is begun may end at once */
        if (w->state != WORK_QUEUED || s->is_closing)
            continue;
        s->queued--;
        s->running++;
        w->state = WORK_RUNNING;
        begin(w);
    }
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
    work *victim = s->last; /* it has just come, and waits */

    for (work *w = s->first; w != NULL; w = w->next)
        if (w->state == WORK_QUEUED && slack_us(w) < slack_us(victim))
            victim = w;
    int64_t later_ms = (int64_t)victim->what.work_us * s->queued / s->config.slots / 1000 + 1;
    note(victim, "shed", slack_us(victim));
    refuse(victim, REPLY_EXHAUSTED, later_ms, "the service is overloaded");
}

static void take_request(service *s, peer *p, const frame *f)
{
    ask a;

    if (ask_read(f, &a) != 0 || (a.keyed && f->key == 0)) {
        peer_close(p, "it sent no request");
        return;
    }
    work *w = calloc(1, sizeof *w + a.input_bytes);
    if (w == NULL || (w->output = calloc(1, a.output_bytes + 1)) == NULL) {
        free(w);
        peer_close(p, "no memory");
        return;
    }
    w->owner = s;
    w->from = p;
    w->head = *f;
    w->what = a;
    w->what.input = w->input;
    if (a.input_bytes > 0)
        memcpy(w->input, a.input, a.input_bytes);
    w->arrived_us = now_us();
    w->expires_us = f->left_us > INT64_MAX / 2 ? FRAME_NO_DEADLINE : w->arrived_us + f->left_us;
    w->state = WORK_QUEUED;
    s->queued++;
    w->before = s->last;
    *(s->last != NULL ? &s->last->next : &s->first) = w;
    s->last = w;
    uv_timer_init(s->loop, &w->timer);
    w->timer.data = w;
    note(w, "arrive", s->queued - 1);
    if (s->queued > s->config.queue + (s->config.slots - s->running))
        shed(s);
}

static void on_frame(void *owner, peer *p, const frame *f)
{
    service *s = owner;

    if (s->is_closing)
        return;
    if (f->kind == FRAME_REQUEST) {
        take_request(s, p, f);
        return;
    }
    for (work *w = s->first; w != NULL && f->kind == FRAME_CANCEL; w = w->next)
        if (w->from == p && w->head.call == f->call) {
            note(w, "cancel", w->state);
            end_work(w);
            return;
        }
}

// cppcheck-suppress constParameter ; as peer_events has it
static void on_closed(void *owner, peer *p, const char *why)
{
    service *s = owner;
    connection **at = &s->peers;

    (void)why;
    for (work *w = s->first, *next; w != NULL; w = next) {
        next = w->next;
        if (w->from == p) {
            note(w, "lost", w->state);
            end_work(w);
        }
    }
    while (*at != NULL && (*at)->p != p)
        at = &(*at)->next;
    if (*at != NULL) {
        connection *gone = *at;
        *at = gone->next;
        free(gone);
    }
}

service *service_create(uv_loop_t *loop, const service_config *config)
{
    service *s = calloc(1, sizeof *s);

    if (s == NULL)
        return NULL;
    s->config = *config;
    s->loop = loop;
    s->onward = client_create(loop);
    s->applied = keys_create();
    if (s->onward == NULL || s->applied == NULL) {
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
    mine->p = peer_accept(listener, &events, s);
    if (mine->p == NULL) {
        free(mine);
        return;
    }
    mine->next = s->peers;
    s->peers = mine;
}

void service_close(service *s)
{
    s->is_closing = 1;
    for (connection *l = s->peers; l != NULL; l = l->next)
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
    free(s);
}
