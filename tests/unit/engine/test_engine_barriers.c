/* Which stages get a barrier (engine/program/barrier.c): those where it saves hits, or looks at sources. */
#include "scene.h"

#include "engine/program/compile.h"

enum { EXECUTORS = 3 };

/* A chain of stages of so many instances each, compiled without a plan. */
typedef struct chain {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
    clo_arena arena;
    clo_program *program;
} chain;

static chain compile(const uint32_t *instances, uint32_t stages, int has_links)
{
    chain c = {0};

    ok(clo_graph_create("chain", &c.graph));
    for (uint32_t t = 0; t < stages; t++)
        ok(clo_graph_add_task(c.graph, &(clo_task){.work_ns = 100, .instances = instances[t]}, NULL));
    for (uint32_t t = 0; t + 1 < stages; t++)
        ok(clo_graph_add_edge(c.graph, t, t + 1, 8));
    ok(clo_graph_seal(c.graph));
    c.platform = scene_platform(EXECUTORS, has_links);
    ok(clo_cost_create(c.graph, c.platform, &c.cost));
    clo_arena_open(&c.arena, NULL, 0);
    ok(clo_program_create(c.cost, NULL, 0, NULL, &c.arena, &c.program));
    return c;
}

static void drop(chain *c)
{
    clo_arena_close(&c->arena);
    clo_cost_destroy(c->cost);
    clo_platform_destroy(c->platform);
    clo_graph_destroy(c->graph);
}

/* A producer of n instances in front of a consumer of m. */
static bool has_barrier(uint32_t n, uint32_t m, int has_links)
{
    chain c = compile((uint32_t[]){n, m}, 2, has_links);
    bool has = clo_program_barrier(c.program, 0) != CLO_NONE;

    assert_int_equal(c.program->barriers, has);
    drop(&c);
    return has;
}

static void a_barrier_is_there_exactly_where_it_saves_hits(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 5; n++)
        for (uint32_t m = 1; m <= 5; m++)
            assert_int_equal(has_barrier(n, m, 0), n > 1 && n * m > n + m);
}

static void where_data_move_one_that_waits_for_more_than_there_are_executors_has_one(void **state)
{
    (void)state;
    assert_false(has_barrier(EXECUTORS, 1, 1));
    assert_true(has_barrier(EXECUTORS + 1, 1, 1));
    assert_false(has_barrier(EXECUTORS + 1, 1, 0));
}

static void a_stage_that_nobody_waits_for_has_none(void **state)
{
    chain c = compile((uint32_t[]){4, 4, 4}, 3, 1);

    (void)state;
    assert_int_equal(c.program->barriers, 2);
    assert_int_equal(clo_program_barrier(c.program, 2), CLO_NONE);
    drop(&c);
}

/* Barriers are numbered in order of their stages, and each knows its stage. */
static void barriers_are_numbered_as_their_stages(void **state)
{
    chain c = compile((uint32_t[]){3, 1, 3, 3, 3}, 5, 0);

    (void)state;
    assert_int_equal(c.program->barriers, 2);
    assert_int_equal(clo_program_barrier(c.program, 0), CLO_NONE); /* only one waits for it */
    assert_int_equal(clo_program_barrier(c.program, 1), CLO_NONE); /* one instance */
    for (uint32_t b = 0; b < 2; b++) {
        assert_int_equal(c.program->barrier_task[b], 2 + b);
        assert_int_equal(clo_program_barrier(c.program, 2 + b), b);
        assert_int_equal(clo_program_needs(c.program, c.program->executions + b), 3); /* hit by each instance */
    }
    drop(&c);
}

static void where_no_stage_has_one_there_is_no_table_of_barriers(void **state)
{
    chain c = compile((uint32_t[]){2, 2}, 2, 1);

    (void)state;
    assert_null(c.program->barrier_of);
    drop(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_barrier_is_there_exactly_where_it_saves_hits),
        cmocka_unit_test(where_data_move_one_that_waits_for_more_than_there_are_executors_has_one),
        cmocka_unit_test(a_stage_that_nobody_waits_for_has_none),
        cmocka_unit_test(barriers_are_numbered_as_their_stages),
        cmocka_unit_test(where_no_stage_has_one_there_is_no_table_of_barriers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
