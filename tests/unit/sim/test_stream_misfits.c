/* Jobs that can run nowhere on the platform, in virtual time: the whole call fails, or they are refused alone. */
#include "support.h"

#include "scene.h"

#include <clotho/stream.h>

#include <string.h>

enum { JOBS = 4 };

typedef struct scene {
    clo_platform *platform;
    clo_graph *graphs[2]; /* the second one fits nowhere */
    clo_workload *workload;
} scene;

/* Jobs of both graphs by turns. */
static scene open_scene(void)
{
    static const uint32_t far[] = {7};
    const clo_task near_task = {.work_ns = 100};
    scene s = {.platform = scene_platform(2, 0)};

    ok(clo_workload_create("misfits", &s.workload));
    for (uint32_t g = 0; g < 2; g++) {
        ok(clo_graph_create(g == 0 ? "near" : "far", &s.graphs[g]));
        ok(clo_graph_add_task(s.graphs[g], &near_task, NULL));
        if (g == 1)
            ok(clo_graph_set_executors(s.graphs[g], 0, far, 1));
        ok(clo_graph_seal(s.graphs[g]));
    }
    for (uint32_t j = 0; j < JOBS; j++) {
        clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
        job.graph = s.graphs[j % 2];
        job.arrival_ns = j;
        ok(clo_workload_add(s.workload, &job));
    }
    return s;
}

static void close_scene(scene *s)
{
    clo_workload_destroy(s->workload);
    clo_graph_destroy(s->graphs[0]);
    clo_graph_destroy(s->graphs[1]);
    clo_platform_destroy(s->platform);
}

static void a_job_that_fits_nowhere_fails_the_whole_call(void **state)
{
    scene s = open_scene();

    (void)state;
    assert_int_equal(clo_stream_simulate(s.workload, s.platform, NULL, NULL), CLO_ERR_PLATFORM);
    assert_non_null(strstr(clo_last_error(), "executors"));
    close_scene(&s);
}

static void where_misfits_are_skipped_they_alone_are_refused(void **state)
{
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_stream_result result = CLO_STREAM_RESULT_INIT;
    clo_stream_outcome outcomes[JOBS];
    scene s = open_scene();

    (void)state;
    config.skips_misfits = 1;
    config.outcomes = outcomes;
    ok(clo_stream_simulate(s.workload, s.platform, &config, &result));
    assert_int_equal(result.jobs, JOBS);
    assert_int_equal(result.jobs_ended, JOBS / 2);
    assert_int_equal(result.jobs_refused, JOBS / 2);
    for (uint32_t j = 0; j < JOBS; j++) {
        assert_int_equal(outcomes[j].status, j % 2 == 0 ? CLO_OK : CLO_ERR_PLATFORM);
        assert_int_equal(outcomes[j].arrival_ns, j);
        assert_int_equal(outcomes[j].finish_ns, j % 2 == 0 ? 100 + (int64_t)j : CLO_TIME_NEVER);
    }
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_that_fits_nowhere_fails_the_whole_call),
        cmocka_unit_test(where_misfits_are_skipped_they_alone_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
