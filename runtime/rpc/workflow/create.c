/* create.c - a workflow without calls, and its end. */
#include "base/memory.h"
#include "base/status.h"
#include "rpc/workflow/state.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define TIME_MAX_NS (INT64_C(1000000000) * 1000000)

static clo_status check_numbers(const clo_rpc_config *c)
{
    const int64_t times[] = {c->link_ns, c->deadline_ns, c->backoff_ns, c->backoff_max_ns, c->attempt_ns, c->hedge_ns};

    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        if (times[i] < 0 || times[i] > TIME_MAX_NS)
            return clo_fail(CLO_ERR_ARGUMENT, "a time of clo_rpc_config is %lld ns; give 0 to %lld",
                            (long long)times[i], (long long)TIME_MAX_NS);
    if (c->slots > CLO_EXECUTORS_MAX || c->attempts > CLO_RPC_ATTEMPTS_MAX)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_rpc_config has slots %u and attempts %u; they are at most %u and %u",
                        c->slots, c->attempts, CLO_EXECUTORS_MAX, CLO_RPC_ATTEMPTS_MAX);
    if (c->hops > CLO_RPC_HOPS_MAX || (c->hops > 0 && c->route == NULL))
        return clo_fail(CLO_ERR_ARGUMENT, "a route has %u endpoints at most", CLO_RPC_HOPS_MAX);
    return CLO_OK;
}

static void set_defaults(clo_rpc_config *c)
{
    c->slots = c->slots > 0 ? c->slots : 8;
    c->attempts = c->attempts > 0 ? c->attempts : CLO_RPC_ATTEMPTS_MAX;
    c->backoff_ns = c->backoff_ns > 0 ? c->backoff_ns : 10000000;
    c->backoff_max_ns = c->backoff_max_ns > 0 ? c->backoff_max_ns : 1000000000;
}

static clo_status copy_texts(clo_rpc_workflow *w)
{
    const clo_rpc_config *c = &w->config;

    for (uint32_t i = 0; i < c->hops; i++) {
        if (c->route[i] == NULL || strnlen(c->route[i], CLO_RPC_NAME_BYTES) == CLO_RPC_NAME_BYTES)
            return clo_fail(CLO_ERR_ARGUMENT, "route: endpoint %u is NULL, or has %u bytes or more", i,
                            CLO_RPC_NAME_BYTES);
        if ((w->hops[i] = clo_duplicate(c->route[i])) == NULL)
            return clo_fail_memory("a workflow");
    }
    if (c->journal != NULL && (w->journal_path = clo_duplicate(c->journal)) == NULL)
        return clo_fail_memory("a workflow");
    return clo_rpc_services_read(w, c->services);
}

clo_status clo_rpc_workflow_create(const clo_rpc_config *config, clo_rpc_workflow **out)
{
    if (config == NULL || out == NULL)
        return clo_fail_null("clo_rpc_workflow_create", "config or out");
    clo_rpc_workflow *w = clo_allocate(1, sizeof *w);
    if (w == NULL)
        return clo_fail_memory("a workflow");
    w->config = (clo_rpc_config)CLO_RPC_CONFIG_INIT;
    w->cancelled_fd = -1;
    pthread_mutex_init(&w->runs, NULL);
    w->status = CLO_ERR_STATE;
    clo_status status = clo_config_read(&w->config, sizeof w->config, config, "clo_rpc_config");
    if (status == CLO_OK && w->config.services == NULL)
        status = clo_fail_null("clo_rpc_workflow_create", "config.services");
    if (status == CLO_OK)
        status = check_numbers(&w->config);
    if (status == CLO_OK)
        status = copy_texts(w);
    if (status == CLO_OK && (w->cancelled_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0)
        status = clo_fail(CLO_ERR_SYSTEM, "a workflow's descriptor cannot be made: %s", strerror(errno));
    if (status != CLO_OK) {
        clo_rpc_workflow_destroy(w);
        return status;
    }
    set_defaults(&w->config);
    *out = w;
    return CLO_OK;
}

void clo_rpc_workflow_destroy(clo_rpc_workflow *workflow)
{
    clo_rpc_workflow *w = workflow;

    if (w == NULL)
        return;
    clo_rpc_seal_undo(w);
    for (size_t i = 0; i < w->methods_count; i++) {
        clo_free((char *)(uintptr_t)w->methods[i].name);
        clo_free((void *)(uintptr_t)w->methods[i].body);
        clo_free((void *)(uintptr_t)w->methods[i].arrivals_us);
    }
    clo_free(w->methods);
    clo_free(w->edges);
    for (uint32_t i = 0; i < CLO_RPC_HOPS_MAX; i++)
        clo_free(w->hops[i]);
    clo_free(w->journal_path);
    if (w->cancelled_fd >= 0)
        close(w->cancelled_fd);
    pthread_mutex_destroy(&w->runs);
    clo_free(w);
}
