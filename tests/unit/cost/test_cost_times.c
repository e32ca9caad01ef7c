/* Costs: times per task and executor, who can run what, mean times and transfers, and every refusal. */
#include "support.h"

#include "cost/cost.h"
#include "fault.h"
#include "random.h"

#include <string.h>

#define EXECUTORS_MAX 80

/* A platform of `count` executors of kind 0 and speed one in one machine, each with its memory; change it before
 * use. */
struct fixture {
    clo_executor executors[EXECUTORS_MAX];
    int64_t latency_ns[EXECUTORS_MAX * EXECUTORS_MAX];
    double bandwidth[EXECUTORS_MAX * EXECUTORS_MAX];
    int64_t capacities[4 * CLO_RESOURCES_MAX];
    clo_platform_desc desc;
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
};

static struct fixture f; /* large; one test at a time */

static void start(uint32_t executors)
{
    memset(&f, 0, sizeof f);
    for (uint32_t e = 0; e < executors; e++) {
        f.executors[e] = (clo_executor){.memory = e, .os_index = -1};
        for (int c = 0; c < CLO_CLASSES_BUILTIN; c++)
            f.executors[e].speed_q16[c] = CLO_SPEED_ONE;
    }
    for (int i = 0; i < 4 * CLO_RESOURCES_MAX; i++)
        f.capacities[i] = -1;
    f.desc = (clo_platform_desc){.size = sizeof f.desc,
                                 .name = "p",
                                 .executors_count = executors,
                                 .executors = f.executors,
                                 .kinds_count = 1,
                                 .latency_ns = f.latency_ns,
                                 .bandwidth_bytes_per_ns = f.bandwidth,
                                 .capacities = f.capacities};
    ok(clo_graph_create("g", &f.graph));
}

static void add(clo_task task)
{
    ok(clo_graph_add_task(f.graph, &task, NULL));
}

static clo_status try_cost(void)
{
    ok(clo_graph_seal(f.graph));
    ok(clo_platform_create(&f.desc, &f.platform));
    return clo_cost_create(f.graph, f.platform, &f.cost);
}

static void finish(void)
{
    clo_cost_destroy(f.cost);
    clo_platform_destroy(f.platform);
    clo_graph_destroy(f.graph);
}

static void time_is_work_over_the_speed_of_the_class(void **state)
{
    (void)state;
    start(2);
    f.executors[1].speed_q16[CLO_CLASS_GENERIC] = CLO_SPEED_ONE / 2;
    f.executors[1].speed_q16[CLO_CLASS_FLOAT] = CLO_SPEED_ONE * 3;
    add((clo_task){.work_ns = 100});
    add((clo_task){.work_ns = 100, .task_class = CLO_CLASS_FLOAT});
    add((clo_task){.work_ns = 101, .task_class = CLO_CLASS_FLOAT}); /* 33.67 */
    add((clo_task){.work_ns = 1, .task_class = CLO_CLASS_FLOAT});   /* 0.33: at least 1 */
    add((clo_task){.work_ns = 0, .task_class = CLO_CLASS_FLOAT});
    add((clo_task){.work_ns = 100, .task_class = 77});                    /* the application's own: generic */
    add((clo_task){.work_ns = 1ll << 55, .task_class = CLO_CLASS_FLOAT}); /* beyond the short way of dividing */
    ok(try_cost());
    static const int64_t want[] = {200, 33, 34, 1, 0, 200, ((1ll << 55) + 1) / 3};
    for (uint32_t t = 0; t < 7; t++) {
        clo_task task;
        ok(clo_graph_task(f.graph, t, &task));
        assert_int_equal(clo_cost_execution_ns(f.cost, t, 0), task.work_ns);
        assert_int_equal(clo_cost_execution_ns(f.cost, t, 1), want[t]);
    }
    assert_int_equal(clo_cost_fastest(f.cost, 1), 33);
    assert_ptr_equal(clo_cost_graph(f.cost), f.graph);
    assert_ptr_equal(clo_cost_platform(f.cost), f.platform);
    finish();
}

static void unknown_ids_never_run(void **state)
{
    (void)state;
    start(1);
    add((clo_task){.work_ns = 5});
    ok(try_cost());
    assert_true(clo_cost_execution_ns(f.cost, 1, 0) == CLO_TIME_NEVER);
    assert_true(clo_cost_execution_ns(f.cost, 0, 1) == CLO_TIME_NEVER);
    assert_true(clo_cost_mean_execution_ns(f.cost, 1) == CLO_TIME_NEVER);
    finish();
    clo_cost_destroy(NULL);
}

static void kinds_match_by_name(void **state)
{
    (void)state;
    static const char *const names[] = {"little", "big"};
    uint32_t big, gpu, little;

    start(3);
    f.desc.kinds_count = 2;
    f.desc.kind_names = names;
    f.executors[1].kind = 1;
    f.executors[2].kind = 1;
    f.executors[2].speed_q16[0] = CLO_SPEED_ONE * 2; /* faster, but a measured time counts for the kind */
    ok(clo_graph_kind(f.graph, "big", &big));        /* numbered otherwise than the platform's */
    ok(clo_graph_kind(f.graph, "gpu", &gpu));        /* not there */
    ok(clo_graph_kind(f.graph, "little", &little));
    add((clo_task){.work_ns = 100});
    add((clo_task){.work_ns = 100});
    add((clo_task){.work_ns = 100});
    ok(clo_graph_set_time(f.graph, 0, big, 7));
    ok(clo_graph_set_time(f.graph, 0, gpu, 1));
    ok(clo_graph_set_time(f.graph, 1, little, CLO_TIME_NEVER));
    ok(clo_graph_set_time(f.graph, 2, big, 0));
    ok(try_cost());
    assert_int_equal(f.cost->columns, 3);
    assert_int_equal(clo_cost_execution_ns(f.cost, 0, 0), 100);
    assert_int_equal(clo_cost_execution_ns(f.cost, 0, 1), 7);
    assert_int_equal(clo_cost_execution_ns(f.cost, 0, 2), 7);
    assert_true(clo_cost_execution_ns(f.cost, 1, 0) == CLO_TIME_NEVER);
    assert_int_equal(clo_cost_execution_ns(f.cost, 1, 1), 100);
    assert_int_equal(clo_cost_execution_ns(f.cost, 1, 2), 50);
    assert_int_equal(clo_cost_execution_ns(f.cost, 2, 2), 0);
    assert_string_equal(clo_cost_unmatched_kind(f.cost, 0), "gpu");
    assert_null(clo_cost_unmatched_kind(f.cost, 1));
    finish();
}

static int some_body(const clo_call *call)
{
    (void)call;
    return 0;
}

/* Two kinds, one executor each; the graph also names a kind that is not there. */
static void start_kinds(uint32_t *big, uint32_t *gpu)
{
    static const char *const names[] = {"little", "big"};

    start(2);
    f.desc.kinds_count = 2;
    f.desc.kind_names = names;
    f.executors[1].kind = 1;
    ok(clo_graph_kind(f.graph, "gpu", gpu));
    ok(clo_graph_kind(f.graph, "big", big));
}

static void a_task_without_work_runs_on_kinds_that_it_has_a_time_for(void **state)
{
    (void)state;
    uint32_t big, gpu;

    start_kinds(&big, &gpu);
    add((clo_task){0});
    add((clo_task){0});
    add((clo_task){0});
    add((clo_task){0});
    add((clo_task){.work_ns = 10});
    add((clo_task){.body = some_body});
    ok(clo_graph_set_time(f.graph, 0, big, 7));
    ok(clo_graph_set_time(f.graph, 1, big, 0));
    ok(clo_graph_set_time(f.graph, 2, big, CLO_TIME_NEVER)); /* no time: anywhere else in no time */
    ok(clo_graph_set_time(f.graph, 4, big, 7));
    ok(clo_graph_set_body(f.graph, 5, big, some_body));
    ok(try_cost());
    assert_true(clo_cost_execution_ns(f.cost, 0, 0) == CLO_TIME_NEVER);
    assert_int_equal(clo_cost_execution_ns(f.cost, 0, 1), 7);
    assert_int_equal(clo_cost_mean_execution_ns(f.cost, 0), 7);
    assert_true(clo_cost_execution_ns(f.cost, 1, 0) == CLO_TIME_NEVER);
    assert_int_equal(clo_cost_execution_ns(f.cost, 1, 1), 0);
    assert_int_equal(clo_cost_execution_ns(f.cost, 2, 0), 0);
    assert_true(clo_cost_execution_ns(f.cost, 2, 1) == CLO_TIME_NEVER);
    assert_int_equal(clo_cost_execution_ns(f.cost, 3, 0), 0);
    assert_int_equal(clo_cost_execution_ns(f.cost, 4, 0), 10);
    assert_int_equal(clo_cost_execution_ns(f.cost, 5, 0), 0);
    assert_int_equal(clo_cost_execution_ns(f.cost, 5, 1), 0);
    assert_true(f.cost->is_restricted);
    finish();
}

static void a_task_with_times_for_foreign_kinds_alone_is_refused_by_name(void **state)
{
    (void)state;
    uint32_t big, gpu;

    start_kinds(&big, &gpu);
    add((clo_task){0});
    ok(clo_graph_set_time(f.graph, 0, gpu, 5));
    fails(CLO_ERR_PLATFORM, "it has a time for kind \"gpu\" and no work", try_cost());
    finish();
}

static void a_task_with_kind_bodies_alone_runs_on_those_kinds(void **state)
{
    (void)state;
    static const char *const names[] = {"cpu", "npu"};
    uint32_t cpu, npu;

    start(2);
    f.desc.kinds_count = 2;
    f.desc.kind_names = names;
    f.executors[1].kind = 1;
    ok(clo_graph_kind(f.graph, "npu", &npu));
    ok(clo_graph_kind(f.graph, "cpu", &cpu));
    add((clo_task){.work_ns = 10});
    add((clo_task){.work_ns = 10, .body = some_body});
    add((clo_task){.work_ns = 10});
    ok(clo_graph_set_body(f.graph, 0, npu, some_body));
    ok(clo_graph_set_time(f.graph, 0, cpu, 3)); /* a time is no body */
    ok(clo_graph_set_body(f.graph, 1, npu, some_body));
    ok(try_cost());
    assert_true(clo_cost_execution_ns(f.cost, 0, 0) == CLO_TIME_NEVER);
    assert_int_equal(clo_cost_execution_ns(f.cost, 0, 1), 10);
    assert_int_equal(clo_cost_execution_ns(f.cost, 1, 0), 10); /* its own body */
    assert_int_equal(clo_cost_execution_ns(f.cost, 2, 0), 10); /* no body at all: does nothing, anywhere */
    finish();
}

static void a_mask_restricts_and_shuts_out_executors_from_64_on(void **state)
{
    (void)state;
    start(70);
    add((clo_task){.work_ns = 10, .executors_mask = 1ull << 63 | 1});
    add((clo_task){.work_ns = 10});
    ok(try_cost());
    for (uint32_t e = 0; e < 70; e++) {
        assert_true(clo_cost_execution_ns(f.cost, 0, e) == (e == 0 || e == 63 ? 10 : CLO_TIME_NEVER));
        assert_int_equal(clo_cost_execution_ns(f.cost, 1, e), 10);
    }
    assert_int_equal(f.cost->columns, 1);
    finish();
}

static void a_set_may_have_executors_from_64_on(void **state)
{
    (void)state;
    const uint32_t far[] = {69, 64, 4000, 2}, beyond[] = {300, 70};

    start(70);
    add((clo_task){.work_ns = 10});
    add((clo_task){.work_ns = 20, .executors_mask = 1});
    ok(clo_graph_set_executors(f.graph, 0, far, 4));
    ok(clo_graph_set_executors(f.graph, 1, far, 2));
    ok(try_cost());
    for (uint32_t e = 0; e < 70; e++) {
        assert_true(clo_cost_execution_ns(f.cost, 0, e) == (e == 2 || e == 64 || e == 69 ? 10 : CLO_TIME_NEVER));
        assert_true(clo_cost_execution_ns(f.cost, 1, e) == (e == 64 || e == 69 ? 20 : CLO_TIME_NEVER));
    }
    assert_int_equal(clo_cost_mean_execution_ns(f.cost, 1), 20);
    finish();

    start(70);
    add((clo_task){.name = "far"});
    ok(clo_graph_set_executors(f.graph, 0, beyond, 2));
    fails(CLO_ERR_PLATFORM, "task \"far\" (0): it may only run on executors from 70 on, \"p\" has 0 .. 69; name exec",
          try_cost());
    finish();
}

static void a_demand_above_the_capacity_shuts_a_machine_out(void **state)
{
    (void)state;
    start(3);
    f.desc.machines_count = 3;
    for (uint32_t e = 0; e < 3; e++)
        f.executors[e].machine = e;
    f.capacities[0] = 5;                 /* machine 0, resource 0 */
    f.capacities[CLO_RESOURCES_MAX] = 9; /* machine 1 */
    add((clo_task){.work_ns = 1, .demand = {5}});
    add((clo_task){.work_ns = 1, .demand = {6}});
    add((clo_task){.work_ns = 1, .demand = {10}});
    ok(try_cost());
    static const int can[3][3] = {{1, 1, 1}, {0, 1, 1}, {0, 0, 1}};
    for (uint32_t t = 0; t < 3; t++)
        for (uint32_t e = 0; e < 3; e++)
            assert_int_equal(clo_cost_execution_ns(f.cost, t, e) != CLO_TIME_NEVER, can[t][e]);
    assert_int_equal(clo_cost_capacity(f.cost, 1, 0), 9);
    assert_int_equal(clo_cost_capacity(f.cost, 2, 0), -1);
    finish();
}

static void resources_match_by_name_and_else_by_index(void **state)
{
    (void)state;
    static const char *const names[CLO_RESOURCES_MAX] = {"power", "memory", NULL, "network"};

    start(1);
    f.desc.resource_names = names;
    for (uint32_t r = 0; r < 5; r++)
        f.capacities[r] = 100 + r;
    ok(clo_graph_set_resource(f.graph, 0, "memory"));
    ok(clo_graph_set_resource(f.graph, 2, "bandwidth")); /* the platform's 2 has no name */
    ok(clo_graph_set_resource(f.graph, 3, "licences"));  /* the platform's 3 is something else */
    add((clo_task){.demand = {[0] = 101, [3] = 1000000}});
    ok(try_cost());
    assert_int_equal(clo_cost_capacity(f.cost, 0, 0), 101);
    assert_int_equal(clo_cost_capacity(f.cost, 0, 1), -1); /* index 1 is taken by the name */
    assert_int_equal(clo_cost_capacity(f.cost, 0, 2), 102);
    assert_int_equal(clo_cost_capacity(f.cost, 0, 3), -1);
    assert_int_equal(clo_cost_capacity(f.cost, 0, 4), 104);
    finish();
}

static void executors_that_look_alike_share_a_column(void **state)
{
    (void)state;
    start(6);
    f.desc.kinds_count = 2;
    f.executors[1].kind = 1;
    f.executors[3].kind = 1;
    f.executors[4].speed_q16[3] = 1000;
    add((clo_task){.work_ns = 65536, .task_class = CLO_CLASS_MEMORY});
    ok(try_cost());
    static const uint32_t columns[] = {0, 1, 0, 1, 2, 0};
    assert_int_equal(f.cost->columns, 3);
    assert_memory_equal(f.cost->column_of, columns, sizeof columns);
    assert_int_equal(f.cost->column_size[0], 3);
    assert_int_equal(f.cost->column_first[1], 1);
    finish();
}

static void the_mean_is_over_the_executors_that_can_run_the_task(void **state)
{
    (void)state;
    uint32_t kind;

    start(3);
    f.desc.kinds_count = 2;
    f.executors[1].speed_q16[0] = CLO_SPEED_ONE / 2;
    f.executors[2].kind = 1;
    ok(clo_graph_kind(f.graph, "k1", &kind));
    add((clo_task){.work_ns = 100});
    add((clo_task){.work_ns = 100, .executors_mask = 6});
    add((clo_task){.work_ns = 100});
    add((clo_task){.work_ns = 1ll << 58}); /* the sum passes 2^63 / 16: still exact */
    ok(clo_graph_set_time(f.graph, 0, kind, 200));
    ok(clo_graph_set_time(f.graph, 2, kind, CLO_TIME_NEVER));
    ok(try_cost());
    assert_int_equal(clo_cost_mean_execution_ns(f.cost, 0), 167); /* (100 + 200 + 200) / 3 = 166.67 */
    assert_int_equal(clo_cost_mean_execution_ns(f.cost, 1), 150); /* executors 1 and 2 */
    assert_int_equal(clo_cost_mean_execution_ns(f.cost, 2), 150); /* executors 0 and 1 */
    assert_true(clo_cost_mean_execution_ns(f.cost, 3) == ((1ll << 60) + 1) / 3);
    finish();
}

/* Three executors, the first two in one memory. */
static void fill_links(uint32_t self)
{
    start(3);
    f.executors[1].memory = 0;
    f.executors[2].memory = 1;
    f.desc.mean_includes_self = self;
    for (uint32_t i = 0; i < 9; i++) {
        f.latency_ns[i] = 1000;
        f.bandwidth[i] = 0.001; /* must not count on the diagonal and inside a memory */
    }
    static const struct {
        uint32_t from, to;
        int64_t latency_ns;
        double bandwidth;
    } rows[] = {{0, 2, 10, 1}, {2, 0, 20, 2}, {1, 2, 31, 0}, {2, 1, 40, 0.25}};
    for (size_t i = 0; i < 4; i++) {
        f.latency_ns[rows[i].from * 3 + rows[i].to] = rows[i].latency_ns;
        f.bandwidth[rows[i].from * 3 + rows[i].to] = rows[i].bandwidth;
    }
    add((clo_task){.work_ns = 1});
    ok(try_cost());
}

static void the_mean_transfer_is_over_pairs_of_distinct_executors(void **state)
{
    (void)state;
    fill_links(0);
    /* latency (10 + 20 + 31 + 40) / 6 = 16.83, ns per byte (1 + 0.5 + 0 + 4) / 6 = 0.9167 */
    assert_int_equal(clo_cost_mean_transfer_ns(f.cost, 0), 17);
    assert_int_equal(clo_cost_mean_transfer_ns(f.cost, 10), 26);     /* 16.83 + 9.17 */
    assert_int_equal(clo_cost_mean_transfer_ns(f.cost, 6000), 5517); /* 16.83 + 5500 */
    assert_true(clo_cost_mean_transfer_ns(f.cost, UINT64_MAX) == INT64_MAX / 4);
    finish();
}

static void the_mean_transfer_may_count_each_executor_with_itself(void **state)
{
    (void)state;
    fill_links(1);
    /* the same sums over 3 * 4 = 12: unordered pairs with self, as SAGA counts */
    assert_int_equal(clo_cost_mean_transfer_ns(f.cost, 0), 8);       /* 8.42 */
    assert_int_equal(clo_cost_mean_transfer_ns(f.cost, 6000), 2758); /* 8.42 + 2750 */
    finish();
}

static void one_executor_has_no_transfers(void **state)
{
    (void)state;
    start(1);
    add((clo_task){.work_ns = 1});
    ok(try_cost());
    assert_int_equal(clo_cost_mean_transfer_ns(f.cost, 1000000), 0);
    finish();
}

static void an_open_graph_has_no_cost(void **state)
{
    (void)state;
    start(1);
    add((clo_task){.work_ns = 1});
    ok(clo_platform_create(&f.desc, &f.platform));
    clo_cost *cost = (clo_cost *)&f;
    fails(CLO_ERR_STATE, "clo_graph_seal", clo_cost_create(f.graph, f.platform, &cost));
    assert_ptr_equal(cost, &f);
    finish();
}

static void a_task_that_fits_nowhere_is_named_with_its_reason(void **state)
{
    (void)state;
    uint32_t kind;

    start(2);
    add((clo_task){.name = "wide", .executors_mask = 4});
    fails(CLO_ERR_PLATFORM, "task \"wide\" (0): it may only run on executors from 2 on, \"p\" has 0 .. 1", try_cost());
    finish();

    start(2);
    f.capacities[1] = 7;
    add((clo_task){.name = "small", .demand = {0, 7}});
    add((clo_task){.name = "hungry", .demand = {0, 8}});
    fails(CLO_ERR_PLATFORM, "task \"hungry\" (1): it needs 8 of resource 1, no machine of \"p\" has more than 7",
          try_cost());
    finish();

    start(2);
    ok(clo_graph_kind(f.graph, "dsp", &kind));
    add((clo_task){.name = "filter"});
    ok(clo_graph_set_body(f.graph, 0, kind, some_body));
    fails(CLO_ERR_PLATFORM, "task \"filter\" (0): no executor of \"p\" can run it", try_cost());
    finish();

    start(2); /* each executor is shut out by something else */
    f.desc.kinds_count = 2;
    f.executors[1].kind = 1;
    ok(clo_graph_kind(f.graph, "k1", &kind));
    add((clo_task){.executors_mask = 2});
    ok(clo_graph_set_time(f.graph, 0, kind, CLO_TIME_NEVER));
    fails(CLO_ERR_PLATFORM, "task \"t0\" (0): no executor", try_cost());
    finish();
}

static void times_that_overflow_are_refused(void **state)
{
    (void)state;
    start(2); /* slow executors stretch the work beyond 2^61 */
    f.executors[1].speed_q16[0] = 1;
    add((clo_task){.work_ns = 1ll << 50});
    fails(CLO_ERR_LIMIT, "longest times", try_cost());
    finish();

    start(2); /* but not where the task may not run */
    f.executors[1].speed_q16[0] = 1;
    add((clo_task){.work_ns = 1ll << 50, .executors_mask = 1});
    ok(try_cost());
    finish();

    start(1);
    add((clo_task){.work_ns = 1ll << 59, .instances = 3});
    ok(try_cost());
    finish();
    start(1);
    add((clo_task){.work_ns = 1ll << 59, .instances = 5});
    fails(CLO_ERR_LIMIT, "longest times", try_cost());
    finish();
}

static void transfers_that_overflow_are_refused(void **state)
{
    (void)state;
    start(2);
    f.bandwidth[1] = 1e-3;
    add((clo_task){.work_ns = 1});
    add((clo_task){.work_ns = 1});
    ok(clo_graph_add_edge(f.graph, 0, 1, 1ll << 54));
    fails(CLO_ERR_LIMIT, "slowest transfers", try_cost());
    finish();

    start(2); /* also where no task takes any time */
    f.bandwidth[1] = f.bandwidth[2] = 1e-3;
    for (int i = 0; i < 2; i++)
        add((clo_task){.work_ns = 0});
    ok(clo_graph_add_edge(f.graph, 0, 1, (1ll << 53) - 1));
    fails(CLO_ERR_LIMIT, "slowest transfers", try_cost());
    finish();

    start(2); /* more than 2^64 bytes, in 2^62 ns less something, and in more */
    f.bandwidth[1] = f.bandwidth[2] = 8;
    for (int i = 0; i < 3; i++)
        add((clo_task){.work_ns = 1});
    ok(clo_graph_add_edge(f.graph, 0, 1, UINT64_MAX));
    ok(clo_graph_add_edge(f.graph, 0, 2, UINT64_MAX - 64));
    ok(try_cost());
    finish();
    start(2);
    f.bandwidth[1] = f.bandwidth[2] = 8;
    for (int i = 0; i < 3; i++)
        add((clo_task){.work_ns = 1});
    ok(clo_graph_add_edge(f.graph, 0, 1, UINT64_MAX));
    ok(clo_graph_add_edge(f.graph, 0, 2, UINT64_MAX));
    ok(clo_graph_add_edge(f.graph, 1, 2, 64));
    fails(CLO_ERR_LIMIT, "slowest transfers", try_cost());
    finish();

    start(2); /* no links at all: bytes do not matter */
    add((clo_task){.work_ns = 1});
    add((clo_task){.work_ns = 1});
    ok(clo_graph_add_edge(f.graph, 0, 1, UINT64_MAX));
    ok(try_cost());
    finish();
}

static clo_status create_and_drop(void *context)
{
    clo_cost *cost = NULL;
    clo_bound bound = CLO_BOUND_INIT;
    uint32_t path[200];

    (void)context;
    clo_status status = clo_cost_create(f.graph, f.platform, &cost);
    if (status != CLO_OK)
        return status;
    status = clo_cost_bound(cost, &bound);
    if (status == CLO_OK && clo_cost_critical_path(cost, path) == 0)
        status = CLO_ERR_MEMORY;
    clo_cost_destroy(cost);
    return status;
}

static void every_failed_allocation_is_reported_and_leaks_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        f.graph = random_graph(seed, RANDOM_ALL);
        f.platform = random_platform(seed, RANDOM_ALL);
        assert_int_equal(fault_each(create_and_drop, NULL), 5);
        f.cost = NULL;
        finish();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_is_work_over_the_speed_of_the_class),
        cmocka_unit_test(unknown_ids_never_run),
        cmocka_unit_test(kinds_match_by_name),
        cmocka_unit_test(a_task_without_work_runs_on_kinds_that_it_has_a_time_for),
        cmocka_unit_test(a_task_with_times_for_foreign_kinds_alone_is_refused_by_name),
        cmocka_unit_test(a_task_with_kind_bodies_alone_runs_on_those_kinds),
        cmocka_unit_test(a_mask_restricts_and_shuts_out_executors_from_64_on),
        cmocka_unit_test(a_set_may_have_executors_from_64_on),
        cmocka_unit_test(a_demand_above_the_capacity_shuts_a_machine_out),
        cmocka_unit_test(resources_match_by_name_and_else_by_index),
        cmocka_unit_test(executors_that_look_alike_share_a_column),
        cmocka_unit_test(the_mean_is_over_the_executors_that_can_run_the_task),
        cmocka_unit_test(the_mean_transfer_is_over_pairs_of_distinct_executors),
        cmocka_unit_test(the_mean_transfer_may_count_each_executor_with_itself),
        cmocka_unit_test(one_executor_has_no_transfers),
        cmocka_unit_test(an_open_graph_has_no_cost),
        cmocka_unit_test(a_task_that_fits_nowhere_is_named_with_its_reason),
        cmocka_unit_test(times_that_overflow_are_refused),
        cmocka_unit_test(transfers_that_overflow_are_refused),
        cmocka_unit_test(every_failed_allocation_is_reported_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
