/* The open graph: what it takes, what it refuses, what it gives back. */
#include "support.h"

#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

static clo_graph *fresh(void)
{
    clo_graph *graph = NULL;

    ok(clo_graph_create("g", &graph));
    return graph;
}

static int body_a(const clo_call *call)
{
    (void)call;
    return 0;
}

static int body_b(const clo_call *call)
{
    (void)call;
    return 1;
}

static void a_new_graph_is_open_and_empty(void **state)
{
    (void)state;
    clo_graph *graph = fresh();

    assert_string_equal(clo_graph_name(graph), "g");
    assert_false(graph->sealed);
    assert_int_equal(clo_graph_tasks(graph), 0);
    assert_int_equal(clo_graph_edges(graph), 0);
    assert_int_equal(clo_graph_instances(graph), 0);
    clo_graph_destroy(graph);
    clo_graph_destroy(NULL);

    ok(clo_graph_create(NULL, &graph));
    assert_string_equal(clo_graph_name(graph), "graph");
    clo_graph_destroy(graph);
    fails(CLO_ERR_ARGUMENT, "out is NULL", clo_graph_create("x", NULL));
}

static void a_task_reads_back_as_it_was_added(void **state)
{
    (void)state;
    clo_graph *graph = fresh();
    char name[] = "fft";
    int argument;
    clo_task task = {.name = name,
                     .body = body_a,
                     .argument = &argument,
                     .work_ns = 5,
                     .output_bytes = 6,
                     .instances = 7,
                     .task_class = CLO_CLASS_FLOAT,
                     .duplicable = 1,
                     .executors_mask = 9,
                     .demand = {1, 0, 3}};
    clo_task back;
    uint32_t id = 77;
    char scratch[16];

    ok(clo_graph_add_task(graph, &(clo_task)CLO_TASK_INIT, &id));
    assert_int_equal(id, 0);
    ok(clo_graph_add_task(graph, &task, &id));
    assert_int_equal(id, 1);
    name[0] = 'X'; /* it was copied */
    ok(clo_graph_task(graph, 1, &back));
    assert_string_equal(back.name, "fft");
    assert_ptr_equal(back.body, body_a);
    assert_ptr_equal(back.argument, &argument);
    assert_int_equal(back.work_ns, 5);
    assert_int_equal(back.output_bytes, 6);
    assert_int_equal(back.instances, 7);
    assert_int_equal(back.task_class, CLO_CLASS_FLOAT);
    assert_int_equal(back.duplicable, 1);
    assert_int_equal(back.executors_mask, 9);
    assert_int_equal(back.demand[0], 1);
    assert_int_equal(back.demand[2], 3);

    ok(clo_graph_task(graph, 0, &back));
    assert_null(back.name);
    assert_int_equal(back.instances, 1);
    assert_int_equal(back.demand[0], 0);
    assert_string_equal(clo_graph_task_name(graph, 0, scratch), "t0");
    assert_string_equal(clo_graph_task_name(graph, 1, scratch), "fft");
    assert_string_equal(clo_graph_task_name(graph, 2, scratch), "?");
    fails(CLO_ERR_ARGUMENT, "task 2 does not exist", clo_graph_task(graph, 2, &back));
    clo_graph_destroy(graph);
}

static void a_bad_task_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    clo_graph *graph = fresh();
    char *long_name = malloc(65537);
    uint32_t id = 42;

    memset(long_name, 'x', 65536);
    long_name[65536] = '\0';
    fails(CLO_ERR_ARGUMENT, "work_ns is -1", clo_graph_add_task(graph, &(clo_task){.work_ns = -1}, &id));
    fails(CLO_ERR_ARGUMENT, "demand[7] is -3", clo_graph_add_task(graph, &(clo_task){.demand = {[7] = -3}}, &id));
    fails(CLO_ERR_ARGUMENT, "may_pend", clo_graph_add_task(graph, &(clo_task){.may_pend = 2}, &id));
    fails(CLO_ERR_LIMIT, "name is too long", clo_graph_add_task(graph, &(clo_task){.name = long_name}, &id));
    fails(CLO_ERR_LIMIT, "instances", clo_graph_add_task(graph, &(clo_task){.instances = UINT32_MAX}, &id));
    assert_int_equal(clo_graph_tasks(graph), 0);
    assert_int_equal(id, 42);

    long_name[65535] = '\0'; /* the longest that is allowed */
    ok(clo_graph_add_task(graph, &(clo_task){.name = long_name}, NULL));
    ok(clo_graph_add_task(graph, &(clo_task){.instances = UINT32_MAX - 2}, NULL)); /* 2^32 - 2 in all */
    fails(CLO_ERR_LIMIT, "instances", clo_graph_add_task(graph, &(clo_task){0}, NULL));
    assert_int_equal(clo_graph_tasks(graph), 2);
    free(long_name);
    clo_graph_destroy(graph);
}

static void edges_are_kept_in_order_and_may_name_tasks_to_come(void **state)
{
    (void)state;
    clo_graph *graph = fresh();
    clo_edge edge;

    ok(clo_graph_add_edge(graph, 7, 3, 100));
    ok(clo_graph_add_edge(graph, 0, 1, UINT64_MAX));
    assert_int_equal(clo_graph_edges(graph), 2);
    ok(clo_graph_edge(graph, 0, &edge));
    assert_int_equal(edge.from, 7);
    assert_int_equal(edge.to, 3);
    assert_int_equal(edge.bytes, 100);
    ok(clo_graph_edge(graph, 1, &edge));
    assert_true(edge.bytes == UINT64_MAX);
    fails(CLO_ERR_ARGUMENT, "edge 2 does not exist", clo_graph_edge(graph, 2, &edge));
    clo_graph_destroy(graph);
}

static void kinds_are_named_once_and_at_most_32(void **state)
{
    (void)state;
    clo_graph *graph = fresh();
    uint32_t kind = 99;
    char name[2] = "A";

    for (uint32_t k = 0; k < CLO_GRAPH_KINDS_MAX; k++) {
        name[0] = (char)('A' + k);
        ok(clo_graph_kind(graph, name, &kind));
        assert_int_equal(kind, k);
    }
    ok(clo_graph_kind(graph, "C", &kind));
    assert_int_equal(kind, 2);
    fails(CLO_ERR_LIMIT, "32 kinds", clo_graph_kind(graph, "one more", &kind));
    assert_int_equal(kind, 2);
    assert_int_equal(clo_graph_kinds(graph), CLO_GRAPH_KINDS_MAX);
    assert_string_equal(clo_graph_kind_name(graph, 1), "B");
    assert_null(clo_graph_kind_name(graph, CLO_GRAPH_KINDS_MAX));
    clo_graph_destroy(graph);
}

static void times_and_bodies_per_kind_are_found_before_and_after_sealing(void **state)
{
    (void)state;
    clo_graph *graph = fresh();
    uint32_t kind;
    int64_t time_ns = -5;

    for (int k = 0; k < 3; k++)
        ok(clo_graph_kind(graph, k == 0 ? "a" : k == 1 ? "b" : "c", &kind));
    for (int t = 0; t < 3; t++)
        ok(clo_graph_add_task(graph, &(clo_task){0}, NULL));
    ok(clo_graph_set_time(graph, 2, 2, 22)); /* neither tasks nor kinds in order */
    ok(clo_graph_set_time(graph, 0, 1, CLO_TIME_NEVER));
    ok(clo_graph_set_time(graph, 2, 0, 20));
    ok(clo_graph_set_body(graph, 2, 1, body_a));
    ok(clo_graph_set_body(graph, 2, 1, body_b));
    ok(clo_graph_set_time(graph, 2, 2, 23)); /* the last one counts */

    for (int sealed = 0; sealed < 2; sealed++) {
        assert_true(clo_graph_time(graph, 2, 2, &time_ns) && time_ns == 23);
        assert_true(clo_graph_time(graph, 2, 0, &time_ns) && time_ns == 20);
        assert_true(clo_graph_time(graph, 0, 1, &time_ns) && time_ns == CLO_TIME_NEVER);
        assert_false(clo_graph_time(graph, 2, 1, &time_ns)); /* a body, no time */
        assert_false(clo_graph_time(graph, 1, 0, &time_ns));
        assert_false(clo_graph_time(graph, 9, 0, &time_ns));
        assert_ptr_equal(clo_graph_special_find(graph, 2, 1)->body, body_b);
        assert_null(clo_graph_special_find(graph, 2, 0)->body);
        assert_true(clo_graph_has_kind_body(graph, 2));
        assert_false(clo_graph_has_kind_body(graph, 0));
        if (!sealed)
            ok(clo_graph_seal(graph));
    }
    assert_int_equal(graph->specials_count, 4); /* sorted by (task, kind) */
    assert_int_equal(graph->specials[0].task, 0);
    for (uint32_t s = 1; s < 4; s++) {
        assert_int_equal(graph->specials[s].task, 2);
        assert_int_equal(graph->specials[s].kind, s - 1);
    }
    clo_graph_destroy(graph);
}

static void bad_times_and_bodies_are_refused(void **state)
{
    (void)state;
    clo_graph *graph = fresh();
    uint32_t kind;

    ok(clo_graph_kind(graph, "a", &kind));
    ok(clo_graph_add_task(graph, &(clo_task){0}, NULL));
    fails(CLO_ERR_ARGUMENT, "task 1 does not exist", clo_graph_set_time(graph, 1, 0, 5));
    fails(CLO_ERR_ARGUMENT, "kind 1 does not exist", clo_graph_set_time(graph, 0, 1, 5));
    fails(CLO_ERR_ARGUMENT, "time_ns is -2", clo_graph_set_time(graph, 0, 0, -2));
    fails(CLO_ERR_ARGUMENT, "task 1 does not exist", clo_graph_set_body(graph, 1, 0, body_a));
    fails(CLO_ERR_ARGUMENT, "kind 1 does not exist", clo_graph_set_body(graph, 0, 1, body_a));
    fails(CLO_ERR_ARGUMENT, "body is NULL", clo_graph_set_body(graph, 0, 0, NULL));
    assert_false(clo_graph_has_kind_body(graph, 0));
    clo_graph_destroy(graph);
}

static void resources_have_distinct_names(void **state)
{
    (void)state;
    clo_graph *graph = fresh();

    ok(clo_graph_set_resource(graph, 7, "power"));
    ok(clo_graph_set_resource(graph, 7, "memory"));
    ok(clo_graph_set_resource(graph, 7, "memory"));
    assert_string_equal(clo_graph_resource_name(graph, 7), "memory");
    assert_null(clo_graph_resource_name(graph, 0));
    assert_null(clo_graph_resource_name(graph, 8));
    fails(CLO_ERR_ARGUMENT, "index below 8", clo_graph_set_resource(graph, 8, "x"));
    fails(CLO_ERR_ARGUMENT, "and a name", clo_graph_set_resource(graph, 0, NULL));
    fails(CLO_ERR_ARGUMENT, "is the name of resource 7", clo_graph_set_resource(graph, 0, "memory"));
    clo_graph_destroy(graph);
}

/* The generators set work after adding: the sum that seal looks at follows. */
static void work_that_is_set_again_counts_once(void **state)
{
    (void)state;
    clo_graph *graph = fresh();

    ok(clo_graph_add_task(graph, &(clo_task){.work_ns = INT64_MAX / 2, .instances = 2}, NULL));
    clo_graph_set_work(graph, 0, INT64_MAX / 3);
    clo_graph_set_work(graph, 0, INT64_MAX / 2);
    ok(clo_graph_seal(graph));
    assert_true(graph->rows[0].work_ns == INT64_MAX / 2);
    clo_graph_destroy(graph);
}

static void a_sealed_graph_refuses_every_change(void **state)
{
    (void)state;
    clo_graph *graph = fresh();
    uint32_t kind;

    ok(clo_graph_kind(graph, "a", &kind));
    ok(clo_graph_add_task(graph, &(clo_task){0}, NULL));
    ok(clo_graph_seal(graph));
    fails(CLO_ERR_STATE, "sealed", clo_graph_add_task(graph, &(clo_task){0}, NULL));
    fails(CLO_ERR_STATE, "sealed", clo_graph_add_edge(graph, 0, 1, 0));
    fails(CLO_ERR_STATE, "sealed", clo_graph_kind(graph, "b", &kind));
    fails(CLO_ERR_STATE, "sealed", clo_graph_set_body(graph, 0, 0, body_a));
    fails(CLO_ERR_STATE, "sealed", clo_graph_set_time(graph, 0, 0, 1));
    fails(CLO_ERR_STATE, "sealed", clo_graph_set_resource(graph, 0, "r"));
    fails(CLO_ERR_STATE, "sealed", clo_graph_seal(graph));
    assert_int_equal(clo_graph_tasks(graph), 1);
    clo_graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_graph_is_open_and_empty),
        cmocka_unit_test(a_task_reads_back_as_it_was_added),
        cmocka_unit_test(a_bad_task_is_refused_and_changes_nothing),
        cmocka_unit_test(edges_are_kept_in_order_and_may_name_tasks_to_come),
        cmocka_unit_test(kinds_are_named_once_and_at_most_32),
        cmocka_unit_test(times_and_bodies_per_kind_are_found_before_and_after_sealing),
        cmocka_unit_test(bad_times_and_bodies_are_refused),
        cmocka_unit_test(resources_have_distinct_names),
        cmocka_unit_test(work_that_is_set_again_counts_once),
        cmocka_unit_test(a_sealed_graph_refuses_every_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
