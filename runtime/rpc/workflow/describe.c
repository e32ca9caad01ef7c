/* describe.c - calls and their dependencies are added to a workflow. */
#include "base/memory.h"
#include "base/numbers/rng.h"
#include "base/status.h"
#include "rpc/wire/mix.h"
#include "rpc/wire/name.h"
#include "rpc/workflow/state.h"

#include <string.h>

#define CALLS_MAX (1u << 24)
#define ANSWER_BYTES 4096u
#define WORK_NS 1000000
#define WORK_MAX_NS (INT64_C(1000000000) * 1000000)

static clo_status check_sizes(const clo_rpc_call *c)
{
    if (c->method != NULL && !clo_rpc_is_method(c->method))
        return clo_fail(CLO_ERR_ARGUMENT, "'%.150s' is no method: give less than %u letters, digits and . _ - /",
                        c->method, CLO_RPC_NAME_BYTES);
    if (c->body_bytes > CLO_RPC_BYTES_MAX || (c->answer_bytes > CLO_RPC_BYTES_MAX && c->answer_bytes != UINT32_MAX))
        return clo_fail(CLO_ERR_ARGUMENT, "a call has body_bytes %zu and answer_bytes %u; each is at most %u",
                        c->body_bytes, c->answer_bytes, CLO_RPC_BYTES_MAX);
    if ((c->body_bytes > 0 && c->body == NULL) || (c->after_count > 0 && c->after == NULL))
        return clo_fail_null("clo_rpc_workflow_add", "call.body or call.after");
    if (c->work_ns < 0 || c->work_ns > WORK_MAX_NS || c->deadline_ns < 0 || c->deadline_ns > WORK_MAX_NS)
        return clo_fail(CLO_ERR_ARGUMENT, "a call has work_ns %lld and deadline_ns %lld; give each 0 to %lld",
                        (long long)c->work_ns, (long long)c->deadline_ns, (long long)WORK_MAX_NS);
    if ((unsigned)c->effect > CLO_RPC_ONCE)
        return clo_fail(CLO_ERR_ARGUMENT, "the effect of a call is %d; see clo_rpc_effect", (int)c->effect);
    return CLO_OK;
}

static clo_status check(const clo_rpc_workflow *w, const clo_rpc_call *c, uint32_t *service)
{
    uint32_t instances = c->instances > 0 ? c->instances : 1;

    if (w->has_sealed)
        return clo_fail(CLO_ERR_STATE, "the workflow is sealed; add calls before");
    if (c->service == NULL && c->here == NULL)
        return clo_fail_null("clo_rpc_workflow_add", "call.service");
    if (w->methods_count >= CALLS_MAX || instances > CALLS_MAX - w->instances)
        return clo_fail(CLO_ERR_LIMIT, "a workflow has %u calls and instances at most", CALLS_MAX);
    for (uint32_t i = 0; c->arrivals_ns != NULL && i < instances; i++)
        if (c->arrivals_ns[i] < 0 || c->arrivals_ns[i] > WORK_MAX_NS)
            return clo_fail(CLO_ERR_ARGUMENT, "arrival %u of a call is %lld ns; give 0 to %lld", i,
                            (long long)c->arrivals_ns[i], (long long)WORK_MAX_NS);
    if (c->here != NULL && (c->arrivals_ns != NULL || c->deadline_ns != 0))
        return clo_fail(CLO_ERR_ARGUMENT,
                        "a function of this process has no arrivals_ns and no deadline_ns; leave them out");
    clo_status status = check_sizes(c);
    for (uint32_t i = 0; status == CLO_OK && i < c->after_count; i++)
        if (c->after[i] >= w->methods_count)
            status = clo_fail(CLO_ERR_ARGUMENT,
                              "call.after[%u] is %u, but %zu call%s added before; name one of them, from 0", i,
                              c->after[i], w->methods_count, w->methods_count == 1 ? " was" : "s were");
    *service = 0;
    return status == CLO_OK && c->service != NULL ? clo_rpc_services_find(w, c->service, service) : status;
}

static void *copy_of(const void *bytes, size_t count)
{
    void *copy = clo_allocate(1, count + 1);

    if (copy != NULL && count > 0)
        memcpy(copy, bytes, count);
    return copy;
}

static int64_t *arrivals_of(const clo_rpc_call *c, uint32_t instances)
{
    int64_t *copy = clo_allocate(instances, sizeof *copy);

    for (uint32_t i = 0; copy != NULL && i < instances; i++)
        copy[i] = c->arrivals_ns[i] / 1000;
    return copy;
}

static uint64_t hash_name(const char *name)
{
    return clo_mix64(clo_rpc_hash(CLO_RPC_HASH_BEGIN, name, strlen(name)));
}

/* What a call says that is a number. */
static void set_numbers(const clo_rpc_workflow *w, const clo_rpc_call *c, clo_rpc_method *m)
{
    int64_t expected_us;

    m->task = (uint32_t)w->methods_count;
    m->first = w->instances;
    m->instances = c->instances > 0 ? c->instances : 1;
    m->effect = c->effect;
    m->home = (uint32_t)(hash_name(m->name) / 4096 % w->services[m->service].replicas);
    m->work_us = (uint64_t)(c->work_ns > 0 ? c->work_ns : WORK_NS) / 1000;
    m->deadline_us = (c->deadline_ns + 999) / 1000;
    m->hops = w->config.hops;
    m->output_bytes = c->answer_bytes == UINT32_MAX ? 0 : c->answer_bytes > 0 ? c->answer_bytes : ANSWER_BYTES;
    m->here = c->here;
    m->here_argument = c->here_argument;
    expected_us = (int64_t)m->work_us * (m->hops + 1);
    m->attempt_us = expected_us > 6000000 ? expected_us * 10 : 60000000;
    if (w->config.attempt_ns > 0)
        m->attempt_us = (w->config.attempt_ns + 999) / 1000;
}

static clo_status add_edge(clo_rpc_workflow *w, uint32_t from, uint32_t to)
{
    const clo_rpc_method *m = &w->methods[from];
    uint64_t bytes = (uint64_t)m->instances * m->output_bytes;

    if (clo_grow((void **)&w->edges, &w->edges_capacity, w->edges_count + 1, sizeof *w->edges) != 0)
        return clo_fail_memory("a workflow's calls");
    w->edges[w->edges_count++] = (clo_edge){.from = from, .to = to, .bytes = bytes};
    return CLO_OK;
}

clo_status clo_rpc_workflow_add(clo_rpc_workflow *workflow, const clo_rpc_call *call, uint32_t *out)
{
    clo_rpc_workflow *w = workflow;
    clo_rpc_call c = CLO_RPC_CALL_INIT;
    clo_rpc_method m = {.instances = 0};

    if (w == NULL || call == NULL)
        return clo_fail_null("clo_rpc_workflow_add", "workflow or call");
    clo_status status = clo_config_read(&c, sizeof c, call, "clo_rpc_call");
    if (status == CLO_OK)
        status = check(w, &c, &m.service);
    if (status != CLO_OK)
        return status;
    m.name = clo_duplicate(c.name != NULL ? c.name : c.service != NULL ? c.service : "here");
    m.body = copy_of(c.body, c.body_bytes);
    m.body_bytes = c.body_bytes;
    m.arrivals_us = c.arrivals_ns != NULL ? arrivals_of(&c, c.instances > 0 ? c.instances : 1) : NULL;
    int is_bad =
        m.name == NULL || m.body == NULL || (c.arrivals_ns != NULL && m.arrivals_us == NULL) ||
        clo_grow((void **)&w->methods, &w->methods_capacity, w->methods_count + 1, sizeof m) != 0 ||
        clo_grow((void **)&w->edges, &w->edges_capacity, w->edges_count + c.after_count, sizeof *w->edges) != 0;
    if (is_bad) {
        clo_free((char *)(uintptr_t)m.name);
        clo_free((void *)(uintptr_t)m.body);
        clo_free((void *)(uintptr_t)m.arrivals_us);
        return clo_fail_memory("a workflow's calls");
    }
    if (c.method != NULL)
        memcpy(m.method, c.method, strlen(c.method) + 1);
    set_numbers(w, &c, &m);
    w->methods[w->methods_count++] = m;
    w->instances += m.instances;
    for (uint32_t i = 0; i < c.after_count; i++)
        (void)add_edge(w, c.after[i], m.task); /* there is room */
    if (out != NULL)
        *out = m.task;
    return CLO_OK;
}

clo_status clo_rpc_workflow_add_calls(clo_rpc_workflow *workflow, const clo_rpc_call *calls, uint32_t count)
{
    clo_status status = CLO_OK;

    if (workflow == NULL || (calls == NULL && count > 0))
        return clo_fail_null("clo_rpc_workflow_add_calls", "workflow or calls");
    for (uint32_t i = 0; i < count && status == CLO_OK; i++)
        status = clo_rpc_workflow_add(workflow, &calls[i], NULL);
    return status;
}

clo_status clo_rpc_workflow_after(clo_rpc_workflow *workflow, uint32_t call, uint32_t before)
{
    if (workflow == NULL)
        return clo_fail_null("clo_rpc_workflow_after", "workflow");
    if (workflow->has_sealed)
        return clo_fail(CLO_ERR_STATE, "the workflow is sealed; name what comes before a call before");
    if (call == before && call < workflow->methods_count)
        return clo_fail(CLO_ERR_ARGUMENT, "call %u would wait for itself; give two calls", call);
    if (call >= workflow->methods_count || before >= workflow->methods_count)
        return clo_fail(CLO_ERR_ARGUMENT, "call %u after call %u: give two numbers below %zu", call, before,
                        workflow->methods_count);
    return add_edge(workflow, before, call);
}
