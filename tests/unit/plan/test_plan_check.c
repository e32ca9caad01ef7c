/* Each test breaks a valid plan in one way; the checker must find it and say where. */
#include "fixture.h"

#include "fault.h"

/* a -> b (50 bytes), a -> c (0 bytes); c not duplicable; d only on e1, demand 3 of 5; e demand 3. Three executors. */
static fixture five_tasks(void)
{
    fixture f = fixture_new();
    clo_task c = {.name = "c", .work_ns = 10};
    clo_task d = {.name = "d", .work_ns = 10, .executors_mask = 2, .demand = {3}};
    clo_task e = {.name = "e", .work_ns = 10, .demand = {3}, .instances = 2};

    fixture_task(&f, "a", 10);
    fixture_task(&f, "b", 10);
    ok(clo_graph_add_task(f.graph, &c, NULL));
    ok(clo_graph_add_task(f.graph, &d, NULL));
    ok(clo_graph_add_task(f.graph, &e, NULL));
    ok(clo_graph_add_edge(f.graph, 0, 1, 50));
    ok(clo_graph_add_edge(f.graph, 0, 2, 0));
    ok(clo_graph_set_resource(f.graph, 0, "memory"));
    fixture_seal(&f, 3, NULL, 5);
    return f;
}

enum { COUNT = 7 };

/* Valid: a with a replica on e2, so that b starts there at 10. */
static const clo_placement valid[COUNT] = {
    {.task = 0, .executor = 0, .start_ns = 0, .finish_ns = 10},
    {.task = 0, .executor = 2, .is_replica = 1, .start_ns = 0, .finish_ns = 10},
    {.task = 1, .executor = 2, .start_ns = 10, .finish_ns = 20},
    {.task = 2, .executor = 0, .start_ns = 10, .finish_ns = 20},
    {.task = 3, .executor = 1, .start_ns = 0, .finish_ns = 10},
    {.task = 4, .instance = 0, .executor = 1, .start_ns = 10, .finish_ns = 20},
    {.task = 4, .instance = 1, .executor = 1, .start_ns = 20, .finish_ns = 30},
};

typedef struct broken {
    fixture f;
    clo_placement placements[COUNT + 2];
    size_t count;
} broken;

static broken start(void)
{
    broken b = {.f = five_tasks(), .count = COUNT};

    memcpy(b.placements, valid, sizeof valid);
    return b;
}

static void add(broken *b, clo_placement placement)
{
    b->placements[b->count++] = placement;
}

/* The full check must fail with `text`; the measured one likewise if `measured`, else pass. */
static void reject(broken *b, const char *text, int measured)
{
    clo_plan *plan = NULL;

    ok(clo_plan_from_placements(b->f.cost, NULL, b->placements, b->count, &plan));
    fails(CLO_ERR_INVALID, text, clo_plan_check(plan, b->f.cost, CLO_CHECK_FULL));
    if (measured)
        fails(CLO_ERR_INVALID, text, clo_plan_check(plan, b->f.cost, CLO_CHECK_MEASURED));
    else
        ok(clo_plan_check(plan, b->f.cost, CLO_CHECK_MEASURED));
    clo_plan_destroy(plan);
    fixture_free(&b->f);
}

static void a_valid_plan_passes(void **state)
{
    (void)state;
    broken b = start();
    clo_plan *plan = NULL;

    ok(clo_plan_from_placements(b.f.cost, NULL, b.placements, b.count, &plan));
    ok(clo_plan_check(plan, b.f.cost, CLO_CHECK_FULL));
    ok(clo_plan_check(plan, b.f.cost, CLO_CHECK_MEASURED));
    clo_plan_destroy(plan);
    fixture_free(&b.f);
}

static void a_missing_instance_is_found(void **state)
{
    (void)state;
    broken b = start();

    b.count--;
    reject(&b, "task 'e' instance 1 has no original", 1);
}

static void an_empty_plan_is_incomplete(void **state)
{
    (void)state;
    broken b = start();

    b.count = 0;
    reject(&b, "task 'a' instance 0 has no original", 1);
}

static void a_replica_without_an_original_is_found(void **state)
{
    (void)state;
    broken b = start();

    b.placements[0].is_replica = 1;
    reject(&b, "task 'a' instance 0 has no original", 1);
}

static void two_originals_are_found(void **state)
{
    (void)state;
    broken b = start();

    b.placements[1].is_replica = 0;
    reject(&b, "task 'a' on executor 'e2' from 0 to 10 ns is an original for the second time", 1);
}

static void a_replica_of_a_task_that_is_not_duplicable_is_found(void **state)
{
    (void)state;
    broken b = start();

    add(&b, (clo_placement){.task = 2, .executor = 1, .is_replica = 1, .start_ns = 30, .finish_ns = 40});
    reject(&b, "task 'c' on executor 'e1' (replica) from 30 to 40 ns: the task is not duplicable", 1);
}

static void two_executions_of_an_instance_on_one_executor_are_found(void **state)
{
    (void)state;
    broken b = start();

    add(&b, (clo_placement){.task = 0, .executor = 0, .is_replica = 1, .start_ns = 30, .finish_ns = 40});
    reject(&b, "the same instance runs on this executor twice", 1);
}

static void an_executor_outside_the_mask_is_found(void **state)
{
    (void)state;
    broken b = start();

    b.placements[4].executor = 2;
    b.placements[4].start_ns = 20;
    b.placements[4].finish_ns = 30;
    reject(&b, "task 'd' on executor 'e2' from 20 to 30 ns: the task's set of executors excludes this one", 1);
}

static void a_duration_that_is_not_the_cost_is_found(void **state)
{
    (void)state;
    broken b = start();

    b.placements[6].finish_ns = 29;
    reject(&b, "task 'e' instance 1 on executor 'e1' from 20 to 29 ns: its length is 9 ns, its cost is 10 ns", 0);
}

static void a_start_before_the_input_has_arrived_is_found(void **state)
{
    (void)state;
    broken b = start(); /* b on e1 from 50: the data of a arrive there at 60 */

    b.placements[2] = (clo_placement){.task = 1, .executor = 1, .start_ns = 50, .finish_ns = 60};
    reject(&b,
           "task 'b' on executor 'e1' from 50 to 60 ns: its input from task 'a' on executor 'e0' from 0 to 10 ns "
           "arrives at 60 ns",
           0);
}

static void a_start_before_the_producer_has_finished_is_found_in_both_modes(void **state)
{
    (void)state;
    broken b = start();

    b.placements[2].start_ns = 9;
    b.placements[2].finish_ns = 19;
    b.placements[2].executor = 1;
    b.placements[4] = (clo_placement){.task = 3, .executor = 1, .start_ns = 30, .finish_ns = 40};
    b.placements[5].start_ns = 40;
    b.placements[5].finish_ns = 50;
    b.placements[6].start_ns = 50;
    b.placements[6].finish_ns = 60;
    reject(&b, "task 'b' on executor 'e1' from 9 to 19 ns: its input", 1);
}

static void without_the_replica_its_reader_starts_too_early(void **state)
{
    (void)state;
    broken b = start();

    b.placements[1] = b.placements[--b.count];
    reject(
        &b,
        "task 'b' on executor 'e2' from 10 to 20 ns: its input from task 'a' on executor 'e0' from 0 to 10 ns arrives "
        "at 60 ns",
        0);
}

static void two_executions_at_once_on_one_executor_are_found(void **state)
{
    (void)state;
    broken b = start();

    b.placements[6].start_ns = 19;
    b.placements[6].finish_ns = 29;
    reject(
        &b,
        "task 'e' instance 1 on executor 'e1' from 19 to 29 ns overlaps task 'e' instance 0 on executor 'e1' from 10 "
        "to 20 ns",
        1);
}

static void an_execution_of_length_zero_inside_another_is_found(void **state)
{
    (void)state;
    fixture f = fixture_new();
    clo_plan *plan = NULL;

    fixture_task(&f, "long", 10);
    fixture_task(&f, "zero", 0);
    fixture_seal(&f, 1, NULL, -1);
    clo_placement own[2] = {{.task = 0, .start_ns = 0, .finish_ns = 10}, {.task = 1, .start_ns = 5, .finish_ns = 5}};
    ok(clo_plan_from_placements(f.cost, NULL, own, 2, &plan));
    fails(CLO_ERR_INVALID, "overlaps", clo_plan_check(plan, f.cost, CLO_CHECK_FULL));
    clo_plan_destroy(plan);
    for (int64_t at = 0; at <= 10; at += 10) { /* at either end it is fine */
        own[1].start_ns = own[1].finish_ns = at;
        ok(clo_plan_from_placements(f.cost, NULL, own, 2, &plan));
        ok(clo_plan_check(plan, f.cost, CLO_CHECK_FULL));
        clo_plan_destroy(plan);
    }
    fixture_free(&f);
}

static void too_much_of_a_resource_at_once_is_found(void **state)
{
    (void)state;
    broken b = start();

    b.placements[5].executor = 0; /* e beside d: 3 + 3 of 5 */
    b.placements[5].start_ns = 20;
    b.placements[5].finish_ns = 30;
    b.placements[6].start_ns = 29;
    b.placements[6].finish_ns = 39;
    reject(
        &b,
        "task 'e' instance 1 on executor 'e1' from 29 to 39 ns: it needs 3 of resource 'memory', but 3 of 5 are in use "
        "on its machine at 29 ns",
        0);
}

static void a_plan_for_another_graph_or_platform_is_refused(void **state)
{
    (void)state;
    broken b = start();
    fixture small = fixture_new();
    clo_plan *plan = NULL;
    clo_plan_metrics metrics = CLO_PLAN_METRICS_INIT;
    char *text = NULL;

    fixture_task(&small, "only", 1);
    fixture_seal(&small, 3, NULL, -1);
    ok(clo_plan_from_placements(b.f.cost, NULL, b.placements, b.count, &plan));
    fails(CLO_ERR_INVALID, "the plan is for another graph: of 5 tasks",
          clo_plan_check(plan, small.cost, CLO_CHECK_FULL));
    fails(CLO_ERR_ARGUMENT, "another graph", clo_plan_measure(plan, small.cost, &metrics));
    fails(CLO_ERR_ARGUMENT, "another graph", clo_plan_gantt_text(plan, small.cost, 0, &text));
    fails(CLO_ERR_ARGUMENT, "another graph", clo_plan_gantt_svg(plan, small.cost, NULL, "/nonexistent/x.svg"));
    clo_plan_destroy(plan);
    fixture_free(&small);

    fixture narrow = fixture_new();
    clo_task stage = {.instances = 2};
    ok(clo_graph_add_task(narrow.graph, &stage, NULL));
    fixture_seal(&narrow, 2, NULL, -1);
    ok(clo_plan_from_placements(narrow.cost, NULL,
                                (clo_placement[2]){{.instance = 0, .executor = 1}, {.instance = 1, .executor = 1}}, 2,
                                &plan));
    ok(clo_plan_check(plan, narrow.cost, CLO_CHECK_FULL));
    fixture one = fixture_new();
    fixture_task(&one, "only", 0);
    fixture_seal(&one, 2, NULL, -1);
    fails(CLO_ERR_INVALID, "and 2 instances, this one has 1 and 1", clo_plan_check(plan, one.cost, CLO_CHECK_FULL));
    clo_plan_destroy(plan);
    fixture_free(&one);
    fixture_free(&narrow);
    fixture_free(&b.f);
}

static void an_executor_that_cannot_run_the_task_is_found(void **state)
{
    (void)state;
    fixture f = fixture_new();
    uint32_t kind;
    clo_plan *plan = NULL;

    fixture_task(&f, "gpu", 5);
    ok(clo_graph_kind(f.graph, "k0", &kind));
    fixture_task(&f, "any", 5);
    ok(clo_graph_set_time(f.graph, 0, kind, CLO_TIME_NEVER));
    ok(clo_graph_seal(f.graph));
    static const clo_executor executors[2] = {
        {.kind = 0, .memory = 0, .os_index = -1, .speed_q16 = {65536, 65536, 65536, 65536}},
        {.kind = 1, .memory = 1, .os_index = -1, .speed_q16 = {65536, 65536, 65536, 65536}}};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    desc.executors = executors;
    desc.executors_count = desc.kinds_count = 2;
    ok(clo_platform_create(&desc, &f.platform));
    ok(clo_cost_create(f.graph, f.platform, &f.cost));
    clo_placement own[2] = {{.task = 0, .executor = 0, .finish_ns = 5}, {.task = 1, .executor = 1, .finish_ns = 5}};
    ok(clo_plan_from_placements(f.cost, NULL, own, 2, &plan));
    fails(CLO_ERR_INVALID, "task 'gpu' on executor 'e0' from 0 to 5 ns: the task cannot run",
          clo_plan_check(plan, f.cost, 0));
    fails(CLO_ERR_INVALID, "cannot run", clo_plan_check(plan, f.cost, CLO_CHECK_MEASURED));
    clo_plan_destroy(plan);
    plan = fixture_plan(&f, "heft");
    expect_placement(plan, 0, (clo_placement){.task = 1, .executor = 0, .finish_ns = 5});
    clo_plan_destroy(plan);
    fixture_free(&f);
}

static clo_status check_valid(void *context)
{
    broken *b = context;
    clo_plan *plan = NULL;
    clo_status status = clo_plan_from_placements(b->f.cost, NULL, b->placements, b->count, &plan);

    if (status == CLO_OK)
        status = clo_plan_check(plan, b->f.cost, CLO_CHECK_FULL);
    clo_plan_destroy(plan);
    return status;
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    broken b = start();

    assert_int_equal(fault_each(check_valid, &b), 2 + 9); /* the plan, the check with capacities */
    fixture_free(&b.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_valid_plan_passes),
        cmocka_unit_test(a_missing_instance_is_found),
        cmocka_unit_test(an_empty_plan_is_incomplete),
        cmocka_unit_test(a_replica_without_an_original_is_found),
        cmocka_unit_test(two_originals_are_found),
        cmocka_unit_test(a_replica_of_a_task_that_is_not_duplicable_is_found),
        cmocka_unit_test(two_executions_of_an_instance_on_one_executor_are_found),
        cmocka_unit_test(an_executor_outside_the_mask_is_found),
        cmocka_unit_test(an_executor_that_cannot_run_the_task_is_found),
        cmocka_unit_test(a_duration_that_is_not_the_cost_is_found),
        cmocka_unit_test(a_start_before_the_input_has_arrived_is_found),
        cmocka_unit_test(a_start_before_the_producer_has_finished_is_found_in_both_modes),
        cmocka_unit_test(without_the_replica_its_reader_starts_too_early),
        cmocka_unit_test(two_executions_at_once_on_one_executor_are_found),
        cmocka_unit_test(an_execution_of_length_zero_inside_another_is_found),
        cmocka_unit_test(too_much_of_a_resource_at_once_is_found),
        cmocka_unit_test(a_plan_for_another_graph_or_platform_is_refused),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
