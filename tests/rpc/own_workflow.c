/* own_workflow.c - services and a workflow of one's own, for test_own.py.
 *
 *   own_workflow serve ADDRESS:PORT KEYS FILE   a service; its short handler writes its effect into the table of keys, the
 *                                               other one appends a line to FILE
 *   own_workflow run SERVICES JOURNAL           twelve calls, eight with an effect; prints the answer of the last one */
#include <clotho/rpc.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CALLS = 12, DELAY_NS = 5000000 };

/* The signal may come to any thread. */
static clo_rpc_service *_Atomic running;
static clo_rpc_workflow *_Atomic run_now;

static void on_signal(int number)
{
    (void)number;
    clo_rpc_service_stop(running);
    clo_rpc_workflow_cancel(run_now);
}

static int fail(void)
{
    fprintf(stderr, "own_workflow: %s\n", clo_last_error());
    return 1;
}

static void say(const clo_rpc_request *r, clo_rpc_answer *a)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < r->body_bytes; i++)
        hash = (hash ^ ((const unsigned char *)r->body)[i]) * UINT64_C(1099511628211);
    a->count = (size_t)snprintf(a->bytes, a->room, "%s %u %016" PRIx64 "\n", r->method, r->task, hash);
}

static clo_status look(void *argument, const clo_rpc_request *r, clo_rpc_answer *a)
{
    (void)argument;
    say(r, a);
    return CLO_OK;
}

/* Its effect is a row, in the transaction of its key. */
static clo_status book(void *argument, const clo_rpc_request *r, clo_rpc_answer *a)
{
    char sql[256];

    (void)argument;
    if (r->database == NULL)
        return CLO_ERR_STATE;
    snprintf(sql, sizeof sql,
             "CREATE TABLE IF NOT EXISTS did(run INTEGER, task INTEGER, times INTEGER, PRIMARY KEY(run, task));"
             "INSERT INTO did VALUES(%" PRId64 ", %u, 1) ON CONFLICT DO UPDATE SET times = times + 1",
             (int64_t)r->run, r->task);
    if (sqlite3_exec(r->database, sql, NULL, NULL, NULL) != SQLITE_OK)
        return CLO_ERR_IO;
    say(r, a);
    return CLO_OK;
}

/* Its effect is a line of a file. On a thread of the pool, and it takes its time. */
static clo_status note(void *argument, const clo_rpc_request *r, clo_rpc_answer *a)
{
    char line[64];
    int fd = open(argument, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    int count = snprintf(line, sizeof line, "%" PRIu64 " %u\n", r->run, r->task);

    if (fd < 0 || write(fd, line, (size_t)count) != count)
        return CLO_ERR_IO;
    close(fd);
    usleep(DELAY_NS / 1000);
    say(r, a);
    return CLO_OK;
}

static void wait_a_little(void *argument, const clo_rpc_request *r, clo_rpc_fault *fault)
{
    (void)argument;
    (void)r;
    fault->delay_ns = DELAY_NS;
}

static int serve(char **words)
{
    clo_rpc_service_config config = CLO_RPC_SERVICE_CONFIG_INIT;
    clo_rpc_service *service = NULL;

    config.listen = words[0];
    config.keys = strcmp(words[1], "-") != 0 ? words[1] : NULL;
    config.fault = wait_a_little;
    if (clo_rpc_service_create(&config, &service) != CLO_OK ||
        clo_rpc_service_add(service, "look", look, NULL, 1) != CLO_OK ||
        clo_rpc_service_add(service, "book", book, NULL, 1) != CLO_OK ||
        clo_rpc_service_add(service, "note", note, words[2], 0) != CLO_OK)
        return fail();
    running = service;
    printf("listening %s\n", clo_rpc_service_endpoint(service));
    fflush(stdout);
    if (clo_rpc_service_run(service) != CLO_OK)
        return fail();
    running = NULL;
    clo_rpc_service_destroy(service);
    return 0;
}

/* Each call has the answers of the two before it; the third of three has no effect. */
static clo_status add_calls(clo_rpc_workflow *w)
{
    static const char *const methods[3] = {"book", "note", "look"}, *const services[3] = {"books", "notes", "books"};
    clo_status status = CLO_OK;

    for (uint32_t i = 0; i < CALLS && status == CLO_OK; i++) {
        const uint32_t after[2] = {i - 1, i - 2};
        clo_rpc_call call = CLO_RPC_CALL_INIT;
        call.service = services[i % 3];
        call.method = methods[i % 3];
        call.effect = i % 3 == 2 ? CLO_RPC_PURE : CLO_RPC_KEYED;
        call.body = "begin";
        call.body_bytes = i == 0 ? 5 : 0;
        call.after = after;
        call.after_count = i < 2 ? i : 2;
        status = clo_rpc_workflow_add(w, &call, NULL);
    }
    return status;
}

static int run(char **words)
{
    clo_rpc_config config = CLO_RPC_CONFIG_INIT;
    clo_rpc_workflow *workflow = NULL;
    const void *bytes = "";
    size_t count = 0;

    config.services = words[0];
    config.journal = words[1];
    config.backoff_ns = 50000000;
    bool is_good = clo_rpc_workflow_create(&config, &workflow) == CLO_OK && add_calls(workflow) == CLO_OK;
    run_now = is_good ? workflow : NULL;
    is_good = is_good && clo_rpc_workflow_run(workflow) == CLO_OK &&
              clo_rpc_workflow_answer(workflow, CALLS - 1, 0, &bytes, &count) == CLO_OK;
    int code = is_good ? 0 : fail();
    fwrite(bytes, 1, count, stdout);
    run_now = NULL;
    clo_rpc_workflow_destroy(workflow);
    return code;
}

int main(int argc, char **argv)
{
    struct sigaction stop = {.sa_handler = on_signal};

    sigaction(SIGTERM, &stop, NULL);
    if (argc == 5 && strcmp(argv[1], "serve") == 0)
        return serve(argv + 2);
    if (argc == 4 && strcmp(argv[1], "run") == 0)
        return run(argv + 2);
    fprintf(stderr, "usage: own_workflow serve ADDRESS:PORT KEYS FILE | run SERVICES JOURNAL\n");
    return 2;
}
