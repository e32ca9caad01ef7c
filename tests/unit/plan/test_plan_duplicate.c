/* The planners that duplicate, and what all planners must respect. */
#include "fixture.h"

static const char *const duplicating[] = {"deft",          "deft-append", "fifo-deft", "sjf-deft", "hrrn-deft",
                                          "highrank-deft", "dfrn",        "tds",       "tdca"};
enum { DUPLICATING = sizeof duplicating / sizeof duplicating[0] };

static uint32_t duplicates_of(const fixture *f, const char *planner)
{
    clo_plan *plan = fixture_plan(f, planner);
    clo_plan_metrics metrics = CLO_PLAN_METRICS_INIT;

    ok(clo_plan_measure(plan, f->cost, &metrics));
    clo_plan_destroy(plan);
    return metrics.duplicates;
}

static void a_parent_is_executed_twice_where_its_data_would_come_late(void **state)
{
    (void)state;
    fixture f = fork_of_two(1);

    for (size_t i = 0; i < DUPLICATING; i++) {
        expect_makespan(&f, duplicating[i], 20);
        assert_int_equal(duplicates_of(&f, duplicating[i]), 1);
    }
    fixture_free(&f);
}

static void what_is_not_declared_duplicable_runs_once(void **state)
{
    (void)state;
    fixture f = fork_of_two(0);

    for (size_t i = 0; i < DUPLICATING; i++)
        assert_int_equal(duplicates_of(&f, duplicating[i]), 0);
    expect_makespan(&f, "dfrn", 30);
    fixture_free(&f);
}

/* g -> a -> b, c with 100 bytes each: one level of duplication does not help c, the chain g, a does. */
static void clusters_duplicate_whole_chains(void **state)
{
    (void)state;
    fixture f = fixture_new();

    for (int i = 0; i < 4; i++)
        fixture_task(&f, NULL, 10);
    ok(clo_graph_add_edge(f.graph, 0, 1, 100));
    ok(clo_graph_add_edge(f.graph, 1, 2, 100));
    ok(clo_graph_add_edge(f.graph, 1, 3, 100));
    fixture_seal(&f, 2, NULL, -1);
    expect_makespan(&f, "deft", 40);
    expect_makespan(&f, "tds", 30);
    expect_makespan(&f, "tdca", 30);
    assert_int_equal(duplicates_of(&f, "tds"), 2);
    assert_int_equal(duplicates_of(&f, "tdca"), 2);
    fixture_free(&f);
}

/* Three parents on three executors, 100 bytes each: DFRN runs two of them again beside the third. */
static void dfrn_duplicates_several_parents(void **state)
{
    (void)state;
    fixture f = fixture_new();

    for (int i = 0; i < 4; i++)
        fixture_task(&f, NULL, 10);
    for (uint32_t i = 0; i < 3; i++)
        ok(clo_graph_add_edge(f.graph, i, 3, 100));
    fixture_seal(&f, 3, NULL, -1);
    expect_makespan(&f, "dfrn", 40);
    clo_plan *plan = fixture_plan(&f, "dfrn");
    size_t count;
    clo_plan_placements(plan, &count);
    assert_int_equal(count, 4); /* on e0 all three; the originals elsewhere are read by nobody and dropped */
    clo_plan_destroy(plan);
    fixture_free(&f);
}

/* b may wait for the message of a, which is in a cluster already: the cluster of b begins with it. */
static void a_cluster_ends_at_a_message_that_is_not_critical(void **state)
{
    (void)state;
    fixture f = fixture_new();

    fixture_task(&f, "a", 10);
    fixture_task(&f, "b", 10);
    fixture_task(&f, "c", 50);
    fixture_task(&f, "d", 10);
    ok(clo_graph_add_edge(f.graph, 0, 1, 5)); /* a -> b: 5 bytes, b has 30 ns to spare */
    ok(clo_graph_add_edge(f.graph, 0, 2, 5));
    ok(clo_graph_add_edge(f.graph, 1, 3, 5));
    ok(clo_graph_add_edge(f.graph, 2, 3, 5));
    fixture_seal(&f, 2, NULL, -1);
    expect_makespan(&f, "tds", 70);
    assert_int_equal(duplicates_of(&f, "tds"), 0);
    fixture_free(&f);
}

/* All planners on one graph; fixture_plan has them checked. */
static void run_all(const fixture *f)
{
    const char *name;

    for (uint32_t i = 0; (name = name_at("planners", i)) != NULL; i++) {
        clo_plan *plan = fixture_plan(f, name);
        size_t count;
        clo_plan_placements(plan, &count);
        assert_true(count >= clo_graph_instances(f->graph));
        clo_plan_destroy(plan);
    }
}

/* A diamond of stages, each on an executor of its own, or on two. */
static void masks_bind_every_planner(void **state)
{
    (void)state;
    static const uint64_t masks[4] = {1, 2, 6, 4};
    fixture f = fixture_new();

    for (uint32_t t = 0; t < 4; t++) {
        clo_task task = {.work_ns = 10, .instances = 3, .executors_mask = masks[t], .duplicable = 1};
        ok(clo_graph_add_task(f.graph, &task, NULL));
    }
    ok(clo_graph_add_edge(f.graph, 0, 1, 50));
    ok(clo_graph_add_edge(f.graph, 0, 2, 50));
    ok(clo_graph_add_edge(f.graph, 1, 3, 50));
    ok(clo_graph_add_edge(f.graph, 2, 3, 50));
    fixture_seal(&f, 3, NULL, -1);
    run_all(&f);
    fixture_free(&f);
}

/* Capacity 5: no two of the 3s at once; fixture_plan's check sees to it. The busy time alone needs 60 then. */
static void capacities_bind_every_planner(void **state)
{
    (void)state;
    fixture f = fixture_new();
    clo_task big = {.work_ns = 10, .instances = 6, .demand = {3}, .duplicable = 1};
    clo_task small = {.work_ns = 8, .instances = 2, .demand = {2}, .duplicable = 1};
    const char *name;

    ok(clo_graph_add_task(f.graph, &big, NULL));
    ok(clo_graph_add_task(f.graph, &small, NULL));
    fixture_task(&f, "join", 5);
    ok(clo_graph_add_edge(f.graph, 0, 2, 7));
    ok(clo_graph_add_edge(f.graph, 1, 2, 7));
    fixture_seal(&f, 3, NULL, 5);
    run_all(&f);
    for (uint32_t i = 0; (name = name_at("planners", i)) != NULL; i++) {
        clo_plan *plan = fixture_plan(&f, name);
        assert_true(clo_plan_makespan_ns(plan) >= 65);
        clo_plan_destroy(plan);
    }
    fixture_free(&f);
}

static void nothing_takes_no_time_in_every_planner(void **state)
{
    (void)state;
    fixture f = fixture_new();
    const char *name;

    for (int i = 0; i < 6; i++)
        fixture_task(&f, NULL, 0);
    for (uint32_t i = 5; i > 0; i--)
        ok(clo_graph_add_edge(f.graph, i, i - 1, 0));
    ok(clo_graph_add_edge(f.graph, 5, 2, 0));
    fixture_seal(&f, 2, NULL, -1);
    for (uint32_t i = 0; (name = name_at("planners", i)) != NULL; i++)
        expect_makespan(&f, name, 0);
    fixture_free(&f);
}

static void one_executor_runs_all_without_a_pause(void **state)
{
    (void)state;
    fixture f = fixture_new();
    const char *name;

    for (int i = 0; i < 6; i++)
        fixture_task(&f, NULL, 10);
    for (uint32_t i = 1; i < 6; i++)
        ok(clo_graph_add_edge(f.graph, (i - 1) / 2, i, 1000));
    fixture_seal(&f, 1, NULL, -1);
    for (uint32_t i = 0; (name = name_at("planners", i)) != NULL; i++) {
        expect_makespan(&f, name, 60);
        assert_int_equal(duplicates_of(&f, name), 0);
    }
    fixture_free(&f);
}

/* A chain of stages with nothing but duplicable tasks and heavy edges: room for duplicates ends before the graph does.
 * */
static void duplicates_end_where_the_draft_is_full(void **state)
{
    (void)state;
    fixture f = fixture_new();
    clo_task stage = {.work_ns = 10, .instances = 8, .duplicable = 1};

    for (uint32_t t = 0; t < 12; t++) {
        ok(clo_graph_add_task(f.graph, &stage, NULL));
        if (t > 0)
            ok(clo_graph_add_edge(f.graph, t - 1, t, 1 << 20));
    }
    fixture_seal(&f, 8, NULL, -1);
    run_all(&f);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_parent_is_executed_twice_where_its_data_would_come_late),
        cmocka_unit_test(what_is_not_declared_duplicable_runs_once),
        cmocka_unit_test(clusters_duplicate_whole_chains),
        cmocka_unit_test(dfrn_duplicates_several_parents),
        cmocka_unit_test(a_cluster_ends_at_a_message_that_is_not_critical),
        cmocka_unit_test(masks_bind_every_planner),
        cmocka_unit_test(capacities_bind_every_planner),
        cmocka_unit_test(nothing_takes_no_time_in_every_planner),
        cmocka_unit_test(one_executor_runs_all_without_a_pause),
        cmocka_unit_test(duplicates_end_where_the_draft_is_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
