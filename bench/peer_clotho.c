/* peer_clotho.c - Clotho by work stealing, and by replay of a HEFT plan made for tasks of a microsecond. */
#include "peers.h"

#include <stdlib.h>

typedef struct clotho {
    uint32_t workers;
    const char *planner; /* NULL: steal */
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
    clo_plan *plan;
    clo_runtime *runtime;
    clo_job *job;
} clotho;

static int run_empty(const clo_call *call)
{
    (void)call;
    return 0;
}

static int run_visit(const clo_call *call)
{
    bench_visit(call->argument, call->task);
    return 0;
}

static void destroy(void *state)
{
    clotho *c = state;

    clo_job_destroy(c->job);
    clo_runtime_destroy(c->runtime);
    clo_plan_destroy(c->plan);
    clo_cost_destroy(c->cost);
    clo_platform_destroy(c->platform);
    clo_graph_destroy(c->graph);
    free(c);
}

static clo_status declare(bench_graph *source, clo_graph **graph)
{
    const clo_task task = {
        .body = source->body == bench_empty ? run_empty : run_visit, .argument = source, .work_ns = 1000};
    clo_status status = clo_graph_create(source->name, graph);

    for (uint32_t t = 0; t < source->tasks && status == CLO_OK; t++)
        status = clo_graph_add_task(*graph, &task, NULL);
    for (uint32_t t = 0; t < source->tasks; t++)
        for (uint32_t e = source->pred_first[t]; e < source->pred_first[t + 1] && status == CLO_OK; e++)
            status = clo_graph_add_edge(*graph, source->pred[e], t, 0);
    return status == CLO_OK ? clo_graph_seal(*graph) : status;
}

static void *build(bench_graph *source, uint32_t workers)
{
    clotho *c = calloc(1, sizeof *c);

    if (c == NULL)
        return NULL;
    c->workers = workers;
    if (declare(source, &c->graph) == CLO_OK)
        return c;
    bench_fail("cannot build the graph");
    destroy(c);
    return NULL;
}

static void *build_for_replay(bench_graph *source, uint32_t workers)
{
    clotho *c = build(source, workers);

    if (c != NULL)
        c->planner = "heft";
    return c;
}

static bool start(void *state)
{
    clotho *c = state;

    c->platform = bench_platform(c->workers);
    return c->platform != NULL &&
           (clo_runtime_create(c->platform, NULL, &c->runtime) == CLO_OK || bench_fail("cannot start the workers"));
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

const peer peers_clotho[] = {{"Clotho steal", 2, build, start, prepare, run, destroy},
                             {"Clotho steal", 1, build, start, prepare, run, destroy},
                             {"Clotho replay", 2, build_for_replay, start, prepare, run, destroy},
                             {"Clotho replay", 1, build_for_replay, start, prepare, run, destroy},
                             {0}};
