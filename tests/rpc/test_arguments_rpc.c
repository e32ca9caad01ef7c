/* Public calls of rpc.h with NULL, with numbers and names out of range, in the wrong order, and without memory; see
 * stress/test_arguments.c. */
#include "fault.h"
#include "support.h"

#include <clotho/rpc.h>
#include <string.h>

/* The call must refuse, and say who it is. */
#define refuses(call, ...) fails(CLO_ERR_ARGUMENT, #call, call(__VA_ARGS__))
/* The same where another check words it. */
#define refuses_with(text, call, ...) fails(CLO_ERR_ARGUMENT, text, call(__VA_ARGS__))

static const char nobody[] = "a=127.0.0.1:1,127.0.0.1:2;b*=http://127.0.0.1:3/x";

static clo_status answer(void *argument, const clo_rpc_request *request, clo_rpc_answer *out)
{
    (void)argument;
    (void)request;
    out->count = 1;
    return CLO_OK;
}

static clo_rpc_workflow *make(clo_rpc_call *call)
{
    clo_rpc_config config = CLO_RPC_CONFIG_INIT;
    clo_rpc_workflow *w = NULL;

    *call = (clo_rpc_call)CLO_RPC_CALL_INIT;
    call->service = "a";
    call->here = answer;
    config.services = nobody;
    ok(clo_rpc_workflow_create(&config, &w));
    return w;
}

static void services_that_are_not(void **state)
{
    (void)state;
    clo_rpc_service_config config = CLO_RPC_SERVICE_CONFIG_INIT;
    clo_rpc_service *s = NULL;
    char name[200];

    refuses(clo_rpc_service_create, NULL, NULL);
    refuses(clo_rpc_service_add, NULL, "", answer, NULL, 0);
    refuses(clo_rpc_service_run, NULL);
    refuses(clo_rpc_service_fork, NULL, NULL, NULL, name, NULL);
    refuses(clo_rpc_service_fork, NULL, answer, NULL, NULL, NULL);
    config.listen = "here";
    refuses_with("is no ADDRESS:PORT", clo_rpc_service_fork, &config, answer, NULL, name, NULL);
    clo_rpc_service_stop(NULL);
    clo_rpc_service_destroy(NULL);
    assert_null(clo_rpc_service_endpoint(NULL));
    for (const char *const *at = (const char *const[]){"", "here", "127.0.0.1", "127.0.0.1:65536", "localhost:1", NULL};
         *at != NULL; at++) {
        config.listen = *at;
        refuses_with("is no ADDRESS:PORT in numbers; write it like", clo_rpc_service_create, &config, &s);
    }
    config.listen = "203.0.113.1:1"; /* of no machine */
    fails(CLO_ERR_SYSTEM, "203.0.113.1:1", clo_rpc_service_create(&config, &s));
    config.listen = NULL;
    config.slots = UINT32_MAX;
    refuses_with("slots 4294967295 and queue 0; each is at most", clo_rpc_service_create, &config, &s);
    config.slots = 0;
    config.allowed_count = 1;
    refuses_with("allowed", clo_rpc_service_create, &config, &s);
    config.allowed_count = 0;
    config.keys = "/nowhere/at/all";
    fails(CLO_ERR_IO, "table of keys", clo_rpc_service_create(&config, &s));
    config.size = 3;
    refuses_with("clo_rpc_service_config", clo_rpc_service_create, &config, &s);
    assert_null(s);
    ok(clo_rpc_service_create(NULL, &s));
    refuses(clo_rpc_service_add, s, NULL, answer, NULL, 0);
    refuses(clo_rpc_service_add, s, "", NULL, NULL, 0);
    memset(name, 'a', sizeof name);
    name[sizeof name - 1] = '\0';
    refuses_with("is no method", clo_rpc_service_add, s, name, answer, NULL, 0);
    refuses_with("is no method", clo_rpc_service_add, s, "a b", answer, NULL, 0);
    ok(clo_rpc_service_add(s, "a", answer, NULL, 0));
    refuses_with("has a handler", clo_rpc_service_add, s, "a", answer, NULL, 0);
    clo_rpc_service_stop(s);
    ok(clo_rpc_service_run(s)); /* ends at once */
    fails(CLO_ERR_STATE, "has run", clo_rpc_service_run(s));
    fails(CLO_ERR_STATE, "before the service runs", clo_rpc_service_add(s, "b", answer, NULL, 0));
    clo_rpc_service_destroy(s);
}

static void workflows_that_are_not(void **state)
{
    (void)state;
    static const char *const lists[] = {
        "", ";", "a", "=127.0.0.1:1", "a=", "a=here", "a=127.0.0.1:1;a=127.0.0.1:2", "a=1,,2", NULL};
    clo_rpc_config config = CLO_RPC_CONFIG_INIT;
    clo_rpc_workflow *w = NULL;
    const char *const route[1] = {NULL};

    refuses(clo_rpc_workflow_create, NULL, &w);
    refuses(clo_rpc_workflow_create, &config, &w);
    config.services = nobody;
    refuses(clo_rpc_workflow_create, &config, NULL);
    for (const char *const *at = lists; *at != NULL; at++) {
        config.services = *at;
        refuses_with("service", clo_rpc_workflow_create, &config, &w);
    }
    config.services = nobody;
    config.attempts = CLO_RPC_ATTEMPTS_MAX + 1;
    refuses_with("; they are at most", clo_rpc_workflow_create, &config, &w);
    config.attempts = 0;
    config.deadline_ns = -1;
    refuses_with("-1 ns", clo_rpc_workflow_create, &config, &w);
    config.deadline_ns = 0;
    config.hops = 1;
    refuses_with("route", clo_rpc_workflow_create, &config, &w);
    config.route = route;
    refuses_with("route", clo_rpc_workflow_create, &config, &w);
    config.hops = 0;
    config.size = 1;
    refuses_with("clo_rpc_config", clo_rpc_workflow_create, &config, &w);
    assert_null(w);
    clo_rpc_workflow_destroy(NULL);
    clo_rpc_workflow_cancel(NULL);
}

static void calls_that_are_not(void **state)
{
    (void)state;
    clo_rpc_call call;
    clo_rpc_workflow *w = make(&call);
    const uint32_t after[1] = {7};
    const int64_t early[1] = {-1};
    uint32_t id = 99;

    refuses(clo_rpc_workflow_add, NULL, &call, &id);
    refuses(clo_rpc_workflow_add, w, NULL, &id);
    refuses(clo_rpc_workflow_add_calls, NULL, &call, 1);
    refuses(clo_rpc_workflow_add_calls, w, NULL, 1);
    refuses(clo_rpc_workflow_after, NULL, 0, 1);
    call.service = call.here == NULL ? NULL : "c";
    refuses_with("none is called 'c'", clo_rpc_workflow_add, w, &call, &id);
    call.service = NULL;
    call.here = NULL;
    refuses(clo_rpc_workflow_add, w, &call, &id);
    call.service = "b1"; /* by its pattern */
    call.method = "no method";
    refuses_with("is no method", clo_rpc_workflow_add, w, &call, &id);
    call.method = NULL;
    call.body_bytes = 1;
    refuses(clo_rpc_workflow_add, w, &call, &id);
    call.body_bytes = SIZE_MAX;
    refuses_with("body_bytes", clo_rpc_workflow_add, w, &call, &id);
    call.body_bytes = 0;
    call.answer_bytes = CLO_RPC_BYTES_MAX + 1;
    refuses_with("answer_bytes", clo_rpc_workflow_add, w, &call, &id);
    call.answer_bytes = 0;
    call.after_count = 1;
    refuses(clo_rpc_workflow_add, w, &call, &id);
    call.after = after;
    refuses_with("call.after[0] is 7, but 0 calls were added", clo_rpc_workflow_add, w, &call, &id);
    call.after_count = 0;
    call.work_ns = INT64_MAX;
    refuses_with("work_ns", clo_rpc_workflow_add, w, &call, &id);
    call.work_ns = 0;
    call.effect = (clo_rpc_effect)9;
    refuses_with("effect", clo_rpc_workflow_add, w, &call, &id);
    call.effect = CLO_RPC_PURE;
    call.arrivals_ns = early;
    refuses_with("arrival 0", clo_rpc_workflow_add, w, &call, &id);
    call.arrivals_ns = NULL;
    call.here = answer;
    call.deadline_ns = 1;
    refuses_with("no deadline_ns", clo_rpc_workflow_add, w, &call, &id);
    call.here = NULL;
    call.deadline_ns = 0;
    call.instances = UINT32_MAX;
    fails(CLO_ERR_LIMIT, "at most", clo_rpc_workflow_add(w, &call, &id));
    call.instances = 0;
    call.size = 1;
    refuses_with("clo_rpc_call", clo_rpc_workflow_add, w, &call, &id);
    assert_int_equal(id, 99);
    fails(CLO_ERR_ARGUMENT, "no call", clo_rpc_workflow_seal(w));
    refuses_with("call 0 after call 0", clo_rpc_workflow_after, w, 0, 0);
    clo_rpc_workflow_destroy(w);
}

static void runs_that_are_not(void **state)
{
    (void)state;
    clo_rpc_call call;
    clo_rpc_workflow *w = make(&call);
    clo_rpc_result result = CLO_RPC_RESULT_INIT;
    const void *bytes = NULL;
    size_t count = 0;

    refuses(clo_rpc_workflow_seal, NULL);
    refuses(clo_rpc_workflow_run, NULL);
    refuses(clo_rpc_workflow_move, NULL, "a", 0, "127.0.0.1:1");
    refuses(clo_rpc_workflow_move, w, NULL, 0, "127.0.0.1:1");
    refuses(clo_rpc_workflow_move, w, "a", 0, NULL);
    refuses_with("no replica 2", clo_rpc_workflow_move, w, "a", 2, "127.0.0.1:1");
    refuses_with("no replica 0", clo_rpc_workflow_move, w, "c", 0, "127.0.0.1:1");
    refuses_with("'there'", clo_rpc_workflow_move, w, "a", 0, "there");
    ok(clo_rpc_workflow_move(w, "a", 0, "127.0.0.1:9"));
    ok(clo_rpc_workflow_add(w, &call, NULL));
    refuses_with("call 0 would wait for itself", clo_rpc_workflow_after, w, 0, 0);
    refuses(clo_rpc_workflow_answer, NULL, 0, 0, &bytes, &count);
    refuses(clo_rpc_workflow_answer, w, 0, 0, NULL, &count);
    refuses_with("instance 1 of call 0", clo_rpc_workflow_answer, w, 0, 1, &bytes, &count);
    fails(CLO_ERR_STATE, "no answers", clo_rpc_workflow_answer(w, 0, 0, &bytes, &count));
    refuses(clo_rpc_workflow_result, NULL, &result);
    refuses(clo_rpc_workflow_result, w, NULL);
    result.size = 3;
    refuses_with("clo_rpc_result", clo_rpc_workflow_result, w, &result);
    result.size = sizeof result;
    ok(clo_rpc_workflow_result(w, &result));
    assert_int_equal(result.status, CLO_ERR_STATE);
    assert_int_equal(clo_rpc_workflow_instances(NULL, 0), 0);
    assert_int_equal(clo_rpc_workflow_instances(w, 1), 0);
    assert_int_equal(clo_rpc_workflow_instances(w, 0), 1);
    assert_int_equal(clo_rpc_workflow_latency_ns(NULL, 0, 0), -1);
    assert_int_equal(clo_rpc_workflow_latency_ns(w, 0, 0), -1);
    ok(clo_rpc_workflow_seal(w));
    fails(CLO_ERR_STATE, "is sealed", clo_rpc_workflow_seal(w));
    fails(CLO_ERR_STATE, "is sealed", clo_rpc_workflow_add(w, &call, NULL));
    fails(CLO_ERR_STATE, "is sealed", clo_rpc_workflow_after(w, 0, 1));
    ok(clo_rpc_workflow_run(w));
    ok(clo_rpc_workflow_answer(w, 0, 0, &bytes, &count));
    assert_int_equal(count, 1);
    clo_rpc_workflow_cancel(w);
    fails(CLO_ERR_CANCELLED, "cancelled", clo_rpc_workflow_run(w));
    clo_rpc_workflow_destroy(w);
}

/* Circles, the same edge twice, a journal that is none. */
static void seals_that_fail(void **state)
{
    (void)state;
    clo_rpc_config config = CLO_RPC_CONFIG_INIT;
    clo_rpc_call call;
    clo_rpc_workflow *w = make(&call);

    ok(clo_rpc_workflow_add(w, &call, NULL));
    ok(clo_rpc_workflow_add(w, &call, NULL));
    ok(clo_rpc_workflow_after(w, 0, 1));
    ok(clo_rpc_workflow_after(w, 1, 0));
    fails(CLO_ERR_CYCLE, "", clo_rpc_workflow_seal(w));
    fails(CLO_ERR_STATE, "has failed", clo_rpc_workflow_run(w));
    clo_rpc_workflow_destroy(w);
    config.services = nobody;
    config.journal = "/nowhere/at/all";
    ok(clo_rpc_workflow_create(&config, &w));
    ok(clo_rpc_workflow_add(w, &call, NULL));
    fails(CLO_ERR_IO, "/nowhere/at/all", clo_rpc_workflow_run(w));
    clo_rpc_workflow_destroy(w);
    config.keeps_going = 1;
    ok(clo_rpc_workflow_create(&config, &w));
    ok(clo_rpc_workflow_add(w, &call, NULL));
    fails(CLO_ERR_ARGUMENT, "keeps_going", clo_rpc_workflow_run(w));
    clo_rpc_workflow_destroy(w);
    config.keeps_going = 0;
    config.journal = NULL;
    config.slots = CLO_EXECUTORS_MAX;
    ok(clo_rpc_workflow_create(&config, &w));
    ok(clo_rpc_workflow_add(w, &call, NULL));
    fails(CLO_ERR_LIMIT, "slots", clo_rpc_workflow_run(w));
    clo_rpc_workflow_destroy(w);
}

static clo_status make_and_drop(void *context)
{
    const uint32_t after[1] = {0};
    clo_rpc_config config = CLO_RPC_CONFIG_INIT;
    clo_rpc_call call = CLO_RPC_CALL_INIT;
    clo_rpc_workflow *w = NULL;

    (void)context;
    config.services = nobody;
    config.journal = "never opened";
    call.service = "a";
    clo_status status = clo_rpc_workflow_create(&config, &w);
    for (uint32_t i = 0; i < 20 && status == CLO_OK; i++) {
        call.after = after;
        call.after_count = i > 0;
        status = clo_rpc_workflow_add(w, &call, NULL);
    }
    clo_rpc_workflow_destroy(w);
    return status;
}

static clo_status serve_and_drop(void *context)
{
    static const char *const allowed[2] = {"10.*", "127.*"};
    clo_rpc_service_config config = CLO_RPC_SERVICE_CONFIG_INIT;
    clo_rpc_service *s = NULL;

    (void)context;
    config.allowed = allowed;
    config.allowed_count = 2;
    clo_status status = clo_rpc_service_create(&config, &s);
    if (status == CLO_OK)
        status = clo_rpc_service_add(s, "a", answer, NULL, 1);
    clo_rpc_service_destroy(s);
    return status;
}

static void no_memory(void **state)
{
    (void)state;
    assert_true(fault_each(make_and_drop, NULL) > 20);
    assert_true(fault_each(serve_and_drop, NULL) > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(services_that_are_not), cmocka_unit_test(workflows_that_are_not),
        cmocka_unit_test(calls_that_are_not),    cmocka_unit_test(runs_that_are_not),
        cmocka_unit_test(seals_that_fail),       cmocka_unit_test(no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
