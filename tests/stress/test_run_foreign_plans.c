/* Plans and traces with the cost of another graph or platform, with absurd times, and with times that were emulated. */
#include "support.h"

#include "plan/plan.h"
#include "running.h"
#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CHART CLO_BINARY "/test_run_foreign_plans.out"

static clo_graph *graph_of(uint32_t tasks, uint32_t instances)
{
    clo_task task = {.body = count_call, .work_ns = 1000, .instances = instances};
    clo_graph *graph;

    ok(clo_graph_create("g", &graph));
    for (uint32_t i = 0; i < tasks; i++)
        ok(clo_graph_add_task(graph, &task, NULL));
    for (uint32_t i = 1; i < tasks; i++)
        ok(clo_graph_add_edge(graph, i - 1, i, 1000));
    ok(clo_graph_seal(graph));
    return graph;
}

static clo_trace *trace_of(const clo_cost *cost)
{
    clo_trace *trace;

    ok(clo_simulate(cost, NULL, NULL, &trace, NULL));
    return trace;
}

/* Every call that takes a plan with the cost of `f`, which is not the plan's. */
static void hold_plan_refused(const fixture *f, const clo_plan *plan, const char *why)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_sim_config sim = CLO_SIM_CONFIG_INIT;
    clo_plan_metrics metrics = CLO_PLAN_METRICS_INIT;
    clo_plan *own;
    clo_job *job = NULL;
    size_t bytes;
    char *text;

    fails(CLO_ERR_ARGUMENT, why, clo_plan_matches(plan, f->cost));
    config.plan = sim.plan = plan;
    fails(CLO_ERR_ARGUMENT, why, clo_job_create(f->runtime, f->cost, &config, &job));
    fails(CLO_ERR_ARGUMENT, why, clo_job_memory_bytes(f->runtime, f->cost, &config, &bytes));
    fails(CLO_ERR_ARGUMENT, why, clo_simulate(f->cost, &sim, NULL, NULL, NULL));
    fails(CLO_ERR_ARGUMENT, why, clo_plan_measure(plan, f->cost, &metrics));
    fails(CLO_ERR_ARGUMENT, why, clo_plan_gantt_text(plan, f->cost, 0, &text));
    fails(CLO_ERR_ARGUMENT, why, clo_plan_gantt_svg(plan, f->cost, NULL, CHART));
    fails(CLO_ERR_INVALID, "", clo_plan_check(plan, f->cost, CLO_CHECK_FULL));
    fails(CLO_ERR_INVALID, "", clo_plan_check(plan, f->cost, CLO_CHECK_MEASURED));
    assert_null(job);

    ok(clo_plan_create(f->cost, NULL, &own));
    job = make_job(f, NULL, own);
    fails(CLO_ERR_ARGUMENT, why, clo_job_swap_plan(job, plan));
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    clo_job_destroy(job);
    clo_plan_destroy(own);
}

static void hold_trace_refused(const clo_cost *cost, const clo_trace *trace)
{
    clo_sim_config sim = CLO_SIM_CONFIG_INIT;
    clo_plan *plan = NULL;

    sim.recorded = trace;
    fails(CLO_ERR_ARGUMENT, "another graph or platform", clo_trace_to_plan(trace, cost, &plan));
    fails(CLO_ERR_ARGUMENT, "another graph or platform", clo_trace_write_chrome(trace, cost, NULL, CHART));
    fails(CLO_ERR_ARGUMENT, "another graph or platform", clo_simulate(cost, &sim, NULL, NULL, NULL));
    assert_null(plan);
}

static void a_plan_or_trace_of_another_platform_is_refused(void **state)
{
    (void)state;
    fixture f = start(2, graph_of(40, 1), CLO_CLOCK_REAL);
    clo_platform *wide = scene_platform(64, 0);
    clo_cost *cost;
    clo_plan *plan;

    ok(clo_cost_create(f.graph, wide, &cost));
    ok(clo_plan_create(cost, NULL, &plan));
    clo_trace *trace = trace_of(cost);
    hold_plan_refused(&f, plan, "another platform: of 64 executors, this one has 2");
    hold_trace_refused(f.cost, trace);
    clo_trace_destroy(trace);
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    clo_platform_destroy(wide);
    stop(&f);
}

static void a_plan_or_trace_of_another_graph_is_refused(void **state)
{
    (void)state;
    static const uint32_t shapes[][2] = {{3, 500}, {4, 2}, {2, 2}}; /* more instances, more tasks, fewer */
    fixture f = start(2, graph_of(3, 2), CLO_CLOCK_REAL);

    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        clo_graph *other = graph_of(shapes[i][0], shapes[i][1]);
        clo_cost *cost;
        clo_plan *plan;
        ok(clo_cost_create(other, f.platform, &cost));
        ok(clo_plan_create(cost, NULL, &plan));
        clo_trace *trace = trace_of(cost);
        hold_plan_refused(&f, plan, "another graph");
        hold_trace_refused(f.cost, trace);
        clo_trace_destroy(trace);
        clo_plan_destroy(plan);
        clo_cost_destroy(cost);
        clo_graph_destroy(other);
    }
    stop(&f);
}

static void a_plan_must_not_place_a_task_where_it_cannot_run(void **state)
{
    (void)state;
    clo_task task = {.body = count_call, .work_ns = 1000, .executors_mask = 1};
    fixture f = start(2, scene_layers(1, 1, &task), CLO_CLOCK_REAL);
    const clo_placement wrong = {.executor = 1, .finish_ns = 1000};
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_sim_config sim = CLO_SIM_CONFIG_INIT;
    clo_plan *plan;
    clo_job *job;

    ok(clo_plan_from_placements(f.cost, NULL, &wrong, 1, &plan));
    config.plan = sim.plan = plan;
    fails(CLO_ERR_INVALID, "'e1', which cannot run it", clo_job_create(f.runtime, f.cost, &config, &job));
    fails(CLO_ERR_INVALID, "'e1', which cannot run it", clo_simulate(f.cost, &sim, NULL, NULL, NULL));
    clo_plan_destroy(plan);
    stop(&f);
}

/* Two tasks at the end of time, the second after the first with a transfer between: sums of times do not fit. */
static void absurd_times_of_a_plan_stop_at_the_end_of_time(void **state)
{
    (void)state;
    const clo_placement list[2] = {{0, 0, 0, 0, INT64_MAX - 20, INT64_MAX - 10},
                                   {1, 0, 1, 0, INT64_MAX - 5, INT64_MAX}};
    fixture f = start(2, graph_of(2, 1), CLO_CLOCK_REAL);
    clo_sim_config sim = CLO_SIM_CONFIG_INIT;
    clo_plan_metrics metrics = CLO_PLAN_METRICS_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_plan *plan;
    char *text;

    ok(clo_plan_from_placements(f.cost, NULL, list, 2, &plan));
    fails(CLO_ERR_INVALID, "", clo_plan_check(plan, f.cost, CLO_CHECK_FULL));
    ok(clo_plan_check(plan, f.cost, CLO_CHECK_MEASURED));
    ok(clo_plan_measure(plan, f.cost, &metrics));
    assert_int_equal(metrics.makespan_ns, INT64_MAX);
    ok(clo_plan_gantt_text(plan, f.cost, 0, &text));
    ok(clo_plan_gantt_svg(plan, f.cost, NULL, CHART));
    free(text);
    sim.plan = plan;
    ok(clo_simulate(f.cost, &sim, &result, NULL, NULL));
    assert_true(result.makespan_ns > 2000 && result.makespan_ns < 10000); /* the order counts, not the times */
    clo_job *job = make_job(&f, NULL, plan);
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    clo_job_destroy(job);
    clo_plan_destroy(plan);
    stop(&f);
}

static void hold_file_says(const char *word, const char *other)
{
    static char text[1 << 16];
    FILE *file = fopen(CHART, "rb");

    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    if (strstr(text, word) == NULL || strstr(text, other) != NULL)
        fail_msg("not '%s', or '%s', in: %.3000s", word, other, text);
}

/* Wherever a run is shown, it is said whether its times are the machine's own. */
static void hold_mark(const clo_cost *cost, const clo_trace *trace, bool is_emulated)
{
    const char *word = is_emulated ? "emulated" : "measured", *other = is_emulated ? "measured" : "emulated";
    clo_plan *plan;
    char *text;

    assert_int_equal(trace->is_emulated, is_emulated);
    ok(clo_trace_write_chrome(trace, cost, NULL, CHART));
    hold_file_says(word, other);
    ok(clo_trace_to_plan(trace, cost, &plan));
    assert_int_equal(plan->is_emulated, is_emulated);
    assert_string_equal(clo_plan_planner(plan), word);
    ok(clo_plan_gantt_svg(plan, cost, NULL, CHART));
    hold_file_says(word, other);
    ok(clo_plan_gantt_text(plan, cost, 0, &text));
    assert_non_null(strstr(text, word));
    assert_null(strstr(text, other));
    free(text);
    clo_plan_destroy(plan);
}

static void a_run_carries_into_plan_and_pictures_whether_it_was_emulated(void **state)
{
    (void)state;
    static const clo_clock clocks[] = {CLO_CLOCK_REAL, CLO_CLOCK_PADDED, CLO_CLOCK_VIRTUAL};

    for (size_t i = 0; i < 3; i++) {
        fixture f = start(2, graph_of(3, 2), clocks[i]);
        clo_job_config config = CLO_JOB_CONFIG_INIT;
        clo_plan *plan;
        clo_trace *trace, *again;
        clo_job *job;
        ok(clo_plan_create(f.cost, NULL, &plan));
        assert_false(plan->is_emulated);
        config.plan = plan;
        config.period_ns = clocks[i] == CLO_CLOCK_VIRTUAL ? 0 : 2000000;
        config.releases = clocks[i] == CLO_CLOCK_VIRTUAL ? 0 : 3;
        ok(clo_job_create(f.runtime, f.cost, &config, &job));
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, NULL));
        ok(clo_job_trace(job, &trace));
        hold_mark(f.cost, trace, clocks[i] != CLO_CLOCK_REAL);

        clo_sim_config sim = CLO_SIM_CONFIG_INIT;
        sim.plan = plan;
        ok(clo_simulate(f.cost, &sim, NULL, &again, NULL));
        hold_mark(f.cost, again, true);
        clo_trace_destroy(again);
        sim.recorded = trace; /* the recorded run's own times */
        ok(clo_simulate(f.cost, &sim, NULL, &again, NULL));
        hold_mark(f.cost, again, clocks[i] != CLO_CLOCK_REAL);
        clo_trace_destroy(again);
        clo_trace_destroy(trace);
        clo_job_destroy(job);
        clo_plan_destroy(plan);
        stop(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_or_trace_of_another_platform_is_refused),
        cmocka_unit_test(a_plan_or_trace_of_another_graph_is_refused),
        cmocka_unit_test(a_plan_must_not_place_a_task_where_it_cannot_run),
        cmocka_unit_test(absurd_times_of_a_plan_stop_at_the_end_of_time),
        cmocka_unit_test(a_run_carries_into_plan_and_pictures_whether_it_was_emulated),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    (void)unlink(CHART);
    return failed;
}
