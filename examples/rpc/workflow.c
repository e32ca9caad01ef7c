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

static const clo_rpc_call calls[] = {{CLO_RPC_CALL("shop", "find"), .body = "a book", .body_bytes = 6},
                                     {CLO_RPC_CALL("shop", "quote"), CLO_RPC_AFTER(0), .deadline_ns = 30000000000},
                                     {CLO_RPC_CALL("shop", "pack"), CLO_RPC_AFTER(1)},
                                     {CLO_RPC_CALL("bank", "pay"), CLO_RPC_AFTER(1, 2), .effect = CLO_RPC_KEYED},
                                     {CLO_RPC_CALL("bank", "mail"), CLO_RPC_AFTER(3)}};

int main(void)
{
    char services[512], end[3][CLO_RPC_NAME_BYTES];
    clo_rpc_config config = {sizeof config, .services = services, .deadline_ns = 60000000000, .hedge_ns = 50000000};
    clo_rpc_result result = CLO_RPC_RESULT_INIT;
    clo_rpc_workflow *w = NULL;
    const void *bytes = NULL;
    size_t count = 0;

    for (int i = 0; i < 3; i++)
        if (clo_rpc_service_fork(NULL, answer, NULL, end[i], NULL) != CLO_OK)
            return fprintf(stderr, "workflow: %s\n", clo_last_error()), 1;
    snprintf(services, sizeof services, "shop=%s,%s;bank=%s", end[0], end[1], end[2]);
    if (clo_rpc_workflow_create(&config, &w) || clo_rpc_workflow_add_calls(w, calls, 5) || clo_rpc_workflow_run(w) ||
        clo_rpc_workflow_answer(w, 4, 0, &bytes, &count) || clo_rpc_workflow_result(w, &result))
        return fprintf(stderr, "workflow: %s\n", clo_last_error()), 1;
    printf("%.*s\n%u calls, %u hedges\n", (int)count, (const char *)bytes, (unsigned)result.calls,
           (unsigned)result.hedges);
    clo_rpc_workflow_destroy(w);
    return 0;
}
