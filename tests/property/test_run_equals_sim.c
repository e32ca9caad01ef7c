/* One engine, two drivers: what the simulator says is what the workers do. 1 000 random graphs on random platforms. */
#include "support.h"

#include "planner_named.h"
#include "random.h"
#include "recorded.h"
#include "sample.h"

#include <stdlib.h>
#include <string.h>

#define SEEDS sample_size(1000, 2)
#define SEEDS_STEP (SANITIZED ? 7u : 1u) /* no multiple of 2, 3, 4: features go by these */

typedef struct scene {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
    clo_plan *plan;
} scene;

static scene make_scene(uint64_t seed, unsigned features, const char *planner)
{
    scene s = {.graph = random_graph(seed, features | RANDOM_UNTIMED), .platform = random_platform(seed, features)};
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;

    config.planner = planner_named(planner);
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    ok(clo_plan_create(s.cost, &config, &s.plan));
    return s;
}

static void drop_scene(scene *s)
{
    clo_plan_destroy(s->plan);
    clo_cost_destroy(s->cost);
    clo_platform_destroy(s->platform);
    clo_graph_destroy(s->graph);
}

static const char *planner_of(uint64_t seed)
{
    return seed % 2 ? "deft" : "heft";
}

static clo_trace *simulate_plan(const scene *s, clo_job_result *result, uint64_t *hash)
{
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_trace *trace;

    config.plan = s->plan;
    config.execute = 1;
    ok(clo_simulate(s->cost, &config, result, &trace, hash));
    return trace;
}

static void check_trace(const scene *s, const clo_trace *trace, int mode)
{
    clo_plan *happened;

    ok(clo_trace_to_plan(trace, s->cost, &happened));
    ok(clo_plan_check(happened, s->cost, mode));
    clo_plan_destroy(happened);
}

/* Runs the plan on workers with the virtual clock; the trace is the caller's. The second of two runs: it uses what the
 * first has left. */
static clo_trace *run_virtual(const scene *s, clo_job_result *result, uint64_t *hash)
{
    clo_runtime_config runtime_config = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job_config = CLO_JOB_CONFIG_INIT;
    clo_runtime *runtime;
    clo_trace *trace;
    clo_job *job;

    runtime_config.clock = CLO_CLOCK_VIRTUAL;
    runtime_config.trace = 1;
    runtime_config.copy_always = 1;
    job_config.plan = s->plan;
    ok(clo_runtime_create(s->platform, &runtime_config, &runtime));
    ok(clo_job_create(runtime, s->cost, &job_config, &job));
    for (int round = 0; round < 2; round++) {
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, result));
    }
    ok(clo_job_trace(job, &trace));
    *hash = clo_job_output_hash(job);
    clo_job_destroy(job);
    clo_runtime_destroy(runtime);
    return trace;
}

/* Also of those that end at one instant. */
static void same_order_of_ends(const clo_trace *a, const clo_trace *b)
{
    size_t count, other;
    const clo_trace_event *x = clo_trace_events(a, &count), *y = clo_trace_events(b, &other);

    assert_int_equal(count, other);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(x[i].sequence, y[i].sequence);
        assert_int_equal(x[i].task, y[i].task);
        assert_int_equal(x[i].instance, y[i].instance);
    }
}

static void workers_under_the_virtual_clock_do_exactly_what_the_simulator_says(void **state)
{
    (void)state;
    uint64_t duplicates = 0, transfers = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed += SEEDS_STEP) {
        scene s =
            make_scene(seed, seed % 2 ? RANDOM_ALL : RANDOM_ALL & ~(unsigned)RANDOM_DEMANDS, planner_of(seed / 2));
        clo_job_result simulated = CLO_JOB_RESULT_INIT, ran = CLO_JOB_RESULT_INIT;
        uint64_t simulated_hash, ran_hash;
        clo_trace *sim_trace = simulate_plan(&s, &simulated, &simulated_hash);
        clo_trace *run_trace = run_virtual(&s, &ran, &ran_hash);

        assert_int_equal(simulated.makespan_ns, ran.makespan_ns);
        assert_true(simulated.makespan_ns <= clo_plan_makespan_ns(s.plan)); /* gaps of the plan may close */
        assert_int_equal(simulated.duplicates_run, ran.duplicates_run);
        assert_int_equal(simulated.transfers, ran.transfers);
        assert_int_equal(simulated.transferred_bytes, ran.transferred_bytes);
        assert_int_equal(simulated.busy_ns, ran.busy_ns);
        assert_true(simulated_hash == ran_hash);
        same_events(sim_trace, run_trace);
        same_order_of_ends(sim_trace, run_trace);
        check_trace(&s, sim_trace, CLO_CHECK_FULL);
        duplicates += ran.duplicates_run;
        transfers += ran.transfers;
        clo_trace_destroy(sim_trace);
        clo_trace_destroy(run_trace);
        drop_scene(&s);
    }
    print_message("replicas run: %llu, transfers: %llu\n", (unsigned long long)duplicates,
                  (unsigned long long)transfers);
    assert_true(duplicates > 0 && transfers > 0);
}

/* What handles hold is in the hashes too: whoever reads a version too early or too late, or a copy that is too old,
 * changes them. */
static void grains_and_handles_are_run_as_they_are_simulated(void **state)
{
    (void)state;
    uint64_t transfers = 0, duplicates = 0;
    for (uint64_t seed = 0; seed < SEEDS || ((transfers == 0 || duplicates == 0) && seed < 20000); seed += SEEDS_STEP) {
        unsigned features = RANDOM_ALL | RANDOM_GRAIN | RANDOM_HANDLES | (seed % 4 ? 0u : RANDOM_STAGES);
        uint64_t of_dag = seed / 2 * 3 + seed % 2; /* only two of three seeds give a random DAG, which has handles */
        scene s = make_scene(of_dag, features, planner_of(seed));
        clo_job_result simulated = CLO_JOB_RESULT_INIT, ran = CLO_JOB_RESULT_INIT;
        uint64_t simulated_hash, ran_hash, hash;
        clo_trace *sim_trace = simulate_plan(&s, &simulated, &simulated_hash);
        clo_trace *run_trace = run_virtual(&s, &ran, &ran_hash);

        assert_int_equal(simulated.makespan_ns, ran.makespan_ns);
        assert_int_equal(simulated.transferred_bytes, ran.transferred_bytes);
        if (simulated_hash != ran_hash)
            fail_msg("seed %u: the simulator and the workers left other bytes", (unsigned)seed);
        same_events(sim_trace, run_trace);
        check_trace(&s, sim_trace, CLO_CHECK_FULL);
        clo_trace_destroy(sim_trace);
        clo_trace_destroy(run_trace);
        clo_sim_config config = CLO_SIM_CONFIG_INIT;
        config.policy = policy_at((uint32_t)(seed % policies_count()));
        config.execute = 1;
        ok(clo_simulate(s.cost, &config, NULL, &run_trace, &hash));
        check_trace(&s, run_trace, CLO_CHECK_FULL);
        assert_true(hash == simulated_hash);
        clo_trace_destroy(run_trace);
        transfers += ran.copied_bytes;
        duplicates += ran.duplicates_run;
        drop_scene(&s);
    }
    assert_true(transfers > 0 && duplicates > 0);
}

static void every_policy_gives_a_valid_schedule_above_the_bound_and_the_same_bytes(void **state)
{
    (void)state;
    uint64_t replicas = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed += SEEDS_STEP) {
        scene s = make_scene(seed, RANDOM_ALL, planner_of(seed));
        clo_job_result planned = CLO_JOB_RESULT_INIT, result = CLO_JOB_RESULT_INIT;
        clo_bound bound = CLO_BOUND_INIT;
        uint64_t want, hash;

        ok(clo_cost_bound(s.cost, &bound));
        clo_trace *trace = simulate_plan(&s, &planned, &want);
        check_trace(&s, trace, CLO_CHECK_FULL);
        assert_true(planned.makespan_ns >= bound.best_ns);
        clo_trace_destroy(trace);
        for (uint32_t p = 0; policy_at(p) != NULL; p++) {
            clo_sim_config config = CLO_SIM_CONFIG_INIT;
            config.policy = policy_at(p);
            config.execute = 1;
            ok(clo_simulate(s.cost, &config, &result, &trace, &hash));
            check_trace(&s, trace, CLO_CHECK_FULL);
            assert_true(result.makespan_ns >= bound.best_ns);
            assert_int_equal(result.decisions, clo_graph_instances(s.graph) + result.duplicates_run);
            replicas += result.duplicates_run;
            assert_true(hash == want);
            clo_trace_destroy(trace);
        }
        drop_scene(&s);
    }
    print_message("replicas that policies wanted: %llu\n", (unsigned long long)replicas);
    assert_true(replicas > 0);
}

static void the_plans_of_all_planners_run_within_the_capacities_and_no_longer_than_planned(void **state)
{
    (void)state;
    uint32_t simulated = 0;
    for (uint64_t seed = 0; seed < 60; seed += SEEDS_STEP) {
        scene s = make_scene(seed, RANDOM_ALL | RANDOM_SMALL, "heft");
        for (uint32_t i = 0; name_at("planners", i) != NULL; i++) {
            clo_plan_config config = CLO_PLAN_CONFIG_INIT;
            clo_job_result result = CLO_JOB_RESULT_INIT;
            clo_plan *plan;
            config.planner = planner_named(name_at("planners", i));
            config.schedules_max = 50;
            if (clo_plan_create(s.cost, &config, &plan) != CLO_OK)
                continue; /* some plan only some graphs */
            clo_plan_destroy(s.plan);
            s.plan = plan;
            uint64_t hash;
            clo_trace *trace = simulate_plan(&s, &result, &hash);
            check_trace(&s, trace, CLO_CHECK_FULL);
            assert_true(result.makespan_ns <= clo_plan_makespan_ns(s.plan));
            if (seed % 12 == 0) { /* the workers do the same */
                clo_job_result ran = CLO_JOB_RESULT_INIT;
                clo_trace *run_trace = run_virtual(&s, &ran, &hash);
                assert_int_equal(ran.makespan_ns, result.makespan_ns);
                same_events(trace, run_trace);
                clo_trace_destroy(run_trace);
            }
            clo_trace_destroy(trace);
            simulated++;
        }
        drop_scene(&s);
    }
    assert_true(simulated > 1000 / SEEDS_STEP);
}

static void check_recorded(const void *context, const clo_trace *recorded)
{
    check_trace(context, recorded, CLO_CHECK_MEASURED);
}

/* Runs on real threads as fast as they go; bodies of up to 20 us spin really. */
static void record_seed(uint64_t seed, const clo_policy *policy, bool planned)
{
    static const char *const planners[] = {"deft", "heft", "tetris", "graphene", "sgs-parallel-backward"};
    /* What waits in queues hears of capacity from semaphores that are shared, and no trace says when. */
    unsigned features = policy != NULL && policy->commits ? RANDOM_ALL & ~(unsigned)RANDOM_DEMANDS : RANDOM_ALL;
    features |= seed / 15 % 2 ? RANDOM_GRAIN | RANDOM_HANDLES : 0u;
    scene s = make_scene(seed, features | (seed % 3 ? 0u : RANDOM_SMALL), planners[seed / 3 % 5]);

    record_and_replay(s.cost, planned ? s.plan : NULL, policy, seed, check_recorded, &s);
    drop_scene(&s);
}

static void a_recorded_real_run_replays_in_the_simulator_with_every_decision_equal(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 150; seed++) {
        const clo_policy *policy = policy_at((uint32_t)(seed / 3 % policies_count()));
        if (policy->moves) /* a trace has no moves of executors: stress.test_run_log replays these from their logs */
            policy = clo_policy_find("fifo");
        record_seed(seed, seed % 3 == 0 ? policy : NULL, seed % 3 == 1); /* policy, replay, steal */
    }
}

/* The first small one in which something could have gone elsewhere. */
static scene make_scene_with_a_choice(void)
{
    for (uint64_t seed = 5; seed < SEEDS; seed++) {
        scene s = make_scene(seed, RANDOM_SMALL, "heft");
        if (clo_graph_instances(s.graph) > 2 && clo_platform_executors(s.platform) > 1)
            return s;
        drop_scene(&s);
    }
    fail_msg("none of %u scenes has three instances and two executors", (unsigned)SEEDS);
    return (scene){NULL, NULL, NULL, NULL};
}

static void a_record_that_was_decided_otherwise_is_found_out(void **state)
{
    (void)state;
    scene s = make_scene_with_a_choice();
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_trace *trace;

    config.policy = clo_policy_find("fifo");
    ok(clo_simulate(s.cost, &config, NULL, &trace, NULL));
    config.recorded = trace;
    ok(clo_simulate(s.cost, &config, NULL, NULL, NULL));

    size_t count;
    clo_trace_event *events = (clo_trace_event *)(uintptr_t)clo_trace_events(trace, &count);
    for (size_t i = 0; i < count; i++)
        if (events[i].sequence == count - 1)
            events[i].executor = (events[i].executor + 1) % clo_platform_executors(s.platform);
    fails(CLO_ERR_STATE, "in the record", clo_simulate(s.cost, &config, NULL, NULL, NULL));
    clo_trace_destroy(trace);
    drop_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_under_the_virtual_clock_do_exactly_what_the_simulator_says),
        cmocka_unit_test(grains_and_handles_are_run_as_they_are_simulated),
        cmocka_unit_test(every_policy_gives_a_valid_schedule_above_the_bound_and_the_same_bytes),
        cmocka_unit_test(the_plans_of_all_planners_run_within_the_capacities_and_no_longer_than_planned),
        cmocka_unit_test(a_recorded_real_run_replays_in_the_simulator_with_every_decision_equal),
        cmocka_unit_test(a_record_that_was_decided_otherwise_is_found_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
