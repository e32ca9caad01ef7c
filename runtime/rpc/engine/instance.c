#include "instance.h"
#include "answer.h"
#include "parcel.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define HELD_MAX_US 1000000

static throttle *throttle_of(const request *r)
{
    return &r->owner->throttles[r->what->service];
}

static const char *endpoint_of(const request *r, uint32_t replica)
{
    return r->owner->config.services[r->what->service].replica[replica];
}

static void note(const request *r, const attempt *a, const char *event, const char *detail)
{
    if (r->owner->config.events != NULL)
        fprintf(r->owner->config.events, "%s time=%" PRId64 " task=%u instance=%u attempt=%u endpoint=%s %s\n", event,
                engine_now_us() - r->owner->start_us, r->what->task, r->instance, a != NULL ? a->number : 0,
                endpoint_of(r, a != NULL ? a->replica : r->replica), detail);
}

static int64_t left_us(const request *r)
{
    return r->deadline_us == FRAME_NO_DEADLINE ? FRAME_NO_DEADLINE : r->deadline_us - engine_now_us();
}

/* Of the next attempt: a run that was killed counts as one. */
static uint32_t next_number(const request *r)
{
    const uint32_t *before = r->owner->config.attempts_before;

    return r->begun + 1 + (before != NULL ? before[r->what->first + r->instance] : 0);
}

/* The journal's failure is the run's: what is not kept must not be built on. */
static int keep(request *r, journal_state state, const attempt *a)
{
    engine *e = r->owner;
    journal_record record = {.task = r->what->task,
                             .instance = r->instance,
                             .attempt = a != NULL ? a->number : next_number(r),
                             .state = state,
                             .key = answer_key(e->config.run, r->what->task, r->instance),
                             .endpoint = endpoint_of(r, a != NULL ? a->replica : r->replica),
                             .time_us = engine_now_us() - e->start_us};

    if (e->config.journal == NULL)
        return 0;
    if (state == JOURNAL_FINISHED) {
        record.output = r->output;
        record.output_bytes = parcel_size(r->what->output_bytes);
    }
    if (e->journal_failed || journal_add(e->config.journal, &record) != 0) {
        e->journal_failed = true;
        return -1;
    }
    return 0;
}

/* The losers are told. */
static void cancel_attempts(request *r)
{
    for (uint32_t i = 0; i < r->begun; i++)
        if (r->attempts[i].call != 0) {
            note(r, &r->attempts[i], "cancel", "");
            client_cancel(r->owner->calls, r->attempts[i].call);
            r->attempts[i].call = 0;
            r->owner->stats.cancelled++;
        }
    r->active = 0;
}

/* The last thing that is done with a request: its memory may go. */
static void complete(request *r, int code)
{
    clo_token token = r->token;

    cancel_attempts(r);
    uv_timer_stop(&r->timer);
    r->state = REQUEST_DONE;
    if (clo_token_complete(token, code) != CLO_OK)
        note(r, NULL, "stale", ""); /* the run was cut short before: nothing is left to do */
}

void request_fail(request *r, reply_status status, const char *why)
{
    engine *e = r->owner;
    const attempt *last = r->begun > 0 ? &r->attempts[r->begun - 1] : NULL;
    int64_t after_us = engine_now_us() - r->arrival_us;

    if (e->stats.failures++ == 0)
        snprintf(e->stats.failure, sizeof e->stats.failure,
                 "task %s, instance %u: service %s at %s: %s (%s) after %u attempt%s and %" PRId64 " ms", r->what->name,
                 r->instance, e->config.services[r->what->service].name,
                 endpoint_of(r, last != NULL ? last->replica : r->replica), reply_name(status), why, r->begun,
                 r->begun == 1 ? "" : "s", after_us / 1000);
    note(r, last, "fail", why);
    (void)keep(r, JOURNAL_FAILED, last);
    if (e->config.keeps_going)
        parcel_close(r->output, r->what->output_bytes, 0);
    complete(r, e->config.keeps_going ? 0 : 1 + (int)status);
}

static void on_answer(void *argument, const reply *answer);
static void on_timer(uv_timer_t *timer);

/* The outputs of the predecessors, one behind the other. */
static int gather(request *r, ask *a)
{
    engine *e = r->owner;
    size_t bytes = 0;

    for (uint32_t i = 0; i < r->inputs_count; i++)
        bytes += r->inputs[i].bytes;
    if (bytes > e->scratch_bytes) {
        unsigned char *more = realloc(e->scratch, bytes * 2);
        if (more == NULL)
            return -1;
        e->scratch = more;
        e->scratch_bytes = bytes * 2;
    }
    a->input = e->scratch;
    a->input_bytes = bytes;
    bytes = 0;
    for (uint32_t i = 0; i < r->inputs_count; i++) {
        if (r->inputs[i].bytes > 0)
            memcpy(e->scratch + bytes, r->inputs[i].at, r->inputs[i].bytes);
        bytes += r->inputs[i].bytes;
    }
    return 0;
}

static int64_t gives_up_us(const attempt *a)
{
    return a->begun_us + a->of->owner->config.attempt_us;
}

/* The next moment at which something is due without an answer. */
static void arm(request *r)
{
    int64_t due = r->deadline_us, now = engine_now_us();

    if (r->hedge_us != 0 && r->hedge_us < due)
        due = r->hedge_us;
    if (r->retry_us != 0 && r->retry_us < due)
        due = r->retry_us;
    for (uint32_t i = 0; i < r->begun; i++)
        if (r->attempts[i].call != 0 && gives_up_us(&r->attempts[i]) < due)
            due = gives_up_us(&r->attempts[i]);
    if (due == FRAME_NO_DEADLINE) {
        uv_timer_stop(&r->timer);
        return;
    }
    uv_update_time(&r->owner->loop);
    uv_timer_start(&r->timer, on_timer, due <= now ? 0 : (uint64_t)(due - now + 999) / 1000, 0);
}

static void describe(const request *r, frame *head, ask *a)
{
    const engine *e = r->owner;

    *head = (frame){.attempt = (uint16_t)next_number(r),
                    .run = e->config.run,
                    .task = r->what->task,
                    .instance = r->instance,
                    .left_us = left_us(r),
                    .key = answer_key(e->config.run, r->what->task, r->instance)};
    if (r->what->effect == EFFECT_ONCE)
        head->key = 0;
    a->work_us = r->what->work_us;
    a->rest_us = r->what->rest_us;
    a->output_bytes = r->what->output_bytes;
    a->effect = r->what->effect == EFFECT_NONE ? ASK_PURE : r->what->effect == EFFECT_KEYED ? ASK_KEYED : ASK_ONCE;
    a->hops = r->what->hops;
    for (uint32_t i = 0; i < a->hops; i++)
        snprintf(a->hop[i], sizeof a->hop[i], "%s", e->config.hop[i]);
}

static void send_attempt(request *r, uint32_t replica, uint32_t is_hedge)
{
    engine *e = r->owner;
    attempt *a = &r->attempts[r->begun];
    frame head;
    ask what;
    char detail[96];

    describe(r, &head, &what);
    if (head.left_us < (int64_t)what.rest_us) {
        snprintf(detail, sizeof detail, "%" PRId64 " us are left, %" PRIu64 " are needed", head.left_us, what.rest_us);
        if (r->active == 0)
            request_fail(r, REPLY_DEADLINE, detail);
        return;
    }
    *a = (attempt){
        .of = r, .begun_us = engine_now_us(), .number = next_number(r), .replica = replica, .is_hedge = is_hedge};
    r->begun++;
    bool is_gathered = gather(r, &what) == 0;
    if (is_gathered && what.input_bytes > PARCEL_MAX) {
        snprintf(detail, sizeof detail, "its inputs have %zu bytes, and a call can have %d", what.input_bytes,
                 PARCEL_MAX);
        r->begun--;
        request_fail(r, REPLY_INVALID, detail);
        return;
    }
    if (is_gathered)
        a->call = client_call(e->calls, e->endpoints[r->what->service][replica], &head, &what, on_answer, a);
    if (a->call == 0 && r->active > 0) { /* a hedge: the other attempt goes on */
        r->begun--;
        return;
    }
    if (a->call == 0) {
        request_fail(r, REPLY_UNAVAILABLE, "no memory for the call");
        return;
    }
    r->active++;
    e->stats.calls++;
    e->stats.hedges += is_hedge;
    e->stats.payload_bytes += what.input_bytes;
    snprintf(detail, sizeof detail, "left=%" PRId64, head.left_us == FRAME_NO_DEADLINE ? -1 : head.left_us);
    note(r, a, is_hedge ? "hedge" : r->begun > 1 ? "retry" : "call", detail);
}

/* After each failure in a row a replica is left alone twice as long, up to 3.2 s. */
static void shun(const attempt *a, bool has_failed)
{
    replica_state *state = &a->of->owner->replicas[a->of->what->service][a->replica];

    state->failures = !has_failed ? 0 : state->failures < 6 ? state->failures + 1 : 6;
    state->shunned_until_us = has_failed ? engine_now_us() + (INT64_C(50000) << state->failures) : 0;
}

static bool is_shunned(const request *r, uint32_t replica)
{
    return engine_now_us() < r->owner->replicas[r->what->service][replica].shunned_until_us;
}

/* A replica that no attempt is at, the next one in turn after `last`, one that can be reached if there is any; else
 * UINT32_MAX. */
static uint32_t other_replica(const request *r, uint32_t last)
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

static bool may_hedge(const request *r)
{
    return r->owner->config.is_hedging && r->what->effect == EFFECT_NONE && r->active > 0 &&
           r->begun < r->owner->config.attempts;
}

/* A hedge is due. Where it is not allowed now, it may be a little later: after twice as long each time, since many may
 * wait for it. */
static void hedge(request *r)
{
    throttle *t = throttle_of(r);
    int64_t delay = throttle_delay_us(t), now = engine_now_us();
    int64_t later = (delay > 10000 ? delay : 10000) << (r->held < 10 ? r->held : 10);
    uint32_t replica = may_hedge(r) ? other_replica(r, r->attempts[r->begun - 1].replica) : UINT32_MAX;

    r->hedge_us = 0;
    if (replica == UINT32_MAX)
        return;
    if (throttle_take_hedge(t)) {
        send_attempt(r, replica, 1);
        r->hedge_us = delay > 0 ? now + delay : 0;
    } else {
        r->held++;
        r->owner->stats.held_back++;
        r->hedge_us = now + (later < HELD_MAX_US ? later : HELD_MAX_US);
    }
}

/* When a hedge beside the attempt that has just begun is due; 0: never. */
static int64_t hedge_due_us(const request *r)
{
    int64_t delay = throttle_delay_us(throttle_of(r));

    return delay > 0 && may_hedge(r) ? engine_now_us() + delay : 0;
}

static void call_first(request *r)
{
    uint32_t other =
        r->what->effect == EFFECT_NONE && is_shunned(r, r->replica) ? other_replica(r, r->replica) : UINT32_MAX;

    r->state = REQUEST_CALLING;
    send_attempt(r, other != UINT32_MAX && !is_shunned(r, other) ? other : r->replica, 0);
    if (r->state != REQUEST_CALLING)
        return;
    r->hedge_us = hedge_due_us(r);
    arm(r);
}

static void launch(request *r)
{
    engine *e = r->owner;

    e->stats.requests++;
    throttle_request(throttle_of(r));
    if (r->what->effect == EFFECT_NONE || e->config.journal == NULL) {
        call_first(r);
        return;
    }
    if (keep(r, JOURNAL_STARTED, NULL) != 0) {
        request_fail(r, REPLY_UNAVAILABLE, journal_error(e->config.journal));
        return;
    }
    r->state = REQUEST_COMMITTING;
    r->next_committing = e->committing;
    e->committing = r;
}

void request_committed(request *r)
{
    if (r->state == REQUEST_COMMITTING)
        call_first(r);
}

static void call_again(request *r)
{
    uint32_t last = r->attempts[r->begun - 1].replica,
             other = r->what->effect == EFFECT_NONE ? other_replica(r, last) : UINT32_MAX;

    r->retry_us = 0;
    send_attempt(r, other != UINT32_MAX ? other : last, 0);
    if (r->state == REQUEST_CALLING)
        r->hedge_us = hedge_due_us(r);
}

/* Attempts that have had no answer for too long. */
static void give_up(request *r, int64_t now)
{
    reply none = {.status = REPLY_UNAVAILABLE};

    snprintf(none.text, sizeof none.text, "no answer within %" PRId64 " ms", r->owner->config.attempt_us / 1000);
    for (uint32_t i = 0; i < r->begun && r->state == REQUEST_CALLING; i++) {
        attempt *a = &r->attempts[i];
        if (a->call == 0 || now < gives_up_us(a))
            continue;
        client_cancel(r->owner->calls, a->call);
        on_answer(a, &none);
    }
}

static void on_timer(uv_timer_t *timer)
{
    request *r = timer->data;
    int64_t now = engine_now_us();

    if (r->state == REQUEST_EARLY) {
        if (now < r->arrival_us)
            uv_timer_start(&r->timer, on_timer, 1, 0); /* timers count whole milliseconds */
        else
            launch(r);
        return;
    }
    if (r->state == REQUEST_CALLING && now >= r->deadline_us)
        request_fail(r, REPLY_DEADLINE, "the deadline has passed");
    if (r->state == REQUEST_CALLING)
        give_up(r, now);
    if (r->state == REQUEST_CALLING && r->retry_us != 0 && now >= r->retry_us)
        call_again(r);
    if (r->state == REQUEST_CALLING && r->hedge_us != 0 && now >= r->hedge_us) {
        if (!r->is_late)
            throttle_failure(throttle_of(r), now);
        r->is_late = true;
        hedge(r);
    }
    if (r->state == REQUEST_CALLING)
        arm(r);
}

static void succeed(request *r, const attempt *a, const reply *answer)
{
    engine *e = r->owner;
    throttle *t = throttle_of(r);
    int64_t now = engine_now_us();

    if (answer->output_bytes > 0)
        memcpy(parcel_answer(r->output), answer->output, answer->output_bytes);
    parcel_close(r->output, r->what->output_bytes, (uint32_t)answer->output_bytes);
    e->stats.payload_bytes += answer->output_bytes;
    e->stats.hedges_won += a->is_hedge;
    e->latencies_us[r->what->first + r->instance] = now - r->arrival_us;
    if (!r->is_late)
        throttle_success(t);
    throttle_learn(t, now - r->attempts[0].begun_us, now);
    note(r, a, "answer", a->is_hedge ? "hedge" : "");
    if (keep(r, JOURNAL_FINISHED, a) != 0)
        request_fail(r, REPLY_UNAVAILABLE, journal_error(e->config.journal));
    else
        complete(r, 0);
}

static double chance(engine *e)
{
    e->random = answer_mix(e->random);
    return (double)(e->random >> 11) / 9007199254740992.0;
}

/* No attempt is left under way after an error that may pass. */
static void retry(request *r, const reply *answer)
{
    engine *e = r->owner;
    int64_t now = engine_now_us(),
            wait = throttle_backoff_us(r->begun + 1, e->config.backoff_us, e->config.backoff_max_us, chance(e));
    const char *no = NULL;

    if (answer->pushback_ms > 0)
        wait = answer->pushback_ms * 1000;
    if (r->begun >= e->config.attempts)
        no = "no attempt is left";
    else if (answer->pushback_ms < 0)
        no = "the service wants no other";
    else if (r->deadline_us != FRAME_NO_DEADLINE && now + wait + (int64_t)r->what->rest_us >= r->deadline_us)
        no = "another would end after the deadline";
    else if (!throttle_take_retry(throttle_of(r)))
        no = "the service has failed too often for a retry";
    if (no != NULL) {
        char why[256];
        snprintf(why, sizeof why, "%s%s%s", answer->text, answer->text[0] != '\0' ? "; " : "", no);
        request_fail(r, answer->status, why);
        return;
    }
    e->stats.retries++;
    r->retry_us = now + wait;
}

/* What has not left is sent to another replica at once, where one can be reached: no retry, as nobody has seen it. */
static bool send_elsewhere(request *r, const reply *answer)
{
    uint32_t other = UINT32_MAX;

    if (answer->is_unsent && r->active == 0 && r->what->effect == EFFECT_NONE && r->begun < r->owner->config.attempts)
        other = other_replica(r, r->attempts[r->begun - 1].replica);
    if (other == UINT32_MAX || is_shunned(r, other))
        return false;
    send_attempt(r, other, 0);
    if (r->state == REQUEST_CALLING)
        arm(r);
    return true;
}

static void on_error(request *r, const reply *answer)
{
    int64_t now = engine_now_us();

    if (answer->status == REPLY_INVALID) {
        request_fail(r, answer->status, answer->text);
        return;
    }
    if (answer->status == REPLY_DEADLINE) {
        if (r->active == 0)
            request_fail(r, answer->status, answer->text);
        return;
    }
    if (answer->status == REPLY_UNAVAILABLE && send_elsewhere(r, answer))
        return;
    throttle_failure(throttle_of(r), now);
    if (r->what->effect == EFFECT_ONCE && answer->status == REPLY_UNAVAILABLE && !answer->is_unsent) {
        char why[256];
        snprintf(why, sizeof why, "%s; it may have had its effect, so it is not sent again", answer->text);
        request_fail(r, answer->status, why);
    } else if (r->active == 0)
        retry(r, answer);
    else if (r->hedge_us != 0) {
        r->hedge_us = throttle_next_copy_us(now, answer->pushback_ms);
        r->is_late = true; /* one failure is counted, not two */
    }
    if (r->state == REQUEST_CALLING)
        arm(r);
}

static void on_answer(void *argument, const reply *answer)
{
    attempt *a = argument;
    request *r = a->of;

    a->call = 0;
    r->active--;
    shun(a, answer->status == REPLY_UNAVAILABLE);
    if (answer->status != REPLY_OK) {
        note(r, a, "error", reply_name(answer->status));
        on_error(r, answer);
    } else if (answer->output_bytes > r->what->output_bytes) {
        char why[128];
        snprintf(why, sizeof why, "the answer has %zu bytes, and there is room for %u; give it more --bytes",
                 answer->output_bytes, r->what->output_bytes);
        request_fail(r, REPLY_INVALID, why);
    } else
        succeed(r, a, answer);
}

void request_begin(request *r)
{
    engine *e = r->owner;
    const method *m = r->what;

    r->begun = r->active = r->held = 0;
    r->number = r->token.number;
    r->is_late = false;
    r->hedge_us = r->retry_us = 0;
    r->arrival_us = m->arrivals_us != NULL ? e->start_us + m->arrivals_us[r->instance] : engine_now_us();
    r->deadline_us = FRAME_NO_DEADLINE;
    if (e->config.deadline_us > 0)
        r->deadline_us = (m->arrivals_us != NULL ? r->arrival_us : e->start_us) + e->config.deadline_us;
    r->state = REQUEST_EARLY;
    int64_t early = r->arrival_us - engine_now_us();
    if (early <= 0) {
        launch(r);
        return;
    }
    uv_update_time(&e->loop);
    uv_timer_start(&r->timer, on_timer, (uint64_t)(early / 1000), 0);
}

void request_cancel(request *r)
{
    if (r->state == REQUEST_EARLY || r->state == REQUEST_COMMITTING || r->state == REQUEST_CALLING)
        complete(r, 1);
}
