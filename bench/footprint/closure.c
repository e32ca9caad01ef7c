/* closure.c - the least that a program links: CLOSURE_STEAL runs one task by work stealing, CLOSURE_HEFT plans it with
 * HEFT first; their runtime has no features (clo_features). CLOSURE_WHOLE is CLOSURE_HEFT with clo_runtime_create,
 * CLOSURE_BEST plans with all planners, CLOSURE_ALL names everything that has a name. */
#include <clotho/clotho.h>

#include <stdio.h>

static int body(const clo_call *call)
{
    *(int *)call->output = 42;
    return 0;
}

#ifndef CLOSURE_STEAL
static clo_status plan_it(const clo_cost *cost, clo_plan **plan)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
#ifdef CLOSURE_BEST
    config.planner = &clo_planner_best;
#endif
#ifdef CLOSURE_ALL
    clo_entry entry = CLO_ENTRY_INIT;

    for (uint32_t i = 0; clo_registry_entry("formats", i, &entry); i++)
        puts(entry.name);
    config.planner = clo_planner_find("best");
#endif
    return clo_plan_create(cost, &config, plan);
}
#endif

static clo_status start(const clo_platform *platform, clo_runtime **runtime)
{
#if defined(CLOSURE_STEAL) || defined(CLOSURE_HEFT)
    return clo_runtime_create_with(platform, NULL, NULL, runtime);
#else
    return clo_runtime_create(platform, NULL, runtime);
#endif
}

int main(void)
{
    const clo_task task = {.name = "one", .body = body, .work_ns = 500, .output_bytes = sizeof(int)};
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_graph *graph = NULL;
    clo_platform *platform = NULL;
    clo_cost *cost = NULL;
#ifndef CLOSURE_STEAL
    clo_plan *plan = NULL;
#endif
    clo_runtime *runtime = NULL;
    clo_job *job = NULL;
    int exit_status = 1;
    bool is_good = clo_graph_create("closure", &graph) == CLO_OK && clo_graph_add_task(graph, &task, NULL) == CLO_OK &&
                   clo_graph_seal(graph) == CLO_OK && clo_platform_native(&platform) == CLO_OK &&
                   clo_cost_create(graph, platform, &cost) == CLO_OK;

#ifndef CLOSURE_STEAL
    is_good = is_good && plan_it(cost, &plan) == CLO_OK;
    config.plan = plan;
#endif
    is_good = is_good && start(platform, &runtime) == CLO_OK &&
              clo_job_create(runtime, cost, &config, &job) == CLO_OK && clo_job_submit(job) == CLO_OK &&
              clo_job_wait(job, NULL) == CLO_OK;
    if (is_good)
        exit_status = *(const int *)clo_job_output(job, 0, 0, NULL) == 42 ? 0 : 1;
    else
        fprintf(stderr, "closure: %s\n", clo_last_error());
    clo_job_destroy(job);
    clo_runtime_destroy(runtime);
#ifndef CLOSURE_STEAL
    clo_plan_destroy(plan);
#endif
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
    return exit_status;
}
