/* fixture.h - a small graph on a small platform, for the tests of plans.
 *
 * Executors e0, e1 ... each with a memory of its own; all links alike: 1 byte/ns, no latency. */
#ifndef CLO_PLAN_FIXTURE_H
#define CLO_PLAN_FIXTURE_H

#include "graph/graph.h"
#include "planner_named.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

#define FIXTURE_EXECUTORS_MAX 8

typedef struct fixture {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
} fixture;

static inline fixture fixture_new(void)
{
    fixture f = {0};

    ok(clo_graph_create("test", &f.graph));
    return f;
}

static inline uint32_t fixture_task(fixture *f, const char *name, int64_t work_ns)
{
    uint32_t id;
    clo_task task = {.name = name, .work_ns = work_ns, .duplicable = 1};

    ok(clo_graph_add_task(f->graph, &task, &id));
    return id;
}

/* Seals the graph and puts it on `executors` executors of the given speeds (NULL: all 1). capacity: of resource 0 of
 * the one machine; -1: unlimited. */
static inline void fixture_seal(fixture *f, uint32_t executors, const double *speeds, int64_t capacity)
{
    clo_executor list[FIXTURE_EXECUTORS_MAX] = {0};
    double bandwidth[FIXTURE_EXECUTORS_MAX * FIXTURE_EXECUTORS_MAX];
    int64_t capacities[CLO_RESOURCES_MAX] = {capacity, -1, -1, -1, -1, -1, -1, -1};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;

    for (uint32_t e = 0; e < executors; e++) {
        list[e] = (clo_executor){.memory = e, .os_index = -1};
        for (uint32_t c = 0; c < CLO_CLASSES_BUILTIN; c++)
            list[e].speed_q16[c] = (uint32_t)(CLO_SPEED_ONE * (speeds != NULL ? speeds[e] : 1));
    }
    for (uint32_t i = 0; i < executors * executors; i++)
        bandwidth[i] = 1;
    desc.executors_count = executors;
    desc.executors = list;
    desc.kinds_count = 1;
    desc.capacities = capacities;
    desc.bandwidth_bytes_per_ns = bandwidth;
    if (!f->graph->sealed)
        ok(clo_graph_seal(f->graph));
    ok(clo_platform_create(&desc, &f->platform));
    ok(clo_cost_create(f->graph, f->platform, &f->cost));
}

static inline void fixture_free(fixture *f)
{
    clo_cost_destroy(f->cost);
    clo_platform_destroy(f->platform);
    clo_graph_destroy(f->graph);
    *f = (fixture){0};
}

/* A checked plan of the named planner. */
static inline clo_plan *fixture_plan(const fixture *f, const char *planner)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan = NULL;

    config.planner = planner_named(planner);
    ok(clo_plan_create(f->cost, &config, &plan));
    ok(clo_plan_check(plan, f->cost, CLO_CHECK_FULL));
    ok(clo_plan_check(plan, f->cost, CLO_CHECK_MEASURED));
    return plan;
}

static inline void expect_placement(const clo_plan *plan, size_t index, clo_placement want)
{
    size_t count;
    const clo_placement *got = clo_plan_placements(plan, &count);

    assert_true(index < count);
    assert_int_equal(got[index].task, want.task);
    assert_int_equal(got[index].instance, want.instance);
    assert_int_equal(got[index].executor, want.executor);
    assert_int_equal(got[index].is_replica, want.is_replica);
    assert_int_equal(got[index].start_ns, want.start_ns);
    assert_int_equal(got[index].finish_ns, want.finish_ns);
}

/* Fig. 2 of Topcuoglu, Hariri, Wu, IEEE TPDS 13(3), 2002; times as written, in ns. */
static inline fixture fixture_topcuoglu(void)
{
    static const int64_t times[10][3] = {{14, 16, 9}, {13, 19, 18}, {11, 13, 19}, {13, 8, 17},  {12, 13, 10},
                                         {13, 16, 9}, {7, 15, 11},  {5, 11, 14},  {18, 12, 20}, {21, 7, 16}};
    static const struct {
        uint32_t from, to;
        uint64_t bytes;
    } arcs[15] = {{1, 2, 18}, {1, 3, 12}, {1, 4, 9},  {1, 5, 11}, {1, 6, 14},  {2, 8, 19},  {2, 9, 16}, {3, 7, 23},
                  {4, 8, 27}, {4, 9, 23}, {5, 9, 13}, {6, 8, 15}, {7, 10, 17}, {8, 10, 11}, {9, 10, 13}};
    static const double bandwidth[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    clo_executor executors[3];
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    fixture f = fixture_new();
    uint32_t kinds[3];

    for (uint32_t k = 0; k < 3; k++) {
        char name[8] = {'k', (char)('0' + k), 0};
        ok(clo_graph_kind(f.graph, name, &kinds[k]));
        executors[k] =
            (clo_executor){.kind = k, .memory = k, .os_index = -1, .speed_q16 = {65536, 65536, 65536, 65536}};
    }
    for (uint32_t t = 0; t < 10; t++) {
        fixture_task(&f, NULL, 10);
        for (uint32_t k = 0; k < 3; k++)
            ok(clo_graph_set_time(f.graph, t, kinds[k], times[t][k]));
    }
    for (uint32_t a = 0; a < 15; a++)
        ok(clo_graph_add_edge(f.graph, arcs[a].from - 1, arcs[a].to - 1, arcs[a].bytes));
    desc.executors_count = desc.kinds_count = 3;
    desc.executors = executors;
    desc.bandwidth_bytes_per_ns = bandwidth;
    ok(clo_graph_seal(f.graph));
    ok(clo_platform_create(&desc, &f.platform));
    ok(clo_cost_create(f.graph, f.platform, &f.cost));
    return f;
}

/* `tasks` tasks on `executors` executors, times[task * executors + executor] ns; edges are still to be added, then
 * fixture_table_seal. */
static inline fixture fixture_table(uint32_t tasks, uint32_t executors, const int64_t *times)
{
    fixture f = fixture_new();

    for (uint32_t t = 0; t < tasks; t++)
        fixture_task(&f, NULL, 10);
    for (uint32_t e = 0; e < executors; e++) {
        char name[8] = {'k', (char)('0' + e), 0};
        uint32_t kind;
        ok(clo_graph_kind(f.graph, name, &kind));
        for (uint32_t t = 0; t < tasks; t++)
            ok(clo_graph_set_time(f.graph, t, kind, times[t * executors + e]));
    }
    return f;
}

static inline void fixture_table_seal(fixture *f, uint32_t executors)
{
    clo_executor list[FIXTURE_EXECUTORS_MAX] = {0};
    double bandwidth[FIXTURE_EXECUTORS_MAX * FIXTURE_EXECUTORS_MAX];
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;

    for (uint32_t e = 0; e < executors; e++)
        list[e] = (clo_executor){.kind = e, .memory = e, .os_index = -1, .speed_q16 = {65536, 65536, 65536, 65536}};
    for (uint32_t i = 0; i < executors * executors; i++)
        bandwidth[i] = 1;
    desc.executors_count = desc.kinds_count = executors;
    desc.executors = list;
    desc.bandwidth_bytes_per_ns = bandwidth;
    ok(clo_graph_seal(f->graph));
    ok(clo_platform_create(&desc, &f->platform));
    ok(clo_cost_create(f->graph, f->platform, &f->cost));
}

static inline void expect_makespan(const fixture *f, const char *planner, int64_t want)
{
    clo_plan *plan = fixture_plan(f, planner);

    if (clo_plan_makespan_ns(plan) != want)
        fail_msg("%s gives %lld, not %lld", planner, (long long)clo_plan_makespan_ns(plan), (long long)want);
    clo_plan_destroy(plan);
}

/* Where and when the original of instance 0 of `task` runs. */
static inline void expect_task(const clo_plan *plan, uint32_t task, uint32_t executor, int64_t start_ns)
{
    size_t count;
    const clo_placement *p = clo_plan_placements(plan, &count);

    for (size_t i = 0; i < count; i++)
        if (p[i].task == task && p[i].instance == 0 && !p[i].is_replica) {
            if (p[i].executor != executor || p[i].start_ns != start_ns)
                fail_msg("%s: task %u is on e%u at %lld, not on e%u at %lld", clo_plan_planner(plan), task,
                         p[i].executor, (long long)p[i].start_ns, executor, (long long)start_ns);
            return;
        }
    fail_msg("task %u is nowhere", task);
}

/* Equal but for rounding. */
#define near(got, want) assert_true((got) > (want)-1e-12 && (got) < (want) + 1e-12)

/* a -> b and a -> c with 100 bytes each: alone, HEFT puts all in a row (30); with an execution of a on e1 it is 20. */
static inline fixture fork_of_two(uint8_t duplicable)
{
    fixture f = fixture_new();
    clo_task a = {.name = "a", .work_ns = 10, .duplicable = duplicable};

    ok(clo_graph_add_task(f.graph, &a, NULL));
    fixture_task(&f, "b", 10);
    fixture_task(&f, "c", 10);
    ok(clo_graph_add_edge(f.graph, 0, 1, 100));
    ok(clo_graph_add_edge(f.graph, 0, 2, 100));
    fixture_seal(&f, 2, NULL, -1);
    return f;
}

/* a -> b with 40 bytes, b only on e1, so that e1 waits until 50; c (30 ns, e1 only) has the lowest rank and would fit
 * before b. */
static inline fixture gap_before_b(void)
{
    fixture f = fixture_new();
    clo_task on_e0 = {.name = "a", .work_ns = 10, .executors_mask = 1};
    clo_task on_e1 = {.name = "b", .work_ns = 40, .executors_mask = 2};
    clo_task filler = {.name = "c", .work_ns = 30, .executors_mask = 2};

    ok(clo_graph_add_task(f.graph, &on_e0, NULL));
    ok(clo_graph_add_task(f.graph, &on_e1, NULL));
    ok(clo_graph_add_task(f.graph, &filler, NULL));
    ok(clo_graph_add_edge(f.graph, 0, 1, 40));
    fixture_seal(&f, 2, NULL, -1);
    return f;
}

#endif
