/* run.c - a workflow runs, and what comes of it. */
#include "base/memory.h"
#include "base/status.h"
#include "rpc/wire/parcel.h"
#include "rpc/workflow/state.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOOK_NS 100000000 /* how often a run looks whether it is cancelled */

static int is_cancelled(const clo_rpc_workflow *w)
{
    struct pollfd look = {.fd = w->cancelled_fd, .events = POLLIN};

    return poll(&look, 1, 0) > 0;
}

static clo_status run_job(clo_rpc_workflow *w)
{
    clo_status status = clo_job_submit(w->job);

    if (status != CLO_OK)
        return status;
    while ((status = clo_job_wait_for(w->job, LOOK_NS, &w->result)) == CLO_ERR_TIMEOUT)
        if (is_cancelled(w))
            clo_job_cancel(w->job);
    return status;
}

/* Why it has not ended well, in one line: the journal first, then the first call that failed. */
static clo_status judge(const clo_rpc_workflow *w, clo_status status)
{
    if (w->stats.journal[0] != '\0')
        return clo_fail(CLO_ERR_IO, "%s", w->stats.journal);
    if (status == CLO_ERR_CANCELLED)
        return clo_fail(status, "the workflow was cancelled");
    if (status == CLO_ERR_TASK && w->stats.failure[0] != '\0')
        return clo_fail(status, "%s", w->stats.failure);
    return status;
}

static clo_status run(clo_rpc_workflow *w)
{
    clo_status status = w->has_sealed && w->is_sealed ? CLO_OK : clo_rpc_workflow_seal(w);
    if (status != CLO_OK)
        return status;
    if (w->has_run && w->journal != NULL)
        return clo_fail(CLO_ERR_STATE, "the journal is of one run; make another workflow with another journal");
    if (is_cancelled(w))
        return clo_fail(CLO_ERR_CANCELLED, "the workflow was cancelled");
    w->has_run = 1;
    w->result = (clo_job_result)CLO_JOB_RESULT_INIT;
    clo_rpc_engine_begin(w->engine);
    status = run_job(w);
    clo_rpc_engine_settle(w->engine, &w->stats);
    w->output_hash = status == CLO_OK ? clo_job_output_hash(w->job) : 0;
    w->status = status = judge(w, status);
    return status;
}

clo_status clo_rpc_workflow_run(clo_rpc_workflow *workflow)
{
    if (workflow == NULL)
        return clo_fail_null("clo_rpc_workflow_run", "workflow");
    if (pthread_mutex_trylock(&workflow->runs) != 0) /* a handler of its own may ask for it */
        return clo_fail(CLO_ERR_STATE, "the workflow runs; wait for its end");
    clo_status status = run(workflow);
    pthread_mutex_unlock(&workflow->runs);
    return status;
}

void clo_rpc_workflow_cancel(clo_rpc_workflow *workflow)
{
    static const uint64_t one = 1;

    if (workflow != NULL)
        (void)!write(workflow->cancelled_fd, &one, sizeof one);
}

clo_status clo_rpc_workflow_move(clo_rpc_workflow *workflow, const char *service, uint32_t replica,
                                 const char *endpoint)
{
    clo_rpc_workflow *w = workflow;
    uint32_t s = 0;

    if (w == NULL || service == NULL || endpoint == NULL)
        return clo_fail_null("clo_rpc_workflow_move", "workflow, service or endpoint");
    while (s < w->services_count && strcmp(w->services[s].name, service) != 0)
        s++;
    if (s == w->services_count || replica >= w->services[s].replicas)
        return clo_fail(CLO_ERR_ARGUMENT, "service '%.100s' has no replica %u, or there is no such service", service,
                        replica);
    if (!clo_rpc_services_is_endpoint(endpoint))
        return clo_fail(CLO_ERR_ARGUMENT,
                        "service %s: '%.150s' is neither ADDRESS:PORT in numbers nor http://..., https://...", service,
                        endpoint);
    if (w->engine == NULL) {
        snprintf(w->services[s].replica[replica], CLO_RPC_NAME_BYTES, "%s", endpoint);
        return CLO_OK;
    }
    if (clo_rpc_engine_move(w->engine, s, replica, endpoint) != 0)
        return clo_fail_memory("another endpoint");
    return CLO_OK;
}

clo_status clo_rpc_workflow_answer(const clo_rpc_workflow *workflow, uint32_t call, uint32_t instance,
                                   const void **bytes, size_t *count)
{
    const clo_rpc_workflow *w = workflow;

    if (w == NULL || bytes == NULL || count == NULL)
        return clo_fail_null("clo_rpc_workflow_answer", "workflow, bytes or count");
    if (call >= w->methods_count || instance >= w->methods[call].instances)
        return clo_fail(CLO_ERR_ARGUMENT, "there is no instance %u of call %u", instance, call);
    if (w->status != CLO_OK)
        return clo_fail(CLO_ERR_STATE, "the workflow has not run to a good end; it has no answers");
    const unsigned char *parcel = clo_job_output(w->job, call, instance, NULL);
    if (parcel == NULL)
        return clo_fail(CLO_ERR_STATE, "call %u has no answer", call);
    *count = clo_rpc_parcel_bytes(parcel);
    *bytes = parcel + clo_rpc_parcel_size(0);
    return CLO_OK;
}

uint32_t clo_rpc_workflow_instances(const clo_rpc_workflow *workflow, uint32_t call)
{
    return workflow != NULL && call < workflow->methods_count ? workflow->methods[call].instances : 0;
}

int64_t clo_rpc_workflow_latency_ns(const clo_rpc_workflow *workflow, uint32_t call, uint32_t instance)
{
    const clo_rpc_workflow *w = workflow;

    if (w == NULL || w->engine == NULL || !w->has_run || call >= w->methods_count ||
        instance >= w->methods[call].instances)
        return -1;
    int64_t us = clo_rpc_engine_latencies(w->engine)[w->methods[call].first + instance];
    return us < 0 ? -1 : us * 1000;
}

clo_status clo_rpc_workflow_result(const clo_rpc_workflow *workflow, clo_rpc_result *out)
{
    const clo_rpc_workflow *w = workflow;
    clo_rpc_result r = CLO_RPC_RESULT_INIT;

    if (w == NULL || out == NULL)
        return clo_fail_null("clo_rpc_workflow_result", "workflow or out");
    clo_status status = clo_result_check(out, CLO_BYTES_UP_TO(clo_rpc_result, failure), "clo_rpc_result");
    if (status != CLO_OK)
        return status;
    const clo_rpc_engine_stats *s = &w->stats;
    r.status = w->status;
    r.tasks = (uint32_t)w->methods_count;
    r.instances = w->instances;
    r.done_before = w->before.finished;
    r.again = w->before.again;
    r.executed = w->result.executed;
    r.makespan_ns = w->result.makespan_ns;
    r.run = w->run;
    r.graph_hash = w->graph_hash;
    r.plan_hash = w->plan_hash;
    r.output_hash = w->output_hash;
    r.requests = s->requests;
    r.calls = s->calls;
    r.hedges = s->hedges;
    r.hedges_won = s->hedges_won;
    r.held_back = s->held_back;
    r.cancelled = s->cancelled;
    r.retries = s->retries;
    r.failures = s->failures;
    r.payload_bytes = s->payload_bytes;
    memcpy(r.failure, s->failure, sizeof r.failure);
    if (w->journal != NULL) {
        r.commits = clo_rpc_journal_commits(w->journal);
        r.records = clo_rpc_journal_records(w->journal);
    }
    clo_result_write(out, &r, sizeof r);
    return CLO_OK;
}
