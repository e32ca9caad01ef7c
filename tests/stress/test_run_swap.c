/* A job whose plan is swapped for one that is run in another way: its times stay in one unit. */
#include "support.h"

#include "base/clock.h"
#include "running.h"

/* One task before another, and with a replica of the first where the second does not run. */
static clo_plan *plan_of(const clo_cost *cost, size_t count)
{
    static const clo_placement placements[] = {{0, 0, 0, 0, 0, 1000}, {1, 0, 0, 0, 1000, 2000}, {0, 0, 1, 1, 0, 1000}};
    clo_plan *plan;

    ok(clo_plan_from_placements(cost, "own", placements, count, &plan));
    return plan;
}

static void hold_times(clo_job *job)
{
    clo_job_result result = CLO_JOB_RESULT_INIT;
    int64_t before_ns = clo_clock_ns();

    ok(clo_job_submit(job));
    ok(clo_job_wait(job, &result));
    int64_t most_ns = clo_clock_ns() - before_ns;
    assert_true(result.makespan_ns >= 0);
    assert_true(result.makespan_ns <= most_ns + most_ns / 8 + 1000000); /* ticks are turned into ns by a line */
}

static void a_swap_to_replicas_and_back_keeps_the_times_right(void **state)
{
    (void)state;
    clo_task task = {.body = count_call, .work_ns = 1000, .duplicable = 1};
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config plain = CLO_JOB_CONFIG_INIT;
    clo_platform *platform = scene_platform(2, 0);
    clo_runtime *runtime;
    clo_graph *graph;
    clo_cost *cost;
    clo_job *job;

    ok(clo_graph_create("g", &graph));
    for (int i = 0; i < 2; i++)
        ok(clo_graph_add_task(graph, &task, NULL));
    ok(clo_graph_add_edge(graph, 0, 1, 0));
    ok(clo_graph_seal(graph));
    ok(clo_cost_create(graph, platform, &cost));
    config.unpinned = 1;
    ok(clo_runtime_create(platform, &config, &runtime));
    clo_plan *single = plan_of(cost, 2), *doubled = plan_of(cost, 3);
    plain.plan = single;
    ok(clo_job_create(runtime, cost, &plain, &job));
    for (int i = 0; i < 20; i++) { /* the first run after each swap is the one */
        hold_times(job);
        hold_times(job);
        ok(clo_job_swap_plan(job, i % 2 == 0 ? doubled : single));
    }
    clo_job_destroy(job);
    clo_plan_destroy(doubled);
    clo_plan_destroy(single);
    clo_runtime_destroy(runtime);
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    clo_platform_destroy(platform);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_swap_to_replicas_and_back_keeps_the_times_right)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
