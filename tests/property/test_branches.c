/* Branches, merges and loops: what the simulator says is what the workers do, whoever decides, and the tasks that are
 * skipped are those of the rule in branch.h. 1 000 random graphs on random platforms. */
#include "support.h"

#include "planner_named.h"
#include "random.h"
#include "recorded.h"

#include <stdlib.h>
#include <string.h>

#define SEEDS 1000
#define SEEDS_STEP (SANITIZED ? 7u : 1u) /* no multiple of 2, 3, 4: features go by these */

typedef struct scene {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
    clo_plan *plan;
} scene;

/* Only two of three graphs of a seed are random DAGs, which alone have branches. */
static scene make_scene(uint64_t seed, unsigned features)
{
    uint64_t of_dag = seed / 2 * 3 + seed % 2;
    unsigned all = features | RANDOM_BRANCHES | (seed % 4 == 3 ? (unsigned)RANDOM_STAGES : 0u);
    scene s = {.graph = random_graph(of_dag, all), .platform = random_platform(of_dag, all)};
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;

    config.planner = planner_named(seed % 2 ? "deft" : "heft");
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    ok(clo_plan_create(s.cost, &config, &s.plan));
    ok(clo_plan_check(s.plan, s.cost, CLO_CHECK_FULL));
    return s;
}

static void drop_scene(scene *s)
{
    clo_plan_destroy(s->plan);
    clo_cost_destroy(s->cost);
    clo_platform_destroy(s->platform);
    clo_graph_destroy(s->graph);
}

/* The rule again, from the public calls alone: edges say who is dead, in rounds until nothing changes. Returns how many
 * tasks are skipped. */
static uint32_t skipped_tasks(const clo_graph *graph, const uint32_t *arm, uint8_t *skipped)
{
    uint32_t tasks = clo_graph_tasks(graph), count = 0;
    uint32_t *alive = calloc(tasks, sizeof *alive), *dead = calloc(tasks, sizeof *dead);
    bool changes = true;

    assert_non_null(alive);
    assert_non_null(dead);
    memset(skipped, 0, tasks);
    while (changes) {
        changes = false;
        memset(alive, 0, tasks * sizeof *alive);
        memset(dead, 0, tasks * sizeof *dead);
        for (uint32_t e = 0; e < clo_graph_edges(graph); e++) {
            clo_edge edge;
            ok(clo_graph_edge(graph, e, &edge));
            uint32_t of = clo_graph_edge_arm(graph, e);
            bool is_dead = skipped[edge.from] || (of != CLO_NONE && of != arm[edge.from]);
            dead[edge.to] += is_dead;
            alive[edge.to] += !is_dead;
        }
        for (uint32_t t = 0; t < tasks; t++) {
            uint8_t now = clo_graph_is_merge(graph, t) ? dead[t] > 0 && alive[t] == 0 : dead[t] > 0;
            changes |= now != skipped[t];
            skipped[t] = now;
        }
    }
    for (uint32_t t = 0; t < tasks; t++)
        count += skipped[t];
    free(alive);
    free(dead);
    return count;
}

/* Exactly those tasks are skipped, and the independent checker agrees. Returns their executions. */
static uint64_t check_trace(const scene *s, const clo_trace *trace, int mode)
{
    uint32_t tasks = clo_graph_tasks(s->graph);
    uint32_t *arm = calloc(tasks, sizeof *arm);
    uint8_t *skipped = calloc(tasks, 1);
    uint64_t executions = 0;
    size_t count;
    const clo_trace_event *events = clo_trace_events(trace, &count);
    clo_plan *happened;

    for (size_t i = 0; i < count; i++)
        if (!events[i].is_skipped)
            arm[events[i].task] = events[i].arm;
    (void)skipped_tasks(s->graph, arm, skipped);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(events[i].is_skipped, skipped[events[i].task]);
        assert_true(!events[i].is_skipped || events[i].start_ns == events[i].finish_ns);
        executions += events[i].is_skipped;
    }
    ok(clo_trace_to_plan(trace, s->cost, &happened));
    ok(clo_plan_check(happened, s->cost, mode));
    for (uint32_t t = 0; t < tasks; t++)
        assert_int_equal(clo_plan_is_skipped(happened, t), skipped[t]);
    clo_plan_destroy(happened);
    free(arm);
    free(skipped);
    return executions;
}

/* The last of two runs on workers under the virtual clock. NULL for the policy: replay of the plan. */
static clo_trace *run_virtual(const scene *s, const clo_policy *policy, clo_job_result *result, uint64_t *hash)
{
    clo_runtime_config runtime_config = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job_config = CLO_JOB_CONFIG_INIT;
    clo_runtime *runtime;
    clo_trace *trace;
    clo_job *job;

    runtime_config.clock = CLO_CLOCK_VIRTUAL;
    runtime_config.trace = 1;
    runtime_config.copy_always = 1;
    job_config.plan = policy == NULL ? s->plan : NULL;
    job_config.policy = policy;
    job_config.seed = 70;
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

/* Returns the executions that were skipped. */
static uint64_t run_equals_sim(uint64_t seed, unsigned features, const clo_policy *policy)
{
    scene s = make_scene(seed, features);
    clo_job_result simulated = CLO_JOB_RESULT_INIT, ran = CLO_JOB_RESULT_INIT;
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    uint64_t simulated_hash, ran_hash;
    clo_trace *sim_trace;

    config.plan = policy == NULL ? s.plan : NULL;
    config.policy = policy;
    config.execute = 1;
    config.seed = 71; /* that of the second run */
    ok(clo_simulate(s.cost, &config, &simulated, &sim_trace, &simulated_hash));
    clo_trace *run_trace = run_virtual(&s, policy, &ran, &ran_hash);
    if (simulated.makespan_ns != ran.makespan_ns)
        fail_msg("seed %u: simulated %lld ns, ran %lld ns", (unsigned)seed, (long long)simulated.makespan_ns,
                 (long long)ran.makespan_ns);
    assert_int_equal(simulated.duplicates_run, ran.duplicates_run);
    assert_int_equal(simulated.transferred_bytes, ran.transferred_bytes);
    assert_int_equal(simulated.busy_ns, ran.busy_ns);
    assert_int_equal(simulated.skipped, ran.skipped);
    assert_int_equal(simulated.executed, ran.executed);
    assert_true(simulated_hash == ran_hash);
    if (policy == NULL)
        assert_true(ran.makespan_ns <= clo_plan_makespan_ns(s.plan)); /* planned as if all ran */
    same_events(sim_trace, run_trace);
    uint64_t skipped = check_trace(&s, sim_trace, CLO_CHECK_FULL);
    assert_int_equal(skipped, ran.skipped);
    clo_trace_destroy(sim_trace);
    clo_trace_destroy(run_trace);
    drop_scene(&s);
    return skipped;
}

static void a_plan_with_branches_is_replayed_as_it_is_simulated_and_takes_no_longer_than_planned(void **state)
{
    (void)state;
    uint64_t skipped = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed += SEEDS_STEP)
        skipped += run_equals_sim(seed, seed % 2 ? RANDOM_ALL : RANDOM_ALL & ~(unsigned)RANDOM_DEMANDS, NULL);
    print_message("skipped: %llu executions\n", (unsigned long long)skipped);
    assert_true(skipped > SEEDS / SEEDS_STEP);
}

static void every_policy_is_run_as_it_is_simulated(void **state)
{
    (void)state;
    uint64_t skipped = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed += SEEDS_STEP)
        skipped += run_equals_sim(seed, RANDOM_ALL, policy_at((uint32_t)(seed % policies_count())));
    assert_true(skipped > SEEDS / SEEDS_STEP);
}

/* Without bodies the arms are drawn: the same ones for whoever decides, from the same seed. */
static void arms_that_are_drawn_do_not_depend_on_who_decides(void **state)
{
    (void)state;
    uint32_t differ = 0;
    for (uint64_t seed = 0; seed < 200; seed += SEEDS_STEP) {
        scene s = make_scene(seed, RANDOM_ALL);
        clo_job_result of_plan = CLO_JOB_RESULT_INIT, of_policy = CLO_JOB_RESULT_INIT, other = CLO_JOB_RESULT_INIT;
        clo_sim_config config = CLO_SIM_CONFIG_INIT;
        clo_trace *trace;
        config.seed = seed;
        ok(clo_simulate(s.cost, &config, &of_policy, &trace, NULL));
        (void)check_trace(&s, trace, CLO_CHECK_FULL);
        clo_trace_destroy(trace);
        config.plan = s.plan;
        ok(clo_simulate(s.cost, &config, &of_plan, NULL, NULL));
        uint64_t replicas = 0; /* of the plan: they are skipped with their originals */
        size_t count;
        const clo_placement *placements = clo_plan_placements(s.plan, &count);
        for (size_t i = 0; i < count; i++)
            replicas += placements[i].is_replica;
        assert_true(of_plan.skipped >= of_policy.skipped && of_plan.skipped <= of_policy.skipped + replicas);
        config.seed = seed + 1;
        ok(clo_simulate(s.cost, &config, &other, NULL, NULL));
        differ += other.skipped != of_plan.skipped;
        drop_scene(&s);
    }
    assert_true(differ > 0);
}

static void check_recorded(const void *context, const clo_trace *recorded)
{
    (void)check_trace(context, recorded, CLO_CHECK_MEASURED);
}

/* Runs on real threads as fast as they go. */
static void record_seed(uint64_t seed, const clo_policy *policy, bool planned)
{
    /* What waits in queues hears of capacity from semaphores that are shared, and no trace says when. */
    unsigned features = policy != NULL && policy->commits ? RANDOM_ALL & ~(unsigned)RANDOM_DEMANDS : RANDOM_ALL;
    scene s = make_scene(seed, features | (seed % 3 ? 0u : RANDOM_SMALL));

    record_and_replay(s.cost, planned ? s.plan : NULL, policy, seed, check_recorded, &s);
    drop_scene(&s);
}

static void a_recorded_real_run_replays_in_the_simulator_with_every_decision_and_arm_equal(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 150; seed++) {
        const clo_policy *policy = policy_at((uint32_t)(seed / 3 % policies_count()));
        if (policy->moves) /* a trace has no moves of executors */
            policy = clo_policy_find("fifo");
        record_seed(seed, seed % 3 == 0 ? policy : NULL, seed % 3 == 1); /* policy, replay, steal */
    }
}

/* Each of these changes one event of a good trace to a lie; returns false where it has none to change. */
typedef bool (*plant_fn)(const scene *s, clo_trace_event *events, size_t count);

static bool skips_without_reason(const scene *s, clo_trace_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!events[i].is_skipped && events[i].start_ns == events[i].finish_ns &&
            clo_graph_ranges(s->graph, events[i].task) == 1) {
            events[i].is_skipped = 1;
            return true;
        }
    return false;
}

static bool runs_though_dead(const scene *s, clo_trace_event *events, size_t count)
{
    (void)s;
    for (size_t i = 0; i < count; i++)
        if (events[i].is_skipped) {
            events[i].is_skipped = 0;
            return true;
        }
    return false;
}

static bool chose_another_arm(const scene *s, clo_trace_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (uint32_t e = 0; !events[i].is_skipped && e < clo_graph_edges(s->graph); e++) {
            clo_edge edge;
            ok(clo_graph_edge(s->graph, e, &edge));
            uint32_t arm = clo_graph_edge_arm(s->graph, e);
            if (edge.from == events[i].task && arm != CLO_NONE && arm != events[i].arm &&
                !clo_graph_is_merge(s->graph, edge.to)) {
                events[i].arm = arm; /* its arm is dead no more, and others are */
                return true;
            }
        }
    return false;
}

static void lies_about_what_was_skipped_are_found(void **state)
{
    (void)state;
    static const plant_fn plants[] = {skips_without_reason, runs_though_dead, chose_another_arm};
    uint32_t planted[3] = {0}, found[3] = {0};
    for (uint64_t seed = 0; seed < 300; seed += SEEDS_STEP) {
        scene s = make_scene(seed, RANDOM_ALL);
        for (size_t p = 0; p < 3; p++) {
            clo_sim_config config = CLO_SIM_CONFIG_INIT;
            clo_trace *trace;
            clo_plan *happened;
            size_t count;
            ok(clo_simulate(s.cost, &config, NULL, &trace, NULL));
            clo_trace_event *events = (clo_trace_event *)(uintptr_t)clo_trace_events(trace, &count);
            if (plants[p](&s, events, count)) {
                planted[p]++;
                ok(clo_trace_to_plan(trace, s.cost, &happened));
                found[p] += clo_plan_check(happened, s.cost, CLO_CHECK_MEASURED) == CLO_ERR_INVALID;
                clo_plan_destroy(happened);
                config.recorded = trace;
                if (p != 2) /* another arm may lead nowhere else */
                    assert_int_equal(clo_simulate(s.cost, &config, NULL, NULL, NULL), CLO_ERR_STATE);
            }
            clo_trace_destroy(trace);
        }
        drop_scene(&s);
    }
    for (size_t p = 0; p < 3; p++) {
        print_message("lie %zu: %u planted, %u found\n", p, planted[p], found[p]);
        assert_true(planted[p] > 0);
        assert_true(p == 2 ? found[p] * 2 > planted[p] : found[p] == planted[p]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_with_branches_is_replayed_as_it_is_simulated_and_takes_no_longer_than_planned),
        cmocka_unit_test(every_policy_is_run_as_it_is_simulated),
        cmocka_unit_test(arms_that_are_drawn_do_not_depend_on_who_decides),
        cmocka_unit_test(a_recorded_real_run_replays_in_the_simulator_with_every_decision_and_arm_equal),
        cmocka_unit_test(lies_about_what_was_skipped_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
