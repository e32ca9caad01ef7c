#include "client.h"
#include "http.h"
#include "peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names come with requests, too, and may be ever new ones. */
enum { ENDPOINTS_MAX = 2048, BEAT_MS = 2000 };

typedef struct endpoint {
    client *owner;
    char name[ENDPOINT_MAX];
    struct sockaddr_storage address;
    peer *connection; /* NULL: there is none now */
    int is_http, calls;
} endpoint;

typedef struct call {
    client *owner;
    client_answer_fn answer; /* NULL: the slot is free */
    void *argument;
    http_call *http;
    peer *via; /* the connection that it was sent on */
    frame head;
    uint32_t generation;
    int endpoint, slot, next_free;
} call;

struct client {
    uv_loop_t *loop;
    http *http;
    endpoint **endpoints;
    call **calls;
    int endpoints_count, calls_count, calls_capacity, free, is_closing;
    uint32_t beat_ms;

    /* It runs while calls are under way; made with the first one. */
    uv_timer_t beat;
    int has_beat;
};

client *client_create(uv_loop_t *loop)
{
    client *c = calloc(1, sizeof *c);

    if (c == NULL)
        return NULL;
    c->loop = loop;
    c->free = -1;
    c->beat_ms = BEAT_MS;
    return c;
}

void client_set_beat(client *c, uint32_t every_ms)
{
    c->beat_ms = every_ms;
}

/* Number of the endpoint of that name; else, where there are many, of one that is not in use; else -1. */
static int find_endpoint(const client *c, const char *name)
{
    int idle = -1;

    for (int i = 0; i < c->endpoints_count; i++) {
        const endpoint *e = c->endpoints[i];
        if (strcmp(e->name, name) == 0)
            return i;
        if (idle < 0 && e->connection == NULL && e->calls == 0)
            idle = i;
    }
    return c->endpoints_count == ENDPOINTS_MAX ? idle : -1;
}

static endpoint *make_endpoint(client *c)
{
    endpoint *e = calloc(1, sizeof *e),
             **longer = realloc(c->endpoints, (size_t)(c->endpoints_count + 1) * sizeof(endpoint *));

    if (longer != NULL)
        c->endpoints = longer;
    if (longer == NULL || e == NULL) {
        free(e);
        return NULL;
    }
    c->endpoints[c->endpoints_count++] = e;
    return e;
}

int client_endpoint(client *c, const char *name)
{
    int is_http = strncmp(name, "http://", 7) == 0 || strncmp(name, "https://", 8) == 0;
    int number = find_endpoint(c, name);
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};

    if (number >= 0 && strcmp(c->endpoints[number]->name, name) == 0)
        return number;
    if ((number < 0 && c->endpoints_count == ENDPOINTS_MAX) || strlen(name) >= ENDPOINT_MAX ||
        (!is_http && peer_address(name, &address) != 0))
        return -1;
    if (number < 0 && make_endpoint(c) == NULL)
        return -1;
    number = number < 0 ? c->endpoints_count - 1 : number;
    endpoint *e = c->endpoints[number];
    *e = (endpoint){.owner = c, .address = address, .is_http = is_http};
    snprintf(e->name, sizeof e->name, "%s", name);
    return number;
}

const char *client_endpoint_name(const client *c, int number)
{
    return c->endpoints[number]->name;
}

static uint64_t number_of(const call *k, int slot)
{
    return (uint64_t)k->generation << 32 | (uint32_t)(slot + 1);
}

/* The call of that number, or NULL where it has ended. */
static call *find(client *c, uint64_t number, int *slot)
{
    *slot = (int)(uint32_t)number - 1;
    if (*slot < 0 || *slot >= c->calls_count)
        return NULL;
    call *k = c->calls[*slot];
    return k->answer != NULL && k->generation == number >> 32 ? k : NULL;
}

static void release(client *c, int slot)
{
    call *k = c->calls[slot];

    c->endpoints[k->endpoint]->calls--;
    k->answer = NULL;
    k->http = NULL;
    k->via = NULL;
    k->generation++;
    k->next_free = c->free;
    c->free = slot;
}

static void answer_call(client *c, int slot, const reply *r)
{
    call *k = c->calls[slot];
    client_answer_fn answer = k->answer;
    void *argument = k->argument;

    release(c, slot);
    answer(argument, r);
}

static void on_frame(void *owner, peer *p, const frame *f)
{
    endpoint *e = owner;
    int slot;
    reply r = {.status = REPLY_OK};

    if (f->kind != FRAME_ANSWER || reply_read(f, &r) != 0) {
        peer_close(p, "it sent no answer");
        return;
    }
    call *k = find(e->owner, f->call, &slot);
    if (k != NULL && k->via == p)
        answer_call(e->owner, slot, &r); /* else it is late: of a call that was cancelled */
}

static void on_closed(void *owner, peer *p, const char *why)
{
    endpoint *e = owner;
    client *c = e->owner;
    reply r = {.status = REPLY_UNAVAILABLE};

    r.is_unsent = !peer_was_open(p);
    e->connection = NULL;
    snprintf(r.text, sizeof r.text, "%s", why);
    for (int i = 0; i < c->calls_count && !c->is_closing; i++) /* answers may make calls: on another connection */
        if (c->calls[i]->via == p)
            answer_call(c, i, &r);
}

static void on_http(void *argument, const reply *r)
{
    const call *k = argument;

    answer_call(k->owner, k->slot, r);
}

static int take_slot(client *c)
{
    if (c->free >= 0) {
        int slot = c->free;
        c->free = c->calls[slot]->next_free;
        return slot;
    }
    if (c->calls_count == c->calls_capacity) {
        int capacity = c->calls_capacity > 0 ? c->calls_capacity * 2 : 64;
        call **longer = realloc(c->calls, (size_t)capacity * sizeof(call *));
        if (longer == NULL)
            return -1;
        c->calls = longer;
        c->calls_capacity = capacity;
    }
    call *k = calloc(1, sizeof *k);
    if (k == NULL)
        return -1;
    k->owner = c;
    k->slot = c->calls_count;
    c->calls[c->calls_count] = k;
    return c->calls_count++;
}

static void on_beat(uv_timer_t *timer)
{
    const client *c = timer->data;
    int is_waiting = 0;

    for (int i = 0; i < c->endpoints_count; i++) {
        const endpoint *e = c->endpoints[i];
        if (e->connection == NULL || e->calls == 0)
            continue;
        is_waiting = 1;
        peer_beat(e->connection);
    }
    if (!is_waiting)
        uv_timer_stop(timer);
}

/* A call is under way. */
static void start_beat(client *c)
{
    if (c->beat_ms == 0 || c->is_closing)
        return;
    if (!c->has_beat) {
        uv_timer_init(c->loop, &c->beat);
        c->beat.data = c;
        c->has_beat = 1;
    }
    if (!uv_is_active((uv_handle_t *)&c->beat))
        uv_timer_start(&c->beat, on_beat, c->beat_ms, c->beat_ms);
}

/* Hands the request to the endpoint. */
static int send_request(client *c, call *k, const ask *a)
{
    static const peer_events events = {.frame = on_frame, .closed = on_closed};
    endpoint *e = c->endpoints[k->endpoint];
    msgpack_sbuffer body;

    if (e->is_http) {
        if (c->http == NULL)
            c->http = http_create(c->loop);
        k->http = c->http != NULL ? http_start(c->http, e->name, &k->head, a, on_http, k) : NULL;
        return k->http != NULL ? 0 : -1;
    }
    if (e->connection == NULL)
        e->connection = peer_connect(c->loop, (const struct sockaddr *)&e->address, &events, e);
    if (e->connection == NULL)
        return -1;
    msgpack_sbuffer_init(&body);
    ask_write(&body, a);
    frame f = k->head;
    f.body = body.data;
    f.body_bytes = body.size;
    k->via = e->connection;
    start_beat(c);
    peer_send(e->connection, &f); /* to one that is closing: on_closed answers */
    msgpack_sbuffer_destroy(&body);
    return 0;
}

uint64_t client_call(client *c, int number, const frame *head, const ask *a, client_answer_fn answer, void *argument)
{
    int slot = take_slot(c);

    if (slot < 0)
        return 0;
    call *k = c->calls[slot];
    k->endpoint = number;
    c->endpoints[number]->calls++;
    k->answer = answer;
    k->argument = argument;
    k->head = *head;
    k->head.kind = FRAME_REQUEST;
    k->head.call = number_of(k, slot);
    k->head.body = NULL;
    k->head.body_bytes = 0;
    if (send_request(c, k, a) == 0)
        return k->head.call;
    release(c, slot);
    return 0;
}

void client_cancel(client *c, uint64_t number)
{
    int slot;
    call *k = number != 0 ? find(c, number, &slot) : NULL;

    if (k == NULL || c->is_closing)
        return;
    if (k->http != NULL)
        http_cancel(k->http);
    else {
        frame f = k->head;
        f.kind = FRAME_CANCEL;
        peer_send(k->via, &f);
    }
    release(c, slot);
}

void client_close(client *c)
{
    c->is_closing = 1;
    for (int i = 0; i < c->endpoints_count; i++)
        if (c->endpoints[i]->connection != NULL)
            peer_close(c->endpoints[i]->connection, "closed");
    if (c->http != NULL)
        http_close(c->http);
    if (c->has_beat)
        uv_close((uv_handle_t *)&c->beat, NULL);
}

void client_destroy(client *c)
{
    if (c == NULL)
        return;
    for (int i = 0; i < c->endpoints_count; i++)
        free(c->endpoints[i]);
    for (int i = 0; i < c->calls_count; i++)
        free(c->calls[i]);
    free(c->endpoints);
    free(c->calls);
    http_destroy(c->http);
    free(c);
}
