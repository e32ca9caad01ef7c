#include "rpc/wire/client.h"
#include "base/memory.h"
#include "rpc/wire/http.h"
#include "rpc/wire/peer.h"

#include <stdio.h>
#include <string.h>

/* Names come with requests, too, and may be ever new ones. */
enum { ENDPOINTS_MAX = 2048, BEAT_MS = 2000 };

typedef struct endpoint {
    clo_rpc_client *owner;
    char name[CLO_RPC_NAME_BYTES];
    struct sockaddr_storage address;
    clo_rpc_peer *connection; /* NULL: there is none now */
    int is_http, calls;
} endpoint;

typedef struct call {
    clo_rpc_client *owner;
    clo_rpc_client_answer_fn answer; /* NULL: the slot is free */
    void *argument;
    clo_rpc_http_call *http;
    clo_rpc_peer *via; /* the connection that it was sent on */
    clo_rpc_frame head;
    uint32_t generation;
    int endpoint, slot, next_free;
} call;

struct clo_rpc_client {
    uv_loop_t *loop;
    clo_rpc_http *http;
    endpoint **endpoints;
    call **calls;
    size_t endpoints_capacity, calls_capacity;
    int endpoints_count, calls_count, free, is_closing;
    uint32_t beat_ms;

    /* It runs while calls are under way; made with the first one. */
    uv_timer_t beat;
    int has_beat;
};

clo_rpc_client *clo_rpc_client_create(uv_loop_t *loop)
{
    clo_rpc_client *c = clo_allocate(1, sizeof *c);

    if (c == NULL)
        return NULL;
    c->loop = loop;
    c->free = -1;
    c->beat_ms = BEAT_MS;
    return c;
}

void clo_rpc_client_set_beat(clo_rpc_client *c, uint32_t every_ms)
{
    c->beat_ms = every_ms;
}

/* Number of the endpoint of that name; else, where there are many, of one that is not in use; else -1. */
static int find_endpoint(const clo_rpc_client *c, const char *name)
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

static endpoint *make_endpoint(clo_rpc_client *c)
{
    endpoint *e = clo_allocate(1, sizeof *e);
    size_t need = (size_t)c->endpoints_count + 1;

    if (e == NULL || clo_grow((void **)&c->endpoints, &c->endpoints_capacity, need, sizeof *c->endpoints) != 0) {
        clo_free(e);
        return NULL;
    }
    c->endpoints[c->endpoints_count++] = e;
    return e;
}

int clo_rpc_client_endpoint(clo_rpc_client *c, const char *name)
{
    int is_http = strncmp(name, "http://", 7) == 0 || strncmp(name, "https://", 8) == 0;
    int number = find_endpoint(c, name);
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};

    if (number >= 0 && strcmp(c->endpoints[number]->name, name) == 0)
        return number;
    if ((number < 0 && c->endpoints_count == ENDPOINTS_MAX) || strlen(name) >= CLO_RPC_NAME_BYTES ||
        (!is_http && clo_rpc_peer_address(name, &address) != 0))
        return -1;
    if (number < 0 && make_endpoint(c) == NULL)
        return -1;
    number = number < 0 ? c->endpoints_count - 1 : number;
    endpoint *e = c->endpoints[number];
    *e = (endpoint){.owner = c, .address = address, .is_http = is_http};
    snprintf(e->name, sizeof e->name, "%s", name);
    return number;
}

const char *clo_rpc_client_endpoint_name(const clo_rpc_client *c, int number)
{
    return c->endpoints[number]->name;
}

static uint64_t number_of(const call *k, int slot)
{
    return (uint64_t)k->generation << 32 | (uint32_t)(slot + 1);
}

/* The call of that number, or NULL where it has ended. */
static call *find(clo_rpc_client *c, uint64_t number, int *slot)
{
    *slot = (int)(uint32_t)number - 1;
    if (*slot < 0 || *slot >= c->calls_count)
        return NULL;
    call *k = c->calls[*slot];
    return k->answer != NULL && k->generation == number >> 32 ? k : NULL;
}

static void release(clo_rpc_client *c, int slot)
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

static void answer_call(clo_rpc_client *c, int slot, const clo_rpc_reply *r)
{
    call *k = c->calls[slot];
    clo_rpc_client_answer_fn answer = k->answer;
    void *argument = k->argument;

    release(c, slot);
    answer(argument, r);
}

static void on_frame(void *owner, clo_rpc_peer *p, const clo_rpc_frame *f)
{
    endpoint *e = owner;
    int slot;
    clo_rpc_reply r = {.status = CLO_RPC_REPLY_OK};

    if (f->kind != CLO_RPC_FRAME_ANSWER || clo_rpc_reply_read(f, &r) != 0) {
        clo_rpc_peer_close(p, "it sent no answer");
        return;
    }
    call *k = find(e->owner, f->call, &slot);
    if (k != NULL && k->via == p)
        answer_call(e->owner, slot, &r); /* else it is late: of a call that was cancelled */
}

static void on_closed(void *owner, clo_rpc_peer *p, const char *why)
{
    endpoint *e = owner;
    clo_rpc_client *c = e->owner;
    clo_rpc_reply r = {.status = CLO_RPC_REPLY_UNAVAILABLE};

    r.is_unsent = !clo_rpc_peer_was_open(p);
    e->connection = NULL;
    snprintf(r.text, sizeof r.text, "%s", why);
    for (int i = 0; i < c->calls_count && !c->is_closing; i++) /* answers may make calls: on another connection */
        if (c->calls[i]->via == p)
            answer_call(c, i, &r);
}

static void on_http(void *argument, const clo_rpc_reply *r)
{
    const call *k = argument;

    answer_call(k->owner, k->slot, r);
}

static int take_slot(clo_rpc_client *c)
{
    if (c->free >= 0) {
        int slot = c->free;
        c->free = c->calls[slot]->next_free;
        return slot;
    }
    if (clo_grow((void **)&c->calls, &c->calls_capacity, (size_t)c->calls_count + 1, sizeof *c->calls) != 0)
        return -1;
    call *k = clo_allocate(1, sizeof *k);
    if (k == NULL)
        return -1;
    k->owner = c;
    k->slot = c->calls_count;
    c->calls[c->calls_count] = k;
    return c->calls_count++;
}

static void on_beat(uv_timer_t *timer)
{
    const clo_rpc_client *c = timer->data;
    int is_waiting = 0;

    for (int i = 0; i < c->endpoints_count; i++) {
        const endpoint *e = c->endpoints[i];
        if (e->connection == NULL || e->calls == 0)
            continue;
        is_waiting = 1;
        clo_rpc_peer_beat(e->connection);
    }
    if (!is_waiting)
        uv_timer_stop(timer);
}

/* A call is under way. */
static void start_beat(clo_rpc_client *c)
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
static int send_request(clo_rpc_client *c, call *k, const clo_rpc_ask *a)
{
    static const clo_rpc_peer_events events = {.frame = on_frame, .closed = on_closed};
    endpoint *e = c->endpoints[k->endpoint];
    msgpack_sbuffer body;

    if (e->is_http) {
        if (c->http == NULL)
            c->http = clo_rpc_http_create(c->loop);
        k->http = c->http != NULL ? clo_rpc_http_start(c->http, e->name, &k->head, a, on_http, k) : NULL;
        return k->http != NULL ? 0 : -1;
    }
    if (e->connection == NULL)
        e->connection = clo_rpc_peer_connect(c->loop, (const struct sockaddr *)&e->address, &events, e);
    if (e->connection == NULL)
        return -1;
    msgpack_sbuffer_init(&body);
    clo_rpc_ask_write(&body, a);
    clo_rpc_frame f = k->head;
    f.body = body.data;
    f.body_bytes = body.size;
    k->via = e->connection;
    start_beat(c);
    clo_rpc_peer_send(e->connection, &f); /* to one that is closing: on_closed answers */
    msgpack_sbuffer_destroy(&body);
    return 0;
}

uint64_t clo_rpc_client_call(clo_rpc_client *c, int number, const clo_rpc_frame *head, const clo_rpc_ask *a,
                             clo_rpc_client_answer_fn answer, void *argument)
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
    k->head.kind = CLO_RPC_FRAME_REQUEST;
    k->head.call = number_of(k, slot);
    k->head.body = NULL;
    k->head.body_bytes = 0;
    if (send_request(c, k, a) == 0)
        return k->head.call;
    release(c, slot);
    return 0;
}

void clo_rpc_client_cancel(clo_rpc_client *c, uint64_t number)
{
    int slot;
    call *k = number != 0 ? find(c, number, &slot) : NULL;

    if (k == NULL || c->is_closing)
        return;
    if (k->http != NULL)
        clo_rpc_http_cancel(k->http);
    else {
        clo_rpc_frame f = k->head;
        f.kind = CLO_RPC_FRAME_CANCEL;
        clo_rpc_peer_send(k->via, &f);
    }
    release(c, slot);
}

void clo_rpc_client_close(clo_rpc_client *c)
{
    c->is_closing = 1;
    for (int i = 0; i < c->endpoints_count; i++)
        if (c->endpoints[i]->connection != NULL)
            clo_rpc_peer_close(c->endpoints[i]->connection, "closed");
    if (c->http != NULL)
        clo_rpc_http_close(c->http);
    if (c->has_beat)
        uv_close((uv_handle_t *)&c->beat, NULL);
}

void clo_rpc_client_destroy(clo_rpc_client *c)
{
    if (c == NULL)
        return;
    for (int i = 0; i < c->endpoints_count; i++)
        clo_free(c->endpoints[i]);
    for (int i = 0; i < c->calls_count; i++)
        clo_free(c->calls[i]);
    clo_free(c->endpoints);
    clo_free(c->calls);
    clo_rpc_http_destroy(c->http);
    clo_free(c);
}
