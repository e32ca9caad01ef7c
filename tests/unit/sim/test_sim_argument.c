/* The argument of a policy reaches all its functions in a simulation of one graph; what they return comes back, with a
 * text that names the policy. */
#include "support.h"

#include "scene.h"

static const int told = 7;
static uint32_t seen;

static size_t bytes_of_state(const clo_limits *limits, const void *argument)
{
    (void)limits;
    seen += argument == &told;
    return 1;
}

static clo_status see_in_prepare(void *job_state, const clo_cost *cost, const void *argument)
{
    (void)job_state;
    (void)cost;
    seen += argument == &told;
    return CLO_OK;
}

/* The oldest ready stage, where the argument is there. */
static bool choose(void *state, const clo_view *view, clo_choice *choice)
{
    clo_ready_stage oldest = clo_view_first_ready(view);

    (void)state;
    assert_ptr_equal(clo_view_argument(view), &told);
    choice->job = oldest.job;
    choice->stage = oldest.stage;
    return oldest.job != CLO_NONE;
}

static void a_policy_gets_its_argument_everywhere(void **state)
{
    const clo_policy policy = {.size = sizeof policy,
                               .name = "curious",
                               .state_bytes = bytes_of_state,
                               .prepare = see_in_prepare,
                               .decide = choose};
    const clo_task task = {.work_ns = 1000};
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_graph *graph = scene_layers(2, 2, &task);
    clo_platform *platform = scene_platform(2, 0);
    clo_cost *cost;

    (void)state;
    ok(clo_cost_create(graph, platform, &cost));
    config.policy = &policy;
    config.argument = &told;
    ok(clo_simulate(cost, &config, &result, NULL, NULL));
    assert_int_equal(result.executed, 4);
    assert_int_equal(result.refused, 0);
    assert_true(seen >= 2);
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    clo_platform_destroy(platform);
}

static clo_status refuse_job(void *job_state, const clo_cost *cost, const void *argument)
{
    (void)job_state;
    (void)cost;
    (void)argument;
    return CLO_ERR_LIMIT;
}

static clo_status refuse_all(void *state, const clo_view *view)
{
    (void)state;
    (void)view;
    return CLO_ERR_UNSUPPORTED;
}

/* Not the text of some failure before it: a policy of the caller's cannot store one itself. */
static void a_policy_that_fails_without_a_text_is_named(void **state)
{
    const clo_policy early = {.size = sizeof early, .name = "early", .prepare = refuse_job, .decide = choose};
    const clo_policy late = {.size = sizeof late, .name = "late", .init = refuse_all, .decide = choose};
    const clo_task task = {.work_ns = 1000};
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_graph *graph = scene_layers(1, 1, &task);
    clo_platform *platform = scene_platform(1, 0);
    clo_cost *cost;

    (void)state;
    ok(clo_cost_create(graph, platform, &cost));
    for (int round = 0; round < 2; round++) {
        config.policy = &early;
        assert_int_equal(clo_simulate(cost, &config, NULL, NULL, NULL), CLO_ERR_LIMIT);
        assert_string_equal(clo_last_error(),
                            "prepare of the policy 'early' has failed: a number is out of range or overflows");
        config.policy = &late;
        assert_int_equal(clo_simulate(cost, &config, NULL, NULL, NULL), CLO_ERR_UNSUPPORTED);
        assert_string_equal(clo_last_error(), "init of the policy 'late' has failed: not built into this library");
    }
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    clo_platform_destroy(platform);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_gets_its_argument_everywhere),
        cmocka_unit_test(a_policy_that_fails_without_a_text_is_named),
    };
    return cmocka_run_group_tests_name("argument", tests, NULL, NULL);
}
