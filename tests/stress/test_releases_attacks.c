/* Releases in flight under attack: threads that submit, cancel, look and wait at once, the most releases in flight,
 * numbers at their limits, misses, runtimes that go away, jobs made and dropped in a loop. After each attack a series
 * runs whole. */
#define _GNU_SOURCE
#include "support.h"

#include "plan/facts.h"
#include "releases_scene.h"

#include <pthread.h>
#include <sched.h>

#define SEEDS (SANITIZED ? 6u : 20u)

/* A whole series of the scene's job. */
static void runs_whole(releases_scene *s)
{
    releases_clear(s);
    ok(clo_job_submit(s->job));
    ok(clo_job_wait(s->job, NULL));
    assert_int_equal(atomic_load(&s->wrong), 0);
    assert_int_equal(atomic_load(&s->calls), s->graph->instances * s->releases);
    releases_check_order(s);
}

static void make_job(releases_scene *s, const clo_job_config *like)
{
    clo_job_config config = *like;

    config.plan = s->plan;
    if (config.releases_in_flight == 0)
        config.releases_in_flight = releases_slots(s) + 1;
    s->in_flight = true;
    ok(clo_job_create(s->runtime, s->cost, &config, &s->job));
}

typedef struct attack {
    clo_job *job;
    uint64_t seed;
    _Atomic uint32_t is_over;
    _Atomic uint64_t submits, cancels;
} attack;

/* Any status may come where threads are at odds; that each call comes back is what is tested. */
static void any(clo_status status)
{
    (void)status;
}

static void *submit_and_wait(void *argument)
{
    attack *a = argument;

    for (uint32_t i = 0; i < 60 || atomic_load(&a->cancels) == 0; i++) { /* the other one comes to cancel */
        if (clo_job_submit(a->job) == CLO_OK)
            atomic_fetch_add(&a->submits, 1);
        if (i % 3 == 0)
            any(clo_job_wait_for(a->job, 1000, NULL));
        else
            any(clo_job_wait(a->job, NULL));
    }
    atomic_store(&a->is_over, 1);
    return NULL;
}

static void *cancel_and_look(void *argument)
{
    attack *a = argument;
    clo_job_timing timing = CLO_JOB_TIMING_INIT;
    clo_trace *trace;

    while (atomic_load(&a->is_over) == 0) { /* the other one comes to its end */
        clo_job_cancel(a->job);
        atomic_fetch_add(&a->cancels, 1);
        any(clo_job_timing_read(a->job, &timing));
        if (clo_job_trace(a->job, &trace) == CLO_OK)
            clo_trace_destroy(trace);
        if (clo_job_submit(a->job) == CLO_OK)
            atomic_fetch_add(&a->submits, 1);
        sched_yield();
    }
    return NULL;
}

static void threads_submit_cancel_and_look_at_once(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        releases_scene s;
        clo_job_config config = CLO_JOB_CONFIG_INIT;
        pthread_t threads[2];

        releases_open(&s, seed, RELEASES_FEATURES | RANDOM_SMALL, 0, 30, CLO_CLOCK_REAL);
        config.releases = 30;
        config.period_ns = seed % 2 ? 5000 : 0;
        make_job(&s, &config);
        releases_clear(&s);
        attack a = {.job = s.job, .seed = seed};
        assert_int_equal(pthread_create(&threads[0], NULL, submit_and_wait, &a), 0);
        assert_int_equal(pthread_create(&threads[1], NULL, cancel_and_look, &a), 0);
        for (int t = 0; t < 2; t++)
            assert_int_equal(pthread_join(threads[t], NULL), 0);
        any(clo_job_wait(s.job, NULL));
        assert_true(atomic_load(&a.submits) > 0 && atomic_load(&a.cancels) > 0);
        runs_whole(&s);
        releases_close(&s);
    }
}

static void as_many_in_flight_as_there_may_be(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS / 2; seed++) {
        releases_scene s;
        clo_job_config config = CLO_JOB_CONFIG_INIT;
        clo_job_result ran = CLO_JOB_RESULT_INIT, simulated = CLO_JOB_RESULT_INIT;
        clo_sim_config sim = CLO_SIM_CONFIG_INIT;

        releases_open(&s, seed, RELEASES_FEATURES | RANDOM_SMALL, 0, 2 * CLO_IN_FLIGHT_MAX + 3,
                      seed % 2 ? CLO_CLOCK_REAL : CLO_CLOCK_VIRTUAL);
        config.releases = s.releases;
        config.releases_in_flight = CLO_IN_FLIGHT_MAX;
        make_job(&s, &config);
        runs_whole(&s);
        ok(clo_job_wait(s.job, &ran));
        sim.plan = s.plan;
        sim.releases_in_flight = CLO_IN_FLIGHT_MAX;
        sim.releases = s.releases;
        ok(clo_simulate(s.cost, &sim, &simulated, NULL, NULL));
        assert_int_equal(simulated.executed, ran.executed);
        if (seed % 2 == 0)
            assert_int_equal(simulated.makespan_ns, ran.makespan_ns);
        releases_close(&s);
    }
}

/* So many that adding a few more would start again at 0. */
static void a_number_of_releases_without_end_is_cancelled(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        releases_scene s;
        clo_job_config config = CLO_JOB_CONFIG_INIT;

        releases_open(&s, seed, RELEASES_FEATURES, 0, 1, CLO_CLOCK_REAL);
        config.releases = UINT64_MAX - seed % 5;
        config.period_ns = seed % 3 == 2 ? 2000 : 0;
        make_job(&s, &config);
        releases_clear(&s);
        ok(clo_job_submit(s.job));
        while (atomic_load(&s.calls) < 300) /* it never ends by itself */
            sched_yield();
        clo_job_cancel(s.job);
        fails(CLO_ERR_CANCELLED, "", clo_job_wait(s.job, NULL));
        releases_close(&s);
    }
}

static void count_miss(void *argument, clo_job *job, const clo_miss *miss)
{
    (void)job;
    if (miss->kind == CLO_MISS_DEADLINE)
        atomic_fetch_add((_Atomic uint64_t *)argument, 1);
}

/* Nobody ends within a nanosecond: every release is missed and reported once. */
static void every_missed_deadline_is_reported_once(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        releases_scene s;
        clo_job_config config = CLO_JOB_CONFIG_INIT;
        clo_job_timing timing = CLO_JOB_TIMING_INIT;
        _Atomic uint64_t misses = 0;

        releases_open(&s, seed, RELEASES_FEATURES | RANDOM_SMALL, 0, 100, CLO_CLOCK_REAL);
        config.releases = 100;
        config.period_ns = 1000 + (int64_t)seed * 1000;
        config.deadline_ns = 1;
        config.miss = count_miss;
        config.miss_argument = &misses;
        make_job(&s, &config);
        for (uint64_t run = 1; run <= 2; run++) {
            runs_whole(&s);
            ok(clo_job_timing_read(s.job, &timing));
            assert_int_equal(timing.finished, 100);
            assert_int_equal(atomic_load(&misses), 100 * run);
            assert_int_equal(timing.missed, 100);
        }
        releases_close(&s);
    }
}

static void cancel_after(releases_scene *s, uint64_t calls)
{
    releases_clear(s);
    ok(clo_job_submit(s->job));
    while (atomic_load(&s->calls) < calls)
        sched_yield();
    fails(CLO_ERR_TIMEOUT, "", clo_job_wait_for(s->job, 1000, NULL));
    clo_job_cancel(s->job);
    fails(CLO_ERR_CANCELLED, "", clo_job_wait(s->job, NULL));
}

static void periods_at_their_limits(void **state)
{
    (void)state;
    releases_scene s;
    clo_pipeline_config pipeline = CLO_PIPELINE_CONFIG_INIT;
    clo_job_config config = CLO_JOB_CONFIG_INIT;

    releases_open(&s, 4, RELEASES_FEATURES | RANDOM_SMALL, 0, 1, CLO_CLOCK_REAL);
    config.plan = s.plan;
    config.releases_in_flight = releases_slots(&s);
    config.period_ns = -1;
    fails(CLO_ERR_ARGUMENT, "period_ns is negative", clo_job_create(s.runtime, s.cost, &config, &s.job));
    config.period_ns = 1;
    fails(CLO_ERR_ARGUMENT, "period_ns is 1", clo_job_create(s.runtime, s.cost, &config, &s.job));
    config.period_ns = 1000;
    config.deadline_ns = INT64_MAX;
    fails(CLO_ERR_ARGUMENT, "deadline_ns is more than", clo_job_create(s.runtime, s.cost, &config, &s.job));
    config.period_ns = INT64_MAX;
    config.releases = 3;
    make_job(&s, &config);
    cancel_after(&s, 1); /* what the plan has behind the second release waits for it, which is due in 292 years */
    clo_job_destroy(s.job);
    clo_plan_destroy(s.plan);
    pipeline.interval_ns = INT64_MAX;
    ok(clo_plan_pipeline(s.cost, &pipeline, &s.plan));
    config.releases_in_flight = 1;
    make_job(&s, &config);
    cancel_after(&s, s.graph->instances);
    assert_int_equal(atomic_load(&s.calls), s.graph->instances);
    releases_close(&s);
}

static clo_graph *two_in_a_row(void)
{
    clo_graph *graph;

    ok(clo_graph_create("two", &graph));
    for (uint32_t t = 0; t < 2; t++)
        ok(clo_graph_add_task(graph, &(clo_task){.work_ns = 1000, .output_bytes = 8}, NULL));
    ok(clo_graph_add_edge(graph, 0, 1, 0));
    ok(clo_graph_seal(graph));
    return graph;
}

/* Two in a row, on an executor each; the second begins at 5000. */
static void intervals_at_their_limits(void **state)
{
    (void)state;
    clo_graph *graph = two_in_a_row();
    clo_platform *platform;
    clo_cost *cost;
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_trace *trace;
    static const int64_t intervals_ns[] = {INT64_MAX, INT64_MAX - 1, INT64_MAX / 2 + 1, INT64_MAX / 4, 5000, 1000};

    ok(clo_platform_open("uniform:2", &platform));
    ok(clo_cost_create(graph, platform, &cost));
    const clo_placement placements[] = {{.task = 0, .executor = 0, .start_ns = 4000, .finish_ns = 5000},
                                        {.task = 1, .executor = 1, .start_ns = 5000, .finish_ns = 6000}};
    for (size_t i = 0; i < sizeof intervals_ns / sizeof intervals_ns[0]; i++) {
        clo_plan *plan;
        ok(clo_plan_from_interval(cost, NULL, placements, 2, intervals_ns[i], &plan));
        ok(clo_plan_check(plan, cost, CLO_CHECK_FULL));
        config.plan = plan;
        config.releases_in_flight = clo_plan_in_flight(plan);
        config.releases = 10;
        ok(clo_simulate(cost, &config, &result, &trace, NULL));
        ok(clo_pipeline_check_period(trace, plan, cost, config.releases_in_flight, 0));
        /* One buffer of the first task's output: it waits for its reader. */
        assert_int_equal(result.makespan_ns, intervals_ns[i] > 1000 ? 20000 : 11000);
        clo_trace_destroy(trace);
        clo_plan_destroy(plan);
    }
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
}

static void jobs_are_made_and_dropped_while_they_fly(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        releases_scene s;
        clo_job_config config = CLO_JOB_CONFIG_INIT;

        releases_open(&s, seed, RELEASES_FEATURES | RANDOM_SMALL, 0, 30, CLO_CLOCK_REAL);
        for (uint32_t round = 0; round < 40; round++) {
            config.releases = round % 4 == 0 ? 0 : 30;
            config.period_ns = round % 3 == 0 ? 3000 : 0;
            make_job(&s, &config);
            releases_clear(&s);
            if (round % 5 > 0)
                ok(clo_job_submit(s.job));
            if (round % 5 > 2)
                clo_job_cancel(s.job);
            clo_job_destroy(s.job);
        }
        config.releases = 30;
        make_job(&s, &config);
        runs_whole(&s);
        if (seed % 2 == 0) { /* the runtime goes, and takes it along as it flies */
            releases_clear(&s);
            ok(clo_job_submit(s.job));
            clo_runtime_destroy(s.runtime);
            s.runtime = NULL;
            s.job = NULL;
        }
        releases_close(&s);
    }
}

/* A body fails while another thread cancels; the next series is whole. */
static void a_failure_and_a_cancel_at_once(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        releases_scene s;
        clo_job_config config = CLO_JOB_CONFIG_INIT;

        releases_open(&s, seed, RELEASES_FEATURES | RANDOM_SMALL, 0, 60, CLO_CLOCK_REAL);
        config.releases = 60;
        make_job(&s, &config);
        for (uint32_t round = 0; round < 20; round++) {
            releases_clear(&s);
            s.fail_instance = (uint32_t)((seed + round) % s.graph->instances);
            s.fail_release = round * 3;
            ok(clo_job_submit(s.job));
            while (atomic_load(&s.calls) < round * s.graph->instances &&
                   clo_job_wait_for(s.job, 0, NULL) == CLO_ERR_TIMEOUT)
                sched_yield();
            clo_job_cancel(s.job);
            clo_status status = clo_job_wait(s.job, NULL);
            assert_true(status == CLO_ERR_TASK || status == CLO_ERR_CANCELLED);
        }
        s.fail_instance = CLO_NONE;
        runs_whole(&s);
        releases_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_at_their_limits),
        cmocka_unit_test(periods_at_their_limits),
        cmocka_unit_test(every_missed_deadline_is_reported_once),
        cmocka_unit_test(as_many_in_flight_as_there_may_be),
        cmocka_unit_test(threads_submit_cancel_and_look_at_once),
        cmocka_unit_test(jobs_are_made_and_dropped_while_they_fly),
        cmocka_unit_test(a_failure_and_a_cancel_at_once),
        cmocka_unit_test(a_number_of_releases_without_end_is_cancelled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
