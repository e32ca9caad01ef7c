/* seal.c - what was declared becomes Clotho's platform, graph and cost, a plan, a journal that was opened, an engine that
 * drives, a runtime and a job. */
#include "base/memory.h"
#include "base/status.h"
#include "rpc/wire/mix.h"
#include "rpc/wire/name.h"
#include "rpc/wire/parcel.h"
#include "rpc/workflow/state.h"

#include <string.h>

#define BEAT_MS 2000

static clo_status add_task(clo_rpc_workflow *w, clo_rpc_method *m)
{
    clo_task task = {.name = m->name,
                     .argument = m,
                     .output_bytes = clo_rpc_parcel_size(m->output_bytes),
                     .instances = m->instances,
                     .duplicable = m->effect == CLO_RPC_PURE,
                     .may_pend = m->here == NULL};
    int64_t work_ns = (int64_t)(m->work_us * (m->hops + 1) * 1000);
    uint32_t kind = w->kinds[m->service];

    clo_status status = clo_graph_add_task(w->graph, &task, NULL);
    if (status == CLO_OK)
        status = clo_graph_set_body(w->graph, m->task, kind, m->here != NULL ? clo_rpc_here : clo_rpc_engine_body);
    if (status == CLO_OK)
        status = clo_graph_set_time(w->graph, m->task, kind, work_ns);
    return status == CLO_OK && m->effect != CLO_RPC_PURE ? clo_rpc_places_stay(w, m) : status;
}

static clo_status make_graph(clo_rpc_workflow *w)
{
    clo_status status = clo_graph_create("workflow", &w->graph);

    for (uint32_t s = 0; status == CLO_OK && s < w->services_count; s++)
        status = clo_graph_kind(w->graph, w->services[s].name, &w->kinds[s]);
    for (size_t t = 0; status == CLO_OK && t < w->methods_count; t++)
        status = add_task(w, &w->methods[t]);
    for (size_t i = 0; i < w->edges_count; i++)
        w->methods[w->edges[i].to].inputs_max += w->methods[w->edges[i].from].instances;
    if (status == CLO_OK && w->edges_count > 0)
        status = clo_graph_add_edges(w->graph, w->edges, w->edges_count);
    if (status == CLO_OK)
        status = clo_graph_seal(w->graph);
    return status == CLO_OK ? clo_cost_create(w->graph, w->platform, &w->cost) : status;
}

/* What is left of the workflow behind each call, and the hash of all that the answers depend on. */
static clo_status measure(clo_rpc_workflow *w)
{
    int64_t *ranks = clo_allocate(w->methods_count, sizeof *ranks);
    uint64_t hash = clo_rpc_hash(CLO_RPC_HASH_BEGIN, &w->config.hops, sizeof w->config.hops);

    if (ranks == NULL)
        return clo_fail_memory("a workflow's ranks");
    clo_cost_rank_u(w->cost, ranks);
    for (size_t t = 0; t < w->methods_count; t++) {
        clo_rpc_method *m = &w->methods[t];
        uint32_t numbers[6] = {m->instances, m->service,      (uint32_t)m->effect,
                               m->home,      m->output_bytes, w->services[m->service].replicas};
        m->rest_us = (uint64_t)ranks[t] / 1000;
        hash = clo_rpc_hash(hash, m->name, strlen(m->name) + 1);
        hash = clo_rpc_hash(hash, numbers, sizeof numbers);
        hash = clo_rpc_hash(hash, m->method, strlen(m->method) + 1);
        hash = clo_rpc_hash(hash, m->body, m->body_bytes);
    }
    w->graph_hash = clo_rpc_hash(hash, w->edges, w->edges_count * sizeof *w->edges);
    clo_free(ranks);
    return CLO_OK;
}

static clo_status make_plan(clo_rpc_workflow *w)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    size_t count = 0;

    w->plan_hash = CLO_RPC_HASH_BEGIN;
    if (w->config.planner == NULL)
        return CLO_OK;
    config.planner = w->config.planner;
    clo_status status = clo_plan_create(w->cost, &config, &w->plan);
    if (status != CLO_OK)
        return status;
    const clo_placement *placements = clo_plan_placements(w->plan, &count);
    w->plan_hash = clo_rpc_hash(w->plan_hash, placements, count * sizeof *placements);
    return CLO_OK;
}

static clo_status open_journal(clo_rpc_workflow *w)
{
    uint64_t identity[3] = {w->config.run, w->graph_hash, w->plan_hash};
    bool is_resumed = false;
    char error[512];

    w->run = w->config.run != 0 ? w->config.run : clo_rpc_journal_new_run();
    if (w->journal_path == NULL)
        return CLO_OK;
    w->journal =
        clo_rpc_journal_open(w->journal_path, w->config.is_durable != 0, identity, &is_resumed, error, sizeof error);
    if (w->journal == NULL)
        return clo_fail(is_resumed ? CLO_ERR_STATE : CLO_ERR_IO, "%s", error);
    w->run = identity[0];
    return is_resumed ? clo_rpc_resume_read(w) : CLO_OK;
}

static clo_status start_engine(clo_rpc_workflow *w)
{
    const clo_rpc_config *c = &w->config;
    clo_rpc_engine_config config = {.services = w->services,
                                    .services_count = w->services_count,
                                    .replica_of = w->replica_of,
                                    .methods = w->methods,
                                    .methods_count = (uint32_t)w->methods_count,
                                    .instances = w->instances,
                                    .run = w->run,
                                    .seed = c->seed,
                                    .deadline_us = (c->deadline_ns + 999) / 1000,
                                    .attempts = c->attempts,
                                    .is_hedging = !c->no_hedges,
                                    .attempts_before = w->before.attempts,
                                    .beat_ms = clo_rpc_beat_ms(c->beat_ns, BEAT_MS),
                                    .keeps_going = c->keeps_going,
                                    .backoff_us = c->backoff_ns / 1000,
                                    .backoff_max_us = c->backoff_max_ns / 1000,
                                    .hedge_us = (c->hedge_ns + 999) / 1000,
                                    .journal = w->journal,
                                    .event = c->event,
                                    .argument = c->argument};

    for (uint32_t i = 0; i < c->hops; i++)
        config.hop[i] = w->hops[i];
    for (size_t t = 0; t < w->methods_count; t++)
        w->methods[t].run = w->run;
    return clo_rpc_engine_start(&config, &w->engine);
}

static clo_status start_job(clo_rpc_workflow *w)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;

    config.plan = w->plan;
    config.done = w->before.done;
    config.done_outputs = w->before.outputs;
    clo_status status = clo_runtime_create(w->platform, NULL, &w->runtime);
    return status == CLO_OK ? clo_job_create(w->runtime, w->cost, &config, &w->job) : status;
}

void clo_rpc_seal_undo(clo_rpc_workflow *w)
{
    clo_runtime_destroy(w->runtime); /* and the job */
    clo_rpc_engine_stop(w->engine);
    clo_rpc_journal_close(w->journal);
    clo_rpc_resume_free(w);
    clo_plan_destroy(w->plan);
    clo_cost_destroy(w->cost);
    clo_graph_destroy(w->graph);
    clo_platform_destroy(w->platform);
    clo_free(w->replica_of);
    w->runtime = NULL;
    w->job = NULL;
    w->engine = NULL;
    w->journal = NULL;
    w->plan = NULL;
    w->cost = NULL;
    w->graph = NULL;
    w->platform = NULL;
    w->replica_of = NULL;
}

clo_status clo_rpc_workflow_seal(clo_rpc_workflow *workflow)
{
    static clo_status (*const steps[])(clo_rpc_workflow *) = {clo_rpc_places_make, make_graph,   measure,  make_plan,
                                                              open_journal,        start_engine, start_job};
    clo_rpc_workflow *w = workflow;
    clo_status status = CLO_OK;

    if (w == NULL)
        return clo_fail_null("clo_rpc_workflow_seal", "workflow");
    if (w->has_sealed)
        return clo_fail(CLO_ERR_STATE, "%s",
                        w->is_sealed ? "the workflow is sealed; do so once"
                                     : "sealing the workflow has failed; make another one");
    if (w->methods_count == 0)
        return clo_fail(CLO_ERR_ARGUMENT, "the workflow has no call; add one");
    if (w->journal_path != NULL && w->config.keeps_going)
        return clo_fail(CLO_ERR_ARGUMENT, "journal: leave out keeps_going, or what has failed would count as done");
    w->has_sealed = 1;
    for (size_t i = 0; status == CLO_OK && i < sizeof steps / sizeof steps[0]; i++)
        status = steps[i](w);
    w->is_sealed = status == CLO_OK;
    if (status != CLO_OK) {
        clo_fail_text why;
        clo_fail_keep(&why);
        clo_rpc_seal_undo(w);
        clo_fail_put_back(&why);
    }
    return status;
}
