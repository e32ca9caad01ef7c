/* The stretched padded clock (clo_runtime_config.dilate): what is in emulated time, what in real time, what is
 * refused. */
#include "support.h"

#include "running.h"

#include "base/clock.h"

static clo_runtime *stretched(const clo_platform *platform, uint32_t dilate)
{
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_runtime *runtime;

    config.clock = CLO_CLOCK_PADDED;
    config.dilate = dilate;
    config.trace = 1;
    config.recorder_events = 64;
    ok(clo_runtime_create(platform, &config, &runtime));
    return runtime;
}

/* 16 workers: more than there are CPUs, mostly. Their bodies do nothing, so a few CPUs suffice. A busy machine makes it
 * late; what it must not do is be early, or carry times of two kinds. */
static void a_stretched_clock_reports_the_times_of_the_plan(void **state)
{
    (void)state;
    clo_task task = {.work_ns = 300000};
    clo_graph *graph = scene_layers(4, 16, &task);
    clo_platform *platform = scene_platform(16, 1);
    clo_runtime *runtime = stretched(platform, 20);
    clo_record records[64];
    clo_trace *trace;
    clo_plan *plan, *happened;
    clo_cost *cost;
    clo_job *job;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_job_timing timing = CLO_JOB_TIMING_INIT;
    clo_job_config config = CLO_JOB_CONFIG_INIT;

    ok(clo_cost_create(graph, platform, &cost));
    ok(clo_plan_create(cost, NULL, &plan));
    int64_t planned_ns = clo_plan_makespan_ns(plan);
    config.plan = plan;
    config.deadline_ns = 20 * planned_ns;
    ok(clo_job_create(runtime, cost, &config, &job));
    int64_t before_ns = clo_clock_ns();
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, &result));
    int64_t passed_ns = clo_clock_ns() - before_ns;
    assert_true(result.makespan_ns >= planned_ns);
    assert_true(passed_ns >= 20 * result.makespan_ns); /* emulated time */
    assert_true(result.missed_deadline == (result.makespan_ns > config.deadline_ns));
    assert_true(result.emulation_error >= 0);
    ok(clo_job_timing_read(job, &timing));
    assert_true(timing.response_ns.max_ns == result.makespan_ns);
    ok(clo_job_trace(job, &trace));
    ok(clo_trace_to_plan(trace, cost, &happened));
    ok(clo_plan_check(happened, cost, CLO_CHECK_MEASURED));
    assert_true(clo_plan_makespan_ns(happened) >= planned_ns);
    assert_true(clo_plan_makespan_ns(happened) <= result.makespan_ns);
    assert_true(clo_runtime_record_read(runtime, 0, records, 64, NULL) > 0);
    assert_true(records[0].finish_ns - records[0].start_ns >= 20 * 300000); /* on the machine's clock */
    assert_true(records[0].start_ns >= before_ns);
    clo_plan_destroy(happened);
    clo_trace_destroy(trace);
    clo_job_destroy(job);
    clo_runtime_destroy(runtime);
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
}

/* The makespan of the next run of `job` as its trace has it. */
static int64_t traced_ns(clo_job *job, const clo_cost *cost)
{
    clo_plan *happened;
    clo_trace *trace;

    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    ok(clo_job_trace(job, &trace));
    ok(clo_trace_to_plan(trace, cost, &happened));
    int64_t makespan_ns = clo_plan_makespan_ns(happened);
    clo_plan_destroy(happened);
    clo_trace_destroy(trace);
    return makespan_ns;
}

/* Sleepers never wake up at the very ns; if that were carried on, chains of tasks would be late by the sum. Only a
 * body that loses its CPU half way can make a run longer. */
static void late_wake_ups_are_not_carried_from_task_to_task(void **state)
{
    (void)state;
    clo_task task = {.work_ns = 50000};
    clo_graph *graph = scene_layers(30, 4, &task);
    clo_platform *platform = scene_platform(4, 1);
    clo_runtime *runtime = stretched(platform, 40);
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    bool was_exact = false;
    clo_plan *plan;
    clo_cost *cost;
    clo_job *job;

    ok(clo_cost_create(graph, platform, &cost));
    ok(clo_plan_create(cost, NULL, &plan));
    config.plan = plan;
    ok(clo_job_create(runtime, cost, &config, &job));
    for (int run = 0; run < 500 && !was_exact; run++)
        was_exact = traced_ns(job, cost) == clo_plan_makespan_ns(plan);
    assert_true(was_exact);
    clo_job_destroy(job);
    clo_runtime_destroy(runtime);
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
}

static int burn(const clo_call *call)
{
    int64_t end_ns = clo_clock_ns() + 2000000;

    (void)call;
    while (clo_clock_ns() < end_ns) /* ends: time passes */
        continue;
    return 0;
}

static void a_stretched_body_has_that_much_longer_and_what_it_takes_more_counts(void **state)
{
    (void)state;
    clo_task task = {.body = burn, .work_ns = 1000000};
    fixture f = start(1, scene_layers(5, 1, &task), CLO_CLOCK_VIRTUAL);
    clo_runtime *wide = stretched(f.platform, 20), *narrow = stretched(f.platform, 1);
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job_result slow = CLO_JOB_RESULT_INIT, quick = CLO_JOB_RESULT_INIT;
    clo_job *job;

    ok(clo_job_create(wide, f.cost, &config, &job));
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, &slow));
    clo_job_destroy(job);
    ok(clo_job_create(narrow, f.cost, &config, &job));
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, &quick));
    clo_job_destroy(job);
    assert_true(quick.makespan_ns >= 10000000); /* 5 bodies of 2 ms, though their tasks are of 1 ms */
    assert_true(quick.emulation_error >= 1);
    assert_true(slow.makespan_ns >= 5000000); /* 2 ms are 0.1 ms in stretched time: padded to 1 ms */
    clo_runtime_destroy(wide);
    clo_runtime_destroy(narrow);
    stop(&f);
}

static void a_cancelled_job_does_not_sleep_to_the_end_of_stretched_time(void **state)
{
    (void)state;
    clo_task task = {.work_ns = 1000000000};
    fixture f = start(1, scene_layers(2, 1, &task), CLO_CLOCK_VIRTUAL);
    clo_runtime *runtime = stretched(f.platform, CLO_DILATE_MAX); /* 11 days a task */
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    ok(clo_job_create(runtime, f.cost, &config, &job));
    ok(clo_job_submit(job));
    clo_job_cancel(job);
    assert_int_equal(clo_job_wait(job, NULL), CLO_ERR_CANCELLED);
    clo_job_destroy(job);
    clo_runtime_destroy(runtime);
    stop(&f);
}

static void only_the_padded_clock_is_stretched_and_only_jobs_without_periods(void **state)
{
    (void)state;
    clo_task task = {.work_ns = 1000};
    fixture f = start(1, scene_layers(2, 1, &task), CLO_CLOCK_VIRTUAL);
    clo_runtime_config wrong = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_runtime *runtime = NULL;
    clo_job *job;

    wrong.dilate = 2;
    fails(CLO_ERR_ARGUMENT, "dilate is 2; only CLO_CLOCK_PADDED", clo_runtime_create(f.platform, &wrong, &runtime));
    wrong.clock = CLO_CLOCK_PADDED;
    wrong.dilate = CLO_DILATE_MAX + 1;
    fails(CLO_ERR_LIMIT, "dilate is 1000001; at most 1000000", clo_runtime_create(f.platform, &wrong, &runtime));
    assert_null(runtime);
    runtime = stretched(f.platform, 2);
    config.period_ns = 1000000;
    config.releases = 1;
    fails(CLO_ERR_UNSUPPORTED, "kept in real time", clo_job_create(runtime, f.cost, &config, &job));
    config.period_ns = 0;
    config.releases = 0;
    config.task_limit_ns = 1;
    fails(CLO_ERR_UNSUPPORTED, "kept in real time", clo_job_create(runtime, f.cost, &config, &job));
    clo_runtime_destroy(runtime);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stretched_clock_reports_the_times_of_the_plan),
        cmocka_unit_test(late_wake_ups_are_not_carried_from_task_to_task),
        cmocka_unit_test(a_stretched_body_has_that_much_longer_and_what_it_takes_more_counts),
        cmocka_unit_test(a_cancelled_job_does_not_sleep_to_the_end_of_stretched_time),
        cmocka_unit_test(only_the_padded_clock_is_stretched_and_only_jobs_without_periods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
