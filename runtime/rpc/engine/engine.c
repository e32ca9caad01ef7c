#include "engine.h"
#include "parcel.h"
#include "peer.h"
#include "instance.h"

#include <stdlib.h>
#include <string.h>

/* On a worker: the run is cut short. */
static void on_cut(void *argument)
{
    request *r = argument;
    engine *e = r->owner;

    pthread_mutex_lock(&e->lock);
    if (!r->is_posted_cancelled) {
        r->is_posted_cancelled = true;
        r->next_cancelled = e->cancelled;
        e->cancelled = r;
    }
    r->cancelled_number = r->token.number;
    pthread_mutex_unlock(&e->lock);
    uv_async_send(&e->wake);
}

int engine_body(const clo_call *call)
{
    const method *m = call->argument;
    engine *e = m->owner;
    request *r = &e->requests[m->first + call->instance];

    if (call->inputs_count > m->inputs_max || call->output_bytes != parcel_size(m->output_bytes))
        return 1;
    r->replica = m->effect != EFFECT_NONE ? m->home : e->config.replica_of[call->executor];
    r->output = call->output;
    r->inputs_count = call->inputs_count;
    for (uint32_t i = 0; i < call->inputs_count; i++)
        if (call->inputs[i] != NULL)
            r->inputs[i] = (input){.at = (const unsigned char *)call->inputs[i] + parcel_size(0),
                                   .bytes = parcel_bytes(call->inputs[i])};
        else
            r->inputs[i] = (input){.bytes = 0};
    if (clo_token_take(call, on_cut, r, &r->token) != CLO_OK)
        return 1;
    pthread_mutex_lock(&e->lock);
    r->next_posted = NULL;
    *e->posted_end = r;
    e->posted_end = &r->next_posted;
    pthread_mutex_unlock(&e->lock);
    uv_async_send(&e->wake);
    return CLO_PENDING;
}

/* Group commit: once before and once after each wait of the loop. Then the calls go whose "started" is durable. */
static void commit(engine *e)
{
    journal *j = e->config.journal;

    if (j == NULL || !journal_is_dirty(j))
        return;
    if (journal_commit(j) != 0)
        e->journal_failed = true;
    if (e->journal_failed && e->stats.journal[0] == '\0')
        snprintf(e->stats.journal, sizeof e->stats.journal, "%s", journal_error(j));
    while (e->committing != NULL) {
        request *r = e->committing;
        e->committing = r->next_committing;
        if (!e->journal_failed)
            request_committed(r);
        else if (r->state == REQUEST_COMMITTING)
            request_fail(r, REPLY_UNAVAILABLE, journal_error(j));
    }
}

static void on_after_poll(uv_check_t *check)
{
    commit(check->data);
}

static void on_before_poll(uv_prepare_t *prepare)
{
    commit(prepare->data);
}

static void close_all(engine *e)
{
    uv_close((uv_handle_t *)&e->wake, NULL);
    uv_close((uv_handle_t *)&e->after_poll, NULL);
    uv_close((uv_handle_t *)&e->before_poll, NULL);
    for (uint32_t i = 0; i < e->config.instances; i++)
        uv_close((uv_handle_t *)&e->requests[i].timer, NULL);
    client_close(e->calls);
}

/* Cancels that came before their request was posted in this run are of an earlier one. */
static void take_cancels(const cancel *cancels, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (cancels[i].of->number == cancels[i].number)
            request_cancel(cancels[i].of);
}

/* Under the lock. A copy, as the requests may be cancelled again, in another run, while it is gone through. */
static uint32_t detach_cancels(engine *e)
{
    uint32_t count = 0;

    for (request *r = e->cancelled; r != NULL; r = r->next_cancelled) {
        e->cancels[count++] = (cancel){.of = r, .number = r->cancelled_number};
        r->is_posted_cancelled = false;
    }
    e->cancelled = NULL;
    return count;
}

static void on_wake(uv_async_t *async)
{
    engine *e = async->data;

    pthread_mutex_lock(&e->lock);
    request *posted = e->posted;
    uint32_t cancels = detach_cancels(e);
    e->posted = NULL;
    e->posted_end = &e->posted;
    uint64_t asked = e->settle_asked;
    bool is_stopping = e->is_stopping;
    pthread_mutex_unlock(&e->lock);
    while (posted != NULL) {
        request *next = posted->next_posted; /* read first: it may be posted again in another run */
        request_begin(posted);
        posted = next;
    }
    take_cancels(e->cancels, cancels);
    commit(e);
    pthread_mutex_lock(&e->lock);
    if (asked != e->settle_done) {
        e->settled_stats = e->stats;
        e->settle_done = asked;
        pthread_cond_broadcast(&e->settled);
    }
    pthread_mutex_unlock(&e->lock);
    if (is_stopping && !uv_is_closing((uv_handle_t *)&e->wake))
        close_all(e);
}

static void drive(void *argument)
{
    engine *e = argument;

    uv_run(&e->loop, UV_RUN_DEFAULT);
}

static void free_engine(engine *e)
{
    client_destroy(e->calls);
    pthread_mutex_destroy(&e->lock);
    pthread_cond_destroy(&e->settled);
    free(e->requests);
    free(e->cancels);
    free(e->inputs);
    free(e->latencies_us);
    free(e->scratch);
    free(e);
}

static int make_requests(engine *e)
{
    const engine_config *c = &e->config;
    size_t inputs = 0;

    for (uint32_t m = 0; m < c->methods_count; m++)
        inputs += (size_t)c->methods[m].inputs_max * c->methods[m].instances;
    e->requests = calloc(c->instances, sizeof *e->requests);
    e->cancels = calloc(c->instances, sizeof *e->cancels);
    e->latencies_us = malloc(c->instances * sizeof *e->latencies_us);
    e->inputs = calloc(inputs + 1, sizeof *e->inputs);
    if (e->requests == NULL || e->cancels == NULL || e->latencies_us == NULL || e->inputs == NULL)
        return -1;
    inputs = 0;
    for (uint32_t m = 0; m < c->methods_count; m++)
        for (uint32_t i = 0; i < c->methods[m].instances; i++) {
            request *r = &e->requests[c->methods[m].first + i];
            r->owner = e;
            r->what = &c->methods[m];
            r->instance = i;
            r->inputs = e->inputs + inputs;
            inputs += c->methods[m].inputs_max;
        }
    for (uint32_t m = 0; m < c->methods_count; m++)
        c->methods[m].owner = e;
    return 0;
}

static int make_endpoints(engine *e, char *error, size_t error_bytes)
{
    for (uint32_t s = 0; s < e->config.services_count; s++) {
        const service_group *g = &e->config.services[s];
        throttle_init(&e->throttles[s]);
        for (uint32_t i = 0; i < g->replicas; i++) {
            e->endpoints[s][i] = client_endpoint(e->calls, g->replica[i]);
            if (e->endpoints[s][i] < 0) {
                snprintf(error, error_bytes,
                         "service %s: '%s' is neither ADDRESS:PORT in numbers nor http://..., https://...", g->name,
                         g->replica[i]);
                return -1;
            }
        }
    }
    return 0;
}

static int make_loop(engine *e)
{
    if (uv_async_init(&e->loop, &e->wake, on_wake) != 0)
        return -1;
    e->wake.data = e->after_poll.data = e->before_poll.data = e;
    uv_check_init(&e->loop, &e->after_poll);
    uv_prepare_init(&e->loop, &e->before_poll);
    uv_check_start(&e->after_poll, on_after_poll);
    uv_prepare_start(&e->before_poll, on_before_poll);
    for (uint32_t i = 0; i < e->config.instances; i++) {
        uv_timer_init(&e->loop, &e->requests[i].timer);
        e->requests[i].timer.data = &e->requests[i];
    }
    if (uv_thread_create(&e->thread, drive, e) == 0)
        return 0;
    close_all(e);
    uv_run(&e->loop, UV_RUN_DEFAULT);
    return -1;
}

engine *engine_start(const engine_config *config, char *error, size_t error_bytes)
{
    engine *e = calloc(1, sizeof *e);

    snprintf(error, error_bytes, "no memory for the engine");
    if (e == NULL)
        return NULL;
    e->config = *config;
    e->random = config->seed;
    e->posted_end = &e->posted;
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->settled, NULL);
    int status = peer_loop_init(&e->loop);
    if (status != 0) {
        snprintf(error, error_bytes, "the driver's loop cannot be made: %s", uv_strerror(status));
        free_engine(e);
        return NULL;
    }
    int is_bad = (e->calls = client_create(&e->loop)) == NULL || make_requests(e) != 0 ||
                 make_endpoints(e, error, error_bytes) != 0;
    if (!is_bad) {
        client_set_beat(e->calls, config->beat_ms);
        engine_begin(e);
        if (make_loop(e) == 0)
            return e;
        snprintf(error, error_bytes, "the driver's thread cannot be started");
    }
    uv_loop_close(&e->loop);
    free_engine(e);
    return NULL;
}

void engine_begin(engine *e)
{
    for (uint32_t i = 0; i < e->config.instances; i++)
        e->latencies_us[i] = -1;
    e->start_us = engine_now_us();
}

void engine_settle(engine *e, engine_stats *out)
{
    pthread_mutex_lock(&e->lock);
    uint64_t mine = ++e->settle_asked;
    uv_async_send(&e->wake);
    while (e->settle_done < mine)
        pthread_cond_wait(&e->settled, &e->lock);
    *out = e->settled_stats;
    pthread_mutex_unlock(&e->lock);
}

const int64_t *engine_latencies(const engine *e)
{
    return e->latencies_us;
}

void engine_stop(engine *e)
{
    if (e == NULL)
        return;
    pthread_mutex_lock(&e->lock);
    e->is_stopping = true;
    pthread_mutex_unlock(&e->lock);
    uv_async_send(&e->wake);
    uv_thread_join(&e->thread);
    uv_loop_close(&e->loop);
    free_engine(e);
}
