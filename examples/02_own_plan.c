/* 02_own_plan.c - a plan of your own: which executor runs which task when, checked, then executed as written.
 *
 * Two equal executors, three tasks: "long" alone on executor 1, "first" then "last" on executor 0. The virtual clock
 * takes times from the cost model, so the makespan is exactly the plan's on any machine. A plan that breaks the
 * edge first -> last must be refused by the checker. */
#include <clotho/clotho.h>
#include <stdio.h>

static int count(const clo_call *call)
{
    int so_far = call->inputs_count > 0 ? *(const int *)call->inputs[0] : 0;

    *(int *)call->output = so_far + 1;
    return 0;
}

static clo_status build(clo_graph **graph)
{
    static const clo_task tasks[] = {{.name = "first", .body = count, .work_ns = 40000, .output_bytes = sizeof(int)},
                                     {.name = "last", .body = count, .work_ns = 50000, .output_bytes = sizeof(int)},
                                     {.name = "long", .body = count, .work_ns = 90000, .output_bytes = sizeof(int)}};
    clo_status status = clo_graph_create("own", graph);

    for (int i = 0; i < 3 && status == CLO_OK; i++)
        status = clo_graph_add_task(*graph, &tasks[i], NULL);
    if (status == CLO_OK)
        status = clo_graph_add_edge(*graph, 0, 1, sizeof(int));
    return status == CLO_OK ? clo_graph_seal(*graph) : status;
}

static clo_status execute(const clo_platform *platform, const clo_cost *cost, const clo_plan *plan,
                          clo_job_result *result)
{
    clo_runtime_config virtual_clock = {.size = sizeof virtual_clock, .clock = CLO_CLOCK_VIRTUAL};
    clo_job_config replay = {.size = sizeof replay, .plan = plan};
    clo_runtime *runtime = NULL;
    clo_job *job = NULL;
    clo_status status = clo_runtime_create(platform, &virtual_clock, &runtime);

    if (status == CLO_OK)
        status = clo_job_create(runtime, cost, &replay, &job);
    if (status == CLO_OK)
        status = clo_job_submit(job);
    if (status == CLO_OK)
        status = clo_job_wait(job, result);
    clo_job_destroy(job);
    clo_runtime_destroy(runtime);
    return status;
}

int main(void)
{
    static const clo_placement good[] = {{.task = 0, .executor = 0, .start_ns = 0, .finish_ns = 40000},
                                         {.task = 1, .executor = 0, .start_ns = 40000, .finish_ns = 90000},
                                         {.task = 2, .executor = 1, .start_ns = 0, .finish_ns = 90000}};
    static const clo_placement bad[] = {/* "last" starts before "first" has finished */
                                        {.task = 0, .executor = 0, .start_ns = 0, .finish_ns = 40000},
                                        {.task = 1, .executor = 1, .start_ns = 10000, .finish_ns = 60000},
                                        {.task = 2, .executor = 0, .start_ns = 40000, .finish_ns = 130000}};
    clo_graph *graph = NULL;
    clo_platform *platform = NULL;
    clo_cost *cost = NULL;
    clo_plan *plan = NULL, *wrong = NULL;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    bool is_right = false;

    if (build(&graph) || clo_platform_open("uniform:2", &platform) || clo_cost_create(graph, platform, &cost) ||
        clo_plan_from_placements(cost, NULL, good, 3, &plan) || clo_plan_check(plan, cost, CLO_CHECK_FULL) ||
        clo_plan_from_placements(cost, NULL, bad, 3, &wrong) || execute(platform, cost, plan, &result)) {
        fprintf(stderr, "own plan: %s\n", clo_last_error());
    } else {
        clo_status refusal = clo_plan_check(wrong, cost, CLO_CHECK_FULL);

        printf("planned %lld ns, executed in %lld ns (virtual clock, emulated)\n",
               (long long)clo_plan_makespan_ns(plan), (long long)result.makespan_ns);
        printf("the wrong plan is refused: %s\n", refusal == CLO_ERR_INVALID ? clo_last_error() : "NO");
        is_right = refusal == CLO_ERR_INVALID && result.makespan_ns == 90000 && clo_plan_makespan_ns(plan) == 90000;
    }
    clo_plan_destroy(wrong);
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
    return is_right ? 0 : 1;
}
