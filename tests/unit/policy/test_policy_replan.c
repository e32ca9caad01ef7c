/* replan with joint=N: at an arrival the rest of all live jobs is planned together, within a cap of stages and within
 * the steps of a turn; beyond either each job follows its own plan.
 * Mutation: let gather of policy/placement/joint.c return true for one job, or plan_jointly of replan.c forget
 * order_anew. */
#include "policy_scene.h"
#include "random.h"

#include <clotho/stream_check.h>

/* A job of `stages` stages, one behind the other or side by side. */
static void add_stages(policy_scene *s, int64_t arrival_ns, uint32_t stages, int64_t work_ns, bool is_chain)
{
    clo_graph *graph;

    ok(clo_graph_create("g", &graph));
    for (uint32_t t = 0; t < stages; t++) {
        ok(clo_graph_add_task(graph, &(clo_task){.work_ns = work_ns}, NULL));
        if (is_chain && t > 0)
            ok(clo_graph_add_edge(graph, t - 1, t, 0));
    }
    scene_add(s, graph, (clo_workload_job){.arrival_ns = arrival_ns});
}

static void what_is_short_goes_ahead_of_what_is_long(void **state)
{
    policy_scene s;

    (void)state;
    scene_open(&s, 1);
    add_stages(&s, 0, 10, 100, false);
    add_stages(&s, 0, 3, 100, false); /* they start together in their own plans, and the first job is older */
    scene_run(&s, "replan:8");
    double alone_ns = s.result.jct_mean_ns;
    scene_run(&s, "replan:8,joint=64");
    assert_true(s.result.jct_mean_ns < alone_ns);
    assert_int_equal(s.outcomes[1].finish_ns, 400); /* behind what ran already */
    assert_int_equal(s.result.makespan_ns, 1300);
    scene_close(&s);
}

/* Two executors; a chain that would end last if others went ahead of it. */
static void for_the_makespan_the_longest_chain_goes_first(void **state)
{
    policy_scene s;

    (void)state;
    scene_open(&s, 2);
    add_stages(&s, 0, 1, 10, false); /* while it runs the others arrive */
    add_stages(&s, 1, 2, 100, false);
    add_stages(&s, 1, 2, 100, false);
    add_stages(&s, 1, 6, 100, true);
    scene_run(&s, "replan:8,joint=64,tries=64");
    double completion_ns = s.result.jct_mean_ns;
    int64_t makespan_ns = s.result.makespan_ns;
    scene_run(&s, "replan:8,joint=64,tries=64,for=makespan");
    assert_true(s.result.makespan_ns <= makespan_ns);
    assert_true(s.result.jct_mean_ns >= completion_ns);
    scene_close(&s);
}

/* Jobs of many shapes. */
static void add_random_jobs(policy_scene *s, uint32_t jobs)
{
    for (uint64_t seed = 1; seed <= jobs; seed++) {
        clo_graph *graph = random_graph(seed, RANDOM_INSTANCES);
        clo_workload_job row = CLO_WORKLOAD_JOB_INIT;
        row.graph = graph;
        row.arrival_ns = 3000 * (int64_t)seed;
        row.band = (uint32_t)(seed % 3);
        row.weight = 1 + (uint32_t)(seed % 4);
        ok(clo_workload_adopt(s->workload, graph));
        ok(clo_workload_add(s->workload, &row));
        s->jobs++;
    }
}

static void assert_same(const policy_scene *s, const clo_stream_outcome *outcomes, bool is_same)
{
    bool differs = false;

    for (uint32_t j = 0; j < s->jobs; j++)
        differs |= s->outcomes[j].finish_ns != outcomes[j].finish_ns || s->outcomes[j].start_ns != outcomes[j].start_ns;
    assert_true(differs == !is_same);
}

static void beyond_the_cap_each_job_follows_its_own_plan(void **state)
{
    clo_stream_outcome alone[SCENE_JOBS_MAX];
    policy_scene s;

    (void)state;
    scene_open(&s, 3);
    add_random_jobs(&s, 12);
    scene_run(&s, "replan:8");
    memcpy(alone, s.outcomes, sizeof alone);
    scene_run(&s, "replan:8,joint=1");
    assert_same(&s, alone, true);
    scene_run(&s, "replan:8,joint=4096");
    assert_same(&s, alone, false);
    scene_close(&s);
}

static clo_stream_result run_bounded(const policy_scene *s, const char *argument_text, uint32_t steps_max)
{
    const clo_policy *policy = clo_policy_find("replan");
    _Alignas(16) unsigned char argument[64];
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_stream_result result = CLO_STREAM_RESULT_INIT;

    assert_true(policy->argument_bytes <= sizeof argument);
    ok(policy->parse(argument_text, argument));
    config.policy = policy;
    config.argument = argument;
    config.steps_max = steps_max;
    config.skips_misfits = 1;
    ok(clo_stream_simulate(s->workload, s->platform, &config, &result));
    return result;
}

/* The plan is part of the turn: its steps are counted, and none is made that would take more than a decision may. */
static void a_plan_keeps_to_the_steps_of_a_decision(void **state)
{
    policy_scene s;

    (void)state;
    scene_open(&s, 3);
    add_random_jobs(&s, 12);
    scene_run(&s, "replan:8"); /* makes the platform */
    for (uint32_t steps = 10; steps <= 1000000; steps *= 10) {
        clo_stream_result joint = run_bounded(&s, "8,joint=4096", steps), alone = run_bounded(&s, "8", steps);
        assert_int_equal(joint.jobs_ended, s.jobs);
        assert_true(joint.turn_steps <= alone.turn_steps + 2 * (uint64_t)steps);
        assert_true(joint.decision_steps <= steps);
        if (steps == 10)
            assert_true(joint.jct_mean_ns == alone.jct_mean_ns && joint.makespan_ns == alone.makespan_ns);
    }
    assert_true(run_bounded(&s, "8,joint=4096", 0).turn_steps > 1000);
    scene_close(&s);
}

/* Executors of several kinds, masks, demands: whatever can run nowhere is left to the rule. */
static void every_platform_will_do(void **state)
{
    uint64_t ended = 0;

    (void)state;
    for (uint64_t seed = 1; seed < 40; seed++) {
        clo_platform *platform = random_platform(seed, RANDOM_ALL);
        policy_scene s = {.platform = platform};
        ok(clo_workload_create("scene", &s.workload));
        for (uint64_t j = 0; j < 6; j++) {
            clo_graph *graph = random_graph(seed * 100 + j, RANDOM_ALL);
            clo_workload_job row = CLO_WORKLOAD_JOB_INIT;
            row.graph = graph;
            row.arrival_ns = 1000 * (int64_t)j;
            ok(clo_workload_adopt(s.workload, graph));
            ok(clo_workload_add(s.workload, &row));
        }
        clo_stream_result result = run_bounded(&s, "4,joint=1000,tries=6", 0);
        assert_int_equal(result.jobs_ended + result.jobs_refused, 6);
        assert_int_equal(result.refused, 0);
        ended += result.jobs_ended;
        scene_close(&s);
    }
    assert_true(ended > 60);
}

static void a_wrong_argument_is_named(void **state)
{
    const clo_policy *policy = clo_policy_find("replan");
    _Alignas(16) unsigned char argument[64];

    (void)state;
    fails(CLO_ERR_ARGUMENT, "'0' is no number of schedules", policy->parse("0", argument));
    fails(CLO_ERR_ARGUMENT, "'64;' is no number", policy->parse("64;", argument));
    fails(CLO_ERR_ARGUMENT, "'' is none of joint=", policy->parse("64,", argument));
    fails(CLO_ERR_ARGUMENT, "'joint=0' is none of", policy->parse("64,joint=0", argument));
    fails(CLO_ERR_ARGUMENT, "'joint=65537' is none of", policy->parse("64,joint=65537", argument));
    fails(CLO_ERR_ARGUMENT, "'tries=x' is none of", policy->parse("64,joint=5,tries=x", argument));
    fails(CLO_ERR_ARGUMENT, "'for=fun' is none of", policy->parse("64,for=fun", argument));
    ok(policy->parse("64,joint=65536,tries=4096,for=makespan", argument));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_short_goes_ahead_of_what_is_long),
        cmocka_unit_test(for_the_makespan_the_longest_chain_goes_first),
        cmocka_unit_test(beyond_the_cap_each_job_follows_its_own_plan),
        cmocka_unit_test(a_plan_keeps_to_the_steps_of_a_decision),
        cmocka_unit_test(every_platform_will_do),
        cmocka_unit_test(a_wrong_argument_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
