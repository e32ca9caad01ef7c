/* Measured times of tasks: how they stand once the graph is sealed. */
#include "support.h"

#include "fault.h"

#include <string.h>

static clo_graph *open_graph(void)
{
    const clo_task tasks[2] = {{.work_ns = 5, .instances = 3}, {.work_ns = 7}};
    clo_graph *graph;

    ok(clo_graph_create("waves", &graph));
    ok(clo_graph_add_tasks(graph, tasks, 2, NULL));
    return graph;
}

static void add(clo_graph *graph, uint32_t task, clo_wave wave, uint32_t level, const char *digits)
{
    int64_t times_ns[8];
    size_t count = strlen(digits);

    for (size_t i = 0; i < count; i++)
        times_ns[i] = digits[i] - '0';
    ok(clo_graph_add_wave(graph, task, wave, level, times_ns, count));
}

static void has(const clo_graph *graph, uint32_t task, uint32_t k, clo_wave wave, const char *digits)
{
    uint32_t count;
    const int64_t *times_ns = clo_graph_wave_times(graph, task, k, wave, &count);

    assert_int_equal(count, strlen(digits));
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(times_ns[i], digits[i] - '0');
}

static void levels_rise_and_fresh_times_leave_the_first_wave(void **state)
{
    clo_graph *graph = open_graph();

    (void)state;
    add(graph, 0, CLO_WAVE_FIRST, 10, "3233");
    add(graph, 0, CLO_WAVE_REST, 10, "1");
    add(graph, 0, CLO_WAVE_FIRST, 2, "89");
    add(graph, 0, CLO_WAVE_FRESH, 10, "353");
    add(graph, 0, CLO_WAVE_REST, 10, "45");
    assert_int_equal(clo_graph_wave_levels(graph, 0), 0); /* not sealed */
    ok(clo_graph_seal(graph));
    assert_int_equal(clo_graph_wave_levels(graph, 0), 2);
    assert_int_equal(clo_graph_wave_level(graph, 0, 0), 2);
    assert_int_equal(clo_graph_wave_level(graph, 0, 1), 10);
    has(graph, 0, 0, CLO_WAVE_FIRST, "89");
    has(graph, 0, 0, CLO_WAVE_REST, "");
    has(graph, 0, 1, CLO_WAVE_FIRST, "23"); /* two of the three 3 are fresh ones */
    has(graph, 0, 1, CLO_WAVE_FRESH, "353");
    has(graph, 0, 1, CLO_WAVE_REST, "145");
    assert_int_equal(clo_graph_wave_levels(graph, 1), 0);
    assert_int_equal(clo_graph_wave_level(graph, 0, 2), 0);
    assert_null(clo_graph_wave_times(graph, 0, 2, CLO_WAVE_REST, NULL));
    clo_graph_destroy(graph);
}

static void a_level_without_a_first_wave_takes_that_of_the_smaller_one(void **state)
{
    clo_graph *graph = open_graph();

    (void)state;
    add(graph, 1, CLO_WAVE_FIRST, 5, "");
    add(graph, 1, CLO_WAVE_FIRST, 10, "12");
    add(graph, 1, CLO_WAVE_FIRST, 20, "6");
    add(graph, 1, CLO_WAVE_FRESH, 20, "6");
    add(graph, 1, CLO_WAVE_REST, 40, "7");
    ok(clo_graph_seal(graph));
    has(graph, 1, 0, CLO_WAVE_FIRST, "");
    has(graph, 1, 1, CLO_WAVE_FIRST, "12");
    has(graph, 1, 2, CLO_WAVE_FIRST, "12");
    has(graph, 1, 3, CLO_WAVE_FIRST, "12");
    clo_graph_destroy(graph);
}

static void bad_times_are_refused_and_change_nothing(void **state)
{
    const int64_t good = 1, negative = -1;
    clo_graph *graph = open_graph();

    (void)state;
    fails(CLO_ERR_ARGUMENT, "does not exist", clo_graph_add_wave(graph, 2, CLO_WAVE_REST, 1, &good, 1));
    fails(CLO_ERR_ARGUMENT, "a level >= 1", clo_graph_add_wave(graph, 0, CLO_WAVE_REST, 0, &good, 1));
    fails(CLO_ERR_ARGUMENT, "give a clo_wave", clo_graph_add_wave(graph, 0, (clo_wave)3, 1, &good, 1));
    fails(CLO_ERR_ARGUMENT, "is -1", clo_graph_add_wave(graph, 0, CLO_WAVE_REST, 1, &negative, 1));
    fails(CLO_ERR_ARGUMENT, "the times", clo_graph_add_wave(graph, 0, CLO_WAVE_REST, 1, NULL, 1));
    ok(clo_graph_seal(graph));
    assert_int_equal(clo_graph_wave_levels(graph, 0), 0);
    fails(CLO_ERR_STATE, "sealed", clo_graph_add_wave(graph, 0, CLO_WAVE_REST, 1, &good, 1));
    clo_graph_destroy(graph);
}

static void too_many_levels_are_refused_by_seal(void **state)
{
    clo_graph *graph = open_graph();

    (void)state;
    for (uint32_t level = 1; level <= CLO_WAVE_LEVELS_MAX + 1; level++)
        add(graph, 0, CLO_WAVE_REST, level, "1");
    fails(CLO_ERR_LIMIT, "levels of measured times", clo_graph_seal(graph));
    clo_graph_destroy(graph);
}

static clo_status build(void *argument)
{
    const int64_t times_ns[2] = {3, 4};
    clo_graph *graph;

    (void)argument;
    clo_status status = clo_graph_create("waves", &graph);
    if (status != CLO_OK)
        return status;
    status = clo_graph_add_task(graph, &(clo_task){.work_ns = 5}, NULL);
    if (status == CLO_OK)
        status = clo_graph_add_wave(graph, 0, CLO_WAVE_FIRST, 5, times_ns, 2);
    if (status == CLO_OK)
        status = clo_graph_add_wave(graph, 0, CLO_WAVE_FRESH, 5, times_ns, 1);
    if (status == CLO_OK)
        status = clo_graph_seal(graph);
    if (status == CLO_OK)
        has(graph, 0, 0, CLO_WAVE_FIRST, "4");
    clo_graph_destroy(graph);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    fault_each(build, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_rise_and_fresh_times_leave_the_first_wave),
        cmocka_unit_test(a_level_without_a_first_wave_takes_that_of_the_smaller_one),
        cmocka_unit_test(bad_times_are_refused_and_change_nothing),
        cmocka_unit_test(too_many_levels_are_refused_by_seal),
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
