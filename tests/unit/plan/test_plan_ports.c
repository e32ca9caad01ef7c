/* Plans on machines with ports, by hand: what several messages at once take when they share what leaves and enters a
 * machine. Links: 1 byte/ns after 1000 ns. */
#include "fault.h"
#include "platform/model/platform.h"
#include "support.h"

#include <clotho/branch.h>
#include <clotho/pipeline.h>
#include <math.h>
#include <string.h>

enum { MACHINES_MAX = 6, LATENCY_NS = 1000, WORK_NS = 500, BYTES = 1000000 };

typedef struct scene {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
    clo_plan *plan;
    uint32_t machines, executors_each;
    double ports[MACHINES_MAX];
    int64_t capacity;  /* of each machine, of what tasks demand */
    uint32_t resource; /* the platform's number of that; the graph's is 0 */
} scene;

static scene scene_new(uint32_t machines)
{
    scene s = {.machines = machines, .executors_each = 1, .capacity = -1};

    ok(clo_graph_create("ports", &s.graph));
    ok(clo_graph_set_resource(s.graph, 0, "memory"));
    return s;
}

/* A task that runs on one executor alone. */
static uint32_t add(scene *s, uint32_t executor, uint32_t inputs_count, const uint32_t *inputs, uint64_t bytes)
{
    clo_task task = {.work_ns = WORK_NS};
    uint32_t id;

    if (s->capacity >= 0)
        task.demand[0] = 1;
    ok(clo_graph_add_task(s->graph, &task, &id));
    ok(clo_graph_set_executors(s->graph, id, &executor, 1));
    for (uint32_t i = 0; i < inputs_count; i++)
        ok(clo_graph_add_edge(s->graph, inputs[i], id, bytes));
    return id;
}

static void make_platform(scene *s)
{
    enum { MOST = MACHINES_MAX * 2 };
    clo_executor list[MOST] = {0};
    int64_t latency[MOST * MOST], capacities[MACHINES_MAX * CLO_RESOURCES_MAX];
    double bandwidth[MOST * MOST];
    const char *names[CLO_RESOURCES_MAX] = {0};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;

    desc.executors_count = s->machines * s->executors_each;
    for (uint32_t e = 0; e < desc.executors_count; e++) {
        list[e] = (clo_executor){.machine = e / s->executors_each, .memory = e / s->executors_each, .os_index = -1};
        for (uint32_t c = 0; c < CLO_CLASSES_BUILTIN; c++)
            list[e].speed_q16[c] = CLO_SPEED_ONE;
    }
    for (uint32_t i = 0; i < desc.executors_count * desc.executors_count; i++) {
        latency[i] = LATENCY_NS;
        bandwidth[i] = 1;
    }
    for (uint32_t i = 0; i < s->machines * CLO_RESOURCES_MAX; i++)
        capacities[i] = i % CLO_RESOURCES_MAX == s->resource ? s->capacity : -1;
    names[s->resource] = "memory";
    desc.resource_names = names;
    desc.executors = list;
    desc.kinds_count = 1;
    desc.machines_count = s->machines;
    desc.capacities = capacities;
    desc.latency_ns = latency;
    desc.bandwidth_bytes_per_ns = bandwidth;
    desc.port_bytes_per_ns = s->ports;
    ok(clo_platform_create(&desc, &s->platform));
}

static void make(scene *s)
{
    ok(clo_graph_seal(s->graph));
    make_platform(s);
    ok(clo_cost_create(s->graph, s->platform, &s->cost));
    ok(clo_plan_create(s->cost, NULL, &s->plan));
    ok(clo_plan_check(s->plan, s->cost, CLO_CHECK_FULL));
}

static void drop(scene *s)
{
    clo_plan_destroy(s->plan);
    clo_cost_destroy(s->cost);
    clo_platform_destroy(s->platform);
    clo_graph_destroy(s->graph);
}

static int64_t start_of(const scene *s, uint32_t task)
{
    size_t count;
    const clo_placement *placements = clo_plan_placements(s->plan, &count);

    for (size_t i = 0; i < count; i++)
        if (placements[i].task == task)
            return placements[i].start_ns;
    return -1;
}

static void set_ports(scene *s, double port)
{
    for (uint32_t m = 0; m < s->machines; m++)
        s->ports[m] = port;
}

/* One source, consumers on two other machines. */
static void what_leaves_a_machine_is_shared(void **state)
{
    static const struct {
        double port;
        int64_t arrives_ns;
    } cases[] = {{0, BYTES}, {4, BYTES}, {2, BYTES}, {1, 2 * BYTES}, {0.25, 8 * BYTES}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        scene s = scene_new(3);
        set_ports(&s, cases[i].port);
        uint32_t source = add(&s, 0, 0, NULL, 0);
        uint32_t to[2] = {add(&s, 1, 1, &source, BYTES), add(&s, 2, 1, &source, BYTES)};
        make(&s);
        for (int k = 0; k < 2; k++)
            assert_int_equal(start_of(&s, to[k]), WORK_NS + cases[i].arrives_ns + LATENCY_NS);
        drop(&s);
    }
}

static void what_enters_a_machine_is_shared(void **state)
{
    scene s = scene_new(3);

    (void)state;
    set_ports(&s, 1);
    uint32_t from[2] = {add(&s, 0, 0, NULL, 0), add(&s, 1, 0, NULL, 0)};
    uint32_t to = add(&s, 2, 2, from, BYTES);
    make(&s);
    assert_int_equal(start_of(&s, to), WORK_NS + 2 * BYTES + LATENCY_NS);
    drop(&s);
}

static void messages_of_other_machines_do_not_matter(void **state)
{
    scene s = scene_new(4);

    (void)state;
    set_ports(&s, 1);
    uint32_t from[2] = {add(&s, 0, 0, NULL, 0), add(&s, 1, 0, NULL, 0)};
    uint32_t to[2] = {add(&s, 2, 1, &from[0], BYTES), add(&s, 3, 1, &from[1], BYTES)};
    make(&s);
    for (int k = 0; k < 2; k++)
        assert_int_equal(start_of(&s, to[k]), WORK_NS + BYTES + LATENCY_NS);
    drop(&s);
}

/* 0 sends to 1 and 2, 3 sends to 2. The port of 0 is the narrowest: its two messages get a quarter each, and the third
 * one all that these leave of the port of 2, until it has moved. */
static void what_one_message_cannot_use_another_one_gets(void **state)
{
    scene s = scene_new(4);

    (void)state;
    set_ports(&s, 1);
    s.ports[0] = 0.5;
    uint32_t from[2] = {add(&s, 0, 0, NULL, 0), add(&s, 3, 0, NULL, 0)};
    uint32_t one = add(&s, 1, 1, &from[0], BYTES);
    uint32_t both = add(&s, 2, 1, &from[0], BYTES);
    uint32_t other = add(&s, 2, 1, &from[1], 3 * BYTES);
    make(&s);
    assert_int_equal(start_of(&s, one), WORK_NS + 4 * BYTES + LATENCY_NS);
    int64_t first = start_of(&s, both) < start_of(&s, other) ? start_of(&s, both) : start_of(&s, other);
    int64_t last = start_of(&s, both) < start_of(&s, other) ? start_of(&s, other) : start_of(&s, both);
    assert_int_equal(first, WORK_NS + 4 * BYTES + LATENCY_NS); /* both arrive then; the executor takes one at a time */
    assert_int_equal(last, first + WORK_NS);
    drop(&s);
}

/* Five at once from one machine: four move, the least urgent one waits for the first that has. */
static void at_most_four_large_messages_leave_at_once(void **state)
{
    enum { FIVE = 5 };
    scene s = scene_new(FIVE + 1);
    uint32_t to[FIVE];

    (void)state;
    set_ports(&s, 1);
    uint32_t source = add(&s, 0, 0, NULL, 0);
    for (uint32_t m = 0; m < FIVE; m++)
        to[m] = add(&s, m + 1, 1, &source, BYTES);
    make(&s);
    for (uint32_t m = 0; m < FIVE; m++)
        assert_int_equal(start_of(&s, to[m]), WORK_NS + (m < 4 ? 4 : 5) * BYTES + LATENCY_NS);
    drop(&s);
}

static void small_messages_all_leave_at_once(void **state)
{
    enum { FIVE = 5, SMALL = 65536 };
    scene s = scene_new(FIVE + 1);
    uint32_t to[FIVE];

    (void)state;
    set_ports(&s, 1);
    uint32_t source = add(&s, 0, 0, NULL, 0);
    for (uint32_t m = 0; m < FIVE; m++)
        to[m] = add(&s, m + 1, 1, &source, SMALL);
    make(&s);
    for (uint32_t m = 0; m < FIVE; m++) /* the rate of a fifth is rounded down to 2^-32 bytes/ns */
        assert_in_range(start_of(&s, to[m]), WORK_NS + FIVE * SMALL + LATENCY_NS,
                        WORK_NS + FIVE * SMALL + LATENCY_NS + 2);
    drop(&s);
}

/* Two consumers on the executors of one machine: one message, so nothing is shared. */
static void an_output_goes_to_a_machine_once(void **state)
{
    scene s = scene_new(2);

    (void)state;
    s.executors_each = 2;
    set_ports(&s, 1);
    uint32_t source = add(&s, 0, 0, NULL, 0);
    uint32_t to[2] = {add(&s, 2, 1, &source, BYTES), add(&s, 3, 1, &source, BYTES)};
    make(&s);
    for (int k = 0; k < 2; k++)
        assert_int_equal(start_of(&s, to[k]), WORK_NS + BYTES + LATENCY_NS);
    drop(&s);
}

/* Consumers that arrive together, and a machine that has room for one, by the platform's number of the resource. */
static void capacity_holds(uint32_t resource)
{
    scene s = scene_new(2);

    s.executors_each = 2;
    s.resource = resource;
    s.capacity = 1;
    set_ports(&s, 0.5);
    uint32_t source = add(&s, 0, 0, NULL, 0);
    uint32_t to[2] = {add(&s, 2, 1, &source, BYTES), add(&s, 3, 1, &source, BYTES)};
    make(&s);
    int64_t a = start_of(&s, to[0]), b = start_of(&s, to[1]);
    assert_int_equal(a < b ? a : b, WORK_NS + 2 * BYTES + LATENCY_NS);
    assert_int_equal(a < b ? b : a, WORK_NS + 2 * BYTES + LATENCY_NS + WORK_NS);
    drop(&s);
}

static void capacities_hold(void **state)
{
    (void)state;
    capacity_holds(0);
    capacity_holds(3);
}

static clo_status plan_again(void *context)
{
    const scene *s = context;
    clo_plan *plan = NULL;
    clo_status status = clo_plan_create(s->cost, NULL, &plan);

    clo_plan_destroy(plan);
    return status;
}

static void memory_may_fail_anywhere(void **state)
{
    scene s = scene_new(3);

    (void)state;
    set_ports(&s, 1);
    uint32_t from[2] = {add(&s, 0, 0, NULL, 0), add(&s, 1, 0, NULL, 0)};
    (void)add(&s, 2, 2, from, BYTES);
    make(&s);
    assert_true(fault_each(plan_again, &s) > 20);
    drop(&s);
}

/* What no port moves within 2^61 ns: a line, not a time that has gone round. */
static void times_that_have_no_end_are_refused(void **state)
{
    scene s = scene_new(2);
    clo_plan *plan = NULL;

    (void)state;
    set_ports(&s, 0x1p-30);
    uint32_t source = add(&s, 0, 0, NULL, 0);
    (void)add(&s, 1, 1, &source, (uint64_t)1 << 40);
    ok(clo_graph_seal(s.graph));
    make_platform(&s);
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    fails(CLO_ERR_LIMIT, "2^61 ns", clo_plan_create(s.cost, NULL, &plan));
    assert_null(plan);
    drop(&s);
}

/* Which arm runs is not known when a plan is made, so neither is what moves at once. */
static void branches_are_refused(void **state)
{
    scene s = scene_new(2);

    (void)state;
    set_ports(&s, 1);
    uint32_t branch = add(&s, 0, 0, NULL, 0), arms[2] = {add(&s, 0, 0, NULL, 0), add(&s, 1, 0, NULL, 0)};
    ok(clo_graph_set_branch(s.graph, branch, 2, NULL));
    for (uint32_t a = 0; a < 2; a++)
        ok(clo_graph_add_arm(s.graph, branch, arms[a], 8, a));
    ok(clo_graph_seal(s.graph));
    make_platform(&s);
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    assert_int_equal(clo_plan_create(s.cost, NULL, &s.plan), CLO_ERR_UNSUPPORTED);
    assert_non_null(strstr(clo_last_error(), "a platform with ports"));
    assert_null(s.plan);
    drop(&s);
}

static void an_unknown_contention_is_refused(void **state)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    scene s = scene_new(2);
    clo_plan *plan = NULL;

    (void)state;
    uint32_t source = add(&s, 0, 0, NULL, 0);
    (void)add(&s, 1, 1, &source, BYTES);
    make(&s);
    config.contention = CLO_CONTENTION_TIMES + 1;
    fails(CLO_ERR_ARGUMENT, "contention is 2", clo_plan_create(s.cost, &config, &plan));
    assert_null(plan);
    drop(&s);
}

static void pipelines_are_refused(void **state)
{
    scene s = scene_new(2);
    clo_plan *plan = NULL;

    (void)state;
    set_ports(&s, 1);
    uint32_t source = add(&s, 0, 0, NULL, 0);
    (void)add(&s, 1, 1, &source, BYTES);
    make(&s);
    assert_int_equal(clo_plan_pipeline(s.cost, NULL, &plan), CLO_ERR_UNSUPPORTED);
    assert_non_null(strstr(clo_last_error(), "has machines with ports"));
    assert_null(plan);
    drop(&s);
}

static void what_ports_cannot_count_is_refused(void **state)
{
    static const double wrong[] = {NAN, INFINITY, 1e-12, 1e12};
    clo_executor executor = {.os_index = -1};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_platform *platform = NULL;
    double below_zero = -1;

    (void)state;
    for (uint32_t c = 0; c < CLO_CLASSES_BUILTIN; c++)
        executor.speed_q16[c] = CLO_SPEED_ONE;
    desc.executors_count = desc.kinds_count = 1;
    desc.executors = &executor;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        desc.port_bytes_per_ns = &wrong[i];
        assert_int_equal(clo_platform_create(&desc, &platform), CLO_ERR_ARGUMENT);
        assert_non_null(strstr(clo_last_error(), "the port of machine 0"));
    }
    desc.port_bytes_per_ns = &below_zero; /* infinite */
    ok(clo_platform_create(&desc, &platform));
    assert_true(clo_platform_port_bytes_per_ns(platform, 0) == 0);
    clo_platform_destroy(platform);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_leaves_a_machine_is_shared),
        cmocka_unit_test(what_enters_a_machine_is_shared),
        cmocka_unit_test(messages_of_other_machines_do_not_matter),
        cmocka_unit_test(what_one_message_cannot_use_another_one_gets),
        cmocka_unit_test(at_most_four_large_messages_leave_at_once),
        cmocka_unit_test(small_messages_all_leave_at_once),
        cmocka_unit_test(an_output_goes_to_a_machine_once),
        cmocka_unit_test(capacities_hold),
        cmocka_unit_test(memory_may_fail_anywhere),
        cmocka_unit_test(times_that_have_no_end_are_refused),
        cmocka_unit_test(branches_are_refused),
        cmocka_unit_test(an_unknown_contention_is_refused),
        cmocka_unit_test(pipelines_are_refused),
        cmocka_unit_test(what_ports_cannot_count_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
