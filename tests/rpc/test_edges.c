/* What the library does at its edges: large calls that share a connection, functions of this process that fail, names
 * of files and endpoints that are none, a service without memory, endpoints that are more than the client keeps, a
 * service that is forked, journals of small answers with much room. */
#include "fault.h"
#include "support.h"

#include <arpa/inet.h>
#include <clotho/rpc.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A service on a thread. */
typedef struct served {
    clo_rpc_service *service;
    pthread_t thread;
    char list[CLO_RPC_NAME_BYTES + 4]; /* for clo_rpc_config.services */
} served;

static clo_status echo(void *argument, const clo_rpc_request *r, clo_rpc_answer *a)
{
    (void)argument;
    a->count = r->body_bytes;
    if (a->count > 0 && a->count <= a->room)
        memcpy(a->bytes, r->body, a->count);
    return CLO_OK;
}

static void *serve(void *argument)
{
    ok(clo_rpc_service_run(argument));
    return NULL;
}

static void start(served *s)
{
    ok(clo_rpc_service_create(NULL, &s->service));
    ok(clo_rpc_service_add(s->service, "", echo, NULL, 1));
    snprintf(s->list, sizeof s->list, "s=%s", clo_rpc_service_endpoint(s->service));
    assert_int_equal(pthread_create(&s->thread, NULL, serve, s->service), 0);
}

static void stop(served *s)
{
    clo_rpc_service_stop(s->service);
    pthread_join(s->thread, NULL);
    clo_rpc_service_destroy(s->service);
}

static clo_rpc_workflow *make(const char *services)
{
    clo_rpc_config config = CLO_RPC_CONFIG_INIT;
    clo_rpc_workflow *w = NULL;

    config.services = services;
    ok(clo_rpc_workflow_create(&config, &w));
    return w;
}

/* As many as a replica gets at once, each way: none may close the connection of all. */
static void large_calls_share_a_connection(void **state)
{
    (void)state;
    enum { CALLS = 8, BYTES = 14 << 20 };
    served s;
    unsigned char *body = calloc(1, BYTES);
    const void *bytes = NULL;
    size_t count = 0;
    clo_rpc_result result = CLO_RPC_RESULT_INIT;
    clo_rpc_call call = CLO_RPC_CALL_INIT;

    start(&s);
    clo_rpc_workflow *w = make(s.list);
    call.service = "s";
    call.body = body;
    call.body_bytes = call.answer_bytes = BYTES;
    for (unsigned char i = 0; i < CALLS; i++) {
        body[BYTES - 1] = i;
        ok(clo_rpc_workflow_add(w, &call, NULL));
    }
    ok(clo_rpc_workflow_run(w));
    for (uint32_t i = 0; i < CALLS; i++) {
        ok(clo_rpc_workflow_answer(w, i, 0, &bytes, &count));
        assert_int_equal(count, BYTES);
        assert_int_equal(((const unsigned char *)bytes)[BYTES - 1], i);
    }
    ok(clo_rpc_workflow_result(w, &result));
    assert_int_equal(result.retries, 0);
    clo_rpc_workflow_destroy(w);
    stop(&s);
    free(body);
}

static clo_status explain(void *argument, const clo_rpc_request *r, clo_rpc_answer *a)
{
    (void)r;
    snprintf(a->text, sizeof a->text, "%s", (const char *)argument);
    a->count = argument != NULL ? 0 : a->room + 1;
    return argument != NULL ? CLO_ERR_ARGUMENT : CLO_OK;
}

static void why_a_function_of_this_process_failed_is_told(void **state)
{
    (void)state;
    static char why[] = "the reason";
    clo_rpc_call call = CLO_RPC_CALL_INIT;
    clo_rpc_result result = CLO_RPC_RESULT_INIT;
    clo_rpc_workflow *w = make("s=127.0.0.1:1"); /* nobody is asked */

    call.name = "mine";
    call.here = explain;
    call.here_argument = why;
    ok(clo_rpc_workflow_add(w, &call, NULL));
    for (uint64_t run = 1; run < 3; run++) {
        fails(CLO_ERR_TASK, "task mine, instance 0, in this process: the reason", clo_rpc_workflow_run(w));
        ok(clo_rpc_workflow_result(w, &result));
        assert_non_null(strstr(result.failure, "the reason"));
        assert_int_equal(result.failures, run);
    }
    clo_rpc_workflow_destroy(w);
    w = make("s=127.0.0.1:1");
    call.here_argument = NULL;
    call.answer_bytes = 7;
    ok(clo_rpc_workflow_add(w, &call, NULL));
    fails(CLO_ERR_TASK, "the answer has 8 bytes, and there is room for 7", clo_rpc_workflow_run(w));
    clo_rpc_workflow_destroy(w);
}

static void others_go_on_where_a_function_of_this_process_fails(void **state)
{
    (void)state;
    static char why[] = "the reason";
    const uint32_t after[1] = {0};
    clo_rpc_config config = CLO_RPC_CONFIG_INIT;
    clo_rpc_call call = CLO_RPC_CALL_INIT;
    clo_rpc_result result = CLO_RPC_RESULT_INIT;
    clo_rpc_workflow *w = NULL;
    served s;
    const void *bytes = NULL;
    size_t count = 0;

    start(&s);
    config.services = s.list;
    config.keeps_going = 1;
    ok(clo_rpc_workflow_create(&config, &w));
    call.here = explain;
    call.here_argument = why;
    ok(clo_rpc_workflow_add(w, &call, NULL));
    call = (clo_rpc_call)CLO_RPC_CALL_INIT;
    call.service = "s";
    call.body = "b";
    call.body_bytes = 1;
    call.after = after;
    call.after_count = 1;
    ok(clo_rpc_workflow_add(w, &call, NULL));
    ok(clo_rpc_workflow_run(w));
    ok(clo_rpc_workflow_answer(w, 0, 0, &bytes, &count));
    assert_int_equal(count, 0);
    ok(clo_rpc_workflow_answer(w, 1, 0, &bytes, &count));
    assert_int_equal(count, 1);
    ok(clo_rpc_workflow_result(w, &result));
    assert_int_equal(result.failures, 1);
    assert_non_null(strstr(result.failure, "the reason"));
    clo_rpc_workflow_destroy(w);
    stop(&s);
}

static void names_that_are_none(void **state)
{
    (void)state;
    clo_rpc_config config = CLO_RPC_CONFIG_INIT;
    clo_rpc_service_config service = CLO_RPC_SERVICE_CONFIG_INIT;
    clo_rpc_call call = CLO_RPC_CALL_INIT;
    clo_rpc_workflow *w = NULL;
    clo_rpc_service *s = NULL;

    call.here = echo;
    config.services = "s=127.0.0.1:1";
    for (const char *const *at = (const char *const[]){"", ":memory:", NULL}; *at != NULL; at++) {
        config.journal = service.keys = *at; /* SQLite would take it for memory, which outlives nothing */
        ok(clo_rpc_workflow_create(&config, &w));
        ok(clo_rpc_workflow_add(w, &call, NULL));
        fails(CLO_ERR_IO, "is no path of a file", clo_rpc_workflow_run(w));
        clo_rpc_workflow_destroy(w);
        fails(CLO_ERR_IO, "is no path of a file", clo_rpc_service_create(&service, &s));
    }
    service.keys = NULL;
    service.listen = "127.0.0.1:";
    fails(CLO_ERR_ARGUMENT, "is no ADDRESS:PORT", clo_rpc_service_create(&service, &s));
}

/* A connection of nobody's, which is closed by the other end. */
static void expect_closed(const char *endpoint)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    const struct timeval patience = {.tv_sec = 60};
    char byte;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    at.sin_port = htons((uint16_t)atoi(strrchr(endpoint, ':') + 1));
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&at, sizeof at), 0);
    ssize_t count = read(fd, &byte, 1);
    if (count != 0)
        fail_msg("it is not closed: %s", strerror(errno));
    close(fd);
}

static void ask_once(const served *s)
{
    clo_rpc_workflow *w = make(s->list);
    clo_rpc_call call = CLO_RPC_CALL_INIT;

    call.service = "s";
    ok(clo_rpc_workflow_add(w, &call, NULL));
    ok(clo_rpc_workflow_run(w));
    clo_rpc_workflow_destroy(w);
}

static void a_service_without_memory_listens_on(void **state)
{
    (void)state;
    served s;

    for (uint64_t n = 1; n < 3; n++) { /* the connection, and what carries its frames */
        start(&s); /* a new one: where another connection is turned away, the next waits, and has memory then */
        ask_once(&s);
        fault_fail_nth(n);
        expect_closed(clo_rpc_service_endpoint(s.service));
        assert_true(fault_happened());
        fault_fail_nth(0);
        ask_once(&s);
        stop(&s);
    }
}

enum { GROUPS = 14 };

/* All replicas of all groups move to names that were never there. */
static clo_status move_all(void *argument, const clo_rpc_request *r, clo_rpc_answer *a)
{
    char name[8], endpoint[64];

    (void)a;
    for (uint32_t g = 0; g < GROUPS; g++)
        for (uint32_t i = 0; i < CLO_RPC_REPLICAS_MAX; i++) {
            snprintf(name, sizeof name, "b%u", g);
            snprintf(endpoint, sizeof endpoint, "127.%u.%u.%u:1", r->task, g, i);
            ok(clo_rpc_workflow_move(*(clo_rpc_workflow **)argument, name, i, endpoint));
        }
    return CLO_OK;
}

/* The number of an endpoint that nobody has called goes to another name; its own calls still go to it. */
static void endpoints_that_are_many_stay_apart(void **state)
{
    (void)state;
    static char list[1 << 16];
    served one, other;
    clo_rpc_config config = CLO_RPC_CONFIG_INIT;
    clo_rpc_workflow *w = NULL;
    clo_rpc_call call = CLO_RPC_CALL_INIT;

    start(&one);
    start(&other);
    size_t at = (size_t)snprintf(list, sizeof list, "%s;t=%s", one.list, clo_rpc_service_endpoint(other.service));
    for (uint32_t g = 0; g < GROUPS; g++)
        for (uint32_t i = 0; i < CLO_RPC_REPLICAS_MAX; i++)
            at += i == 0 ? (size_t)snprintf(list + at, sizeof list - at, ";b%u=127.0.%u.0:1", g, g)
                         : (size_t)snprintf(list + at, sizeof list - at, ",127.0.%u.%u:1", g, i);
    config.services = list;
    config.slots = 1;
    ok(clo_rpc_workflow_create(&config, &w));
    for (uint32_t i = 0; i < 6; i++) { /* the call after each round of moves has them taken before the next */
        const uint32_t after[1] = {i - 1};
        call.service = i == 5 ? "t" : "s";
        call.here = i % 2 == 1 && i < 5 ? move_all : NULL;
        call.here_argument = &w;
        call.after = after;
        call.after_count = i > 0;
        ok(clo_rpc_workflow_add(w, &call, NULL));
    }
    ok(clo_rpc_workflow_run(w));
    clo_rpc_workflow_destroy(w);
    stop(&one);
    stop(&other);
}

static clo_status run_again(void *argument, const clo_rpc_request *r, clo_rpc_answer *a)
{
    (void)r;
    (void)a;
    fails(CLO_ERR_STATE, "the workflow runs", clo_rpc_workflow_run(*(clo_rpc_workflow **)argument));
    return CLO_OK;
}

static void a_run_within_a_run_is_refused(void **state)
{
    (void)state;
    const uint32_t after[1] = {0};
    served s;
    clo_rpc_call call = CLO_RPC_CALL_INIT;

    start(&s);
    clo_rpc_workflow *w = make(s.list);
    call.service = "s";
    ok(clo_rpc_workflow_add(w, &call, NULL));
    call.here = run_again;
    call.here_argument = &w;
    call.after = after;
    call.after_count = 1;
    ok(clo_rpc_workflow_add(w, &call, NULL));
    for (int i = 0; i < 2; i++) {
        ok(clo_rpc_workflow_run(w));
        assert_true(clo_rpc_workflow_latency_ns(w, 0, 0) >= 0); /* the other one has changed nothing */
    }
    clo_rpc_workflow_destroy(w);
    stop(&s);
}

/* In a process of its own, which can be killed: the call that it has is one that failed. */
static void a_service_may_be_forked(void **state)
{
    (void)state;
    char endpoint[CLO_RPC_NAME_BYTES], list[CLO_RPC_NAME_BYTES + 4];
    int64_t process = 0;
    clo_rpc_call call = CLO_RPC_CALL_INIT;
    const void *bytes = NULL;
    size_t count = 0;

    ok(clo_rpc_service_fork(NULL, echo, NULL, endpoint, &process));
    snprintf(list, sizeof list, "s=%s", endpoint);
    clo_rpc_workflow *w = make(list);
    call.service = "s";
    call.body = "b";
    call.body_bytes = 1;
    ok(clo_rpc_workflow_add(w, &call, NULL));
    ok(clo_rpc_workflow_run(w));
    ok(clo_rpc_workflow_answer(w, 0, 0, &bytes, &count));
    assert_int_equal(count, 1);
    assert_int_equal(kill((pid_t)process, SIGKILL), 0);
    assert_int_equal(waitpid((pid_t)process, NULL, 0), process);
    fails(CLO_ERR_TASK, endpoint, clo_rpc_workflow_run(w));
    clo_rpc_workflow_destroy(w);
}

/* The journal has answers, not the room that calls have for them. */
static void a_journal_has_no_more_than_answers(void **state)
{
    (void)state;
    char path[] = "/tmp/clotho-test-rpc-XXXXXX";
    served s;
    clo_rpc_config config = CLO_RPC_CONFIG_INIT;
    clo_rpc_call call = CLO_RPC_CALL_INIT;
    clo_rpc_result result[2] = {CLO_RPC_RESULT_INIT, CLO_RPC_RESULT_INIT};
    struct stat file;
    const void *bytes = NULL;
    size_t count = 0;

    close(mkstemp(path));
    unlink(path);
    start(&s);
    config.services = s.list;
    config.journal = path;
    call.service = "s";
    call.body = "ab";
    call.body_bytes = 2;
    call.answer_bytes = 4 << 20;
    for (int i = 0; i < 2; i++) { /* the second one has it from the journal */
        clo_rpc_workflow *w = NULL;
        ok(clo_rpc_workflow_create(&config, &w));
        ok(clo_rpc_workflow_add(w, &call, NULL));
        ok(clo_rpc_workflow_run(w));
        ok(clo_rpc_workflow_answer(w, 0, 0, &bytes, &count));
        assert_int_equal(count, 2);
        assert_memory_equal(bytes, "ab", 2);
        ok(clo_rpc_workflow_result(w, &result[i]));
        clo_rpc_workflow_destroy(w);
    }
    stop(&s);
    assert_int_equal(result[1].done_before, 1);
    assert_int_equal(result[1].output_hash, result[0].output_hash);
    assert_int_equal(stat(path, &file), 0);
    assert_true(file.st_size < 1 << 20);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_service_may_be_forked), /* first: there is one thread */
        cmocka_unit_test(large_calls_share_a_connection),
        cmocka_unit_test(why_a_function_of_this_process_failed_is_told),
        cmocka_unit_test(others_go_on_where_a_function_of_this_process_fails),
        cmocka_unit_test(names_that_are_none),
        cmocka_unit_test(a_service_without_memory_listens_on),
        cmocka_unit_test(endpoints_that_are_many_stay_apart),
        cmocka_unit_test(a_run_within_a_run_is_refused),
        cmocka_unit_test(a_journal_has_no_more_than_answers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
