/* What `auto` makes of what it measures: where executors that come to a job are slow, jobs keep within limits; where they
 * are not, the shortest job has all of them. And how it places what it has selected. */
#include "policy_scene.h"

/* Until LOOKED_NS no job can have ended, so that limits do not rise. */
enum { EXECUTORS = 8, LIMIT = 5, ALIKE = 16, INSTANCES = 64, TIME_NS = 10, LOOKED_NS = 300 };

/* The most instances of one job that begin at one time; at 0 the first one is alone. */
static uint32_t most_at_once(const policy_scene *s, int64_t until_ns)
{
    uint32_t most = 0;

    for (uint32_t j = 0; j < s->jobs; j++)
        for (int64_t at_ns = 1; at_ns < until_ns; at_ns++) {
            uint32_t started = scene_started(s, j, at_ns);
            most = started > most ? started : most;
        }
    return most;
}

/* Threefold for an executor that came from another job. */
static int64_t slow_to_come(void *state, const clo_environment_execution *e)
{
    (void)state;
    return e->last_stage == CLO_NONE ? 3 * e->cost_ns : e->cost_ns;
}

static void open_alike(policy_scene *s)
{
    scene_open(s, EXECUTORS);
    for (int j = 0; j < ALIKE; j++)
        scene_job(s, 0, TIME_NS, INSTANCES);
}

static void where_moving_is_free_the_shortest_job_has_all_executors(void **state)
{
    policy_scene s;

    (void)state;
    open_alike(&s);
    scene_run(&s, "parametric:any");
    assert_in_range(most_at_once(&s, 2 * LOOKED_NS), 1, EXECUTORS - 1);
    scene_run(&s, "auto");
    assert_int_equal(most_at_once(&s, 2 * LOOKED_NS), EXECUTORS);
    assert_int_equal(s.result.makespan_ns, ALIKE * INSTANCES * TIME_NS / EXECUTORS);
    scene_close(&s);
}

static void where_moving_is_dear_jobs_keep_within_limits(void **state)
{
    clo_environment slow = CLO_ENVIRONMENT_INIT;
    int64_t any_ns;
    policy_scene s;

    (void)state;
    slow.name = "slow";
    slow.time_ns = slow_to_come;
    open_alike(&s);
    s.environment = &slow;
    scene_run(&s, "parametric:any");
    any_ns = s.result.makespan_ns;
    scene_run(&s, "auto");
    assert_in_range(most_at_once(&s, LOOKED_NS), 1, LIMIT);
    assert_int_equal(s.result.makespan_ns, any_ns);
    scene_run(&s, "sjf");
    assert_true(s.result.jct_mean_ns > 0 && most_at_once(&s, LOOKED_NS) == EXECUTORS);
    scene_close(&s);
}

/* The time on the way counts, too. */
static int64_t as_the_cost(void *state, const clo_environment_execution *e)
{
    (void)state;
    return e->cost_ns;
}

static void the_way_to_a_job_counts(void **state)
{
    clo_environment far = CLO_ENVIRONMENT_INIT;
    policy_scene s;

    (void)state;
    far.name = "far";
    far.time_ns = as_the_cost;
    far.moving_ns = 5;
    open_alike(&s);
    s.environment = &far;
    scene_run(&s, "auto");
    assert_in_range(most_at_once(&s, LOOKED_NS), 1, LIMIT);
    scene_close(&s);
}

static void equal_outcomes(policy_scene *s, const char *mine, const char *as)
{
    clo_stream_outcome before[SCENE_JOBS_MAX];

    scene_run(s, as);
    memcpy(before, s->outcomes, sizeof before);
    scene_run(s, mine);
    for (uint32_t j = 0; j < s->jobs; j++)
        assert_int_equal(s->outcomes[j].finish_ns, before[j].finish_ns);
}

static void machines_that_run_out_are_packed_as_easy_residual_does(void **state)
{
    policy_scene s;

    (void)state;
    scene_open(&s, 4);
    s.capacities[0] = 10;
    for (int64_t j = 0; j < 12; j++) {
        clo_task task = {.work_ns = 10 + j * 7 % 5, .instances = 6, .demand = {2 + j % 4}};
        scene_add(&s, scene_graph(&s, &task, 1), (clo_workload_job){.arrival_ns = j * 3});
    }
    equal_outcomes(&s, "auto", "easy-residual");
    equal_outcomes(&s, "auto:p95", "easy-residual");
    equal_outcomes(&s, "auto:late", "easy-residual");
    scene_close(&s);
}

/* Executors of two kinds, memories of their own: a chain stays where its data are. */
static void where_data_are_dear_deft_places(void **state)
{
    policy_scene s;

    (void)state;
    scene_open(&s, 4);
    for (uint32_t e = 0; e < 4; e++) {
        s.executors[e].memory = e;
        s.executors[e].kind = e % 2;
        if (e % 2 == 1)
            for (int c = 0; c < CLO_CLASSES_BUILTIN; c++)
                s.executors[e].speed_q16[c] = CLO_SPEED_ONE / 2;
    }
    for (uint32_t i = 0; i < 16; i++)
        s.latency_ns[i] = i % 5 == 0 ? 0 : 40;
    s.desc.kinds_count = 2;
    s.desc.latency_ns = s.latency_ns;
    for (int64_t j = 0; j < 8; j++) {
        clo_task tasks[3] = {{.work_ns = 10 + j}, {.work_ns = 20}, {.work_ns = 5 + j}};
        clo_graph *graph = scene_graph(&s, tasks, 3);
        ok(clo_graph_add_edge(graph, 0, 1, 8));
        ok(clo_graph_add_edge(graph, 1, 2, 8));
        scene_add(&s, graph, (clo_workload_job){.arrival_ns = j * 20});
    }
    equal_outcomes(&s, "auto", "deft:sjf");
    scene_close(&s);
}

/* One kind, two speeds: the executors differ all the same. */
static void speeds_of_one_kind_count(void **state)
{
    policy_scene s;

    (void)state;
    scene_open(&s, 4);
    for (int c = 0; c < CLO_CLASSES_BUILTIN; c++)
        s.executors[0].speed_q16[c] = s.executors[1].speed_q16[c] = CLO_SPEED_ONE / 100;
    for (int j = 0; j < 6; j++)
        scene_job(&s, j, 10 + j, 2);
    equal_outcomes(&s, "auto", "deft:sjf");
    scene_close(&s);
}

/* Of jobs that wait, the one with the least work / weight. */
static void weights_count(void **state)
{
    clo_task task = {.work_ns = 100};
    policy_scene s;

    (void)state;
    scene_open(&s, 1);
    for (int j = 0; j < 40; j++) /* until enough is measured */
        scene_job(&s, 0, TIME_NS, 2);
    scene_job(&s, 1, 1000, 1);
    scene_job(&s, 2, 60, 1);
    scene_add(&s, scene_graph(&s, &task, 1), (clo_workload_job){.arrival_ns = 2, .weight = 5});
    scene_run(&s, "auto");
    assert_int_equal(s.outcomes[42].start_ns, 800);
    assert_int_equal(s.outcomes[41].start_ns, 900);
    assert_int_equal(s.outcomes[40].start_ns, 960);
    scene_close(&s);
}

/* auto:late, measured: what is lost waits for all others; `auto` puts it before them. auto:p95 knows no deadlines. */
static void an_objective_says_what_becomes_of_deadlines(void **state)
{
    clo_task tasks[3] = {{.work_ns = 40}, {.work_ns = 60}, {.work_ns = 100}};
    policy_scene s;

    (void)state;
    scene_open(&s, 1);
    for (int j = 0; j < 40; j++) /* until enough is measured */
        scene_job(&s, 0, TIME_NS, 2);
    scene_add(&s, scene_graph(&s, &tasks[0], 1), (clo_workload_job){.arrival_ns = 1, .deadline_ns = 5});
    scene_add(&s, scene_graph(&s, &tasks[1], 1), (clo_workload_job){.arrival_ns = 1, .deadline_ns = 2000});
    scene_add(&s, scene_graph(&s, &tasks[2], 1), (clo_workload_job){.arrival_ns = 1});
    scene_run(&s, "auto");
    assert_int_equal(s.outcomes[40].start_ns, 800);
    assert_int_equal(s.outcomes[42].start_ns, 840);
    assert_int_equal(s.outcomes[41].start_ns, 940);
    scene_run(&s, "auto:late");
    assert_int_equal(s.outcomes[42].start_ns, 800);
    assert_int_equal(s.outcomes[41].start_ns, 900);
    assert_int_equal(s.outcomes[40].start_ns, 960);
    scene_run(&s, "auto:p95");
    assert_int_equal(s.outcomes[40].start_ns, 800);
    assert_int_equal(s.outcomes[41].start_ns, 840);
    assert_int_equal(s.outcomes[42].start_ns, 900);
    scene_run(&s, "auto:mean");
    assert_int_equal(s.outcomes[41].start_ns, 940);
    scene_close(&s);
}

static void an_unknown_objective_is_refused(void **state)
{
    _Alignas(16) unsigned char argument[256];

    (void)state;
    assert_int_equal(clo_policy_find("auto")->parse("makespan", argument), CLO_ERR_ARGUMENT);
    assert_non_null(strstr(clo_last_error(), "write mean, p95 or late"));
    assert_int_equal(clo_policy_find("auto")->parse("", argument), CLO_ERR_ARGUMENT);
    assert_int_equal(clo_policy_find("parametric")->parse("1,0,0,0,0,900,1,0,1,for=latex,auto", argument),
                     CLO_ERR_ARGUMENT);
    assert_non_null(strstr(clo_last_error(), "for=latex"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_moving_is_free_the_shortest_job_has_all_executors),
        cmocka_unit_test(where_moving_is_dear_jobs_keep_within_limits),
        cmocka_unit_test(the_way_to_a_job_counts),
        cmocka_unit_test(machines_that_run_out_are_packed_as_easy_residual_does),
        cmocka_unit_test(where_data_are_dear_deft_places),
        cmocka_unit_test(speeds_of_one_kind_count),
        cmocka_unit_test(weights_count),
        cmocka_unit_test(an_objective_says_what_becomes_of_deadlines),
        cmocka_unit_test(an_unknown_objective_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
