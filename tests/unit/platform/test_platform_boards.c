/* The boards under platforms/: capacities and powers against figures that others reckoned from the same device trees, a
 * plan on each of them, and what a plan's energy is. */
#include "support.h"

#include "cost/cost.h"
#include "platform/model/platform.h"

#include <clotho/generate.h>
#include <clotho/plan.h>
#include <clotho/planner.h>
#include <clotho/registry.h>

/* A kind of a board: what Linux makes of its tree (cpu_capacity, rounded) and the energy model's mW; 0: not known. */
static const struct {
    const char *board, *kind;
    uint32_t capacity, power_mw;
} figures[] = {
    {"rk3576", "cortex-a53", 443, 196},      {"rk3576", "cortex-a72", 1024, 605},
    {"rk3588", "cortex-a55", 397, 370},      {"rk3588", "cortex-a76", 1024, 998},
    {"rk3399", "cortex-a53", 381, 179},      {"rk3399", "cortex-a72", 1024, 1130},
    {"odroid-xu4", "cortex-a7", 377, 205},   {"odroid-xu4", "cortex-a15", 1024, 1067},
    {"odroid-n2plus", "cortex-a53", 483, 0}, {"hikey960", "cortex-a53", 462, 0},
    {"imx8qm", "cortex-a53", 365, 0},        {"sdm845", "kryo-385-silver", 385, 0},
    {"sm8250", "kryo-585-silver", 284, 0},   {"sm8250", "kryo-585-gold", 872, 0},
    {"sm8250", "kryo-585-prime", 1024, 0},   {"qcs6490", "kryo-670-silver", 382, 0},
    {"qcs6490", "kryo-670-gold", 890, 0},    {"sc8280xp", "cortex-a78c", 799, 0},
    {"mt8183", "cortex-a53", 741, 184},      {"mt8183", "cortex-a73", 1024, 463},
    {"mt8188", "cortex-a55", 217, 0},        {"mt8195", "cortex-a55", 241, 0},
    {"apple-m1", "icestorm", 460, 0},        {"sm8550", "cortex-a510", 326, 0},
    {"sm8550", "cortex-a715", 693, 0},
};

static uint32_t find_kind(const clo_platform *platform, const char *kind)
{
    for (uint32_t e = 0; e < platform->executors_count; e++)
        if (strcmp(platform->kind_names[platform->executors[e].kind], kind) == 0)
            return e;
    fail_msg("%s has no kind %s", platform->name, kind);
    return 0;
}

static void capacities_and_powers_are_those_of_the_device_trees(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        clo_platform *p;
        ok(clo_platform_open(figures[i].board, &p));
        uint32_t e = find_kind(p, figures[i].kind);
        uint32_t capacity = p->executors[e].speed_q16[CLO_CLASS_GENERIC] / 64; /* Linux rounds down */
        assert_in_range(capacity, figures[i].capacity - 1, figures[i].capacity);
        assert_in_range(p->places[e].power_mw, figures[i].power_mw > 0 ? figures[i].power_mw - 1 : 0,
                        figures[i].power_mw > 0 ? figures[i].power_mw + 1 : 0);
        clo_platform_destroy(p);
    }
}

static void every_board_is_planned_for(void **state)
{
    (void)state;
    clo_entry entry = CLO_ENTRY_INIT;
    clo_graph *graph;

    ok(clo_graph_generate("cholesky", NULL, &graph));
    for (uint32_t i = 0; clo_registry_entry("platforms", i, &entry); i++) {
        clo_plan_config config = {.size = sizeof config, .planner = &clo_planner_heft};
        clo_platform *p;
        clo_cost *cost;
        clo_plan *plan;
        ok(clo_platform_open(entry.name, &p));
        ok(clo_cost_create(graph, p, &cost));
        ok(clo_plan_create(cost, &config, &plan));
        ok(clo_plan_check(plan, cost, CLO_CHECK_FULL));
        clo_plan_destroy(plan);
        clo_cost_destroy(cost);
        clo_platform_destroy(p);
    }
    clo_graph_destroy(graph);
}

static int64_t energy_of(const char *board, const clo_placement *placements, size_t count, int64_t work_ns)
{
    clo_task task = {.work_ns = work_ns};
    clo_plan_metrics metrics = CLO_PLAN_METRICS_INIT;
    clo_platform *p;
    clo_graph *graph;
    clo_cost *cost;
    clo_plan *plan;

    ok(clo_platform_open(board, &p));
    ok(clo_graph_create("g", &graph));
    for (size_t t = 0; t < count; t++)
        ok(clo_graph_add_task(graph, &task, NULL));
    ok(clo_graph_seal(graph));
    ok(clo_cost_create(graph, p, &cost));
    ok(clo_plan_from_placements(cost, "own", placements, count, &plan));
    ok(clo_plan_measure(plan, cost, &metrics));
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    clo_platform_destroy(p);
    return metrics.energy_nj;
}

static void energy_is_the_time_of_each_core_times_its_power(void **state)
{
    (void)state;
    const clo_placement both[] = {{0, 0, 4, 0, 0, 1000000}, {1, 0, 0, 0, 0, 2579345}};
    const clo_placement endless[] = {{0, 0, 4, 0, 0, INT64_MAX / 32}};

    assert_int_equal(energy_of("rk3588", both, 1, 1000000), 998000); /* 1 ms of 998 mW */
    assert_int_equal(energy_of("rk3588", both, 2, 1000000), 998000 + 2579345ll * 370 / 1000);
    assert_int_equal(energy_of("rk3588", endless, 1, INT64_MAX / 32),
                     (int64_t)((clo_u128)(INT64_MAX / 32) * 998 / 1000));
    assert_int_equal(energy_of("zcu102", both, 1, 1000000), -1); /* nobody knows */
    assert_int_equal(energy_of("uniform:8", both, 1, 1000000), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(capacities_and_powers_are_those_of_the_device_trees),
                                       cmocka_unit_test(every_board_is_planned_for),
                                       cmocka_unit_test(energy_is_the_time_of_each_core_times_its_power)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
