/* Releases in flight: what they put out is what releases put out one at a time, each executor goes through them in the
 * order of the plan modulo its interval, and cuts, periods and bad input do what job.h says. */
#define _GNU_SOURCE
#include "support.h"

#include "fault.h"
#include "graph/graph.h"
#include "plan/facts.h"
#include "releases_scene.h"
#include "sample.h"
#include "scene.h"

#include <sched.h>

/* A third of them at a time, which the commit draws (sample.h). */
#define SEEDS (SANITIZED ? 14u : 42u)
#define PARTS (SANITIZED ? 1u : 3u)

static const uint32_t limits[] = {0, 1, 2, 3, 0, 5, 0};

/* Runs the scene's job; what it logged comes back. */
static uint64_t *run_logged(releases_scene *s, uint64_t runs, uint64_t *hash)
{
    size_t bytes = s->graph->instances * (size_t)s->releases * sizeof *s->log;
    uint64_t *log = malloc(bytes);

    assert_non_null(log);
    releases_clear(s);
    for (uint64_t run = 0; run < runs; run++) {
        ok(clo_job_submit(s->job));
        ok(clo_job_wait(s->job, NULL));
    }
    assert_int_equal(atomic_load(&s->wrong), 0);
    assert_int_equal(atomic_load(&s->calls), s->graph->instances * s->releases);
    memcpy(log, s->log, bytes);
    *hash = clo_job_output_hash(s->job);
    return log;
}

static void equals_one_at_a_time(uint64_t seed, uint64_t releases, unsigned features)
{
    releases_scene s;
    uint64_t want_hash, hash;

    releases_open(&s, seed, features, limits[seed % 7], releases, CLO_CLOCK_REAL);
    ok(releases_job(&s, 0, 0, 0));
    uint64_t *want = run_logged(&s, releases, &want_hash);
    clo_job_destroy(s.job);
    ok(releases_job(&s, releases_slots(&s) + (uint32_t)(seed % 3), releases, 0));
    for (int again = 0; again < 2; again++) {
        uint64_t *log = run_logged(&s, 1, &hash);
        assert_memory_equal(log, want, s.graph->instances * (size_t)releases * sizeof *log);
        assert_true(hash == want_hash);
        releases_check_order(&s);
        free(log);
    }
    free(want);
    releases_close(&s);
}

static void a_thousand_releases_put_out_what_they_do_one_at_a_time(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < (SANITIZED ? 3u : 7u); seed++)
        equals_one_at_a_time(seed, SANITIZED || seed > 0 ? 200 : 1000, RELEASES_FEATURES | RANDOM_SMALL);
}

static void random_graphs_put_out_what_they_do_one_at_a_time(void **state)
{
    (void)state;
    for (uint64_t seed = sample_first(SEEDS, PARTS), end = seed + sample_size(SEEDS, PARTS); seed < end; seed++)
        equals_one_at_a_time(seed, seed % 5 == 0 ? 1 : 40,
                             RELEASES_FEATURES | (seed % 4 == 3 ? (unsigned)RANDOM_STAGES : 0u));
}

/* Nothing starts later than planned, so nothing takes longer; and no executor does two things at once. */
static void under_the_virtual_clock_the_interval_is_kept(void **state)
{
    (void)state;
    for (uint64_t seed = sample_first(SEEDS, PARTS), end = seed + sample_size(SEEDS, PARTS); seed < end; seed++) {
        releases_scene s;
        clo_job_result result = CLO_JOB_RESULT_INIT;
        clo_interval_bound bound = CLO_INTERVAL_BOUND_INIT;
        const uint64_t releases = 50;

        releases_open(&s, seed, RELEASES_FEATURES | (seed % 4 == 3 ? (unsigned)RANDOM_STAGES : 0u), limits[seed % 7],
                      releases, CLO_CLOCK_VIRTUAL);
        ok(releases_job(&s, releases_slots(&s), releases, 0));
        ok(clo_cost_interval_bound(s.cost, &bound));
        for (int again = 0; again < 2; again++) {
            releases_clear(&s);
            ok(clo_job_submit(s.job));
            ok(clo_job_wait(s.job, &result));
            assert_int_equal(result.executed, s.graph->instances * releases);
            assert_true(result.makespan_ns <=
                        (int64_t)(releases - 1) * clo_plan_interval_ns(s.plan) + clo_plan_makespan_ns(s.plan));
            assert_true(result.makespan_ns >= (int64_t)releases * bound.best_ns);
            releases_check_order(&s);
        }
        releases_close(&s);
    }
}

static void a_failure_in_the_middle_ends_the_series_and_the_next_one_is_whole(void **state)
{
    (void)state;
    for (uint64_t seed = sample_first(SEEDS, PARTS), end = seed + sample_size(SEEDS, PARTS); seed < end; seed++) {
        releases_scene s;
        clo_job_result result = CLO_JOB_RESULT_INIT;
        uint64_t hash;

        releases_open(&s, seed, RELEASES_FEATURES, limits[seed % 7], 60, CLO_CLOCK_REAL);
        ok(releases_job(&s, releases_slots(&s) + 1, 60, 0));
        releases_clear(&s);
        s.fail_instance = (uint32_t)(seed * 7 % s.graph->instances);
        s.fail_release = seed % 60;
        ok(clo_job_submit(s.job));
        fails(CLO_ERR_TASK, "", clo_job_wait(s.job, &result));
        assert_int_equal(result.failed_task, s.graph->task_of[s.fail_instance]);
        assert_int_equal(result.failed_code, 7);
        assert_int_equal(s.seen[s.fail_instance], s.fail_release + 1);
        for (uint32_t i = 0; i < s.graph->instances; i++)
            assert_true(s.seen[i] <= s.fail_release + 1 + 2 * releases_slots(&s) + 1);
        s.fail_instance = CLO_NONE;
        free(run_logged(&s, 1, &hash));
        releases_check_order(&s);
        releases_close(&s);
    }
}

static void a_series_without_end_is_cancelled(void **state)
{
    (void)state;
    for (uint64_t seed = sample_first(SEEDS, PARTS), end = seed + sample_size(SEEDS, PARTS); seed < end; seed++) {
        releases_scene s;
        clo_job_timing timing = CLO_JOB_TIMING_INIT;
        int64_t period_ns = seed % 3 == 0 ? 20000 : 0;

        releases_open(&s, seed, RELEASES_FEATURES | RANDOM_SMALL, limits[seed % 7], 1, CLO_CLOCK_REAL);
        ok(releases_job(&s, releases_slots(&s), 0, period_ns));
        for (int again = 0; again < 3; again++) {
            releases_clear(&s);
            ok(clo_job_submit(s.job));
            while (atomic_load(&s.calls) < (uint64_t)again * 50) /* it never ends by itself */
                sched_yield();
            clo_job_cancel(s.job);
            fails(CLO_ERR_CANCELLED, "", clo_job_wait(s.job, NULL));
            ok(clo_job_timing_read(s.job, &timing));
            assert_int_equal(timing.finished, timing.released);
            assert_int_equal(atomic_load(&s.wrong), 0);
        }
        if (seed % 2 == 0) {
            releases_clear(&s);
            ok(clo_job_submit(s.job)); /* destroyed while it runs */
        }
        releases_close(&s);
    }
}

static void periods_are_kept_and_counted(void **state)
{
    (void)state;
    for (uint64_t seed = sample_first(SEEDS / 2, PARTS), end = seed + sample_size(SEEDS / 2, PARTS); seed < end;
         seed++) {
        releases_scene s;
        clo_job_timing timing = CLO_JOB_TIMING_INIT;
        uint64_t hash;

        releases_open(&s, seed, RELEASES_FEATURES | RANDOM_SMALL, limits[seed % 7], 100, CLO_CLOCK_REAL);
        ok(releases_job(&s, releases_slots(&s), 100, 10000 + (int64_t)seed * 1000));
        free(run_logged(&s, 1, &hash));
        releases_check_order(&s);
        ok(clo_job_timing_read(s.job, &timing));
        assert_int_equal(timing.released, 100);
        assert_int_equal(timing.finished, 100);
        assert_int_equal(timing.response_ns.count, 100);
        assert_int_equal(timing.start_ns.count, 100);
        assert_true(timing.jitter_ns.count == 100 && timing.skipped == 0 && timing.aborted == 0);
        releases_close(&s);
    }
}

/* Two series and a job of another kind share the workers. */
static void jobs_run_beside_each_other(void **state)
{
    (void)state;
    for (uint64_t seed = sample_first(SEEDS / 2, PARTS), end = seed + sample_size(SEEDS / 2, PARTS); seed < end;
         seed++) {
        releases_scene s;
        clo_job_config config = CLO_JOB_CONFIG_INIT;
        clo_job *other;

        releases_open(&s, seed, RELEASES_FEATURES, 0, 30, CLO_CLOCK_REAL);
        ok(releases_job(&s, releases_slots(&s), 30, 0));
        clo_graph *graph = random_graph(seed + 1000, RANDOM_SMALL);
        for (uint32_t t = 0; t < graph->tasks; t++)
            graph->rows[t].body = NULL;
        clo_cost *cost;
        ok(clo_cost_create(graph, s.platform, &cost));
        ok(clo_job_create(s.runtime, cost, &config, &other));
        releases_clear(&s);
        ok(clo_job_submit(s.job));
        for (int run = 0; run < 30; run++) {
            ok(clo_job_submit(other));
            ok(clo_job_wait(other, NULL));
        }
        ok(clo_job_wait(s.job, NULL));
        releases_check_order(&s);
        clo_job_destroy(other);
        clo_job_destroy(s.job);
        s.job = NULL;
        clo_cost_destroy(cost);
        clo_graph_destroy(graph);
        releases_close(&s);
    }
}

/* It fits exactly in the memory that was asked for, and takes nothing else. */
static void a_job_in_memory_of_the_caller_allocates_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = sample_first(SEEDS, PARTS), end = seed + sample_size(SEEDS, PARTS); seed < end; seed++) {
        releases_scene s;
        clo_job_config config = CLO_JOB_CONFIG_INIT;
        size_t bytes;

        releases_open(&s, seed, RELEASES_FEATURES, limits[seed % 7], 20, CLO_CLOCK_REAL);
        config.plan = s.plan;
        config.releases_in_flight = releases_slots(&s);
        config.releases = 20;
        ok(clo_job_memory_bytes(s.runtime, s.cost, &config, &bytes));
        config.memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
        assert_non_null(config.memory);
        config.memory_bytes = bytes - 1;
        fails(CLO_ERR_MEMORY, "memory_bytes", clo_job_create(s.runtime, s.cost, &config, &s.job));
        config.memory_bytes = bytes;
        ok(clo_job_create(s.runtime, s.cost, &config, &s.job));
        s.in_flight = true;
        fault_fail_nth(0);
        for (int again = 0; again < 3; again++) {
            releases_clear(&s);
            ok(clo_job_submit(s.job));
            ok(clo_job_wait(s.job, NULL));
        }
        assert_int_equal(fault_count(), 0);
        releases_check_order(&s);
        clo_job_destroy(s.job);
        s.job = NULL;
        free(config.memory);
        releases_close(&s);
    }
}

static clo_status make_and_drop(void *context)
{
    releases_scene *s = context;
    clo_status status = releases_job(s, releases_slots(s), 3, 0);

    if (status == CLO_OK)
        clo_job_destroy(s->job);
    s->job = NULL;
    return status;
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    releases_scene s;

    releases_open(&s, 4, RELEASES_FEATURES, 0, 3, CLO_CLOCK_REAL);
    assert_true(fault_each(make_and_drop, &s) > 3);
    releases_close(&s);
}

/* A graph of one chain of three, with outputs. */
static clo_graph *chain(uint64_t output_bytes, const clo_task *like)
{
    clo_graph *graph;

    ok(clo_graph_create("chain", &graph));
    for (uint32_t i = 0; i < 3; i++) {
        clo_task task = *like;
        task.work_ns = 1000;
        task.output_bytes = output_bytes;
        ok(clo_graph_add_task(graph, &task, NULL));
        if (i > 0)
            ok(clo_graph_add_edge(graph, i - 1, i, 0));
    }
    return graph;
}

/* The job of that graph is refused so. */
static void graph_is_refused(clo_graph *graph, const clo_job_config *like, clo_status status, const char *why)
{
    clo_platform *platform;
    clo_runtime_config runtime_config = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config config = *like;
    clo_runtime *runtime;
    clo_cost *cost;
    clo_plan *plan;
    clo_job *job;

    if (!graph->sealed)
        ok(clo_graph_seal(graph));
    ok(clo_platform_open("uniform:3", &platform));
    runtime_config.unpinned = 1;
    ok(clo_cost_create(graph, platform, &cost));
    if (clo_plan_pipeline(cost, NULL, &plan) != CLO_OK)
        ok(clo_plan_create(cost, NULL, &plan));
    ok(clo_runtime_create(platform, &runtime_config, &runtime));
    config.plan = plan;
    config.releases_in_flight = config.releases_in_flight == 0 ? 4 : config.releases_in_flight;
    config.releases = 5;
    fails(status, why, clo_job_create(runtime, cost, &config, &job));
    clo_runtime_destroy(runtime);
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
}

static void what_it_cannot_have_is_refused(void **state)
{
    (void)state;
    const clo_task plain = {0};
    const int64_t never[3] = {INT64_MAX, INT64_MAX, INT64_MAX};
    clo_job_config none = CLO_JOB_CONFIG_INIT, config = none;

    config.releases_in_flight = CLO_IN_FLIGHT_MAX + 1;
    graph_is_refused(chain(8, &plain), &config, CLO_ERR_ARGUMENT, "releases_in_flight is 1025");
    config = none;
    config.releases_in_flight = 1; /* the plan needs three */
    graph_is_refused(chain(8, &plain), &config, CLO_ERR_ARGUMENT, "releases_in_flight is 1, and the plan");
    config = none;
    config.hedge_after_ns = never;
    graph_is_refused(chain(8, &(clo_task){.duplicable = 1}), &config, CLO_ERR_ARGUMENT, "hedge_after_ns");
    config = none;
    config.period_ns = 1000000;
    config.on_miss = CLO_MISS_SKIP;
    graph_is_refused(chain(8, &plain), &config, CLO_ERR_ARGUMENT, "CLO_MISS_RUN_LATE");
    config = none;
    config.deadline_ns = 1000000;
    graph_is_refused(chain(8, &plain), &config, CLO_ERR_ARGUMENT, "a deadline without a period");
    graph_is_refused(chain((uint64_t)1 << 45, &plain), &none, CLO_ERR_LIMIT, "MiB of memory or more");
    config = none;
    config.memory_limit_bytes = 1 << 20;
    graph_is_refused(chain(1 << 20, &plain), &config, CLO_ERR_LIMIT, "memory_limit_bytes");
}

static void policies_and_plans_that_nobody_can_keep_are_refused_in_flight(void **state)
{
    (void)state;
    releases_scene s;
    clo_job_config config = CLO_JOB_CONFIG_INIT;

    releases_open(&s, 4, RELEASES_FEATURES, 0, 3, CLO_CLOCK_REAL);
    config.releases_in_flight = 2;
    config.policy = clo_policy_find("fifo");
    fails(CLO_ERR_ARGUMENT, "a policy", clo_job_create(s.runtime, s.cost, &config, &s.job));
    ok(releases_job(&s, releases_slots(&s), 3, 0));
    fails(CLO_ERR_ARGUMENT, "releases in flight", clo_job_swap_plan(s.job, s.plan));
    clo_job_destroy(s.job);
    size_t count; /* an interval that nobody can keep */
    const clo_placement *placements = clo_plan_placements(s.plan, &count);
    clo_plan *kept = s.plan;
    ok(clo_plan_from_interval(s.cost, NULL, placements, count, 1, &s.plan));
    fails(CLO_ERR_INVALID, "", releases_job(&s, CLO_IN_FLIGHT_MAX, 3, 0));
    clo_plan_destroy(s.plan);
    s.plan = kept;
    s.job = NULL;
    releases_close(&s);
}

/* A plan without an interval: the next release begins where it would end, one after another on each executor. */
static void a_plan_of_one_release_runs_in_flight_too(void **state)
{
    (void)state;
    for (uint64_t seed = sample_first(SEEDS / 2, PARTS), end = seed + sample_size(SEEDS / 2, PARTS); seed < end;
         seed++) {
        releases_scene s;
        clo_plan_config config = CLO_PLAN_CONFIG_INIT;
        clo_job_result result = CLO_JOB_RESULT_INIT;

        releases_open(&s, seed, RELEASES_FEATURES, 0, 20, seed % 2 ? CLO_CLOCK_REAL : CLO_CLOCK_VIRTUAL);
        clo_plan_destroy(s.plan);
        config.no_duplicates = 1;
        ok(clo_plan_create(s.cost, &config, &s.plan));
        ok(releases_job(&s, 1 + (uint32_t)(seed % 4), 20, 0));
        releases_clear(&s);
        ok(clo_job_submit(s.job));
        ok(clo_job_wait(s.job, &result));
        assert_int_equal(result.executed, 20 * s.graph->instances);
        assert_true(seed % 2 == 1 || result.makespan_ns <= 20 * clo_plan_makespan_ns(s.plan));
        assert_int_equal(atomic_load(&s.wrong), 0);
        releases_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_releases_put_out_what_they_do_one_at_a_time),
        cmocka_unit_test(random_graphs_put_out_what_they_do_one_at_a_time),
        cmocka_unit_test(under_the_virtual_clock_the_interval_is_kept),
        cmocka_unit_test(a_failure_in_the_middle_ends_the_series_and_the_next_one_is_whole),
        cmocka_unit_test(a_series_without_end_is_cancelled),
        cmocka_unit_test(periods_are_kept_and_counted),
        cmocka_unit_test(jobs_run_beside_each_other),
        cmocka_unit_test(a_job_in_memory_of_the_caller_allocates_nothing),
        cmocka_unit_test(out_of_memory_is_reported),
        cmocka_unit_test(what_it_cannot_have_is_refused),
        cmocka_unit_test(policies_and_plans_that_nobody_can_keep_are_refused_in_flight),
        cmocka_unit_test(a_plan_of_one_release_runs_in_flight_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
