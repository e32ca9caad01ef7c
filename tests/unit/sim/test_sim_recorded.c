/* A recorded run replayed: the same events, the same result; a record of something else is refused. */
#include "random.h"
#include "scene.h"

#include <string.h>

typedef struct setting {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
} setting;

static setting setting_of(clo_graph *graph, clo_platform *platform)
{
    setting s = {graph, platform, NULL};

    ok(clo_cost_create(graph, platform, &s.cost));
    return s;
}

static void close_setting(setting *s)
{
    clo_cost_destroy(s->cost);
    clo_platform_destroy(s->platform);
    clo_graph_destroy(s->graph);
}

/* Simulates, replays what was recorded, and compares; returns the makespan. */
static int64_t replay_equals(const setting *s, const clo_sim_config *config)
{
    clo_sim_config again = *config;
    clo_job_result first = CLO_JOB_RESULT_INIT, second = CLO_JOB_RESULT_INIT;
    clo_trace *recorded, *replayed;
    size_t count, count_again;

    ok(clo_simulate(s->cost, config, &first, &recorded, NULL));
    again.recorded = recorded;
    ok(clo_simulate(s->cost, &again, &second, &replayed, NULL));
    assert_int_equal(first.makespan_ns, second.makespan_ns);
    assert_int_equal(first.busy_ns, second.busy_ns);
    assert_int_equal(first.executed, second.executed);
    assert_int_equal(first.transfers, second.transfers);
    const clo_trace_event *a = clo_trace_events(recorded, &count), *b = clo_trace_events(replayed, &count_again);
    assert_int_equal(count, count_again);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(a[i].task, b[i].task);
        assert_int_equal(a[i].executor, b[i].executor);
        assert_int_equal(a[i].finish_ns, b[i].finish_ns);
        assert_int_equal(a[i].sequence, b[i].sequence);
    }
    clo_trace_destroy(recorded);
    clo_trace_destroy(replayed);
    return first.makespan_ns;
}

static void a_replay_has_the_events_and_the_result_of_the_record(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 25; seed++) {
        setting s = setting_of(random_graph(seed, RANDOM_INSTANCES), random_platform(seed, 0));
        clo_sim_config config = CLO_SIM_CONFIG_INIT;
        clo_plan *plan;
        for (uint32_t p = 0; (config.policy = policy_at(p)) != NULL; p++)
            replay_equals(&s, &config);
        ok(clo_plan_create(s.cost, NULL, &plan));
        config.plan = plan;
        replay_equals(&s, &config);
        clo_plan_destroy(plan);
        close_setting(&s);
    }
}

static void a_run_of_no_length_has_no_length_in_the_replay(void **state)
{
    (void)state;
    clo_task nothing = {.work_ns = 0};
    setting s = setting_of(scene_layers(3, 2, &nothing), scene_platform(2, 0));
    clo_sim_config config = CLO_SIM_CONFIG_INIT;

    assert_int_equal(replay_equals(&s, &config), 0);
    close_setting(&s);
}

static void a_record_with_more_tasks_or_more_instances_is_refused(void **state)
{
    (void)state;
    clo_task task = {.work_ns = 10}, twice = {.work_ns = 10, .instances = 2};
    setting own = setting_of(scene_layers(1, 4, &task), scene_platform(4, 0));
    setting others[] = {setting_of(scene_layers(1, 2, &twice), scene_platform(4, 0)),
                        setting_of(scene_layers(1, 5, &task), scene_platform(4, 0))};

    for (int i = 0; i < 2; i++) {
        clo_sim_config config = CLO_SIM_CONFIG_INIT;
        clo_trace *recorded, *untouched = NULL;
        ok(clo_simulate(others[i].cost, &config, NULL, &recorded, NULL));
        config.recorded = recorded;
        fails(CLO_ERR_ARGUMENT, "of another graph or platform",
              clo_simulate(own.cost, &config, NULL, &untouched, NULL));
        assert_null(untouched);
        clo_trace_destroy(recorded);
        close_setting(&others[i]);
    }
    close_setting(&own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replay_has_the_events_and_the_result_of_the_record),
        cmocka_unit_test(a_run_of_no_length_has_no_length_in_the_replay),
        cmocka_unit_test(a_record_with_more_tasks_or_more_instances_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
