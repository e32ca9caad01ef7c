/* Memory parts on random graphs, platforms and plans: no execution is shorter than without them, no plan either; without
 * a capacity that binds nothing changes; and what is moved is at most the capacity, at every moment (the stretch of any
 * set of parts) and in all (bytes over time). */
#define _POSIX_C_SOURCE 200809L
#include "random.h"
#include "sample.h"
#include "support.h"

#include "cost/cost.h"
#include "planner_named.h"
#include "profile/memory.h"

#include <stdlib.h>
#include <string.h>

#define SEEDS sample_size(600, 2)

enum { RESOURCE = CLO_RESOURCES_MAX - 1, PARTS_MAX = 12 };

typedef struct scene {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
    clo_plan *plan;
    clo_memory_part *parts;
} scene;

/* Of the last choice sums need a larger stretch than there is (CLO_STRETCH_MOST), if the capacity is small. */
static clo_memory_part draw_part(clo_rng *rng, uint32_t choices)
{
    static const uint32_t most[] = {1, 100, 10000, CLO_MEMORY_MBPS_MAX};
    uint32_t share = clo_rng_below(rng, 4) == 0   ? 0
                     : clo_rng_below(rng, 3) == 0 ? CLO_MEMORY_SHARE_ONE
                                                  : 1 + clo_rng_below(rng, CLO_MEMORY_SHARE_ONE);

    return (clo_memory_part){share, 1 + clo_rng_below(rng, most[clo_rng_below(rng, choices)])};
}

static scene make(uint64_t seed, clo_rng *rng)
{
    unsigned features = (unsigned)(seed % 64) & (unsigned)~RANDOM_DEMANDS;
    scene s = {.graph = random_graph(seed, features), .platform = random_platform(seed, features)};
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;

    config.planner = planner_named(seed % 2 ? "deft" : "heft");
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    ok(clo_plan_create(s.cost, &config, &s.plan));
    size_t count = (size_t)clo_graph_tasks(s.graph) * clo_platform_kinds(s.platform);
    s.parts = calloc(count, sizeof *s.parts);
    assert_non_null(s.parts);
    for (size_t i = 0; i < count; i++)
        s.parts[i] = draw_part(rng, 3);
    s.platform->resource_names[RESOURCE] = strdup(CLO_MEMORY_RESOURCE);
    assert_non_null(s.platform->resource_names[RESOURCE]);
    return s;
}

/* Planned without it: the graph demands nothing of it, and planners do not look at what nobody demands. */
static void set_capacity(scene *s, int64_t mbps)
{
    for (uint32_t m = 0; m < s->platform->machines_count; m++)
        s->platform->capacities[(size_t)m * CLO_RESOURCES_MAX + RESOURCE] = mbps;
}

static void drop(scene *s)
{
    clo_plan_destroy(s->plan);
    clo_cost_destroy(s->cost);
    clo_platform_destroy(s->platform);
    clo_graph_destroy(s->graph);
    free(s->parts);
}

static clo_trace *simulate(const scene *s, const char *policy, bool has_parts, int64_t *makespan_ns)
{
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_trace *trace;

    config.plan = policy == NULL ? s->plan : NULL;
    config.policy = policy != NULL ? clo_policy_find(policy) : NULL;
    config.memory_parts = has_parts ? s->parts : NULL;
    ok(clo_simulate(s->cost, &config, &result, &trace, NULL));
    *makespan_ns = result.makespan_ns;
    return trace;
}

static void assert_equal(const clo_trace *a, const clo_trace *b)
{
    size_t count, other;
    const clo_trace_event *x = clo_trace_events(a, &count), *y = clo_trace_events(b, &other);

    assert_int_equal(count, other);
    assert_memory_equal(x, y, count * sizeof *x);
}

/* Of each execution, and of what was moved on each machine in all. */
static void check(const scene *s, const clo_trace *trace, int64_t capacity_mbps, int64_t makespan_ns)
{
    long double moved[8] = {0};
    size_t count;
    const clo_trace_event *events = clo_trace_events(trace, &count);

    for (size_t i = 0; i < count; i++) {
        const clo_executor *e = clo_platform_executor(s->platform, events[i].executor);
        int64_t alone_ns = clo_cost_execution_ns(s->cost, events[i].task, events[i].executor);
        clo_memory_part part = s->parts[(size_t)events[i].task * clo_platform_kinds(s->platform) + e->kind];
        int64_t ns = events[i].finish_ns - events[i].start_ns;
        assert_true(ns >= alone_ns);
        if (part.share_q16 == 0)
            assert_int_equal(ns, alone_ns);
        moved[e->machine] += (long double)part.share_q16 / 65536 * part.mbps * (long double)alone_ns;
    }
    for (uint32_t m = 0; m < clo_platform_machines(s->platform); m++) /* an end may be half a ns early */
        assert_true(moved[m] <=
                    (long double)capacity_mbps * ((long double)makespan_ns + (long double)count) * 1.000001L);
}

static void parts_only_lengthen_and_never_exceed_the_capacity(void **state)
{
    static const char *const ways[] = {NULL, "steal", "fifo", "deft"};
    uint32_t longer = 0;

    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        clo_rng rng = sample_rng(seed);
        scene s = make(seed, &rng);
        const char *way = ways[seed % 4];
        int64_t without_ns, with_ns, capacity_mbps = 10 + clo_rng_below(&rng, seed % 2 ? 1000 : 100000);
        clo_trace *without = simulate(&s, way, false, &without_ns), *with = simulate(&s, way, true, &with_ns);
        assert_equal(without, with); /* no capacity is stated */
        clo_trace_destroy(with);
        set_capacity(&s, INT64_MAX);
        with = simulate(&s, way, true, &with_ns);
        assert_equal(without, with);
        clo_trace_destroy(with);
        set_capacity(&s, capacity_mbps);
        with = simulate(&s, way, true, &with_ns);
        if (way == NULL)
            assert_true(with_ns >= without_ns);
        longer += with_ns > without_ns;
        check(&s, with, capacity_mbps, with_ns);
        clo_trace *again = simulate(&s, way, true, &with_ns);
        assert_equal(with, again);
        clo_trace_destroy(again);
        clo_trace_destroy(with);
        clo_trace_destroy(without);
        drop(&s);
    }
    assert_true(longer > SEEDS / 4);
}

static clo_plan *plan_by(const scene *s, const char *planner)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan;

    config.planner = planner_named(planner);
    ok(clo_plan_create(s->cost, &config, &plan));
    return plan;
}

static void assert_same_plan(clo_plan *a, clo_plan *b)
{
    size_t count, other;
    const clo_placement *x = clo_plan_placements(a, &count), *y = clo_plan_placements(b, &other);

    assert_int_equal(count, other);
    assert_memory_equal(x, y, count * sizeof *x);
    clo_plan_destroy(a);
    clo_plan_destroy(b);
}

/* A capacity that no task demands says nothing to them. Mutation: is_memory_rate of policy/network/auto.c is false. */
static void planners_and_policies_stay_as_they_are(void **state)
{
    static const char *const planners[] = {"heft", "deft", "peft"};
    static const char *const policies[] = {"auto", "parametric", "easy-sjf", "tetris", "eft"};

    (void)state;
    for (uint64_t seed = 0; seed < SEEDS / 2; seed++) {
        clo_rng rng = sample_rng(seed);
        scene s = make(seed, &rng);
        const char *policy = seed % 2 == 0 ? "auto" : policies[seed / 2 % 5], *planner = planners[seed % 3];
        int64_t before_ns, after_ns;
        clo_plan *plan = plan_by(&s, planner);
        clo_trace *before = simulate(&s, policy, false, &before_ns);
        set_capacity(&s, 10);
        assert_same_plan(plan, plan_by(&s, planner));
        clo_trace *after = simulate(&s, policy, false, &after_ns);
        assert_equal(before, after);
        clo_trace_destroy(before);
        clo_trace_destroy(after);
        drop(&s);
    }
}

static long double sum_of(const clo_memory_part *parts, size_t count, uint64_t stretch_q32)
{
    long double stretch = (long double)stretch_q32 / (1ull << 32), sum = 0;

    for (size_t i = 0; i < count; i++) {
        long double share = (long double)parts[i].share_q16 / CLO_MEMORY_SHARE_ONE;
        sum += share * parts[i].mbps / (1 - share + share * stretch);
    }
    return sum;
}

static void the_stretch_is_the_least_that_fits(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20 * SEEDS; seed++) {
        clo_rng rng = sample_rng(seed);
        clo_memory_part parts[PARTS_MAX];
        size_t count = 1 + clo_rng_below(&rng, PARTS_MAX);
        int64_t capacity_mbps = 1 + clo_rng_below(&rng, seed % 3 ? 30000 : 2000000000);
        for (size_t i = 0; i < count; i++)
            parts[i] = draw_part(&rng, 4);
        uint64_t stretch = clo_memory_stretch_q32(parts, count, capacity_mbps);
        assert_true(stretch >= CLO_STRETCH_ONE && stretch <= CLO_STRETCH_MOST);
        if (stretch < CLO_STRETCH_MOST)
            assert_true(sum_of(parts, count, stretch) <= (long double)capacity_mbps * (1 + 1e-15L));
        if (stretch > CLO_STRETCH_ONE)
            assert_true(sum_of(parts, count, stretch - stretch / 1000000000 - 1) > (long double)capacity_mbps - 1e-6L);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_only_lengthen_and_never_exceed_the_capacity),
        cmocka_unit_test(planners_and_policies_stay_as_they_are),
        cmocka_unit_test(the_stretch_is_the_least_that_fits),
    };

    return cmocka_run_group_tests_name("memory_parts", tests, NULL, NULL);
}
