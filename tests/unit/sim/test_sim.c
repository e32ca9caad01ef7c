/* The simulator and the policies on hand-computed schedules. */
#include "support.h"

#include "scene.h"
#include "trace/trace.h"

#include <string.h>

typedef struct fixture {
    clo_platform *platform;
    clo_graph *graph;
    clo_cost *cost;
} fixture;

/* Two executors, the second half as fast, each with its own memory: 100 ns a transfer.
 *
 *     a(1000) -> c(1000), b(400) -> d(2000), e(300); no bytes that matter */
static fixture make(void)
{
    const clo_executor executors[2] = {{0, 0, 0, -1, {65536, 65536, 65536, 65536}},
                                       {1, 0, 1, -1, {32768, 32768, 32768, 32768}}};
    const int64_t latency[4] = {0, 100, 100, 0};
    const struct {
        const char *name;
        int64_t work_ns;
    } tasks[] = {{"a", 1000}, {"b", 400}, {"c", 1000}, {"d", 2000}, {"e", 300}};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    fixture f;

    desc.executors_count = desc.kinds_count = 2;
    desc.executors = executors;
    desc.latency_ns = latency;
    ok(clo_platform_create(&desc, &f.platform));
    ok(clo_graph_create("five", &f.graph));
    for (int i = 0; i < 5; i++) {
        clo_task task = {.name = tasks[i].name, .work_ns = tasks[i].work_ns};
        ok(clo_graph_add_task(f.graph, &task, NULL));
    }
    ok(clo_graph_add_edge(f.graph, 0, 2, 0));
    ok(clo_graph_add_edge(f.graph, 1, 3, 0));
    ok(clo_graph_seal(f.graph));
    ok(clo_cost_create(f.graph, f.platform, &f.cost));
    return f;
}

static void drop(fixture *f)
{
    clo_cost_destroy(f->cost);
    clo_platform_destroy(f->platform);
    clo_graph_destroy(f->graph);
}

typedef struct expectation {
    uint32_t task, executor;
    int64_t start_ns, finish_ns;
} expectation;

static void expect(const char *policy, const expectation *want, int64_t makespan_ns)
{
    fixture f = make();
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_trace *trace;
    size_t count;

    config.policy = clo_policy_find(policy);
    config.deadline_ns = makespan_ns - 1;
    ok(clo_simulate(f.cost, &config, &result, &trace, NULL));
    assert_int_equal(result.makespan_ns, makespan_ns);
    assert_int_equal(result.missed_deadline, 1);
    assert_int_equal(result.decisions, 5);
    assert_int_equal(result.refused, 0);
    const clo_trace_event *events = clo_trace_events(trace, &count);
    assert_int_equal(count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(events[i].task, want[i].task);
        assert_int_equal(events[i].executor, want[i].executor);
        assert_int_equal(events[i].start_ns, want[i].start_ns);
        assert_int_equal(events[i].finish_ns, want[i].finish_ns);
    }
    clo_trace_destroy(trace);
    drop(&f);
}

static void fifo_serves_in_order_of_readiness(void **state)
{
    (void)state;
    const expectation want[5] = {
        {1, 1, 0, 800}, {0, 0, 0, 1000}, {4, 1, 800, 1400}, {3, 0, 1100, 3100}, {2, 1, 1500, 3500}};
    expect("fifo", want, 3500);
}

static void rank_serves_the_longest_way_to_the_end_first(void **state)
{
    (void)state;
    /* means over both: a 1500 b 600 c 1500 d 3000 e 450, transfers 100: rank b 3700, a 3100, d 3000 */
    const expectation want[5] = {
        {1, 0, 0, 400}, {0, 1, 0, 2000}, {3, 0, 400, 2400}, {2, 1, 2000, 4000}, {4, 0, 2400, 2700}};
    expect("rank", want, 4000);
}

static void eft_gives_each_instance_to_whom_ends_it_first(void **state)
{
    (void)state;
    /* a: 1000 on 0; b: 800 on 1 (1400 on 0); e: 1300 on 0 (1400 on 1); at 800 d: 3300 on 0 after a and e, its input
     * sent at once (4800 on 1); at 1000 c: 4300 on 0 after d (3100 on 1, sent at 1000) */
    const expectation want[5] = {
        {1, 1, 0, 800}, {0, 0, 0, 1000}, {4, 0, 1000, 1300}, {2, 1, 1100, 3100}, {3, 0, 1300, 3300}};
    expect("eft", want, 3300);
}

static void steal_takes_its_own_newest_first_and_the_others_oldest(void **state)
{
    (void)state;
    /* dealt: 0 has a, e; 1 has b. 0 takes e, 1 takes b; 0 then a; 1 then d; 0 then c. */
    const expectation want[5] = {
        {4, 0, 0, 300}, {1, 1, 0, 800}, {0, 0, 300, 1300}, {3, 1, 800, 4800}, {2, 0, 1300, 2300}};
    expect("steal", want, 4800);
}

static void the_view_tells_what_is_and_not_what_will_be(void **state)
{
    (void)state;
    assert_null(clo_policy_find("no such policy"));
    assert_null(clo_policy_find(NULL));
    assert_null(policy_at(1000));
    assert_ptr_equal(policy_at(0), clo_policy_find("steal"));
    for (uint32_t i = 0; policy_at(i) != NULL; i++)
        assert_true(strlen(policy_at(i)->summary) > 10);
}

static int fail_third(const clo_call *call)
{
    return call->task == 2 ? 7 : 0;
}

static void a_failing_body_ends_the_simulation_with_its_task(void **state)
{
    (void)state;
    clo_task task = {.body = fail_third, .work_ns = 10};
    clo_graph *graph = scene_layers(4, 1, &task);
    clo_platform *platform = scene_platform(1, 0);
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_cost *cost;

    ok(clo_cost_create(graph, platform, &cost));
    config.execute = 1;
    fails(CLO_ERR_TASK, "task 't2' failed with 7", clo_simulate(cost, &config, &result, NULL, NULL));
    assert_int_equal(result.failed_task, 2);
    assert_int_equal(result.failed_code, 7);
    config.execute = 0; /* bodies are not called */
    ok(clo_simulate(cost, &config, &result, NULL, NULL));
    assert_int_equal(result.makespan_ns, 40);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
}

/* Task "a" of the fixture has no replica: neither the last of the list nor what lies behind it may be taken for one. */
static void a_recorded_replica_that_the_plan_lacks_is_refused(void **state)
{
    (void)state;
    static const clo_placement own[3] = {{.task = 0, .executor = 0, .finish_ns = 10},
                                         {.task = 1, .executor = 0, .start_ns = 10, .finish_ns = 20},
                                         {.task = 1, .executor = 1, .is_replica = 1, .finish_ns = 10}};
    clo_task task = {.work_ns = 10, .duplicable = 1};
    clo_platform *platform = scene_platform(2, 1);
    clo_graph *graph = scene_layers(1, 2, &task);
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_cost *cost;
    clo_plan *plan;
    clo_trace *trace, *forged;
    clo_trace_event events[3];
    size_t count;

    ok(clo_cost_create(graph, platform, &cost));
    ok(clo_plan_from_placements(cost, NULL, own, 3, &plan));
    config.plan = plan;
    ok(clo_simulate(cost, &config, NULL, &trace, NULL));
    memcpy(events, clo_trace_events(trace, &count), sizeof events);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < 3; i++)
        if (events[i].is_replica)
            events[i].task = events[i].executor = 0;
    ok(clo_trace_create(cost, false, events, 3, &forged));
    config.recorded = forged;
    fails(CLO_ERR_STATE, "the recorded run is of another graph or platform",
          clo_simulate(cost, &config, NULL, NULL, NULL));
    clo_trace_destroy(forged);
    clo_trace_destroy(trace);
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
}

/* Also over an edge with as many bytes as a number can say. */
static void data_take_the_latency_of_the_link_whatever_they_weigh(void **state)
{
    static const uint64_t bytes[] = {0, 1, 1ull << 63, UINT64_MAX - 1, UINT64_MAX};
    (void)state;

    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++) {
        fixture f = make();
        const clo_placement placements[] = {{.executor = 0, .finish_ns = 10},
                                            {.task = 1, .executor = 1, .start_ns = 110, .finish_ns = 130}};
        clo_placement early[] = {placements[0], placements[1]};
        clo_sim_config config = CLO_SIM_CONFIG_INIT;
        clo_job_result result = CLO_JOB_RESULT_INIT;
        clo_task task = {.work_ns = 10};
        clo_plan *plan;

        clo_cost_destroy(f.cost);
        clo_graph_destroy(f.graph);
        ok(clo_graph_create("two", &f.graph));
        ok(clo_graph_add_task(f.graph, &task, NULL));
        ok(clo_graph_add_task(f.graph, &task, NULL));
        ok(clo_graph_add_edge(f.graph, 0, 1, bytes[i]));
        ok(clo_graph_seal(f.graph));
        ok(clo_cost_create(f.graph, f.platform, &f.cost));
        ok(clo_plan_from_placements(f.cost, NULL, placements, 2, &plan));
        ok(clo_plan_check(plan, f.cost, CLO_CHECK_FULL));
        config.plan = plan;
        ok(clo_simulate(f.cost, &config, &result, NULL, NULL));
        assert_int_equal(result.makespan_ns, 130);
        clo_plan_destroy(plan);
        early[1].start_ns--, early[1].finish_ns--;
        ok(clo_plan_from_placements(f.cost, NULL, early, 2, &plan));
        fails(CLO_ERR_INVALID, "arrives at 110 ns", clo_plan_check(plan, f.cost, CLO_CHECK_FULL));
        clo_plan_destroy(plan);
        drop(&f);
    }
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    fixture f = make();
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    const clo_placement one = {.finish_ns = 1000};
    clo_policy empty = {.name = "empty"};
    clo_plan *plan;

    fails(CLO_ERR_ARGUMENT, "cost is NULL", clo_simulate(NULL, NULL, NULL, NULL, NULL));
    config.policy = &empty;
    fails(CLO_ERR_ARGUMENT, "no decide", clo_simulate(f.cost, &config, NULL, NULL, NULL));
    ok(clo_plan_from_placements(f.cost, NULL, &one, 1, &plan));
    config.plan = plan;
    fails(CLO_ERR_ARGUMENT, "both", clo_simulate(f.cost, &config, NULL, NULL, NULL));
    config.policy = NULL;
    fails(CLO_ERR_INVALID, "1 placements for 5", clo_simulate(f.cost, &config, NULL, NULL, NULL));
    config.size = 3;
    fails(CLO_ERR_ARGUMENT, "size is 3", clo_simulate(f.cost, &config, NULL, NULL, NULL));
    clo_plan_destroy(plan);
    drop(&f);
}

/* Already one release, and each of the three alone. */
static void releases_need_a_number_in_flight(void **state)
{
    const char *error = "without releases_in_flight";
    fixture f = make();
    clo_sim_config releases = CLO_SIM_CONFIG_INIT, period = CLO_SIM_CONFIG_INIT, timing = CLO_SIM_CONFIG_INIT;
    clo_job_timing times = CLO_JOB_TIMING_INIT;

    (void)state;
    releases.releases = 1;
    fails(CLO_ERR_ARGUMENT, error, clo_simulate(f.cost, &releases, NULL, NULL, NULL));
    period.period_ns = 1;
    fails(CLO_ERR_ARGUMENT, error, clo_simulate(f.cost, &period, NULL, NULL, NULL));
    timing.timing = &times;
    fails(CLO_ERR_ARGUMENT, error, clo_simulate(f.cost, &timing, NULL, NULL, NULL));
    drop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fifo_serves_in_order_of_readiness),
        cmocka_unit_test(rank_serves_the_longest_way_to_the_end_first),
        cmocka_unit_test(eft_gives_each_instance_to_whom_ends_it_first),
        cmocka_unit_test(steal_takes_its_own_newest_first_and_the_others_oldest),
        cmocka_unit_test(the_view_tells_what_is_and_not_what_will_be),
        cmocka_unit_test(a_failing_body_ends_the_simulation_with_its_task),
        cmocka_unit_test(a_recorded_replica_that_the_plan_lacks_is_refused),
        cmocka_unit_test(data_take_the_latency_of_the_link_whatever_they_weigh),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(releases_need_a_number_in_flight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
