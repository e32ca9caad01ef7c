/* peer_clotho.c - Clotho by work stealing, and by replay of a HEFT plan. */
#include "peers/peer_clotho.h"

#include "common/platform.h"
#include "peers/peer_tables.h"

#include <clotho/planner.h>
#include <stdlib.h>

static int run_empty(const clo_call *call)
{
    (void)call;
    return 0;
}

static int run_body(const clo_call *call)
{
    bench_graph *g = call->argument;

    g->body(g, call->task);
    return 0;
}

static void drop(void *state)
{
    clotho *c = state;

    clo_job_destroy(c->job);
    clo_plan_destroy(c->plan);
    clo_cost_destroy(c->cost);
    clo_graph_destroy(c->graph);
    c->job = NULL;
    c->plan = NULL;
    c->cost = NULL;
    c->graph = NULL;
}

static void close_all(void *state)
{
    clotho *c = state;

    drop(c);
    clo_runtime_destroy(c->runtime);
    clo_platform_destroy(c->platform);
    free(c);
}

void *peer_clotho_open(bench_graph *source, uint32_t workers, const clo_planner *planner, uint32_t every)
{
    clo_runtime_config runtime = CLO_RUNTIME_CONFIG_INIT;
    clotho *c = calloc(1, sizeof *c);

    runtime.recorder_events = every > 0 ? source->tasks : 0;
    runtime.recorder_every = every;
    if (c == NULL)
        return NULL;
    c->source = source;
    c->planner = planner;
    c->platform = bench_platform(workers);
    if (c->platform != NULL &&
        (clo_runtime_create(c->platform, &runtime, &c->runtime) == CLO_OK || bench_fail("cannot start the workers")))
        return c;
    close_all(c);
    return NULL;
}

static void *open_stealing(bench_graph *source, uint32_t workers)
{
    return peer_clotho_open(source, workers, NULL, 0);
}

static void *open_replay(bench_graph *source, uint32_t workers)
{
    return peer_clotho_open(source, workers, &clo_planner_heft, 0);
}

static bool build(void *state)
{
    clotho *c = state;
    bench_graph *source = c->source;
    /* Peers call graph->body where this calls run_empty: one call through a pointer each. */
    const clo_task task = {
        .body = source->body == bench_empty ? run_empty : run_body, .argument = source, .work_ns = source->work_ns};
    clo_status status = clo_graph_create(source->name, &c->graph);

    for (uint32_t t = 0; t < source->tasks && status == CLO_OK; t++) {
        status = clo_graph_add_task(c->graph, &task, NULL);
        if (status == CLO_OK && c->codelets > 0)
            status = clo_graph_set_codelet(c->graph, t, &(clo_codelet){"task", 0, 1 + t % c->codelets});
    }
    for (uint32_t t = 0; t < source->tasks; t++)
        for (uint32_t e = source->pred_first[t]; e < source->pred_first[t + 1] && status == CLO_OK; e++)
            status = clo_graph_add_edge(c->graph, source->pred[e], t, 0);
    if (status == CLO_OK)
        status = clo_graph_seal(c->graph);
    return status == CLO_OK || bench_fail("cannot build the graph");
}

static bool prepare(void *state)
{
    clotho *c = state;
    clo_plan_config plan = {.size = sizeof plan, .planner = c->planner};
    clo_job_config job = CLO_JOB_CONFIG_INIT;
    clo_status status = clo_cost_create(c->graph, c->platform, &c->cost);

    if (status == CLO_OK && c->planner != NULL)
        status = clo_plan_create(c->cost, &plan, &c->plan);
    job.plan = c->plan;
    if (status == CLO_OK)
        status = clo_job_create(c->runtime, c->cost, &job, &c->job);
    return status == CLO_OK || bench_fail("cannot prepare");
}

static bool run(void *state)
{
    clotho *c = state;

    return (clo_job_submit(c->job) == CLO_OK && clo_job_wait(c->job, NULL) == CLO_OK) || bench_fail("cannot run");
}

static int run_range(const clo_call *call)
{
    bench_graph *g = call->argument;

    for (uint32_t t = call->instance; t < call->instance + call->count; t++)
        g->body(g, t);
    return 0;
}

static bool build_loop(void *state, uint32_t grain)
{
    clotho *c = state;
    const clo_task task = {.body = run_range,
                           .argument = c->source,
                           .work_ns = c->source->work_ns,
                           .instances = c->source->tasks,
                           .grain = grain};

    return (clo_graph_create(c->source->name, &c->graph) == CLO_OK &&
            clo_graph_add_task(c->graph, &task, NULL) == CLO_OK && clo_graph_seal(c->graph) == CLO_OK) ||
           bench_fail("cannot build the graph");
}

static bool build_ranges(void *state)
{
    return build_loop(state, PEER_LOOP_GRAIN);
}

static bool build_instances(void *state)
{
    return build_loop(state, 0);
}

const peer loops_clotho[] = {
    {"Clotho steal, grain 500", 0, false, open_stealing, build_ranges, prepare, run, close_all, drop},
    {"Clotho replay, grain 500", 0, false, open_replay, build_ranges, prepare, run, close_all, drop},
    {"Clotho steal, one by one", 0, false, open_stealing, build_instances, prepare, run, close_all, drop},
    {0}};
const peer peers_clotho[] = {{"Clotho steal", 0, false, open_stealing, build, prepare, run, close_all, drop},
                             {"Clotho replay", 0, false, open_replay, build, prepare, run, close_all, drop},
                             {0}};
