/* A job that is alone under `graphene` follows the plan of the planner: it takes no longer, whatever its graph holds
 * (instances, demands, masks, kinds) and wherever it runs; enforced.h says which few do not. Where a time is wrong, only
 * what depends on it waits. And a plan goes on after another job has come and gone. */
#include "policy_scene.h"
#include "random.h"

#include <clotho/cost.h>
#include <clotho/plan.h>
#include <clotho/planner.h>
#include <math.h>

enum { RANDOM_CASES = 600 };

static int64_t planned_ns(const clo_graph *graph, const clo_platform *platform)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_cost *cost;
    clo_plan *plan;

    ok(clo_cost_create(graph, platform, &cost));
    config.planner = clo_planner_find("graphene");
    config.no_duplicates = 1;
    ok(clo_plan_create(cost, &config, &plan));
    int64_t makespan_ns = clo_plan_makespan_ns(plan);
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    return makespan_ns;
}

/* Executors, machines and capacities of a random platform, without its links. */
static clo_platform *without_links(uint64_t seed)
{
    clo_platform *linked = random_platform(seed, RANDOM_DEMANDS), *platform;
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_executor executors[SCENE_EXECUTORS_MAX];
    int64_t capacities[4 * CLO_RESOURCES_MAX];

    desc.executors_count = clo_platform_executors(linked);
    desc.kinds_count = clo_platform_kinds(linked);
    desc.machines_count = clo_platform_machines(linked);
    assert_true(desc.executors_count <= SCENE_EXECUTORS_MAX && desc.machines_count <= 4);
    for (uint32_t e = 0; e < desc.executors_count; e++)
        executors[e] = *clo_platform_executor(linked, e);
    for (uint32_t m = 0; m < desc.machines_count; m++)
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
            capacities[m * CLO_RESOURCES_MAX + r] = clo_platform_capacity(linked, m, r);
    desc.executors = executors;
    desc.capacities = capacities;
    ok(clo_platform_create(&desc, &platform));
    clo_platform_destroy(linked);
    return platform;
}

/* The workload of one job on the platform, without a scene's. */
static int64_t simulated_ns(const clo_graph *graph, const clo_platform *platform, uint32_t releases)
{
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_stream_result result = CLO_STREAM_RESULT_INIT;
    clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
    clo_workload *workload;

    ok(clo_workload_create("one", &workload));
    job.graph = graph;
    job.releases = releases > 1 ? releases : 0;
    job.period_ns = releases > 1 ? INT64_C(1) << 40 : 0;
    ok(clo_workload_add(workload, &job));
    config.policy = clo_policy_find("graphene");
    ok(clo_stream_simulate(workload, platform, &config, &result));
    if (result.refused > 0)
        fail_msg("%s", result.refusal);
    clo_workload_destroy(workload);
    return result.makespan_ns - (releases > 1 ? (releases - 1) * job.period_ns : 0);
}

static void a_job_alone_keeps_to_its_plan(void **state)
{
    static const unsigned features[] = {RANDOM_DEMANDS, RANDOM_DEMANDS | RANDOM_INSTANCES,
                                        RANDOM_STAGES | RANDOM_DEMANDS, RANDOM_ALL & ~RANDOM_DUPLICABLE, 0};
    uint32_t longer = 0;
    double sum = 0;

    (void)state;
    for (uint64_t seed = 0; seed < RANDOM_CASES; seed++) {
        clo_platform *platform = without_links(seed);
        clo_graph *graph = random_graph(seed, features[seed % (sizeof features / sizeof features[0])]);
        int64_t plan_ns = planned_ns(graph, platform), run_ns = simulated_ns(graph, platform, 1 + seed % 2);
        longer += run_ns > plan_ns;
        sum += plan_ns > 0 ? log((double)run_ns / (double)plan_ns) : 0;
        clo_graph_destroy(graph);
        clo_platform_destroy(platform);
    }
    print_message("longer than planned: %u of %d; mean of the ratios %.5f\n", longer, RANDOM_CASES,
                  exp(sum / RANDOM_CASES));
    assert_in_range(longer, 0, RANDOM_CASES / 40);
    assert_true(exp(sum / RANDOM_CASES) < 1.002);
}

/* The first of a chain of two takes ten times as long as its cost says. */
static int64_t late_first(void *state, const clo_environment_execution *e)
{
    (void)state;
    return e->stage == 0 ? 10 * e->cost_ns : e->cost_ns;
}

/* Two executors; the chain is the longest path, so it goes first, and the second of it at 100. Six others of 50 have
 * the other executor: they do not wait for what is late. */
static void what_is_late_delays_only_what_depends_on_it(void **state)
{
    clo_task tasks[3] = {{.work_ns = 100}, {.work_ns = 200}, {.work_ns = 50, .instances = 6}};
    clo_environment late = CLO_ENVIRONMENT_INIT;
    policy_scene s;

    (void)state;
    scene_open(&s, 2);
    clo_graph *graph = scene_graph(&s, tasks, 3);
    ok(clo_graph_add_edge(graph, 0, 1, 0));
    scene_add(&s, graph, (clo_workload_job){0});
    scene_run(&s, "graphene");
    assert_int_equal(s.result.makespan_ns, 300);
    late.name = "late";
    late.time_ns = late_first;
    s.environment = &late;
    scene_run(&s, "graphene");
    assert_int_equal(s.result.makespan_ns, 1200);
    for (uint32_t i = 0; i < 6; i++)
        assert_true(scene_start(&s, 0, 2, i, NULL) <= 300);
    scene_close(&s);
}

/* Another job comes and goes: what is left of the first one goes on by its plan. */
static void a_plan_goes_on_when_the_job_is_alone_again(void **state)
{
    clo_task tasks[2] = {{.work_ns = 100, .instances = 12}, {.work_ns = 100, .instances = 8}};
    policy_scene s;

    (void)state;
    scene_open(&s, 4);
    clo_graph *graph = scene_graph(&s, tasks, 2);
    ok(clo_graph_add_edge(graph, 0, 1, 0));
    scene_add(&s, graph, (clo_workload_job){0});
    scene_job(&s, 150, 10, 2);
    scene_job(&s, 450, 10, 2);
    scene_run(&s, "graphene");
    assert_int_equal(s.outcomes[0].finish_ns, 510); /* 20 instances of 100 and 4 of 10 on 4 executors */
    assert_int_equal(s.outcomes[1].finish_ns, 210);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_alone_keeps_to_its_plan),
        cmocka_unit_test(what_is_late_delays_only_what_depends_on_it),
        cmocka_unit_test(a_plan_goes_on_when_the_job_is_alone_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
