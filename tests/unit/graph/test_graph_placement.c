/* Placement sets: what a task may be restricted to, how it reads back, and that equal sets are one. */
#include "support.h"

#include "base/numbers/rng.h"
#include "fault.h"
#include "graph/graph.h"

#include <string.h>

/* An open graph of `tasks` tasks without restrictions. */
static clo_graph *fresh(uint32_t tasks)
{
    clo_graph *graph = NULL;

    ok(clo_graph_create("g", &graph));
    for (uint32_t t = 0; t < tasks; t++)
        ok(clo_graph_add_task(graph, &(clo_task){.work_ns = 1}, NULL));
    return graph;
}

static void any_executors_in_any_order_read_back_ascending(void **state)
{
    (void)state;
    clo_graph *graph = fresh(2);
    const uint32_t wanted[] = {4095, 64, 70, 64, 3, 4095}, sorted[] = {3, 64, 70, 4095};
    uint32_t back[6] = {0};
    clo_task task;

    ok(clo_graph_set_executors(graph, 1, wanted, 6));
    assert_int_equal(clo_graph_executors(graph, 1, back, 6), 4);
    assert_memory_equal(back, sorted, sizeof sorted);
    assert_int_equal(back[4], 0);
    assert_int_equal(clo_graph_executors(graph, 1, back, 2), 4); /* as many as fit */
    assert_int_equal(clo_graph_executors(graph, 1, NULL, 0), 4);
    ok(clo_graph_task(graph, 1, &task));
    assert_int_equal(task.executors_mask, 0); /* a mask cannot say it */
    for (uint32_t e = 0; e < CLO_EXECUTORS_MAX + 200; e++) {
        assert_int_equal(clo_graph_allows(graph, 1, e), e == 3 || e == 64 || e == 70 || e == 4095);
        assert_true(clo_graph_allows(graph, 0, e));
    }
    assert_int_equal(clo_graph_executors(graph, 0, back, 6), 0);
    assert_int_equal(clo_graph_executors(graph, 2, back, 6), 0);
    clo_graph_destroy(graph);
}

static void a_mask_is_the_short_form_of_a_set(void **state)
{
    (void)state;
    clo_graph *graph = fresh(1);
    const clo_task masked = {.executors_mask = 1ull << 63 | 2};
    const uint32_t same[] = {63, 1}, other[] = {0};
    uint32_t back[2];
    clo_task task;

    ok(clo_graph_add_task(graph, &masked, NULL));
    ok(clo_graph_add_tasks(graph, (clo_task[]){masked, {.work_ns = 1}, {.executors_mask = 1}}, 3, NULL));
    ok(clo_graph_set_executors(graph, 0, same, 2));
    assert_int_equal(clo_graph_placement(graph, 0), clo_graph_placement(graph, 1));
    assert_int_equal(clo_graph_placement(graph, 0), clo_graph_placement(graph, 2));
    assert_int_equal(clo_graph_placement(graph, 3), CLO_NONE);
    assert_int_equal(graph->sets.count, 2);
    assert_int_equal(clo_graph_executors(graph, 2, back, 2), 2);
    assert_memory_equal(back, ((uint32_t[]){1, 63}), sizeof back);
    ok(clo_graph_task(graph, 0, &task));
    assert_true(task.executors_mask == masked.executors_mask);
    ok(clo_graph_set_executors(graph, 0, other, 1)); /* the last call counts */
    assert_int_equal(clo_graph_placement(graph, 0), clo_graph_placement(graph, 4));
    clo_graph_destroy(graph);
}

static void bad_sets_are_refused_and_change_nothing(void **state)
{
    (void)state;
    clo_graph *graph = fresh(1);
    const uint32_t executors[] = {70, CLO_EXECUTORS_MAX}, back = 70;

    ok(clo_graph_set_executors(graph, 0, executors, 1));
    fails(CLO_ERR_ARGUMENT, "task 0: executors[1] is 65536; ids go from 0 to 65535",
          clo_graph_set_executors(graph, 0, executors, 2));
    fails(CLO_ERR_ARGUMENT, "task 0: no executors; give at least one, or leave the call out",
          clo_graph_set_executors(graph, 0, executors, 0));
    fails(CLO_ERR_ARGUMENT, "task 1 does not exist (the graph has 1); set executors after clo_graph_add_task",
          clo_graph_set_executors(graph, 1, executors, 1));
    fails(CLO_ERR_ARGUMENT, "executors is NULL", clo_graph_set_executors(graph, 0, NULL, 1));
    uint32_t kept = 0;
    assert_int_equal(clo_graph_executors(graph, 0, &kept, 1), 1);
    assert_int_equal(kept, back);
    ok(clo_graph_seal(graph));
    fails(CLO_ERR_STATE, "is sealed; set executors before clo_graph_seal",
          clo_graph_set_executors(graph, 0, executors, 1));
    clo_graph_destroy(graph);
}

enum { CASES = 3000, DIFFERENT = 900 };

/* Random sets against a plain table of what was asked for. */
static void fill(clo_rng *rng, uint8_t *asked, uint32_t *executors, uint32_t *count)
{
    uint32_t low = clo_rng_below(rng, CLO_EXECUTORS_MAX), span = 1 + clo_rng_below(rng, CLO_EXECUTORS_MAX - low);

    *count = 1 + clo_rng_below(rng, 20);
    memset(asked, 0, CLO_EXECUTORS_MAX);
    for (uint32_t i = 0; i < *count; i++)
        asked[executors[i] = low + clo_rng_below(rng, span)] = 1;
}

static void many_sets_are_kept_once_each(void **state)
{
    (void)state;
    static uint8_t asked[DIFFERENT][CLO_EXECUTORS_MAX];
    static uint32_t executors[DIFFERENT][20], count[DIFFERENT], of_task[CASES];
    clo_graph *graph = fresh(CASES);
    clo_rng rng = clo_rng_seed(7);

    for (uint32_t d = 0; d < DIFFERENT; d++)
        fill(&rng, asked[d], executors[d], &count[d]);
    for (uint32_t t = 0; t < CASES; t++) {
        of_task[t] = clo_rng_below(&rng, DIFFERENT);
        ok(clo_graph_set_executors(graph, t, executors[of_task[t]], count[of_task[t]]));
    }
    assert_true(graph->sets.count <= DIFFERENT && graph->sets.count > DIFFERENT * 8 / 10);
    ok(clo_graph_seal(graph));
    for (uint32_t t = 0; t < CASES; t++) {
        const uint8_t *want = asked[of_task[t]];
        uint32_t found = 0, at = clo_placement_next(&graph->sets, clo_graph_placement(graph, t), 0);
        for (uint32_t e = 0; e < CLO_EXECUTORS_MAX; e++) {
            if (clo_graph_allows(graph, t, e) != (want[e] != 0))
                fail_msg("task %u, executor %u", t, e);
            if (want[e] == 0)
                continue;
            assert_int_equal(at, e);
            at = clo_placement_next(&graph->sets, clo_graph_placement(graph, t), e + 1);
            found++;
        }
        assert_int_equal(at, CLO_NONE);
        assert_int_equal(clo_graph_executors(graph, t, NULL, 0), found);
    }
    for (uint32_t t = 1; t < CASES; t++)
        if (of_task[t] == of_task[t - 1])
            assert_int_equal(clo_graph_placement(graph, t), clo_graph_placement(graph, t - 1));
    clo_graph_destroy(graph);
}

/* One call that adds 20 tasks with 20 masks, and one that makes a wide set. */
static clo_status restrict_all(void *context)
{
    clo_graph *graph = NULL;
    clo_task tasks[20] = {{0}};
    const uint32_t wide[] = {0, 4095};
    clo_status status = clo_graph_create("g", &graph);

    (void)context;
    if (status != CLO_OK)
        return status;
    for (uint32_t t = 0; t < 20; t++)
        tasks[t].executors_mask = 1ull << t;
    status = clo_graph_add_tasks(graph, tasks, 20, NULL);
    assert_int_equal(clo_graph_tasks(graph), status == CLO_OK ? 20 : 0);
    if (status == CLO_OK) {
        status = clo_graph_set_executors(graph, 3, wide, 2);
        assert_int_equal(clo_graph_executors(graph, 3, NULL, 0), status == CLO_OK ? 2 : 1);
        for (uint32_t t = 0; t < 20; t++)
            assert_true(clo_graph_allows(graph, t, t) || t == 3);
    }
    clo_graph_destroy(graph);
    return status;
}

static void without_memory_a_task_keeps_its_set(void **state)
{
    (void)state;
    assert_true(fault_each(restrict_all, NULL) > 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_executors_in_any_order_read_back_ascending),
        cmocka_unit_test(a_mask_is_the_short_form_of_a_set),
        cmocka_unit_test(bad_sets_are_refused_and_change_nothing),
        cmocka_unit_test(many_sets_are_kept_once_each),
        cmocka_unit_test(without_memory_a_task_keeps_its_set),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
