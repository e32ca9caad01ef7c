/* served.h - a service on a thread of the test, and workflows that call it. */
#ifndef CLO_TEST_RPC_SERVED_H
#define CLO_TEST_RPC_SERVED_H

#include "support.h"

#include <clotho/rpc.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A service on a thread, with the handlers below. */
typedef struct served {
    clo_rpc_service *service;
    pthread_t thread;
    pthread_mutex_t lock;
    int calls, is_released, retries;
    clo_rpc_workflow *running; /* whose call `hang` cancels */
    char keys[64];
} served;

static inline clo_status echo(void *argument, const clo_rpc_request *r, clo_rpc_answer *a)
{
    served *s = argument;

    pthread_mutex_lock(&s->lock);
    s->calls++;
    pthread_mutex_unlock(&s->lock);
    memcpy(a->bytes, r->body, r->body_bytes < a->room ? r->body_bytes : a->room);
    a->count = r->body_bytes;
    return CLO_OK;
}

static inline int read_locked(served *s, const int *value)
{
    pthread_mutex_lock(&s->lock);
    int now = *value;
    pthread_mutex_unlock(&s->lock);
    return now;
}

/* On the pool: the first attempt does not end before there is another one with its key. */
static inline clo_status slow_effect(void *argument, const clo_rpc_request *r, clo_rpc_answer *a)
{
    served *s = argument;

    assert_null(r->database);
    while (r->attempt == 1 && read_locked(s, &s->retries) == 0)
        usleep(1000);
    return echo(s, r, a);
}

static inline void note_retry(void *argument, const char *line)
{
    served *s = argument;

    pthread_mutex_lock(&s->lock);
    s->retries += strncmp(line, "retry", 5) == 0;
    pthread_mutex_unlock(&s->lock);
}

/* Until the test lets it go. A handler that has not begun when its run is cancelled never does, so a test that counts
 * it lets it cancel. */
static inline clo_status hang(void *argument, const clo_rpc_request *r, clo_rpc_answer *a)
{
    served *s = argument;

    pthread_mutex_lock(&s->lock); /* whoever destroys it waits until this call has come back */
    clo_rpc_workflow_cancel(s->running);
    pthread_mutex_unlock(&s->lock);
    while (!read_locked(s, &s->is_released))
        usleep(1000);
    return echo(s, r, a);
}

static inline clo_status short_effect(void *argument, const clo_rpc_request *r, clo_rpc_answer *a)
{
    served *s = argument;

    assert_true((r->database != NULL) == (s->keys[0] != '\0'));
    if (r->database != NULL)
        assert_int_equal(sqlite3_exec(r->database, "CREATE TABLE IF NOT EXISTS mine(x); INSERT INTO mine VALUES(1)",
                                      NULL, NULL, NULL),
                         SQLITE_OK);
    clo_status status = echo(s, r, a);
    return r->attempt == 1 ? CLO_ERR_IO : status; /* what it has written goes */
}

static inline clo_status refuse(void *argument, const clo_rpc_request *r, clo_rpc_answer *a)
{
    (void)argument;
    memcpy(a->text, "not this one", 13);
    return strcmp(r->method, "never") == 0  ? CLO_ERR_ARGUMENT
           : strcmp(r->method, "late") == 0 ? CLO_ERR_TIMEOUT
                                            : CLO_ERR_LIMIT;
}

static inline void twice(void *argument, const clo_rpc_request *r, clo_rpc_fault *fault)
{
    (void)argument;
    (void)r;
    fault->twice = 1;
}

static inline void *serve(void *argument)
{
    served *s = argument;

    ok(clo_rpc_service_run(s->service));
    return NULL;
}

static inline void start(served *s, const char *listen)
{
    clo_rpc_service_config config = CLO_RPC_SERVICE_CONFIG_INIT;

    config.listen = listen;
    config.fault = twice;
    config.keys = s->keys[0] != '\0' ? s->keys : NULL;
    pthread_mutex_init(&s->lock, NULL);
    ok(clo_rpc_service_create(&config, &s->service));
    ok(clo_rpc_service_add(s->service, "echo", echo, s, 1));
    ok(clo_rpc_service_add(s->service, "pool", echo, s, 0));
    ok(clo_rpc_service_add(s->service, "slow", slow_effect, s, 0));
    ok(clo_rpc_service_add(s->service, "hang", hang, s, 0));
    ok(clo_rpc_service_add(s->service, "short", short_effect, s, 1));
    for (const char *const *at = (const char *const[]){"never", "late", "full", NULL}; *at != NULL; at++)
        ok(clo_rpc_service_add(s->service, *at, refuse, s, 1));
    assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static inline void stop(served *s)
{
    clo_rpc_service_stop(s->service);
    pthread_join(s->thread, NULL);
    clo_rpc_service_destroy(s->service);
    pthread_mutex_destroy(&s->lock);
}

/* A workflow of one service. */
static inline clo_rpc_workflow *make(const char *endpoint, int64_t attempt_ns)
{
    clo_rpc_config config = CLO_RPC_CONFIG_INIT;
    clo_rpc_workflow *w = NULL;
    char services[256];

    snprintf(services, sizeof services, "s=%s", endpoint);
    config.services = services;
    config.attempt_ns = attempt_ns;
    config.backoff_ns = 1000000;
    ok(clo_rpc_workflow_create(&config, &w));
    return w;
}

static inline uint32_t add(clo_rpc_workflow *w, const char *method, const char *body, clo_rpc_effect effect)
{
    clo_rpc_call call = CLO_RPC_CALL_INIT;
    uint32_t id = 0;

    call.service = "s";
    call.method = method;
    call.body = body;
    call.body_bytes = strlen(body);
    call.effect = effect;
    call.answer_bytes = 16;
    ok(clo_rpc_workflow_add(w, &call, &id));
    return id;
}

static inline void expect(const clo_rpc_workflow *w, uint32_t call, const char *text)
{
    const void *bytes = NULL;
    size_t count = 0;

    ok(clo_rpc_workflow_answer(w, call, 0, &bytes, &count));
    assert_int_equal(count, strlen(text));
    assert_memory_equal(bytes, text, count);
}

#endif
