// outside.cpp - the same from C++: config structs by their INIT, a lambda as a body.
#include <clotho/clotho.h>
#include <cstdio>
#include <memory>

int main()
{
    clo_graph *raw = nullptr;
    if (clo_graph_create("from C++", &raw) != CLO_OK)
        return 1;
    std::unique_ptr<clo_graph, void (*)(clo_graph *)> graph(raw, clo_graph_destroy);
    int ran = 0;
    clo_task task = CLO_TASK_INIT;
    task.body = [](const clo_call *call) {
        ++*static_cast<int *>(call->argument);
        return 0;
    };
    task.argument = &ran;
    task.work_ns = 1000;
    if (clo_graph_add_task(raw, &task, nullptr) != CLO_OK || clo_graph_seal(raw) != CLO_OK)
        return 1;

    clo_platform *platform = nullptr;
    clo_cost *cost = nullptr;
    if (clo_platform_open("uniform:1", &platform) != CLO_OK || clo_cost_create(raw, platform, &cost) != CLO_OK)
        return 1;
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    config.execute = 1;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_status status = clo_simulate(cost, &config, &result, nullptr, nullptr);
    std::printf("C++: status %d, ran %d, %lld ns\n", status, ran, static_cast<long long>(result.makespan_ns));
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    return status == CLO_OK && ran == 1 && result.makespan_ns == 1000 ? 0 : 1;
}
