/* Services of one process: what handlers say, methods, routes of bytes, effects on threads. Services are threads; what
 * needs processes that are killed is in test_own.py. How a run ends: test_rpc_runs.c. */
#include "rpc/store/effects.h"
#include "served.h"

#include <stdlib.h>

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

/* A call whose attempts have so much time each; how it ended. */
static clo_status run_slow(int64_t attempt_ns)
{
    served s = {.calls = 0};
    clo_rpc_config config = CLO_RPC_CONFIG_INIT;
    clo_rpc_workflow *w = NULL;
    char services[256];

    start(&s, NULL);
    snprintf(services, sizeof services, "s=%s", clo_rpc_service_endpoint(s.service));
    config.services = services;
    config.attempt_ns = attempt_ns;
    config.backoff_ns = 1000000;
    config.event = note_retry;
    config.argument = &s;
    ok(clo_rpc_workflow_create(&config, &w));
    uint32_t a = add(w, "slow", "a", CLO_RPC_KEYED);
    clo_status status = clo_rpc_workflow_run(w);
    if (status == CLO_OK)
        expect(w, a, "a");
    else
        fails(CLO_ERR_TASK, "no answer within", status);
    assert_true(s.retries > 0);
    clo_rpc_workflow_destroy(w);
    stop(&s);
    assert_in_range(s.calls, status == CLO_OK, 1);
    return status;
}

static void an_effect_on_the_pool_happens_once(void **state)
{
    clo_status status = CLO_ERR_TASK;

    (void)state;
    /* On a busy machine all five attempts may be too short. */
    for (int64_t attempt_ns = 50000000; attempt_ns < 10000000000 && status != CLO_OK; attempt_ns *= 2)
        status = run_slow(attempt_ns);
    assert_int_equal(status, CLO_OK);
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
        cmocka_unit_test(workflows_run_side_by_side),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
