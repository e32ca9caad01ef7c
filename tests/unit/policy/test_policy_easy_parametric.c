/* easy-parametric: each of its numbers does what easy_parametric.c says. Worked out by hand. */
#include "policy_scene.h"

/* Nothing but what is named counts. */
#define NOTHING "fit=0,work=0,area=0,time=0,behind=0,ready=0,pass=0,wait=0,first=0,length=0,left=0"

/* A job of one stage that holds so much of the machine's 10. */
static void holder(policy_scene *s, int64_t arrival_ns, int64_t work_ns, int64_t demand)
{
    clo_task task = {.work_ns = work_ns, .demand = {demand}};

    scene_add(s, scene_graph(s, &task, 1), (clo_workload_job){.arrival_ns = arrival_ns});
}

static void open_machine(policy_scene *s)
{
    scene_open(s, 8);
    s->capacities[0] = 10;
}

static void run_with(policy_scene *s, const char *numbers)
{
    char text[256];

    snprintf(text, sizeof text, "easy-parametric:%s,%s", NOTHING, numbers);
    scene_run(s, text);
}

enum { RUNS, FIRST, SHORT, LONG, SMALL };

/* 5 of 10 are held until 100 units. The first job needs 8. Then come: 2 for 60 (ends before 100), 3 for 200 (would
 * delay the first one), and 2 for 300, which are left over beside the first one. */
static void open_waiting(policy_scene *s, int64_t first, int64_t unit_ns)
{
    open_machine(s);
    holder(s, 0, 100 * unit_ns, 5);
    holder(s, 1 * unit_ns, first * unit_ns, 8);
    holder(s, 2 * unit_ns, 60 * unit_ns, 2);
    holder(s, 3 * unit_ns, 200 * unit_ns, 3);
    holder(s, 4 * unit_ns, 300 * unit_ns, 2);
}

static void what_delays_nothing_starts_whatever_the_numbers(void **state)
{
    policy_scene s;

    (void)state;
    open_waiting(&s, 120, 1);
    run_with(&s, "pass=-9");
    assert_int_equal(s.outcomes[FIRST].start_ns, 100);
    assert_int_equal(s.outcomes[SHORT].start_ns, 2);
    assert_int_equal(s.outcomes[SMALL].start_ns, 4);
    assert_int_equal(s.outcomes[LONG].start_ns, 220);
    scene_close(&s);
}

/* As easy-sjf: whoever would delay the first job passes where the wait is longer than its work. */
static void the_wait_counts_against_the_work_of_the_first_job(void **state)
{
    policy_scene s;

    (void)state;
    open_waiting(&s, 120, 1);
    run_with(&s, "wait=1,first=-1");
    assert_int_equal(s.outcomes[LONG].start_ns, 220);
    scene_close(&s);
    open_waiting(&s, 20, 1);
    run_with(&s, "wait=1,first=-1");
    assert_int_equal(s.outcomes[LONG].start_ns, 3);
    assert_true(s.outcomes[FIRST].start_ns > 200);
    scene_close(&s);
}

/* The wait is 97; LONG takes 200, and so much its job has left. */
static void length_and_work_of_who_passes_count(void **state)
{
    static const struct {
        const char *numbers;
        bool passes;
    } cases[] = {{"pass=0.1", true},          {"pass=-0.1", false},
                 {"wait=1,length=-1", false}, {"wait=2,length=-1", false},
                 {"wait=1,left=-1", false},   {"wait=-1,left=1", true},
                 {"wait=-1,length=1", true},  {"wait=1,length=-1,pass=2", true}};
    policy_scene s;

    (void)state;
    open_waiting(&s, 120, 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run_with(&s, cases[i].numbers);
        assert_int_equal(s.outcomes[LONG].start_ns == 3, cases[i].passes);
    }
    scene_close(&s);
}

/* The built-in numbers choose alike whatever times are counted in. */
static void the_unit_of_time_does_not_matter(void **state)
{
    enum { UNIT_NS = 1 << 20 };
    clo_stream_outcome small[SCENE_JOBS_MAX];
    policy_scene s;

    (void)state;
    open_waiting(&s, 120, 1024);
    scene_run(&s, "easy-parametric");
    memcpy(small, s.outcomes, sizeof small);
    scene_close(&s);
    open_waiting(&s, 120, (int64_t)1024 * UNIT_NS);
    scene_run(&s, "easy-parametric");
    for (uint32_t j = RUNS; j <= SMALL; j++)
        assert_int_equal(s.outcomes[j].start_ns, small[j].start_ns * UNIT_NS);
    scene_close(&s);
}

/* Two jobs that do not fit together wait until 100; 1 is the first that starts. */
static bool second_goes_first(policy_scene *s, const char *numbers)
{
    run_with(s, numbers);
    assert_true(s->outcomes[1].start_ns == 100 || s->outcomes[2].start_ns == 100);
    return s->outcomes[2].start_ns == 100;
}

static void the_score_is_a_sum_of_its_terms(void **state)
{
    policy_scene s;

    (void)state;
    open_machine(&s);
    holder(&s, 0, 100, 9);
    holder(&s, 1, 60, 8);
    holder(&s, 2, 50, 9);
    assert_true(second_goes_first(&s, "time=-1,pass=-9"));
    assert_false(second_goes_first(&s, "time=1,pass=-9"));
    assert_true(second_goes_first(&s, "work=-1,pass=-9"));
    assert_false(second_goes_first(&s, "work=1,pass=-9"));
    assert_true(second_goes_first(&s, "fit=1,pass=-9"));
    assert_false(second_goes_first(&s, "fit=-1,pass=-9"));
    assert_true(second_goes_first(&s, "area=-1,pass=-9")); /* 60 * 0.8 and 50 * 0.9, and an executor of 8 for each */
    assert_false(second_goes_first(&s, "area=1,pass=-9"));
    scene_close(&s);
}

/* Of job 2 a child is behind the stage, and another stage is ready. */
static void what_is_behind_a_stage_and_beside_it_counts(void **state)
{
    clo_task tasks[] = {{.work_ns = 50, .demand = {8}}, {.work_ns = 70, .demand = {8}}, {.work_ns = 50, .demand = {8}}};
    policy_scene s;

    (void)state;
    open_machine(&s);
    holder(&s, 0, 100, 9);
    holder(&s, 1, 50, 8);
    clo_graph *graph = scene_graph(&s, tasks, 3);
    ok(clo_graph_add_edge(graph, 0, 1, 0));
    scene_add(&s, graph, (clo_workload_job){.arrival_ns = 2});
    assert_true(second_goes_first(&s, "behind=1,pass=-9"));
    assert_false(second_goes_first(&s, "behind=-1,pass=-9"));
    assert_true(second_goes_first(&s, "ready=1,pass=-9"));
    assert_false(second_goes_first(&s, "ready=-1,pass=-9"));
    scene_close(&s);
}

/* Nothing of it is among the first four stages: the oldest that fits. */
static void a_job_that_is_alone_is_not_held_up(void **state)
{
    clo_task tasks[7] = {{.work_ns = 100, .demand = {5}}};
    policy_scene s;

    (void)state;
    for (uint32_t t = 1; t < 7; t++)
        tasks[t] = (clo_task){.work_ns = 10, .demand = {t < 6 ? 8 : 1}};
    open_machine(&s);
    scene_add(&s, scene_graph(&s, tasks, 7), (clo_workload_job){0});
    scene_run(&s, "easy-parametric");
    assert_int_equal(s.result.makespan_ns, 150);
    scene_close(&s);
}

/* The second machine holds any amount, and has one executor as the first one; both are busy until 100. */
static void a_demand_beyond_every_limit_counts_as_a_whole_machine(void **state)
{
    policy_scene s;

    (void)state;
    scene_open(&s, 2);
    s.desc.machines_count = 2;
    s.executors[1].machine = 1;
    s.capacities[0] = 1;
    holder(&s, 0, 100, 2);
    holder(&s, 0, 200, 1);
    holder(&s, 1, 50, INT64_MAX / 4);
    holder(&s, 2, 60, 0);
    run_with(&s, "area=1");
    assert_int_equal(s.outcomes[2].start_ns, 100);
    run_with(&s, "area=-1");
    assert_int_equal(s.outcomes[3].start_ns, 100);
    scene_close(&s);
}

/* The first machine is taken by a longer job. On the second one the stage that is left takes 65536 times as long, and its
 * input is not there yet: no fit is worse. */
static void the_worst_fit_is_one_too(void **state)
{
    clo_task tasks[] = {{.work_ns = 5, .demand = {1}}, {.work_ns = 10}};
    policy_scene s;

    (void)state;
    scene_open(&s, 2);
    s.desc.machines_count = 2;
    s.executors[1].machine = s.executors[1].memory = 1;
    for (uint32_t i = 0; i < CLO_CLASSES_BUILTIN; i++)
        s.executors[1].speed_q16[i] = 1;
    s.capacities[CLO_RESOURCES_MAX] = 0;
    s.desc.latency_ns = s.latency_ns;
    s.latency_ns[1] = s.latency_ns[2] = 5;
    clo_graph *graph = scene_graph(&s, tasks, 2);
    ok(clo_graph_add_edge(graph, 0, 1, 8));
    scene_add(&s, graph, (clo_workload_job){0});
    holder(&s, 1, 1000000, 1);
    run_with(&s, "time=1");
    assert_int_equal(s.outcomes[1].start_ns, 5);
    assert_int_equal(scene_start(&s, 0, 1, 0, NULL), 10);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_delays_nothing_starts_whatever_the_numbers),
        cmocka_unit_test(the_wait_counts_against_the_work_of_the_first_job),
        cmocka_unit_test(length_and_work_of_who_passes_count),
        cmocka_unit_test(the_unit_of_time_does_not_matter),
        cmocka_unit_test(the_score_is_a_sum_of_its_terms),
        cmocka_unit_test(what_is_behind_a_stage_and_beside_it_counts),
        cmocka_unit_test(a_job_that_is_alone_is_not_held_up),
        cmocka_unit_test(a_demand_beyond_every_limit_counts_as_a_whole_machine),
        cmocka_unit_test(the_worst_fit_is_one_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
