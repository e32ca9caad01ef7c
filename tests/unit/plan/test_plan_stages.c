/* Stages of many thousand instances: whatever takes an edge pair by pair needs gigabytes and minutes here. */
#include "planner_named.h"
#include "support.h"

#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum {
    WIDE = 20000,                /* 400 million pairs an edge: 3.2 GB of indices, both ways                         */
    MEMORY = 512 << 20,          /* that the whole process may map                                                  */
    SECONDS = SANITIZED ? 60 : 6 /* of CPU; an optimised build takes a hundredth                                   */
};

typedef struct scene {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
} scene;

static double cpu_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* A sanitizer maps far more than it uses, so only other builds are held to the memory. */
static int limit_memory(void **state)
{
    struct rlimit limit;

    (void)state;
    if (SANITIZED)
        return 0;
    if (getrlimit(RLIMIT_AS, &limit) != 0)
        return -1;
    limit.rlim_cur = MEMORY;
    return setrlimit(RLIMIT_AS, &limit);
}

static int lift_limit(void **state)
{
    struct rlimit limit;

    (void)state;
    if (getrlimit(RLIMIT_AS, &limit) != 0)
        return -1;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_AS, &limit);
}

static scene chain_of(uint32_t stages, uint32_t instances, const char *platform)
{
    scene s = {0};

    ok(clo_graph_create("stages", &s.graph));
    for (uint32_t t = 0; t < stages; t++) {
        clo_task task = {.work_ns = 100000 + 1000 * (int64_t)t, .instances = instances, .duplicable = 1};
        ok(clo_graph_add_task(s.graph, &task, NULL));
        if (t > 0)
            ok(clo_graph_add_edge(s.graph, t - 1, t, 3000ull * instances * instances));
    }
    ok(clo_graph_seal(s.graph));
    ok(clo_platform_open(platform, &s.platform));
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    return s;
}

static void drop(scene *s)
{
    clo_cost_destroy(s->cost);
    clo_platform_destroy(s->platform);
    clo_graph_destroy(s->graph);
}

static void plan_and_judge(const scene *s, const char *planner)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan_metrics metrics = CLO_PLAN_METRICS_INIT;
    clo_plan *plan;
    double begin = cpu_seconds();

    config.planner = planner_named(planner);
    config.schedules_max = 3;
    ok(clo_plan_create(s->cost, &config, &plan));
    ok(clo_plan_check(plan, s->cost, CLO_CHECK_FULL));
    ok(clo_plan_measure(plan, s->cost, &metrics));
    assert_true(metrics.makespan_ns >= metrics.lower_bound_ns);
    clo_plan_destroy(plan);
    if (cpu_seconds() - begin > (double)SECONDS)
        fail_msg("%s: %.1f s of CPU", planner, cpu_seconds() - begin);
}

static void wide_stages_in_a_row_are_sealed_ranked_bounded_and_planned(void **state)
{
    enum { STAGES = 10 };
    int64_t ranks[STAGES];
    uint32_t levels[STAGES], path[STAGES];
    clo_bound bound = CLO_BOUND_INIT;
    double begin = cpu_seconds();
    scene s = chain_of(STAGES, WIDE, "uniform:50");

    (void)state;
    clo_cost_rank_u(s.cost, ranks);
    assert_int_equal(ranks[0], 10 * 100000 + 45 * 1000);
    clo_cost_rank_d(s.cost, ranks);
    clo_graph_levels(s.graph, levels);
    assert_int_equal(levels[STAGES - 1], STAGES - 1);
    assert_int_equal(clo_cost_critical_path(s.cost, path), STAGES);
    ok(clo_cost_bound(s.cost, &bound));
    assert_int_equal(bound.best_ns, (10 * 100000 + 45 * 1000) * (WIDE / 50));
    plan_and_judge(&s, "heft");
    plan_and_judge(&s, "deft");
    drop(&s);
    assert_true(cpu_seconds() - begin < (double)SECONDS);
}

static void every_planner_takes_wide_stages(void **state)
{
    static const char *const platforms[] = {"uniform:8", "zcu102"}; /* one memory; several, with links */
    const char *name;

    (void)state;
    for (int i = 0; i < 2; i++) {
        scene s = chain_of(3, WIDE / 2, platforms[i]);
        for (uint32_t k = 0; (name = name_at("planners", k)) != NULL; k++)
            plan_and_judge(&s, name);
        drop(&s);
    }
}

/* The trace has as many flow arrows as it is allowed, or none, and is written at once. */
static void a_trace_of_wide_stages_is_written(void **state)
{
    scene s = chain_of(2, WIDE, "uniform:2");
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_trace *trace = NULL;
    double begin = cpu_seconds();

    (void)state;
    config.policy = clo_policy_find("fifo");
    ok(clo_simulate(s.cost, &config, &result, &trace, NULL));
    ok(clo_trace_write_chrome(trace, s.cost, NULL, "/dev/null"));
    clo_trace_destroy(trace);
    drop(&s);
    assert_true(cpu_seconds() - begin < (double)SECONDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(wide_stages_in_a_row_are_sealed_ranked_bounded_and_planned, limit_memory,
                                        lift_limit),
        cmocka_unit_test_setup_teardown(every_planner_takes_wide_stages, limit_memory, lift_limit),
        cmocka_unit_test_setup_teardown(a_trace_of_wide_stages_is_written, limit_memory, lift_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
