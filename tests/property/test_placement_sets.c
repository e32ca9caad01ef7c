/* Tasks that are restricted to sets of executors beyond the 64th, on platforms of 65 to 300: every planner's plan is
 * valid and not below the bound, every policy keeps to the sets in the simulator, and so do workers. The sets are kept
 * here a second time, in a plain table. */
#include "sample.h"
#include "support.h"

#include "base/numbers/rng.h"
#include "planner_named.h"

#include <stdio.h>
#include <string.h>

enum { PLATFORMS = 4, EXECUTORS_MOST = 300, TASKS_MOST = 60, SEEDS = SANITIZED ? 40 : 160, SCHEDULES = 8, POOLS = 6 };

static const uint32_t sizes[PLATFORMS] = {65, 100, 200, EXECUTORS_MOST};

typedef struct scene {
    uint32_t executors, tasks;
    uint8_t may[TASKS_MOST][EXECUTORS_MOST];
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
} scene;

static scene s; /* large; one test at a time */

/* Every second platform is uniform; the others have three kinds of executors, speeds, memories and two machines. */
static clo_platform *platform_of(uint64_t seed)
{
    static clo_executor list[EXECUTORS_MOST];
    static int64_t latency_ns[EXECUTORS_MOST * EXECUTORS_MOST], capacities[2 * CLO_RESOURCES_MAX];
    static double bandwidth[EXECUTORS_MOST * EXECUTORS_MOST];
    clo_rng rng = sample_rng(seed ^ 0x91a7);
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_platform *platform;
    char spec[32];

    if (seed % 2 == 0) {
        snprintf(spec, sizeof spec, "uniform:%u", s.executors);
        ok(clo_platform_open(spec, &platform));
        return platform;
    }
    for (uint32_t e = 0; e < s.executors; e++) {
        list[e] = (clo_executor){.kind = e % 3, .machine = e >= s.executors / 2, .memory = e / 8, .os_index = -1};
        for (uint32_t c = 0; c < CLO_CLASSES_BUILTIN; c++)
            list[e].speed_q16[c] = CLO_SPEED_ONE >> (seed % 4 == 1 ? e % 3 : clo_rng_below(&rng, 3));
    }
    for (uint32_t i = 0; i < s.executors * s.executors; i++) {
        latency_ns[i] = 100 + clo_rng_below(&rng, 200);
        bandwidth[i] = 1 + clo_rng_unit(&rng);
    }
    for (uint32_t i = 0; i < 2 * CLO_RESOURCES_MAX; i++)
        capacities[i] = i % CLO_RESOURCES_MAX == 0 ? 12 : -1;
    desc.executors_count = s.executors;
    desc.executors = list;
    desc.kinds_count = 3;
    desc.machines_count = 2;
    desc.capacities = capacities;
    desc.latency_ns = latency_ns;
    desc.bandwidth_bytes_per_ns = bandwidth;
    ok(clo_platform_create(&desc, &platform));
    return platform;
}

/* Pool 0 is one executor, 1 the last ones, 2 every seventh, 3 a few anywhere, 4 some below 64 and some above, 5 all
 * from 64 on. Some name executors that are not there. */
static uint32_t draw_pool(clo_rng *rng, uint32_t pool, uint32_t *executors)
{
    uint32_t count = 0, beyond = s.executors - 64;

    if (pool == 0)
        executors[count++] = 64 + clo_rng_below(rng, beyond);
    for (uint32_t e = s.executors - 1; pool == 1 && e >= 64 && count < 5; e--)
        executors[count++] = e;
    for (uint32_t e = 64; pool == 2 && e < s.executors; e += 7)
        executors[count++] = e;
    for (uint32_t i = 0; pool == 3 && i < 4; i++)
        executors[count++] = clo_rng_below(rng, s.executors);
    for (uint32_t i = 0; pool == 4 && i < 6; i++)
        executors[count++] = i % 2 == 0 ? clo_rng_below(rng, 64) : 64 + clo_rng_below(rng, beyond);
    for (uint32_t e = 64; pool == 5 && e < s.executors; e++)
        executors[count++] = e;
    if (pool == 3 || pool == 5)
        executors[count++] = s.executors + clo_rng_below(rng, 1000);
    return count;
}

static void restrict_task(clo_rng *rng, uint32_t t)
{
    uint32_t executors[EXECUTORS_MOST + 1], count, pool = clo_rng_below(rng, POOLS + 2);

    memset(s.may[t], pool >= POOLS, sizeof s.may[t]);
    if (pool >= POOLS)
        return;
    count = draw_pool(rng, pool, executors);
    for (uint32_t i = 0; i < count; i++)
        if (executors[i] < s.executors)
            s.may[t][executors[i]] = 1;
    ok(clo_graph_set_executors(s.graph, t, executors, count));
}

static void open_scene(uint64_t seed, uint32_t platform)
{
    clo_rng rng = sample_rng(seed);
    uint32_t kind;

    s.executors = sizes[platform];
    s.tasks = 5 + clo_rng_below(&rng, TASKS_MOST - 5);
    ok(clo_graph_create("restricted", &s.graph));
    ok(clo_graph_kind(s.graph, "k2", &kind));
    for (uint32_t t = 0; t < s.tasks; t++) {
        clo_task task = {.body = clo_body_spin, .work_ns = 1 + clo_rng_below(&rng, 5000)};
        task.instances = clo_rng_below(&rng, 6) == 0 ? 3 : 1;
        task.duplicable = clo_rng_below(&rng, 2) == 0;
        task.output_bytes = 16;
        task.demand[0] = seed % 4 == 3 ? clo_rng_below(&rng, 4) : 0;
        ok(clo_graph_add_task(s.graph, &task, NULL));
        restrict_task(&rng, t);
        if (clo_rng_below(&rng, 4) == 0)
            ok(clo_graph_set_time(s.graph, t, kind, 1 + clo_rng_below(&rng, 5000)));
        for (uint32_t from = 0; from < t; from++)
            if (clo_rng_below(&rng, t + 4) < 2)
                ok(clo_graph_add_edge(s.graph, from, t, clo_rng_below(&rng, 4000)));
    }
    ok(clo_graph_seal(s.graph));
    s.platform = platform_of(seed);
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
}

static void close_scene(void)
{
    clo_cost_destroy(s.cost);
    clo_platform_destroy(s.platform);
    clo_graph_destroy(s.graph);
}

static void keeps_to_the_sets(const clo_plan *plan, const char *who, int mode)
{
    size_t count;
    const clo_placement *p = clo_plan_placements(plan, &count);

    if (clo_plan_check(plan, s.cost, mode) != CLO_OK)
        fail_msg("%s on %u executors: %s", who, s.executors, clo_last_error());
    for (size_t i = 0; i < count; i++)
        if (!s.may[p[i].task][p[i].executor])
            fail_msg("%s on %u executors: task %u on executor %u", who, s.executors, p[i].task, p[i].executor);
}

static void trace_keeps_to_the_sets(clo_trace *trace, const char *who, int mode)
{
    clo_plan *happened;

    ok(clo_trace_to_plan(trace, s.cost, &happened));
    keeps_to_the_sets(happened, who, mode);
    clo_plan_destroy(happened);
    clo_trace_destroy(trace);
}

/* The checker sees a task that runs where it may not: its plan with one placement moved. */
static void checker_sees_a_move(const clo_plan *plan)
{
    size_t count;
    const clo_placement *p = clo_plan_placements(plan, &count);
    clo_placement *moved = test_malloc(count * sizeof *moved);
    clo_plan *bad;

    memcpy(moved, p, count * sizeof *moved);
    for (size_t i = 0; i < count; i++)
        for (uint32_t e = s.executors; e-- > 0;)
            if (!s.may[p[i].task][e]) {
                moved[i].executor = e;
                ok(clo_plan_from_placements(s.cost, "moved", moved, count, &bad));
                fails(CLO_ERR_INVALID, "excludes this one", clo_plan_check(bad, s.cost, CLO_CHECK_MEASURED));
                clo_plan_destroy(bad);
                test_free(moved);
                return;
            }
    test_free(moved);
}

static void every_planner_keeps_to_sets_beyond_64(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        clo_bound bound = CLO_BOUND_INIT;
        const char *name;

        open_scene(seed, (uint32_t)(seed / 4 % PLATFORMS));
        ok(clo_cost_bound(s.cost, &bound));
        for (uint32_t i = 0; (name = name_at("planners", i)) != NULL; i++) {
            clo_plan_config config = CLO_PLAN_CONFIG_INIT;
            clo_plan *plan;
            config.planner = planner_named(name);
            config.schedules_max = SCHEDULES;
            ok(clo_plan_create(s.cost, &config, &plan));
            keeps_to_the_sets(plan, name, CLO_CHECK_FULL);
            if (clo_plan_makespan_ns(plan) < bound.best_ns)
                fail_msg("seed %llu, %s: %lld is below the bound %lld", (unsigned long long)seed, name,
                         (long long)clo_plan_makespan_ns(plan), (long long)bound.best_ns);
            if (i == 0)
                checker_sees_a_move(plan);
            clo_plan_destroy(plan);
        }
        close_scene();
    }
}

static void every_policy_keeps_to_sets_beyond_64(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        open_scene(seed, (uint32_t)(seed / 4 % PLATFORMS));
        for (uint32_t p = 0; policy_at(p) != NULL; p++) {
            clo_sim_config config = CLO_SIM_CONFIG_INIT;
            clo_trace *trace;
            config.policy = policy_at(p);
            ok(clo_simulate(s.cost, &config, NULL, &trace, NULL));
            trace_keeps_to_the_sets(trace, config.policy->name, CLO_CHECK_FULL);
        }
        close_scene();
    }
}

/* policy NULL and no plan: steal. */
static clo_trace *run(clo_clock clock, const clo_plan *plan, const clo_policy *policy, int64_t *makespan_ns)
{
    clo_runtime_config runtime_config = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job_config = CLO_JOB_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_runtime *runtime;
    clo_trace *trace;
    clo_job *job;

    runtime_config.clock = clock;
    runtime_config.trace = runtime_config.unpinned = 1;
    job_config.plan = plan;
    job_config.policy = policy;
    ok(clo_runtime_create(s.platform, &runtime_config, &runtime));
    ok(clo_job_create(runtime, s.cost, &job_config, &job));
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, &result));
    ok(clo_job_trace(job, &trace));
    *makespan_ns = result.makespan_ns;
    clo_job_destroy(job);
    clo_runtime_destroy(runtime);
    return trace;
}

static void workers_under_the_virtual_clock_do_what_the_simulator_says(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 6; seed++) {
        clo_plan_config config = CLO_PLAN_CONFIG_INIT;
        clo_sim_config sim_config = CLO_SIM_CONFIG_INIT;
        clo_job_result simulated = CLO_JOB_RESULT_INIT;
        int64_t makespan_ns;
        clo_plan *plan;

        if (seed % 4 == 3)
            continue; /* demands: the order of waiting depends on real time */
        open_scene(seed, 1 + (uint32_t)(seed % 2));
        config.planner = planner_named(seed % 2 == 0 ? "heft" : "deft");
        ok(clo_plan_create(s.cost, &config, &plan));
        sim_config.plan = plan;
        ok(clo_simulate(s.cost, &sim_config, &simulated, NULL, NULL));
        clo_trace *trace = run(CLO_CLOCK_VIRTUAL, plan, NULL, &makespan_ns);
        assert_int_equal(makespan_ns, simulated.makespan_ns);
        trace_keeps_to_the_sets(trace, "replay", CLO_CHECK_FULL);
        clo_plan_destroy(plan);
        close_scene();
    }
}

static void workers_that_steal_or_ask_a_policy_keep_to_sets_beyond_64(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 6; seed++) {
        int64_t makespan_ns;

        open_scene(seed, (uint32_t)(seed % 2));
        for (uint32_t p = 0; p < 3; p++)
            trace_keeps_to_the_sets(run(CLO_CLOCK_REAL, NULL, p == 0 ? NULL : policy_at(p - 1), &makespan_ns),
                                    p == 0 ? "stealing workers" : policy_at(p - 1)->name, CLO_CHECK_MEASURED);
        close_scene();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_planner_keeps_to_sets_beyond_64),
        cmocka_unit_test(every_policy_keeps_to_sets_beyond_64),
        cmocka_unit_test(workers_under_the_virtual_clock_do_what_the_simulator_says),
        cmocka_unit_test(workers_that_steal_or_ask_a_policy_keep_to_sets_beyond_64),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
