/* What the tuned parametric policy chooses, on streams small enough to be worked out by hand; and what it takes for
 * an argument. The numbers: w_rem, w_own, w_wait, w_ex, w_cp, l_scale, l_rem, l_jobs, share; fit, unit. */
#include "policy_scene.h"

/* One executor a job: four instances run one after the other, though three executors are idle. */
static void a_job_at_its_limit_leaves_executors_idle(void **state)
{
    policy_scene s;

    (void)state;
    scene_open(&s, 4);
    scene_job(&s, 0, 10, 4);
    scene_run(&s, "parametric:1,0,0,0,0,1,0,0,-1,1ns");
    assert_int_equal(s.result.makespan_ns, 40);
    scene_run(&s, "parametric:1,0,0,0,0,2,0,0,-1,1ns");
    assert_int_equal(s.result.makespan_ns, 20);
    scene_run(&s, "parametric:1,0,0,0,0,1,0,0,0,1ns"); /* what is idle is shared */
    assert_int_equal(s.result.makespan_ns, 10);
    scene_close(&s);
}

/* Limits of 0.25 (8 / n)^1, rounded up: two executors for a job alone, one where eight live. The first job holds both
 * until all have come. */
static void the_limit_falls_with_the_number_of_jobs(void **state)
{
    policy_scene s;

    (void)state;
    scene_open(&s, 2);
    scene_job(&s, 0, 10, 2);
    scene_job(&s, 1, 10, 2);
    scene_run(&s, "parametric:1,0,0,0,0,0.25,0,1,-1,1ns");
    assert_int_equal(scene_started(&s, 1, 10), 2);
    for (int j = 0; j < 7; j++)
        scene_job(&s, 1, 1000, 1);
    scene_run(&s, "parametric:1,0,0,0,0,0.25,0,1,-1,1ns");
    assert_int_equal(scene_started(&s, 1, 10), 1);
    scene_close(&s);
}

/* A limit of exactly two: six instances take three rounds, though five executors are there. */
static void a_whole_number_as_a_limit_is_not_rounded_up(void **state)
{
    policy_scene s;

    (void)state;
    scene_open(&s, 5);
    scene_job(&s, 0, 10, 6);
    scene_run(&s, "parametric:1,0,0,0,0,0.25,0,1,-1,1ns"); /* 0.25 (8 / 1)^1 */
    assert_int_equal(s.result.makespan_ns, 30);
    scene_close(&s);
}

/* With w_rem above 0 the job with less work goes first, below 0 the other one. */
static void weights_say_who_goes_first(void **state)
{
    policy_scene s;

    (void)state;
    scene_open(&s, 1);
    scene_job(&s, 0, 10, 1);
    scene_job(&s, 1, 100, 1);
    scene_job(&s, 2, 50, 1);
    scene_run(&s, "parametric:1,0,0,0,0,9,0,0,-1,100ns");
    assert_int_equal(s.outcomes[2].start_ns, 10);
    scene_run(&s, "parametric:-1,0,0,0,0,9,0,0,-1,100ns");
    assert_int_equal(s.outcomes[1].start_ns, 10);
    scene_close(&s);
}

/* After its first instance the executor stays with the longer job where that weighs enough. */
static void an_executor_stays_with_its_own_job(void **state)
{
    policy_scene s;

    (void)state;
    scene_open(&s, 1);
    scene_job(&s, 0, 100, 2);
    scene_job(&s, 1, 10, 1);
    scene_run(&s, "parametric:1,0,0,0,0,9,0,0,-1,100ns");
    assert_int_equal(s.outcomes[1].start_ns, 100);
    scene_run(&s, "parametric:1,50,0,0,0,9,0,0,-1,100ns");
    assert_int_equal(s.outcomes[1].start_ns, 200);
    scene_close(&s);
}

/* Stage 1 of the first job is ready at 30, when its other instance ends. Until then the executor that is free at 10
 * waits, or takes the second job. */
static void an_executor_waits_for_its_own_job(void **state)
{
    clo_task tasks[3] = {{.work_ns = 30}, {.work_ns = 10}, {.work_ns = 10, .instances = 2}};
    policy_scene s;

    (void)state;
    scene_open(&s, 2);
    clo_graph *graph = scene_graph(&s, tasks, 3);
    ok(clo_graph_add_edge(graph, 0, 2, 0));
    ok(clo_graph_add_edge(graph, 1, 2, 0));
    scene_add(&s, graph, (clo_workload_job){0});
    scene_job(&s, 5, 100, 1);
    scene_run(&s, "parametric:1,0,50,0,0,9,0,0,-1,100ns");
    assert_int_equal(s.outcomes[0].finish_ns, 40);
    assert_int_equal(s.outcomes[1].start_ns, 40);
    scene_run(&s, "parametric:1,0,-50,0,0,9,0,0,-1,100ns");
    assert_int_equal(s.outcomes[1].start_ns, 10);
    scene_close(&s);
}

/* Machines of 8 and of 4. The shorter job needs 3, and takes the large machine, which is the first; then the other job,
 * which needs 6, has to wait. With a weight of what is left free it takes the small one. */
static void the_fit_keeps_large_machines_for_what_needs_them(void **state)
{
    clo_task small = {.work_ns = 10, .demand = {3}}, large = {.work_ns = 20, .demand = {6}};
    uint32_t executor = CLO_NONE;
    policy_scene s;

    (void)state;
    scene_open(&s, 2);
    s.desc.machines_count = 2;
    s.executors[1].machine = 1;
    s.capacities[0] = 8, s.capacities[CLO_RESOURCES_MAX] = 4;
    scene_add(&s, scene_graph(&s, &small, 1), (clo_workload_job){0});
    scene_add(&s, scene_graph(&s, &large, 1), (clo_workload_job){0});
    scene_run(&s, "parametric:1,0,0,0,0,9,0,0,-1,100ns");
    assert_int_equal(scene_start(&s, 0, 0, 0, &executor), 0);
    assert_int_equal(executor, 0);
    assert_int_equal(s.outcomes[1].start_ns, 10);
    scene_run(&s, "parametric:1,0,0,0,0,9,0,0,-1,fit=0,100ns");
    assert_int_equal(s.outcomes[1].start_ns, 10);
    scene_run(&s, "parametric:1,0,0,0,0,9,0,0,-1,fit=1,100ns");
    assert_int_equal(scene_start(&s, 0, 0, 0, &executor), 0);
    assert_int_equal(executor, 1);
    assert_int_equal(s.outcomes[1].start_ns, 0);
    scene_close(&s);
}

/* The short job demands only the first resource. What would be left of the second, of which the large machine has
 * little, does not count. */
static void the_fit_looks_only_at_what_is_demanded(void **state)
{
    clo_task small[2] = {{.work_ns = 10, .demand = {3}}, {.work_ns = 1, .demand = {0, 1}}};
    uint32_t executor = CLO_NONE;
    policy_scene s;

    (void)state;
    scene_open(&s, 2);
    s.desc.machines_count = 2;
    s.executors[1].machine = 1;
    s.capacities[0] = 8, s.capacities[CLO_RESOURCES_MAX] = 4;
    s.capacities[1] = 1, s.capacities[CLO_RESOURCES_MAX + 1] = 100;
    clo_graph *graph = scene_graph(&s, small, 2);
    ok(clo_graph_add_edge(graph, 0, 1, 0));
    scene_add(&s, graph, (clo_workload_job){0});
    scene_run(&s, "parametric:1,0,0,0,0,9,0,0,-1,fit=1,100ns");
    assert_int_equal(scene_start(&s, 0, 0, 0, &executor), 0);
    assert_int_equal(executor, 1);
    scene_close(&s);
}

/* One executor at a time may be had: the other stays idle, as without a weight. */
static void the_fit_keeps_the_limits(void **state)
{
    policy_scene s;

    (void)state;
    scene_open(&s, 4);
    scene_job(&s, 0, 10, 4);
    scene_run(&s, "parametric:1,0,0,0,0,1,0,0,-1,fit=2,1ns");
    assert_int_equal(s.result.makespan_ns, 40);
    scene_run(&s, "parametric:1,0,0,0,0,1,0,0,0,fit=2,1ns");
    assert_int_equal(s.result.makespan_ns, 10);
    scene_close(&s);
}

/* l_size 1: one executor of 50 is a limit of one; of 25, of a half, rounded up; of 10 with ten times the scale, two. */
static void the_limit_follows_the_size_of_the_platform(void **state)
{
    static const struct {
        uint32_t executors;
        const char *policy;
        int64_t makespan_ns; /* of four instances of 10 */
    } cases[] = {
        {25, "parametric:1,0,0,0,0,4,0,0,-1,1ns", 10},          {25, "parametric:1,0,0,0,0,4,0,0,-1,l_size=0,1ns", 10},
        {25, "parametric:1,0,0,0,0,4,0,0,-1,l_size=1,1ns", 20}, {10, "parametric:1,0,0,0,0,10,0,0,-1,l_size=1,1ns", 20},
        {25, "parametric:1,0,0,0,0,4,0,0,-1,l_size=2,1ns", 40}, {25, "parametric:1,0,0,0,0,1,0,0,-1,l_size=-2,1ns", 10},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        policy_scene s;
        scene_open(&s, cases[i].executors);
        scene_job(&s, 0, 10, 4);
        scene_run(&s, cases[i].policy);
        assert_int_equal(s.result.makespan_ns, cases[i].makespan_ns);
        scene_close(&s);
    }
}

/* Limits of rem / U: four executors for a job of four units. The unit of jobs that are alike is 141 / 1024 of one, so
 * jobs of any length have the limit of 7.26; with a unit that stays at 1 ns longer jobs would have all executors. */
static void the_unit_is_learnt_from_the_jobs_that_come(void **state)
{
    (void)state;
    for (int64_t work_ns = 100; work_ns <= 100000000; work_ns *= 1000) {
        policy_scene s;
        scene_open(&s, 16);
        scene_job(&s, 0, work_ns, 16);
        scene_run(&s, "parametric:1,0,0,0,0,1,1,0,-1,auto");
        assert_int_equal(scene_started(&s, 0, 0), 8); /* 7.26 + 0.05, rounded up */
        scene_run(&s, "parametric:1,0,0,0,0,1,1,0,-1,1ns");
        assert_int_equal(scene_started(&s, 0, 0), 16);
        scene_close(&s);
    }
}

/* Twice the work and five times the weight. */
static void weights_of_jobs_count(void **state)
{
    clo_task task = {.work_ns = 100};
    policy_scene s;

    (void)state;
    scene_open(&s, 1);
    scene_job(&s, 0, 10, 1);
    scene_job(&s, 1, 50, 1);
    scene_add(&s, scene_graph(&s, &task, 1), (clo_workload_job){.arrival_ns = 1, .weight = 5});
    scene_run(&s, "parametric:1,0,0,0,0,9,0,0,-1,10ns");
    assert_int_equal(s.outcomes[2].start_ns, 10);
    assert_int_equal(s.outcomes[1].start_ns, 110);
    scene_close(&s);
}

static void arguments_that_are_none_are_refused(void **state)
{
    static const char *const bad[] = {"",
                                      "1",
                                      "1,2,3,4,5,6,7,8",
                                      "1,2,3,4,5,0,7,8,9",
                                      "1,2,3,4,5,-1,7,8,9",
                                      "1,2,3,4,5,6,7,8,9,",
                                      "1,2,3,4,5,6,7,8,9,0s",
                                      "1,2,3,4,5,6,7,8,9,1h",
                                      "1,2,3,4,5,6,7,8,9,99999999999s",
                                      "1,2,3,4,5,6,7,8,9,1s,",
                                      "1,2,3,4,5,6,7,8,9,fit=",
                                      "1,2,3,4,5,6,7,8,9,fit=-1",
                                      "1,2,3,4,5,6,7,8,9,fit=1001",
                                      "1,2,3,4,5,6,7,8,9,fit=1,",
                                      "1,2,3,4,5,6,7,8,9,1s,fit=1",
                                      "1,2,3,4,5,6,7,8,9,fit=1,l_size=1",
                                      "1,2,3,4,5,6,7,8,9,l_size=",
                                      "1,2,3,4,5,6,7,8,9,l_size=1001",
                                      "1,2,3,4,5,6,7,8,9,automatic",
                                      "1,2,3,4,5,6,7,8,fit=1",
                                      "nan,2,3,4,5,6,7,8,9",
                                      "1001,2,3,4,5,6,7,8,9",
                                      "1;2,3,4,5,6,7,8,9",
                                      "streams",
                                      "batch,1s"};
    const clo_policy *policy = clo_policy_find("parametric");
    _Alignas(16) unsigned char argument[256];

    (void)state;
    assert_non_null(policy);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (policy->parse(bad[i], argument) != CLO_ERR_ARGUMENT)
            fail_msg("'%s' is taken for an argument", bad[i]);
    assert_int_equal(policy->parse("streams", argument), CLO_ERR_ARGUMENT);
    assert_non_null(strstr(clo_last_error(), "'streams' is no set of numbers; write batch, stream"));
    ok(policy->parse("-1000,1000,0.5,+1,.25,0.01,-3,2,-1,7ms", argument));
    ok(policy->parse("1,2,3,4,5,6,7,8,9,fit=0.5", argument));
    ok(policy->parse("1,2,3,4,5,6,7,8,9,fit=0.5,7ms", argument));
    ok(policy->parse("1,2,3,4,5,6,7,8,9,l_size=-0.5,fit=0.5,auto", argument));
    ok(policy->parse("1,2,3,4,5,6,7,8,9,auto", argument));
}

/* The numbers of all, as docs/SCHEDULERS.md has them. */
static void built_in_sets_of_numbers_have_names(void **state)
{
    static const char *const sets[][2] = {
        {"batch", "1.02541,4.91150,4.96240,0.58450,0.17690,10.16800,0.28641,0.64740,-1.00000,l_size=0.6"},
        {"stream", "1.82180,2.25100,7.76790,0.16660,0.46990,6.08210,0.42270,0.61790,-0.65400,l_size=0.6"},
        {"any", "1.8585,2.7346,8.1326,0.1209,0.4881,7.3728,0.3771,0.5270,-0.6117,l_size=0.5509,auto"},
        {"deadlines", "1.8968,1.6108,7.9260,-0.1188,0.4640,7.3629,0.3988,0.6795,-0.8412,l_size=0.5509,auto"},
        {"makespan", "1.4636,4.0634,6.4122,-0.8343,0.5124,4.0572,0.4046,0.8522,-1.0922,l_size=0.6178,auto"}};
    const clo_policy *policy = clo_policy_find("parametric");
    _Alignas(16) unsigned char named[256], written[256];

    (void)state;
    assert_non_null(policy);
    assert_true(policy->argument_bytes <= sizeof named);
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        memset(named, 0, sizeof named);
        memset(written, 0, sizeof written);
        ok(policy->parse(sets[i][0], named));
        ok(policy->parse(sets[i][1], written));
        assert_memory_equal(named, written, policy->argument_bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_at_its_limit_leaves_executors_idle),
        cmocka_unit_test(the_limit_falls_with_the_number_of_jobs),
        cmocka_unit_test(weights_say_who_goes_first),
        cmocka_unit_test(an_executor_stays_with_its_own_job),
        cmocka_unit_test(an_executor_waits_for_its_own_job),
        cmocka_unit_test(the_fit_keeps_large_machines_for_what_needs_them),
        cmocka_unit_test(the_fit_keeps_the_limits),
        cmocka_unit_test(the_limit_follows_the_size_of_the_platform),
        cmocka_unit_test(the_unit_is_learnt_from_the_jobs_that_come),
        cmocka_unit_test(weights_of_jobs_count),
        cmocka_unit_test(arguments_that_are_none_are_refused),
        cmocka_unit_test(built_in_sets_of_numbers_have_names),
        cmocka_unit_test(a_whole_number_as_a_limit_is_not_rounded_up),
        cmocka_unit_test(the_fit_looks_only_at_what_is_demanded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
