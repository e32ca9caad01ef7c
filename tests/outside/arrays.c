/* arrays.c - a board without hwloc, expat and cJSON: its platform comes from arrays; a run by HEFT, one by stealing. */
#include <clotho/clotho.h>

#include <stdio.h>

static int add_up(const clo_call *call)
{
    int sum = 1;

    for (uint32_t i = 0; i < call->inputs_count; i++)
        sum += *(const int *)call->inputs[i];
    *(int *)call->output = sum;
    return 0;
}

static clo_status make_graph(clo_graph **out)
{
    clo_task task = CLO_TASK_INIT;
    clo_status status = clo_graph_create("arrays", out);

    task.body = add_up;
    task.work_ns = 1000;
    task.output_bytes = sizeof(int);
    for (int i = 0; i < 4 && status == CLO_OK; i++)
        status = clo_graph_add_task(*out, &task, NULL);
    for (uint32_t i = 1; i < 4 && status == CLO_OK; i++) /* 1, 2, 3 behind 0, and 3 behind all: 1 + 1 + 2 + 2 */
        status = clo_graph_add_edge(*out, 0, i, sizeof(int));
    for (uint32_t i = 1; i < 3 && status == CLO_OK; i++)
        status = clo_graph_add_edge(*out, i, 3, sizeof(int));
    return status == CLO_OK ? clo_graph_seal(*out) : status;
}

static clo_status make_platform(clo_platform **out)
{
    const clo_executor core = {.os_index = 0,
                               .speed_q16 = {CLO_SPEED_ONE, CLO_SPEED_ONE, CLO_SPEED_ONE, CLO_SPEED_ONE}};
    const char *const kind = "core";
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;

    desc.name = "board";
    desc.executors_count = 1;
    desc.executors = &core;
    desc.kinds_count = 1;
    desc.kind_names = &kind;
    desc.coherent = 1;
    return clo_platform_create(&desc, out);
}

/* 1 if the job's last task did not see 1 + 1 + 2 + 2. */
static int run(clo_runtime *runtime, const clo_cost *cost, const clo_plan *plan)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job = NULL;
    int sum = 0;

    config.plan = plan;
    if (clo_job_create(runtime, cost, &config, &job) != CLO_OK || clo_job_submit(job) != CLO_OK ||
        clo_job_wait(job, NULL) != CLO_OK)
        fprintf(stderr, "arrays: %s\n", clo_last_error());
    else
        sum = *(const int *)clo_job_output(job, 3, 0, NULL);
    clo_job_destroy(job);
    return sum != 6;
}

int main(void)
{
    clo_graph *graph = NULL;
    clo_platform *platform = NULL;
    clo_cost *cost = NULL;
    clo_plan *plan = NULL;
    clo_runtime *runtime = NULL;
    int failures = 1;

    if (make_graph(&graph) == CLO_OK && make_platform(&platform) == CLO_OK &&
        clo_cost_create(graph, platform, &cost) == CLO_OK && clo_plan_create(cost, NULL, &plan) == CLO_OK &&
        clo_runtime_create(platform, NULL, &runtime) == CLO_OK)
        failures = run(runtime, cost, plan) + run(runtime, cost, NULL);
    else
        fprintf(stderr, "arrays: %s\n", clo_last_error());
    clo_runtime_destroy(runtime);
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
    return failures;
}
