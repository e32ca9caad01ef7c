/* 06_simulate.c - policies in virtual time: the engine that runs jobs, driven by an event heap in place of workers.
 *
 * Every built-in policy simulates the same layered graph on an RK3588. The result depends on nothing but the inputs, so
 * a second simulation must give the same makespan, and none may beat the lower bound. */
#include <clotho/clotho.h>
#include <stdio.h>

static bool simulate(const clo_cost *cost, const clo_policy *policy, int64_t lower_bound_ns)
{
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_job_result first = CLO_JOB_RESULT_INIT, second = CLO_JOB_RESULT_INIT;
    bool is_right;

    config.policy = policy;
    if (clo_simulate(cost, &config, &first, NULL, NULL) != CLO_OK ||
        clo_simulate(cost, &config, &second, NULL, NULL) != CLO_OK) {
        fprintf(stderr, "simulate: %s: %s\n", policy->name, clo_last_error());
        return false;
    }
    is_right = first.makespan_ns == second.makespan_ns && first.makespan_ns >= lower_bound_ns;
    printf("%-12s %10.3f ms %10.2f %10llu   %s\n", policy->name, (double)first.makespan_ns / 1e6,
           (double)first.makespan_ns / (double)lower_bound_ns, (unsigned long long)first.decisions,
           is_right ? policy->summary : "NOT DETERMINISTIC, OR BELOW THE LOWER BOUND");
    return is_right;
}

int main(void)
{
    clo_generate_config generate = {.size = sizeof generate, .seed = 1, .tasks = 300, .ccr = 0.5, .work_spread = 0.5};
    clo_graph *graph = NULL;
    clo_platform *platform = NULL;
    clo_cost *cost = NULL;
    clo_bound bound = CLO_BOUND_INIT;
    clo_entry entry = CLO_ENTRY_INIT;
    bool is_right = false;

    if (clo_graph_generate("layered", &generate, &graph) || clo_platform_open("rk3588", &platform) ||
        clo_cost_create(graph, platform, &cost) || clo_cost_bound(cost, &bound)) {
        fprintf(stderr, "simulate: %s\n", clo_last_error());
    } else {
        printf("%u tasks on %s, lower bound %.3f ms\n", clo_graph_tasks(graph), clo_platform_name(platform),
               (double)bound.best_ns / 1e6);
        printf("%-12s %13s %10s %10s\n", "policy", "makespan", "/ bound", "decisions");
        is_right = true;
        for (uint32_t i = 0; clo_registry_entry("policies", i, &entry); i++)
            is_right = simulate(cost, clo_policy_find(entry.name), bound.best_ns) && is_right;
    }
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
    return is_right ? 0 : 1;
}
