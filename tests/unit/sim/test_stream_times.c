/* Times at their limits in a simulated stream: a clear failure, never a time that has wrapped or stands still. */
#include "support.h"

#include "scene.h"

#include <clotho/stream.h>

#include <string.h>

/* Jobs of one task of `work_ns` on one executor, and what every policy says to it. */
static void simulate_all(int64_t work_ns, uint32_t jobs, const clo_workload_job *row, clo_status wanted,
                         const char *error)
{
    const clo_task task = {.work_ns = work_ns};
    clo_platform *platform = scene_platform(1, 0);
    clo_workload *w;
    clo_graph *graph;

    ok(clo_graph_create("g", &graph));
    ok(clo_graph_add_task(graph, &task, NULL));
    ok(clo_graph_seal(graph));
    ok(clo_workload_create("w", &w));
    for (uint32_t j = 0; j < jobs; j++) {
        clo_workload_job job = *row;
        job.graph = graph;
        ok(clo_workload_add(w, &job));
    }
    for (uint32_t p = 0; p < policies_count(); p++) {
        clo_stream_config config = CLO_STREAM_CONFIG_INIT;
        config.policy = policy_at(p);
        if (wanted == CLO_OK)
            ok(clo_stream_simulate(w, platform, &config, NULL));
        else
            fails(wanted, error, clo_stream_simulate(w, platform, &config, NULL));
    }
    clo_workload_destroy(w);
    clo_graph_destroy(graph);
    clo_platform_destroy(platform);
}

static void jobs_that_end_beyond_all_times_fail(void **state)
{
    const clo_workload_job batch = CLO_WORKLOAD_JOB_INIT,
                           late = {.size = sizeof late, .arrival_ns = CLO_WORKLOAD_TIME_MAX};
    const char *error = "the jobs take more than 292 years (2^63 ns) together; use a coarser unit";
    const int64_t work_ns = INT64_C(1) << 60;

    (void)state;
    simulate_all(work_ns, 7, &batch, CLO_OK, NULL);
    simulate_all(work_ns, 8, &batch, CLO_ERR_LIMIT, error);
    simulate_all(work_ns, 4, &late, CLO_ERR_LIMIT, error);
}

static void releases_in_any_number_are_refused_before_memory_is_taken(void **state)
{
    const clo_workload_job many = {.size = sizeof many, .period_ns = 1, .releases = CLO_WORKLOAD_JOBS_MAX};

    (void)state;
    simulate_all(1, 2, &many, CLO_ERR_LIMIT,
                 "the workload \"w\" has 536870912 jobs and releases; use at most 268435456");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_that_end_beyond_all_times_fail),
        cmocka_unit_test(releases_in_any_number_are_refused_before_memory_is_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
