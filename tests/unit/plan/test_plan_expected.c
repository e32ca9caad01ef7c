/* Planning by the chances of branches: what is known of the outcomes, and what heft-expected makes of them. */
#include "fixture.h"

#include "fault.h"
#include "random.h"

#include "graph/shape/outcomes.h"
#include "planner_named.h"

#include <clotho/generate.h>
#include <clotho/sim.h>

enum { SEEDS = 40, DRAWS = 40 };

/* A branch with three arms: arm 0 leads to a and b, which join; arm 1 to c; arm 2 to the merge. */
enum { BRANCH, A, B, JOIN, C, MERGE, TASKS };

static fixture fork(const uint32_t *chances)
{
    static const uint32_t arms[4][2] = {{A, 0}, {B, 0}, {C, 1}, {MERGE, 2}};
    static const uint32_t edges[4][2] = {{A, JOIN}, {B, JOIN}, {JOIN, MERGE}, {C, MERGE}};
    fixture f = fixture_new();
    clo_task branch = {.name = "branch", .work_ns = 10};

    ok(clo_graph_add_task(f.graph, &branch, NULL));
    for (int i = 1; i < TASKS; i++)
        fixture_task(&f, NULL, 1000);
    ok(clo_graph_set_branch(f.graph, BRANCH, 3, chances));
    for (size_t i = 0; i < 4; i++) {
        ok(clo_graph_add_arm(f.graph, BRANCH, arms[i][0], 0, arms[i][1]));
        ok(clo_graph_add_edge(f.graph, edges[i][0], edges[i][1], 0));
    }
    ok(clo_graph_set_merge(f.graph, MERGE));
    fixture_seal(&f, 2, NULL, -1);
    return f;
}

static void tasks_behind_one_arm_run_together_as_often_as_its_chance_says(void **state)
{
    (void)state;
    static const uint32_t chances[] = {CLO_CHANCES_ONE / 4, CLO_CHANCES_ONE / 4 * 3 - 640, 640};
    fixture f = fork(chances);
    clo_outcomes outcomes;

    ok(clo_outcomes_open(&outcomes, f.graph));
    assert_int_equal(clo_outcomes_count(&outcomes, BRANCH), CLO_OUTCOMES);
    assert_int_equal(clo_outcomes_count(&outcomes, MERGE), CLO_OUTCOMES);
    assert_int_equal(clo_outcomes_count(&outcomes, A), CLO_OUTCOMES / 4);
    assert_int_equal(clo_outcomes_count(&outcomes, C), CLO_OUTCOMES / 4 * 3 - 10);
    for (uint32_t o = 0; o < CLO_OUTCOMES; o++) {
        assert_int_equal(clo_outcomes_has(&outcomes, A, o), clo_outcomes_has(&outcomes, B, o));
        assert_int_equal(clo_outcomes_has(&outcomes, A, o), clo_outcomes_has(&outcomes, JOIN, o));
        assert_false(clo_outcomes_has(&outcomes, A, o) && clo_outcomes_has(&outcomes, C, o));
    }
    clo_outcomes_close(&outcomes);
    fixture_free(&f);
}

static void arms_without_chances_are_as_likely(void **state)
{
    (void)state;
    fixture f = fork(NULL);
    clo_outcomes outcomes;

    ok(clo_outcomes_open(&outcomes, f.graph));
    assert_in_range(clo_outcomes_count(&outcomes, A), CLO_OUTCOMES / 3, CLO_OUTCOMES / 3 + 1);
    assert_in_range(clo_outcomes_count(&outcomes, C), CLO_OUTCOMES / 3, CLO_OUTCOMES / 3 + 1);
    clo_outcomes_close(&outcomes);
    fixture_free(&f);
}

static clo_plan *plan_by(const clo_cost *cost, const char *planner)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan;

    config.planner = planner_named(planner);
    ok(clo_plan_create(cost, &config, &plan));
    ok(clo_plan_check(plan, cost, CLO_CHECK_FULL));
    return plan;
}

static void without_branches_it_is_heft(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        clo_graph *graph = random_graph(seed, RANDOM_ALL);
        clo_platform *platform = random_platform(seed, RANDOM_ALL);
        clo_cost *cost;
        size_t count, other;
        ok(clo_cost_create(graph, platform, &cost));
        clo_plan *heft = plan_by(cost, "heft"), *expected = plan_by(cost, "heft-expected");
        const clo_placement *a = clo_plan_placements(heft, &count), *b = clo_plan_placements(expected, &other);
        assert_int_equal(count, other);
        assert_memory_equal(a, b, count * sizeof *a);
        clo_plan_destroy(heft);
        clo_plan_destroy(expected);
        clo_cost_destroy(cost);
        clo_platform_destroy(platform);
        clo_graph_destroy(graph);
    }
}

/* Stages, demands, sets of executors, several memories; no outcome takes longer than planned. */
static void its_plans_are_valid_and_hold_for_every_outcome(void **state)
{
    (void)state;
    uint32_t branches = 0;

    for (uint64_t seed = 0; seed < 3 * SEEDS; seed++) {
        unsigned features = RANDOM_ALL | RANDOM_BRANCHES | (seed % 4 == 3 ? (unsigned)RANDOM_STAGES : 0u);
        clo_graph *graph = random_graph(seed, features);
        clo_platform *platform = random_platform(seed, features);
        clo_cost *cost;
        ok(clo_cost_create(graph, platform, &cost));
        clo_plan *plan = plan_by(cost, "heft-expected");
        clo_sim_config config = CLO_SIM_CONFIG_INIT;
        clo_job_result result = CLO_JOB_RESULT_INIT;
        config.plan = plan;
        config.seed = seed;
        ok(clo_simulate(cost, &config, &result, NULL, NULL));
        assert_true(result.makespan_ns <= clo_plan_makespan_ns(plan));
        branches += clo_graph_branches(graph) > 0;
        clo_plan_destroy(plan);
        clo_cost_destroy(cost);
        clo_platform_destroy(platform);
        clo_graph_destroy(graph);
    }
    assert_true(branches > SEEDS);
}

/* The sum of the makespans of the outcomes that are drawn. */
static double mean_ns(const clo_cost *cost, const char *planner)
{
    clo_plan *plan = plan_by(cost, planner);
    double sum = 0;

    for (uint64_t draw = 0; draw < DRAWS; draw++) {
        clo_sim_config config = CLO_SIM_CONFIG_INIT;
        clo_job_result result = CLO_JOB_RESULT_INIT;
        config.plan = plan;
        config.seed = 9000 + draw;
        ok(clo_simulate(cost, &config, &result, NULL, NULL));
        sum += (double)result.makespan_ns;
    }
    clo_plan_destroy(plan);
    return sum / (double)DRAWS;
}

static void on_switches_its_mean_makespan_is_shorter_than_that_of_heft(void **state)
{
    (void)state;
    static const char *const platforms[] = {"uniform:2", "uniform:4", "rk3588"};

    for (size_t p = 0; p < 3; p++) {
        double heft = 0, expected = 0;
        clo_platform *platform;
        ok(clo_platform_open(platforms[p], &platform));
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            clo_generate_config config = CLO_GENERATE_CONFIG_INIT;
            clo_graph *graph;
            clo_cost *cost;
            config.tasks = 60;
            config.seed = seed;
            ok(clo_graph_generate("switches", &config, &graph));
            ok(clo_cost_create(graph, platform, &cost));
            heft += mean_ns(cost, "heft");
            expected += mean_ns(cost, "heft-expected");
            clo_cost_destroy(cost);
            clo_graph_destroy(graph);
        }
        print_message("%s: %.3f of HEFT's mean\n", platforms[p], expected / heft);
        assert_true(expected < 0.98 * heft);
        clo_platform_destroy(platform);
    }
}

static clo_status plan_and_drop(void *context)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan;

    config.planner = &clo_planner_heft_expected;
    clo_status status = clo_plan_create(context, &config, &plan);
    if (status == CLO_OK)
        clo_plan_destroy(plan);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    fixture f = fork(NULL);

    assert_true(fault_each(plan_and_drop, f.cost) > 8);
    fixture_free(&f);
}

/* Times of 2^54 ns and more do not overflow. */
static void long_times_stay_in_range(void **state)
{
    (void)state;
    fixture f = fixture_new();
    clo_task branch = {.name = "branch", .work_ns = INT64_C(1) << 59};

    ok(clo_graph_add_task(f.graph, &branch, NULL));
    fixture_task(&f, NULL, INT64_C(1) << 59);
    ok(clo_graph_set_branch(f.graph, 0, 2, NULL));
    ok(clo_graph_add_arm(f.graph, 0, 1, 0, 1));
    fixture_seal(&f, 2, NULL, -1);
    clo_plan *plan = plan_by(f.cost, "heft-expected");
    assert_int_equal(clo_plan_makespan_ns(plan), INT64_C(1) << 60);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_behind_one_arm_run_together_as_often_as_its_chance_says),
        cmocka_unit_test(arms_without_chances_are_as_likely),
        cmocka_unit_test(without_branches_it_is_heft),
        cmocka_unit_test(its_plans_are_valid_and_hold_for_every_outcome),
        cmocka_unit_test(on_switches_its_mean_makespan_is_shorter_than_that_of_heft),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(long_times_stay_in_range),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
