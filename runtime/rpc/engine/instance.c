/* instance.c - see instance.h: attempts, hedges, retries, and how a request ends. */
#include "rpc/engine/instance.h"
#include "base/memory.h"
#include "base/numbers/rng.h"
#include "rpc/wire/mix.h"
#include "rpc/wire/parcel.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HELD_MAX_US 1000000

static clo_rpc_throttle *throttle_of(const clo_rpc_instance *r)
{
    return &r->owner->throttles[r->what->service];
}

static const char *endpoint_of(const clo_rpc_instance *r, uint32_t replica)
{
    return r->owner->config.services[r->what->service].replica[replica];
}

static void note(const clo_rpc_instance *r, const clo_rpc_attempt *a, const char *event, const char *detail)
{
    const clo_rpc_engine_config *c = &r->owner->config;
    char line[512];

    if (c->event == NULL)
        return;
    snprintf(line, sizeof line, "%s time=%" PRId64 " task=%u instance=%u attempt=%u endpoint=%s %s", event,
             clo_rpc_engine_now_us() - r->owner->start_us, r->what->task, r->instance, a != NULL ? a->number : 0,
             endpoint_of(r, a != NULL ? a->replica : r->replica), detail);
    c->event(c->argument, line);
}

static int64_t left_us(const clo_rpc_instance *r)
{
    return r->deadline_us == CLO_RPC_FRAME_NO_DEADLINE ? CLO_RPC_FRAME_NO_DEADLINE
                                                       : r->deadline_us - clo_rpc_engine_now_us();
}

/* What must be left until the deadline: that of a run is for all that follows, too. */
static uint64_t needs_us(const clo_rpc_instance *r)
{
    return r->has_own_deadline ? r->what->work_us * (r->what->hops + 1) : r->what->rest_us;
}

/* Of the next attempt: a run that was killed counts as one. */
static uint32_t next_number(const clo_rpc_instance *r)
{
    const uint32_t *before = r->owner->config.attempts_before;

    return r->begun + 1 + (before != NULL ? before[r->what->first + r->instance] : 0);
}

/* The journal's failure is the run's: what is not kept must not be built on. */
static int keep(clo_rpc_instance *r, clo_rpc_journal_state state, const clo_rpc_attempt *a)
{
    clo_rpc_engine *e = r->owner;
    clo_rpc_journal_record record = {.task = r->what->task,
                                     .instance = r->instance,
                                     .attempt = a != NULL ? a->number : next_number(r),
                                     .state = state,
                                     .key = clo_rpc_key(e->config.run, r->what->task, r->instance),
                                     .endpoint = endpoint_of(r, a != NULL ? a->replica : r->replica),
                                     .time_us = clo_rpc_engine_now_us() - e->start_us};

    if (e->config.journal == NULL)
        return 0;
    if (state == CLO_RPC_JOURNAL_FINISHED) {
        record.output = r->output;
        record.output_bytes = clo_rpc_parcel_size(clo_rpc_parcel_bytes(r->output)); /* without the zeros behind it */
    }
    if (e->journal_failed || clo_rpc_journal_add(e->config.journal, &record) != 0) {
        e->journal_failed = true;
        return -1;
    }
    return 0;
}

/* The losers are told. */
static void cancel_attempts(clo_rpc_instance *r)
{
    for (uint32_t i = 0; i < r->begun; i++)
        if (r->attempts[i].call != 0) {
            note(r, &r->attempts[i], "cancel", "");
            clo_rpc_client_cancel(r->owner->calls, r->attempts[i].call);
            r->attempts[i].call = 0;
            r->owner->stats.cancelled++;
        }
    r->active = 0;
}

/* The last thing that is done with a request: its memory may go. */
static void complete(clo_rpc_instance *r, int code)
{
    clo_token token = r->token;

    cancel_attempts(r);
    uv_timer_stop(&r->timer);
    r->state = CLO_RPC_INSTANCE_DONE;
    if (clo_token_complete(token, code) != CLO_OK)
        note(r, NULL, "stale", ""); /* the run was cut short before: nothing is left to do */
}

void clo_rpc_instance_fail(clo_rpc_instance *r, clo_rpc_reply_status status, const char *why)
{
    clo_rpc_engine *e = r->owner;
    const clo_rpc_attempt *last = r->begun > 0 ? &r->attempts[r->begun - 1] : NULL;
    int64_t after_us = clo_rpc_engine_now_us() - r->arrival_us;

    e->stats.failures++;
    if (e->stats.failure[0] == '\0')
        snprintf(e->stats.failure, sizeof e->stats.failure,
                 "task %s, instance %u: service %s at %s: %s (%s) after %u attempt%s and %" PRId64 " ms", r->what->name,
                 r->instance, e->config.services[r->what->service].name,
                 endpoint_of(r, last != NULL ? last->replica : r->replica), clo_rpc_reply_name(status), why, r->begun,
                 r->begun == 1 ? "" : "s", after_us / 1000);
    note(r, last, "fail", why);
    (void)keep(r, CLO_RPC_JOURNAL_FAILED, last);
    if (e->config.keeps_going)
        clo_rpc_parcel_close(r->output, r->what->output_bytes, 0);
    complete(r, e->config.keeps_going ? 0 : 1 + (int)status);
}

static void on_answer(void *argument, const clo_rpc_reply *answer);
static void on_timer(uv_timer_t *timer);

/* The bytes of its own, and the outputs of the predecessors, one behind the other. */
static int gather(clo_rpc_instance *r, clo_rpc_ask *a)
{
    clo_rpc_engine *e = r->owner;
    size_t bytes = r->what->body_bytes;

    for (uint32_t i = 0; i < r->inputs_count; i++)
        bytes += r->inputs[i].bytes;
    if (clo_grow((void **)&e->scratch, &e->scratch_bytes, bytes, 1) != 0)
        return -1;
    a->input = e->scratch;
    a->input_bytes = bytes;
    bytes = r->what->body_bytes;
    if (bytes > 0)
        memcpy(e->scratch, r->what->body, bytes);
    for (uint32_t i = 0; i < r->inputs_count; i++) {
        if (r->inputs[i].bytes > 0)
            memcpy(e->scratch + bytes, r->inputs[i].at, r->inputs[i].bytes);
        bytes += r->inputs[i].bytes;
    }
    return 0;
}

static int64_t gives_up_us(const clo_rpc_attempt *a)
{
    return a->begun_us + a->of->what->attempt_us;
}

/* The next moment at which something is due without an answer. */
static void arm(clo_rpc_instance *r)
{
    int64_t due = r->deadline_us, now = clo_rpc_engine_now_us();

    if (r->hedge_us != 0 && r->hedge_us < due)
        due = r->hedge_us;
    if (r->retry_us != 0 && r->retry_us < due)
        due = r->retry_us;
    for (uint32_t i = 0; i < r->begun; i++)
        if (r->attempts[i].call != 0 && gives_up_us(&r->attempts[i]) < due)
            due = gives_up_us(&r->attempts[i]);
    if (due == CLO_RPC_FRAME_NO_DEADLINE) {
        uv_timer_stop(&r->timer);
        return;
    }
    uv_update_time(&r->owner->loop);
    uv_timer_start(&r->timer, on_timer, due <= now ? 0 : (uint64_t)(due - now + 999) / 1000, 0);
}

static void describe(const clo_rpc_instance *r, clo_rpc_frame *head, clo_rpc_ask *a)
{
    const clo_rpc_engine *e = r->owner;

    *head = (clo_rpc_frame){.attempt = (uint16_t)next_number(r),
                            .run = e->config.run,
                            .task = r->what->task,
                            .instance = r->instance,
                            .left_us = left_us(r),
                            .key = clo_rpc_key(e->config.run, r->what->task, r->instance)};
    if (r->what->effect == CLO_RPC_ONCE)
        head->key = 0;
    a->work_us = r->what->work_us;
    a->rest_us = needs_us(r);
    a->output_bytes = r->what->output_bytes;
    a->effect = r->what->effect;
    snprintf(a->method, sizeof a->method, "%s", r->what->method);
    a->hops = r->what->hops;
    for (uint32_t i = 0; i < a->hops; i++)
        snprintf(a->hop[i], sizeof a->hop[i], "%s", e->config.hop[i]);
}

/* Number of a replica's endpoint, by its name: it may have moved, and where there are many names the client gives the
 * numbers of those that are not in use to others. -1: too many are in use. */
static int number_of(const clo_rpc_instance *r, uint32_t replica)
{
    clo_rpc_engine *e = r->owner;
    int *known = &e->endpoints[r->what->service][replica];
    const char *name = endpoint_of(r, replica);

    if (strcmp(clo_rpc_client_endpoint_name(e->calls, *known), name) == 0)
        return *known;
    int number = clo_rpc_client_endpoint(e->calls, name);
    if (number >= 0)
        *known = number;
    return number;
}

static void send_attempt(clo_rpc_instance *r, uint32_t replica, uint32_t is_hedge)
{
    clo_rpc_engine *e = r->owner;
    clo_rpc_attempt *a = &r->attempts[r->begun];
    clo_rpc_frame head;
    clo_rpc_ask what;
    char detail[96];

    describe(r, &head, &what);
    if (head.left_us < (int64_t)what.rest_us) {
        snprintf(detail, sizeof detail, "%" PRId64 " us are left, %" PRIu64 " are needed", head.left_us, what.rest_us);
        if (r->active == 0)
            clo_rpc_instance_fail(r, CLO_RPC_REPLY_DEADLINE, detail);
        return;
    }
    *a = (clo_rpc_attempt){.of = r,
                           .begun_us = clo_rpc_engine_now_us(),
                           .number = next_number(r),
                           .replica = replica,
                           .is_hedge = is_hedge};
    r->begun++;
    bool is_gathered = gather(r, &what) == 0;
    if (is_gathered && what.input_bytes > CLO_RPC_BYTES_MAX) {
        snprintf(detail, sizeof detail, "its inputs have %zu bytes, and a call can have %u", what.input_bytes,
                 CLO_RPC_BYTES_MAX);
        r->begun--;
        clo_rpc_instance_fail(r, CLO_RPC_REPLY_INVALID, detail);
        return;
    }
    int endpoint = number_of(r, replica);
    if (is_gathered && endpoint >= 0)
        a->call = clo_rpc_client_call(e->calls, endpoint, &head, &what, on_answer, a);
    if (a->call == 0 && r->active > 0) { /* a hedge: the other attempt goes on */
        r->begun--;
        return;
    }
    if (a->call == 0) {
        clo_rpc_instance_fail(r, CLO_RPC_REPLY_UNAVAILABLE,
                              endpoint < 0 ? "too many endpoints are in use" : "no memory for the call");
        return;
    }
    r->active++;
    e->stats.calls++;
    e->stats.hedges += is_hedge;
    e->stats.payload_bytes += what.input_bytes;
    snprintf(detail, sizeof detail, "left=%" PRId64, head.left_us == CLO_RPC_FRAME_NO_DEADLINE ? -1 : head.left_us);
    note(r, a, is_hedge ? "hedge" : r->begun > 1 ? "retry" : "call", detail);
}

/* After each failure in a row a replica is left alone twice as long, up to 3.2 s. */
static void shun(const clo_rpc_attempt *a, bool has_failed)
{
    clo_rpc_replica_state *state = &a->of->owner->replicas[a->of->what->service][a->replica];

    state->failures = !has_failed ? 0 : state->failures < 6 ? state->failures + 1 : 6;
    state->shunned_until_us = has_failed ? clo_rpc_engine_now_us() + (INT64_C(50000) << state->failures) : 0;
}

static bool is_shunned(const clo_rpc_instance *r, uint32_t replica)
{
    return clo_rpc_engine_now_us() < r->owner->replicas[r->what->service][replica].shunned_until_us;
}

/* A replica that no attempt is at, the next one in turn after `last`, one that can be reached if there is any; else
 * UINT32_MAX. */
static uint32_t other_replica(const clo_rpc_instance *r, uint32_t last)
{
    uint32_t count = r->owner->config.services[r->what->service].replicas, second = UINT32_MAX;

    for (uint32_t step = 1; step < count; step++) {
        uint32_t replica = (last + step) % count, used = 0;
        for (uint32_t i = 0; i < r->begun; i++)
            used |= r->attempts[i].call != 0 && r->attempts[i].replica == replica;
        if (!used && !is_shunned(r, replica))
            return replica;
        if (!used && second == UINT32_MAX)
            second = replica;
    }
    return second;
}

static bool may_hedge(const clo_rpc_instance *r)
{
    return r->owner->config.is_hedging && r->what->effect == CLO_RPC_PURE && r->active > 0 &&
           r->begun < r->owner->config.attempts;
}

/* A hedge is due. Where it is not allowed now, it may be a little later: after twice as long each time, since many may
 * wait for it. */
static void hedge(clo_rpc_instance *r)
{
    clo_rpc_throttle *t = throttle_of(r);
    int64_t delay = clo_rpc_throttle_delay_us(t), now = clo_rpc_engine_now_us();
    int64_t later = (delay > 10000 ? delay : 10000) << (r->held < 10 ? r->held : 10);
    uint32_t replica = may_hedge(r) ? other_replica(r, r->attempts[r->begun - 1].replica) : UINT32_MAX;

    r->hedge_us = 0;
    if (replica == UINT32_MAX)
        return;
    if (clo_rpc_throttle_take_hedge(t)) {
        send_attempt(r, replica, 1);
        r->hedge_us = delay > 0 ? now + delay : 0;
    } else {
        r->held++;
        r->owner->stats.held_back++;
        r->hedge_us = now + (later < HELD_MAX_US ? later : HELD_MAX_US);
    }
}

/* When a hedge beside the attempt that has just begun is due; 0: never. */
static int64_t hedge_due_us(const clo_rpc_instance *r)
{
    int64_t delay = clo_rpc_throttle_delay_us(throttle_of(r));

    return delay > 0 && may_hedge(r) ? clo_rpc_engine_now_us() + delay : 0;
}

static void call_first(clo_rpc_instance *r)
{
    uint32_t other =
        r->what->effect == CLO_RPC_PURE && is_shunned(r, r->replica) ? other_replica(r, r->replica) : UINT32_MAX;

    r->state = CLO_RPC_INSTANCE_CALLING;
    send_attempt(r, other != UINT32_MAX && !is_shunned(r, other) ? other : r->replica, 0);
    if (r->state != CLO_RPC_INSTANCE_CALLING)
        return;
    r->hedge_us = hedge_due_us(r);
    arm(r);
}

static void launch(clo_rpc_instance *r)
{
    clo_rpc_engine *e = r->owner;

    e->stats.requests++;
    clo_rpc_throttle_request(throttle_of(r));
    if (r->what->effect == CLO_RPC_PURE || e->config.journal == NULL) {
        call_first(r);
        return;
    }
    if (keep(r, CLO_RPC_JOURNAL_STARTED, NULL) != 0) {
        clo_rpc_instance_fail(r, CLO_RPC_REPLY_UNAVAILABLE, clo_rpc_journal_error(e->config.journal));
        return;
    }
    r->state = CLO_RPC_INSTANCE_COMMITTING;
    r->next_committing = e->committing;
    e->committing = r;
}

void clo_rpc_instance_committed(clo_rpc_instance *r)
{
    if (r->state == CLO_RPC_INSTANCE_COMMITTING)
        call_first(r);
}

static void call_again(clo_rpc_instance *r)
{
    uint32_t last = r->attempts[r->begun - 1].replica,
             other = r->what->effect == CLO_RPC_PURE ? other_replica(r, last) : UINT32_MAX;

    r->retry_us = 0;
    send_attempt(r, other != UINT32_MAX ? other : last, 0);
    if (r->state == CLO_RPC_INSTANCE_CALLING)
        r->hedge_us = hedge_due_us(r);
}

/* Attempts that have had no answer for too long. */
static void give_up(clo_rpc_instance *r, int64_t now)
{
    clo_rpc_reply none = {.status = CLO_RPC_REPLY_UNAVAILABLE};

    snprintf(none.text, sizeof none.text, "no answer within %" PRId64 " ms", r->what->attempt_us / 1000);
    for (uint32_t i = 0; i < r->begun && r->state == CLO_RPC_INSTANCE_CALLING; i++) {
        clo_rpc_attempt *a = &r->attempts[i];
        if (a->call == 0 || now < gives_up_us(a))
            continue;
        clo_rpc_client_cancel(r->owner->calls, a->call);
        on_answer(a, &none);
    }
}

static void on_timer(uv_timer_t *timer)
{
    clo_rpc_instance *r = timer->data;
    int64_t now = clo_rpc_engine_now_us();

    if (r->state == CLO_RPC_INSTANCE_EARLY) {
        if (now < r->arrival_us)
            uv_timer_start(&r->timer, on_timer, 1, 0); /* timers count whole milliseconds */
        else
            launch(r);
        return;
    }
    if (r->state == CLO_RPC_INSTANCE_CALLING && now >= r->deadline_us)
        clo_rpc_instance_fail(r, CLO_RPC_REPLY_DEADLINE, "the deadline has passed");
    if (r->state == CLO_RPC_INSTANCE_CALLING)
        give_up(r, now);
    if (r->state == CLO_RPC_INSTANCE_CALLING && r->retry_us != 0 && now >= r->retry_us)
        call_again(r);
    if (r->state == CLO_RPC_INSTANCE_CALLING && r->hedge_us != 0 && now >= r->hedge_us) {
        if (!r->is_late)
            clo_rpc_throttle_failure(throttle_of(r), now);
        r->is_late = true;
        hedge(r);
    }
    if (r->state == CLO_RPC_INSTANCE_CALLING)
        arm(r);
}

static void succeed(clo_rpc_instance *r, const clo_rpc_attempt *a, const clo_rpc_reply *answer)
{
    clo_rpc_engine *e = r->owner;
    clo_rpc_throttle *t = throttle_of(r);
    int64_t now = clo_rpc_engine_now_us();

    if (answer->output_bytes > 0)
        memcpy(clo_rpc_parcel_answer(r->output), answer->output, answer->output_bytes);
    clo_rpc_parcel_close(r->output, r->what->output_bytes, (uint32_t)answer->output_bytes);
    e->stats.payload_bytes += answer->output_bytes;
    e->stats.hedges_won += a->is_hedge;
    e->latencies_us[r->what->first + r->instance] = now - r->arrival_us;
    if (!r->is_late)
        clo_rpc_throttle_success(t);
    clo_rpc_throttle_learn(t, now - r->attempts[0].begun_us, now);
    note(r, a, "answer", a->is_hedge ? "hedge" : "");
    if (keep(r, CLO_RPC_JOURNAL_FINISHED, a) != 0)
        clo_rpc_instance_fail(r, CLO_RPC_REPLY_UNAVAILABLE, clo_rpc_journal_error(e->config.journal));
    else
        complete(r, 0);
}

static double chance(clo_rpc_engine *e)
{
    e->random = clo_mix64(e->random);
    return (double)(e->random >> 11) / 9007199254740992.0;
}

/* No attempt is left under way after an error that may pass. */
static void retry(clo_rpc_instance *r, const clo_rpc_reply *answer)
{
    clo_rpc_engine *e = r->owner;
    int64_t now = clo_rpc_engine_now_us(),
            wait = clo_rpc_throttle_backoff_us(r->begun + 1, e->config.backoff_us, e->config.backoff_max_us, chance(e));
    const char *no = NULL;

    if (answer->pushback_ms > 0)
        wait = answer->pushback_ms * 1000;
    if (r->begun >= e->config.attempts)
        no = "no attempt is left";
    else if (answer->pushback_ms < 0)
        no = "the service wants no other";
    else if (r->deadline_us != CLO_RPC_FRAME_NO_DEADLINE && now + wait + (int64_t)needs_us(r) >= r->deadline_us)
        no = "another would end after the deadline";
    else if (!clo_rpc_throttle_take_retry(throttle_of(r)))
        no = "the service has failed too often for a retry";
    if (no != NULL) {
        char why[256];
        snprintf(why, sizeof why, "%s%s%s", answer->text, answer->text[0] != '\0' ? "; " : "", no);
        clo_rpc_instance_fail(r, answer->status, why);
        return;
    }
    e->stats.retries++;
    r->retry_us = now + wait;
}

/* What has not left is sent to another replica at once, where one can be reached: no retry, as nobody has seen it. */
static bool send_elsewhere(clo_rpc_instance *r, const clo_rpc_reply *answer)
{
    uint32_t other = UINT32_MAX;

    if (answer->is_unsent && r->active == 0 && r->what->effect == CLO_RPC_PURE && r->begun < r->owner->config.attempts)
        other = other_replica(r, r->attempts[r->begun - 1].replica);
    if (other == UINT32_MAX || is_shunned(r, other))
        return false;
    send_attempt(r, other, 0);
    if (r->state == CLO_RPC_INSTANCE_CALLING)
        arm(r);
    return true;
}

static void on_error(clo_rpc_instance *r, const clo_rpc_reply *answer)
{
    int64_t now = clo_rpc_engine_now_us();

    if (answer->status == CLO_RPC_REPLY_INVALID) {
        clo_rpc_instance_fail(r, answer->status, answer->text);
        return;
    }
    if (answer->status == CLO_RPC_REPLY_DEADLINE) {
        if (r->active == 0)
            clo_rpc_instance_fail(r, answer->status, answer->text);
        return;
    }
    if (answer->status == CLO_RPC_REPLY_UNAVAILABLE && send_elsewhere(r, answer))
        return;
    clo_rpc_throttle_failure(throttle_of(r), now);
    if (r->what->effect == CLO_RPC_ONCE && answer->status == CLO_RPC_REPLY_UNAVAILABLE && !answer->is_unsent) {
        char why[256];
        snprintf(why, sizeof why, "%s; it may have had its effect, so it is not sent again", answer->text);
        clo_rpc_instance_fail(r, answer->status, why);
    } else if (r->active == 0)
        retry(r, answer);
    else if (r->hedge_us != 0) {
        r->hedge_us = clo_rpc_throttle_next_copy_us(now, answer->pushback_ms);
        r->is_late = true; /* one failure is counted, not two */
    }
    if (r->state == CLO_RPC_INSTANCE_CALLING)
        arm(r);
}

static void on_answer(void *argument, const clo_rpc_reply *answer)
{
    clo_rpc_attempt *a = argument;
    clo_rpc_instance *r = a->of;

    a->call = 0;
    r->active--;
    shun(a, answer->status == CLO_RPC_REPLY_UNAVAILABLE);
    if (answer->status != CLO_RPC_REPLY_OK) {
        note(r, a, "error", clo_rpc_reply_name(answer->status));
        on_error(r, answer);
    } else if (answer->output_bytes > r->what->output_bytes) {
        char why[128];
        snprintf(why, sizeof why, "the answer has %zu bytes, and there is room for %u; give the call more",
                 answer->output_bytes, r->what->output_bytes);
        clo_rpc_instance_fail(r, CLO_RPC_REPLY_INVALID, why);
    } else
        succeed(r, a, answer);
}

void clo_rpc_instance_begin(clo_rpc_instance *r)
{
    clo_rpc_engine *e = r->owner;
    const clo_rpc_method *m = r->what;

    r->begun = r->active = r->held = 0;
    r->number = r->token.number;
    r->is_late = false;
    r->hedge_us = r->retry_us = 0;
    r->arrival_us = m->arrivals_us != NULL ? e->start_us + m->arrivals_us[r->instance] : clo_rpc_engine_now_us();
    r->deadline_us = CLO_RPC_FRAME_NO_DEADLINE;
    if (e->config.deadline_us > 0)
        r->deadline_us = (m->arrivals_us != NULL ? r->arrival_us : e->start_us) + e->config.deadline_us;
    r->has_own_deadline = m->deadline_us > 0 && m->deadline_us < r->deadline_us - r->arrival_us;
    if (r->has_own_deadline)
        r->deadline_us = r->arrival_us + m->deadline_us;
    r->state = CLO_RPC_INSTANCE_EARLY;
    int64_t early = r->arrival_us - clo_rpc_engine_now_us();
    if (early <= 0) {
        launch(r);
        return;
    }
    uv_update_time(&e->loop);
    uv_timer_start(&r->timer, on_timer, (uint64_t)(early / 1000), 0);
}

void clo_rpc_instance_cancel(clo_rpc_instance *r)
{
    if (r->state == CLO_RPC_INSTANCE_EARLY || r->state == CLO_RPC_INSTANCE_COMMITTING ||
        r->state == CLO_RPC_INSTANCE_CALLING)
        complete(r, 1);
}
