/* 04_several_jobs.c - one hundred jobs at once on one runtime, all of the same sealed graph.
 *
 * A sealed graph is immutable, so jobs share it; each job has its own counters and buffers. Half of the jobs replay a
 * HEFT plan, half are dispatched by work stealing: the outputs must not depend on that. */
#include <clotho/clotho.h>
#include <stdio.h>

enum { JOBS = 100, TASKS = 64 };

static int mix(const clo_call *call)
{
    uint64_t x = 0x9e3779b97f4a7c15u * (call->task + 1u);

    for (uint32_t i = 0; i < call->inputs_count; i++)
        x = (x ^ *(const uint64_t *)call->inputs[i]) * 0xbf58476d1ce4e5b9u;
    for (int i = 0; i < 2000; i++)
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    *(uint64_t *)call->output = x;
    return 0;
}

static clo_status build(clo_graph **graph)
{
    clo_task task = {.body = mix, .work_ns = 5000, .output_bytes = sizeof(uint64_t)};
    clo_status status = clo_graph_create("many", graph);

    for (uint32_t i = 0; i < TASKS && status == CLO_OK; i++)
        status = clo_graph_add_task(*graph, &task, NULL);
    for (uint32_t i = 1; i < TASKS && status == CLO_OK; i++) {
        status = clo_graph_add_edge(*graph, i / 2, i, 8);
        if (status == CLO_OK && i >= 4)
            status = clo_graph_add_edge(*graph, i / 4, i, 8);
    }
    return status == CLO_OK ? clo_graph_seal(*graph) : status;
}

static clo_status run_all(clo_runtime *runtime, const clo_cost *cost, const clo_plan *plan, clo_job **jobs)
{
    clo_job_config replay = {.size = sizeof replay, .plan = plan}, steal = CLO_JOB_CONFIG_INIT;
    clo_status status = CLO_OK;

    for (int i = 0; i < JOBS && status == CLO_OK; i++)
        status = clo_job_create(runtime, cost, i % 2 ? &replay : &steal, &jobs[i]);
    for (int i = 0; i < JOBS && status == CLO_OK; i++)
        status = clo_job_submit(jobs[i]);
    for (int i = 0; i < JOBS && status == CLO_OK; i++)
        status = clo_job_wait(jobs[i], NULL);
    return status;
}

int main(void)
{
    clo_job *jobs[JOBS] = {NULL};
    clo_graph *graph = NULL;
    clo_platform *platform = NULL;
    clo_cost *cost = NULL;
    clo_plan *plan = NULL;
    clo_runtime *runtime = NULL;
    int equal = 0;

    if (build(&graph) || clo_platform_open("native", &platform) || clo_cost_create(graph, platform, &cost) ||
        clo_plan_create(cost, NULL, &plan) || clo_runtime_create(platform, NULL, &runtime) ||
        run_all(runtime, cost, plan, jobs)) {
        fprintf(stderr, "several jobs: %s\n", clo_last_error());
    } else {
        uint64_t hash = clo_job_output_hash(jobs[0]);

        for (int i = 0; i < JOBS; i++)
            equal += clo_job_output_hash(jobs[i]) == hash;
        printf("%d jobs of %d tasks on %u workers: %d with output %016llx\n", JOBS, TASKS, clo_runtime_workers(runtime),
               equal, (unsigned long long)hash);
    }
    for (int i = 0; i < JOBS; i++)
        clo_job_destroy(jobs[i]);
    clo_runtime_destroy(runtime);
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
    return equal == JOBS ? 0 : 1;
}
