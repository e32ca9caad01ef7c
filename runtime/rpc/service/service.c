/* service.c - clo_rpc_service: its listener, its connections, its loop. serve.h says how it answers. */
#include "base/memory.h"
#include "base/status.h"
#include "rpc/service/work.h"
#include "rpc/wire/name.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#define ALLOWED_MAX 64u
#define METHODS_MAX 256u
#define SLOTS_MAX (1u << 20)
#define BEAT_MS 2000

static void on_frame(void *owner, clo_rpc_peer *p, const clo_rpc_frame *f)
{
    clo_rpc_connection *from = owner;

    (void)p;
    if (from->owner->is_closing)
        return;
    if (f->kind == CLO_RPC_FRAME_REQUEST) {
        clo_rpc_serve_take(from, f);
        return;
    }
    clo_rpc_work *w = f->kind == CLO_RPC_FRAME_CANCEL ? clo_rpc_work_find(from, f->call) : NULL;
    if (w != NULL) {
        clo_rpc_work_note(w, "cancel", w->state);
        clo_rpc_finish_end(w);
    }
}

static void on_closed(void *owner, clo_rpc_peer *p, const char *why)
{
    clo_rpc_connection *from = owner;

    (void)p;
    (void)why;
    while (from->works != NULL) {
        clo_rpc_work_note(from->works, "lost", from->works->state);
        clo_rpc_finish_end(from->works);
    }
    *(from->before != NULL ? &from->before->next : &from->owner->connections) = from->next;
    if (from->next != NULL)
        from->next->before = from->before;
    clo_free(from);
}

static void on_turned_away(uv_handle_t *handle)
{
    ((clo_rpc_service *)handle->data)->is_turning_away = 0;
}

/* There is no memory for a connection. It is taken and closed, as libuv listens no more while one waits to be taken. */
static void turn_away(clo_rpc_service *s)
{
    s->has_waiting = s->is_turning_away;
    if (s->is_turning_away)
        return;
    s->is_turning_away = 1;
    uv_tcp_init(&s->loop, &s->turned_away);
    s->turned_away.data = s;
    (void)uv_accept((uv_stream_t *)&s->listener, (uv_stream_t *)&s->turned_away);
    uv_close((uv_handle_t *)&s->turned_away, on_turned_away);
}

static void on_connection(uv_stream_t *listener, int status)
{
    static const clo_rpc_peer_events events = {.frame = on_frame, .closed = on_closed};
    clo_rpc_service *s = listener->data;

    if (status != 0)
        return;
    clo_rpc_connection *mine = clo_allocate(1, sizeof *mine);
    if (mine != NULL) {
        mine->owner = s;
        mine->p = clo_rpc_peer_accept(listener, &events, mine);
    }
    if (mine == NULL || mine->p == NULL) {
        clo_free(mine);
        turn_away(s);
        return;
    }
    mine->next = s->connections;
    if (mine->next != NULL)
        mine->next->before = mine;
    s->connections = mine;
}

static void on_before_poll(uv_prepare_t *prepare)
{
    clo_rpc_service *s = prepare->data;

    if (s->has_waiting && !s->is_turning_away && !s->is_closing) {
        s->has_waiting = 0;
        on_connection((uv_stream_t *)&s->listener, 0);
    }
    clo_rpc_serve_next(s);
}

static void on_after_poll(uv_check_t *check)
{
    clo_rpc_serve_next(check->data);
}

/* Drops everything; what was applied becomes durable. */
static void close_all(clo_rpc_service *s)
{
    if (s->is_closing)
        return;
    clo_rpc_effect_keep(s);
    s->is_closing = 1;
    for (clo_rpc_connection *c = s->connections; c != NULL; c = c->next)
        clo_rpc_peer_close(c->p, "closed");
    clo_rpc_client_close(s->onward);
    uv_close((uv_handle_t *)&s->listener, NULL);
    uv_close((uv_handle_t *)&s->stop, NULL);
    uv_unref(
        (uv_handle_t *)&s->before_poll); /* they keep what handlers still bring, and no loop that has nothing else */
    uv_unref((uv_handle_t *)&s->after_poll);
}

static void on_stop(uv_async_t *stop)
{
    close_all(stop->data);
}

static clo_status listen_at(clo_rpc_service *s, const char *listen)
{
    struct sockaddr_storage address, bound;
    int size = sizeof bound;
    char host[64] = "?";

    if (clo_rpc_peer_address(listen, &address) != 0)
        return clo_fail(CLO_ERR_ARGUMENT,
                        "listen: '%.150s' is no ADDRESS:PORT in numbers; write it like 127.0.0.1:8080", listen);
    int status = uv_tcp_bind(&s->listener, (const struct sockaddr *)&address, 0);
    if (status == 0)
        status = uv_listen((uv_stream_t *)&s->listener, 1024, on_connection);
    if (status == 0)
        status = uv_tcp_getsockname(&s->listener, (struct sockaddr *)&bound, &size);
    if (status != 0)
        return clo_fail(CLO_ERR_SYSTEM, "%.150s: %s", listen, uv_strerror(status));
    int is_v6 = bound.ss_family == AF_INET6;
    if (is_v6)
        uv_ip6_name((const struct sockaddr_in6 *)&bound, host, sizeof host);
    else
        uv_ip4_name((const struct sockaddr_in *)&bound, host, sizeof host);
    snprintf(s->endpoint, sizeof s->endpoint, is_v6 ? "[%s]:%u" : "%s:%u", host,
             ntohs(is_v6 ? ((const struct sockaddr_in6 *)&bound)->sin6_port
                         : ((const struct sockaddr_in *)&bound)->sin_port));
    return CLO_OK;
}

static clo_status copy_texts(clo_rpc_service *s)
{
    clo_rpc_service_config *c = &s->config;

    s->allowed = clo_allocate(c->allowed_count, sizeof *s->allowed);
    s->keys = c->keys != NULL ? clo_duplicate(c->keys) : NULL;
    if (s->allowed == NULL || (c->keys != NULL && s->keys == NULL))
        return clo_fail_memory("a service");
    for (uint32_t i = 0; i < c->allowed_count; i++) {
        if (c->allowed[i] == NULL)
            return clo_fail_null("clo_rpc_service_create", "a pattern of config.allowed");
        if ((s->allowed[i] = clo_duplicate(c->allowed[i])) == NULL)
            return clo_fail_memory("a service");
    }
    return CLO_OK;
}

static void free_texts(clo_rpc_service *s)
{
    for (uint32_t i = 0; s->allowed != NULL && i < s->config.allowed_count; i++)
        clo_free(s->allowed[i]);
    clo_free(s->allowed);
    clo_free(s->keys);
    clo_free(s->methods);
}

static clo_status read_config(clo_rpc_service_config *mine, const clo_rpc_service_config *theirs)
{
    *mine = (clo_rpc_service_config)CLO_RPC_SERVICE_CONFIG_INIT;
    clo_status status = clo_config_read(mine, sizeof *mine, theirs, "clo_rpc_service_config");

    if (status != CLO_OK)
        return status;
    if (mine->slots > SLOTS_MAX || (mine->queue > SLOTS_MAX && mine->queue != UINT32_MAX))
        return clo_fail(CLO_ERR_ARGUMENT, "clo_rpc_service_config has slots %u and queue %u; each is at most %u",
                        mine->slots, mine->queue, SLOTS_MAX);
    if (mine->allowed_count > ALLOWED_MAX || (mine->allowed_count > 0 && mine->allowed == NULL))
        return clo_fail(CLO_ERR_ARGUMENT, "allowed: at most %u are possible; use a pattern", ALLOWED_MAX);
    mine->slots = mine->slots > 0 ? mine->slots : 8;
    mine->queue = mine->queue == UINT32_MAX ? 0 : mine->queue > 0 ? mine->queue : 64;
    mine->listen = mine->listen != NULL ? mine->listen : "127.0.0.1:0";
    mine->unsent_bytes = mine->unsent_bytes > 0 ? mine->unsent_bytes : CLO_RPC_UNSENT_MAX;
    return CLO_OK;
}

/* What needs no loop. */
static clo_status open_tables(clo_rpc_service *s)
{
    clo_status status = copy_texts(s);

    if (status != CLO_OK)
        return status;
    s->applied = clo_rpc_keys_create();
    s->onward = clo_rpc_client_create(&s->loop);
    if (s->applied == NULL || s->onward == NULL)
        return clo_fail_memory("a service");
    clo_rpc_client_set_beat(s->onward, clo_rpc_beat_ms(s->config.beat_ns, BEAT_MS));
    if (s->keys != NULL && clo_rpc_effects_open(&s->effects, s->keys, s->config.is_durable != 0, s->applied) != 0)
        return clo_fail(CLO_ERR_IO, "%s", s->effects.d.error);
    return CLO_OK;
}

static clo_status open_loop(clo_rpc_service *s)
{
    int failed = uv_async_init(&s->loop, &s->stop, on_stop);

    if (failed != 0)
        return clo_fail(CLO_ERR_SYSTEM, "a service's loop cannot be made: %s", uv_strerror(failed));
    uv_tcp_init(&s->loop, &s->listener);
    uv_prepare_init(&s->loop, &s->before_poll);
    uv_check_init(&s->loop, &s->after_poll);
    s->listener.data = s->stop.data = s->before_poll.data = s->after_poll.data = s;
    uv_prepare_start(&s->before_poll, on_before_poll);
    uv_check_start(&s->after_poll, on_after_poll);
    clo_status status = listen_at(s, s->config.listen);
    if (status != CLO_OK)
        close_all(s);
    return status;
}

static void free_service(clo_rpc_service *s)
{
    clo_rpc_client_destroy(s->onward);
    clo_rpc_keys_destroy(s->applied);
    clo_rpc_backlog_free(&s->queue);
    if (s->keys != NULL)
        clo_rpc_effects_close(&s->effects);
    free_texts(s);
    clo_free(s);
}

/* Runs the loop until nothing is left in it, and closes it. */
static void drain(clo_rpc_service *s)
{
    clo_rpc_loop_run(&s->loop);
    clo_rpc_effect_keep(s);
    uv_close((uv_handle_t *)&s->before_poll, NULL);
    uv_close((uv_handle_t *)&s->after_poll, NULL);
    uv_run(&s->loop, UV_RUN_DEFAULT);
    uv_loop_close(&s->loop);
}

clo_status clo_rpc_service_create(const clo_rpc_service_config *config, clo_rpc_service **out)
{
    if (out == NULL)
        return clo_fail_null("clo_rpc_service_create", "out");
    clo_rpc_service *s = clo_allocate(1, sizeof *s);
    if (s == NULL)
        return clo_fail_memory("a service");
    clo_status status = read_config(&s->config, config);
    if (status != CLO_OK) {
        clo_free(s);
        return status;
    }
    status = open_tables(s);
    int failed = status == CLO_OK ? clo_rpc_loop_init(&s->loop, &s->peers, s->config.unsent_bytes) : 0;
    if (failed != 0)
        status = clo_fail(CLO_ERR_SYSTEM, "a service's loop cannot be made: %s", uv_strerror(failed));
    if (status == CLO_OK) {
        status = open_loop(s);
        if (status != CLO_OK && s->is_closing)
            drain(s);
        else if (status != CLO_OK)
            uv_loop_close(&s->loop);
    }
    if (status != CLO_OK) {
        free_service(s);
        return status;
    }
    *out = s;
    return CLO_OK;
}

clo_status clo_rpc_service_add(clo_rpc_service *service, const char *method, clo_rpc_handler handler, void *argument,
                               uint32_t is_short)
{
    clo_rpc_served row = {.handler = handler, .argument = argument, .is_short = is_short};

    if (service == NULL || method == NULL || handler == NULL)
        return clo_fail_null("clo_rpc_service_add", "service, method or handler");
    if (!clo_rpc_is_method(method))
        return clo_fail(CLO_ERR_ARGUMENT, "'%.150s' is no method: give less than %u letters, digits and . _ - /",
                        method, CLO_RPC_NAME_BYTES);
    if (service->has_run)
        return clo_fail(CLO_ERR_STATE, "method '%s': add methods before the service runs", method);
    for (size_t i = 0; i < service->methods_count; i++)
        if (strcmp(service->methods[i].method, method) == 0)
            return clo_fail(CLO_ERR_ARGUMENT, "method '%s' has a handler", method);
    if (service->methods_count == METHODS_MAX)
        return clo_fail(CLO_ERR_LIMIT, "method '%s': a service has %u methods at most", method, METHODS_MAX);
    if (clo_grow((void **)&service->methods, &service->methods_capacity, service->methods_count + 1, sizeof row) != 0)
        return clo_fail_memory("a method");
    snprintf(row.method, sizeof row.method, "%s", method);
    service->methods[service->methods_count++] = row;
    return CLO_OK;
}

const char *clo_rpc_service_endpoint(const clo_rpc_service *service)
{
    return service != NULL ? service->endpoint : NULL;
}

clo_status clo_rpc_service_run(clo_rpc_service *service)
{
    if (service == NULL)
        return clo_fail_null("clo_rpc_service_run", "service");
    if (service->has_run)
        return clo_fail(CLO_ERR_STATE, "the service runs, or has run; make another one");
    service->has_run = 1;
    clo_rpc_loop_run(&service->loop);
    return CLO_OK;
}

void clo_rpc_service_stop(clo_rpc_service *service)
{
    if (service != NULL)
        uv_async_send(&service->stop);
}

void clo_rpc_service_destroy(clo_rpc_service *service)
{
    if (service == NULL)
        return;
    close_all(service);
    drain(service);
    free_service(service);
}
