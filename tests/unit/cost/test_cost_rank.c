/* Ranks, levels and the critical path, on the example that HEFT was published with. */
#include "support.h"

#include "cost/cost.h"

#include <stdio.h>
#include <string.h>

/* Topcuoglu, Hariri, Wu 2002, figure 2 and table 1: ten tasks, three processors, links of bandwidth one. Here in
 * thousandths, so that the published ranks are whole. */
static const int64_t times[10][3] = {{14, 16, 9}, {13, 19, 18}, {11, 13, 19}, {13, 8, 17},  {12, 13, 10},
                                     {13, 16, 9}, {7, 15, 11},  {5, 11, 14},  {18, 12, 20}, {21, 7, 16}};
static const clo_edge edges[] = {{0, 1, 18}, {0, 2, 12}, {0, 3, 9},  {0, 4, 11}, {0, 5, 14},
                                 {1, 7, 19}, {1, 8, 16}, {2, 6, 23}, {3, 7, 27}, {3, 8, 23},
                                 {4, 8, 13}, {5, 7, 15}, {6, 9, 17}, {7, 9, 11}, {8, 9, 13}};

struct fixture {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
};

static int build(void **state)
{
    static struct fixture f;
    clo_executor executors[3];
    double bandwidth[9];
    char name[8];

    ok(clo_graph_create("topcuoglu2002", &f.graph));
    for (uint32_t k = 0; k < 3; k++) {
        uint32_t kind;
        snprintf(name, sizeof name, "k%u", k % 3);
        ok(clo_graph_kind(f.graph, name, &kind));
        executors[k] = (clo_executor){.kind = k, .memory = k, .os_index = -1, .speed_q16 = {1, 1, 1, 1}};
    }
    for (uint32_t t = 0; t < 10; t++) {
        ok(clo_graph_add_task(f.graph, &(clo_task){0}, NULL));
        for (uint32_t k = 0; k < 3; k++)
            ok(clo_graph_set_time(f.graph, t, k, 1000 * times[t][k]));
    }
    for (size_t e = 0; e < 15; e++)
        ok(clo_graph_add_edge(f.graph, edges[e].from, edges[e].to, 1000 * edges[e].bytes));
    ok(clo_graph_seal(f.graph));
    for (int i = 0; i < 9; i++)
        bandwidth[i] = 1;
    clo_platform_desc desc = {.size = sizeof desc,
                              .executors_count = 3,
                              .executors = executors,
                              .kinds_count = 3,
                              .bandwidth_bytes_per_ns = bandwidth};
    ok(clo_platform_create(&desc, &f.platform));
    ok(clo_cost_create(f.graph, f.platform, &f.cost));
    *state = &f;
    return 0;
}

static int drop(void **state)
{
    struct fixture *f = *state;

    clo_cost_destroy(f->cost);
    clo_platform_destroy(f->platform);
    clo_graph_destroy(f->graph);
    return 0;
}

static void upward_ranks_are_the_published_ones(void **state)
{
    struct fixture *f = *state;
    static const int64_t want[] = {108000, 77000, 80000, 80000, 69000, 63333, 42667, 35667, 44333, 14667};
    int64_t rank[10];

    memset(rank, 0x55, sizeof rank);
    clo_cost_rank_u(f->cost, rank);
    for (int t = 0; t < 10; t++)
        assert_true(rank[t] >= want[t] - 1 && rank[t] <= want[t] + 1); /* each mean is rounded */
}

static void downward_ranks_are_the_published_ones(void **state)
{
    struct fixture *f = *state;
    static const int64_t want[] = {0, 31000, 25000, 22000, 24000, 27000, 62333, 66667, 63667, 93333};
    int64_t rank[10];

    memset(rank, 0x55, sizeof rank);
    clo_cost_rank_d(f->cost, rank);
    for (int t = 0; t < 10; t++)
        assert_true(rank[t] >= want[t] - 1 && rank[t] <= want[t] + 1);
}

static void the_critical_path_is_the_published_one(void **state)
{
    struct fixture *f = *state;
    static const uint32_t want[] = {0, 1, 8, 9};
    uint32_t path[10];

    assert_int_equal(clo_cost_critical_path(f->cost, path), 4);
    assert_memory_equal(path, want, sizeof want);
}

static void levels_count_edges_on_the_longest_way(void **state)
{
    struct fixture *f = *state;
    static const uint32_t want[] = {0, 1, 1, 1, 1, 1, 2, 2, 2, 3};
    uint32_t levels[10];

    memset(levels, 0x55, sizeof levels);
    clo_graph_levels(f->graph, levels);
    assert_memory_equal(levels, want, sizeof want);
}

static void instances_share_a_rank_and_edges_count_with_one_share(void **state)
{
    (void)state;
    clo_graph *graph = NULL;
    clo_platform *platform = NULL;
    clo_cost *cost = NULL;
    clo_executor executors[2] = {{.memory = 0, .speed_q16 = {65536, 65536, 65536, 65536}},
                                 {.memory = 1, .speed_q16 = {65536, 65536, 65536, 65536}}};
    const double bandwidth[4] = {1, 1, 1, 1};
    int64_t rank[3];

    ok(clo_graph_create("g", &graph));
    ok(clo_graph_add_task(graph, &(clo_task){.work_ns = 10, .instances = 4}, NULL));
    ok(clo_graph_add_task(graph, &(clo_task){.work_ns = 20, .instances = 5}, NULL));
    ok(clo_graph_add_task(graph, &(clo_task){.work_ns = 30}, NULL));
    ok(clo_graph_add_edge(graph, 0, 1, 2000)); /* 100 for each of 20 pairs */
    ok(clo_graph_add_edge(graph, 1, 2, 1000)); /* 200 for each of 5 */
    ok(clo_graph_seal(graph));
    ok(clo_platform_create(&(clo_platform_desc){.size = sizeof(clo_platform_desc),
                                                .executors_count = 2,
                                                .executors = executors,
                                                .kinds_count = 1,
                                                .bandwidth_bytes_per_ns = bandwidth},
                           &platform));
    ok(clo_cost_create(graph, platform, &cost));
    clo_cost_rank_u(cost, rank);
    assert_int_equal(rank[2], 30);
    assert_int_equal(rank[1], 250);
    assert_int_equal(rank[0], 360);
    clo_cost_rank_d(cost, rank);
    assert_int_equal(rank[0], 0);
    assert_int_equal(rank[1], 110);
    assert_int_equal(rank[2], 330);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(upward_ranks_are_the_published_ones),
        cmocka_unit_test(downward_ranks_are_the_published_ones),
        cmocka_unit_test(the_critical_path_is_the_published_one),
        cmocka_unit_test(levels_count_edges_on_the_longest_way),
        cmocka_unit_test(instances_share_a_rank_and_edges_count_with_one_share),
    };
    return cmocka_run_group_tests(tests, build, drop);
}
