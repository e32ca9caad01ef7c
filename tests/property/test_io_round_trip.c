/* What is written reads back as the same graph, platform and plan: 1 000 random ones. */
#include "../fuzz/same.h"
#include "base/memory.h"
#include "graph/graph.h"
#include "io/text/parse.h"
#include "io/text/reader.h"
#include "platform/model/platform.h"
#include "random.h"
#include "small_case.h"
#include "support.h"
#include <clotho/planner.h>

#define SEEDS 1000

static bool has_kind_bodies(const clo_graph *graph)
{
    for (uint32_t t = 0; t < clo_graph_tasks(graph); t++)
        if (clo_graph_has_kind_body(graph, t))
            return true;
    return false;
}

static void own_json_holds_everything_but_functions(void **state)
{
    int with_times = 0, written = 0;

    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        clo_document *d, *e;
        char *text;

        ok(clo_document_create(random_graph(seed, (unsigned)(seed % 512 + seed % 4 * 1024)),
                               random_platform(seed + 7, RANDOM_DEMANDS), &d));
        clo_status status = clo_document_print(d, "clotho", &text);

        assert_int_equal(status, has_kind_bodies(clo_document_graph(d)) ? CLO_ERR_UNSUPPORTED : CLO_OK);
        if (status == CLO_OK) {
            ok(clo_document_parse("f", text, strlen(text), NULL, &e));
            if (!same_graph(clo_document_graph(d), clo_document_graph(e)) ||
                !same_platform(clo_document_platform(d), clo_document_platform(e)))
                fail_msg("seed %llu differs:\n%s", (unsigned long long)seed, text);
            written++;
            with_times += clo_graph_kinds(clo_document_graph(d)) > 0;
            clo_free(text);
            clo_document_destroy(e);
        }
        clo_document_destroy(d);
    }
    assert_true(written > SEEDS / 2);
    assert_true(with_times > 20);
}

static bool same_cells(const clo_platform *a, const clo_platform *b)
{
    for (uint32_t from = 0; from < a->executors_count; from++)
        for (uint32_t to = 0; to < a->executors_count; to++)
            for (uint32_t k = 0; k < a->pieces_count; k++) {
                size_t x = clo_platform_cell(a, k, from, to), y = clo_platform_cell(b, k, from, to);
                if (a->executors[from].memory != a->executors[to].memory &&
                    (a->latency_ns[x] != b->latency_ns[y] || a->ns_per_byte_q32[x] != b->ns_per_byte_q32[y]))
                    return false;
            }
    return true;
}

/* Of small problems with ports, all tables of the platform, to the last bit. */
static void own_json_holds_all_tables_of_a_platform(void **state)
{
    uint32_t ports = 0;

    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        small_case c = small_case_new(seed, SMALL_PORTS);
        clo_document *d, *e;
        char *text;

        clo_cost_destroy(c.cost);
        ok(clo_document_create(c.graph, c.platform, &d));
        ok(clo_document_print(d, "clotho", &text));
        ok(clo_document_parse("f", text, strlen(text), NULL, &e));
        const clo_platform *a = c.platform, *b = clo_document_platform(e);
        if (!same_graph(c.graph, clo_document_graph(e)) || !same_platform(a, b) ||
            a->mean_includes_self != b->mean_includes_self || a->memories_count != b->memories_count ||
            !same_cells(a, b))
            fail_msg("seed %llu differs:\n%s", (unsigned long long)seed, text);
        ports += a->port_q32 != NULL;
        clo_free(text);
        clo_document_destroy(d);
        clo_document_destroy(e);
    }
    assert_true(ports > SEEDS / 4);
}

/* Foreign formats keep less: the structure, the work and the bytes. */
static void check_structure(const clo_document *d, const char *format)
{
    clo_document *e;
    clo_task a, b;
    char *text;

    ok(clo_document_print(d, format, &text));
    ok(clo_document_parse("f", text, strlen(text), NULL, &e));
    assert_int_equal(clo_graph_tasks(clo_document_graph(d)), clo_graph_tasks(clo_document_graph(e)));
    assert_int_equal(clo_graph_edges(clo_document_graph(d)), clo_graph_edges(clo_document_graph(e)));
    for (uint32_t t = 0; t < clo_graph_tasks(clo_document_graph(d)); t++) {
        ok(clo_graph_task(clo_document_graph(d), t, &a));
        ok(clo_graph_task(clo_document_graph(e), t, &b));
        assert_true(a.work_ns == b.work_ns);
        assert_true(a.instances == b.instances);
    }
    const clo_graph *g = clo_document_graph(d), *h = clo_document_graph(e);
    for (uint32_t i = 0; i < g->edges; i++) {
        assert_int_equal(clo_graph_source(g, i), clo_graph_source(h, i));
        assert_true(clo_graph_in_bytes(g, i) == clo_graph_in_bytes(h, i));
    }
    clo_free(text);
    clo_document_destroy(e);
}

static void foreign_formats_hold_structure_work_and_bytes(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        clo_document *d;

        ok(clo_document_create(
            random_graph(seed, seed % 2 == 0 ? RANDOM_INSTANCES | RANDOM_DUPLICABLE : RANDOM_UNNAMED), NULL, &d));
        check_structure(d, "dot");
        if (seed % 2 == 1)
            check_structure(d, "wfformat");
        clo_document_destroy(d);
    }
}

static void plans_hold_every_placement(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS / 4; seed++) {
        clo_graph *graph = random_graph(seed, RANDOM_ALL);
        clo_platform *platform = random_platform(seed, RANDOM_DEMANDS);
        clo_plan_config config = CLO_PLAN_CONFIG_INIT;
        clo_cost *cost;
        clo_plan *plan, *again;
        char *text;
        size_t count, count_again;

        config.planner = &clo_planner_deft;
        ok(clo_cost_create(graph, platform, &cost));
        ok(clo_plan_create(cost, &config, &plan));
        ok(clo_plan_print(plan, cost, &text));
        ok(clo_plan_parse("f", text, strlen(text), cost, &again));
        const clo_placement *a = clo_plan_placements(plan, &count), *b = clo_plan_placements(again, &count_again);
        assert_int_equal(count, count_again);
        assert_memory_equal(a, b, count * sizeof *a);
        assert_true(clo_plan_makespan_ns(plan) == clo_plan_makespan_ns(again));
        ok(clo_plan_check(again, cost, CLO_CHECK_FULL));
        clo_free(text);
        clo_plan_destroy(plan);
        clo_plan_destroy(again);
        clo_cost_destroy(cost);
        clo_platform_destroy(platform);
        clo_graph_destroy(graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_json_holds_everything_but_functions),
        cmocka_unit_test(own_json_holds_all_tables_of_a_platform),
        cmocka_unit_test(foreign_formats_hold_structure_work_and_bytes),
        cmocka_unit_test(plans_hold_every_placement),
    };

    return cmocka_run_group_tests_name("io_round_trip", tests, NULL, NULL);
}
