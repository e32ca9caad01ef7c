/* Which executions get a hedge, and how the two are paired (engine/program/hedges.c). */
#include "scene.h"

#include "engine/program/compile.h"
#include "engine/program/hedges.h"

enum { TASKS = 4, EXECUTORS = 2 };

typedef struct setting {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
    clo_arena arena;
    clo_program *program;
} setting;

/* A chain; task 3 can run on executor 1 alone. */
static setting open_setting(const int64_t *after_ns, const clo_placement *placements, size_t count)
{
    setting s = {.platform = scene_platform(EXECUTORS, 0)};
    const uint32_t only = 1;

    ok(clo_graph_create("hedged", &s.graph));
    for (uint32_t t = 0; t < TASKS; t++)
        ok(clo_graph_add_task(s.graph, &(clo_task){.work_ns = 100, .duplicable = 1}, NULL));
    for (uint32_t t = 0; t + 1 < TASKS; t++)
        ok(clo_graph_add_edge(s.graph, t, t + 1, 8));
    ok(clo_graph_set_executors(s.graph, 3, &only, 1));
    ok(clo_graph_seal(s.graph));
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    clo_arena_open(&s.arena, NULL, 0);
    ok(clo_program_create(s.cost, placements, count, after_ns, &s.arena, &s.program));
    return s;
}

static void close_setting(setting *s)
{
    clo_arena_close(&s->arena);
    clo_cost_destroy(s->cost);
    clo_platform_destroy(s->platform);
    clo_graph_destroy(s->graph);
}

static void a_task_is_hedged_that_says_after_how_long_and_can_run_on_two_executors(void **state)
{
    static const int64_t after_ns[TASKS] = {0, 50, -1, 50};
    setting s = open_setting(NULL, NULL, 0);

    (void)state;
    assert_false(clo_hedges_want(s.program, after_ns, 0));
    assert_true(clo_hedges_want(s.program, after_ns, 1));
    assert_false(clo_hedges_want(s.program, after_ns, 2));
    assert_false(clo_hedges_want(s.program, after_ns, 3));
    assert_false(clo_hedges_want(s.program, NULL, 1));
    close_setting(&s);
}

static void hedges_have_the_highest_numbers_and_stand_in_the_order_of_their_firsts(void **state)
{
    static const int64_t after_ns[TASKS] = {50, 0, 70, 50};
    static const uint32_t twin[TASKS + 2] = {4, CLO_NONE, 5, CLO_NONE, 0, 2};
    setting s = open_setting(after_ns, NULL, 0);

    (void)state;
    assert_int_equal(s.program->first_hedge, TASKS);
    assert_int_equal(s.program->executions, TASKS + 2);
    for (uint32_t i = 0; i < TASKS + 2; i++)
        assert_int_equal(s.program->twin[i], twin[i]);
    assert_int_equal(clo_program_instance(s.program, 4), 0);
    assert_int_equal(clo_program_instance(s.program, 5), 2);
    close_setting(&s);
}

static void where_nothing_is_hedged_there_are_no_pairs(void **state)
{
    static const int64_t after_ns[TASKS] = {0};
    setting s = open_setting(after_ns, NULL, 0);

    (void)state;
    assert_int_equal(s.program->first_hedge, s.program->executions);
    assert_null(s.program->twin);
    close_setting(&s);
}

/* A plan has a replica of task 1, execution 4: the original and the replica have a hedge each. */
static void each_replica_of_a_plan_has_a_hedge_of_its_own_where_it_stands(void **state)
{
    static const int64_t after_ns[TASKS] = {0, 50, 0, 0};
    static const clo_placement placements[TASKS + 1] = {
        {.task = 0, .finish_ns = 100},
        {.task = 1, .start_ns = 100, .finish_ns = 200},
        {.task = 1, .executor = 1, .is_replica = 1, .start_ns = 100, .finish_ns = 200},
        {.task = 2, .start_ns = 200, .finish_ns = 300},
        {.task = 3, .executor = 1, .start_ns = 300, .finish_ns = 400}};
    setting s = open_setting(after_ns, placements, TASKS + 1);

    (void)state;
    assert_int_equal(s.program->first_hedge, TASKS + 1);
    assert_int_equal(s.program->executions, TASKS + 3);
    assert_int_equal(s.program->twin[1], 5);
    assert_int_equal(s.program->twin[4], 6);
    for (uint32_t i = TASKS; i < TASKS + 3; i++)
        assert_int_equal(clo_program_instance(s.program, i), 1);
    assert_int_equal(s.program->executor[5], s.program->executor[1]);
    assert_int_equal(s.program->executor[6], s.program->executor[4]);
    assert_int_not_equal(s.program->executor[5], s.program->executor[6]);
    for (uint32_t i = 5; i < 7; i++) /* nobody hits it, and it is no root */
        assert_int_equal(clo_program_needs(s.program, i), 1);
    close_setting(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_is_hedged_that_says_after_how_long_and_can_run_on_two_executors),
        cmocka_unit_test(hedges_have_the_highest_numbers_and_stand_in_the_order_of_their_firsts),
        cmocka_unit_test(where_nothing_is_hedged_there_are_no_pairs),
        cmocka_unit_test(each_replica_of_a_plan_has_a_hedge_of_its_own_where_it_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
