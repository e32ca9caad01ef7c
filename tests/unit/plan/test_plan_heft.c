#include "fixture.h"

#include "fault.h"
#include "planner_named.h"

/* The schedule of fig. 3(a) of the paper: makespan 80. */
static void heft_gives_the_schedule_of_the_paper(void **state)
{
    (void)state;
    static const clo_placement want[10] = {
        {.task = 0, .executor = 2, .start_ns = 0, .finish_ns = 9},
        {.task = 2, .executor = 2, .start_ns = 9, .finish_ns = 28},
        {.task = 3, .executor = 1, .start_ns = 18, .finish_ns = 26},
        {.task = 5, .executor = 1, .start_ns = 26, .finish_ns = 42},
        {.task = 1, .executor = 0, .start_ns = 27, .finish_ns = 40},
        {.task = 4, .executor = 2, .start_ns = 28, .finish_ns = 38},
        {.task = 6, .executor = 2, .start_ns = 38, .finish_ns = 49},
        {.task = 8, .executor = 1, .start_ns = 56, .finish_ns = 68},
        {.task = 7, .executor = 0, .start_ns = 57, .finish_ns = 62},
        {.task = 9, .executor = 1, .start_ns = 73, .finish_ns = 80},
    };
    fixture f = fixture_topcuoglu();
    clo_plan *plan = NULL;
    size_t count;

    ok(clo_plan_create(f.cost, NULL, &plan)); /* heft is the default */
    ok(clo_plan_check(plan, f.cost, CLO_CHECK_FULL));
    assert_string_equal(clo_plan_planner(plan), "heft");
    assert_int_equal(clo_plan_makespan_ns(plan), 80);
    clo_plan_placements(plan, &count);
    assert_int_equal(count, 10);
    for (size_t i = 0; i < 10; i++)
        expect_placement(plan, i, want[i]);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

static void equal_tasks_go_to_the_lowest_executor_in_the_order_they_were_added(void **state)
{
    (void)state;
    fixture f = fixture_new();

    for (int i = 0; i < 3; i++)
        fixture_task(&f, NULL, 10);
    fixture_seal(&f, 2, NULL, -1);
    clo_plan *plan = fixture_plan(&f, "heft");
    expect_placement(plan, 0, (clo_placement){.task = 0, .executor = 0, .start_ns = 0, .finish_ns = 10});
    expect_placement(plan, 1, (clo_placement){.task = 1, .executor = 1, .start_ns = 0, .finish_ns = 10});
    expect_placement(plan, 2, (clo_placement){.task = 2, .executor = 0, .start_ns = 10, .finish_ns = 20});
    clo_plan_destroy(plan);
    fixture_free(&f);
}

static void a_short_task_fills_the_gap_before_a_waiting_one(void **state)
{
    (void)state;
    fixture f = gap_before_b();
    clo_plan *plan = fixture_plan(&f, "heft");
    expect_placement(plan, 0, (clo_placement){.task = 0, .executor = 0, .start_ns = 0, .finish_ns = 10});
    expect_placement(plan, 1, (clo_placement){.task = 2, .executor = 1, .start_ns = 0, .finish_ns = 30});
    expect_placement(plan, 2, (clo_placement){.task = 1, .executor = 1, .start_ns = 50, .finish_ns = 90});
    clo_plan_destroy(plan);
    fixture_free(&f);
}

static void instances_are_placed_one_by_one_and_all_awaited(void **state)
{
    (void)state;
    fixture f = fixture_new();
    clo_task stage = {.name = "stage", .work_ns = 10, .instances = 4};

    ok(clo_graph_add_task(f.graph, &stage, NULL));
    fixture_task(&f, "join", 5);
    ok(clo_graph_add_edge(f.graph, 0, 1, 0));
    fixture_seal(&f, 2, NULL, -1);
    clo_plan *plan = fixture_plan(&f, "heft");
    for (uint32_t i = 0; i < 4; i++)
        expect_placement(
            plan, i,
            (clo_placement){
                .task = 0, .instance = i, .executor = i % 2, .start_ns = 10 * (i / 2), .finish_ns = 10 * (i / 2) + 10});
    expect_placement(plan, 4, (clo_placement){.task = 1, .executor = 0, .start_ns = 20, .finish_ns = 25});
    clo_plan_destroy(plan);
    fixture_free(&f);
}

/* Capacity 5, demands 3: two executors, but one task at a time; a task of 2 goes beside. */
static void a_machine_is_never_asked_for_more_than_it_has(void **state)
{
    (void)state;
    fixture f = fixture_new();
    clo_task big = {.name = "big", .work_ns = 10, .instances = 3, .demand = {3}};
    clo_task small = {.name = "small", .work_ns = 8, .demand = {2}};

    ok(clo_graph_add_task(f.graph, &big, NULL));
    ok(clo_graph_add_task(f.graph, &small, NULL));
    fixture_seal(&f, 3, NULL, 5);
    clo_plan *plan = fixture_plan(&f, "heft");
    expect_placement(plan, 0, (clo_placement){.task = 1, .executor = 1, .start_ns = 0, .finish_ns = 8});
    for (uint32_t i = 0; i < 3; i++)
        expect_placement(
            plan, i + 1,
            (clo_placement){.task = 0, .instance = i, .executor = 0, .start_ns = 10 * i, .finish_ns = 10 * i + 10});
    clo_plan_destroy(plan);
    plan = fixture_plan(&f, "serial");
    assert_int_equal(clo_plan_makespan_ns(plan), 38);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

/* In one memory nothing travels, whatever the link says. */
static void executors_of_one_memory_exchange_data_for_nothing(void **state)
{
    (void)state;
    fixture f = fixture_new();
    static const clo_executor executors[2] = {{.os_index = -1, .speed_q16 = {65536, 65536, 65536, 65536}},
                                              {.os_index = -1, .speed_q16 = {65536, 65536, 65536, 65536}}};
    static const int64_t latency[4] = {1000, 1000, 1000, 1000};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;

    for (int i = 0; i < 3; i++)
        fixture_task(&f, NULL, 10);
    ok(clo_graph_add_edge(f.graph, 0, 1, 1 << 20));
    ok(clo_graph_add_edge(f.graph, 0, 2, 1 << 20));
    ok(clo_graph_seal(f.graph));
    desc.executors_count = 2;
    desc.executors = executors;
    desc.kinds_count = 1;
    desc.latency_ns = latency;
    ok(clo_platform_create(&desc, &f.platform));
    ok(clo_cost_create(f.graph, f.platform, &f.cost));
    clo_plan *plan = fixture_plan(&f, "heft");
    assert_int_equal(clo_plan_makespan_ns(plan), 20);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

static void tasks_of_length_zero_stay_in_topological_order(void **state)
{
    (void)state;
    fixture f = fixture_new();

    for (int i = 0; i < 4; i++)
        fixture_task(&f, NULL, 0);
    ok(clo_graph_add_edge(f.graph, 3, 2, 0));
    ok(clo_graph_add_edge(f.graph, 2, 1, 0));
    ok(clo_graph_add_edge(f.graph, 1, 0, 0));
    fixture_seal(&f, 2, NULL, -1);
    clo_plan *plan = fixture_plan(&f, "heft");
    for (uint32_t i = 0; i < 4; i++) /* a replay starts them in this order */
        expect_placement(plan, i, (clo_placement){.task = 3 - i, .executor = 0, .start_ns = 0, .finish_ns = 0});
    clo_plan_destroy(plan);
    fixture_free(&f);
}

/* Speeds 1 and 2: everything on e1. With a mask that keeps task 0 on e0: that one there, the rest on e1. */
static void serial_uses_the_best_executor_or_as_few_as_it_must(void **state)
{
    (void)state;
    static const double speeds[2] = {1, 2};
    fixture f = fixture_new();

    for (int i = 0; i < 3; i++)
        fixture_task(&f, NULL, 10);
    fixture_seal(&f, 2, speeds, -1);
    clo_plan *plan = fixture_plan(&f, "serial");
    for (uint32_t i = 0; i < 3; i++)
        expect_placement(plan, i, (clo_placement){.task = i, .executor = 1, .start_ns = 5 * i, .finish_ns = 5 * i + 5});
    clo_plan_destroy(plan);
    fixture_free(&f);

    f = fixture_new();
    clo_task pinned = {.work_ns = 10, .executors_mask = 1};
    ok(clo_graph_add_task(f.graph, &pinned, NULL));
    fixture_task(&f, NULL, 10);
    fixture_task(&f, NULL, 10);
    clo_task other = {.work_ns = 10, .executors_mask = 2};
    ok(clo_graph_add_task(f.graph, &other, NULL));
    ok(clo_graph_add_edge(f.graph, 0, 1, 7));
    fixture_seal(&f, 2, speeds, -1);
    plan = fixture_plan(&f, "serial");
    expect_placement(plan, 0, (clo_placement){.task = 0, .executor = 0, .start_ns = 0, .finish_ns = 10});
    expect_placement(plan, 1, (clo_placement){.task = 1, .executor = 1, .start_ns = 17, .finish_ns = 22});
    expect_placement(plan, 2, (clo_placement){.task = 2, .executor = 1, .start_ns = 22, .finish_ns = 27});
    expect_placement(plan, 3, (clo_placement){.task = 3, .executor = 1, .start_ns = 27, .finish_ns = 32});
    clo_plan_destroy(plan);
    fixture_free(&f);
}

static void a_bad_config_is_refused(void **state)
{
    (void)state;
    fixture f = fixture_topcuoglu();
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan = NULL;

    assert_null(clo_planner_find("nosuch"));
    config = (clo_plan_config){.planner = &clo_planner_heft};
    fails(CLO_ERR_ARGUMENT, "size", clo_plan_create(f.cost, &config, &plan));
    struct {
        clo_plan_config known;
        uint64_t unknown;
    } newer = {CLO_PLAN_CONFIG_INIT, 1};
    newer.known.size = sizeof newer;
    fails(CLO_ERR_ARGUMENT, "does not know", clo_plan_create(f.cost, &newer.known, &plan));
    assert_null(plan);
    newer.unknown = 0;
    ok(clo_plan_create(f.cost, &newer.known, &plan));
    clo_plan_destroy(plan);
    clo_plan_destroy(NULL);
    fixture_free(&f);
}

static void every_planner_has_a_name_and_a_summary_and_works(void **state)
{
    (void)state;
    fixture f = fixture_topcuoglu();
    clo_entry entry = CLO_ENTRY_INIT;
    uint32_t count = 0;

    for (; clo_registry_entry("planners", count, &entry); count++) {
        clo_plan *plan = fixture_plan(&f, entry.name);
        assert_string_equal(clo_plan_planner(plan), entry.name);
        assert_true(strlen(entry.summary) > 10);
        clo_plan_destroy(plan);
    }
    assert_true(count >= 30);
    fixture_free(&f);
}

static void an_own_plan_is_sorted_and_its_ids_are_checked(void **state)
{
    (void)state;
    fixture f = fixture_new();
    clo_plan *plan = NULL;
    size_t count;

    fixture_task(&f, NULL, 10);
    fixture_task(&f, NULL, 10);
    fixture_seal(&f, 2, NULL, -1);
    clo_placement own[2] = {{.task = 1, .executor = 1, .start_ns = 5, .finish_ns = 15},
                            {.task = 0, .executor = 0, .start_ns = 0, .finish_ns = 10}};
    ok(clo_plan_from_placements(f.cost, NULL, own, 2, &plan));
    assert_string_equal(clo_plan_planner(plan), "own");
    assert_int_equal(clo_plan_makespan_ns(plan), 15);
    expect_placement(plan, 0, own[1]);
    expect_placement(plan, 1, own[0]);
    clo_plan_destroy(plan);

    ok(clo_plan_from_placements(f.cost, "mine", NULL, 0, &plan));
    assert_string_equal(clo_plan_planner(plan), "mine");
    clo_plan_placements(plan, &count);
    assert_int_equal(count, 0);
    clo_plan_destroy(plan);

    plan = NULL;
    clo_placement bad = own[0];
    bad.task = 2;
    fails(CLO_ERR_ARGUMENT, "task 2", clo_plan_from_placements(f.cost, NULL, &bad, 1, &plan));
    bad = own[0];
    bad.instance = 1;
    fails(CLO_ERR_ARGUMENT, "no instance 1", clo_plan_from_placements(f.cost, NULL, &bad, 1, &plan));
    bad = own[0];
    bad.executor = 2;
    fails(CLO_ERR_ARGUMENT, "executor 2", clo_plan_from_placements(f.cost, NULL, &bad, 1, &plan));
    bad = own[0];
    bad.is_replica = 2;
    fails(CLO_ERR_ARGUMENT, "is_replica", clo_plan_from_placements(f.cost, NULL, &bad, 1, &plan));
    bad = own[0];
    bad.start_ns = 16;
    fails(CLO_ERR_ARGUMENT, "from 16 to 15", clo_plan_from_placements(f.cost, NULL, &bad, 1, &plan));
    bad.start_ns = -1;
    fails(CLO_ERR_ARGUMENT, "placement 0", clo_plan_from_placements(f.cost, NULL, &bad, 1, &plan));
    assert_null(plan);
    fixture_free(&f);
}

static const char *planner_under_fault;
static uint64_t schedules_under_fault;

static clo_status plan_check_and_drop(void *context)
{
    const fixture *f = context;
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan = NULL, *copy = NULL;
    clo_plan_metrics metrics = CLO_PLAN_METRICS_INIT;

    config.planner = planner_named(planner_under_fault);
    config.schedules_max = schedules_under_fault;
    clo_status status = clo_plan_create(f->cost, &config, &plan);
    if (status == CLO_OK)
        status = clo_plan_check(plan, f->cost, CLO_CHECK_FULL);
    if (status == CLO_OK)
        status = clo_plan_measure(plan, f->cost, &metrics);
    if (status == CLO_OK) {
        size_t count;
        const clo_placement *placements = clo_plan_placements(plan, &count);
        status = clo_plan_from_placements(f->cost, "copy", placements, count, &copy);
    }
    clo_plan_destroy(plan);
    clo_plan_destroy(copy);
    return status;
}

static void out_of_memory_anywhere_is_reported_and_leaks_nothing(void **state)
{
    (void)state;
    fixture f = fixture_new();
    clo_task stage = {.name = "stage", .work_ns = 10, .instances = 12, .demand = {2}, .duplicable = 1};

    ok(clo_graph_add_task(f.graph, &stage, NULL));
    stage.name = "next";
    ok(clo_graph_add_task(f.graph, &stage, NULL));
    ok(clo_graph_add_edge(f.graph, 0, 1, 100000));
    fixture_seal(&f, 4, NULL, 5);
    for (uint32_t i = 0; (planner_under_fault = name_at("planners", i)) != NULL; i++) {
        schedules_under_fault = strcmp(planner_under_fault, "best") == 0 ? 20 : 0;
        assert_true(fault_each(plan_check_and_drop, &f) > 12);
    }
    fixture_free(&f);

    /* `best` without a budget makes the plans of all: of two tasks, so that there are not too many allocations. */
    f = fixture_new();
    stage.instances = 1;
    ok(clo_graph_add_task(f.graph, &stage, NULL));
    stage.name = "last";
    ok(clo_graph_add_task(f.graph, &stage, NULL));
    fixture_seal(&f, 2, NULL, 5);
    planner_under_fault = "best";
    schedules_under_fault = 0;
    assert_true(fault_each(plan_check_and_drop, &f) > 12);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heft_gives_the_schedule_of_the_paper),
        cmocka_unit_test(equal_tasks_go_to_the_lowest_executor_in_the_order_they_were_added),
        cmocka_unit_test(a_short_task_fills_the_gap_before_a_waiting_one),
        cmocka_unit_test(instances_are_placed_one_by_one_and_all_awaited),
        cmocka_unit_test(a_machine_is_never_asked_for_more_than_it_has),
        cmocka_unit_test(executors_of_one_memory_exchange_data_for_nothing),
        cmocka_unit_test(tasks_of_length_zero_stay_in_topological_order),
        cmocka_unit_test(serial_uses_the_best_executor_or_as_few_as_it_must),
        cmocka_unit_test(a_bad_config_is_refused),
        cmocka_unit_test(every_planner_has_a_name_and_a_summary_and_works),
        cmocka_unit_test(an_own_plan_is_sorted_and_its_ids_are_checked),
        cmocka_unit_test(out_of_memory_anywhere_is_reported_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
