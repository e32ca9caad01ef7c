/* Runs of a workflow: services that move, runs that are cancelled, deadlines, functions of this process, journals. */
#include "served.h"

#include <stdlib.h>

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

/* While its call is handled; the handler goes on to its end. */
static void a_run_may_be_cancelled(void **state)
{
    (void)state;
    served s = {.calls = 0};

    start(&s, NULL);
    s.running = make(clo_rpc_service_endpoint(s.service), 0);
    add(s.running, "hang", "a", CLO_RPC_KEYED);
    fails(CLO_ERR_CANCELLED, "cancelled", clo_rpc_workflow_run(s.running));
    pthread_mutex_lock(&s.lock);
    s.is_released = 1;
    clo_rpc_workflow_destroy(s.running);
    s.running = NULL;
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
    fails(CLO_ERR_ARGUMENT, "call.after[1] is 7, but 3 calls were added before", clo_rpc_workflow_add_calls(w, bad, 3));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_service_may_move_in_the_middle_of_a_run),
        cmocka_unit_test(a_run_may_be_cancelled),
        cmocka_unit_test(deadlines_end_calls),
        cmocka_unit_test(what_follows_needs_no_time_of_a_call),
        cmocka_unit_test(functions_of_this_process_answer_too),
        cmocka_unit_test(calls_come_in_rows),
        cmocka_unit_test(a_journal_goes_on_after_a_cancel),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
