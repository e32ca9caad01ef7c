/* test_arguments_pipeline.c - as test_arguments.c, for plans with an interval and jobs with releases in flight. */
#include "support.h"

#include "plan/facts.h"
#include "running.h"

/* The call must refuse, and say who it is. */
#define refuses(call, ...) fails(CLO_ERR_ARGUMENT, #call, call(__VA_ARGS__))

static struct scene {
    fixture f;
    clo_plan *plan, *pipeline;
} s;

static int set_up(void **state)
{
    (void)state;
    clo_task task = {.body = count_call, .work_ns = 1000};

    s.f = start(2, scene_layers(4, 2, &task), CLO_CLOCK_REAL);
    ok(clo_plan_create(s.f.cost, NULL, &s.plan));
    ok(clo_plan_pipeline(s.f.cost, NULL, &s.pipeline));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    clo_plan_destroy(s.plan);
    clo_plan_destroy(s.pipeline);
    stop(&s.f);
    return 0;
}

static void bounds(void **state)
{
    (void)state;
    clo_interval_bound bound = CLO_INTERVAL_BOUND_INIT, wrong = {.size = 3};

    refuses(clo_cost_interval_bound, NULL, &bound);
    refuses(clo_cost_interval_bound, s.f.cost, NULL);
    fails(CLO_ERR_ARGUMENT, "clo_interval_bound", clo_cost_interval_bound(s.f.cost, &wrong));
    ok(clo_cost_interval_bound(s.f.cost, &bound));
    assert_int_equal(bound.best_ns, 4000);
    assert_int_equal(bound.recurrence_ns, 1000);
}

static void planner(void **state)
{
    (void)state;
    clo_pipeline_config config = CLO_PIPELINE_CONFIG_INIT;
    clo_plan *none = NULL;

    refuses(clo_plan_pipeline, NULL, &config, &none);
    refuses(clo_plan_pipeline, s.f.cost, &config, NULL);
    config.releases_in_flight = CLO_IN_FLIGHT_MAX + 1;
    fails(CLO_ERR_ARGUMENT, "releases_in_flight", clo_plan_pipeline(s.f.cost, &config, &none));
    config.size = 1;
    fails(CLO_ERR_ARGUMENT, "clo_pipeline_config", clo_plan_pipeline(s.f.cost, &config, &none));
    assert_null(none);
}

static void intervals(void **state)
{
    (void)state;
    clo_pipeline_config config = CLO_PIPELINE_CONFIG_INIT;
    clo_plan *none = NULL;

    config.interval_ns = -1;
    fails(CLO_ERR_ARGUMENT, "interval_ns", clo_plan_pipeline(s.f.cost, &config, &none));
    config.interval_ns = 3999;
    fails(CLO_ERR_LIMIT, "no plan has less than 4000", clo_plan_pipeline(s.f.cost, &config, &none));
    config.interval_ns = INT64_MAX;
    ok(clo_plan_pipeline(s.f.cost, &config, &none));
    ok(clo_plan_check(none, s.f.cost, CLO_CHECK_FULL));
    assert_int_equal(clo_plan_interval_ns(none), INT64_MAX);
    assert_int_equal(clo_plan_in_flight(none), 1);
    clo_plan_destroy(none);
}

static void plans(void **state)
{
    (void)state;
    size_t count;
    const clo_placement *placements = clo_plan_placements(s.plan, &count), far = {.task = 99};
    clo_plan *none = NULL;

    fails(CLO_ERR_ARGUMENT, "interval_ns", clo_plan_from_interval(s.f.cost, NULL, placements, count, -1, &none));
    fails(CLO_ERR_ARGUMENT, "", clo_plan_from_interval(s.f.cost, NULL, &far, 1, 1, &none));
    assert_null(none);
}

static void buffer_depths(void **state)
{
    (void)state;
    assert_int_equal(clo_plan_interval_ns(NULL), 0);
    assert_int_equal(clo_plan_interval_ns(s.plan), 0);
    assert_int_equal(clo_plan_in_flight(s.plan), 1);
}

static void measures(void **state)
{
    (void)state;
    clo_pipeline_metrics metrics = CLO_PIPELINE_METRICS_INIT, wrong = {.size = 5};

    refuses(clo_plan_pipeline_measure, NULL, s.f.cost, &metrics);
    refuses(clo_plan_pipeline_measure, s.pipeline, NULL, &metrics);
    refuses(clo_plan_pipeline_measure, s.pipeline, s.f.cost, NULL);
    fails(CLO_ERR_ARGUMENT, "clo_pipeline_metrics", clo_plan_pipeline_measure(s.pipeline, s.f.cost, &wrong));
    fails(CLO_ERR_ARGUMENT, "interval", clo_plan_pipeline_measure(s.plan, s.f.cost, &metrics));
}

static void traces(void **state)
{
    (void)state;
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_trace *trace;

    config.plan = s.pipeline;
    config.releases_in_flight = clo_plan_in_flight(s.pipeline);
    config.releases = 3;
    ok(clo_simulate(s.f.cost, &config, NULL, &trace, NULL));
    ok(clo_pipeline_check_period(trace, s.pipeline, s.f.cost, config.releases_in_flight, 0));
    refuses(clo_pipeline_check_period, NULL, s.pipeline, s.f.cost, 2, 0);
    refuses(clo_pipeline_check_period, trace, NULL, s.f.cost, 2, 0);
    refuses(clo_pipeline_check_period, trace, s.pipeline, NULL, 2, 0);
    refuses(clo_pipeline_check_period, trace, s.pipeline, s.f.cost, 0, 0);
    refuses(clo_pipeline_check_period, trace, s.pipeline, s.f.cost, 2, -1);
    fails(CLO_ERR_INVALID, "before its release is due",
          clo_pipeline_check_period(trace, s.pipeline, s.f.cost, config.releases_in_flight, INT64_MAX));
    clo_trace_destroy(trace);
}

static void incomplete_plans(void **state)
{
    (void)state;
    clo_pipeline_metrics metrics = CLO_PIPELINE_METRICS_INIT;
    uint32_t depths[8];
    clo_plan *none;

    ok(clo_plan_from_interval(s.f.cost, NULL, clo_plan_placements(s.plan, NULL), 1, 4000, &none));
    fails(CLO_ERR_ARGUMENT, "does not place", clo_plan_buffer_depths(none, s.f.cost, depths));
    fails(CLO_ERR_ARGUMENT, "does not place", clo_plan_pipeline_measure(none, s.f.cost, &metrics));
    clo_plan_destroy(none);
}

static void flights(void **state)
{
    (void)state;
    clo_flight_config config = CLO_FLIGHT_CONFIG_INIT;
    clo_flight_counts counts = CLO_FLIGHT_COUNTS_INIT, wrong = {.size = 3};
    clo_flight *flight = NULL, *none = NULL;
    clo_trace *trace = NULL;
    clo_job *job = make_job(&s.f, NULL, NULL);
    clo_release_record record;

    refuses(clo_flight_create, NULL, s.f.cost, NULL, &none);
    refuses(clo_flight_create, s.f.runtime, NULL, NULL, &none);
    refuses(clo_flight_create, s.f.runtime, s.f.cost, NULL, NULL);
    config.period_ns = -1;
    fails(CLO_ERR_ARGUMENT, "negative", clo_flight_create(s.f.runtime, s.f.cost, &config, &none));
    config = (clo_flight_config){.size = sizeof config, .last = CLO_FLIGHT_RELEASES_MAX, .late = 1};
    fails(CLO_ERR_LIMIT, "at most", clo_flight_create(s.f.runtime, s.f.cost, &config, &none));
    config.size = 1;
    fails(CLO_ERR_ARGUMENT, "clo_flight_config", clo_flight_create(s.f.runtime, s.f.cost, &config, &none));
    assert_null(none);
    ok(clo_flight_create(s.f.runtime, s.f.cost, NULL, &flight));
    refuses(clo_flight_begin, NULL, job);
    refuses(clo_flight_begin, flight, NULL);
    fails(CLO_ERR_STATE, "never submitted", clo_flight_begin(flight, job));
    assert_int_equal(clo_flight_read(NULL), 0);
    assert_int_equal(clo_flight_read(flight), 0);
    refuses(clo_flight_count, NULL, &counts);
    refuses(clo_flight_count, flight, NULL);
    fails(CLO_ERR_ARGUMENT, "clo_flight_counts", clo_flight_count(flight, &wrong));
    refuses(clo_flight_trace, NULL, &trace);
    refuses(clo_flight_trace, flight, NULL);
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    ok(clo_flight_begin(flight, job));
    assert_int_equal(clo_flight_read(flight), 0); /* no recorder */
    ok(clo_flight_trace(flight, &trace));
    refuses(clo_trace_write_releases, NULL, s.f.cost, NULL, "/nonexistent/x");
    refuses(clo_trace_write_releases, trace, NULL, NULL, "/nonexistent/x");
    refuses(clo_trace_write_releases, trace, s.f.cost, NULL, NULL);
    fails(CLO_ERR_IO, "/nonexistent/x", clo_trace_write_releases(trace, s.f.cost, NULL, "/nonexistent/x"));
    clo_trace_destroy(trace);
    assert_int_equal(clo_runtime_record_read_releases(NULL, 0, &record, 1, NULL), 0);
    assert_int_equal(clo_runtime_record_read_releases(s.f.runtime, 0, NULL, 1, NULL), 0);
    clo_flight_destroy(NULL);
    clo_flight_destroy(flight);
    clo_job_destroy(job);
}

static void histograms(void **state)
{
    (void)state;
    static uint32_t buckets[CLO_LATENCY_BUCKETS];
    clo_job *job = make_job(&s.f, NULL, NULL);

    refuses(clo_job_latency_read, NULL, CLO_LATENCY_START, buckets);
    assert_int_equal(clo_latency_bucket_ns(UINT32_MAX), INT64_MAX);
    refuses(clo_job_latency_read, job, CLO_LATENCY_START, NULL);
    fails(CLO_ERR_ARGUMENT, "period", clo_job_latency_read(job, CLO_LATENCY_START, buckets));
    fails(CLO_ERR_ARGUMENT, "period", clo_job_latency_read(job, (clo_latency_kind)3, buckets));
    clo_job_destroy(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bounds),           cmocka_unit_test(planner),
                                       cmocka_unit_test(flights),          cmocka_unit_test(histograms),
                                       cmocka_unit_test(intervals),        cmocka_unit_test(plans),
                                       cmocka_unit_test(buffer_depths),    cmocka_unit_test(measures),
                                       cmocka_unit_test(incomplete_plans), cmocka_unit_test(traces)};

    return cmocka_run_group_tests_name("arguments_pipeline", tests, set_up, tear_down);
}
