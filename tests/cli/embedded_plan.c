/* embedded_plan.c - what `clotho plan --embed` wrote of embedded_plan.json for an rk3588, in a program that links the core
 * library alone. It builds the graph itself; the plan fits, is carried out as planned, and is refused for another graph. */
#include <clotho/clotho.h>
#include <stdio.h>

extern const clo_placement embedded[];
extern const size_t embedded_count;
extern const char embedded_planner[];
extern const clo_platform_desc embedded_platform;

static int one(const clo_call *call)
{
    *(int *)call->output = 1;
    return 0;
}

static int sum(const clo_call *call)
{
    int total = 0;

    for (uint32_t i = 0; i < call->inputs_count; i++)
        total += *(const int *)call->inputs[i];
    *(int *)call->output = total;
    return 0;
}

/* sum_ns: 5000 as in the file, or that of another graph. */
static clo_status build(int64_t sum_ns, clo_graph **graph)
{
    const clo_task tasks[] = {
        {.name = "source", .body = one, .work_ns = 20000, .output_bytes = 65536, .duplicable = 1},
        {.name = "left", .body = one, .work_ns = 90000, .output_bytes = sizeof(int), .instances = 3},
        {.name = "right", .body = one, .work_ns = 90000, .output_bytes = sizeof(int), .instances = 3},
        {.name = "sum", .body = sum, .work_ns = sum_ns, .output_bytes = sizeof(int)}};
    static const clo_edge edges[] = {{0, 1, 3000000}, {0, 2, 3000000}, {1, 3, 12}, {2, 3, 12}};
    uint32_t little;
    clo_status status = clo_graph_create("embedded", graph);

    if (status == CLO_OK)
        status = clo_graph_add_tasks(*graph, tasks, 4, NULL);
    if (status == CLO_OK)
        status = clo_graph_add_edges(*graph, edges, 4);
    if (status == CLO_OK)
        status = clo_graph_kind(*graph, "cortex-a55", &little);
    if (status == CLO_OK)
        status = clo_graph_set_time(*graph, 1, little, 300000);
    return status == CLO_OK ? clo_graph_seal(*graph) : status;
}

/* Of a graph on the embedded platform: its cost, and the embedded plan, if it fits. */
static clo_status take(const clo_graph *graph, const clo_platform *platform, clo_cost **cost, clo_plan **plan)
{
    clo_status status = clo_cost_create(graph, platform, cost);

    if (status == CLO_OK)
        status = clo_plan_from_placements(*cost, embedded_planner, embedded, embedded_count, plan);
    return status == CLO_OK ? clo_plan_check(*plan, *cost, CLO_CHECK_FULL) : status;
}

/* -1: the run failed. */
static int run(const clo_platform *platform, const clo_cost *cost, const clo_plan *plan)
{
    clo_runtime_config virtual = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_runtime *runtime = NULL;
    clo_job *job = NULL;
    int answer = -1;

    virtual.clock = CLO_CLOCK_VIRTUAL;
    config.plan = plan;
    if (!clo_runtime_create(platform, &virtual, &runtime) && !clo_job_create(runtime, cost, &config, &job) &&
        !clo_job_submit(job) && !clo_job_wait(job, NULL))
        answer = *(const int *)clo_job_output(job, 3, 0, NULL);
    clo_job_destroy(job);
    clo_runtime_destroy(runtime);
    return answer;
}

int main(void)
{
    clo_graph *graph = NULL, *other = NULL;
    clo_platform *platform = NULL;
    clo_cost *cost = NULL, *other_cost = NULL;
    clo_plan *plan = NULL, *wrong = NULL;
    uint32_t replicas = 0;
    bool is_right = false;

    for (size_t i = 0; i < embedded_count; i++)
        replicas += embedded[i].is_replica;
    if (build(5000, &graph) || build(6000, &other) || clo_platform_create(&embedded_platform, &platform) ||
        take(graph, platform, &cost, &plan)) {
        printf("embedded plan: %s\n", clo_last_error());
    } else {
        int answer = run(platform, cost, plan);
        bool is_native = clo_platform_is_native(platform);
        clo_status refusal = take(other, platform, &other_cost, &wrong);

        printf("%d of 6 by %s, %u replicas, CPUs %s, another graph: %s\n", answer, clo_plan_planner(plan), replicas,
               is_native ? "known" : "NOT known", refusal == CLO_ERR_INVALID ? clo_last_error() : "NOT REFUSED");
        is_right = answer == 6 && is_native && replicas > 0 && refusal == CLO_ERR_INVALID &&
                   clo_platform_executor(platform, 7)->os_index == 7;
    }
    clo_plan_destroy(wrong);
    clo_plan_destroy(plan);
    clo_cost_destroy(other_cost);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(other);
    clo_graph_destroy(graph);
    return is_right ? 0 : 1;
}
