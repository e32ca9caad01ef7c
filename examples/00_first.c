#include <clotho/clotho.h>
#include <stdio.h>

static int say(const clo_call *call)
{
    return printf("%s, on executor %u\n", (const char *)call->argument, call->executor) < 0;
}

int main(void)
{
    static const clo_task tasks[] = {{.body = say, .argument = "left", .work_ns = 9000},
                                     {.body = say, .argument = "right", .work_ns = 9000},
                                     {.body = say, .argument = "after both", .work_ns = 1000}};
    static const clo_edge edges[] = {{.from = 0, .to = 2}, {.from = 1, .to = 2}};
    static clo_graph *graph; /* static: what is not destroyed below ends with the process */
    static clo_platform *machine;
    static clo_cost *cost;
    static clo_plan *plan;
    static clo_runtime *runtime;
    static clo_job *job;

    if (clo_graph_create("first", &graph) || clo_graph_add_tasks(graph, tasks, 3, NULL) ||
        clo_graph_add_edges(graph, edges, 2) || clo_graph_seal(graph) || clo_platform_native(&machine) ||
        clo_cost_create(graph, machine, &cost) || clo_plan_create(cost, NULL, &plan) ||
        clo_runtime_create(machine, NULL, &runtime) ||
        clo_job_create(runtime, cost, &(clo_job_config){.size = sizeof(clo_job_config), .plan = plan}, &job) ||
        clo_job_submit(job) || clo_job_wait(job, NULL))
        return fprintf(stderr, "first: %s\n", clo_last_error()), 1;
    clo_job_destroy(job);
    clo_runtime_destroy(runtime);
    return 0;
}
