/* outside.c - what a stranger writes first: a graph, a plan, the check. Exit status 0 only if the plan is what it
 * must be. */
#include <clotho/clotho.h>
#include <stdio.h>

int main(void)
{
    clo_graph *graph = NULL;
    clo_platform *platform = NULL;
    clo_cost *cost = NULL;
    clo_plan *plan = NULL;
    clo_task task = CLO_TASK_INIT;
    clo_status status = clo_graph_create("outside", &graph);

    task.work_ns = 1000;
    for (int i = 0; i < 4 && status == CLO_OK; i++)
        status = clo_graph_add_task(graph, &task, NULL);
    for (uint32_t i = 1; i < 4 && status == CLO_OK; i++) /* a fork: one task, then three at once */
        status = clo_graph_add_edge(graph, 0, i, 0);
    if (status != CLO_OK || clo_graph_seal(graph) != CLO_OK || clo_platform_open("uniform:3", &platform) != CLO_OK ||
        clo_cost_create(graph, platform, &cost) != CLO_OK || clo_plan_create(cost, NULL, &plan) != CLO_OK ||
        clo_plan_check(plan, cost, CLO_CHECK_FULL) != CLO_OK) {
        fprintf(stderr, "outside: %s\n", clo_last_error());
        return 1;
    }
    long long makespan = (long long)clo_plan_makespan_ns(plan);
    printf("clotho %s: 4 tasks on 3 executors in %lld ns\n", clo_version(), makespan);
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
    return makespan == 2000 ? 0 : 1;
}
