/* Sealing: what is refused and how it is named, adjacency, instances, and every allocation failing in turn. */
#include "support.h"

#include "fault.h"
#include "graph/graph.h"

#include <stdio.h>
#include <string.h>

/* A graph of `tasks` unnamed tasks of one instance. */
static clo_graph *with_tasks(uint32_t tasks)
{
    clo_graph *graph = NULL;

    ok(clo_graph_create("g", &graph));
    for (uint32_t t = 0; t < tasks; t++)
        ok(clo_graph_add_task(graph, &(clo_task){0}, NULL));
    return graph;
}

/* Refused, still open, and fit for use: one more task can be added. */
static void stays_open(clo_graph *graph)
{
    uint32_t tasks = clo_graph_tasks(graph), id;

    assert_false(graph->sealed);
    assert_int_equal(clo_graph_instances(graph), 0);
    ok(clo_graph_add_task(graph, &(clo_task){0}, &id));
    assert_int_equal(id, tasks);
    clo_graph_destroy(graph);
}

static void a_graph_without_tasks_is_refused(void **state)
{
    (void)state;
    clo_graph *graph = with_tasks(0);

    fails(CLO_ERR_ARGUMENT, "no tasks", clo_graph_seal(graph));
    stays_open(graph);
}

static void an_edge_to_nowhere_is_named(void **state)
{
    (void)state;
    clo_graph *graph = with_tasks(3);

    ok(clo_graph_add_edge(graph, 0, 1, 0));
    ok(clo_graph_add_edge(graph, 1, 3, 0));
    fails(CLO_ERR_ARGUMENT, "edge 1 (1 -> 3): task 3 does not exist", clo_graph_seal(graph));
    ok(clo_graph_add_task(graph, &(clo_task){0}, NULL)); /* the mend the message names */
    ok(clo_graph_seal(graph));
    clo_graph_destroy(graph);

    graph = with_tasks(1);
    ok(clo_graph_add_edge(graph, UINT32_MAX, 0, 0));
    fails(CLO_ERR_ARGUMENT, "task 4294967295", clo_graph_seal(graph));
    stays_open(graph);
}

static void a_self_edge_is_named(void **state)
{
    (void)state;
    clo_graph *graph = with_tasks(2);

    ok(clo_graph_add_edge(graph, 1, 1, 0));
    fails(CLO_ERR_ARGUMENT, "task \"t1\" (1) depends on itself", clo_graph_seal(graph));
    stays_open(graph);
}

static void a_duplicate_edge_is_named_with_both_places(void **state)
{
    (void)state;
    clo_graph *graph = with_tasks(4);

    ok(clo_graph_add_edge(graph, 0, 3, 1));
    ok(clo_graph_add_edge(graph, 1, 3, 2));
    ok(clo_graph_add_edge(graph, 1, 2, 3));
    ok(clo_graph_add_edge(graph, 1, 3, 4));
    fails(CLO_ERR_ARGUMENT, "edges 1 and 3 both go from \"t1\" to \"t3\"", clo_graph_seal(graph));
    stays_open(graph);

    /* the same with many instances on both sides */
    ok(clo_graph_create(NULL, &graph));
    ok(clo_graph_add_task(graph, &(clo_task){.instances = 3}, NULL));
    ok(clo_graph_add_task(graph, &(clo_task){.instances = 2}, NULL));
    ok(clo_graph_add_edge(graph, 0, 1, 0));
    ok(clo_graph_add_edge(graph, 0, 1, 0));
    fails(CLO_ERR_ARGUMENT, "edges 0 and 1", clo_graph_seal(graph));
    stays_open(graph);
}

/* Neighbouring lists: the last successor of task 0 and the first of task 1 are the same task. */
static void equal_successors_of_neighbours_are_no_duplicate(void **state)
{
    (void)state;
    clo_graph *graph = with_tasks(3);

    ok(clo_graph_add_edge(graph, 0, 2, 0));
    ok(clo_graph_add_edge(graph, 1, 2, 0));
    ok(clo_graph_seal(graph));
    assert_int_equal(graph->edges, 2);
    clo_graph_destroy(graph);
}

static void a_cycle_is_named_by_its_tasks(void **state)
{
    (void)state;
    clo_graph *graph = NULL;
    static const char *const names[] = {"start", "load", "solve", "check", "end"};

    ok(clo_graph_create("g", &graph));
    for (uint32_t t = 0; t < 5; t++)
        ok(clo_graph_add_task(graph, &(clo_task){.name = names[t], .instances = t == 2 ? 3 : 1}, NULL));
    ok(clo_graph_add_edge(graph, 0, 1, 0));
    ok(clo_graph_add_edge(graph, 1, 2, 0));
    ok(clo_graph_add_edge(graph, 2, 3, 0));
    ok(clo_graph_add_edge(graph, 3, 1, 0));
    ok(clo_graph_add_edge(graph, 3, 4, 0));
    fails(CLO_ERR_CYCLE, "3 tasks wait for each other: \"load\" -> \"solve\" -> \"check\" -> \"load\"; remove",
          clo_graph_seal(graph));
    stays_open(graph);
}

static void a_long_cycle_is_shortened(void **state)
{
    (void)state;
    clo_graph *graph = with_tasks(1000);
    char name[2000];

    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    ok(clo_graph_add_task(graph, &(clo_task){.name = name}, NULL));
    for (uint32_t t = 0; t < 1001; t++)
        ok(clo_graph_add_edge(graph, t, (t + 1) % 1001, 0));
    fails(CLO_ERR_CYCLE, "1001 tasks wait for each other: \"t0\" -> \"t1\"", clo_graph_seal(graph));
    assert_non_null(strstr(clo_last_error(), "\"t7\" -> ... -> \"t0\"; remove"));
    stays_open(graph);
}

/* A cycle of 10 with long names: the line is cut inside the names, never in its mend. */
static void long_names_leave_room_for_the_mend(void **state)
{
    (void)state;
    clo_graph *graph = NULL;
    char name[300];

    ok(clo_graph_create("g", &graph));
    for (uint32_t t = 0; t < 10; t++) {
        memset(name, 'a' + (int)t, sizeof name - 1);
        name[sizeof name - 1] = '\0';
        ok(clo_graph_add_task(graph, &(clo_task){.name = name}, NULL));
        ok(clo_graph_add_edge(graph, t, (t + 1) % 10, 0));
    }
    fails(CLO_ERR_CYCLE, "remove one of these edges", clo_graph_seal(graph));
    clo_graph_destroy(graph);
}

static void overflow_is_refused(void **state)
{
    (void)state;
    clo_graph *graph = NULL;

    ok(clo_graph_create("g", &graph));
    ok(clo_graph_add_task(graph, &(clo_task){.work_ns = INT64_MAX}, NULL));
    ok(clo_graph_add_task(graph, &(clo_task){.work_ns = 1}, NULL));
    fails(CLO_ERR_LIMIT, "total work", clo_graph_seal(graph));
    stays_open(graph);

    ok(clo_graph_create("g", &graph));
    ok(clo_graph_add_task(graph, &(clo_task){.work_ns = INT64_MAX / 2, .instances = 3}, NULL));
    fails(CLO_ERR_LIMIT, "total work", clo_graph_seal(graph));
    stays_open(graph);
}

/* Any number of pairs of instances: here 2^40, with one byte and a half for each. */
static void pairs_of_instances_are_not_limited(void **state)
{
    (void)state;
    clo_graph *graph = NULL;
    const uint32_t many = 1u << 20;

    ok(clo_graph_create("g", &graph));
    ok(clo_graph_add_task(graph, &(clo_task){.instances = many}, NULL));
    ok(clo_graph_add_task(graph, &(clo_task){.instances = many}, NULL));
    ok(clo_graph_add_edge(graph, 0, 1, 3ull << 39));
    ok(clo_graph_seal(graph));
    assert_int_equal(clo_graph_instances(graph), 2 * many);
    assert_true(clo_graph_pairs(graph, 0, 1) == 1ull << 40);
    assert_int_equal(clo_graph_in_bytes(graph, 0), 2); /* ceil(3 / 2) */
    clo_graph_destroy(graph);
}

static void predecessors_keep_the_order_of_the_edges_and_successors_go_by_id(void **state)
{
    (void)state;
    clo_graph *graph = with_tasks(5);
    static const clo_edge edges[] = {{3, 4, 30}, {0, 4, 1}, {2, 4, 20}, {0, 2, 2}, {0, 1, 3}, {0, 3, 4}};

    for (size_t e = 0; e < 6; e++)
        ok(clo_graph_add_edge(graph, edges[e].from, edges[e].to, edges[e].bytes));
    ok(clo_graph_seal(graph));
    assert_int_equal(clo_graph_instances(graph), 5);
    assert_int_equal(graph->edges, 6);

    uint32_t first = graph->in_first[4];
    assert_int_equal(graph->in_first[5] - first, 3);
    assert_int_equal(clo_graph_source(graph, first), 3);
    assert_int_equal(clo_graph_source(graph, first + 1), 0);
    assert_int_equal(clo_graph_source(graph, first + 2), 2);
    assert_int_equal(clo_graph_in_bytes(graph, first), 30);
    assert_int_equal(clo_graph_in_bytes(graph, first + 2), 20);

    for (uint32_t k = 0; k < 4; k++) {
        uint32_t at = graph->out_first[0] + k;
        assert_int_equal(graph->out[at], k + 1);
        assert_int_equal(clo_graph_source(graph, graph->out_edge[at]), 0);
    }
    assert_int_equal(clo_graph_out_bytes(graph, graph->out_first[0] + 3), 1);
    static const uint32_t order[] = {0, 1, 2, 3, 4};
    assert_memory_equal(graph->order, order, sizeof order);
    clo_graph_destroy(graph);
}

static void instances_are_numbered_and_bytes_split_upwards_over_their_pairs(void **state)
{
    (void)state;
    clo_graph *graph = NULL;

    ok(clo_graph_create("g", &graph));
    ok(clo_graph_add_task(graph, &(clo_task){.instances = 2}, NULL));
    ok(clo_graph_add_task(graph, &(clo_task){0}, NULL));
    ok(clo_graph_add_task(graph, &(clo_task){.instances = 3}, NULL));
    ok(clo_graph_add_edge(graph, 1, 2, 7));
    ok(clo_graph_add_edge(graph, 0, 2, 13));
    ok(clo_graph_seal(graph));

    static const uint32_t first[] = {0, 2, 3, 6}, task_of[] = {0, 0, 1, 2, 2, 2};
    assert_int_equal(clo_graph_instances(graph), 6);
    assert_memory_equal(graph->first_instance, first, sizeof first);
    assert_memory_equal(graph->task_of, task_of, sizeof task_of);
    uint32_t at = graph->in_first[2];
    assert_int_equal(graph->in_first[3] - at, 2);
    assert_int_equal(clo_graph_source(graph, at), 1); /* its edge came first */
    assert_int_equal(clo_graph_source(graph, at + 1), 0);
    assert_int_equal(clo_graph_in_bytes(graph, at), 3);     /* ceil(7 / 3)  */
    assert_int_equal(clo_graph_in_bytes(graph, at + 1), 3); /* ceil(13 / 6) */
    for (uint32_t t = 0; t < 2; t++) {
        assert_int_equal(graph->out_first[t + 1] - graph->out_first[t], 1);
        assert_int_equal(graph->out[graph->out_first[t]], 2);
        assert_int_equal(clo_graph_out_bytes(graph, graph->out_first[t]), 3);
    }
    clo_graph_destroy(graph);
}

static void the_topological_order_breaks_ties_by_id(void **state)
{
    (void)state;
    clo_graph *graph = with_tasks(6);

    ok(clo_graph_add_edge(graph, 5, 0, 0));
    ok(clo_graph_add_edge(graph, 4, 1, 0));
    ok(clo_graph_add_edge(graph, 4, 0, 0));
    ok(clo_graph_seal(graph));
    static const uint32_t order[] = {2, 3, 4, 5, 1, 0};
    assert_memory_equal(graph->order, order, sizeof order);
    clo_graph_destroy(graph);
}

static clo_status build_everything(void *context)
{
    clo_graph *graph = NULL;
    clo_status status = clo_graph_create("faulty", &graph);
    uint32_t kind = 0;

    (void)context;
    if (status != CLO_OK)
        return status;
    status = clo_graph_kind(graph, "cpu", &kind);
    if (status == CLO_OK)
        status = clo_graph_set_resource(graph, 0, "power");
    for (uint32_t t = 0; t < 100 && status == CLO_OK; t++) {
        status = clo_graph_add_task(graph, &(clo_task){.name = "name", .demand = {t % 3}, .instances = t % 2}, NULL);
        if (status == CLO_OK)
            status = clo_graph_set_time(graph, t, kind, t);
        if (status == CLO_OK && t > 0)
            status = clo_graph_add_edge(graph, t - 1, t, 8);
        if (status == CLO_OK)
            assert_int_equal(clo_graph_tasks(graph), t + 1);
    }
    if (status == CLO_OK) {
        status = clo_graph_seal(graph);
        assert_int_equal(graph->sealed, status == CLO_OK);
    }
    if (status == CLO_ERR_MEMORY && clo_graph_edges(graph) == 99) { /* unchanged: it seals at the second try */
        ok(clo_graph_seal(graph));
        assert_int_equal(clo_graph_instances(graph), 100);
    }
    clo_graph_destroy(graph);
    return status;
}

static void every_failed_allocation_is_reported_and_leaks_nothing(void **state)
{
    (void)state;
    assert_true(fault_each(build_everything, NULL) >= 15);
}

/* However the edges come, and whether they carry bytes, sealing must not change what clo_graph_edge says. */
static void edges_keep_their_order_and_bytes_over_the_seal(void **state)
{
    static const clo_edge by_target[] = {{0, 1, 0}, {0, 2, 0}, {1, 2, 0}, {2, 4, 0}, {0, 4, 0}, {3, 5, 0}};
    static const clo_edge mixed[] = {{3, 5, 0}, {0, 1, 0}, {2, 4, 0}, {0, 2, 0}, {1, 2, 0}, {0, 4, 0}};

    (void)state;
    for (int which = 0; which < 8; which++) {
        const clo_edge *edges = which & 1 ? mixed : by_target;
        clo_task task = {.instances = which & 4 ? 2 : 1};
        clo_graph *graph;
        clo_edge edge;

        ok(clo_graph_create("order", &graph));
        for (int t = 0; t < 6; t++)
            ok(clo_graph_add_task(graph, &task, NULL));
        for (uint64_t e = 0; e < 6; e++) /* the first two carry none in any case */
            ok(clo_graph_add_edge(graph, edges[e].from, edges[e].to, which & 2 && e >= 2 ? e * 8 : 0));
        for (int sealed = 0; sealed <= 1; sealed++) {
            for (uint32_t e = 0; e < 6; e++) {
                ok(clo_graph_edge(graph, e, &edge));
                assert_int_equal(edge.from, edges[e].from);
                assert_int_equal(edge.to, edges[e].to);
                assert_int_equal(edge.bytes, which & 2 && e >= 2 ? e * 8 : 0);
            }
            if (sealed == 0)
                ok(clo_graph_seal(graph));
        }
        clo_graph_destroy(graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_graph_without_tasks_is_refused),
        cmocka_unit_test(an_edge_to_nowhere_is_named),
        cmocka_unit_test(a_self_edge_is_named),
        cmocka_unit_test(a_duplicate_edge_is_named_with_both_places),
        cmocka_unit_test(equal_successors_of_neighbours_are_no_duplicate),
        cmocka_unit_test(a_cycle_is_named_by_its_tasks),
        cmocka_unit_test(a_long_cycle_is_shortened),
        cmocka_unit_test(long_names_leave_room_for_the_mend),
        cmocka_unit_test(overflow_is_refused),
        cmocka_unit_test(pairs_of_instances_are_not_limited),
        cmocka_unit_test(predecessors_keep_the_order_of_the_edges_and_successors_go_by_id),
        cmocka_unit_test(instances_are_numbered_and_bytes_split_upwards_over_their_pairs),
        cmocka_unit_test(the_topological_order_breaks_ties_by_id),
        cmocka_unit_test(every_failed_allocation_is_reported_and_leaks_nothing),
        cmocka_unit_test(edges_keep_their_order_and_bytes_over_the_seal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
