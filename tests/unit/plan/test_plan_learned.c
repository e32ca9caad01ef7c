/* test_plan_learned.c - plans in the order of given keys, and the planner that takes them from a network. */
#include "fixture.h"
#include "planner_named.h"

enum { LAYERED = 60 };

static clo_plan *plan_with(const clo_cost *cost, const clo_plan_config *config)
{
    clo_plan *plan;

    ok(clo_plan_create(cost, config, &plan));
    ok(clo_plan_check(plan, cost, CLO_CHECK_FULL));
    return plan;
}

static fixture layered(uint32_t tasks, uint32_t instances_max)
{
    const clo_generate_config how = {.size = sizeof how,
                                     .tasks = tasks,
                                     .seed = 7,
                                     .ccr = 5,
                                     .work_spread = 0.8,
                                     .duplicable = 1,
                                     .instances_min = 1,
                                     .instances_max = instances_max};
    const double speeds[] = {1, 0.8, 1.2, 0.7};
    fixture f = {0};

    ok(clo_graph_generate("layered", &how, &f.graph));
    fixture_seal(&f, 4, speeds, -1);
    return f;
}

/* Three tasks without edges on one executor: they run in the order of their keys. */
static void the_largest_key_comes_first(void **state)
{
    fixture f = fixture_new();
    const int64_t keys[] = {-5, INT64_MAX, INT64_MIN, 7};
    const uint32_t want[] = {1, 3, 0, 2};
    clo_plan_config config = {.size = sizeof config, .planner = &clo_planner_deft, .argument = keys};
    size_t count;

    (void)state;
    for (int i = 0; i < 4; i++)
        (void)fixture_task(&f, NULL, 10 + i);
    fixture_seal(&f, 1, NULL, -1);
    clo_plan *plan = plan_with(f.cost, &config);
    const clo_placement *placed = clo_plan_placements(plan, &count);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(placed[i].task, want[i]);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

static void equal_keys_leave_the_order_of_rank_u(void **state)
{
    fixture f = layered(LAYERED, 3);
    int64_t keys[2 * LAYERED] = {0};
    clo_plan_config config = {.size = sizeof config, .planner = &clo_planner_deft};

    (void)state;
    clo_plan *plain = plan_with(f.cost, &config);
    config.argument = keys;
    clo_plan *keyed = plan_with(f.cost, &config);
    assert_int_equal(clo_plan_makespan_ns(plain), clo_plan_makespan_ns(keyed));
    clo_plan_destroy(keyed);
    for (uint32_t t = 0; t < clo_graph_tasks(f.graph); t++)
        keys[t] = t; /* against the edges, as far as they let it */
    keyed = plan_with(f.cost, &config);
    clo_plan_destroy(keyed);
    clo_plan_destroy(plain);
    fixture_free(&f);
}

static void an_argument_is_refused_where_nobody_looks_at_it(void **state)
{
    fixture f = layered(LAYERED, 1);
    const int64_t keys[2 * LAYERED] = {0};
    clo_plan_config config = {.size = sizeof config, .planner = &clo_planner_heft, .argument = keys};
    clo_plan *plan = NULL;
    clo_model *decima;
    size_t bytes;

    (void)state;
    fails(CLO_ERR_ARGUMENT, "planner 'heft' takes no argument; leave clo_plan_config.argument out",
          clo_plan_create(f.cost, &config, &plan));
    const void *data = clo_model_builtin("decima", &bytes);
    ok(clo_model_open("decima", data, bytes, &decima));
    config = (clo_plan_config){.size = sizeof config, .planner = &clo_planner_lachesis, .argument = decima};
    fails(CLO_ERR_UNSUPPORTED, "is not of the kind LACHESIS", clo_plan_create(f.cost, &config, &plan));
    assert_null(plan);
    clo_model_destroy(decima);
    fixture_free(&f);
}

static int64_t makespan_of(const clo_cost *cost, const char *planner, uint64_t schedules, uint64_t seed)
{
    clo_plan_config config = {
        .size = sizeof config, .planner = planner_named(planner), .schedules_max = schedules, .seed = seed};
    clo_plan *plan = plan_with(cost, &config);
    int64_t makespan_ns = clo_plan_makespan_ns(plan);

    if (schedules > 0 && !clo_plan_is_optimal(plan))
        assert_int_equal(clo_plan_schedules(plan), schedules);
    clo_plan_destroy(plan);
    return makespan_ns;
}

static void the_planner_is_never_longer_than_deft_and_tdca(void **state)
{
    (void)state;
    for (uint32_t tasks = 1; tasks <= 81; tasks += 20) {
        fixture f = layered(tasks, 1 + tasks % 3);
        int64_t found_ns = makespan_of(f.cost, "lachesis", 0, 0);
        assert_true(found_ns <= makespan_of(f.cost, "deft", 0, 0));
        assert_true(found_ns <= makespan_of(f.cost, "tdca", 0, 0));
        assert_int_equal(makespan_of(f.cost, "lachesis", 8, 3), makespan_of(f.cost, "lachesis", 8, 3));
        assert_true(makespan_of(f.cost, "lachesis", 20, 3) <= makespan_of(f.cost, "lachesis", 8, 3));
        fixture_free(&f);
    }
}

static void a_wish_for_no_duplicates_is_granted(void **state)
{
    fixture f = layered(LAYERED, 1);
    clo_plan_config config = {.size = sizeof config, .planner = &clo_planner_lachesis, .no_duplicates = 1};
    clo_plan_metrics metrics = CLO_PLAN_METRICS_INIT;

    (void)state;
    clo_plan *plan = plan_with(f.cost, &config);
    ok(clo_plan_measure(plan, f.cost, &metrics));
    assert_int_equal(metrics.duplicates, 0);
    clo_plan_destroy(plan);
    fixture_free(&f);
}

/* 65 535 tasks are the most that sums of the network hold. */
static void a_graph_that_is_too_large_gets_the_plan_of_deft(void **state)
{
    fixture f = fixture_new();

    (void)state;
    for (uint32_t t = 0; t <= 65535; t++)
        (void)fixture_task(&f, NULL, 1 + t % 7);
    fixture_seal(&f, 2, NULL, -1);
    assert_int_equal(makespan_of(f.cost, "lachesis", 0, 0), makespan_of(f.cost, "deft", 0, 0));
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_key_comes_first),
        cmocka_unit_test(equal_keys_leave_the_order_of_rank_u),
        cmocka_unit_test(an_argument_is_refused_where_nobody_looks_at_it),
        cmocka_unit_test(the_planner_is_never_longer_than_deft_and_tdca),
        cmocka_unit_test(a_wish_for_no_duplicates_is_granted),
        cmocka_unit_test(a_graph_that_is_too_large_gets_the_plan_of_deft),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
