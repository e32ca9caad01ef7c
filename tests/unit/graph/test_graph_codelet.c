/* What tasks run: set, read back, shared, copied with modules, and gone with what a failed call added. */
#include "support.h"

#include "graph/graph.h"

#include <clotho/branch.h>
#include <clotho/handle.h>
#include <stdio.h>
#include <string.h>

static clo_graph *tasks(uint32_t count)
{
    clo_graph *graph;

    ok(clo_graph_create("codelets", &graph));
    for (uint32_t t = 0; t < count; t++)
        ok(clo_graph_add_task(graph, &(clo_task){.name = "task", .work_ns = 5}, NULL));
    return graph;
}

static void expect(const clo_graph *graph, uint32_t task, const char *name, uint32_t version, uint64_t footprint)
{
    clo_codelet codelet;

    assert_true(clo_graph_codelet(graph, task, &codelet));
    assert_string_equal(codelet.name, name);
    assert_int_equal(codelet.version, version);
    assert_int_equal(codelet.footprint, footprint);
}

static void a_codelet_is_read_back_and_may_be_replaced(void **state)
{
    clo_graph *graph = tasks(3);
    clo_codelet codelet = {"kept", 9, 9};

    (void)state;
    assert_false(clo_graph_codelet(graph, 0, &codelet));
    ok(clo_graph_set_codelet(graph, 0, &(clo_codelet){"gemm", 2, 64}));
    ok(clo_graph_set_codelet(graph, 1, &(clo_codelet){"trsm", 0, UINT64_MAX}));
    ok(clo_graph_set_codelet(graph, 0, &(clo_codelet){"syrk", 3, 0}));
    ok(clo_graph_add_task(graph, &(clo_task){.work_ns = 1}, NULL)); /* has none */
    expect(graph, 0, "syrk", 3, 0);
    expect(graph, 1, "trsm", 0, UINT64_MAX);
    ok(clo_graph_seal(graph));
    expect(graph, 0, "syrk", 3, 0);
    assert_false(clo_graph_codelet(graph, 2, &codelet));
    assert_false(clo_graph_codelet(graph, 3, &codelet));
    assert_false(clo_graph_codelet(graph, 4, &codelet));
    assert_string_equal(codelet.name, "kept");
    fails(CLO_ERR_STATE, "sealed", clo_graph_set_codelet(graph, 0, &codelet));
    clo_graph_destroy(graph);
}

static void equal_codelets_are_kept_once(void **state)
{
    enum { TASKS = 3000 };
    static const char *const names[] = {"gemm", "trsm", "syrk"};
    clo_graph *graph = tasks(TASKS);
    char name[16];

    (void)state;
    for (uint32_t t = 0; t < TASKS; t++) {
        snprintf(name, sizeof name, "%s", names[t % 3]); /* copied */
        ok(clo_graph_set_codelet(graph, t, &(clo_codelet){name, 1, t % 3}));
    }
    assert_int_equal(graph->codelets_count, 3);
    for (uint32_t t = 0; t < TASKS; t++) {
        snprintf(name, sizeof name, "%s", names[t % 3]);
        expect(graph, t, name, 1, t % 3);
    }
    clo_graph_destroy(graph);
}

static void modules_bring_their_codelets(void **state)
{
    clo_graph *module = tasks(2), *graph = tasks(1);
    uint32_t first;

    (void)state;
    ok(clo_graph_set_codelet(module, 1, &(clo_codelet){"inner", 4, 5}));
    ok(clo_graph_seal(module));
    ok(clo_graph_add_module(graph, module, NULL, &first));
    ok(clo_graph_set_codelet(graph, 0, &(clo_codelet){"outer", 0, 0}));
    expect(graph, first + 1, "inner", 4, 5);
    expect(graph, 0, "outer", 0, 0);
    ok(clo_graph_seal(graph));
    expect(graph, first + 1, "inner", 4, 5);
    clo_graph_destroy(graph);
    clo_graph_destroy(module);
}

static void bad_codelets_are_refused(void **state)
{
    clo_graph *graph = tasks(1);
    char name[257];

    (void)state;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    fails(CLO_ERR_ARGUMENT, "1 to 255 bytes", clo_graph_set_codelet(graph, 0, &(clo_codelet){name, 0, 0}));
    fails(CLO_ERR_ARGUMENT, "1 to 255 bytes", clo_graph_set_codelet(graph, 0, &(clo_codelet){"", 0, 0}));
    fails(CLO_ERR_ARGUMENT, "1 to 255 bytes", clo_graph_set_codelet(graph, 0, &(clo_codelet){NULL, 0, 0}));
    fails(CLO_ERR_ARGUMENT, "task 1 does not exist", clo_graph_set_codelet(graph, 1, &(clo_codelet){"a", 0, 0}));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_graph_set_codelet(graph, 0, NULL));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_graph_set_codelet(NULL, 0, &(clo_codelet){"a", 0, 0}));
    name[255] = '\0';
    ok(clo_graph_set_codelet(graph, 0, &(clo_codelet){name, 0, 0}));
    expect(graph, 0, name, 0, 0);
    clo_graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest list[] = {
        cmocka_unit_test(a_codelet_is_read_back_and_may_be_replaced),
        cmocka_unit_test(equal_codelets_are_kept_once),
        cmocka_unit_test(modules_bring_their_codelets),
        cmocka_unit_test(bad_codelets_are_refused),
    };

    return cmocka_run_group_tests(list, NULL, NULL);
}
