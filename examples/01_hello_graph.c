/* 01_hello_graph.c - build a graph of three tasks, plan it, run it on this machine, read the result. A task
 * writes its own output and reads its predecessors' outputs, in the order the edges were added. */
#include <clotho/clotho.h>
#include <stdio.h>

static int six(const clo_call *call)
{
    *(int *)call->output = 6;
    return 0;
}
static int square(const clo_call *call)
{
    int x = *(const int *)call->inputs[0];
    *(int *)call->output = x * x;
    return 0;
}
static int add(const clo_call *call)
{
    *(int *)call->output = *(const int *)call->inputs[0] + *(const int *)call->inputs[1];
    return 0;
}

int main(void)
{
    static const clo_task tasks[] = {{.name = "six", .body = six, .work_ns = 500, .output_bytes = sizeof(int)},
                                     {.name = "square", .body = square, .work_ns = 500, .output_bytes = sizeof(int)},
                                     {.name = "add", .body = add, .work_ns = 500, .output_bytes = sizeof(int)}};
    static const clo_edge edges[] = {{0, 1, sizeof(int)}, {0, 2, sizeof(int)}, {1, 2, sizeof(int)}};
    clo_graph *graph = NULL;
    clo_platform *platform = NULL;
    clo_cost *cost = NULL;
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_plan *plan = NULL;
    clo_runtime *runtime = NULL;
    clo_job *job = NULL;
    clo_status status = clo_graph_create("hello", &graph);

    for (int i = 0; i < 3 && status == CLO_OK; i++)
        status = clo_graph_add_task(graph, &tasks[i], NULL);
    for (int i = 0; i < 3 && status == CLO_OK; i++)
        status = clo_graph_add_edge(graph, edges[i].from, edges[i].to, edges[i].bytes);
    if (status || clo_graph_seal(graph) || clo_platform_native(&platform) || clo_cost_create(graph, platform, &cost) ||
        clo_plan_create(cost, NULL, &plan) || clo_runtime_create(platform, NULL, &runtime))
        return fprintf(stderr, "hello: %s\n", clo_last_error()), 1;
    config.plan = plan;
    if (clo_job_create(runtime, cost, &config, &job) || clo_job_submit(job) || clo_job_wait(job, NULL))
        return fprintf(stderr, "hello: %s\n", clo_last_error()), 1;

    int answer = *(const int *)clo_job_output(job, 2, 0, NULL);
    printf("6 * 6 + 6 = %d, planned by %s\n", answer, clo_plan_planner(plan));
    clo_job_destroy(job);
    clo_runtime_destroy(runtime);
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
    return answer == 42 ? 0 : 1;
}
