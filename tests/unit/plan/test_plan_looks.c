/* How much planners look at to find room for demands: counted, not timed. A plan that is right and takes ten times as
 * long as it might fails here, on any machine and under any load. The bounds are about one and a half times what is
 * needed today. */
#include "fixture.h"

#include "plan/schedule/planner.h"

#include <clotho/generate.h>

/* Like a batch of TPC-H jobs that are packed (io/datasets/tpch_packing.c): stages of many equal instances, four
 * demands, most of them small beside the one machine, which runs out of capacity now and then. */
static clo_graph *packed_stages(uint32_t tasks)
{
    clo_generate_config config = CLO_GENERATE_CONFIG_INIT;
    clo_graph *graph = NULL;

    config.seed = 7;
    config.tasks = tasks;
    config.work_spread = 0.9;
    config.instances_min = 1;
    config.instances_max = 20;
    config.demands = 4;
    ok(clo_graph_generate("layered", &config, &graph));
    return graph;
}

/* Executors of different speeds on one machine that holds `wholes` times what a task may demand at most. */
static clo_platform *one_machine(uint32_t executors, int64_t wholes)
{
    static const char *const names[CLO_RESOURCES_MAX] = {"r0", "r1", "r2", "r3"};
    int64_t capacities[CLO_RESOURCES_MAX];
    clo_executor list[64] = {{0}};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_platform *platform = NULL;

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        capacities[r] = wholes * CLO_GENERATE_WHOLE;
    for (uint32_t e = 0; e < executors; e++) {
        list[e].os_index = -1;
        for (uint32_t c = 0; c < CLO_CLASSES_BUILTIN; c++)
            list[e].speed_q16[c] = CLO_SPEED_ONE / 2 + e * 7919 % CLO_SPEED_ONE;
    }
    desc.executors_count = executors;
    desc.executors = list;
    desc.kinds_count = 1;
    desc.capacities = capacities;
    desc.resource_names = names;
    ok(clo_platform_create(&desc, &platform));
    return platform;
}

/* Per placed instance. */
static double looks_of(const clo_planner *planner, const clo_cost *cost)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_schedule schedule;
    uint64_t looks = 0;

    ok(clo_schedule_open(&schedule, cost, planner->executions_each));
    schedule.occupancies[0].looks = &looks;
    ok(planner->fill(&schedule, &config));
    double each = (double)looks / schedule.count;
    clo_schedule_close(&schedule);
    print_message("%s: %.1f leaves and starts for each of %u instances\n", planner->name, each, cost->graph->instances);
    return each;
}

/* Tasks without edges: all of them want to begin wherever something becomes free. */
static clo_graph *independent_tasks(uint32_t tasks)
{
    clo_generate_config config = CLO_GENERATE_CONFIG_INIT;
    clo_graph *graph = NULL;

    config.seed = 7;
    config.tasks = tasks;
    config.work_spread = 0.5;
    config.demands = 4;
    ok(clo_graph_generate("independent", &config, &graph));
    return graph;
}

static void assert_looks_at(clo_graph *graph, uint32_t executors, int64_t wholes, const clo_planner *planner,
                            double most)
{
    clo_platform *platform = one_machine(executors, wholes);
    clo_cost *cost = NULL;

    ok(clo_cost_create(graph, platform, &cost));
    assert_true(looks_of(planner, cost) <= most);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
}

static void assert_looks(uint32_t tasks, uint32_t executors, int64_t wholes, const clo_planner *planner, double most)
{
    assert_looks_at(packed_stages(tasks), executors, wholes, planner, most);
}

static void heft_asks_for_capacities_a_few_times_an_instance(void **state)
{
    (void)state;
    assert_looks(300, 16, 4, &clo_planner_heft, 19);
    assert_looks(300, 50, 20, &clo_planner_heft, 26);
}

static void batch_planners_ask_a_bounded_number_of_times(void **state)
{
    (void)state;
    assert_looks(100, 16, 4, &clo_planner_minmin, 14);
    assert_looks(100, 16, 4, &clo_planner_maxmin, 25);
    assert_looks(100, 16, 4, &clo_planner_sufferage, 42);
}

static void planners_of_pairs_look_on_from_where_they_looked_last(void **state)
{
    (void)state;
    assert_looks(100, 16, 4, &clo_planner_etf, 58);
    assert_looks(100, 16, 4, &clo_planner_dls, 27);
}

static void heft_of_four_times_the_tasks_passes_what_is_full_by_leaves(void **state)
{
    (void)state;
    assert_looks(1200, 16, 4, &clo_planner_heft, 42);
}

/* About the same bound for several times the tasks: a look at a share of all ready tasks for each one would be far
 * above. */
static void ready_tasks_are_not_looked_at_one_by_one(void **state)
{
    static const struct {
        const clo_planner *planner;
        uint32_t tasks;
        double few, many;
    } planners[] = {{&clo_planner_minmin, 4000, 38, 25},   {&clo_planner_etf, 4000, 54, 26},
                    {&clo_planner_dls, 4000, 36, 28},      {&clo_planner_maxmin, 4000, 93, 110},
                    {&clo_planner_duplex, 4000, 169, 159}, {&clo_planner_sufferage, 2000, 127, 158}};

    (void)state;
    for (size_t i = 0; i < sizeof planners / sizeof planners[0]; i++) {
        assert_looks_at(independent_tasks(500), 16, 4, planners[i].planner, planners[i].few);
        assert_looks_at(independent_tasks(planners[i].tasks), 16, 4, planners[i].planner, planners[i].many);
    }
}

/* Tasks that all demand a different amount of the one machine, without edges or after a first one that demands nothing.
 * Tetris looked at each ready task for each one that it placed. */
static void tetris_looks_at_few_boxes_of_tasks_that_demand_different_amounts(void **state)
{
    static const uint32_t tasks[] = {500, 8000};

    (void)state;
    for (int way = 0; way < 4; way++) {
        fixture f = fixture_new();
        for (uint32_t t = 0; t < tasks[way / 2]; t++) {
            clo_task task = {.work_ns = 1 + t * 7919 % 1000, .demand = {t == 0 ? 0 : 1 + t * 7919 % 30000}};
            ok(clo_graph_add_task(f.graph, &task, NULL));
            if (way % 2 != 0 && t > 0)
                ok(clo_graph_add_edge(f.graph, 0, t, 0));
        }
        fixture_seal(&f, 8, NULL, 30000);
        assert_true(looks_of(&clo_planner_tetris, f.cost) <= 400);
        fixture_free(&f);
    }
}

/* Machines of eight executors each, with so much of the first two resources; each of its own kind, or all of one. */
static clo_cost *on_machines(clo_graph *graph, uint32_t machines, uint32_t kinds, int64_t capacity,
                             clo_platform **platform)
{
    enum { MACHINES_MAX = 4, EACH = 8 };
    clo_executor list[MACHINES_MAX * EACH] = {{0}};
    int64_t capacities[MACHINES_MAX * CLO_RESOURCES_MAX];
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_cost *cost = NULL;

    for (uint32_t i = 0; i < machines * CLO_RESOURCES_MAX; i++)
        capacities[i] = i % CLO_RESOURCES_MAX < 2 ? capacity : -1;
    for (uint32_t e = 0; e < machines * EACH; e++) {
        list[e] = (clo_executor){.machine = e / EACH, .kind = kinds > 1 ? e / EACH : 0, .os_index = -1};
        for (uint32_t c = 0; c < CLO_CLASSES_BUILTIN; c++)
            list[e].speed_q16[c] = CLO_SPEED_ONE;
    }
    desc.executors_count = machines * EACH;
    desc.executors = list;
    desc.kinds_count = kinds;
    desc.machines_count = machines;
    desc.capacities = capacities;
    ok(clo_graph_seal(graph));
    ok(clo_platform_create(&desc, platform));
    ok(clo_cost_create(graph, *platform, &cost));
    return cost;
}

/* Tasks with equal demands of one job, each after one of four that run on different machines; and tasks that run on one
 * kind of machine each: neighbours differ in where they are far, or may run at all. */
static void tetris_looks_at_few_boxes_of_tasks_that_differ_by_machine(void **state)
{
    enum { MACHINES = 4, TASKS = 4000 };

    (void)state;
    for (int way = 0; way < 2; way++) {
        bool has_kinds = way == 1;
        fixture f = fixture_new();
        for (uint32_t t = 0; t < TASKS; t++) {
            clo_task task = {.work_ns = has_kinds ? 0 : 1 + t % 7, .demand = {t < MACHINES ? 60 : 10}};
            uint32_t kind;
            ok(clo_graph_add_task(f.graph, &task, NULL));
            if (has_kinds) {
                ok(clo_graph_kind(f.graph, (const char *const[]){"k0", "k1", "k2", "k3"}[t % MACHINES], &kind));
                ok(clo_graph_set_time(f.graph, t, kind, 1 + t % 7));
            } else if (t >= MACHINES) {
                ok(clo_graph_add_edge(f.graph, t == MACHINES ? 0 : t % MACHINES, t, 0));
            }
        }
        for (uint32_t m = 1; m < MACHINES && !has_kinds; m++)
            ok(clo_graph_add_edge(f.graph, m, MACHINES, 0));
        f.cost = on_machines(f.graph, MACHINES, has_kinds ? MACHINES : 1, 100, &f.platform);
        assert_true(looks_of(&clo_planner_tetris, f.cost) <= 700);
        fixture_free(&f);
    }
}

/* Nothing of a box fits, though what it demands the least of everything would, and its job has 2^41 times the work of
 * what fits: no overflow, which the sanitizer would see. */
static void tetris_passes_boxes_of_far_more_work_than_fits(void **state)
{
    static const clo_task tasks[] = {{.work_ns = 0},
                                     {.work_ns = INT64_C(1) << 39, .demand = {3, 1}},
                                     {.work_ns = INT64_C(1) << 39, .demand = {1, 3}},
                                     {.work_ns = 100, .demand = {2, 2}},
                                     {.work_ns = 1},
                                     {.work_ns = 1, .demand = {1, 1}}};
    fixture f = fixture_new();

    (void)state;
    for (size_t t = 0; t < sizeof tasks / sizeof tasks[0]; t++)
        ok(clo_graph_add_task(f.graph, &tasks[t], NULL));
    ok(clo_graph_add_edge(f.graph, 0, 1, 0));
    ok(clo_graph_add_edge(f.graph, 0, 2, 0));
    ok(clo_graph_add_edge(f.graph, 4, 5, 0));
    f.cost = on_machines(f.graph, 1, 1, 4, &f.platform);
    clo_plan *plan = fixture_plan(&f, "tetris");
    assert_int_equal(clo_plan_makespan_ns(plan), 100 + (INT64_C(1) << 39));
    clo_plan_destroy(plan);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heft_asks_for_capacities_a_few_times_an_instance),
        cmocka_unit_test(batch_planners_ask_a_bounded_number_of_times),
        cmocka_unit_test(planners_of_pairs_look_on_from_where_they_looked_last),
        cmocka_unit_test(heft_of_four_times_the_tasks_passes_what_is_full_by_leaves),
        cmocka_unit_test(ready_tasks_are_not_looked_at_one_by_one),
        cmocka_unit_test(tetris_looks_at_few_boxes_of_tasks_that_demand_different_amounts),
        cmocka_unit_test(tetris_looks_at_few_boxes_of_tasks_that_differ_by_machine),
        cmocka_unit_test(tetris_passes_boxes_of_far_more_work_than_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
