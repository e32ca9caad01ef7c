/* 03_replicas.c - executed replicas: where moving a task's output costs more than computing it again, DEFT runs
 * the task twice. The graph is one cheap task whose large output feeds one heavy task per executor of an
 * RK3588. Both plans run in virtual time and must give the same bytes; DEFT's must not be slower. */
#include <clotho/clotho.h>
#include <stdio.h>
#include <string.h>

enum { CONSUMERS = 8, TABLE_BYTES = 1 << 20 };

/* Pure, so that it may be declared duplicable: the bytes depend on nothing but the task. */
static int make_table(const clo_call *call)
{
    memset(call->output, 0x5a, call->output_bytes);
    return 0;
}

static int sum_table(const clo_call *call)
{
    const unsigned char *table = call->inputs[0];
    uint64_t sum = call->task;

    for (size_t i = 0; i < call->inputs_bytes[0]; i++)
        sum += table[i];
    memcpy(call->output, &sum, sizeof sum);
    return 0;
}

static clo_status build(clo_graph **graph)
{
    clo_task table = {.body = make_table, .work_ns = 20000, .output_bytes = TABLE_BYTES, .duplicable = 1};
    clo_task sum = {.body = sum_table, .work_ns = 1000000, .output_bytes = sizeof(uint64_t)};
    clo_status status = clo_graph_create("replicas", graph);

    if (status == CLO_OK)
        status = clo_graph_add_task(*graph, &table, NULL);
    for (uint32_t i = 1; i <= CONSUMERS && status == CLO_OK; i++) {
        status = clo_graph_add_task(*graph, &sum, NULL);
        if (status == CLO_OK)
            status = clo_graph_add_edge(*graph, 0, i, TABLE_BYTES);
    }
    return status == CLO_OK ? clo_graph_seal(*graph) : status;
}

static clo_status run(clo_runtime *runtime, const clo_cost *cost, const char *planner, clo_job_result *result,
                      uint64_t *hash)
{
    clo_plan_config plan_config = {.size = sizeof plan_config, .planner = planner};
    clo_job_config job_config = CLO_JOB_CONFIG_INIT;
    clo_plan *plan = NULL;
    clo_job *job = NULL;
    clo_status status = clo_plan_create(cost, &plan_config, &plan);

    job_config.plan = plan;
    if (status == CLO_OK)
        status = clo_job_create(runtime, cost, &job_config, &job);
    if (status == CLO_OK)
        status = clo_job_submit(job);
    if (status == CLO_OK)
        status = clo_job_wait(job, result);
    if (status == CLO_OK) {
        *hash = clo_job_output_hash(job);
        printf("%s  makespan %7lld ns  replicas %llu  output %016llx  (virtual clock, emulated)\n", planner,
               (long long)result->makespan_ns, (unsigned long long)result->duplicates_run, (unsigned long long)*hash);
    }
    clo_job_destroy(job);
    clo_plan_destroy(plan);
    return status;
}

int main(void)
{
    clo_runtime_config config = {.size = sizeof config, .clock = CLO_CLOCK_VIRTUAL};
    clo_job_result heft = {0}, deft = {0};
    uint64_t heft_hash = 0, deft_hash = 1;
    clo_graph *graph = NULL;
    clo_platform *platform = NULL;
    clo_cost *cost = NULL;
    clo_runtime *runtime = NULL;
    int failed = build(&graph) || clo_platform_open("rk3588", &platform) || clo_cost_create(graph, platform, &cost) ||
                 clo_runtime_create(platform, &config, &runtime) || run(runtime, cost, "heft", &heft, &heft_hash) ||
                 run(runtime, cost, "deft", &deft, &deft_hash);

    if (failed)
        fprintf(stderr, "replicas: %s\n", clo_last_error());
    clo_runtime_destroy(runtime);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
    return !failed && heft.duplicates_run == 0 && deft.duplicates_run > 0 && heft_hash == deft_hash &&
                   deft.makespan_ns <= heft.makespan_ns ? 0 : 1;
}
