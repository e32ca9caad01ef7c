/* Edges that follow from the use of handles, and modules. */
#include "support.h"

#include "fault.h"
#include "graph/graph.h"

#include <string.h>

enum { R = CLO_ACCESS_READ, W = CLO_ACCESS_WRITE, U = CLO_ACCESS_UPDATE, PARTS = CLO_ACCESS_PARTS };

static uint32_t task_named(clo_graph *graph, const char *name, uint32_t instances)
{
    clo_task task = {.name = name, .work_ns = 10, .instances = instances, .duplicable = 1};
    uint32_t id;

    ok(clo_graph_add_task(graph, &task, &id));
    return id;
}

/* An open graph with `tasks` tasks "a", "b" ... and one handle "x" of 64 bytes. */
static clo_graph *begun(uint32_t tasks)
{
    clo_graph *graph = NULL;
    char name[2] = "a";

    ok(clo_graph_create("g", &graph));
    for (uint32_t t = 0; t < tasks; t++, name[0]++)
        (void)task_named(graph, name, 1);
    ok(clo_graph_add_handle(graph, &(clo_handle){.name = "x", .bytes = 64}, NULL));
    return graph;
}

static void has_edges(const clo_graph *graph, const clo_edge *edges, uint32_t count)
{
    assert_int_equal(clo_graph_edges(graph), count);
    for (uint32_t e = 0; e < count; e++) {
        clo_edge edge;
        ok(clo_graph_edge(graph, e, &edge));
        if (edge.from != edges[e].from || edge.to != edges[e].to || edge.bytes != edges[e].bytes)
            fail_msg("edge %u is %u -> %u with %llu bytes", e, edge.from, edge.to, (unsigned long long)edge.bytes);
    }
}

static void readers_wait_for_the_writer_and_the_next_writer_for_them(void **state)
{
    (void)state;
    clo_graph *graph = begun(6);
    const uint32_t modes[6] = {W, R, R, U, W, W};

    for (uint32_t t = 6; t-- > 0;) /* the order of the ids counts, not that of the calls */
        ok(clo_graph_add_access(graph, t, 0, modes[t]));
    ok(clo_graph_seal(graph));
    has_edges(graph, (const clo_edge[]){{0, 1, 64}, {0, 2, 64}, {0, 3, 64}, {2, 3, 0}, {1, 3, 0}, {3, 4, 0}, {4, 5, 0}},
              7);
    assert_int_equal(clo_graph_edges_added(graph), 0);
    clo_access access;
    ok(clo_graph_access(graph, 3, &access));
    assert_int_equal(access.task, 3);
    clo_graph_destroy(graph);
}

static void what_handles_carry_joins_an_edge_that_is_there(void **state)
{
    (void)state;
    clo_graph *graph = begun(3);

    ok(clo_graph_add_handle(graph, &(clo_handle){.bytes = 8}, NULL));
    ok(clo_graph_add_edge(graph, 0, 2, 0));
    ok(clo_graph_add_edge(graph, 0, 1, 100));
    ok(clo_graph_add_access(graph, 0, 0, W));
    ok(clo_graph_add_access(graph, 0, 1, W));
    ok(clo_graph_add_access(graph, 1, 1, R));
    ok(clo_graph_add_access(graph, 1, 0, U));
    ok(clo_graph_add_access(graph, 2, 0, R));
    ok(clo_graph_seal(graph));
    has_edges(graph, (const clo_edge[]){{0, 2, 0}, {0, 1, 172}, {1, 2, 64}}, 3);
    assert_int_equal(clo_graph_edges_added(graph), 2);
    assert_int_equal(clo_graph_edge_as_added(graph, 1).bytes, 100);
    clo_graph_destroy(graph);
}

static void every_instance_that_reads_all_of_a_handle_gets_all_of_it(void **state)
{
    (void)state;
    clo_graph *graph = begun(1);
    uint32_t update = task_named(graph, "b", 4), read = task_named(graph, "c", 3);

    ok(clo_graph_add_access(graph, 0, 0, W));
    ok(clo_graph_add_access(graph, update, 0, U | PARTS));
    ok(clo_graph_add_access(graph, read, 0, R));
    ok(clo_graph_seal(graph));
    has_edges(graph, (const clo_edge[]){{0, 1, 64}, {1, 2, 192}}, 2);
    clo_graph_destroy(graph);
}

static void no_replica_of_what_changes_a_handle_or_reads_what_changes_later(void **state)
{
    (void)state;
    clo_graph *graph = begun(4);
    const uint32_t modes[4] = {W, R, U, R}; /* the last reads what nobody changes */
    clo_task task;

    for (uint32_t t = 0; t < 4; t++)
        ok(clo_graph_add_access(graph, t, 0, modes[t]));
    assert_int_equal(clo_graph_pinned_by(graph, 0), CLO_NONE);
    ok(clo_graph_seal(graph));
    for (uint32_t t = 0; t < 4; t++) {
        ok(clo_graph_task(graph, t, &task));
        assert_int_equal(clo_graph_pinned_by(graph, t), t < 3 ? 0 : CLO_NONE);
        assert_int_equal(task.duplicable, t == 3);
    }
    assert_int_equal(clo_graph_pinned_by(graph, 4), CLO_NONE);
    clo_graph_destroy(graph);
}

/* seal refuses, and the graph is as before: without the access that is wrong it seals. */
static void refused(uint32_t first_mode, uint32_t instances, uint32_t mode, uint32_t mode_again, clo_status status,
                    const char *why)
{
    clo_graph *graph = begun(1);
    uint32_t task = task_named(graph, "many", instances);

    if (first_mode != 0)
        ok(clo_graph_add_access(graph, 0, 0, first_mode));
    ok(clo_graph_add_edge(graph, 0, task, 5));
    ok(clo_graph_add_access(graph, task, 0, mode));
    if (mode_again != 0)
        ok(clo_graph_add_access(graph, task, 0, mode_again));
    fails(status, why, clo_graph_seal(graph));
    assert_int_equal(clo_graph_edges(graph), 1);
    assert_false(graph->sealed);
    clo_edge edge;
    ok(clo_graph_edge(graph, 0, &edge));
    assert_int_equal(edge.bytes, 5);
    fails(status, why, clo_graph_seal(graph));
    clo_graph_destroy(graph);
}

static void what_nothing_orders_is_refused_by_the_names_of_handle_and_task(void **state)
{
    (void)state;
    refused(W, 3, W, 0, CLO_ERR_ARGUMENT, "handle \"x\": the 3 instances of task \"many\" (1) write it without order");
    refused(W, 3, U, 0, CLO_ERR_ARGUMENT, "add CLO_ACCESS_PARTS");
    refused(W, 3, U | PARTS, 0, CLO_ERR_ARGUMENT, "64 bytes are not 3 equal parts");
    refused(W, 1, R, W, CLO_ERR_ARGUMENT, "handle \"x\": task \"many\" (1) uses it twice");
    refused(0, 1, R, 0, CLO_ERR_ARGUMENT, "handle \"x\": task \"many\" (1) reads it, and no task before writes it");
    refused(0, 1, U, 0, CLO_ERR_ARGUMENT, "no task before writes it");
}

static void an_order_against_added_edges_is_a_cycle_that_names_the_handle(void **state)
{
    (void)state;
    clo_graph *graph = begun(3);

    ok(clo_graph_add_access(graph, 0, 0, W));
    ok(clo_graph_add_access(graph, 2, 0, R));
    ok(clo_graph_add_edge(graph, 2, 1, 3));
    ok(clo_graph_add_edge(graph, 1, 0, 3));
    fails(CLO_ERR_CYCLE, "handle \"x\" orders them", clo_graph_seal(graph));
    assert_int_equal(clo_graph_edges(graph), 2);
    clo_graph_destroy(graph);
}

static void a_handle_with_content_may_be_read_first(void **state)
{
    (void)state;
    static int64_t ours[8];
    clo_graph *graph = begun(2);
    const clo_handle fixed[2] = {{.bytes = 64, .address = ours}, {.bytes = 8, .kept = 1}};
    clo_handle back;

    for (uint32_t h = 0; h < 2; h++) {
        ok(clo_graph_add_handle(graph, &fixed[h], NULL));
        ok(clo_graph_add_access(graph, 0, h + 1, R));
        ok(clo_graph_add_access(graph, 1, h + 1, U));
    }
    ok(clo_graph_seal(graph));
    has_edges(graph, (const clo_edge[]){{0, 1, 0}}, 1);
    ok(clo_graph_handle(graph, 1, &back));
    assert_ptr_equal(back.address, ours);
    assert_null(back.name);
    clo_graph_destroy(graph);
}

static void bad_handles_and_accesses_are_refused(void **state)
{
    (void)state;
    clo_graph *graph = begun(1);
    static char name[70000];

    memset(name, 'n', sizeof name - 1);
    fails(CLO_ERR_ARGUMENT, "bytes is 0", clo_graph_add_handle(graph, &(clo_handle){.name = "y"}, NULL));
    fails(CLO_ERR_ARGUMENT, "kept 2", clo_graph_add_handle(graph, &(clo_handle){.bytes = 1, .kept = 2}, NULL));
    fails(CLO_ERR_LIMIT, "2^46", clo_graph_add_handle(graph, &(clo_handle){.bytes = UINT64_MAX}, NULL));
    fails(CLO_ERR_LIMIT, "too long", clo_graph_add_handle(graph, &(clo_handle){.name = name, .bytes = 1}, NULL));
    fails(CLO_ERR_ARGUMENT, "task 1 does not exist", clo_graph_add_access(graph, 1, 0, R));
    fails(CLO_ERR_ARGUMENT, "handle 1 does not exist", clo_graph_add_access(graph, 0, 1, R));
    fails(CLO_ERR_ARGUMENT, "mode 0", clo_graph_add_access(graph, 0, 0, 0));
    fails(CLO_ERR_ARGUMENT, "mode 4", clo_graph_add_access(graph, 0, 0, PARTS));
    fails(CLO_ERR_ARGUMENT, "mode 9", clo_graph_add_access(graph, 0, 0, 9));
    assert_int_equal(clo_graph_handles(graph), 1);
    assert_int_equal(clo_graph_accesses(graph), 0);
    ok(clo_graph_seal(graph));
    fails(CLO_ERR_STATE, "sealed", clo_graph_add_handle(graph, &(clo_handle){.bytes = 1}, NULL));
    fails(CLO_ERR_STATE, "sealed", clo_graph_add_access(graph, 0, 0, R));
    clo_graph_destroy(graph);
}

/* A module of everything: a kind, a demand, a set, handles, a grain, edges. */
static clo_graph *make_module(void)
{
    clo_graph *module = NULL;
    clo_task task = {.name = "inner", .work_ns = 7, .instances = 10, .grain = 4, .duplicable = 1, .demand = {0, 3}};
    uint32_t kind;

    ok(clo_graph_create("m", &module));
    ok(clo_graph_kind(module, "fast", &kind));
    ok(clo_graph_set_resource(module, 1, "memory"));
    ok(clo_graph_add_task(module, &task, NULL));
    ok(clo_graph_add_task(module, &(clo_task){.output_bytes = 16, .duplicable = 1}, NULL));
    ok(clo_graph_set_time(module, 0, kind, 3));
    ok(clo_graph_set_executors(module, 1, (const uint32_t[]){2, 100}, 2));
    ok(clo_graph_add_handle(module, &(clo_handle){.name = "in", .bytes = 40, .kept = 1}, NULL));
    ok(clo_graph_add_handle(module, &(clo_handle){.name = "own", .bytes = 8}, NULL));
    ok(clo_graph_add_access(module, 0, 0, U | PARTS));
    ok(clo_graph_add_access(module, 1, 0, R));
    ok(clo_graph_add_access(module, 1, 1, W));
    ok(clo_graph_add_edge(module, 0, 1, 9));
    ok(clo_graph_seal(module));
    return module;
}

static void a_module_is_copied_with_all_that_it_holds(void **state)
{
    (void)state;
    clo_graph *module = make_module(), *graph = begun(1);
    uint32_t handles[2] = {1, CLO_NONE}, first = 99, executors[3];
    clo_task task;
    int64_t time_ns;

    ok(clo_graph_add_handle(graph, &(clo_handle){.name = "y", .bytes = 40}, NULL));
    ok(clo_graph_set_resource(graph, 0, "memory"));
    ok(clo_graph_add_access(graph, 0, 1, W));
    ok(clo_graph_add_module(graph, module, handles, &first));
    assert_int_equal(first, 1);
    ok(clo_graph_add_module(graph, module, handles, &first));
    assert_int_equal(first, 3);
    assert_int_equal(clo_graph_handles(graph), 4);
    clo_graph_destroy(module);
    ok(clo_graph_task(graph, 3, &task));
    assert_string_equal(task.name, "inner");
    assert_int_equal(task.instances, 10);
    assert_int_equal(task.grain, 4);
    assert_int_equal(task.demand[0], 3); /* by name */
    assert_int_equal(task.demand[1], 0);
    assert_true(clo_graph_time(graph, 3, 0, &time_ns));
    assert_int_equal(time_ns, 3);
    assert_int_equal(clo_graph_executors(graph, 4, executors, 3), 2);
    assert_int_equal(executors[1], 100);
    ok(clo_graph_seal(graph));
    has_edges(graph, (const clo_edge[]){{1, 2, 49}, {3, 4, 49}, {0, 1, 40}, {1, 3, 40}, {2, 3, 0}}, 5);
    ok(clo_graph_task(graph, 4, &task));
    assert_int_equal(task.duplicable, 0); /* it writes its own handle */
    assert_int_equal(clo_graph_pinned_by(graph, 4), 3);
    clo_graph_destroy(graph);
}

static void a_module_that_does_not_fit_leaves_the_graph_as_it_was(void **state)
{
    (void)state;
    clo_graph *module = make_module(), *graph = begun(1), *open = begun(1);
    uint32_t wrong_bytes[2] = {0, CLO_NONE}, unknown[2] = {7, CLO_NONE};

    fails(CLO_ERR_ARGUMENT, "of its own", clo_graph_add_module(graph, graph, NULL, NULL));
    fails(CLO_ERR_STATE, "module \"g\" is not sealed", clo_graph_add_module(graph, open, NULL, NULL));
    fails(CLO_ERR_ARGUMENT, "\"in\" has 40 bytes in the module, handle 0 has 64",
          clo_graph_add_module(graph, module, wrong_bytes, NULL));
    fails(CLO_ERR_ARGUMENT, "handle 7 does not exist", clo_graph_add_module(graph, module, unknown, NULL));
    ok(clo_graph_set_resource(graph, 1, "power"));
    fails(CLO_ERR_ARGUMENT, "has no match", clo_graph_add_module(graph, module, NULL, NULL));
    for (uint32_t k = 0; k < CLO_GRAPH_KINDS_MAX; k++) {
        char name[8] = {'k', (char)('0' + k / 10), (char)('0' + k % 10), 0};
        uint32_t kind;
        ok(clo_graph_kind(open, name, &kind));
    }
    fails(CLO_ERR_LIMIT, "kinds of executors", clo_graph_add_module(open, module, NULL, NULL));
    assert_null(clo_graph_resource_name(open, 1));
    for (uint32_t fault = 1;; fault++) { /* each allocation in turn */
        clo_graph *fresh = begun(1);
        fault_fail_nth(fault);
        clo_status status = clo_graph_add_module(fresh, module, NULL, NULL);
        bool was_hit = fault_happened() != 0;
        fault_fail_nth(0);
        if (status == CLO_OK)
            assert_int_equal(clo_graph_tasks(fresh), 3);
        else
            assert_int_equal(status, CLO_ERR_MEMORY);
        if (status != CLO_OK) {
            assert_int_equal(clo_graph_tasks(fresh), 1);
            assert_int_equal(clo_graph_handles(fresh), 1);
            assert_int_equal(clo_graph_edges(fresh), 0);
            assert_int_equal(clo_graph_kinds(fresh), 0);
            ok(clo_graph_add_module(fresh, module, NULL, NULL));
        }
        ok(clo_graph_seal(fresh));
        assert_int_equal(clo_graph_edges(fresh), 1);
        clo_graph_destroy(fresh);
        if (!was_hit)
            break;
    }
    clo_graph_destroy(graph);
    clo_graph_destroy(open);
    clo_graph_destroy(module);
}

static void without_memory_seal_leaves_the_graph_open(void **state)
{
    (void)state;
    for (uint32_t fault = 1;; fault++) {
        clo_graph *graph = begun(2);
        ok(clo_graph_add_access(graph, 0, 0, W));
        ok(clo_graph_add_access(graph, 1, 0, U));
        fault_fail_nth(fault);
        clo_status status = clo_graph_seal(graph);
        bool was_hit = fault_happened() != 0;
        fault_fail_nth(0);
        if (status != CLO_OK) {
            assert_int_equal(status, CLO_ERR_MEMORY);
            assert_int_equal(clo_graph_edges(graph), 0);
            ok(clo_graph_seal(graph));
        }
        has_edges(graph, (const clo_edge[]){{0, 1, 64}}, 1);
        clo_graph_destroy(graph);
        if (!was_hit)
            break;
    }
}

static void a_grain_makes_ranges_of_instances(void **state)
{
    (void)state;
    clo_graph *graph = NULL;
    clo_task task = {.work_ns = 7, .output_bytes = 3, .instances = 10, .grain = 4}, back;
    uint32_t kind;
    int64_t time_ns;

    ok(clo_graph_create("g", &graph));
    ok(clo_graph_kind(graph, "k", &kind));
    ok(clo_graph_add_task(graph, &task, NULL));
    ok(clo_graph_set_time(graph, 0, kind, 5));
    ok(clo_graph_task(graph, 0, &back));
    assert_int_equal(back.instances, 10);
    assert_int_equal(back.grain, 4);
    assert_int_equal(back.work_ns, 7);
    assert_int_equal(back.output_bytes, 3);
    assert_true(clo_graph_time(graph, 0, kind, &time_ns));
    assert_int_equal(time_ns, 5);
    assert_int_equal(clo_graph_ranges(graph, 0), 3);
    assert_int_equal(clo_graph_ranges(graph, 1), 0);
    task.grain = 1;
    ok(clo_graph_add_task(graph, &task, NULL));
    ok(clo_graph_task(graph, 1, &back));
    assert_int_equal(back.grain, 0);
    task.grain = UINT32_MAX; /* all of them */
    ok(clo_graph_add_task(graph, &task, NULL));
    assert_int_equal(clo_graph_ranges(graph, 2), 1);
    task = (clo_task){.work_ns = INT64_MAX / 2, .instances = 3, .grain = 3};
    fails(CLO_ERR_LIMIT, "lower grain", clo_graph_add_task(graph, &task, NULL));
    task = (clo_task){.output_bytes = UINT64_MAX / 4, .instances = 3, .grain = 3};
    fails(CLO_ERR_LIMIT, "lower grain", clo_graph_add_task(graph, &task, NULL));
    fails(CLO_ERR_LIMIT, "lower grain", clo_graph_set_time(graph, 0, kind, INT64_MAX / 2));
    ok(clo_graph_set_time(graph, 0, kind, CLO_TIME_NEVER));
    assert_true(clo_graph_time(graph, 0, kind, &time_ns));
    assert_true(time_ns == CLO_TIME_NEVER);
    fails(CLO_ERR_ARGUMENT, "grain", clo_graph_add_wave(graph, 0, CLO_WAVE_REST, 1, NULL, 0));
    ok(clo_graph_seal(graph));
    assert_int_equal(clo_graph_instances(graph), 3 + 10 + 1);
    assert_int_equal(clo_graph_output_bytes(graph, 0, 0), 12);
    assert_int_equal(clo_graph_output_bytes(graph, 0, 2), 6);
    clo_graph_destroy(graph);
}

static void a_handle_of_a_single_byte_is_carried(void **state)
{
    (void)state;
    clo_graph *graph;

    ok(clo_graph_create("g", &graph));
    (void)task_named(graph, "a", 1);
    (void)task_named(graph, "b", 1);
    ok(clo_graph_add_handle(graph, &(clo_handle){.bytes = 1}, NULL));
    ok(clo_graph_add_access(graph, 0, 0, W));
    ok(clo_graph_add_access(graph, 1, 0, R));
    ok(clo_graph_seal(graph));
    has_edges(graph, (const clo_edge[]){{0, 1, 1}}, 1);
    clo_graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_wait_for_the_writer_and_the_next_writer_for_them),
        cmocka_unit_test(what_handles_carry_joins_an_edge_that_is_there),
        cmocka_unit_test(every_instance_that_reads_all_of_a_handle_gets_all_of_it),
        cmocka_unit_test(no_replica_of_what_changes_a_handle_or_reads_what_changes_later),
        cmocka_unit_test(what_nothing_orders_is_refused_by_the_names_of_handle_and_task),
        cmocka_unit_test(an_order_against_added_edges_is_a_cycle_that_names_the_handle),
        cmocka_unit_test(a_handle_with_content_may_be_read_first),
        cmocka_unit_test(bad_handles_and_accesses_are_refused),
        cmocka_unit_test(a_module_is_copied_with_all_that_it_holds),
        cmocka_unit_test(a_module_that_does_not_fit_leaves_the_graph_as_it_was),
        cmocka_unit_test(without_memory_seal_leaves_the_graph_open),
        cmocka_unit_test(a_grain_makes_ranges_of_instances),
        cmocka_unit_test(a_handle_of_a_single_byte_is_carried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
