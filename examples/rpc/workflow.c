/* workflow.c - a workflow of one's own: five calls, a hedge, deadlines, and a service that is killed in the middle.
 *
 *   find ---> quote ------------.
 *                 '---> pack ---+--> pay (once) ---> mail
 *
 * Two processes are the service "shop", a third one is "bank". The first attempt of quote takes too long, so the other
 * shop gets a hedge. The first attempt of pack kills the shop that has it, and the other one answers. */
#include <clotho/rpc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static clo_status answer(void *argument, const clo_rpc_request *r, clo_rpc_answer *a)
{
    (void)argument;
    if (strcmp(r->method, "quote") == 0 && r->attempt == 1)
        sleep(5);
    if (strcmp(r->method, "pack") == 0 && r->attempt == 1)
        raise(SIGKILL);
    a->count = (size_t)snprintf(a->bytes, a->room, "%s(%.*s)", r->method, (int)r->body_bytes, (const char *)r->body);
    return CLO_OK;
}

#define AFTER(...) \
    .after = (const uint32_t[]){__VA_ARGS__}, .after_count = sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)
#define CALL(name, of) .size = sizeof(clo_rpc_call), .service = (of), .method = (name)

static const clo_rpc_call calls[] = {{CALL("find", "shop"), .body = "a book", .body_bytes = 6},
                                     {CALL("quote", "shop"), AFTER(0), .deadline_ns = 30000000000},
                                     {CALL("pack", "shop"), AFTER(1)},
                                     {CALL("pay", "bank"), AFTER(1, 2), .effect = CLO_RPC_KEYED},
                                     {CALL("mail", "bank"), AFTER(3)}};

int main(void)
{
    char services[512], end[3][CLO_RPC_NAME_BYTES] = {""};
    clo_rpc_config config = {sizeof config, .services = services, .deadline_ns = 60000000000, .hedge_ns = 50000000};
    clo_rpc_result result = CLO_RPC_RESULT_INIT;
    clo_rpc_workflow *w = NULL;
    const void *bytes = NULL;
    size_t count = 0;
    clo_status status = CLO_OK;

    for (int i = 0; i < 3 && status == CLO_OK; i++)
        status = clo_rpc_service_fork(NULL, answer, NULL, end[i], NULL);
    snprintf(services, sizeof services, "shop=%s,%s;bank=%s", end[0], end[1], end[2]);
    if (status == CLO_OK)
        status = clo_rpc_workflow_create(&config, &w);
    for (size_t i = 0; status == CLO_OK && i < sizeof calls / sizeof calls[0]; i++)
        status = clo_rpc_workflow_add(w, &calls[i], NULL);
    if (status != CLO_OK || clo_rpc_workflow_run(w) != CLO_OK ||
        clo_rpc_workflow_answer(w, 4, 0, &bytes, &count) != CLO_OK || clo_rpc_workflow_result(w, &result) != CLO_OK)
        return fprintf(stderr, "workflow: %s\n", clo_last_error()), 1;
    printf("%.*s\n%llu calls, %llu hedges\n", (int)count, (const char *)bytes, (unsigned long long)result.calls,
           (unsigned long long)result.hedges);
    clo_rpc_workflow_destroy(w);
    return 0;
}
