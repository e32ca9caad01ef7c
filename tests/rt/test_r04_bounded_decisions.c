/* R4, bounded decisions: counted in steps, so the same on every machine. The worst graph: 10 000 instances ready at
 * once, most of which the executor that asks cannot run.
 * Mutation: let clo_view_step return true always, or take `is_cut` out of break_stall or of ask in
 * engine/scheduler/choose.c; the first test fails. */
#include "support.h"

#include "random.h"
#include "scene.h"

#define READY (SANITIZED ? 2000u : 10000u) /* one thread: a sanitizer sees as much in fewer */

static int do_nothing(const clo_call *call)
{
    (void)call;
    return 0;
}

/* Executor 0 can run one task in `every`; the other executors any. */
static clo_graph *all_ready(uint32_t every)
{
    clo_task task = {.body = do_nothing, .work_ns = 1000};
    clo_graph *graph;

    ok(clo_graph_create("all ready", &graph));
    for (uint32_t t = 0; t < READY; t++) {
        task.executors_mask = t % every == every - 1 ? 0 : ~(uint64_t)1;
        ok(clo_graph_add_task(graph, &task, NULL));
    }
    ok(clo_graph_seal(graph));
    return graph;
}

static void no_decision_takes_more_steps_than_allowed_and_every_job_ends(void **state)
{
    static const uint32_t bounds[] = {1, 2, 7, 64};

    (void)state;
    for (uint32_t every = 50; every <= READY / 2; every *= 10) {
        clo_graph *graph = all_ready(every);
        clo_platform *platform = scene_platform(3, 0);
        clo_cost *cost;

        ok(clo_cost_create(graph, platform, &cost));
        for (uint32_t p = 0; policy_at(p) != NULL; p++)
            for (size_t b = 0; b < sizeof bounds / sizeof bounds[0]; b++) {
                clo_sim_config config = CLO_SIM_CONFIG_INIT;
                clo_job_result result = CLO_JOB_RESULT_INIT;
                clo_trace *trace;
                clo_plan *happened;

                config.policy = policy_at(p);
                config.steps_max = bounds[b];
                ok(clo_simulate(cost, &config, &result, &trace, NULL));
                assert_int_equal(result.decisions, READY);
                assert_true(result.decision_steps <= bounds[b]);
                assert_int_equal(result.refused, 0); /* a decision that was cut is nobody's fault */
                ok(clo_trace_to_plan(trace, cost, &happened));
                ok(clo_plan_check(happened, cost, CLO_CHECK_FULL));
                clo_plan_destroy(happened);
                clo_trace_destroy(trace);
            }
        clo_cost_destroy(cost);
        clo_platform_destroy(platform);
        clo_graph_destroy(graph);
    }
}

static void without_a_bound_the_same_graph_takes_thousands_of_steps(void **state)
{
    clo_graph *graph = all_ready(READY / 2);
    clo_platform *platform = scene_platform(3, 0);
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_cost *cost;

    (void)state;
    ok(clo_cost_create(graph, platform, &cost));
    config.policy = clo_policy_find("fifo");
    ok(clo_simulate(cost, &config, &result, NULL, NULL));
    assert_true(result.decision_steps >= READY * 2 / 5);
    assert_int_equal(result.fallbacks, 0);
    config.steps_max = 16;
    ok(clo_simulate(cost, &config, &result, NULL, NULL));
    assert_int_equal(result.decision_steps, 16);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
}

/* The fallback takes what the policy would not have taken next: the policy must have forgotten it. */
static void random_jobs_are_valid_under_the_tightest_bound(void **state)
{
    const unsigned features = RANDOM_INSTANCES | RANDOM_MASKS | RANDOM_KINDS;
    uint64_t fallbacks = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        clo_graph *graph = random_graph(seed, features);
        clo_platform *platform = random_platform(seed, features);
        clo_sim_config config = CLO_SIM_CONFIG_INIT;
        clo_job_result result = CLO_JOB_RESULT_INIT;
        clo_trace *trace;
        clo_plan *happened;
        clo_cost *cost;

        ok(clo_cost_create(graph, platform, &cost));
        config.policy = policy_at((uint32_t)(seed % policies_count()));
        config.steps_max = 1;
        ok(clo_simulate(cost, &config, &result, &trace, NULL));
        ok(clo_trace_to_plan(trace, cost, &happened));
        ok(clo_plan_check(happened, cost, CLO_CHECK_FULL));
        fallbacks += result.fallbacks;
        clo_plan_destroy(happened);
        clo_trace_destroy(trace);
        clo_cost_destroy(cost);
        clo_platform_destroy(platform);
        clo_graph_destroy(graph);
    }
    assert_true(fallbacks > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_decision_takes_more_steps_than_allowed_and_every_job_ends),
        cmocka_unit_test(without_a_bound_the_same_graph_takes_thousands_of_steps),
        cmocka_unit_test(random_jobs_are_valid_under_the_tightest_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
