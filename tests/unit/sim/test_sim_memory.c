/* Tasks that slow each other down because they use one memory, in cases that were computed by hand.
 * Mutation: in sim/slowing.c leave go_on out of clo_slowing_end; leave share out of clo_slowing_settle; in
 * profile/memory.c round moved_q32 down; in sim/sim.c put the end in place of the start of a policy's execution. */
#include "fault.h"
#include "memory_scene.h"

#define ALL CLO_MEMORY_SHARE_ONE

typedef struct span {
    int64_t start_ns, finish_ns;
} span;

static const int64_t thousand[3] = {1000, -1, -1};

/* As a plan, and as policies do it that have no choice. */
static void expect(const int64_t capacities[3], const memory_task *tasks, const span *spans, uint32_t count)
{
    static const char *const ways[] = {NULL, "steal", "fifo"};
    memory_scene s = memory_open(memory_platform(capacities, 0), tasks, count);

    for (int w = 0; w < 3; w++) {
        clo_trace_event happened[MEMORY_TASKS_MAX] = {0};
        int64_t busy_ns = 0, makespan_ns = 0;
        clo_job_result result = memory_simulate(&s, ways[w], s.parts, happened);
        for (uint32_t t = 0; t < count; t++) {
            assert_int_equal(happened[t].start_ns, spans[t].start_ns);
            assert_int_equal(happened[t].finish_ns, spans[t].finish_ns);
            busy_ns += spans[t].finish_ns - spans[t].start_ns;
            makespan_ns = spans[t].finish_ns > makespan_ns ? spans[t].finish_ns : makespan_ns;
        }
        assert_int_equal(result.busy_ns, busy_ns);
        assert_int_equal(result.makespan_ns, makespan_ns);
    }
    memory_close(&s);
}

static void two_tasks_share_a_memory_until_one_ends(void **state)
{
    (void)state;
    expect(thousand, (memory_task[]){{0, 100, {ALL, 1000}, 0}, {1, 100, {ALL, 1000}, 0}}, (span[]){{0, 200}, {0, 200}},
           2);
    expect(thousand, (memory_task[]){{0, 100, {ALL, 1000}, 0}, {1, 300, {ALL, 1000}, 0}}, (span[]){{0, 200}, {0, 400}},
           2);
    /* 600 and 900 of 1000: both 1.5 times as long */
    expect(thousand, (memory_task[]){{0, 200, {ALL, 600}, 0}, {1, 300, {ALL, 900}, 0}}, (span[]){{0, 300}, {0, 400}},
           2);
}

static void a_capacity_that_is_exactly_met_slows_nobody(void **state)
{
    (void)state;
    expect(thousand, (memory_task[]){{0, 1000, {ALL, 500}, 0}, {1, 1000, {ALL, 500}, 0}},
           (span[]){{0, 1000}, {0, 1000}}, 2);
    expect(thousand, (memory_task[]){{0, 1000, {ALL, 501}, 0}, {1, 1000, {ALL, 500}, 0}},
           (span[]){{0, 1001}, {0, 1001}}, 2);
    expect(thousand, (memory_task[]){{0, 1000, {ALL / 2, 1000}, 0}, {1, 1000, {ALL / 2, 1000}, 0}},
           (span[]){{0, 1000}, {0, 1000}}, 2);
}

/* One that moves more than the memory can is slowed alone. */
static void a_task_alone_is_slowed_by_the_memory_itself(void **state)
{
    (void)state;
    expect(thousand, (memory_task[]){{0, 1000, {ALL, 3000}, 0}}, (span[]){{0, 3000}}, 1);
    expect(thousand, (memory_task[]){{0, 1000, {ALL / 4, 8000}, 0}}, (span[]){{0, 2000}},
           1); /* 250 of 1000 ns: s = 5 */
}

/* A alone to 100, with B to 200, with both to 350, with C to 450, alone to 500. */
static void three_tasks_with_starts_and_ends_inside(void **state)
{
    const memory_task tasks[] = {{0, 300, {ALL, 1000}, 0},
                                 {1, 100, {0, 0}, 0},
                                 {2, 200, {0, 0}, 0},
                                 {1, 100, {ALL, 1000}, 2},
                                 {2, 100, {ALL, 1000}, 3}};

    (void)state;
    expect(thousand, tasks, (span[]){{0, 500}, {0, 100}, {0, 200}, {100, 350}, {200, 450}}, 5);
}

/* 750 of 1000 where both move half of their time: 500 / (1/2 + s/2) = 375, so both take 4/3 of their time. */
static void only_the_memory_part_is_stretched(void **state)
{
    const int64_t capacities[3] = {750, -1, -1};

    (void)state;
    expect(capacities, (memory_task[]){{0, 300, {ALL / 2, 1000}, 0}, {1, 300, {ALL / 2, 1000}, 0}},
           (span[]){{0, 400}, {0, 400}}, 2);
    /* 1 / s + 1 / (1 + s) = 1: the golden ratio; the second is 2 / (1 + s) as fast, then alone */
    expect(thousand, (memory_task[]){{0, 1000000000, {ALL, 1000}, 0}, {1, 2000000000, {ALL / 2, 1000}, 0}},
           (span[]){{0, 1618033989}, {0, 2381966011}}, 2);
}

static void what_moves_nothing_neither_slows_nor_is_slowed(void **state)
{
    (void)state;
    expect(thousand, (memory_task[]){{0, 100, {0, 1000}, 0}, {1, 100, {ALL, 1000}, 0}, {2, 100, {0, 0}, 0}},
           (span[]){{0, 100}, {0, 100}, {0, 100}}, 3);
    expect(thousand, (memory_task[]){{0, 0, {ALL, 1000}, 0}, {1, 100, {ALL, 1000}, 0}}, (span[]){{0, 0}, {0, 100}}, 2);
}

/* Executors 0 and 1 use memory 0, 2 and 3 memory 1. A memory's own capacity counts in place of the machine's. */
static void each_memory_has_its_own_capacity(void **state)
{
    const memory_task tasks[] = {
        {0, 100, {ALL, 1000}, 0}, {1, 100, {ALL, 1000}, 0}, {2, 100, {ALL, 1000}, 0}, {3, 100, {ALL, 1000}, 0}};

    (void)state;
    expect((const int64_t[]){-1, 1000, -1}, tasks, (span[]){{0, 200}, {0, 200}, {0, 100}, {0, 100}}, 4);
    expect((const int64_t[]){-1, 1000, 500}, tasks, (span[]){{0, 200}, {0, 200}, {0, 400}, {0, 400}}, 4);
    expect((const int64_t[]){4000, 1000, -1}, tasks, (span[]){{0, 200}, {0, 200}, {0, 100}, {0, 100}}, 4);
    expect((const int64_t[]){1000, -1, 2000}, tasks, (span[]){{0, 200}, {0, 200}, {0, 100}, {0, 100}}, 4);
    expect((const int64_t[]){-1, -1, -1}, tasks, (span[]){{0, 100}, {0, 100}, {0, 100}, {0, 100}}, 4);
}

/* The original on memory 0 beside another task, the replica alone on memory 1. */
static void one_task_on_two_memories_is_slowed_where_another_one_runs(void **state)
{
    const memory_task tasks[] = {{0, 100, {ALL, 1000}, 0}, {1, 300, {ALL, 1000}, 0}};
    const clo_placement placements[] = {{0, 0, 0, 0, 0, 100}, {0, 0, 2, 1, 0, 100}, {1, 0, 1, 0, 0, 300}};
    memory_scene s = memory_open(memory_platform((const int64_t[]){-1, 1000, 1000}, 0), tasks, 2);
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_plan *plan;
    clo_trace *trace;
    size_t count;

    (void)state;
    clo_graph_destroy(s.graph); /* the tasks may run anywhere */
    clo_cost_destroy(s.cost);
    ok(clo_graph_create("two", &s.graph));
    for (int t = 0; t < 2; t++)
        ok(clo_graph_add_task(s.graph, &(clo_task){.work_ns = tasks[t].length_ns, .duplicable = 1}, NULL));
    ok(clo_graph_seal(s.graph));
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    ok(clo_plan_from_placements(s.cost, NULL, placements, 3, &plan));
    config.plan = plan;
    config.memory_parts = s.parts;
    ok(clo_simulate(s.cost, &config, NULL, &trace, NULL));
    const clo_trace_event *events = clo_trace_events(trace, &count);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(events[i].finish_ns, events[i].executor == 0 ? 200 : events[i].executor == 1 ? 400 : 100);
    clo_trace_destroy(trace);
    clo_plan_destroy(plan);
    memory_close(&s);
}

static void the_largest_numbers_saturate(void **state)
{
    const int64_t most[3] = {INT64_MAX, -1, -1}, one[3] = {1, -1, -1}, length_ns = INT64_C(1) << 58;
    memory_scene s = memory_open(memory_platform(one, 0), (memory_task[]){{0, length_ns, {ALL, 1000000000}, 0}}, 1);
    clo_trace_event happened[MEMORY_TASKS_MAX] = {0};

    (void)state;
    expect(most, (memory_task[]){{0, 100, {ALL, 1000000000}, 0}, {1, 100, {ALL, 1000000000}, 0}},
           (span[]){{0, 100}, {0, 100}}, 2);
    expect(thousand, (memory_task[]){{0, length_ns, {ALL, 1000}, 0}, {1, length_ns, {ALL, 1000}, 0}},
           (span[]){{0, 2 * length_ns}, {0, 2 * length_ns}}, 2);
    assert_int_equal(memory_simulate(&s, NULL, s.parts, happened).makespan_ns, INT64_MAX);
    memory_close(&s);
}

/* Under a policy an execution whose inputs are still on their way keeps its executor, and moves nothing yet: B is
 * ordered at 100 and begins at 150 beside A, of which 10 are left. Both take twice as long until A ends. */
static void an_execution_that_waits_for_data_moves_nothing(void **state)
{
    const memory_task tasks[] = {{0, 160, {ALL, 1000}, 0}, {1, 100, {0, 0}, 0}, {2, 50, {ALL, 1000}, 2}};
    memory_scene s = memory_open(memory_platform(thousand, 50), tasks, 3);
    const char *const ways[] = {NULL, "fifo"};

    (void)state;
    for (int w = 0; w < 2; w++) {
        clo_trace_event happened[MEMORY_TASKS_MAX] = {0};
        memory_simulate(&s, ways[w], s.parts, happened);
        assert_int_equal(happened[2].start_ns, 150);
        assert_int_equal(happened[2].finish_ns, 210);
        assert_int_equal(happened[0].finish_ns, 170);
    }
    memory_close(&s);
}

/* Of a pair of a task and a stream, the part says what was measured. */
static void a_part_is_found_again_from_the_slowdown_that_it_causes(void **state)
{
    (void)state;
    for (uint32_t share = 1; share <= 16; share++) {
        const clo_memory_part part = {share * ALL / 16, 900};
        const memory_task tasks[] = {{0, 1000000, part, 0}, {1, 100000000, {ALL, 800}, 0}};
        memory_scene s = memory_open(memory_platform(thousand, 0), tasks, 2);
        clo_trace_event happened[MEMORY_TASKS_MAX] = {0};
        memory_simulate(&s, NULL, s.parts, happened);
        int64_t beside_ns = happened[0].finish_ns - happened[0].start_ns;
        clo_memory_part found = clo_memory_part_of(1000000, beside_ns, 900, 800, 1000);
        assert_true(beside_ns == 1000000 || llabs((int64_t)found.share_q16 - part.share_q16) <= 2);
        assert_int_equal(found.mbps, beside_ns > 1000000 ? 900 : 0);
        memory_close(&s);
    }
    assert_int_equal(clo_memory_part_of(100, 100, 900, 800, 1000).share_q16, 0);   /* not slower */
    assert_int_equal(clo_memory_part_of(100, 150, 500, 500, 1000).share_q16, 0);   /* within the capacity */
    assert_int_equal(clo_memory_part_of(100, 900, 900, 800, 1000).share_q16, ALL); /* more than any share explains */
    assert_int_equal(clo_memory_part_of(0, 150, 900, 800, 1000).share_q16, 0);
    assert_int_equal(clo_memory_part_of(100, 150, 0, 800, 1000).share_q16, 0);
    assert_int_equal(clo_memory_part_of(100, 150, 900, 800, 0).share_q16, 0);
}

static void capacities_are_found_by_name(void **state)
{
    clo_platform *p = memory_platform((const int64_t[]){4000, 1000, -1}, 0),
                 *none = memory_platform((const int64_t[]){-1, -1, -1}, 0);
    uint32_t first, second, third;

    (void)state;
    assert_int_equal(clo_memory_capacity_mbps(p, 0, &first), 1000);
    assert_int_equal(clo_memory_capacity_mbps(p, 1, &second), 1000);
    assert_int_equal(clo_memory_capacity_mbps(p, 2, &third), 4000);
    assert_true(first == second && first != third && third != CLO_NONE);
    assert_int_equal(clo_memory_capacity_mbps(p, 4, &third), -1);
    assert_true(third == CLO_NONE);
    assert_int_equal(clo_memory_capacity_mbps(none, 0, NULL), -1);
    clo_platform_destroy(p);
    clo_platform_destroy(none);
}

/* Amounts of something else, by index: on no platform that states what its memory moves are they MB/s. */
static void demands_without_a_name_are_none_of_the_memory(void **state)
{
    const clo_placement placements[] = {{0, 0, 0, 0, 0, 100}, {1, 0, 1, 0, 0, 100}};
    clo_platform *platform = memory_platform(thousand, 0);
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_stream_case stream = CLO_STREAM_CASE_INIT;
    clo_stream_result result = CLO_STREAM_RESULT_INIT;
    clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
    clo_log_header about = CLO_LOG_HEADER_INIT;
    const clo_log_policy fifo = {.name = "fifo"};
    clo_workload *workload;
    clo_graph *graph;
    clo_cost *cost;
    clo_plan *plan;
    clo_log *log;

    (void)state;
    ok(clo_graph_create("unnamed", &graph));
    for (int t = 0; t < 2; t++)
        ok(clo_graph_add_task(graph, &(clo_task){.work_ns = 100, .demand = {0, 5000}}, NULL));
    ok(clo_graph_seal(graph));
    ok(clo_cost_create(graph, platform, &cost));
    ok(clo_plan_from_placements(cost, NULL, placements, 2, &plan));
    ok(clo_plan_check(plan, cost, CLO_CHECK_FULL));
    ok(clo_workload_create("unnamed", &workload));
    job.graph = graph;
    ok(clo_workload_add(workload, &job));
    about.clock = CLO_CLOCK_VIRTUAL;
    about.executors = MEMORY_EXECUTORS_MAX;
    about.policies = &fifo;
    about.policies_count = 1;
    ok(clo_log_create(&about, 100, &log));
    config.policy = clo_policy_find("fifo");
    config.log = log;
    ok(clo_stream_simulate(workload, platform, &config, &result));
    assert_int_equal(result.makespan_ns, 100);
    stream.platform = platform;
    size_t count;
    const clo_stream_job judged = {.job = clo_log_records(log, &count)[1].job, .cost = cost, .weight = 1};
    stream.jobs = &judged;
    stream.jobs_count = 1;
    ok(clo_stream_check(&stream, log, NULL));
    clo_log_destroy(log);
    clo_workload_destroy(workload);
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    clo_platform_destroy(platform);
}

static clo_status with(const memory_scene *s, clo_sim_config *config)
{
    config->plan = config->recorded == NULL ? s->plan : NULL;
    return clo_simulate(s->cost, config, NULL, NULL, NULL);
}

static void what_does_not_go_together_is_refused_by_name(void **state)
{
    const memory_task tasks[] = {{0, 100, {ALL, 1000}, 0}, {1, 100, {ALL, 1000}, 0}};
    memory_scene s = memory_open(memory_platform(thousand, 0), tasks, 2);
    memory_scene zero = memory_open(memory_platform((const int64_t[]){0, -1, -1}, 0), tasks, 2);
    clo_memory_part parts[2] = {{ALL + 1, 1000}, {ALL, 1000}};
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_trace *trace;

    (void)state;
    config.plan = s.plan;
    ok(clo_simulate(s.cost, &config, NULL, &trace, NULL));
    config.memory_parts = parts;
    fails(CLO_ERR_ARGUMENT, "task 0 on kind 0: a memory part of 65537", with(&s, &config));
    parts[0] = (clo_memory_part){ALL, 0};
    fails(CLO_ERR_ARGUMENT, "at 0 MB/s", with(&s, &config));
    parts[0] = (clo_memory_part){ALL, CLO_MEMORY_MBPS_MAX + 1};
    fails(CLO_ERR_ARGUMENT, "1000000001 MB/s", with(&s, &config));
    config.memory_parts = s.parts;
    fails(CLO_ERR_ARGUMENT, "is 0", with(&zero, &config));
    config.releases_in_flight = 2;
    fails(CLO_ERR_UNSUPPORTED, "releases in flight", with(&s, &config));
    config.releases_in_flight = 0;
    config.recorded = trace;
    fails(CLO_ERR_ARGUMENT, "recorded run", with(&s, &config));
    clo_trace_destroy(trace);
    memory_close(&zero);
    memory_close(&s);
}

static void machines_with_ports_are_refused(void **state)
{
    const clo_executor list[2] = {{0, 0, 0, -1, {65536, 65536, 65536, 65536}},
                                  {0, 1, 1, -1, {65536, 65536, 65536, 65536}}};
    const double ports[2] = {1, 1};
    const memory_task tasks[] = {{0, 100, {ALL, 1000}, 0}, {1, 100, {ALL, 1000}, 1}};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_platform *platform;

    (void)state;
    desc.executors_count = desc.machines_count = 2;
    desc.executors = list;
    desc.kinds_count = 1;
    desc.port_bytes_per_ns = ports;
    ok(clo_platform_create(&desc, &platform));
    memory_scene s = memory_open(platform, tasks, 2);
    config.memory_parts = s.parts;
    fails(CLO_ERR_UNSUPPORTED, "ports", with(&s, &config));
    memory_close(&s);
}

static clo_status simulate_once(void *context)
{
    const memory_scene *s = context;
    clo_sim_config config = CLO_SIM_CONFIG_INIT;

    config.plan = s->plan;
    config.memory_parts = s->parts;
    return clo_simulate(s->cost, &config, NULL, NULL, NULL);
}

static clo_status stream_once(void *context)
{
    clo_streams *streams = NULL;
    clo_status status = clo_streams_start(context, 1, &streams);

    clo_streams_stop(streams);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    const memory_task tasks[] = {{0, 100, {ALL, 1000}, 0}, {1, 100, {ALL, 1000}, 0}};
    memory_scene s = memory_open(memory_platform(thousand, 0), tasks, 2);
    clo_platform *native;

    (void)state;
    assert_true(fault_each(simulate_once, &s) > 4);
    memory_close(&s);
    ok(clo_platform_open("native", &native));
    uint32_t cpu = (uint32_t)clo_platform_executor(native, 0)->os_index;
    clo_platform_destroy(native);
    assert_true(fault_each(stream_once, &cpu) >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_tasks_share_a_memory_until_one_ends),
        cmocka_unit_test(a_capacity_that_is_exactly_met_slows_nobody),
        cmocka_unit_test(a_task_alone_is_slowed_by_the_memory_itself),
        cmocka_unit_test(three_tasks_with_starts_and_ends_inside),
        cmocka_unit_test(only_the_memory_part_is_stretched),
        cmocka_unit_test(what_moves_nothing_neither_slows_nor_is_slowed),
        cmocka_unit_test(each_memory_has_its_own_capacity),
        cmocka_unit_test(one_task_on_two_memories_is_slowed_where_another_one_runs),
        cmocka_unit_test(the_largest_numbers_saturate),
        cmocka_unit_test(an_execution_that_waits_for_data_moves_nothing),
        cmocka_unit_test(a_part_is_found_again_from_the_slowdown_that_it_causes),
        cmocka_unit_test(capacities_are_found_by_name),
        cmocka_unit_test(demands_without_a_name_are_none_of_the_memory),
        cmocka_unit_test(what_does_not_go_together_is_refused_by_name),
        cmocka_unit_test(machines_with_ports_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests_name("sim_memory", tests, NULL, NULL);
}
