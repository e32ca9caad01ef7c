/* What a graph pays for a task and an edge: rows and ids alone, and a column for each property that some task has. */
#include "support.h"

#include "base/numbers/rng.h"
#include "fault.h"
#include "graph/graph.h"

#include <stdio.h>
#include <string.h>

enum { IDS = 1000, TASKS = 40 };

static void ids_of_three_and_of_four_bytes_leave_their_neighbours_alone(void **state)
{
    (void)state;
    static unsigned char bytes[IDS * 4 + 1];
    static uint32_t want[IDS];

    for (uint32_t width = 3; width <= 4; width++) {
        size_t size = clo_ids_bytes(width, IDS);
        uint32_t most = width == 3 ? CLO_IDS_NARROW - 1 : UINT32_MAX - 1;
        clo_rng rng = clo_rng_seed(width);
        clo_ids ids = clo_ids_of(bytes, width);

        bytes[size] = 0xa5;
        for (uint32_t k = 0; k < 5 * IDS; k++) {
            uint32_t at = k < IDS ? IDS - 1 - k : clo_rng_below(&rng, IDS);
            want[at] = k % 7 == 0 ? most : clo_rng_below(&rng, most);
            clo_ids_put(bytes, width, at, want[at]);
        }
        for (uint32_t i = 0; i < IDS; i++)
            assert_int_equal(clo_ids_at(ids, i), want[i]);
        assert_int_equal(bytes[size], 0xa5);
    }
    assert_int_equal(clo_ids_width(CLO_IDS_NARROW), 3); /* the last id is one less */
    assert_int_equal(clo_ids_width(CLO_IDS_NARROW + 1), 4);
}

static void a_plain_graph_has_rows_of_32_bytes_and_nothing_beside_them(void **state)
{
    (void)state;
    clo_graph *graph = NULL;

    ok(clo_graph_create("g", &graph));
    for (uint32_t t = 0; t < 3; t++)
        ok(clo_graph_add_task(graph, &(clo_task){.work_ns = 1, .duplicable = 1, .task_class = 1}, NULL));
    ok(clo_graph_add_task(graph, &(clo_task){.work_ns = 1, .instances = 7}, NULL)); /* instances are in the row */
    ok(clo_graph_add_edge(graph, 0, 1, 0));
    ok(clo_graph_seal(graph));
    assert_int_equal(sizeof graph->rows[0], 32);
    assert_int_equal(graph->columns.made, 0);
    assert_int_equal(graph->in.width, 3);
    assert_null(graph->in_bytes);
    clo_graph_destroy(graph);
}

/* Task t has each property or not, by a bit of its own of t. */
static clo_task task_of(uint32_t t, char name[8])
{
    clo_task task = {.work_ns = t + 1};

    snprintf(name, 8, "n%u", t);
    if ((t & 1) != 0)
        task.name = name;
    if ((t & 2) != 0)
        task.output_bytes = 3 * t;
    if ((t & 4) != 0)
        task.executors_mask = t;
    if ((t & 8) != 0)
        task.demand[1] = t;
    if ((t & 16) != 0)
        task.instances = 10 * t, task.grain = 7;
    return task;
}

static void are_as_given(const clo_graph *graph, uint32_t tasks)
{
    for (uint32_t t = 0; t < tasks; t++) {
        char name[8];
        clo_task want = task_of(t, name), is;

        ok(clo_graph_task(graph, t, &is));
        if (want.name == NULL)
            assert_null(is.name);
        else
            assert_string_equal(is.name, want.name);
        assert_int_equal(is.work_ns, want.work_ns);
        assert_int_equal(is.output_bytes, want.output_bytes);
        assert_int_equal(is.executors_mask, want.executors_mask);
        assert_memory_equal(is.demand, want.demand, sizeof is.demand);
        assert_int_equal(is.instances, want.instances > 0 ? want.instances : 1);
        assert_int_equal(is.grain, want.grain);
        assert_int_equal(clo_graph_has_demand(graph, t), (t & 8) != 0);
    }
}

static void a_property_that_comes_late_is_missing_from_the_tasks_before(void **state)
{
    (void)state;
    clo_graph *graph = NULL;
    char name[8];

    ok(clo_graph_create("g", &graph));
    for (uint32_t t = 0; t < TASKS; t++) {
        clo_task task = task_of(t, name);
        ok(t % 3 == 0 ? clo_graph_add_tasks(graph, &task, 1, NULL) : clo_graph_add_task(graph, &task, NULL));
        are_as_given(graph, t + 1);
    }
    ok(clo_graph_seal(graph));
    are_as_given(graph, TASKS);
    clo_graph_destroy(graph);
}

/* Edges in any order, with the same bytes or not, come back as they were added, though the sealed graph keeps neither
 * their ends nor, if all are the same, their bytes. */
static void edges_read_back_in_the_order_of_their_addition(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 12; round++) {
        bool is_even = round % 2 == 0, is_by_target = round % 3 == 0, has_stage = round % 4 >= 2;
        clo_edge edges[TASKS], back;
        clo_graph *graph = NULL;

        ok(clo_graph_create("g", &graph));
        for (uint32_t t = 0; t < TASKS; t++)
            ok(clo_graph_add_task(graph, &(clo_task){.instances = has_stage && t == 5 ? 4 : 1}, NULL));
        for (uint32_t e = 0; e < TASKS - 1; e++) {
            uint32_t to = is_by_target ? e + 1 : (e * 7) % (TASKS - 1) + 1;
            edges[e] = (clo_edge){to / 2, to, is_even ? 41 : e};
            ok(clo_graph_add_edge(graph, edges[e].from, edges[e].to, edges[e].bytes));
        }
        ok(clo_graph_seal(graph));
        assert_null(graph->ends);
        assert_int_equal(graph->in_place == NULL, is_by_target && !has_stage);
        assert_int_equal(graph->in_bytes == NULL, is_even && !has_stage);
        assert_true(clo_graph_has_bytes(graph));
        for (uint32_t e = 0; e < TASKS - 1; e++) {
            ok(clo_graph_edge(graph, e, &back));
            assert_int_equal(back.from, edges[e].from);
            assert_int_equal(back.to, edges[e].to);
            assert_int_equal(back.bytes, edges[e].bytes);
        }
        for (uint32_t at = graph->out_first[9]; at < graph->out_first[10]; at++)
            assert_int_equal(clo_graph_out_bytes(graph, at),
                             clo_graph_in_bytes(graph, graph->in_first[graph->out[at]]));
        clo_graph_destroy(graph);
    }
}

static clo_graph *module_of_two(void)
{
    clo_graph *module = NULL;
    uint32_t kind;

    ok(clo_graph_create("module", &module));
    ok(clo_graph_kind(module, "gpu", &kind));
    ok(clo_graph_set_resource(module, 0, "bytes"));
    ok(clo_graph_add_task(module, &(clo_task){.name = "a", .output_bytes = 9, .executors_mask = 2, .demand = {1}},
                          NULL));
    ok(clo_graph_set_time(module, 0, kind, 5));
    ok(clo_graph_add_task(module, &(clo_task){.instances = 9, .grain = 2, .demand = {1}}, NULL));
    ok(clo_graph_set_time(module, 1, kind, 6));
    ok(clo_graph_seal(module));
    return module;
}

/* Without memory at its n-th allocation, a module is taken back; plain tasks then stand where its tasks stood. Returns
 * whether there was memory enough. */
static bool plain_tasks_after(const clo_graph *module, uint64_t n)
{
    clo_graph *graph = NULL;
    clo_task task;

    ok(clo_graph_create("g", &graph));
    ok(clo_graph_add_task(graph, &(clo_task){.work_ns = 1}, NULL));
    fault_fail_nth(n);
    clo_status status = clo_graph_add_module(graph, module, NULL, NULL);
    fault_fail_nth(0);
    assert_int_equal(clo_graph_tasks(graph), status == CLO_OK ? 3 : 1);
    for (uint32_t t = 1; t < 3 && status != CLO_OK; t++) {
        assert_int_equal(status, CLO_ERR_MEMORY);
        ok(clo_graph_add_task(graph, &(clo_task){.work_ns = 2}, NULL));
        ok(clo_graph_task(graph, t, &task));
        assert_null(task.name);
        assert_int_equal(task.output_bytes, 0);
        assert_int_equal(task.executors_mask, 0);
        assert_int_equal(task.instances, 1);
        assert_int_equal(task.grain, 0);
        assert_false(clo_graph_has_demand(graph, t));
        assert_int_equal(clo_graph_special_first(graph, t), CLO_NONE);
    }
    clo_graph_destroy(graph);
    return status == CLO_OK;
}

static void tasks_in_the_place_of_others_have_nothing_of_theirs(void **state)
{
    (void)state;
    clo_graph *module = module_of_two();
    uint64_t n = 1;

    while (!plain_tasks_after(module, n)) /* ends with the first n that is more than all allocations */
        n++;
    assert_true(n > 10);
    clo_graph_destroy(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_of_three_and_of_four_bytes_leave_their_neighbours_alone),
        cmocka_unit_test(a_plain_graph_has_rows_of_32_bytes_and_nothing_beside_them),
        cmocka_unit_test(a_property_that_comes_late_is_missing_from_the_tasks_before),
        cmocka_unit_test(edges_read_back_in_the_order_of_their_addition),
        cmocka_unit_test(tasks_in_the_place_of_others_have_nothing_of_theirs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
