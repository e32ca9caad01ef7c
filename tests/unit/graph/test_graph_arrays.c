/* Arrays of tasks and of edges: as one by one, all or nothing. */
#include "support.h"

#include "fault.h"
#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

#define BIG 3000000000u /* instances: one such task fits, two do not */

/* An open graph with a task and an edge, so that "as before" is not "empty". */
static clo_graph *begun(void)
{
    clo_graph *graph = NULL;
    clo_task task = {.name = "first", .work_ns = 1, .demand = {2}};

    ok(clo_graph_create("g", &graph));
    ok(clo_graph_add_task(graph, &task, NULL));
    ok(clo_graph_add_edge(graph, 0, 1, 0));
    return graph;
}

/* The graph is what begun() made: it has the same rows, and takes what it took before. */
static void is_as_begun(clo_graph *graph)
{
    assert_int_equal(clo_graph_tasks(graph), 1);
    assert_int_equal(clo_graph_edges(graph), 1);
    assert_int_equal(graph->names_bytes, sizeof "first");
    assert_int_equal(graph->demands_count, 1);
    assert_int_equal(graph->instances_open, 1);
    assert_int_equal(graph->work_open, 1);
    assert_false(graph->has_outputs);
    assert_null(graph->edge_bytes);
}

static void arrays_are_added_at_the_end(void **state)
{
    (void)state;
    clo_graph *graph = begun();
    const clo_task tasks[3] = {{.name = "a", .work_ns = 5}, {.instances = 3, .output_bytes = 8}, {.demand = {0, 7}}};
    const clo_edge edges[3] = {{0, 2, 0}, {1, 3, 40}, {2, 3, 0}};
    char scratch[16];
    uint32_t first = 99;
    clo_edge edge;
    clo_task task;

    ok(clo_graph_add_tasks(graph, tasks, 3, &first));
    assert_int_equal(first, 1);
    ok(clo_graph_add_edges(graph, edges, 3));
    assert_string_equal(clo_graph_task_name(graph, 1, scratch), "a");
    assert_string_equal(clo_graph_task_name(graph, 2, scratch), "t2");
    ok(clo_graph_task(graph, 3, &task));
    assert_int_equal(task.demand[1], 7);
    for (uint32_t e = 0; e < 3; e++) {
        ok(clo_graph_edge(graph, e + 1, &edge));
        assert_memory_equal(&edge, &edges[e], sizeof edge);
    }
    ok(clo_graph_edge(graph, 0, &edge));
    assert_int_equal(edge.bytes, 0);
    ok(clo_graph_seal(graph));
    assert_int_equal(clo_graph_instances(graph), 6);
    clo_graph_destroy(graph);
}

static void an_empty_array_changes_nothing(void **state)
{
    (void)state;
    clo_graph *graph = begun();
    uint32_t first = 99;

    ok(clo_graph_add_tasks(graph, NULL, 0, &first));
    assert_int_equal(first, 1);
    ok(clo_graph_add_tasks(graph, NULL, 0, NULL));
    ok(clo_graph_add_edges(graph, NULL, 0));
    is_as_begun(graph);
    clo_graph_destroy(graph);
}

/* Whatever is wrong with one task, none is added, and the message names the one. */
static void one_bad_task_keeps_all_out(void **state)
{
    (void)state;
    clo_graph *graph = begun();
    clo_task good = {.name = "good", .work_ns = 5, .output_bytes = 1, .demand = {1}}, bad[5] = {{0}};
    char *name = test_malloc(65537);
    uint32_t first = 99;
    static const struct {
        clo_status status;
        const char *error;
    } wanted[5] = {
        {CLO_ERR_ARGUMENT, "tasks[2]: task 3: work_ns is -1; give a number >= 0"},
        {CLO_ERR_ARGUMENT, "tasks[2]: task 3: may_pend is 2; give 0 or 1, and initialise with CLO_TASK_INIT"},
        {CLO_ERR_ARGUMENT, "tasks[2]: task 3: demand[7] is -2; give a number >= 0"},
        {CLO_ERR_LIMIT, "tasks[2]: task 3: its name is too long; use at most 65535 bytes a task, 4 GiB in all"},
        {CLO_ERR_LIMIT, "tasks[2]: task 3: more than 4294967294 instances in the graph; use fewer"}};

    memset(name, 'x', 65536);
    name[65536] = '\0';
    bad[0].work_ns = -1;
    bad[1].may_pend = 2;
    bad[2].demand[7] = -2;
    bad[3].name = name;
    bad[4].instances = BIG;
    for (size_t b = 0; b < 5; b++) {
        const clo_task tasks[4] = {good, b == 4 ? bad[b] : good, bad[b], good};
        fails(wanted[b].status, wanted[b].error, clo_graph_add_tasks(graph, tasks, 4, &first));
        is_as_begun(graph);
        assert_int_equal(first, 99);
    }
    test_free(name);
    clo_graph_destroy(graph);
}

static void more_edges_than_a_graph_holds_are_refused(void **state)
{
    (void)state;
    clo_graph *graph = begun();
    const clo_edge edge = {0, 1, 0};

    /* the count is looked at before the array */
    fails(CLO_ERR_LIMIT, "edges[4294967293]: more than 4294967294 edges; use fewer",
          clo_graph_add_edges(graph, &edge, CLO_NONE - 1));
    fails(CLO_ERR_LIMIT, "edges[4294967293]: ", clo_graph_add_edges(graph, &edge, SIZE_MAX));
    is_as_begun(graph);
    clo_graph_destroy(graph);
}

static void a_sealed_graph_takes_no_arrays(void **state)
{
    (void)state;
    clo_graph *graph = NULL;
    const clo_task task = {.work_ns = 1};
    const clo_edge edge = {0, 1, 0};

    ok(clo_graph_create("g", &graph));
    ok(clo_graph_add_tasks(graph, &task, 1, NULL));
    ok(clo_graph_seal(graph));
    fails(CLO_ERR_STATE, "is sealed; add tasks before clo_graph_seal", clo_graph_add_tasks(graph, &task, 1, NULL));
    fails(CLO_ERR_STATE, "is sealed; add edges before clo_graph_seal", clo_graph_add_edges(graph, &edge, 1));
    clo_graph_destroy(graph);
}

/* Adds both arrays; where one fails, the graph must be as it was before that call. */
static clo_status add_all(void *context)
{
    clo_graph *graph = NULL;
    static const clo_task tasks[20] = {{.name = "a long name that is the tenth of its kind", .demand = {1}}};
    static const clo_edge edges[20] = {{0, 1, 5}};
    clo_status status = clo_graph_create("g", &graph);

    (void)context;
    if (status != CLO_OK)
        return status;
    status = clo_graph_add_tasks(graph, tasks, 20, NULL);
    assert_int_equal(clo_graph_tasks(graph), status == CLO_OK ? 20 : 0);
    assert_int_equal(graph->names_bytes > 0, status == CLO_OK);
    assert_int_equal(graph->demands_count, status == CLO_OK ? 1 : 0);
    if (status == CLO_OK) {
        status = clo_graph_add_edges(graph, edges, 20);
        assert_int_equal(clo_graph_edges(graph), status == CLO_OK ? 20 : 0);
        if (status != CLO_OK && clo_graph_add_edge(graph, 0, 1, 0) == CLO_OK)
            assert_int_equal(clo_graph_edges(graph), 1);
    }
    clo_graph_destroy(graph);
    return status;
}

static void without_memory_nothing_is_added(void **state)
{
    (void)state;
    assert_int_equal(fault_each(add_all, NULL),
                     9); /* graph, its name; rows, names, demands, two columns; ends, bytes */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_added_at_the_end),    cmocka_unit_test(an_empty_array_changes_nothing),
        cmocka_unit_test(one_bad_task_keeps_all_out),     cmocka_unit_test(more_edges_than_a_graph_holds_are_refused),
        cmocka_unit_test(a_sealed_graph_takes_no_arrays), cmocka_unit_test(without_memory_nothing_is_added),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
