/* outside_rpc.c - libclotho-rpc and libclotho: a service that listens, and a workflow whose only call is answered here. */
#include <clotho/rpc.h>

#include <stdio.h>
#include <string.h>

static clo_status answer(void *argument, const clo_rpc_request *request, clo_rpc_answer *out)
{
    (void)argument;
    if (request->body_bytes > out->room)
        return CLO_ERR_ARGUMENT;
    memcpy(out->bytes, request->body, request->body_bytes);
    out->count = request->body_bytes;
    return CLO_OK;
}

int main(void)
{
    clo_rpc_service *service = NULL;
    clo_rpc_workflow *workflow = NULL;
    clo_rpc_config config = CLO_RPC_CONFIG_INIT;
    clo_rpc_call call = CLO_RPC_CALL_INIT;
    const void *bytes = NULL;
    size_t count = 0;
    char services[256];
    int exit_status = 1;

    call.service = "me";
    call.body = "hello";
    call.body_bytes = 5;
    call.here = answer;
    config.services = services;
    if (clo_rpc_service_create(NULL, &service) == CLO_OK) {
        snprintf(services, sizeof services, "me=%s", clo_rpc_service_endpoint(service));
        if (clo_rpc_service_add(service, "", answer, NULL, 1) == CLO_OK &&
            clo_rpc_workflow_create(&config, &workflow) == CLO_OK &&
            clo_rpc_workflow_add(workflow, &call, NULL) == CLO_OK && clo_rpc_workflow_run(workflow) == CLO_OK &&
            clo_rpc_workflow_answer(workflow, 0, 0, &bytes, &count) == CLO_OK)
            exit_status = count != 5 || memcmp(bytes, "hello", 5) != 0;
    }
    if (exit_status != 0)
        fprintf(stderr, "outside_rpc: %s\n", clo_last_error());
    clo_rpc_workflow_destroy(workflow);
    clo_rpc_service_destroy(service);
    return exit_status;
}
