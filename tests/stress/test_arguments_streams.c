/* Public calls on policies, workloads, streams and logs with NULL and with numbers out of range; see
 * test_arguments.c. */
#include "support.h"

#include "scene.h"

#include <string.h>

/* The call must refuse, and say who it is. */
#define refuses(call, ...) fails(CLO_ERR_ARGUMENT, #call, call(__VA_ARGS__))
/* The same where an earlier check words it. */
#define refuses_somehow(call, ...) fails(CLO_ERR_ARGUMENT, "", call(__VA_ARGS__))

enum { UNKNOWN = 99 };

static const clo_ready_stage unknown = {UNKNOWN, 0}, unknown_stage = {0, UNKNOWN};

/* What the view says of jobs, stages and executors that do not exist. */
static void ask_for_the_unknown(const clo_view *view)
{
    assert_null(clo_view_job(view, UNKNOWN));
    assert_null(clo_view_job(view, CLO_NONE));
    assert_null(clo_view_stage(view, UNKNOWN, 0));
    assert_null(clo_view_stage(view, 0, UNKNOWN));
    assert_null(clo_view_executor(view, UNKNOWN));
    assert_int_equal(clo_view_next_ready(view, unknown).job, CLO_NONE);
    assert_int_equal(clo_view_next_ready(view, unknown_stage).job, CLO_NONE);
    assert_true(clo_view_arrival_ns(view, UNKNOWN, 0, 0) == CLO_TIME_NEVER);
    assert_true(clo_view_arrival_ns(view, 0, UNKNOWN, 0) == CLO_TIME_NEVER);
    assert_true(clo_view_arrival_ns(view, 0, 0, UNKNOWN) == CLO_TIME_NEVER);
    assert_true(clo_view_input_arrival_ns(view, UNKNOWN, 0, 0, 0) == CLO_TIME_NEVER);
    assert_true(clo_view_input_arrival_ns(view, 0, 3, UNKNOWN, 0) == CLO_TIME_NEVER);
    assert_true(clo_view_input_arrival_ns(view, 0, 3, 0, UNKNOWN) == CLO_TIME_NEVER);
    assert_true(clo_view_available_ns(view, UNKNOWN) == CLO_TIME_NEVER);
    assert_true(clo_view_execution_ns(view, UNKNOWN, 0, 0) == CLO_TIME_NEVER);
    assert_true(clo_view_execution_ns(view, 0, UNKNOWN, 0) == CLO_TIME_NEVER);
    assert_true(clo_view_execution_ns(view, 0, 0, UNKNOWN) == CLO_TIME_NEVER);
    assert_false(clo_view_may_duplicate(view, UNKNOWN, 0, 0));
    assert_false(clo_view_may_duplicate(view, 0, UNKNOWN, 0));
    assert_false(clo_view_may_duplicate(view, 0, 0, UNKNOWN));
    assert_false(clo_view_fits(view, UNKNOWN, 0, 0));
    assert_false(clo_view_fits(view, 0, UNKNOWN, 0));
    assert_false(clo_view_fits(view, 0, 0, UNKNOWN));
    assert_int_equal(clo_view_free_for(view, UNKNOWN, 0), CLO_NONE);
    assert_int_equal(clo_view_free_for(view, 0, UNKNOWN), CLO_NONE);
    assert_int_equal(clo_view_earliest(view, UNKNOWN, 0), CLO_NONE);
    assert_int_equal(clo_view_earliest(view, 0, UNKNOWN), CLO_NONE);
    assert_true(clo_view_capacity_left(view, UNKNOWN, 0) == INT64_MAX);
    assert_true(clo_view_capacity_left(view, 0, UNKNOWN) == INT64_MAX);
    assert_int_equal(clo_view_next_free(view, UNKNOWN), CLO_NONE);
}

/* Then chooses the oldest stage. */
static bool ask_and_choose(void *state, const clo_view *view, clo_choice *choice)
{
    clo_ready_stage oldest = clo_view_first_ready(view);

    (void)state;
    ask_for_the_unknown(view);
    assert_int_equal(clo_view_limits(view)->executors, 2);
    assert_null(clo_view_argument(view));
    assert_int_equal(clo_view_band(view), 0);
    assert_int_equal(clo_view_jobs(view), 1);
    choice->job = oldest.job;
    choice->stage = oldest.stage;
    return oldest.job != CLO_NONE;
}

static void policies(void **state)
{
    (void)state;
    const clo_policy curious = {.size = sizeof curious, .decide = ask_and_choose}; /* without a name */
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_task task = {.work_ns = 1000};
    clo_graph *graph = scene_layers(2, 2, &task);
    clo_platform *platform = scene_platform(2, 1);
    clo_cost *cost;

    ask_for_the_unknown(NULL);
    assert_null(clo_view_limits(NULL));
    assert_null(clo_view_argument(NULL));
    assert_int_equal(clo_view_now_ns(NULL), 0);
    assert_int_equal(clo_view_band(NULL), 0);
    assert_int_equal(clo_view_jobs(NULL), 0);
    assert_int_equal(clo_view_first_job(NULL), CLO_NONE);
    assert_int_equal(clo_view_first_ready(NULL).job, CLO_NONE);
    assert_false(clo_view_step(NULL));
    assert_false(clo_view_steps(NULL, 1));
    clo_view_partial(NULL);
    assert_int_equal(clo_view_unfit(NULL, 0), 0);
    assert_null(clo_policy_find(NULL));
    assert_null(clo_policy_find("nope"));
    ok(clo_cost_create(graph, platform, &cost));
    config.policy = &curious;
    ok(clo_simulate(cost, &config, &result, NULL, NULL));
    assert_int_equal(result.refused, 0);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
}

static void refuse_workloads(clo_workload *workload, const clo_platform *platform)
{
    clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
    clo_arrivals_config config = CLO_ARRIVALS_CONFIG_INIT;
    clo_workload *none = NULL;

    refuses(clo_workload_create, NULL, NULL);
    refuses(clo_workload_add, NULL, &job);
    refuses(clo_workload_add, workload, NULL);
    refuses(clo_workload_add, workload, &job); /* without a graph */
    refuses(clo_workload_adopt, NULL, NULL);
    refuses(clo_workload_adopt, workload, NULL);
    refuses(clo_workload_sort, NULL);
    refuses(clo_admission_test, NULL, platform, NULL, NULL, NULL);
    refuses(clo_admission_test, workload, NULL, NULL, NULL, NULL);
    clo_admission_config unknown_order = {.size = sizeof unknown_order, .order = (clo_admission_order)UNKNOWN};
    refuses_somehow(clo_admission_test, workload, platform, &unknown_order, NULL, NULL);
    clo_admission_result small = {.size = 1};
    refuses_somehow(clo_admission_test, workload, platform, NULL, NULL, &small);
    refuses(clo_workload_arrivals, NULL, &config, &none);
    refuses(clo_workload_arrivals, workload, &config, NULL);
    config.kind = (clo_arrivals)7;
    refuses(clo_workload_arrivals, workload, &config, &none);
    assert_null(none);
}

static void workloads(void **state)
{
    (void)state;
    clo_platform *platform = scene_platform(2, 0);
    clo_workload *workload;

    ok(clo_workload_create(NULL, &workload));
    refuse_workloads(workload, platform);
    clo_workload_destroy(NULL);
    assert_null(clo_workload_name(NULL));
    assert_int_equal(clo_workload_jobs(NULL), 0);
    assert_null(clo_workload_get(NULL, 0));
    assert_int_equal(clo_workload_releases(NULL, 0), 0);
    assert_null(clo_workload_get(workload, 0));
    assert_null(clo_workload_platform(NULL));
    assert_null(clo_workload_platform(workload));
    clo_workload_destroy(workload);
    clo_platform_destroy(platform);
}

static void plans_of_workloads(void **state)
{
    clo_synch_figures figures = CLO_SYNCH_FIGURES_INIT;
    clo_synch *plan = NULL;
    clo_log *log = NULL;
    size_t count = 1;

    (void)state;
    assert_int_equal(clo_synch_create(NULL, NULL, NULL, &plan), CLO_ERR_ARGUMENT);
    assert_int_equal(clo_synch_measure(NULL, &figures), CLO_ERR_ARGUMENT);
    assert_int_equal(clo_synch_log(NULL, &log), CLO_ERR_ARGUMENT);
    assert_null(clo_synch_pieces(NULL, &count));
    assert_int_equal(count, 0);
    (void)clo_synch_has_lp();
    clo_synch_destroy(NULL);
}

static void streams(void **state)
{
    (void)state;
    clo_platform *platform = scene_platform(2, 0);
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_stream_result result = CLO_STREAM_RESULT_INIT;
    clo_policy empty = {.name = "empty"};
    clo_task task = {.work_ns = 1000};
    clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
    clo_workload *workload;

    ok(clo_workload_create(NULL, &workload));
    refuses(clo_stream_simulate, NULL, platform, NULL, NULL);
    refuses(clo_stream_simulate, workload, NULL, NULL, NULL);
    fails(CLO_ERR_ARGUMENT, "has no jobs", clo_stream_simulate(workload, platform, NULL, NULL));
    clo_graph *graph = scene_layers(1, 2, &task);
    ok(clo_workload_adopt(workload, graph));
    job.graph = graph;
    ok(clo_workload_add(workload, &job));
    config.policy = &empty;
    fails(CLO_ERR_ARGUMENT, "no decide function", clo_stream_simulate(workload, platform, &config, NULL));
    config.size = 0;
    refuses_somehow(clo_stream_simulate, workload, platform, &config, NULL);
    result.size = 0;
    refuses_somehow(clo_stream_simulate, workload, platform, NULL, &result);
    result.size = sizeof result;
    ok(clo_stream_simulate(workload, platform, NULL, &result));
    assert_int_equal(result.completions, 2);
    clo_workload_destroy(workload);
    clo_platform_destroy(platform);
}

static void environments(void **state)
{
    (void)state;
    clo_decima_config config = CLO_DECIMA_CONFIG_INIT;
    clo_environment environment = CLO_ENVIRONMENT_INIT;

    refuses(clo_environment_open, NULL, 0, &environment);
    refuses(clo_environment_open, "decima", 0, NULL);
    refuses_somehow(clo_environment_open, "", 0, &environment);
    refuses(clo_decima_open, NULL, NULL);
    config.size = 0;
    refuses_somehow(clo_decima_open, &config, &environment);
    config.size = sizeof config;
    environment.size = 0;
    refuses_somehow(clo_decima_open, &config, &environment);
    assert_null(environment.time_ns);
    clo_environment_close(&environment);
    clo_environment_close(NULL);
}

static void waves(void **state)
{
    (void)state;
    const int64_t time_ns = 1;
    clo_task task = {.work_ns = 1000};
    clo_graph *graph = scene_layers(1, 2, &task);
    uint32_t count = 7;

    refuses(clo_graph_add_wave, NULL, 0, CLO_WAVE_REST, 1, &time_ns, 1);
    fails(CLO_ERR_STATE, "is sealed", clo_graph_add_wave(graph, 0, CLO_WAVE_REST, 1, &time_ns, 1));
    assert_int_equal(clo_graph_wave_levels(NULL, 0), 0);
    assert_int_equal(clo_graph_wave_levels(graph, UNKNOWN), 0);
    assert_int_equal(clo_graph_wave_level(NULL, 0, 0), 0);
    assert_int_equal(clo_graph_wave_level(graph, 0, UNKNOWN), 0);
    assert_null(clo_graph_wave_times(NULL, 0, 0, CLO_WAVE_REST, &count));
    assert_int_equal(count, 0);
    assert_null(clo_graph_wave_times(graph, UNKNOWN, 0, CLO_WAVE_REST, NULL));
    clo_graph_destroy(graph);
}

static void logs(void **state)
{
    (void)state;
    clo_log_record record = {.what = UNKNOWN};
    clo_log *log, *none = NULL;
    char text[100];
    size_t count = 7;

    refuses(clo_log_create, NULL, 0, NULL);
    refuses(clo_log_save, NULL, "/dev/null");
    refuses(clo_log_load, NULL, &none);
    refuses(clo_log_load, "/dev/null", NULL);
    ok(clo_log_create(NULL, 1, &log));
    refuses(clo_log_save, log, NULL);
    assert_false(clo_log_append(NULL, &record));
    assert_false(clo_log_append(log, NULL));
    assert_null(clo_log_records(NULL, &count));
    assert_int_equal(count, 0);
    (void)clo_log_records(log, NULL);
    assert_int_equal(clo_log_dropped(NULL), 0);
    assert_null(clo_log_about(NULL));
    assert_string_equal(clo_log_kind_name(UNKNOWN), "?");
    (void)clo_log_first_difference(NULL, NULL, NULL, 0);
    (void)clo_log_first_difference(log, NULL, text, sizeof text);
    assert_false(clo_log_is_log(NULL, 0));
    clo_platform *platform = scene_platform(2, 0);
    refuses(clo_stream_gantt_svg, NULL, platform, NULL, "/dev/null");
    refuses(clo_stream_gantt_svg, log, NULL, NULL, "/dev/null");
    refuses(clo_stream_gantt_svg, log, platform, NULL, NULL);
    clo_workload *workload;
    ok(clo_workload_create("w", &workload));
    refuses(clo_report_stream, NULL, workload, platform, NULL, "/dev/null");
    refuses(clo_report_stream, log, NULL, platform, NULL, "/dev/null");
    refuses(clo_report_stream, log, workload, NULL, NULL, "/dev/null");
    refuses(clo_report_stream, log, workload, platform, NULL, NULL);
    clo_workload_destroy(workload);
    clo_platform_destroy(platform);
    clo_log_destroy(NULL);
    clo_log_destroy(log);
    assert_null(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policies), cmocka_unit_test(workloads),    cmocka_unit_test(plans_of_workloads),
        cmocka_unit_test(streams),  cmocka_unit_test(environments), cmocka_unit_test(waves),
        cmocka_unit_test(logs),
    };
    return cmocka_run_group_tests_name("arguments", tests, NULL, NULL);
}
