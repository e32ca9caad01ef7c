/* The list schedulers: for each one a small graph on which its rule shows. */
#include "fixture.h"
#include "planner_named.h"

#include <stdio.h>

#define CELLS(...) ((const int64_t[]){__VA_ARGS__})

static void cpop_gives_the_schedule_of_the_paper(void **state)
{
    (void)state;
    static const struct {
        uint32_t executor;
        int64_t start_ns;
    } want[10] = {{1, 0}, {1, 16}, {0, 28}, {2, 25}, {1, 35}, {2, 42}, {0, 39}, {2, 54}, {1, 65}, {1, 79}};
    fixture f = fixture_topcuoglu();
    clo_plan *plan = fixture_plan(&f, "cpop");

    assert_int_equal(clo_plan_makespan_ns(plan), 86);
    for (uint32_t t = 0; t < 10; t++)
        expect_task(plan, t, want[t].executor, want[t].start_ns);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

/* No executor can run all of a -> b -> c: both can run two of them, e1 in less time. */
static void cpop_binds_what_it_can_of_the_critical_path(void **state)
{
    (void)state;
    fixture f = fixture_table(3, 2, CELLS(10, CLO_TIME_NEVER, 50, 10, CLO_TIME_NEVER, 10));

    ok(clo_graph_add_edge(f.graph, 0, 1, 5));
    ok(clo_graph_add_edge(f.graph, 1, 2, 5));
    fixture_table_seal(&f, 2);
    clo_plan *plan = fixture_plan(&f, "cpop");
    expect_task(plan, 0, 0, 0);
    expect_task(plan, 1, 1, 15);
    expect_task(plan, 2, 1, 25);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

/* Fig. 1 of Arabnejad, Barbosa, IEEE TPDS 25(3), 2014. */
static void peft_gives_the_makespan_of_the_paper(void **state)
{
    (void)state;
    static const uint32_t arcs[15][3] = {{1, 2, 17}, {1, 3, 31}, {1, 4, 29}, {1, 5, 13},  {1, 6, 7},
                                         {2, 8, 3},  {2, 9, 30}, {3, 7, 16}, {4, 8, 11},  {4, 9, 7},
                                         {5, 9, 57}, {6, 8, 5},  {7, 10, 9}, {8, 10, 42}, {9, 10, 7}};
    fixture f = fixture_table(10, 3,
                              CELLS(22, 21, 36, 22, 18, 18, 32, 27, 43, 7, 10, 4, 29, 27, 35, 26, 17, 24, 14, 25, 30,
                                    29, 23, 36, 15, 21, 8, 13, 16, 33));

    for (int a = 0; a < 15; a++)
        ok(clo_graph_add_edge(f.graph, arcs[a][0] - 1, arcs[a][1] - 1, arcs[a][2]));
    fixture_table_seal(&f, 3);
    expect_makespan(&f, "peft", 122);
    expect_makespan(&f, "heft", 133);
    fixture_free(&f);
}

/* b takes 100 on e0 and 10 on e1, and 50 bytes lead to it: who looks ahead starts on e1 although a ends later there. */
static void peft_and_lookahead_see_what_follows(void **state)
{
    (void)state;
    fixture f = fixture_table(2, 2, CELLS(10, 12, 100, 10));

    ok(clo_graph_add_edge(f.graph, 0, 1, 50));
    fixture_table_seal(&f, 2);
    expect_makespan(&f, "heft", 70);
    expect_makespan(&f, "peft", 22);
    expect_makespan(&f, "lookahead", 22);
    fixture_free(&f);
}

/* Both children want e1: on trial they stand in each other's way there. a on e0: c0 on e1 ends at 10 + 5 + 20, c1
 * behind it at 55. a on e1 (14): c0 ends at 34, c1 at 54. */
static void lookahead_places_children_one_behind_the_other(void **state)
{
    (void)state;
    fixture f = fixture_table(3, 2, CELLS(10, 14, 200, 20, 200, 20));

    ok(clo_graph_add_edge(f.graph, 0, 1, 5));
    ok(clo_graph_add_edge(f.graph, 0, 2, 5));
    fixture_table_seal(&f, 2);
    expect_makespan(&f, "lookahead", 54);
    expect_makespan(&f, "heft", 55);
    fixture_free(&f);
}

static void minmin_takes_short_tasks_first_and_maxmin_long_ones(void **state)
{
    (void)state;
    fixture f = fixture_new();

    for (int64_t work = 10; work <= 30; work += 10)
        fixture_task(&f, NULL, work);
    fixture_seal(&f, 2, NULL, -1);
    clo_plan *plan = fixture_plan(&f, "minmin");
    expect_task(plan, 0, 0, 0);
    expect_task(plan, 1, 1, 0);
    expect_task(plan, 2, 0, 10);
    clo_plan_destroy(plan);
    plan = fixture_plan(&f, "maxmin");
    expect_task(plan, 2, 0, 0);
    expect_task(plan, 1, 1, 0);
    expect_task(plan, 0, 1, 20);
    clo_plan_destroy(plan);
    expect_makespan(&f, "duplex", 30);
    fixture_free(&f);
}

/* a loses 1 and b 28 on the second best executor. */
static void sufferage_serves_the_one_that_would_lose_most(void **state)
{
    (void)state;
    fixture f = fixture_table(2, 2, CELLS(10, 11, 12, 40));

    fixture_table_seal(&f, 2);
    expect_makespan(&f, "minmin", 22);
    clo_plan *plan = fixture_plan(&f, "sufferage");
    expect_task(plan, 0, 1, 0);
    expect_task(plan, 1, 0, 0);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

static void immediate_mode_looks_at_one_thing_each(void **state)
{
    (void)state;
    fixture f = fixture_table(3, 2, CELLS(2, 3, 2, 3, 2, 3));

    fixture_table_seal(&f, 2);
    expect_makespan(&f, "mct", 4);         /* e0, e1 (3 < 4), e0 */
    expect_makespan(&f, "met", 6);         /* all on e0          */
    expect_makespan(&f, "fastestnode", 6); /* likewise           */
    fixture_free(&f);

    f = fixture_table(3, 2, CELLS(1, 9, 1, 9, 1, 9));
    fixture_table_seal(&f, 2);
    expect_makespan(&f, "mct", 3);
    expect_makespan(&f, "olb", 9); /* b goes where nobody is */
    fixture_free(&f);
}

/* Task 1 cannot run on the fastest executor, and waits for nobody. */
static void fastestnode_leaves_it_where_it_must(void **state)
{
    (void)state;
    fixture f = fixture_table(3, 3, CELLS(5, 9, 9, CLO_TIME_NEVER, 8, 7, 5, 9, 9));

    fixture_table_seal(&f, 3);
    clo_plan *plan = fixture_plan(&f, "fastestnode");
    /* e1 and e2 can run all three, e0 only two: e2 does it in 25, e1 in 26. */
    expect_task(plan, 0, 2, 0);
    expect_task(plan, 1, 2, 9);
    expect_task(plan, 2, 2, 16);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

/* ETF sees starts, not ends; DLS sees how slow e1 is. */
static void etf_starts_early_and_dls_knows_how_long_it_takes(void **state)
{
    (void)state;
    fixture f = fixture_table(2, 2, CELLS(10, 100, 10, 100));

    fixture_table_seal(&f, 2);
    expect_makespan(&f, "etf", 100);
    expect_makespan(&f, "dls", 20);
    fixture_free(&f);
}

/* Of two that start alike the one with more to do behind it goes first. */
static void etf_breaks_ties_by_the_static_level(void **state)
{
    (void)state;
    fixture f = fixture_new();

    fixture_task(&f, NULL, 10);
    fixture_task(&f, NULL, 10);
    fixture_task(&f, NULL, 20);
    ok(clo_graph_add_edge(f.graph, 1, 2, 0));
    fixture_seal(&f, 1, NULL, -1);
    clo_plan *plan = fixture_plan(&f, "etf");
    expect_task(plan, 1, 0, 0);
    expect_task(plan, 2, 0, 10);
    expect_task(plan, 0, 0, 30);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

/* Two executors: only the first two ready tasks are sorted, so the longest comes second. */
static void fcp_sorts_as_many_as_there_are_executors(void **state)
{
    (void)state;
    fixture f = fixture_new();

    for (int64_t work = 10; work <= 30; work += 10)
        fixture_task(&f, NULL, work);
    fixture_seal(&f, 2, NULL, -1);
    clo_plan *plan = fixture_plan(&f, "fcp");
    expect_task(plan, 1, 0, 0);
    expect_task(plan, 2, 1, 0);
    expect_task(plan, 0, 0, 20);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

/* a -> b, c with 5 bytes: b stays with a; then e0 is busy when c's message would have come, so c goes to the idle e1.
 * */
static void flb_leaves_the_enabling_executor_when_it_is_late(void **state)
{
    (void)state;
    fixture f = fixture_new();

    for (int i = 0; i < 3; i++)
        fixture_task(&f, NULL, 10);
    ok(clo_graph_add_edge(f.graph, 0, 1, 5));
    ok(clo_graph_add_edge(f.graph, 0, 2, 5));
    fixture_seal(&f, 2, NULL, -1);
    clo_plan *plan = fixture_plan(&f, "flb");
    expect_task(plan, 0, 0, 0);
    expect_task(plan, 1, 0, 10);
    expect_task(plan, 2, 1, 15);
    clo_plan_destroy(plan);
    plan = fixture_plan(&f, "fcp");
    expect_task(plan, 1, 0, 10);
    expect_task(plan, 2, 1, 15);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

/* Tasks of 30, 20 -> 100, 10 on one executor. */
static void the_rules_of_dispatch_give_four_orders(void **state)
{
    (void)state;
    static const struct {
        const char *planner;
        int64_t starts_ns[4];
    } rules[] = {{"fifo", {0, 30, 50, 60}},
                 {"sjf", {30, 10, 0, 60}},
                 {"hrrn", {0, 40, 30, 60}},
                 {"highrank", {120, 0, 150, 20}}};
    fixture f = fixture_new();

    fixture_task(&f, NULL, 30);
    fixture_task(&f, NULL, 20);
    fixture_task(&f, NULL, 10);
    fixture_task(&f, NULL, 100);
    ok(clo_graph_add_edge(f.graph, 1, 3, 0));
    fixture_seal(&f, 1, NULL, -1);
    for (size_t r = 0; r < sizeof rules / sizeof rules[0]; r++) {
        char with_deft[24];
        snprintf(with_deft, sizeof with_deft, "%s-deft", rules[r].planner);
        clo_plan *plan = fixture_plan(&f, rules[r].planner), *deft = fixture_plan(&f, with_deft);
        for (uint32_t t = 0; t < 4; t++) {
            expect_task(plan, t, 0, rules[r].starts_ns[t]);
            expect_task(deft, t, 0, rules[r].starts_ns[t]);
        }
        clo_plan_destroy(plan);
        clo_plan_destroy(deft);
    }
    fixture_free(&f);
}

/* c stays behind b here. */
static void heft_append_fills_no_gap(void **state)
{
    (void)state;
    fixture f = gap_before_b();
    clo_plan *plan = fixture_plan(&f, "heft-append");
    expect_task(plan, 0, 0, 0);
    expect_task(plan, 1, 1, 50);
    expect_task(plan, 2, 1, 90);
    clo_plan_destroy(plan);
    plan = fixture_plan(&f, "deft-append");
    expect_task(plan, 2, 1, 90);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

/* Planners that decide by ends or starts put two of four equal tasks on each executor, the lowest ids first. */
static void equal_tasks_go_in_the_order_of_ids(void **state)
{
    (void)state;
    static const char *const names[] = {"heft",      "cpop",      "peft", "etf",  "dls",      "minmin", "maxmin",
                                        "duplex",    "sufferage", "mct",  "olb",  "fcp",      "flb",    "heft-append",
                                        "lookahead", "fifo",      "sjf",  "hrrn", "highrank", "dfrn",   "deft-append"};
    fixture f = fixture_new();

    for (int i = 0; i < 4; i++)
        fixture_task(&f, NULL, 10);
    fixture_seal(&f, 2, NULL, -1);
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        clo_plan *plan = fixture_plan(&f, names[n]);
        for (uint32_t t = 0; t < 4; t++)
            expect_task(plan, t, t % 2, t / 2 * 10);
        clo_plan_destroy(plan);
    }
    fixture_free(&f);
}

static void names_of_planners_ignore_case_and_dashes(void **state)
{
    (void)state;
    static const char *const spellings[][2] = {{"MinMin", "minmin"},       {"min-min", "minmin"},
                                               {"MIN_MIN_", "minmin"},     {"HeftAppend", "heft-append"},
                                               {"FIFO_DEFT", "fifo-deft"}, {"CPoP", "cpop"}};
    static const char *const wrong[] = {"", "-", "minmi", "minminn", "min min", "heft-"};
    fixture f = fixture_topcuoglu();

    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        clo_plan *plan = fixture_plan(&f, spellings[i][0]);
        assert_string_equal(clo_plan_planner(plan), spellings[i][1]);
        clo_plan_destroy(plan);
    }
    for (size_t i = 0; i + 1 < sizeof wrong / sizeof wrong[0]; i++)
        assert_null(clo_planner_find(wrong[i]));
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpop_gives_the_schedule_of_the_paper),
        cmocka_unit_test(cpop_binds_what_it_can_of_the_critical_path),
        cmocka_unit_test(peft_gives_the_makespan_of_the_paper),
        cmocka_unit_test(peft_and_lookahead_see_what_follows),
        cmocka_unit_test(lookahead_places_children_one_behind_the_other),
        cmocka_unit_test(minmin_takes_short_tasks_first_and_maxmin_long_ones),
        cmocka_unit_test(sufferage_serves_the_one_that_would_lose_most),
        cmocka_unit_test(immediate_mode_looks_at_one_thing_each),
        cmocka_unit_test(fastestnode_leaves_it_where_it_must),
        cmocka_unit_test(etf_starts_early_and_dls_knows_how_long_it_takes),
        cmocka_unit_test(etf_breaks_ties_by_the_static_level),
        cmocka_unit_test(fcp_sorts_as_many_as_there_are_executors),
        cmocka_unit_test(flb_leaves_the_enabling_executor_when_it_is_late),
        cmocka_unit_test(the_rules_of_dispatch_give_four_orders),
        cmocka_unit_test(heft_append_fills_no_gap),
        cmocka_unit_test(equal_tasks_go_in_the_order_of_ids),
        cmocka_unit_test(names_of_planners_ignore_case_and_dashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
