/* work.c - see work.h. */
#include "rpc/service/work.h"
#include "base/numbers/rng.h"

#include <inttypes.h>
#include <stdio.h>

static clo_rpc_work **bucket_of(const clo_rpc_connection *from, uint64_t call)
{
    return &from->owner->buckets[clo_mix64(call ^ (uint64_t)(uintptr_t)from) % CLO_RPC_WORK_BUCKETS];
}

void clo_rpc_work_link(clo_rpc_work *w)
{
    clo_rpc_work **bucket = bucket_of(w->from, w->head.call);

    w->next_in_bucket = *bucket;
    *bucket = w;
    w->before = NULL;
    w->next = w->from->works;
    if (w->next != NULL)
        w->next->before = w;
    w->from->works = w;
}

void clo_rpc_work_unlink(clo_rpc_work *w)
{
    clo_rpc_work **link = bucket_of(w->from, w->head.call);

    while (*link != w) /* it is there */
        link = &(*link)->next_in_bucket;
    *link = w->next_in_bucket;
    *(w->before != NULL ? &w->before->next : &w->from->works) = w->next;
    if (w->next != NULL)
        w->next->before = w->before;
}

clo_rpc_work *clo_rpc_work_find(const clo_rpc_connection *from, uint64_t call)
{
    clo_rpc_work *w = *bucket_of(from, call);

    while (w != NULL && (w->from != from || w->head.call != call))
        w = w->next_in_bucket;
    return w;
}

void clo_rpc_work_note(const clo_rpc_work *w, const char *event, int64_t value)
{
    const clo_rpc_service_config *c = &w->owner->config;
    char line[256];

    if (c->log == NULL)
        return;
    snprintf(line, sizeof line,
             "%s time=%" PRId64 " run=%" PRIu64 " task=%u instance=%u attempt=%u left=%" PRId64 " value=%" PRId64,
             event, clo_rpc_work_now_us(), w->head.run, w->head.task, w->head.instance, w->head.attempt,
             w->expires_us == CLO_RPC_FRAME_NO_DEADLINE ? -1 : clo_rpc_work_left_us(w), value);
    c->log(c->argument, line);
}

static int64_t to_ns(int64_t us)
{
    return us > INT64_MAX / 1000 ? INT64_MAX : us * 1000;
}

clo_rpc_request clo_rpc_work_request(const clo_rpc_work *w)
{
    return (clo_rpc_request){.method = w->what.method,
                             .body = w->input,
                             .body_bytes = w->what.input_bytes,
                             .run = w->head.run,
                             .task = w->head.task,
                             .instance = w->head.instance,
                             .attempt = w->head.attempt,
                             .key = w->head.key,
                             .effect = w->what.effect,
                             .left_ns = to_ns(clo_rpc_work_left_us(w)),
                             .expected_ns = to_ns((int64_t)w->what.work_us)};
}
