/* Where the instances of a stage ran, as its consumers see it (engine/state/stage.c). */
#include "support.h"

#include "engine/program/compile.h"
#include "engine/state/stage.h"

enum { EXECUTORS = 5, WIDE = 6, NARROW = 2, LAST = 3, SOURCES = 3 };

typedef struct setting {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
    clo_arena arena;
    clo_program *program;
    clo_stages stages;
} setting;

/* Executors 0, 2 and 4 share a memory, 1 and 3 another one; executor 2 sends more slowly than the others. */
static clo_platform *make_platform(void)
{
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_executor executors[EXECUTORS];
    int64_t latency[EXECUTORS * EXECUTORS];
    clo_platform *platform;

    for (uint32_t e = 0; e < EXECUTORS; e++) {
        executors[e] = (clo_executor){.memory = e % 2, .os_index = -1, .speed_q16 = {65536, 65536, 65536, 65536}};
        for (uint32_t to = 0; to < EXECUTORS; to++)
            latency[e * EXECUTORS + to] = e == 2 ? 200 : 100;
    }
    desc.executors_count = EXECUTORS;
    desc.executors = executors;
    desc.kinds_count = 1;
    desc.latency_ns = latency;
    ok(clo_platform_create(&desc, &platform));
    return platform;
}

/* A stage of 6 instances, which has as many parts as there are sources, one of 2, which has 2, and one of 3 behind them;
 * the first two have a barrier. */
static setting open_setting(void)
{
    static const uint32_t instances[] = {WIDE, NARROW, LAST};
    setting s = {.platform = make_platform()};

    ok(clo_graph_create("stages", &s.graph));
    for (uint32_t t = 0; t < 3; t++)
        ok(clo_graph_add_task(s.graph, &(clo_task){.work_ns = 100, .instances = instances[t]}, NULL));
    ok(clo_graph_add_edge(s.graph, 0, 1, 8));
    ok(clo_graph_add_edge(s.graph, 1, 2, 8));
    ok(clo_graph_seal(s.graph));
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    clo_arena_open(&s.arena, NULL, 0);
    ok(clo_program_create(s.cost, NULL, 0, NULL, &s.arena, &s.program));
    ok(clo_stages_create(&s.stages, s.program, &s.arena));
    return s;
}

static void close_setting(setting *s)
{
    clo_arena_close(&s->arena);
    clo_cost_destroy(s->cost);
    clo_platform_destroy(s->platform);
    clo_graph_destroy(s->graph);
}

static void part_is(const setting *s, uint32_t barrier, uint32_t at, uint32_t executor, uint32_t count,
                    int64_t finish_ns)
{
    const clo_stage_part *part = &s->stages.parts[s->stages.parts_first[barrier] + at];

    assert_true(at < s->stages.parts_count[barrier]);
    assert_int_equal(part->executor, executor);
    assert_int_equal(part->count, count);
    assert_int_equal(part->finish_ns, finish_ns);
}

static void executors_of_one_memory_that_send_alike_are_one_source(void **state)
{
    static const uint32_t source_of[EXECUTORS] = {0, 1, 2, 1, 0};
    setting s = open_setting();

    (void)state;
    assert_int_equal(s.platform->sources_count, SOURCES);
    for (uint32_t e = 0; e < EXECUTORS; e++)
        assert_int_equal(s.platform->source_of[e], source_of[e]);
    for (uint32_t p = 0; p < SOURCES; p++)
        assert_int_equal(s.platform->source_first[p], p);
    close_setting(&s);
}

static void a_stage_has_no_more_parts_than_instances_or_sources(void **state)
{
    setting s = open_setting();

    (void)state;
    assert_int_equal(s.program->barriers, 2);
    assert_int_equal(s.stages.parts_first[1], SOURCES);
    assert_int_equal(s.stages.parts_first[2], SOURCES + NARROW);
    close_setting(&s);
}

static void of_each_source_the_count_and_the_latest_finish_are_kept(void **state)
{
    static const uint32_t ran_on[WIDE] = {0, 3, 4, 1, 2, 0};
    static const int64_t finish_ns[WIDE] = {10, 20, 30, 7, 50, 5};
    setting s = open_setting();

    (void)state;
    clo_stages_pass(&s.stages, 0, ran_on, NULL, finish_ns);
    assert_int_equal(s.stages.parts_count[0], 3);
    part_is(&s, 0, 0, 0, 3, 30);
    part_is(&s, 0, 1, 1, 2, 20);
    part_is(&s, 0, 2, 2, 1, 50);
    close_setting(&s);
}

static void places_without_an_instance_leave_no_gap_and_the_next_run_begins_anew(void **state)
{
    static const uint32_t first[WIDE] = {0, 1, 2, 3, 4, 0}, then[WIDE] = {2, 2, 4, 2, 2, 2};
    setting s = open_setting();

    (void)state;
    clo_stages_pass(&s.stages, 0, first, NULL, NULL);
    assert_int_equal(s.stages.parts_count[0], 3);
    clo_stages_pass(&s.stages, 0, then, NULL, NULL);
    assert_int_equal(s.stages.parts_count[0], 2);
    part_is(&s, 0, 0, 0, 1, 0); /* times are not kept */
    part_is(&s, 0, 1, 2, 5, 0);
    close_setting(&s);
}

static void a_stage_of_few_instances_has_its_parts_in_the_order_in_which_places_come_up(void **state)
{
    static const uint32_t apart[WIDE + NARROW] = {[WIDE] = 2, 0}, together[WIDE + NARROW] = {[WIDE] = 4, 0};
    static const int64_t finish_ns[WIDE + NARROW] = {[WIDE] = 70, 60};
    setting s = open_setting();

    (void)state;
    clo_stages_pass(&s.stages, 1, apart, NULL, finish_ns);
    assert_int_equal(s.stages.parts_count[1], 2);
    part_is(&s, 1, 0, 2, 1, 70);
    part_is(&s, 1, 1, 0, 1, 60);
    clo_stages_pass(&s.stages, 1, together, NULL, finish_ns);
    assert_int_equal(s.stages.parts_count[1], 1);
    part_is(&s, 1, 0, 0, 2, 70);
    close_setting(&s);
}

/* Of instance 6 a second execution has won, on executor 3. */
static void the_execution_counts_whose_output_is_read(void **state)
{
    static const uint32_t ran_on[WIDE + NARROW + LAST + 1] = {[WIDE] = 0, 0, [WIDE + NARROW + LAST] = 3};
    static const uint32_t winner[WIDE + NARROW] = {[WIDE] = WIDE + NARROW + LAST, WIDE + 1};
    setting s = open_setting();

    (void)state;
    clo_stages_pass(&s.stages, 1, ran_on, winner, NULL);
    assert_int_equal(s.stages.parts_count[1], 2);
    part_is(&s, 1, 0, 1, 1, 0); /* executor 1 stands for the place of executor 3 */
    part_is(&s, 1, 1, 0, 1, 0);
    close_setting(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(executors_of_one_memory_that_send_alike_are_one_source),
        cmocka_unit_test(a_stage_has_no_more_parts_than_instances_or_sources),
        cmocka_unit_test(of_each_source_the_count_and_the_latest_finish_are_kept),
        cmocka_unit_test(places_without_an_instance_leave_no_gap_and_the_next_run_begins_anew),
        cmocka_unit_test(a_stage_of_few_instances_has_its_parts_in_the_order_in_which_places_come_up),
        cmocka_unit_test(the_execution_counts_whose_output_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
