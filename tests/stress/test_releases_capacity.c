/* Releases in flight whose tasks demand capacities, on real workers, with a plan and without one: bodies that take as
 * long as they like never hold more of a machine than it has, and put out what they do one release at a time; beside
 * another job that shares the capacities; cut short and run again. */
#define _GNU_SOURCE
#include "support.h"

#include "releases_scene.h"
#include "sample.h"

#include <sched.h>

/* A quarter of them at a time, which the commit draws (sample.h). */
#define SEEDS (SANITIZED ? 8u : 40u)
#define PARTS (SANITIZED ? 1u : 4u)
#define MACHINES_MAX 4u

/* What is in use now, of the one scene of a test. */
static _Atomic int64_t used[MACHINES_MAX][CLO_RESOURCES_MAX];
static _Atomic uint64_t exceeded, held;

static void count(const releases_scene *s, const clo_call *call, int sign)
{
    uint32_t machine = clo_platform_executor(s->platform, call->executor)->machine;

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
        int64_t demand = clo_graph_demand(s->graph, call->task)[r];
        int64_t capacity = clo_platform_capacity(s->platform, machine, r);
        if (demand == 0 || capacity < 0)
            continue;
        int64_t before = atomic_fetch_add(&used[machine][r], sign * demand);
        if (sign > 0) {
            atomic_fetch_add(&held, 1);
            if (before + demand > capacity)
                atomic_fetch_add(&exceeded, 1);
        }
    }
}

/* Seldom it gives its CPU away: on a machine with much else to do that takes long. */
static void dawdle(uint64_t how)
{
    volatile uint64_t spins = how % 2000;

    while (spins > 0)
        spins--;
    if (how / 2000 % 32 == 0)
        sched_yield();
}

static int holds_and_dawdles(const clo_call *call)
{
    releases_scene *s = call->argument;

    count(s, call, 1);
    dawdle(releases_mix(call->task, call->release));
    int code = releases_body(call);
    count(s, call, -1);
    return code;
}

static void open_scene(releases_scene *s, uint64_t seed, uint32_t limit)
{
    unsigned features = RELEASES_FEATURES | RANDOM_DEMANDS | (seed % 3 == 0 ? (unsigned)RANDOM_STAGES : 0u);

    releases_open(s, seed, features, limit, 40, CLO_CLOCK_REAL);
    for (uint32_t t = 0; t < s->graph->tasks; t++)
        s->graph->rows[t].body = holds_and_dawdles;
    memset(used, 0, sizeof used);
    atomic_store(&exceeded, 0);
}

/* With or without the plan. */
static clo_status make_job(releases_scene *s, uint32_t slots, int64_t period_ns, bool has_plan)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;

    config.plan = has_plan ? s->plan : NULL;
    config.releases_in_flight = slots;
    config.releases = s->releases;
    config.period_ns = period_ns;
    s->in_flight = true;
    return clo_job_create(s->runtime, s->cost, &config, &s->job);
}

static void run_whole(releases_scene *s)
{
    releases_clear(s);
    ok(clo_job_submit(s->job));
    ok(clo_job_wait(s->job, NULL));
    assert_int_equal(atomic_load(&s->wrong), 0);
    assert_int_equal(atomic_load(&s->calls), s->graph->instances * s->releases);
    assert_int_equal(atomic_load(&exceeded), 0);
}

static void no_capacity_is_exceeded_and_outputs_are_those_of_one_release_at_a_time(void **state)
{
    (void)state;
    for (uint64_t seed = sample_first(SEEDS, PARTS), end = seed + sample_size(SEEDS, PARTS); seed < end; seed++) {
        releases_scene s;
        open_scene(&s, seed, (uint32_t)(seed % 5));
        uint64_t *log = calloc(s.graph->instances * s.releases, sizeof *log);
        assert_non_null(log);
        bool has_plan = seed % 2 == 0;
        ok(make_job(&s, releases_slots(&s) + (uint32_t)(seed % 3), seed % 5 == 3 ? 2000 : 0, has_plan));
        run_whole(&s);
        if (has_plan)
            releases_check_order(&s);
        memcpy(log, s.log, s.graph->instances * s.releases * sizeof *log);
        clo_job_destroy(s.job);
        ok(releases_job(&s, 0, 0, 0));
        releases_clear(&s);
        for (uint64_t r = 0; r < s.releases; r++) {
            ok(clo_job_submit(s.job));
            ok(clo_job_wait(s.job, NULL));
        }
        assert_memory_equal(log, s.log, s.graph->instances * s.releases * sizeof *log);
        assert_int_equal(atomic_load(&exceeded), 0);
        free(log);
        releases_close(&s);
    }
    assert_true(atomic_load(&held) > 1000);
}

/* Two jobs of one runtime, of the same graph: bodies of the second one count nothing but capacities. */
static int only_holds(const clo_call *call)
{
    releases_scene *s = call->argument;

    count(s, call, 1);
    dawdle(releases_mix(call->release, call->task));
    count(s, call, -1);
    return 0;
}

static void jobs_share_the_capacities(void **state)
{
    (void)state;
    for (uint64_t seed = sample_first(SEEDS / 2, PARTS), end = seed + sample_size(SEEDS / 2, PARTS); seed < end;
         seed++) {
        releases_scene s;
        open_scene(&s, seed, 0);
        for (uint32_t t = 0; t < s.graph->tasks; t++)
            s.graph->rows[t].body = only_holds;
        clo_job_config config = CLO_JOB_CONFIG_INIT;
        clo_job *beside;
        ok(make_job(&s, releases_slots(&s), 0, seed % 2 == 0));
        config.plan = seed % 3 == 0 ? NULL : s.plan;
        config.releases = s.releases;
        config.releases_in_flight = releases_slots(&s) + 1;
        ok(clo_job_create(s.runtime, s.cost, &config, &beside));
        for (uint32_t run = 0; run < 3; run++) {
            ok(clo_job_submit(s.job));
            ok(clo_job_submit(beside));
            ok(clo_job_wait(s.job, NULL));
            ok(clo_job_wait(beside, NULL));
        }
        assert_int_equal(atomic_load(&exceeded), 0);
        clo_job_destroy(beside);
        releases_close(&s);
    }
}

static void what_is_cut_short_gives_everything_back(void **state)
{
    (void)state;
    for (uint64_t seed = sample_first(SEEDS, PARTS), end = seed + sample_size(SEEDS, PARTS); seed < end; seed++) {
        releases_scene s;
        open_scene(&s, seed, 0);
        ok(make_job(&s, releases_slots(&s) + 1, 0, seed / 2 % 2 == 0));
        releases_clear(&s);
        if (seed % 2 == 0) {
            s.fail_instance = (uint32_t)(seed % s.graph->instances);
            s.fail_release = 7;
            ok(clo_job_submit(s.job));
            fails(CLO_ERR_TASK, "", clo_job_wait(s.job, NULL));
            s.fail_instance = CLO_NONE;
        } else {
            ok(clo_job_submit(s.job));
            clo_job_cancel(s.job);
            clo_status status = clo_job_wait(s.job, NULL);
            assert_true(status == CLO_OK || status == CLO_ERR_CANCELLED);
        }
        run_whole(&s); /* which would wait for ever for what was not given back */
        releases_close(&s);
    }
}

/* Without a plan, on executors of several memories, without capacities: outputs go where they are needed. */
static void without_a_plan_outputs_are_those_of_one_release_at_a_time(void **state)
{
    (void)state;
    for (uint64_t seed = sample_first(SEEDS, PARTS), end = seed + sample_size(SEEDS, PARTS); seed < end; seed++) {
        releases_scene s;
        releases_open(&s, seed, RELEASES_FEATURES | (seed % 3 == 0 ? (unsigned)RANDOM_STAGES : 0u), 0, 50,
                      CLO_CLOCK_REAL);
        uint64_t *log = calloc(s.graph->instances * s.releases, sizeof *log);
        assert_non_null(log);
        ok(make_job(&s, 1 + (uint32_t)(seed % 6), 0, false));
        for (int run = 0; run < 2; run++)
            run_whole(&s);
        uint64_t hash = clo_job_output_hash(s.job);
        memcpy(log, s.log, s.graph->instances * s.releases * sizeof *log);
        clo_job_destroy(s.job);
        ok(make_job(&s, releases_slots(&s), 0, true));
        run_whole(&s);
        assert_true(hash == clo_job_output_hash(s.job));
        assert_memory_equal(log, s.log, s.graph->instances * s.releases * sizeof *log);
        free(log);
        releases_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_capacity_is_exceeded_and_outputs_are_those_of_one_release_at_a_time),
        cmocka_unit_test(jobs_share_the_capacities),
        cmocka_unit_test(what_is_cut_short_gives_everything_back),
        cmocka_unit_test(without_a_plan_outputs_are_those_of_one_release_at_a_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
