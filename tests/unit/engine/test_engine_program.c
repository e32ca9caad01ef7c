/* A graph compiled for dispatch: who waits for how many, who releases whom, and how large the largest row is. */
#include "scene.h"

#include "engine/program/compile.h"

#include <string.h>

enum { SOURCES = 5, SINK = SOURCES, TASKS = SOURCES + 4, EXECUTORS = 2 };

typedef struct setting {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
    clo_arena arena;
} setting;

/* Five sources, a sink of all of them, and a chain of three behind it. */
static setting open_setting(void)
{
    setting s;
    clo_task task = {.work_ns = 100};

    ok(clo_graph_create("star and chain", &s.graph));
    for (uint32_t t = 0; t < TASKS; t++)
        ok(clo_graph_add_task(s.graph, &task, NULL));
    for (uint32_t t = 0; t < SOURCES; t++)
        ok(clo_graph_add_edge(s.graph, t, SINK, 8 * t));
    for (uint32_t t = SINK; t + 1 < TASKS; t++)
        ok(clo_graph_add_edge(s.graph, t, t + 1, 1));
    ok(clo_graph_seal(s.graph));
    s.platform = scene_platform(EXECUTORS, 1);
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    clo_arena_open(&s.arena, NULL, 0);
    return s;
}

static void close_setting(setting *s)
{
    clo_arena_close(&s->arena);
    clo_cost_destroy(s->cost);
    clo_platform_destroy(s->platform);
    clo_graph_destroy(s->graph);
}

/* Odd tasks on executor 1, even ones on 0, all in order of their numbers. */
static void place(clo_placement *placements)
{
    for (uint32_t t = 0; t < TASKS; t++)
        placements[t] =
            (clo_placement){.task = t, .executor = t % 2, .start_ns = 1000 * t, .finish_ns = 1000 * t + 100};
}

static void a_steal_program_is_the_graph_itself(void **state)
{
    (void)state;
    setting s = open_setting();
    clo_program *program;

    ok(clo_program_create(s.cost, NULL, 0, NULL, &s.arena, &program));
    assert_false(program->is_replay);
    assert_false(program->is_restricted);
    assert_true(program->crosses_memories);
    assert_int_equal(program->executions, TASKS);
    assert_int_equal(program->instances, TASKS);
    assert_int_equal(program->inputs_max, SOURCES);
    assert_int_equal(program->exits, 1);
    assert_int_equal(program->roots_count, SOURCES);
    for (uint32_t r = 0; r < SOURCES; r++)
        assert_int_equal(clo_program_needs(program, program->roots[r]), 0);
    assert_int_equal(clo_program_needs(program, SINK), SOURCES);
    assert_int_equal(clo_program_needs(program, TASKS - 1), 1);
    close_setting(&s);
}

/* Whether a program says so of one task that may run on the executors of `mask`, 0: on any. */
static bool restricts(uint64_t mask, int64_t demand)
{
    clo_platform *platform = scene_platform(EXECUTORS, 1);
    clo_task task = {.work_ns = 100, .executors_mask = mask, .demand = {demand}}, plain = {.work_ns = 100};
    clo_program *program;
    clo_graph *graph;
    clo_arena arena;
    clo_cost *cost;

    ok(clo_graph_create("restricted", &graph));
    ok(clo_graph_add_task(graph, &plain, NULL));
    ok(clo_graph_add_task(graph, &task, NULL));
    ok(clo_graph_seal(graph));
    ok(clo_cost_create(graph, platform, &cost));
    clo_arena_open(&arena, NULL, 0);
    ok(clo_program_create(cost, NULL, 0, NULL, &arena, &program));
    bool is_restricted = program->is_restricted;
    clo_arena_close(&arena);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
    return is_restricted;
}

static void a_steal_program_is_restricted_where_some_task_cannot_run_everywhere(void **state)
{
    (void)state;
    assert_false(restricts(0, 0));
    assert_false(restricts(0, 1)); /* no capacity is set */
    assert_false(restricts(3, 0));
    assert_false(restricts(7, 0)); /* wider than the platform */
    assert_true(restricts(1, 0));
    assert_true(restricts(2, 0));
}

static void a_replay_program_waits_for_the_one_before_and_for_other_executors(void **state)
{
    (void)state;
    static const uint32_t needs[TASKS] = {0, 0, 1, 1, 1, 4, 2, 2, 2};
    setting s = open_setting();
    clo_placement placements[TASKS];
    clo_program *program;

    place(placements);
    ok(clo_program_create(s.cost, placements, TASKS, NULL, &s.arena, &program));
    assert_true(program->is_replay);
    assert_int_equal(program->executions, TASKS);
    assert_int_equal(program->inputs_max, SOURCES);
    assert_int_equal(program->roots_count, 2);
    assert_int_equal(program->exits, 1);
    for (uint32_t t = 0; t < TASKS; t++) {
        assert_int_equal(program->executor[t], t % 2);
        assert_int_equal(clo_program_task(program, t), t);
        assert_int_equal(clo_program_needs(program, t), needs[t]);
    }
    clo_inputs inputs = clo_inputs_of(program, SINK);
    for (uint32_t k = 0; k < SOURCES; k++) {
        assert_true(clo_inputs_next(&inputs));
        assert_int_equal(inputs.task, k);
        assert_int_equal(inputs.count, 1);
        assert_int_equal(clo_inputs_source(&inputs, 0), k);
        assert_int_equal(inputs.bytes, 8 * k);
    }
    assert_false(clo_inputs_next(&inputs));
    uint32_t released = 0;
    for (uint32_t t = 0; t < TASKS; t++)
        for (uint32_t at = program->succ_first[t]; at < program->succ_first[t + 1]; at++) {
            assert_true(program->succ[at] > t);
            released++;
        }
    assert_int_equal(released, 13);
    close_setting(&s);
}

/* Two tasks on one executor; one after the other if they have an edge. Returns which entry comes first. */
static uint32_t first_of(const clo_placement *placements, bool has_edge)
{
    clo_task task = {.work_ns = 0};
    setting s;
    clo_program *program;

    ok(clo_graph_create("two", &s.graph));
    ok(clo_graph_add_task(s.graph, &task, NULL));
    ok(clo_graph_add_task(s.graph, &task, NULL));
    if (has_edge)
        ok(clo_graph_add_edge(s.graph, 0, 1, 0));
    ok(clo_graph_seal(s.graph));
    s.platform = scene_platform(1, 0);
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    clo_arena_open(&s.arena, NULL, 0);
    ok(clo_program_create(s.cost, placements, 2, NULL, &s.arena, &program));
    assert_int_equal(program->roots_count, 1);
    assert_int_equal(program->exits, 1);
    uint32_t first = program->roots[0];
    assert_int_equal(clo_program_needs(program, 1 - first), 1);
    close_setting(&s);
    return first;
}

static void of_equal_starts_the_earlier_end_then_the_graphs_order_comes_first(void **state)
{
    (void)state;
    const clo_placement short_second[2] = {{.task = 0, .finish_ns = 10}, {.task = 1, .finish_ns = 0}};
    const clo_placement short_first[2] = {{.task = 0, .finish_ns = 0}, {.task = 1, .finish_ns = 10}};
    const clo_placement both_short[2] = {{.task = 1, .start_ns = 5, .finish_ns = 5},
                                         {.task = 0, .start_ns = 5, .finish_ns = 5}};
    const clo_placement in_turn[2] = {{.task = 1, .start_ns = 5, .finish_ns = 9},
                                      {.task = 0, .start_ns = 7, .finish_ns = 8}};

    assert_int_equal(first_of(short_second, false), 1);
    assert_int_equal(first_of(short_first, false), 0);
    assert_int_equal(first_of(both_short, true), 0);
    assert_int_equal(first_of(in_turn, false), 1);
}

static void a_demand_is_in_the_order_of_the_platform(void **state)
{
    (void)state;
    const clo_executor executor = {0, 0, 0, -1, {65536, 65536, 65536, 65536}};
    const char *names[CLO_RESOURCES_MAX] = {"memory", "camera"};
    int64_t capacities[CLO_RESOURCES_MAX], demand[CLO_RESOURCES_MAX];
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_task task = {.work_ns = 100, .demand = {7, 11}};
    setting s;
    clo_program *program;

    for (int r = 0; r < CLO_RESOURCES_MAX; r++)
        capacities[r] = r < 2 ? 100 : -1;
    desc.executors_count = 1;
    desc.executors = &executor;
    desc.kinds_count = 1;
    desc.machines_count = 1;
    desc.capacities = capacities;
    desc.resource_names = names;
    ok(clo_platform_create(&desc, &s.platform));
    ok(clo_graph_create("demands", &s.graph));
    ok(clo_graph_set_resource(s.graph, 0, "camera"));
    ok(clo_graph_set_resource(s.graph, 1, "memory"));
    ok(clo_graph_add_task(s.graph, &task, NULL));
    ok(clo_graph_seal(s.graph));
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    clo_arena_open(&s.arena, NULL, 0);
    ok(clo_program_create(s.cost, NULL, 0, NULL, &s.arena, &program));
    clo_program_demand(program, 0, demand);
    assert_int_equal(demand[0], 11);
    assert_int_equal(demand[1], 7);
    for (int r = 2; r < CLO_RESOURCES_MAX; r++)
        assert_int_equal(demand[r], 0);
    close_setting(&s);
}

enum { WIDE = 100, NARROW = 3 };

/* One task, a stage of WIDE, two stages of NARROW that both follow it, and a task that joins those. Instances: 0; 1 ..
 * 100; 101 .. 103; 104 .. 106; 107. */
static setting open_stages(uint32_t duplicable)
{
    static const uint32_t instances[] = {1, WIDE, NARROW, NARROW, 1};
    static const clo_edge edges[] = {{0, 1, 0}, {1, 2, 1000}, {1, 3, 0}, {2, 4, 8}, {3, 4, 8}};
    setting s;

    ok(clo_graph_create("stages", &s.graph));
    for (uint32_t t = 0; t < 5; t++) {
        clo_task task = {.work_ns = 100, .instances = instances[t], .duplicable = (uint8_t)duplicable};
        ok(clo_graph_add_task(s.graph, &task, NULL));
    }
    for (uint32_t e = 0; e < 5; e++)
        ok(clo_graph_add_edge(s.graph, edges[e].from, edges[e].to, edges[e].bytes));
    ok(clo_graph_seal(s.graph));
    s.platform = scene_platform(EXECUTORS, 1);
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    clo_arena_open(&s.arena, NULL, 0);
    return s;
}

/* Executions that the row of an execution, or of a barrier, releases. */
static uint32_t row_length(const clo_program *program, uint32_t row)
{
    return program->succ_first[row + 1] - program->succ_first[row];
}

static void a_stage_releases_its_consumers_through_one_barrier(void **state)
{
    (void)state;
    setting s = open_stages(0);
    clo_program *program;

    ok(clo_program_create(s.cost, NULL, 0, NULL, &s.arena, &program));
    uint32_t executions = program->executions, first_b = 1 + WIDE, last = executions - 1;
    assert_int_equal(executions, 2 + WIDE + 2 * NARROW);
    /* Behind the wide stage; behind the narrow ones, which have more instances than there are executors. */
    assert_int_equal(program->barriers, 3);
    assert_int_equal(program->exits, 1);
    assert_int_equal(program->roots_count, 1);
    assert_int_equal(row_length(program, 0), WIDE); /* from one to many without a barrier */
    for (uint32_t i = 1; i <= WIDE; i++) {
        assert_int_equal(clo_program_needs(program, i), 1);
        assert_int_equal(row_length(program, i), 1);
        assert_int_equal(program->succ[program->succ_first[i]], executions + program->barrier_of[1]);
    }
    assert_int_equal(clo_program_needs(program, executions + program->barrier_of[1]), WIDE);
    assert_int_equal(row_length(program, executions + program->barrier_of[1]), 2 * NARROW);
    for (uint32_t i = 0; i < 2 * NARROW; i++) {
        assert_int_equal(clo_program_needs(program, first_b + i), 1);
        assert_int_equal(program->succ[program->succ_first[executions + program->barrier_of[1]] + i], first_b + i);
    }
    assert_int_equal(clo_program_needs(program, last), 2);
    assert_int_equal(clo_program_inputs(program, 4), 2 * NARROW);
    assert_true(clo_program_shares_inputs(program, 2));
    assert_false(clo_program_shares_inputs(program, 4));
    assert_int_equal(program->inputs_max, 2 * NARROW); /* the wide rows of inputs are shared */
    assert_int_equal(program->succ_first[executions + 3], 2 * WIDE + 2 * NARROW + 2 * NARROW + 2);
    close_setting(&s);
}

static void a_replayed_stage_with_a_replica_has_no_barrier(void **state)
{
    (void)state;
    for (uint32_t replicas = 0; replicas < 2; replicas++) {
        setting s = open_stages(1);
        uint32_t instances = clo_graph_instances(s.graph), count = 0;
        clo_placement placements[WIDE + 16];
        clo_program *program;
        for (uint32_t t = 0; t < 5; t++) {
            clo_task task = CLO_TASK_INIT;
            ok(clo_graph_task(s.graph, t, &task));
            for (uint32_t i = 0; i < task.instances; i++, count++)
                placements[count] = (clo_placement){.task = t,
                                                    .instance = i,
                                                    .executor = i % 2,
                                                    .start_ns = 1000000 * t + 1000 * i,
                                                    .finish_ns = 1000000 * t + 1000 * i + 100};
        }
        assert_int_equal(count, instances);
        if (replicas > 0) {
            placements[count] = placements[1];
            placements[count].executor = 1;
            placements[count++].is_replica = 1;
        }
        ok(clo_program_create(s.cost, placements, count, NULL, &s.arena, &program));
        assert_int_equal(program->barriers, replicas > 0 ? 2 : 3);
        assert_int_equal(program->exits, 1);
        /* The first of the second stage: all sources elsewhere, or the barrier; and the one before it. */
        assert_int_equal(clo_program_needs(program, 1 + WIDE), replicas > 0 ? WIDE / 2 + 1 : 2);
        clo_inputs inputs = clo_inputs_of(program, 2 + WIDE); /* on executor 1 */
        assert_true(clo_inputs_next(&inputs));
        assert_int_equal(inputs.count, WIDE);
        assert_int_equal(clo_inputs_source(&inputs, 0), replicas > 0 ? instances : 1); /* the nearer one */
        assert_int_equal(clo_inputs_source(&inputs, 1), 2);
        close_setting(&s);
    }
}

static void a_plan_that_starts_a_consumer_too_early_is_refused(void **state)
{
    (void)state;
    setting s = open_stages(0);
    clo_placement placements[WIDE + 16];
    uint32_t count = 0;
    clo_program *program;

    for (uint32_t t = 0; t < 5; t++)
        for (uint32_t i = 0; i < (t == 1 ? WIDE : t == 0 || t == 4 ? 1 : NARROW); i++, count++)
            placements[count] = (clo_placement){
                .task = t, .instance = i, .executor = i % 2, .start_ns = 1000000 * t + i, .finish_ns = 1000000 * t + i};
    placements[1 + WIDE + 1].start_ns = placements[WIDE].start_ns - 1; /* before the last of the stage */
    fails(CLO_ERR_INVALID, "the plan starts task 't2' before its predecessor 't1'",
          clo_program_create(s.cost, placements, count, NULL, &s.arena, &program));
    close_setting(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_steal_program_is_the_graph_itself),
        cmocka_unit_test(a_steal_program_is_restricted_where_some_task_cannot_run_everywhere),
        cmocka_unit_test(a_replay_program_waits_for_the_one_before_and_for_other_executors),
        cmocka_unit_test(of_equal_starts_the_earlier_end_then_the_graphs_order_comes_first),
        cmocka_unit_test(a_demand_is_in_the_order_of_the_platform),
        cmocka_unit_test(a_stage_releases_its_consumers_through_one_barrier),
        cmocka_unit_test(a_replayed_stage_with_a_replica_has_no_barrier),
        cmocka_unit_test(a_plan_that_starts_a_consumer_too_early_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
