// outside.cpp - the same from C++: config structs by their INIT, a lambda as a body, exceptions out of bodies.
#include <clotho/clotho.h>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>

// Throws in one run, and sees in the next one what is left of that on its thread.
struct thrower {
    bool throws;
    int destroyed, uncaught;
};

static int throw_one(const clo_call *call)
{
    thrower *own = static_cast<thrower *>(call->argument);
    struct note {
        thrower *own;
        ~note() { own->destroyed++; }
    } seen{own};

    own->uncaught += std::uncaught_exceptions();
    if (own->throws)
        throw std::runtime_error("out of a body");
    return 0;
}

// Whatever thread runs the body: the exception ends there, and its job fails.
static bool fails_its_job(const clo_platform *platform, int help)
{
    thrower own{true, 0, 0};
    clo_task task = CLO_TASK_INIT;
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_graph *graph = nullptr;
    clo_cost *cost = nullptr;
    clo_runtime *runtime = nullptr;
    clo_job *job = nullptr;
    bool is_good = true;

    task.body = throw_one;
    task.argument = &own;
    task.work_ns = 10;
    config.unpinned = 1;
    config.help = help;
    if (clo_graph_create("throws", &graph) != CLO_OK || clo_graph_add_task(graph, &task, nullptr) != CLO_OK ||
        clo_graph_seal(graph) != CLO_OK || clo_cost_create(graph, platform, &cost) != CLO_OK ||
        clo_runtime_create(platform, &config, &runtime) != CLO_OK ||
        clo_job_create(runtime, cost, nullptr, &job) != CLO_OK)
        return false;
    for (int run = 0; run < 40; run++) {
        clo_job_result result = CLO_JOB_RESULT_INIT;
        own.throws = run % 2 == 0;
        try {
            is_good = is_good && clo_job_submit(job) == CLO_OK;
            clo_status status = clo_job_wait(job, &result);
            is_good = is_good && status == (own.throws ? CLO_ERR_TASK : CLO_OK) &&
                      (!own.throws || result.failed_code == CLO_FAILED_THROWN);
        } catch (...) {
            is_good = false;
        }
    }
    clo_job_destroy(job);
    clo_runtime_destroy(runtime);
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    return is_good && own.destroyed == 40 && own.uncaught == 0 && std::uncaught_exceptions() == 0;
}

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
    bool is_kept = fails_its_job(platform, 1) && fails_its_job(platform, -1);
    if (!is_kept)
        std::printf("C++: an exception out of a body did not fail its job\n");
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    return is_kept && status == CLO_OK && ran == 1 && result.makespan_ns == 1000 ? 0 : 1;
}
