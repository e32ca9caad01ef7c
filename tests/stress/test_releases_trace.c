/* The trace of releases in flight holds those that were asked for: all of them pass the checker, and under the virtual
 * clock are the simulator's; the last ones are whole, also where the series was cut short. */
#include "support.h"

#include "releases_scene.h"

#include <clotho/sim.h>

#define SEEDS (SANITIZED ? 8u : 24u)
#define RELEASES 30u

static void open_traced(releases_scene *s, uint64_t seed, clo_clock clock)
{
    releases_open(s, 2 * seed + 1, RELEASES_FEATURES, 0, RELEASES, clock); /* an odd seed: the runtime traces */
    releases_clear(s);
}

static void make(releases_scene *s, uint32_t traced, bool has_plan)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;

    config.plan = has_plan ? s->plan : NULL;
    config.releases_in_flight = releases_slots(s);
    config.releases = RELEASES;
    config.traced_releases = traced;
    s->in_flight = true;
    ok(clo_job_create(s->runtime, s->cost, &config, &s->job));
}

static clo_trace *run(const releases_scene *s)
{
    clo_trace *trace;

    ok(clo_job_submit(s->job));
    ok(clo_job_wait(s->job, NULL));
    ok(clo_job_trace(s->job, &trace));
    return trace;
}

/* Each instance once in each of the releases from `first` on. */
static void check_whole(const releases_scene *s, const clo_trace *trace, uint64_t first, uint64_t releases)
{
    uint32_t instances = s->graph->instances;
    bool *seen = calloc(instances * (size_t)(releases - first), sizeof *seen);
    size_t count;
    const clo_trace_event *events = clo_trace_events(trace, &count);

    assert_non_null(seen);
    assert_int_equal(count, instances * (releases - first));
    for (size_t i = 0; i < count; i++) {
        uint32_t instance = s->graph->first_instance[events[i].task] + events[i].instance;
        assert_in_range(events[i].release, first, releases - 1);
        bool *mine = &seen[(events[i].release - first) * instances + instance];
        assert_false(*mine);
        *mine = true;
    }
    free(seen);
}

static void all_releases_pass_the_checker(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        releases_scene s;
        open_traced(&s, seed, CLO_CLOCK_REAL);
        make(&s, RELEASES, true);
        for (int again = 0; again < 2; again++) {
            releases_clear(&s);
            clo_trace *trace = run(&s);
            check_whole(&s, trace, 0, RELEASES);
            ok(clo_pipeline_check_period(trace, s.plan, s.cost, releases_slots(&s), 0));
            clo_trace_destroy(trace);
        }
        releases_close(&s);
    }
}

static void under_the_virtual_clock_they_are_those_of_the_simulator(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        releases_scene s;
        clo_sim_config config = CLO_SIM_CONFIG_INIT;
        clo_job_result result = CLO_JOB_RESULT_INIT;
        clo_trace *simulated;
        size_t count, others;

        open_traced(&s, seed, CLO_CLOCK_VIRTUAL);
        make(&s, RELEASES, true);
        clo_trace *trace = run(&s);
        ok(clo_pipeline_check_period(trace, s.plan, s.cost, releases_slots(&s), 0));
        config.plan = s.plan;
        config.releases_in_flight = releases_slots(&s);
        config.releases = RELEASES;
        ok(clo_simulate(s.cost, &config, &result, &simulated, NULL));
        const clo_trace_event *mine = clo_trace_events(trace, &count), *its = clo_trace_events(simulated, &others);
        assert_int_equal(count, others);
        int64_t *start = calloc(count, sizeof *start);
        assert_non_null(start);
        for (size_t i = 0; i < count; i++) /* by cell, since events of one time may stand in any order */
            start[its[i].release * s.graph->instances + s.graph->first_instance[its[i].task] + its[i].instance] =
                its[i].start_ns;
        for (size_t i = 0; i < count; i++)
            assert_int_equal(
                mine[i].start_ns,
                start[mine[i].release * s.graph->instances + s.graph->first_instance[mine[i].task] + mine[i].instance]);
        free(start);
        clo_trace_destroy(simulated);
        clo_trace_destroy(trace);
        releases_close(&s);
    }
}

static void the_last_ones_are_whole_with_a_plan_and_without(void **state)
{
    const uint32_t numbers[] = {0, 1, 2, 7, RELEASES - 1, RELEASES, RELEASES + 5};

    (void)state;
    for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++)
        for (int has_plan = 0; has_plan < 2; has_plan++) {
            releases_scene s;
            uint32_t kept = numbers[n] == 0 ? 1 : numbers[n] < RELEASES ? numbers[n] : RELEASES;
            open_traced(&s, n, CLO_CLOCK_REAL);
            make(&s, numbers[n], has_plan);
            clo_trace *trace = run(&s);
            check_whole(&s, trace, RELEASES - kept, RELEASES);
            clo_trace_destroy(trace);
            releases_close(&s);
        }
}

/* What lies there from earlier releases is left out. */
static void a_series_that_fails_shows_no_older_ones(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        releases_scene s;
        clo_trace *trace;
        size_t count;
        uint64_t newest = 0;
        uint32_t traced = 1 + (uint32_t)(seed % 4);

        open_traced(&s, seed, CLO_CLOCK_REAL);
        make(&s, traced, seed % 3 != 0);
        s.fail_instance = (uint32_t)(seed * 7 % s.graph->instances);
        s.fail_release = RELEASES / 2;
        ok(clo_job_submit(s.job));
        fails(CLO_ERR_TASK, "", clo_job_wait(s.job, NULL));
        ok(clo_job_trace(s.job, &trace));
        const clo_trace_event *events = clo_trace_events(trace, &count);
        for (size_t i = 0; i < count; i++)
            newest = events[i].release > newest ? events[i].release : newest;
        assert_true(newest >= s.fail_release);
        assert_true(count <= (size_t)traced * s.graph->instances);
        for (size_t i = 0; i < count; i++)
            assert_true(newest - events[i].release < traced);
        clo_trace_destroy(trace);
        releases_close(&s);
    }
}

static void what_cannot_be_kept_is_refused(void **state)
{
    (void)state;
    for (int traces = 0; traces < 2; traces++) {
        releases_scene s;
        clo_job_config config = CLO_JOB_CONFIG_INIT;
        size_t one, many;

        releases_open(&s, (uint64_t)traces, RELEASES_FEATURES, 0, RELEASES, CLO_CLOCK_REAL);
        config.plan = s.plan;
        config.traced_releases = 2;
        fails(CLO_ERR_ARGUMENT, "releases_in_flight", clo_job_create(s.runtime, s.cost, &config, &s.job));
        config.releases_in_flight = releases_slots(&s);
        config.releases = RELEASES;
        if (!traces) {
            fails(CLO_ERR_ARGUMENT, "clo_runtime_config.trace", clo_job_create(s.runtime, s.cost, &config, &s.job));
        } else {
            ok(clo_job_memory_bytes(s.runtime, s.cost, &config, &many));
            config.traced_releases = 1;
            ok(clo_job_memory_bytes(s.runtime, s.cost, &config, &one));
            assert_true(many > one);
            config.traced_releases = UINT32_MAX;
            fails(CLO_ERR_LIMIT, "traced_releases", clo_job_create(s.runtime, s.cost, &config, &s.job));
        }
        s.job = NULL;
        releases_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_releases_pass_the_checker),
        cmocka_unit_test(under_the_virtual_clock_they_are_those_of_the_simulator),
        cmocka_unit_test(the_last_ones_are_whole_with_a_plan_and_without),
        cmocka_unit_test(a_series_that_fails_shows_no_older_ones),
        cmocka_unit_test(what_cannot_be_kept_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
