/* Edge adding: closures, the list schedule, the object that a trainer sees, and the planners. */
#include "fault.h"
#include "support.h"

#include "base/numbers/rng.h"
#include "plan/edges/state.h"
#include "planner_named.h"

#include <string.h>

enum { TASKS = 40, GRAPHS = 30 };

typedef struct fixture {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
} fixture;

/* Machines of `each` equal executors without links. */
static void make_platform(fixture *f, uint32_t machines, uint32_t each, uint32_t resources)
{
    clo_executor executors[64];
    int64_t capacities[4 * CLO_RESOURCES_MAX];
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;

    for (uint32_t i = 0; i < machines * CLO_RESOURCES_MAX; i++)
        capacities[i] = i % CLO_RESOURCES_MAX < resources ? 1000 : -1;
    desc.executors_count = each * machines;
    desc.executors = executors;
    desc.kinds_count = 1;
    desc.machines_count = machines;
    desc.capacities = capacities;
    for (uint32_t e = 0; e < desc.executors_count; e++)
        executors[e] = (clo_executor){.os_index = -1,
                                      .machine = e / each,
                                      .speed_q16 = {CLO_SPEED_ONE, CLO_SPEED_ONE, CLO_SPEED_ONE, CLO_SPEED_ONE}};
    ok(clo_platform_create(&desc, &f->platform));
    ok(clo_cost_create(f->graph, f->platform, &f->cost));
}

/* A random graph with demands on `machines` machines. */
static fixture make(uint64_t seed, uint32_t resources, uint32_t machines)
{
    fixture f = {0};
    clo_rng rng = clo_rng_seed(seed);

    ok(clo_graph_create("g", &f.graph));
    for (uint32_t i = 0; i < TASKS; i++) {
        clo_task task = {.work_ns = 1 + clo_rng_below(&rng, 1000)};
        for (uint32_t r = 0; r < resources; r++)
            task.demand[r] = 1 + clo_rng_below(&rng, 900);
        ok(clo_graph_add_task(f.graph, &task, NULL));
        for (uint32_t k = 0; k < i; k++)
            if (clo_rng_below(&rng, 30) == 0)
                ok(clo_graph_add_edge(f.graph, k, i, 0));
    }
    ok(clo_graph_seal(f.graph));
    make_platform(&f, machines, 16, resources);
    return f;
}

static void clear(fixture *f)
{
    clo_cost_destroy(f->cost);
    clo_platform_destroy(f->platform);
    clo_graph_destroy(f->graph);
}

/* From each task by hand, after the graph's and the added edges. */
static void reach_by_hand(const fixture *f, const clo_added_edges *added, bool reach[TASKS][TASKS])
{
    clo_edge edge;

    memset(reach, 0, sizeof(bool) * TASKS * TASKS);
    for (uint32_t i = 0; i < clo_graph_edges(f->graph); i++) {
        ok(clo_graph_edge(f->graph, i, &edge));
        reach[edge.from][edge.to] = true;
    }
    for (uint32_t i = 0; i < added->count; i++)
        reach[added->from[i]][added->to[i]] = true;
    for (uint32_t k = 0; k < TASKS; k++)
        for (uint32_t i = 0; i < TASKS; i++)
            for (uint32_t j = 0; j < TASKS; j++)
                reach[i][j] = reach[i][j] || (reach[i][k] && reach[k][j]);
}

static void expect_closure(const fixture *f, const clo_edges_state *state)
{
    bool reach[TASKS][TASKS];

    reach_by_hand(f, &state->added, reach);
    for (uint32_t i = 0; i < TASKS; i++) {
        bool has_end = false;
        for (uint32_t j = 0; j < TASKS; j++) {
            assert_int_equal(clo_closure_reaches(&state->closure, i, j), reach[i][j]);
            assert_int_equal(state->closure.above[(size_t)j * state->closure.words + i / 64] >> (i % 64) & 1,
                             reach[i][j]);
            has_end = has_end || (i != j && !reach[i][j] && !reach[j][i]);
            assert_int_equal(clo_closure_may_add(&state->closure, i, j), i != j && !reach[i][j] && !reach[j][i]);
        }
        assert_int_equal(clo_closure_has_end(&state->closure, i), has_end);
    }
}

/* Every edge is kept, tails are longest paths, nobody starts before it is ready, and no machine is over full. */
static void expect_schedule(const fixture *f, const clo_edges_room *room, const clo_edges_state *state)
{
    const clo_list_plan *plan = &state->plan;
    bool reach[TASKS][TASKS];

    reach_by_hand(f, &state->added, reach);
    for (uint32_t i = 0; i < TASKS; i++) {
        int64_t tail = 0, finish = plan->start_ns[i] + clo_cost_time(f->cost, i, 0);
        for (uint32_t j = 0; j < TASKS; j++) {
            if (!reach[i][j])
                continue;
            assert_true(finish <= plan->ready_ns[j] && plan->ready_ns[j] <= plan->start_ns[j]);
            tail = plan->tail_ns[j] > tail ? plan->tail_ns[j] : tail;
        }
        assert_int_equal(plan->tail_ns[i], tail + clo_cost_time(f->cost, i, 0));
        assert_true(finish <= plan->makespan_ns);
        for (uint32_t r = 0; r < 1; r++) {
            int64_t used = 0;
            for (uint32_t j = 0; j < TASKS; j++)
                if (plan->machine[j] == plan->machine[i] && plan->start_ns[j] <= plan->start_ns[i] &&
                    plan->start_ns[j] + clo_cost_time(f->cost, j, 0) > plan->start_ns[i]) {
                    clo_task task;
                    ok(clo_graph_task(f->graph, j, &task));
                    used += task.demand[r];
                }
            assert_true(used <= 1000);
        }
    }
    assert_int_equal(room->problem.tasks, TASKS);
}

static void edges_keep_closures_and_schedules_right(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        fixture f = make(seed, 1 + (uint32_t)(seed % 3), 1 + (uint32_t)(seed % 2));
        clo_rng rng = clo_rng_seed(seed + 100);
        clo_edges_room room;
        clo_edges_state one, two;
        ok(clo_edges_room_open(&room, f.cost, (clo_edges_rule)(seed % 3)));
        ok(clo_edges_state_open(&one, &room));
        ok(clo_edges_state_open(&two, &room));
        clo_edges_state_clear(&one, &room);
        for (int i = 0; i < 60; i++) {
            uint32_t from = clo_rng_below(&rng, TASKS), to = clo_rng_below(&rng, TASKS), before = one.added.count;
            bool may = clo_closure_may_add(&one.closure, from, to);
            assert_int_equal(clo_edges_state_add(&one, &room, from, to), may);
            assert_int_equal(one.added.count, before + may);
        }
        clo_edges_state_build(&one, &room);
        expect_closure(&f, &one);
        expect_schedule(&f, &room, &one);
        clo_edges_state_copy(&two, &one);
        clo_edges_state_build(&two, &room);
        assert_int_equal(two.plan.makespan_ns, one.plan.makespan_ns);
        clo_edges_state_clear(&two, &room);
        expect_closure(&f, &two);
        expect_schedule(&f, &room, &two);
        clo_edges_state_close(&one);
        clo_edges_state_close(&two);
        clo_edges_room_close(&room);
        clear(&f);
    }
}

static int64_t makespan_of(const fixture *f, const char *planner, uint64_t schedules)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan;
    clo_plan_metrics metrics = CLO_PLAN_METRICS_INIT;

    config.planner = planner_named(planner);
    config.schedules_max = schedules;
    ok(clo_plan_create(f->cost, &config, &plan));
    ok(clo_plan_check(plan, f->cost, CLO_CHECK_FULL));
    ok(clo_plan_measure(plan, f->cost, &metrics));
    clo_plan_destroy(plan);
    return metrics.makespan_ns;
}

/* Without edges the list schedule is that of parallel schedule generation. */
static void without_edges_it_is_critical_path(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        fixture f = make(seed, 1 + (uint32_t)(seed % 3), 1 + (uint32_t)(seed % 2));
        assert_int_equal(makespan_of(&f, "edges", 1), makespan_of(&f, "critical-path", 0));
        clear(&f);
    }
}

static void planners_are_valid_and_no_longer_than_their_rule(void **state)
{
    static const char *const planners[] = {"edges", "edges-greedy", "edges-random", "edges-best"};
    int64_t all[5] = {0};

    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        fixture f = make(seed, 1, 1);
        int64_t rule = makespan_of(&f, "critical-path", 0);
        all[4] += rule;
        for (int i = 0; i < 4; i++) {
            int64_t here = makespan_of(&f, planners[i], 300);
            assert_true(here <= rule || i == 3);
            assert_int_equal(here, makespan_of(&f, planners[i], 300));
            all[i] += here;
        }
        assert_true(makespan_of(&f, "edges-sjf", 100) <= makespan_of(&f, "edges-sjf", 1));
        assert_true(makespan_of(&f, "edges-tetris", 100) <= makespan_of(&f, "edges-tetris", 1));
        clear(&f);
    }
    assert_true(all[0] < all[4] * 98 / 100);
    assert_true(all[1] < all[4]);
}

/* Task 5 takes no time: a packing of 29 ns, the bound, begins it while both executors are within other tasks, which no
 * plan can, so the plan has 31 ns. */
static void a_plan_above_the_bound_is_not_called_optimal(void **state)
{
    static const char *const planners[] = {"edges", "edges-sjf", "edges-tetris", "edges-greedy", "edges-best"};
    static const int64_t work_ns[] = {2, 10, 3, 1, 5, 0, 19};
    static const uint32_t edges[][2] = {{3, 4}, {5, 0}, {1, 5}, {1, 3}, {2, 5}, {1, 6}};
    clo_bound bound = CLO_BOUND_INIT;
    fixture f = {0};

    (void)state;
    ok(clo_graph_create("g", &f.graph));
    for (uint32_t i = 0; i < 7; i++)
        ok(clo_graph_add_task(f.graph, &(clo_task){.work_ns = work_ns[i]}, NULL));
    for (uint32_t i = 0; i < 6; i++)
        ok(clo_graph_add_edge(f.graph, edges[i][0], edges[i][1], 0));
    ok(clo_graph_seal(f.graph));
    make_platform(&f, 2, 1, 1);
    ok(clo_cost_bound(f.cost, &bound));
    assert_int_equal(bound.best_ns, 29);
    for (int i = 0; i < 5; i++) {
        clo_plan_config config = CLO_PLAN_CONFIG_INIT;
        clo_plan *plan;
        config.planner = planner_named(planners[i]);
        ok(clo_plan_create(f.cost, &config, &plan));
        assert_true(clo_plan_is_optimal(plan) == (clo_plan_makespan_ns(plan) == bound.best_ns));
        clo_plan_destroy(plan);
    }
    clear(&f);
}

/* Several instances of a task: the rule alone plans, and the object says why not. */
static void what_is_no_packing_falls_back(void **state)
{
    (void)state;
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
    clo_edges *edges = NULL;
    const clo_task task = {.work_ns = 5, .instances = 3};

    ok(clo_graph_create("g", &graph));
    ok(clo_graph_add_task(graph, &task, NULL));
    ok(clo_graph_seal(graph));
    ok(clo_platform_open("uniform:2", &platform));
    ok(clo_cost_create(graph, platform, &cost));
    assert_int_equal(clo_edges_create(cost, CLO_EDGES_CP, &edges), CLO_ERR_UNSUPPORTED);
    assert_non_null(strstr(clo_last_error(), "several instances"));
    fixture f = {graph, platform, cost};
    assert_int_equal(makespan_of(&f, "edges", 0), 10);
    assert_int_equal(makespan_of(&f, "edges-sjf", 0), 10);
    assert_int_equal(makespan_of(&f, "edges-tetris", 0), 10);
    assert_int_equal(makespan_of(&f, "edges-best", 0), 10);
    clo_plan *plan;
    assert_int_equal(clo_edges_plan(cost, NULL, &plan), CLO_ERR_UNSUPPORTED);
    clear(&f);
}

/* Views hold what may be added and nothing else, in an order of the graph; undo gives back what was. */
static void the_object_shows_what_may_be_added(void **state)
{
    (void)state;
    fixture f = make(7, 1, 1);
    clo_edges *edges;
    clo_edges_view view;

    ok(clo_edges_create(f.cost, CLO_EDGES_CP, &edges));
    for (uint32_t i = 0; i < 20; i++) {
        clo_edges_starts(edges, &view);
        assert_true(view.count > 0);
        assert_int_equal(view.shape.stages, TASKS);
        for (uint32_t row = 0; row < TASKS; row++)
            for (uint32_t e = view.shape.child_begin[row]; e < view.shape.child_begin[row + 1]; e++)
                assert_true(view.shape.children[e] > row && view.shape.children[e] < TASKS);
        uint32_t start = view.rows[i % view.count];
        assert_int_equal(view.features[(size_t)start * CLO_EDGES_FEATURES + CLO_EDGES_SECOND], 0);
        clo_edges_ends(edges, start, &view);
        assert_true(view.count > 0);
        assert_int_equal(view.features[CLO_EDGES_SECOND], 4096);
        int64_t before = clo_edges_makespan_ns(edges);
        uint32_t end = view.rows[(i * 7) % view.count];
        assert_int_equal(clo_edges_add(edges, start, start), CLO_ERR_ARGUMENT);
        ok(clo_edges_add(edges, start, end));
        if (i % 2 == 0) {
            clo_edges_undo(edges);
            assert_int_equal(clo_edges_makespan_ns(edges), before);
        }
    }
    clo_edges_destroy(edges);
    clear(&f);
}

/* The idea of Hua et al.'s figure 1 on numbers of our own, one resource of 1000:
 *
 *   a: 7 ns, 500     b: 1 ns, 600 --> d: 5 ns, 300     c: 1 ns, 400
 *
 * The longest path begins with a (7 against b's 6), and b does not fit beside it: b at 7, d at 8, end at 13. With an
 * edge from b to a, b has the longest path: b and c at 0, a and d at 1, end at 8. a and b can never run at once, so no
 * plan takes less. */
static void one_edge_makes_the_critical_path_optimal(void **state)
{
    static const clo_task tasks[4] = {{.work_ns = 7, .demand = {500}},
                                      {.work_ns = 1, .demand = {600}},
                                      {.work_ns = 1, .demand = {400}},
                                      {.work_ns = 5, .demand = {300}}};
    clo_edges *edges;
    fixture f = {0};

    (void)state;
    ok(clo_graph_create("figure", &f.graph));
    ok(clo_graph_add_tasks(f.graph, tasks, 4, NULL));
    ok(clo_graph_add_edge(f.graph, 1, 3, 0));
    ok(clo_graph_seal(f.graph));
    make_platform(&f, 1, 4, 1);
    assert_int_equal(makespan_of(&f, "critical-path", 0), 13);
    ok(clo_edges_create(f.cost, CLO_EDGES_CP, &edges));
    assert_int_equal(clo_edges_makespan_ns(edges), 13);
    ok(clo_edges_add(edges, 1, 0));
    assert_int_equal(clo_edges_makespan_ns(edges), 8);
    clo_edges_destroy(edges);
    static const char *const planners[] = {"edges", "edges-random", "edges-sjf", "graphene", "best"};
    for (size_t i = 0; i < sizeof planners / sizeof planners[0]; i++)
        assert_int_equal(makespan_of(&f, planners[i], 100), 8);
    clear(&f);
}

static clo_status plan_with_faults(void *argument)
{
    const fixture *f = argument;
    clo_edges_config config = CLO_EDGES_CONFIG_INIT;
    clo_plan *plan = NULL;

    config.schedules_max = 20;
    clo_status status = clo_edges_plan(f->cost, &config, &plan);
    clo_plan_destroy(plan);
    return status;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    fixture f = make(3, 1, 1);

    assert_true(fault_each(plan_with_faults, &f) > 10);
    clear(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_keep_closures_and_schedules_right),
        cmocka_unit_test(without_edges_it_is_critical_path),
        cmocka_unit_test(planners_are_valid_and_no_longer_than_their_rule),
        cmocka_unit_test(a_plan_above_the_bound_is_not_called_optimal),
        cmocka_unit_test(what_is_no_packing_falls_back),
        cmocka_unit_test(the_object_shows_what_may_be_added),
        cmocka_unit_test(one_edge_makes_the_critical_path_optimal),
        cmocka_unit_test(memory_may_run_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
