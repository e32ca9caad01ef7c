/* Workflows and services of one process: what handlers say, methods, routes of bytes, effects on threads, replicas that
 * move, runs that are cancelled. Services are threads; what needs processes that are killed is in test_own.py. */
#include "rpc/store/effects.h"
#include "support.h"

#include <clotho/rpc.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A service on a thread, with the handlers below. */
typedef struct served {
    clo_rpc_service *service;
    pthread_t thread;
    pthread_mutex_t lock;
    int calls, is_released;
    char keys[64];
} served;

static clo_status echo(void *argument, const clo_rpc_request *r, clo_rpc_answer *a)
{
    served *s = argument;

    pthread_mutex_lock(&s->lock);
    s->calls++;
    pthread_mutex_unlock(&s->lock);
    memcpy(a->bytes, r->body, r->body_bytes < a->room ? r->body_bytes : a->room);
    a->count = r->body_bytes;
    return CLO_OK;
}

/* On the pool: the first attempt takes longer than attempt_ns, so that another one with its key comes meanwhile. */
static clo_status slow_effect(void *argument, const clo_rpc_request *r, clo_rpc_answer *a)
{
    served *s = argument;

    assert_null(r->database);
    if (r->attempt == 1)
        usleep(300000);
    return echo(s, r, a);
}

static int is_released(served *s)
{
    pthread_mutex_lock(&s->lock);
    int released = s->is_released;
    pthread_mutex_unlock(&s->lock);
    return released;
}

/* Until the test lets it go. */
static clo_status hang(void *argument, const clo_rpc_request *r, clo_rpc_answer *a)
{
    served *s = argument;

    while (!is_released(s))
        usleep(1000);
    return echo(s, r, a);
}

static clo_status short_effect(void *argument, const clo_rpc_request *r, clo_rpc_answer *a)
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

static clo_status refuse(void *argument, const clo_rpc_request *r, clo_rpc_answer *a)
{
    (void)argument;
    memcpy(a->text, "not this one", 13);
    return strcmp(r->method, "never") == 0  ? CLO_ERR_ARGUMENT
           : strcmp(r->method, "late") == 0 ? CLO_ERR_TIMEOUT
                                            : CLO_ERR_LIMIT;
}

static void twice(void *argument, const clo_rpc_request *r, clo_rpc_fault *fault)
{
    (void)argument;
    (void)r;
    fault->twice = 1;
}

static void *serve(void *argument)
{
    served *s = argument;

    ok(clo_rpc_service_run(s->service));
    return NULL;
}

static void start(served *s, const char *listen)
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

static void stop(served *s)
{
    clo_rpc_service_stop(s->service);
    pthread_join(s->thread, NULL);
    clo_rpc_service_destroy(s->service);
    pthread_mutex_destroy(&s->lock);
}

/* A workflow of one service. */
static clo_rpc_workflow *make(const char *endpoint, int64_t attempt_ns)
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

static uint32_t add(clo_rpc_workflow *w, const char *method, const char *body, clo_rpc_effect effect)
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

static void expect(const clo_rpc_workflow *w, uint32_t call, const char *text)
{
    const void *bytes = NULL;
    size_t count = 0;

    ok(clo_rpc_workflow_answer(w, call, 0, &bytes, &count));
    assert_int_equal(count, strlen(text));
    assert_memory_equal(bytes, text, count);
}

static void bodies_are_made_of_what_comes_before(void **state)
{
    (void)state;
    served s = {.calls = 0};
    start(&s, NULL);
    clo_rpc_workflow *w = make(clo_rpc_service_endpoint(s.service), 0);
    uint32_t a = add(w, "echo", "a", CLO_RPC_PURE), b = add(w, "pool", "", CLO_RPC_PURE),
             c = add(w, "echo", "c:", CLO_RPC_KEYED);

    ok(clo_rpc_workflow_after(w, c, b));
    ok(clo_rpc_workflow_after(w, c, a));
    for (int i = 0; i < 3; i++) { /* it may run again; keys are of the run, so its effect happens once */
        ok(clo_rpc_workflow_run(w));
        expect(w, a, "a");
        expect(w, b, "");
        expect(w, c, "c:a");
        assert_true(clo_rpc_workflow_latency_ns(w, c, 0) >= 0);
    }
    assert_int_equal(s.calls, 3 + 3 + 1);
    clo_rpc_workflow_destroy(w);
    stop(&s);
}

static void refusals_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *method, *body, *want;
    } cases[] = {{"never", "", "invalid (not this one)"},
                 {"late", "", "deadline (not this one)"},
                 {"full", "", "exhausted (not this one; no attempt is left"},
                 {"other", "", "no method 'other'"},
                 {"echo", "seventeen letters", "has 17 bytes, and there is room for 16"}};
    served s = {.calls = 0};

    start(&s, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        clo_rpc_result result = CLO_RPC_RESULT_INIT;
        clo_rpc_workflow *w = make(clo_rpc_service_endpoint(s.service), 0);
        add(w, cases[i].method, cases[i].body, CLO_RPC_PURE);
        fails(CLO_ERR_TASK, cases[i].want, clo_rpc_workflow_run(w));
        ok(clo_rpc_workflow_result(w, &result));
        assert_int_equal(result.failures, 1);
        assert_non_null(strstr(result.failure, cases[i].want));
        clo_rpc_workflow_destroy(w);
    }
    stop(&s);
}

static void an_effect_on_the_pool_happens_once(void **state)
{
    (void)state;
    served s = {.calls = 0};
    start(&s, NULL);
    clo_rpc_workflow *w = make(clo_rpc_service_endpoint(s.service), 50000000);
    uint32_t a = add(w, "slow", "a", CLO_RPC_KEYED);
    clo_status status = clo_rpc_workflow_run(w); /* five attempts of 50 ms: on a busy machine all may be too short */

    if (status == CLO_OK)
        expect(w, a, "a");
    else
        fails(CLO_ERR_TASK, "no answer within 50 ms", status);
    clo_rpc_workflow_destroy(w);
    stop(&s);
    assert_int_equal(s.calls, 1);
}

static void what_a_short_handler_wrote_goes_with_its_failure(void **state)
{
    (void)state;
    served s = {.keys = "/tmp/clotho-test-rpc-XXXXXX"};
    sqlite3 *db = NULL;
    sqlite3_stmt *count = NULL;

    close(mkstemp(s.keys));
    unlink(s.keys);
    start(&s, NULL);
    clo_rpc_workflow *w = make(clo_rpc_service_endpoint(s.service), 0);
    uint32_t a = add(w, "short", "a", CLO_RPC_KEYED);
    ok(clo_rpc_workflow_run(w));
    expect(w, a, "a");
    clo_rpc_workflow_destroy(w);
    stop(&s);
    assert_int_equal(s.calls, 2);
    assert_int_equal(sqlite3_open(s.keys, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT count(*) FROM mine", -1, &count, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(count), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(count, 0), 1);
    sqlite3_finalize(count);
    sqlite3_close(db);
    unlink(s.keys);
}

static int rows(sqlite3 *db)
{
    sqlite3_stmt *count = NULL;

    assert_int_equal(sqlite3_prepare_v2(db, "SELECT count(*) FROM mine", -1, &count, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(count), SQLITE_ROW);
    int found = sqlite3_column_int(count, 0);
    sqlite3_finalize(count);
    return found;
}

/* What a handler has written never stays without its key. */
static void a_spoiled_transaction_leaves_nothing(void **state)
{
    (void)state;
    static const char insert[] = "INSERT INTO mine VALUES(1)";
    char path[] = "/tmp/clotho-test-rpc-XXXXXX";
    clo_rpc_effects table;
    clo_rpc_keys *keys = clo_rpc_keys_create();

    close(mkstemp(path));
    unlink(path);
    assert_int_equal(clo_rpc_effects_open(&table, path, false, keys), 0);
    assert_int_equal(sqlite3_exec(table.d.db, "CREATE TABLE mine(x)", NULL, NULL, NULL), SQLITE_OK);
    for (int is_spoiled = 0; is_spoiled < 3; is_spoiled++) {
        assert_int_equal(clo_rpc_effects_begin(&table), 0);
        assert_int_equal(sqlite3_exec(table.d.db, insert, NULL, NULL, NULL), SQLITE_OK);
        if (is_spoiled == 2) /* a handler must not do that */
            assert_int_equal(sqlite3_exec(table.d.db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
        assert_int_equal(clo_rpc_effects_end(&table, true), is_spoiled == 2 ? -1 : 0);
        if (is_spoiled == 1)
            clo_rpc_effects_spoil(&table, "no memory");
        assert_int_equal(clo_rpc_effects_commit(&table), is_spoiled == 0 ? 0 : -1);
        if (is_spoiled == 1)
            assert_non_null(strstr(table.d.error, "cannot be written: no memory"));
        assert_int_equal(rows(table.d.db), 1);
    }
    clo_rpc_effects_close(&table);
    clo_rpc_keys_destroy(keys);
    unlink(path);
}

typedef struct mover {
    clo_rpc_workflow *w;
    const char *to;
} mover;

/* The first attempt has failed: the service is told to be elsewhere. */
static void on_event(void *argument, const char *line)
{
    const mover *m = argument;

    if (strncmp(line, "error", 5) == 0)
        ok(clo_rpc_workflow_move(m->w, "s", 0, m->to));
}

static void a_service_may_move_in_the_middle_of_a_run(void **state)
{
    (void)state;
    clo_rpc_config config = CLO_RPC_CONFIG_INIT;
    served s = {.calls = 0};
    mover m = {.w = NULL};

    start(&s, NULL);
    m.to = clo_rpc_service_endpoint(s.service);
    config.services = "s=127.0.0.1:1"; /* nobody listens there */
    config.backoff_ns = 50000000;
    config.event = on_event;
    config.argument = &m;
    ok(clo_rpc_workflow_create(&config, &m.w));
    uint32_t a = add(m.w, "echo", "a", CLO_RPC_KEYED);
    ok(clo_rpc_workflow_run(m.w));
    expect(m.w, a, "a");
    clo_rpc_workflow_destroy(m.w);
    stop(&s);
}

/* The last call has left. */
static void on_hang(void *argument, const char *line)
{
    if (strncmp(line, "call", 4) == 0 && strstr(line, " task=2 ") != NULL)
        clo_rpc_workflow_cancel(((const mover *)argument)->w);
}

/* The first call has left. */
static void cancel(void *argument, const char *line)
{
    (void)line;
    clo_rpc_workflow_cancel(((const mover *)argument)->w);
}

static void a_run_may_be_cancelled(void **state)
{
    (void)state;
    clo_rpc_config config = CLO_RPC_CONFIG_INIT;
    served s = {.calls = 0};
    mover m = {.w = NULL};
    char services[256];

    start(&s, NULL);
    snprintf(services, sizeof services, "s=%s", clo_rpc_service_endpoint(s.service));
    config.services = services;
    config.event = cancel;
    config.argument = &m;
    ok(clo_rpc_workflow_create(&config, &m.w));
    add(m.w, "hang", "a", CLO_RPC_KEYED);
    fails(CLO_ERR_CANCELLED, "cancelled", clo_rpc_workflow_run(m.w));
    clo_rpc_workflow_destroy(m.w);
    pthread_mutex_lock(&s.lock);
    s.is_released = 1;
    pthread_mutex_unlock(&s.lock);
    stop(&s);
    assert_int_equal(s.calls, 1);
}

/* Of the call, and of the run; the service is never done. */
static void deadlines_end_calls(void **state)
{
    (void)state;
    served s = {.calls = 0};
    char services[256];

    start(&s, NULL);
    snprintf(services, sizeof services, "s=%s", clo_rpc_service_endpoint(s.service));
    for (int is_of_run = 0; is_of_run < 2; is_of_run++) {
        clo_rpc_config config = CLO_RPC_CONFIG_INIT;
        clo_rpc_call call = CLO_RPC_CALL_INIT;
        clo_rpc_workflow *w = NULL;
        config.services = services;
        config.deadline_ns = is_of_run ? 100000000 : 0;
        call.deadline_ns = is_of_run ? 0 : 100000000;
        call.service = "s";
        call.method = "hang";
        ok(clo_rpc_workflow_create(&config, &w));
        ok(clo_rpc_workflow_add(w, &call, NULL));
        fails(CLO_ERR_TASK, "deadline", clo_rpc_workflow_run(w));
        clo_rpc_workflow_destroy(w);
    }
    pthread_mutex_lock(&s.lock);
    s.is_released = 1;
    pthread_mutex_unlock(&s.lock);
    stop(&s);
}

/* The deadline of a call is for itself, that of a run for all that follows, too. */
static void what_follows_needs_no_time_of_a_call(void **state)
{
    (void)state;
    served s = {.calls = 0};
    char services[256];

    start(&s, NULL);
    snprintf(services, sizeof services, "s=%s", clo_rpc_service_endpoint(s.service));
    for (int is_of_run = 0; is_of_run < 2; is_of_run++) {
        const uint32_t after[1] = {0};
        clo_rpc_config config = CLO_RPC_CONFIG_INIT;
        clo_rpc_call call = CLO_RPC_CALL_INIT;
        clo_rpc_workflow *w = NULL;
        config.services = services;
        config.deadline_ns = is_of_run ? 60000000000 : 0;
        ok(clo_rpc_workflow_create(&config, &w));
        call.service = "s";
        call.method = "echo";
        call.deadline_ns = is_of_run ? 0 : 60000000000;
        ok(clo_rpc_workflow_add(w, &call, NULL));
        call.deadline_ns = 0;
        call.work_ns = 120000000000;
        call.after = after;
        call.after_count = 1;
        ok(clo_rpc_workflow_add(w, &call, NULL));
        if (is_of_run)
            fails(CLO_ERR_TASK, "are needed", clo_rpc_workflow_run(w));
        else
            ok(clo_rpc_workflow_run(w));
        clo_rpc_workflow_destroy(w);
    }
    stop(&s);
}

static clo_status here(void *argument, const clo_rpc_request *r, clo_rpc_answer *a)
{
    (void)argument;
    a->count = (size_t)snprintf(a->bytes, a->room, "<%.*s>", (int)r->body_bytes, (const char *)r->body);
    return r->body_bytes > 4 ? CLO_ERR_ARGUMENT : CLO_OK;
}

static void functions_of_this_process_answer_too(void **state)
{
    (void)state;
    clo_rpc_workflow *w = make("127.0.0.1:1", 0); /* nobody is asked */
    clo_rpc_call call = CLO_RPC_CALL_INIT;
    const uint32_t after[1] = {0};

    call.here = here;
    call.body = "a";
    call.body_bytes = 1;
    ok(clo_rpc_workflow_add(w, &call, NULL));
    call.after = after;
    call.after_count = 1;
    ok(clo_rpc_workflow_add(w, &call, NULL));
    ok(clo_rpc_workflow_run(w));
    expect(w, 1, "<a<a>>");
    clo_rpc_workflow_destroy(w);
    w = make("127.0.0.1:1", 0);
    call.body = "aaaaa";
    call.body_bytes = 5;
    call.after_count = 0;
    ok(clo_rpc_workflow_add(w, &call, NULL));
    fails(CLO_ERR_TASK, "", clo_rpc_workflow_run(w));
    clo_rpc_workflow_destroy(w);
}

/* What is refused ends the row; what stands before it is in. */
static void calls_come_in_rows(void **state)
{
    const clo_rpc_call good[] = {{CLO_RPC_CALL(NULL, NULL), .here = here, .body = "a", .body_bytes = 1},
                                 {CLO_RPC_CALL(NULL, NULL), .here = here, CLO_RPC_AFTER(0)}};
    const clo_rpc_call bad[] = {{CLO_RPC_CALL(NULL, NULL), .here = here, CLO_RPC_AFTER(0)},
                                {CLO_RPC_CALL(NULL, NULL), .here = here, CLO_RPC_AFTER(1, 7)},
                                {CLO_RPC_CALL(NULL, NULL), .here = here}};
    clo_rpc_workflow *w = make("127.0.0.1:1", 0);

    (void)state;
    ok(clo_rpc_workflow_add_calls(w, good, 2));
    ok(clo_rpc_workflow_add_calls(w, NULL, 0));
    fails(CLO_ERR_ARGUMENT, "call 7", clo_rpc_workflow_add_calls(w, bad, 3));
    fails(CLO_ERR_ARGUMENT, "workflow or calls", clo_rpc_workflow_add_calls(w, NULL, 1));
    fails(CLO_ERR_ARGUMENT, "workflow or calls", clo_rpc_workflow_add_calls(NULL, good, 1));
    ok(clo_rpc_workflow_run(w));
    expect(w, 1, "<<a>>");
    expect(w, 2, "<<a>>");
    fails(CLO_ERR_ARGUMENT, "", clo_rpc_workflow_answer(w, 3, 0, &(const void *){NULL}, &(size_t){0}));
    clo_rpc_workflow_destroy(w);
}

/* here -> echo (keyed) -> hang: the first run is cancelled in the last one. */
static clo_rpc_workflow *make_resumable(mover *m, const char *services, const char *journal)
{
    clo_rpc_config config = CLO_RPC_CONFIG_INIT;
    clo_rpc_call call = CLO_RPC_CALL_INIT;

    config.services = services;
    config.journal = journal;
    config.event = m != NULL ? on_hang : NULL;
    config.argument = m;
    clo_rpc_workflow *w = NULL;
    ok(clo_rpc_workflow_create(&config, &w));
    call.here = here;
    ok(clo_rpc_workflow_add(w, &call, NULL));
    ok(clo_rpc_workflow_after(w, add(w, "echo", "", CLO_RPC_KEYED), 0));
    ok(clo_rpc_workflow_after(w, add(w, "hang", "", CLO_RPC_PURE), 1));
    return w;
}

static void a_journal_goes_on_after_a_cancel(void **state)
{
    (void)state;
    char services[256], journal[] = "/tmp/clotho-test-rpc-XXXXXX";
    clo_rpc_result result = CLO_RPC_RESULT_INIT;
    served s = {.calls = 0};
    mover m = {.w = NULL};

    close(mkstemp(journal));
    unlink(journal);
    start(&s, NULL);
    snprintf(services, sizeof services, "s=%s", clo_rpc_service_endpoint(s.service));
    m.w = make_resumable(&m, services, journal);
    fails(CLO_ERR_CANCELLED, "cancelled", clo_rpc_workflow_run(m.w));
    fails(CLO_ERR_STATE, "one run", clo_rpc_workflow_run(m.w));
    clo_rpc_workflow_destroy(m.w);
    pthread_mutex_lock(&s.lock);
    s.is_released = 1;
    pthread_mutex_unlock(&s.lock);
    clo_rpc_workflow *w = make_resumable(NULL, services, journal);
    ok(clo_rpc_workflow_run(w));
    ok(clo_rpc_workflow_result(w, &result));
    assert_int_equal(result.done_before, 1); /* a function of this process is called again, and the one that hung */
    assert_int_equal(result.again, 0);
    expect(w, 1, "<>");
    expect(w, 2, "<>");
    clo_rpc_workflow_destroy(w);
    w = make_resumable(NULL, services, journal); /* all of it is done */
    ok(clo_rpc_workflow_run(w));
    ok(clo_rpc_workflow_result(w, &result));
    assert_int_equal(result.done_before, 2);
    assert_int_equal(result.calls, 0);
    expect(w, 2, "<>");
    clo_rpc_workflow_destroy(w);
    stop(&s);
    unlink(journal);
}

/* Two workflows of one process at once: their connections have nothing in common. */
static void *run_one(void *argument)
{
    clo_rpc_workflow *w = make(argument, 0);
    uint32_t a = add(w, "pool", "a", CLO_RPC_PURE);

    for (int i = 0; i < 20; i++) {
        ok(clo_rpc_workflow_run(w));
        expect(w, a, "a");
    }
    clo_rpc_workflow_destroy(w);
    return NULL;
}

static void workflows_run_side_by_side(void **state)
{
    (void)state;
    served s = {.calls = 0};
    pthread_t threads[4];
    char endpoint[CLO_RPC_NAME_BYTES];

    start(&s, NULL);
    snprintf(endpoint, sizeof endpoint, "%s", clo_rpc_service_endpoint(s.service));
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_one, endpoint), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    stop(&s);
    assert_int_equal(s.calls, 80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_are_made_of_what_comes_before),
        cmocka_unit_test(refusals_are_told),
        cmocka_unit_test(an_effect_on_the_pool_happens_once),
        cmocka_unit_test(what_a_short_handler_wrote_goes_with_its_failure),
        cmocka_unit_test(a_spoiled_transaction_leaves_nothing),
        cmocka_unit_test(a_service_may_move_in_the_middle_of_a_run),
        cmocka_unit_test(a_run_may_be_cancelled),
        cmocka_unit_test(deadlines_end_calls),
        cmocka_unit_test(what_follows_needs_no_time_of_a_call),
        cmocka_unit_test(functions_of_this_process_answer_too),
        cmocka_unit_test(calls_come_in_rows),
        cmocka_unit_test(a_journal_goes_on_after_a_cancel),
        cmocka_unit_test(workflows_run_side_by_side),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
