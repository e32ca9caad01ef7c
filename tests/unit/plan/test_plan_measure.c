#include "fixture.h"

/* LACHESIS eq. 13 and 14 on the paper's example: the tasks in a row take 127, 130 and 143 ns on the three executors;
 * the fastest times of the longest chain t1 t2 t9 t10 are 9 + 13 + 12 + 7. */
static void the_metrics_of_the_paper_s_example(void **state)
{
    (void)state;
    fixture f = fixture_topcuoglu();
    clo_plan *plan = fixture_plan(&f, "heft");
    clo_plan_metrics m = CLO_PLAN_METRICS_INIT;

    ok(clo_plan_measure(plan, f.cost, &m));
    assert_int_equal(m.makespan_ns, 80);
    near(m.speedup, 127.0 / 80);
    near(m.slr, 80.0 / 41);
    assert_true(m.lower_bound_ns >= 41 && m.lower_bound_ns <= 80);
    near(m.gap, 80.0 / (double)m.lower_bound_ns - 1);
    assert_int_equal(m.busy_ns, 13 + 9 + 19 + 8 + 10 + 16 + 11 + 5 + 12 + 7);
    near(m.utilization, 110.0 / 240);
    /* 1-2 1-4 1-6 2-9 3 stays 4-8 5-9 6-8 7-10 8-10, and 1-3 1-5 3-7 2-8 4-9 9-10 stay */
    assert_int_equal(m.transfers, 9);
    assert_int_equal(m.transferred_bytes, 18 + 9 + 14 + 16 + 27 + 13 + 15 + 17 + 11);
    assert_int_equal(m.duplicates, 0);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

/* Nothing can run everything: the baseline is the sum of the fastest times. */
static void speedup_without_a_single_executor_that_can_run_everything(void **state)
{
    (void)state;
    static const double speeds[2] = {1, 2};
    fixture f = fixture_new();
    clo_task left = {.work_ns = 30, .executors_mask = 1}, right = {.work_ns = 60, .executors_mask = 2, .instances = 2};
    clo_plan_metrics m = CLO_PLAN_METRICS_INIT;

    ok(clo_graph_add_task(f.graph, &left, NULL));
    ok(clo_graph_add_task(f.graph, &right, NULL));
    fixture_seal(&f, 2, speeds, -1);
    clo_plan *plan = fixture_plan(&f, "heft");
    ok(clo_plan_measure(plan, f.cost, &m));
    assert_int_equal(m.makespan_ns, 60);
    near(m.speedup, (30 + 2 * 30) / 60.0);
    near(m.utilization, 90.0 / 120);
    near(m.gap, 0);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

static void a_plan_that_takes_no_time_has_finite_metrics(void **state)
{
    (void)state;
    fixture f = fixture_new();
    clo_plan_metrics m = CLO_PLAN_METRICS_INIT;

    fixture_task(&f, NULL, 0);
    fixture_seal(&f, 1, NULL, -1);
    clo_plan *plan = fixture_plan(&f, "heft");
    ok(clo_plan_measure(plan, f.cost, &m));
    assert_int_equal(m.makespan_ns, 0);
    near(m.gap, 0);
    near(m.slr, 1);
    near(m.speedup, 1);
    near(m.utilization, 0);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

/* The reader on e1 gets its input from the replica beside it, the other one too: no transfer; without it: one. */
static void an_input_counts_as_transferred_only_if_its_nearest_copy_is_far(void **state)
{
    (void)state;
    fixture f = fixture_new();
    clo_plan *plan = NULL;
    clo_plan_metrics m = CLO_PLAN_METRICS_INIT;

    fixture_task(&f, "a", 10);
    fixture_task(&f, "b", 10);
    ok(clo_graph_add_edge(f.graph, 0, 1, 100));
    fixture_seal(&f, 2, NULL, -1);
    clo_placement own[3] = {{.task = 0, .executor = 0, .finish_ns = 10},
                            {.task = 1, .executor = 1, .start_ns = 110, .finish_ns = 120},
                            {.task = 0, .executor = 1, .is_replica = 1, .start_ns = 20, .finish_ns = 30}};
    for (uint32_t replicas = 0; replicas < 2; replicas++) {
        ok(clo_plan_from_placements(f.cost, NULL, own, 2 + replicas, &plan));
        ok(clo_plan_check(plan, f.cost, CLO_CHECK_FULL));
        ok(clo_plan_measure(plan, f.cost, &m));
        assert_int_equal(m.transfers, 1 - replicas);
        assert_int_equal(m.transferred_bytes, 100 * (1 - replicas));
        assert_int_equal(m.duplicates, replicas);
        clo_plan_destroy(plan);
    }
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_metrics_of_the_paper_s_example),
        cmocka_unit_test(speedup_without_a_single_executor_that_can_run_everything),
        cmocka_unit_test(a_plan_that_takes_no_time_has_finite_metrics),
        cmocka_unit_test(an_input_counts_as_transferred_only_if_its_nearest_copy_is_far),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
