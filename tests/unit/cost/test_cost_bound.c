/* Lower bounds whose exact values can be worked out by hand. */
#include "support.h"

#include "cost/bound/area.h"
#include "cost/cost.h"

#include <string.h>

enum { EXECUTORS_MAX = 100 };

struct fixture {
    clo_executor executors[EXECUTORS_MAX];
    int64_t capacities[2 * CLO_RESOURCES_MAX];
    clo_platform_desc desc;
    clo_graph *graph;
};

static void start(struct fixture *f, uint32_t executors)
{
    memset(f, 0, sizeof *f);
    for (uint32_t e = 0; e < EXECUTORS_MAX; e++) {
        f->executors[e] = (clo_executor){.memory = e, .os_index = -1};
        for (int c = 0; c < CLO_CLASSES_BUILTIN; c++)
            f->executors[e].speed_q16[c] = CLO_SPEED_ONE;
    }
    for (int i = 0; i < 2 * CLO_RESOURCES_MAX; i++)
        f->capacities[i] = -1;
    f->desc = (clo_platform_desc){.size = sizeof f->desc,
                                  .executors_count = executors,
                                  .executors = f->executors,
                                  .kinds_count = 1,
                                  .capacities = f->capacities};
    ok(clo_graph_create("g", &f->graph));
}

static uint32_t add(struct fixture *f, clo_task task)
{
    uint32_t id;

    ok(clo_graph_add_task(f->graph, &task, &id));
    return id;
}

/* The bound; everything is freed. Whatever the case, best is combined and not below the others. */
static clo_bound bound(struct fixture *f)
{
    clo_platform *platform = NULL;
    clo_cost *cost = NULL;
    clo_bound b = CLO_BOUND_INIT;

    ok(clo_graph_seal(f->graph));
    ok(clo_platform_create(&f->desc, &platform));
    ok(clo_cost_create(f->graph, platform, &cost));
    memset(&b, 0x55, sizeof b);
    b.size = sizeof b;
    ok(clo_cost_bound(cost, &b));
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(f->graph);
    assert_true(b.combined_ns >= b.critical_path_ns && b.combined_ns >= b.area_ns && b.combined_ns >= b.resource_ns);
    assert_true(b.best_ns == b.combined_ns);
    return b;
}

static void a_chain_is_bound_by_its_length(void **state)
{
    (void)state;
    struct fixture f;

    start(&f, 3);
    f.executors[1].speed_q16[0] = 2 * CLO_SPEED_ONE;
    for (uint32_t t = 0; t < 10; t++) {
        add(&f, (clo_task){.work_ns = 100, .instances = t == 4 ? 3 : 1});
        if (t > 0)
            ok(clo_graph_add_edge(f.graph, t - 1, t, 1000000));
    }
    clo_bound b = bound(&f);
    assert_int_equal(b.critical_path_ns, 500);
    assert_int_equal(b.area_ns, 300); /* 1200 / (1 + 2 + 1) */
    assert_int_equal(b.resource_ns, 0);
    assert_int_equal(b.combined_ns, 550); /* 4 * 50, then 300 / 4 for the three instances, then 5 * 50; times of 50 */
}

static void independent_work_is_spread_evenly_and_rounded_up(void **state)
{
    (void)state;
    struct fixture f;

    start(&f, 3);
    for (uint32_t t = 0; t < 10; t++)
        add(&f, (clo_task){.work_ns = 100});
    clo_bound b = bound(&f);
    assert_int_equal(b.area_ns, 334); /* 1000 / 3 */
    assert_int_equal(b.critical_path_ns, 100);
    assert_int_equal(b.best_ns, 400); /* whole tasks */
}

static void related_executors_count_with_their_speeds(void **state)
{
    (void)state;
    struct fixture f;

    start(&f, 4); /* speeds 1, 1, 1/4, 1/2: together 2.75 */
    f.executors[2].speed_q16[0] = CLO_SPEED_ONE / 4;
    f.executors[3].speed_q16[0] = CLO_SPEED_ONE / 2;
    for (uint32_t t = 0; t < 110; t++)
        add(&f, (clo_task){.work_ns = 1000});
    clo_bound b = bound(&f);
    assert_int_equal(b.area_ns, 40000);
}

/* 20 tasks of 10 | 100 and 2 tasks of 100 | 10 on two kinds: the relaxation lets executor 1 take the two and x of the
 * others, 200 - 10 x = 20 + 100 x, so 183.6. Equal prices say 110, prices by speed 171. */
static void unrelated_executors_come_near_the_linear_relaxation(void **state)
{
    (void)state;
    struct fixture f;
    uint32_t k0, k1;

    start(&f, 2);
    f.desc.kinds_count = 2;
    f.executors[1].kind = 1;
    ok(clo_graph_kind(f.graph, "k0", &k0));
    ok(clo_graph_kind(f.graph, "k1", &k1));
    for (uint32_t t = 0; t < 22; t++) {
        add(&f, (clo_task){0});
        ok(clo_graph_set_time(f.graph, t, k0, t < 20 ? 10000 : 100000));
        ok(clo_graph_set_time(f.graph, t, k1, t < 20 ? 100000 : 10000));
    }
    clo_bound b = bound(&f);
    assert_in_range(b.area_ns, 180000, 183637);
}

static void work_bound_to_an_executor_is_its_area(void **state)
{
    (void)state;
    struct fixture f;

    start(&f, 4);
    for (uint32_t t = 0; t < 6; t++)
        add(&f, (clo_task){.work_ns = 100, .executors_mask = 1u << 2});
    for (uint32_t t = 0; t < 6; t++)
        add(&f, (clo_task){.work_ns = 50, .executors_mask = t % 2 ? 6 : 2}); /* 1 and 2 have 900 to do */
    clo_bound b = bound(&f);
    assert_int_equal(b.area_ns, 600);

    start(&f, 4);
    for (uint32_t t = 0; t < 6; t++)
        add(&f, (clo_task){.work_ns = 100, .executors_mask = 6});
    add(&f, (clo_task){.work_ns = 10});
    assert_int_equal(bound(&f).area_ns, 300);
}

static void work_bound_to_a_set_from_64_on_is_its_area(void **state)
{
    (void)state;
    struct fixture f;
    const uint32_t two[] = {90, 65}, one[] = {99};

    start(&f, 100);
    for (uint32_t t = 0; t < 10; t++)
        ok(clo_graph_set_executors(f.graph, add(&f, (clo_task){.work_ns = 100}), two, 2));
    for (uint32_t t = 0; t < 4; t++)
        ok(clo_graph_set_executors(f.graph, add(&f, (clo_task){.work_ns = 100}), one, 1));
    add(&f, (clo_task){.work_ns = 100});
    assert_int_equal(bound(&f).area_ns, 500);

    start(&f, 100); /* waves: nine instances on two executors */
    ok(clo_graph_set_executors(f.graph, add(&f, (clo_task){.work_ns = 70, .instances = 9}), two, 2));
    assert_int_equal(bound(&f).best_ns, 350);
}

static void a_fork_join_is_head_and_waves_and_tail(void **state)
{
    (void)state;
    struct fixture f;

    start(&f, 2);
    add(&f, (clo_task){.work_ns = 100});
    add(&f, (clo_task){.work_ns = 70, .instances = 9});
    add(&f, (clo_task){.work_ns = 30});
    ok(clo_graph_add_edge(f.graph, 0, 1, 0));
    ok(clo_graph_add_edge(f.graph, 1, 2, 0));
    clo_bound b = bound(&f);
    assert_int_equal(b.critical_path_ns, 200);
    assert_int_equal(b.area_ns, 380);
    assert_int_equal(b.combined_ns, 480); /* 100 + 5 waves of 70 + 30 */
}

/* Two phases: the cut in the middle needs both a head and a tail threshold. */
static void a_cut_may_stand_in_the_middle(void **state)
{
    (void)state;
    struct fixture f;

    start(&f, 2);
    for (uint32_t t = 0; t < 10; t++) /* 0, seven, 8, 9 */
        add(&f, (clo_task){.work_ns = t == 0 ? 10 : t < 8 ? 40 : t == 8 ? 500 : 20});
    for (uint32_t t = 1; t < 8; t++) {
        ok(clo_graph_add_edge(f.graph, 0, t, 0));
        ok(clo_graph_add_edge(f.graph, t, 8, 0));
    }
    ok(clo_graph_add_edge(f.graph, 8, 9, 0));
    clo_bound b = bound(&f);
    assert_int_equal(b.critical_path_ns, 570);
    assert_int_equal(b.area_ns, 405);
    assert_int_equal(b.combined_ns, 670); /* 10 + 140 + 520 */
}

/* Nine of 70 where five executors and 9 of 4 shares on each of two machines let four run at once: three waves. */
static void waves_are_as_wide_as_machines_hold(void **state)
{
    (void)state;
    struct fixture f;

    start(&f, 5);
    f.desc.machines_count = 2;
    f.executors[3].machine = f.executors[4].machine = 1;
    f.capacities[0] = f.capacities[CLO_RESOURCES_MAX] = 9;
    add(&f, (clo_task){.work_ns = 70, .instances = 9, .demand = {4}});
    add(&f, (clo_task){.work_ns = 30});
    ok(clo_graph_add_edge(f.graph, 0, 1, 0));
    clo_bound b = bound(&f);
    assert_int_equal(b.critical_path_ns, 100);
    assert_int_equal(b.resource_ns, 140);
    assert_int_equal(b.combined_ns, 240);
}

static void a_resource_bounds_what_runs_together(void **state)
{
    (void)state;
    struct fixture f;

    start(&f, 8);
    f.capacities[1] = 10;
    for (uint32_t t = 0; t < 4; t++)
        add(&f, (clo_task){.work_ns = 100, .demand = {0, 6}});
    add(&f, (clo_task){.work_ns = 50});
    ok(clo_graph_add_edge(f.graph, 0, 4, 0));
    ok(clo_graph_add_edge(f.graph, 1, 4, 0));
    ok(clo_graph_add_edge(f.graph, 2, 4, 0));
    ok(clo_graph_add_edge(f.graph, 3, 4, 0));
    clo_bound b = bound(&f);
    assert_int_equal(b.resource_ns, 240);
    assert_int_equal(b.combined_ns, 300); /* 240 and the tail, and all times are fifties */
}

static void a_task_that_can_run_where_nothing_is_limited_does_not_count(void **state)
{
    (void)state;
    struct fixture f;

    start(&f, 4);
    f.desc.machines_count = 2;
    f.executors[2].machine = f.executors[3].machine = 1;
    f.capacities[0] = 10;
    for (uint32_t t = 0; t < 4; t++)
        add(&f, (clo_task){.work_ns = 100, .demand = {10}, .executors_mask = t < 3 ? 3 : 0});
    assert_int_equal(bound(&f).resource_ns, 300);

    start(&f, 4); /* both limited: the capacities add up */
    f.desc.machines_count = 2;
    f.executors[2].machine = f.executors[3].machine = 1;
    f.capacities[0] = 10;
    f.capacities[CLO_RESOURCES_MAX] = 20;
    for (uint32_t t = 0; t < 3; t++)
        add(&f, (clo_task){.work_ns = 100, .demand = {10}});
    assert_int_equal(bound(&f).resource_ns, 100);
}

static void tasks_of_no_time_count_a_nanosecond_where_they_demand_something(void **state)
{
    (void)state;
    struct fixture f;

    for (int64_t demand = 0; demand < 2; demand++) {
        start(&f, 2);
        for (uint32_t t = 0; t < 5; t++)
            add(&f, (clo_task){.demand = {demand}});
        ok(clo_graph_add_edge(f.graph, 0, 1, 0));
        assert_int_equal(bound(&f).best_ns, demand == 0 ? 0 : 3); /* 5 on 2 executors */
    }
}

/* Near the limit of what a cost accepts, sums must not wrap. */
static void large_times_do_not_overflow(void **state)
{
    (void)state;
    struct fixture f;

    start(&f, 3);
    f.capacities[0] = INT64_MAX - 1; /* above, it is unlimited */
    for (uint32_t t = 0; t < 7; t++)
        add(&f, (clo_task){.work_ns = 1ll << 58, .demand = {INT64_MAX - 1}});
    clo_bound b = bound(&f);
    assert_true(b.critical_path_ns == 1ll << 58);
    assert_true(b.area_ns >= (7ll << 58) / 3 - 3 && b.area_ns <= (7ll << 58) / 3 + 1);
    assert_true(b.resource_ns == 7ll << 58);
}

/* A chain of three times 40, and three tasks of 40 between one of 30 and another of 30. If all ended at 130, the
 * three would run throughout [60, 70) and the middle of the chain throughout [50, 80): four on three executors. No cut
 * sees that. */
static void add_crowd(struct fixture *f, int64_t demand)
{
    for (uint32_t t = 0; t < 8; t++)
        add(f, (clo_task){.work_ns = t == 3 || t == 7 ? 30 : 40, .demand = {demand}});
    ok(clo_graph_add_edge(f->graph, 0, 1, 0));
    ok(clo_graph_add_edge(f->graph, 1, 2, 0));
    for (uint32_t t = 4; t < 7; t++) {
        ok(clo_graph_add_edge(f->graph, 3, t, 0));
        ok(clo_graph_add_edge(f->graph, t, 7, 0));
    }
}

static void energy_refutes_what_cuts_allow(void **state)
{
    (void)state;
    struct fixture f;

    start(&f, 3);
    add_crowd(&f, 0);
    clo_bound b = bound(&f);
    assert_int_equal(b.critical_path_ns, 120);
    assert_int_equal(b.area_ns, 100);
    assert_int_equal(b.combined_ns, 140);

    start(&f, 8);
    f.capacities[0] = 3000;
    add_crowd(&f, 1000);
    b = bound(&f);
    assert_int_equal(b.resource_ns, 100);
    assert_int_equal(b.combined_ns, 140);

    start(&f, 8);
    f.capacities[0] = 4000; /* room for all */
    add_crowd(&f, 1000);
    assert_int_equal(bound(&f).combined_ns, 120);
}

static void instances_count_in_energy(void **state)
{
    (void)state;
    struct fixture f;
    static const clo_task tasks[] = {
        {.work_ns = 40}, {.work_ns = 40}, {.work_ns = 40}, {.work_ns = 30}, {.work_ns = 40, .instances = 3},
        {.work_ns = 30}};

    start(&f, 3);
    for (uint32_t t = 0; t < 6; t++)
        add(&f, tasks[t]);
    for (uint32_t t = 0; t < 5; t++)
        if (t != 2)
            ok(clo_graph_add_edge(f.graph, t, t + 1, 0));
    assert_int_equal(bound(&f).combined_ns, 140);
}

/* a, b and c of 10, 20 and 30 end in d; each piece of data takes 25 to another memory. All local: 60 before d. c and b
 * local: 50, and a's data come at 35. c alone: b's come at 45, the best. */
static void inputs_cannot_all_be_local_and_early(void **state)
{
    (void)state;
    struct fixture f;
    int64_t latency_ns[9] = {0, 25, 25, 30, 0, 25, 25, 40, 0};

    for (int memories = 1; memories <= 3; memories++) {
        start(&f, 3);
        for (uint32_t e = 0; e < 3; e++)
            f.executors[e].memory = e % (uint32_t)memories;
        for (uint32_t t = 0; t < 4; t++)
            add(&f, (clo_task){.work_ns = 10 + 10 * t, .duplicable = 1});
        for (uint32_t t = 0; t < 3; t++)
            ok(clo_graph_add_edge(f.graph, t, 3, 0));
        f.desc.latency_ns = latency_ns;
        clo_bound b = bound(&f);
        assert_int_equal(b.critical_path_ns, 70);
        /* one memory: none moves. Two, one of which has two executors: all local in half of 60 */
        assert_int_equal(b.combined_ns, memories == 3 ? 45 + 40 : 70);
    }
}

/* The same upside down: only what runs once has to send its data. */
static void what_runs_once_sends_its_data(void **state)
{
    (void)state;
    struct fixture f;
    static const int64_t latency_ns[9] = {0, 25, 25, 25, 0, 25, 25, 25, 0};

    for (uint8_t duplicable = 0; duplicable < 2; duplicable++) {
        start(&f, 3);
        for (uint32_t t = 0; t < 4; t++)
            add(&f, (clo_task){.work_ns = 10 + 10 * t, .duplicable = duplicable});
        for (uint32_t t = 0; t < 3; t++)
            ok(clo_graph_add_edge(f.graph, 3, t, 0));
        f.desc.latency_ns = latency_ns;
        assert_int_equal(bound(&f).combined_ns, duplicable ? 70 : 45 + 40);
    }
}

/* Where data take time to move, nothing need start at a multiple of anything. */
static void large_graphs_have_a_grid_too(void **state)
{
    (void)state;
    struct fixture f;

    start(&f, 3);
    for (uint32_t t = 0; t < 5000; t++)
        add(&f, (clo_task){.work_ns = 100});
    clo_bound b = bound(&f);
    assert_int_equal(b.area_ns, 166667);
    assert_int_equal(b.combined_ns, 166700);
}

static void only_without_transfers_is_time_a_grid(void **state)
{
    (void)state;
    struct fixture f;
    static const int64_t latency_ns[9] = {0, 7, 7, 7, 0, 7, 7, 7, 0};

    for (int is_free = 0; is_free < 2; is_free++) {
        start(&f, 3);
        for (uint32_t t = 0; t < 10; t++)
            add(&f, (clo_task){.work_ns = 100});
        ok(clo_graph_add_edge(f.graph, 0, 1, 0));
        f.desc.latency_ns = is_free ? NULL : latency_ns;
        assert_int_equal(bound(&f).combined_ns, is_free ? 400 : 334);
    }
}

/* Three tasks on two executors of different speed, the arrays of the bound around them. */
struct priced {
    clo_platform *platform;
    clo_cost *cost;
    uint64_t weight[3], load[2], of_executor[2][2], of_column[2][2];
    clo_bound_work work;
};

static void price(struct fixture *f, struct priced *p)
{
    *p = (struct priced){.work = {.shift = 0}};
    ok(clo_graph_seal(f->graph));
    ok(clo_platform_create(&f->desc, &p->platform));
    ok(clo_cost_create(f->graph, p->platform, &p->cost));
    p->work.cost = p->cost;
    p->work.weight = p->weight;
    p->work.load = p->load;
    p->work.best = (clo_prices){p->of_executor[0], p->of_column[0]};
    p->work.trial = (clo_prices){p->of_executor[1], p->of_column[1]};
}

static void drop_priced(struct fixture *f, struct priced *p)
{
    clo_cost_destroy(p->cost);
    clo_platform_destroy(p->platform);
    clo_graph_destroy(f->graph);
}

static void a_load_is_the_time_of_the_task_where_it_is_cheapest(void **state)
{
    (void)state;
    struct fixture f;
    struct priced p;

    start(&f, 2);
    f.executors[1].kind = 1;
    f.desc.kinds_count = 2;
    f.executors[1].speed_q16[CLO_CLASS_FLOAT] = 4 * CLO_SPEED_ONE;
    add(&f, (clo_task){.work_ns = 700, .executors_mask = 1});
    add(&f, (clo_task){.work_ns = 1000, .task_class = CLO_CLASS_FLOAT, .instances = 3});
    add(&f, (clo_task){.work_ns = 80, .executors_mask = 1});
    price(&f, &p);
    assert_int_equal(p.cost->columns, 2);
    clo_bound_equal_prices(&p.work, &p.work.best);
    assert_int_equal(clo_bound_price(&p.work, &p.work.best), 350 + 3 * 125 + 40);
    assert_int_equal(p.weight[0], 350);
    assert_int_equal(p.weight[1], 3 * 125);
    assert_int_equal(p.weight[2], 40);
    assert_int_equal(p.load[0], 780);
    assert_int_equal(p.load[1], 3 * 250);
    drop_priced(&f, &p);
}

/* The first task alone says that the first executor has much to do: prices that are zero elsewhere find it. */
static void the_first_task_tells_its_set_of_executors_too(void **state)
{
    (void)state;
    struct fixture f;
    struct priced p;

    start(&f, 2);
    add(&f, (clo_task){.work_ns = 100, .executors_mask = 1, .instances = 10});
    add(&f, (clo_task){.work_ns = 10});
    add(&f, (clo_task){.work_ns = 10});
    price(&f, &p);
    assert_int_equal(clo_bound_best_prices(&p.work), 1000); /* equal prices: 510 */
    drop_priced(&f, &p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_is_bound_by_its_length),
        cmocka_unit_test(independent_work_is_spread_evenly_and_rounded_up),
        cmocka_unit_test(related_executors_count_with_their_speeds),
        cmocka_unit_test(unrelated_executors_come_near_the_linear_relaxation),
        cmocka_unit_test(work_bound_to_an_executor_is_its_area),
        cmocka_unit_test(work_bound_to_a_set_from_64_on_is_its_area),
        cmocka_unit_test(a_fork_join_is_head_and_waves_and_tail),
        cmocka_unit_test(a_cut_may_stand_in_the_middle),
        cmocka_unit_test(waves_are_as_wide_as_machines_hold),
        cmocka_unit_test(a_resource_bounds_what_runs_together),
        cmocka_unit_test(a_task_that_can_run_where_nothing_is_limited_does_not_count),
        cmocka_unit_test(a_load_is_the_time_of_the_task_where_it_is_cheapest),
        cmocka_unit_test(the_first_task_tells_its_set_of_executors_too),
        cmocka_unit_test(tasks_of_no_time_count_a_nanosecond_where_they_demand_something),
        cmocka_unit_test(energy_refutes_what_cuts_allow),
        cmocka_unit_test(instances_count_in_energy),
        cmocka_unit_test(inputs_cannot_all_be_local_and_early),
        cmocka_unit_test(what_runs_once_sends_its_data),
        cmocka_unit_test(large_graphs_have_a_grid_too),
        cmocka_unit_test(only_without_transfers_is_time_a_grid),
        cmocka_unit_test(large_times_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
