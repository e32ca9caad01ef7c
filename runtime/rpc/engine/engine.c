/* engine.c - see engine.h: the driver's thread, and what it is handed. */
#include "rpc/engine/engine.h"
#include "base/memory.h"
#include "base/status.h"
#include "rpc/engine/instance.h"
#include "rpc/wire/parcel.h"
#include "rpc/wire/peer.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/* On a worker: the run is cut short. */
static void on_cut(void *argument)
{
    clo_rpc_instance *r = argument;
    clo_rpc_engine *e = r->owner;

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

int clo_rpc_engine_body(const clo_call *call)
{
    const clo_rpc_method *m = call->argument;
    clo_rpc_engine *e = m->owner;
    clo_rpc_instance *r = &e->requests[m->first + call->instance];

    if (call->inputs_count > m->inputs_max || call->output_bytes != clo_rpc_parcel_size(m->output_bytes))
        return 1;
    r->replica = m->effect != CLO_RPC_PURE ? m->home : e->config.replica_of[call->executor];
    r->output = call->output;
    r->inputs_count = call->inputs_count;
    for (uint32_t i = 0; i < call->inputs_count; i++)
        if (call->inputs[i] != NULL)
            r->inputs[i] = (clo_rpc_input){.at = (const unsigned char *)call->inputs[i] + clo_rpc_parcel_size(0),
                                           .bytes = clo_rpc_parcel_bytes(call->inputs[i])};
        else
            r->inputs[i] = (clo_rpc_input){.bytes = 0};
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

int clo_rpc_engine_fail_here(const clo_call *call, clo_status status, const char *why)
{
    const clo_rpc_method *m = call->argument;
    clo_rpc_engine *e = m->owner;

    pthread_mutex_lock(&e->lock);
    e->here.failures++;
    if (e->here.failure[0] == '\0')
        snprintf(e->here.failure, sizeof e->here.failure, "task %.200s, instance %u, in this process: %s", m->name,
                 call->instance, why[0] != '\0' ? why : clo_status_text(status));
    pthread_mutex_unlock(&e->lock);
    clo_rpc_parcel_close(call->output, m->output_bytes, 0);
    return e->config.keeps_going ? 0 : 1;
}

/* Group commit: once before and once after each wait of the loop. Then the calls go whose "started" is durable. */
static void commit(clo_rpc_engine *e)
{
    clo_rpc_journal *j = e->config.journal;

    if (j == NULL || !clo_rpc_journal_is_dirty(j))
        return;
    if (clo_rpc_journal_commit(j) != 0)
        e->journal_failed = true;
    if (e->journal_failed && e->stats.journal[0] == '\0')
        snprintf(e->stats.journal, sizeof e->stats.journal, "%s", clo_rpc_journal_error(j));
    while (e->committing != NULL) {
        clo_rpc_instance *r = e->committing;
        e->committing = r->next_committing;
        if (!e->journal_failed)
            clo_rpc_instance_committed(r);
        else if (r->state == CLO_RPC_INSTANCE_COMMITTING)
            clo_rpc_instance_fail(r, CLO_RPC_REPLY_UNAVAILABLE, clo_rpc_journal_error(j));
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

static void close_all(clo_rpc_engine *e)
{
    uv_close((uv_handle_t *)&e->wake, NULL);
    uv_close((uv_handle_t *)&e->after_poll, NULL);
    uv_close((uv_handle_t *)&e->before_poll, NULL);
    for (uint32_t i = 0; i < e->config.instances; i++)
        uv_close((uv_handle_t *)&e->requests[i].timer, NULL);
    clo_rpc_client_close(e->calls);
}

/* Cancels that came before their request was posted in this run are of an earlier one. */
static void take_cancels(const clo_rpc_cancel *cancels, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (cancels[i].of->number == cancels[i].number)
            clo_rpc_instance_cancel(cancels[i].of);
}

/* Under the lock. A copy, as the requests may be cancelled again, in another run, while it is gone through. */
static uint32_t detach_cancels(clo_rpc_engine *e)
{
    uint32_t count = 0;

    for (clo_rpc_instance *r = e->cancelled; r != NULL; r = r->next_cancelled) {
        e->cancels[count++] = (clo_rpc_cancel){.of = r, .number = r->cancelled_number};
        r->is_posted_cancelled = false;
    }
    e->cancelled = NULL;
    return count;
}

/* What was posted last comes first, so an endpoint that was moved twice would go back: the first one counts. */
static void take_moves(clo_rpc_engine *e, clo_rpc_move *moves)
{
    while (moves != NULL) {
        clo_rpc_move *m = moves;
        moves = m->next;
        for (clo_rpc_move *older = moves; older != NULL; older = older->next)
            older->is_done |= older->service == m->service && older->replica == m->replica;
        if (!m->is_done) {
            snprintf(e->config.services[m->service].replica[m->replica], CLO_RPC_NAME_BYTES, "%s", m->endpoint);
            e->replicas[m->service][m->replica] = (clo_rpc_replica_state){.failures = 0};
        }
        clo_free(m);
    }
}

static void on_wake(uv_async_t *async)
{
    clo_rpc_engine *e = async->data;

    pthread_mutex_lock(&e->lock);
    clo_rpc_instance *posted = e->posted;
    clo_rpc_move *moves = e->moves;
    e->moves = NULL;
    uint32_t cancels = detach_cancels(e);
    e->posted = NULL;
    e->posted_end = &e->posted;
    uint64_t asked = e->settle_asked;
    bool is_stopping = e->is_stopping;
    pthread_mutex_unlock(&e->lock);
    take_moves(e, moves);
    while (posted != NULL) {
        clo_rpc_instance *next = posted->next_posted; /* read first: it may be posted again in another run */
        clo_rpc_instance_begin(posted);
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
    clo_rpc_engine *e = argument;

    clo_rpc_loop_run(&e->loop);
}

static void free_engine(clo_rpc_engine *e)
{
    clo_rpc_client_destroy(e->calls);
    pthread_mutex_destroy(&e->lock);
    pthread_cond_destroy(&e->settled);
    clo_free(e->requests);
    clo_free(e->cancels);
    clo_free(e->inputs);
    clo_free(e->latencies_us);
    clo_free(e->scratch);
    clo_free(e);
}

static int make_requests(clo_rpc_engine *e)
{
    const clo_rpc_engine_config *c = &e->config;
    size_t inputs = 0;

    for (uint32_t m = 0; m < c->methods_count; m++)
        inputs += (size_t)c->methods[m].inputs_max * c->methods[m].instances;
    e->requests = clo_allocate(c->instances, sizeof *e->requests);
    e->cancels = clo_allocate(c->instances, sizeof *e->cancels);
    e->latencies_us = clo_allocate(c->instances, sizeof *e->latencies_us);
    e->inputs = clo_allocate(inputs + 1, sizeof *e->inputs);
    if (e->requests == NULL || e->cancels == NULL || e->latencies_us == NULL || e->inputs == NULL)
        return -1;
    inputs = 0;
    for (uint32_t m = 0; m < c->methods_count; m++)
        for (uint32_t i = 0; i < c->methods[m].instances; i++) {
            clo_rpc_instance *r = &e->requests[c->methods[m].first + i];
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

static clo_status make_endpoints(clo_rpc_engine *e)
{
    for (uint32_t s = 0; s < e->config.services_count; s++) {
        const clo_rpc_group *g = &e->config.services[s];
        clo_rpc_throttle_init(&e->throttles[s]);
        clo_rpc_throttle_expect(&e->throttles[s], e->config.hedge_us);
        for (uint32_t i = 0; i < g->replicas; i++) {
            e->endpoints[s][i] = clo_rpc_client_endpoint(e->calls, g->replica[i]);
            if (e->endpoints[s][i] < 0)
                return clo_fail(CLO_ERR_ARGUMENT,
                                "service %s: '%s' is neither ADDRESS:PORT in numbers nor http://..., https://...",
                                g->name, g->replica[i]);
        }
    }
    return CLO_OK;
}

static int make_loop(clo_rpc_engine *e)
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
    sigset_t all, before; /* signals are for the application's threads */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = uv_thread_create(&e->thread, drive, e);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed == 0)
        return 0;
    close_all(e);
    uv_run(&e->loop, UV_RUN_DEFAULT);
    return -1;
}

/* What the driver's thread needs. */
static clo_status prepare(clo_rpc_engine *e)
{
    if ((e->calls = clo_rpc_client_create(&e->loop)) == NULL || make_requests(e) != 0)
        return clo_fail_memory("a workflow's engine");
    clo_status status = make_endpoints(e);
    if (status != CLO_OK)
        return status;
    clo_rpc_client_set_beat(e->calls, e->config.beat_ms);
    clo_rpc_engine_begin(e);
    return make_loop(e) == 0 ? CLO_OK : clo_fail(CLO_ERR_SYSTEM, "a workflow's thread cannot be started");
}

clo_status clo_rpc_engine_start(const clo_rpc_engine_config *config, clo_rpc_engine **out)
{
    clo_rpc_engine *e = clo_allocate(1, sizeof *e);

    if (e == NULL)
        return clo_fail_memory("a workflow's engine");
    e->config = *config;
    e->random = config->seed;
    e->posted_end = &e->posted;
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->settled, NULL);
    int failed = clo_rpc_loop_init(&e->loop, &e->peers, CLO_RPC_UNSENT_ANY);
    if (failed != 0) {
        free_engine(e);
        return clo_fail(CLO_ERR_SYSTEM, "a workflow's loop cannot be made: %s", uv_strerror(failed));
    }
    clo_status status = prepare(e);
    if (status != CLO_OK) {
        uv_loop_close(&e->loop);
        free_engine(e);
        return status;
    }
    *out = e;
    return CLO_OK;
}

void clo_rpc_engine_begin(clo_rpc_engine *e)
{
    for (uint32_t i = 0; i < e->config.instances; i++)
        e->latencies_us[i] = -1;
    e->stats.failure[0] = e->here.failure[0] = '\0'; /* of the run */
    e->start_us = clo_rpc_engine_now_us();
}

void clo_rpc_engine_settle(clo_rpc_engine *e, clo_rpc_engine_stats *out)
{
    pthread_mutex_lock(&e->lock);
    uint64_t mine = ++e->settle_asked;
    uv_async_send(&e->wake);
    while (e->settle_done < mine)
        pthread_cond_wait(&e->settled, &e->lock);
    *out = e->settled_stats;
    out->failures += e->here.failures;
    if (out->failure[0] == '\0')
        memcpy(out->failure, e->here.failure, sizeof out->failure);
    pthread_mutex_unlock(&e->lock);
}

const int64_t *clo_rpc_engine_latencies(const clo_rpc_engine *e)
{
    return e->latencies_us;
}

int clo_rpc_engine_move(clo_rpc_engine *e, uint32_t service, uint32_t replica, const char *endpoint)
{
    clo_rpc_move *m = clo_allocate(1, sizeof *m);

    if (m == NULL)
        return -1;
    m->service = service;
    m->replica = replica;
    snprintf(m->endpoint, sizeof m->endpoint, "%s", endpoint);
    pthread_mutex_lock(&e->lock);
    m->next = e->moves;
    e->moves = m;
    pthread_mutex_unlock(&e->lock);
    uv_async_send(&e->wake);
    return 0;
}

void clo_rpc_engine_stop(clo_rpc_engine *e)
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
