/* 03_replicas.c - executed replicas: where moving a task's output costs more than computing it again, DEFT runs
 * the task twice. The graph is one cheap task whose large output feeds one heavy task per executor of an
 * RK3588. Both plans must give the same bytes, and in virtual time DEFT's must be faster. */
#include <clotho/clotho.h>
#include <clotho/planner.h>
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
    clo_plan_config plan_config = {.size = sizeof plan_config, .planner = clo_planner_find(planner)};
    clo_job_config job_config = CLO_JOB_CONFIG_INIT;
    clo_job *job = NULL;
    clo_plan *plan = NULL;
    clo_status status = clo_plan_create(cost, &plan_config, &plan);

    job_config.plan = plan;
    if (status || (status = clo_job_create(runtime, cost, &job_config, &job)) || (status = clo_job_submit(job)) ||
        (status = clo_job_wait(job, result))) {
        fprintf(stderr, "replicas: %s\n", clo_last_error());
    } else {
        *hash = clo_job_output_hash(job);
        printf("  %s  makespan %8lld ns, %llu replicas, output %016llx\n", planner, (long long)result->makespan_ns,
               (unsigned long long)result->duplicates_run, (unsigned long long)*hash);
    }
    clo_job_destroy(job);
    clo_plan_destroy(plan);
    return status;
}

static bool compare(const clo_platform *platform, const clo_cost *cost, clo_clock clock)
{
    clo_runtime_config config = {.size = sizeof config, .clock = clock};
    clo_job_result heft = CLO_JOB_RESULT_INIT, deft = CLO_JOB_RESULT_INIT;
    uint64_t heft_hash, deft_hash;
    clo_runtime *runtime = NULL;

    printf("%s clock (emulated):\n", clock == CLO_CLOCK_VIRTUAL ? "virtual" : "padded");
    bool has_run = clo_runtime_create(platform, &config, &runtime) == CLO_OK &&
                   run(runtime, cost, "heft", &heft, &heft_hash) == CLO_OK &&
                   run(runtime, cost, "deft", &deft, &deft_hash) == CLO_OK;
    clo_runtime_destroy(runtime);
    /* Only virtual time is exact: 8 padded workers share the CPUs of this machine. */
    return has_run && heft.duplicates_run == 0 && deft.duplicates_run > 0 && heft_hash == deft_hash &&
           (clock != CLO_CLOCK_VIRTUAL || deft.makespan_ns < heft.makespan_ns);
}

int main(void)
{
    clo_graph *graph = NULL;
    clo_platform *platform = NULL;
    clo_cost *cost = NULL;
    bool is_right = false;

    if (build(&graph) || clo_platform_open("rk3588", &platform) || clo_cost_create(graph, platform, &cost))
        fprintf(stderr, "replicas: %s\n", clo_last_error());
    else
        is_right = compare(platform, cost, CLO_CLOCK_VIRTUAL) && compare(platform, cost, CLO_CLOCK_PADDED);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
    return is_right ? 0 : 1;
}
