/* Double justification: what it gains, and what it leaves alone. */
#include "fault.h"
#include "fixture.h"

#include "plan/schedule/compact.h"
#include "planner_named.h"

static int64_t makespan(const fixture *f, const char *planner, uint32_t justify, uint64_t *schedules)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan = NULL;

    config.planner = planner_named(planner);
    config.justify = justify;
    config.no_duplicates = 1;
    ok(clo_plan_create(f->cost, &config, &plan));
    ok(clo_plan_check(plan, f->cost, CLO_CHECK_FULL));
    int64_t end = clo_plan_makespan_ns(plan);
    *schedules = clo_plan_schedules(plan);
    clo_plan_destroy(plan);
    return end;
}

/* 10, 10 and 20 in order of arrival end at 30: the long one comes last. The justified starts put it before one of the
 * others, and an executor is free for it at once. */
static void a_bad_order_is_mended(void **state)
{
    (void)state;
    fixture f = fixture_new();
    uint64_t schedules;

    fixture_task(&f, "a", 10);
    fixture_task(&f, "b", 10);
    fixture_task(&f, "c", 20);
    fixture_seal(&f, 2, NULL, -1);
    assert_int_equal(makespan(&f, "fifo", 0, &schedules), 30);
    assert_int_equal(schedules, 1);
    assert_int_equal(makespan(&f, "fifo", 1, &schedules), 20);
    assert_int_equal(schedules, 1 + 3); /* the bound is met */
    fixture_free(&f);
}

static void what_is_proved_optimal_is_not_touched(void **state)
{
    (void)state;
    fixture f = fixture_topcuoglu();
    uint64_t before, after;

    assert_int_equal(makespan(&f, "exact", 0, &before), makespan(&f, "exact", 1, &after));
    assert_int_equal(before, after);
    fixture_free(&f);
}

/* e0: g, then x, which nobody waits for, then a; e1: an execution of g, then b, which needs g and a. x moves behind a,
 * all else to the left, and both executions of g stay where they are read. */
static void replicas_move_with_their_readers(void **state)
{
    (void)state;
    fixture f = fixture_new();
    uint32_t g = fixture_task(&f, "g", 1), x = fixture_task(&f, "x", 10);
    uint32_t a = fixture_task(&f, "a", 5), b = fixture_task(&f, "b", 20);
    clo_schedule schedule;

    ok(clo_graph_add_edge(f.graph, g, a, 100));
    ok(clo_graph_add_edge(f.graph, g, b, 100));
    ok(clo_graph_add_edge(f.graph, a, b, 0));
    fixture_seal(&f, 2, NULL, -1);
    ok(clo_schedule_open(&schedule, f.cost, 2));
    const uint32_t tasks[] = {g, g, x, a, b}, executors[] = {0, 1, 0, 0, 1};
    const int64_t starts[] = {0, 0, 1, 11, 16};
    for (int i = 0; i < 5; i++)
        ok(clo_schedule_place(&schedule, tasks[i], executors[i], starts[i]));
    assert_int_equal(clo_schedule_makespan_ns(&schedule), 36);
    ok(clo_schedule_justify(&schedule, 0, INT64_MAX));
    assert_int_equal(clo_schedule_makespan_ns(&schedule), 26);
    assert_int_equal(schedule.count, 5);
    for (uint32_t c = 0; c < schedule.count; c++) {
        const clo_execution *execution = &schedule.executions[c];
        if (execution->instance == a || execution->instance == x)
            assert_int_equal(execution->start_ns, execution->instance == a ? 1 : 6);
    }
    clo_schedule_close(&schedule);
    fixture_free(&f);
}

static clo_status justify_and_drop(void *context)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan;

    config.planner = &clo_planner_olb;
    config.justify = 1;
    clo_status status = clo_plan_create(context, &config, &plan);
    if (status == CLO_OK)
        clo_plan_destroy(plan);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    fixture f = fixture_topcuoglu();

    assert_true(fault_each(justify_and_drop, f.cost) > 8);
    fixture_free(&f);
}

/* A program that was built before `justify`: its config ends where that begins. */
static void an_older_config_is_not_justified(void **state)
{
    (void)state;
    fixture f = fixture_topcuoglu();
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan = NULL;

    config.size = offsetof(clo_plan_config, justify);
    config.justify = 1;
    config.planner = &clo_planner_olb;
    ok(clo_plan_create(f.cost, &config, &plan));
    assert_int_equal(clo_plan_schedules(plan), 1);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

/* Past its time a planner is not followed by rounds that nobody pays for. */
static void a_budget_of_time_ends_the_rounds(void **state)
{
    (void)state;
    fixture f = fixture_topcuoglu();
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan = NULL;

    config.justify = 1;
    config.planner = &clo_planner_olb;
    config.budget_ns = 1;
    ok(clo_plan_create(f.cost, &config, &plan));
    assert_int_equal(clo_plan_schedules(plan), 1);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bad_order_is_mended),
        cmocka_unit_test(what_is_proved_optimal_is_not_touched),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(an_older_config_is_not_justified),
        cmocka_unit_test(a_budget_of_time_ends_the_rounds),
        cmocka_unit_test(replicas_move_with_their_readers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
