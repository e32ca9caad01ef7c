/* A job that is cancelled by one of its own bodies under the virtual clock: what was begun holds its executor for as
 * long as it was decided to, and the log of it is valid. */
#include "support.h"

#include "scene.h"

#include <clotho/stream_check.h>

enum { INSTANCES = 60, EXECUTORS = 4, ROUNDS = 40, RECORDS = 4096 };

static int cancel(const clo_call *call)
{
    clo_job *const *job = call->argument;

    if (call->instance == 5)
        clo_job_cancel(*job);
    return 0;
}

static int nothing(const clo_call *call)
{
    (void)call;
    return 0;
}

static clo_graph *make_graph(void *argument)
{
    clo_task task = {
        .body = argument != NULL ? cancel : nothing, .argument = argument, .work_ns = 100, .instances = INSTANCES};
    clo_graph *graph;

    ok(clo_graph_create("g", &graph));
    ok(clo_graph_add_task(graph, &task, NULL));
    ok(clo_graph_seal(graph));
    return graph;
}

static void what_is_cut_holds_its_executor_as_decided(void **state)
{
    clo_platform *platform = scene_platform(EXECUTORS, 0);
    clo_job *jobs[2];
    clo_graph *graphs[2] = {make_graph(&jobs[0]), make_graph(NULL)};
    clo_cost *costs[2];

    (void)state;
    for (int g = 0; g < 2; g++)
        ok(clo_cost_create(graphs[g], platform, &costs[g]));
    for (int round = 0; round < ROUNDS; round++) {
        clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
        clo_stream_case stream = CLO_STREAM_CASE_INIT;
        clo_stream_report report = CLO_STREAM_REPORT_INIT;
        const clo_stream_job list[2] = {{.job = 0, .cost = costs[0], .weight = 1},
                                        {.job = 1, .cost = costs[1], .weight = 1}};
        clo_runtime *runtime;
        clo_log *log;
        config.clock = CLO_CLOCK_VIRTUAL;
        config.unpinned = 1;
        ok(clo_runtime_create(platform, &config, &runtime));
        ok(clo_log_create(NULL, RECORDS, &log));
        ok(clo_runtime_log_start(runtime, log));
        for (int j = 0; j < 2; j++) {
            clo_job_config job = CLO_JOB_CONFIG_INIT;
            job.policy = clo_policy_find("fair");
            ok(clo_job_create(runtime, costs[j], &job, &jobs[j]));
        }
        ok(clo_runtime_hold_time(runtime, 1));
        for (int j = 0; j < 2; j++)
            ok(clo_job_submit(jobs[j]));
        ok(clo_runtime_hold_time(runtime, 0));
        assert_int_equal(clo_job_wait(jobs[0], NULL), CLO_ERR_CANCELLED);
        ok(clo_job_wait(jobs[1], NULL));
        for (int j = 0; j < 2; j++)
            clo_job_destroy(jobs[j]);
        ok(clo_runtime_log_stop(runtime));
        stream.platform = platform;
        stream.jobs = list;
        stream.jobs_count = 2;
        if (clo_stream_check(&stream, log, &report) != CLO_OK)
            fail_msg("round %d: %s", round, clo_last_error());
        assert_int_equal(report.cancelled, 1);
        clo_log_destroy(log);
        clo_runtime_destroy(runtime);
    }
    for (int g = 0; g < 2; g++) {
        clo_cost_destroy(costs[g]);
        clo_graph_destroy(graphs[g]);
    }
    clo_platform_destroy(platform);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_cut_holds_its_executor_as_decided)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
