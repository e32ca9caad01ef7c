/* Decima's network as a selection (deft:decima, Decima-DEFT in LACHESIS's figures), and LACHESIS's baselines by task. */
#define _DEFAULT_SOURCE
#include "policy_scene.h"
#include "base/numbers/rng.h"

#include <clotho/learned.h>
#include <stdlib.h>
#include <unistd.h>

/* Transfers take 1000: the second child runs elsewhere, with its parent repeated there. */
static void decima_selects_and_deft_duplicates(void **state)
{
    clo_task tasks[3] = {{.work_ns = 10, .duplicable = 1}, {.work_ns = 100}, {.work_ns = 100}};
    policy_scene s;

    (void)state;
    scene_open(&s, 2);
    s.executors[1].memory = 1;
    for (uint32_t i = 0; i < 4; i++)
        s.latency_ns[i] = 1000;
    s.desc.latency_ns = s.latency_ns;
    clo_graph *graph = scene_graph(&s, tasks, 3);
    ok(clo_graph_add_edge(graph, 0, 1, 8));
    ok(clo_graph_add_edge(graph, 0, 2, 8));
    scene_add(&s, graph, (clo_workload_job){0});
    scene_run(&s, "deft:decima");
    assert_int_equal(s.result.duplicates, 1);
    assert_int_equal(s.result.makespan_ns, 120); /* 10 and 10 again, then 100 */
    scene_run(&s, "eft:decima");
    assert_int_equal(s.result.duplicates, 0);
    assert_int_equal(s.result.makespan_ns, 210);
    scene_close(&s);
}

/* Jobs that wait for the one executor, which the first one holds until 1 s: then both policies show the network the
 * same. Jobs are forks of 3 to 8 stages. */
static void make_waiting_jobs(policy_scene *s, clo_rng *rng)
{
    uint32_t jobs = 2 + clo_rng_below(rng, 8);

    scene_open(s, 1);
    scene_job(s, 0, INT64_C(1000000000), 1);
    for (uint32_t j = 1; j <= jobs; j++) {
        clo_task tasks[8];
        uint32_t count = 3 + clo_rng_below(rng, 6);
        for (uint32_t t = 0; t < count; t++)
            tasks[t] = (clo_task){.work_ns = INT64_C(1000000) * (1 + clo_rng_below(rng, 60000)),
                                  .instances = 1 + clo_rng_below(rng, 100)};
        clo_graph *graph = scene_graph(s, tasks, count);
        for (uint32_t t = 2; t < count; t++)
            ok(clo_graph_add_edge(graph, clo_rng_below(rng, 2), t, 0));
        scene_add(s, graph, (clo_workload_job){.arrival_ns = j});
    }
}

/* Job and stage that start when the first job has ended. */
static uint64_t second_choice(const policy_scene *s)
{
    size_t count;
    const clo_log_record *records = clo_log_records(s->log, &count);

    for (size_t i = 0; i < count; i++)
        if (records[i].what == CLO_LOG_FINISH && records[i].value >= INT64_C(1000000000))
            return (uint64_t)records[i].job << 32 | records[i].stage;
    fail_msg("nothing started after the first job");
    return 0;
}

static void the_selection_is_that_of_decima_where_it_sees_the_same(void **state)
{
    uint32_t unlike_fifo = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        clo_rng rng = clo_rng_seed(seed);
        policy_scene s;
        make_waiting_jobs(&s, &rng);
        scene_run(&s, "decima");
        uint64_t chosen = second_choice(&s);
        scene_run(&s, "eft:decima");
        assert_true(second_choice(&s) == chosen);
        scene_run(&s, "deft:decima:stages=1024,jobs=256");
        assert_true(second_choice(&s) == chosen);
        scene_run(&s, "eft:fifo");
        unlike_fifo += second_choice(&s) != chosen;
        scene_close(&s);
    }
    assert_in_range(unlike_fifo, 20, 40);
}

/* A model in an argument is freed by release (under ASan this is seen); what the argument lacks is said. */
static void arguments_of_the_selection_are_those_of_decima(void **state)
{
    _Alignas(16) unsigned char argument[256];
    const clo_policy *deft = clo_policy_find("deft");
    char path[] = "/tmp/clotho-decima-XXXXXX.model";
    size_t bytes;
    const void *data = clo_model_builtin("decima", &bytes);
    clo_rng rng = clo_rng_seed(3);
    policy_scene s;

    (void)state;
    fails(CLO_ERR_ARGUMENT, "holds no whole number", deft->parse("decima:seed=x", argument));
    fails(CLO_ERR_ARGUMENT, "is none of its parts", deft->parse("decima:", argument));
    fails(CLO_ERR_IO, "no/such.model", deft->parse("decima:no/such.model", argument));
    fails(CLO_ERR_ARGUMENT, "task-hrrn", deft->parse("decimal", argument));
    fails(CLO_ERR_ARGUMENT, "takes no argument", deft->parse("task-sjf:1", argument));

    int file = mkstemps(path, 6);
    assert_true(file >= 0 && write(file, data, bytes) == (ssize_t)bytes && close(file) == 0);
    make_waiting_jobs(&s, &rng);
    scene_run(&s, "deft:decima");
    int64_t makespan_ns = s.result.makespan_ns, mean = s.outcomes[2].finish_ns;
    char text[64];
    snprintf(text, sizeof text, "deft:decima:%s", path);
    scene_run(&s, text);
    assert_true(s.result.makespan_ns == makespan_ns && s.outcomes[2].finish_ns == mean);
    snprintf(text, sizeof text, "deft:decima:%s,sampled,seed=5", path);
    scene_run(&s, text);
    scene_close(&s);
    assert_int_equal(unlink(path), 0);
}

/* Stages and jobs beyond what the network looks at are served; beyond the bound of a decision the rule decides. */
static void all_jobs_end_whatever_the_network_has_room_for(void **state)
{
    static const char *const rooms[] = {"deft:decima:stages=1",        "deft:decima:stages=4,jobs=1",
                                        "eft:decima:stages=9,jobs=2",  "deft:decima:jobs=1",
                                        "deft:decima:stages=1,jobs=1", "eft:decima:stages=2,sampled"};
    clo_rng rng = clo_rng_seed(8);
    policy_scene s;

    (void)state;
    make_waiting_jobs(&s, &rng);
    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
        scene_run(&s, rooms[i]); /* all jobs end, nothing is refused */
        assert_true(s.result.partial > 0);
        assert_int_equal(s.result.fallbacks, 0);
    }
    _Alignas(16) unsigned char argument[256];
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    config.policy = clo_policy_find("deft");
    config.argument = argument;
    ok(config.policy->parse("decima", argument));
    for (uint32_t steps = 1; steps < 2000; steps = 3 * steps + 1) {
        config.steps_max = steps;
        s.result = (clo_stream_result)CLO_STREAM_RESULT_INIT;
        ok(clo_stream_simulate(s.workload, s.platform, &config, &s.result));
        assert_int_equal(s.result.jobs_ended, s.jobs);
        assert_int_equal(s.result.refused, 0);
        assert_true(s.result.fallbacks > 0 && s.result.decision_steps <= steps);
    }
    scene_close(&s);
}

/* A job of band 0 goes first, whatever the network would say; a job of at most one executor never has two. */
static void bands_and_limits_hold(void **state)
{
    policy_scene s;

    (void)state;
    for (int which = 0; which < 2; which++) {
        static const char *const policies[] = {"deft:decima", "deft:task-sjf"};
        scene_open(&s, 2);
        for (uint32_t j = 0; j < 6; j++) {
            clo_task task = {.work_ns = 100 - 10 * (int64_t)j, .instances = 4};
            scene_add(&s, scene_graph(&s, &task, 1),
                      (clo_workload_job){.band = j == 0 ? 0 : 3, .limit = j == 1 ? 1 : 0});
        }
        scene_run(&s, policies[which]);
        assert_int_equal(scene_start(&s, 0, 0, 3, NULL), 100);
        for (uint32_t i = 0; i < 4; i++)
            for (uint32_t k = 0; k < i; k++) {
                int64_t one = scene_start(&s, 1, 0, i, NULL), other = scene_start(&s, 1, 0, k, NULL);
                assert_true(one - other >= 90 || other - one >= 90);
            }
        scene_close(&s);
    }
}

/* One executor. Job 1 has a task of 50 at 1 and one of 10 behind it; job 2, of 3 tasks of 30, came later. By job the
 * first goes first (60 of work against 90); by task the 30s go before the 50. */
static void selection_by_task_looks_at_tasks_not_at_jobs(void **state)
{
    clo_task first[2] = {{.work_ns = 50}, {.work_ns = 10}},
             second[3] = {{.work_ns = 30}, {.work_ns = 30}, {.work_ns = 30}};
    policy_scene s;

    (void)state;
    scene_open(&s, 1);
    scene_job(&s, 0, 100, 1);
    clo_graph *graph = scene_graph(&s, first, 2);
    ok(clo_graph_add_edge(graph, 0, 1, 0));
    scene_add(&s, graph, (clo_workload_job){.arrival_ns = 1});
    scene_add(&s, scene_graph(&s, second, 3), (clo_workload_job){.arrival_ns = 2});

    scene_run(&s, "eft:sjf");
    assert_int_equal(scene_start(&s, 1, 0, 0, NULL), 100);
    scene_run(&s, "eft:task-sjf"); /* 30 30 30 50 10 */
    assert_int_equal(scene_start(&s, 2, 2, 0, NULL), 160);
    assert_int_equal(scene_start(&s, 1, 0, 0, NULL), 190);
    assert_int_equal(scene_start(&s, 1, 1, 0, NULL), 240);

    scene_run(&s, "eft:fifo"); /* 50 10 30 30 30: the older job */
    assert_int_equal(scene_start(&s, 1, 1, 0, NULL), 150);
    scene_run(&s, "deft:task-fifo"); /* 50 30 30 30 10: what could begin since 150 waits for what could since 2 */
    assert_int_equal(scene_start(&s, 1, 0, 0, NULL), 100);
    assert_int_equal(scene_start(&s, 2, 0, 0, NULL), 150);
    assert_int_equal(scene_start(&s, 1, 1, 0, NULL), 240);

    /* At 100 ratios are 99 / 50 and 98 / 30; at 190 189 / 50 is all there is. */
    scene_run(&s, "deft:task-hrrn");
    assert_int_equal(scene_start(&s, 2, 0, 0, NULL), 100);
    assert_int_equal(scene_start(&s, 1, 0, 0, NULL), 190);
    scene_close(&s);
}

/* A task of 40 that has waited for long goes before one of 10 that has just come; the shortest first lets it wait. */
static void by_ratio_what_has_waited_for_long_goes_before_what_is_short(void **state)
{
    policy_scene s;

    (void)state;
    scene_open(&s, 1);
    scene_job(&s, 0, 100, 1);
    scene_job(&s, 1, 40, 1);  /* at 100: 99 / 40 = 2.475 */
    scene_job(&s, 90, 10, 1); /* at 100: 10 / 10 = 1 */
    scene_run(&s, "eft:task-hrrn");
    assert_int_equal(scene_start(&s, 1, 0, 0, NULL), 100);
    scene_run(&s, "eft:task-sjf");
    assert_int_equal(scene_start(&s, 2, 0, 0, NULL), 100);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decima_selects_and_deft_duplicates),
        cmocka_unit_test(the_selection_is_that_of_decima_where_it_sees_the_same),
        cmocka_unit_test(arguments_of_the_selection_are_those_of_decima),
        cmocka_unit_test(all_jobs_end_whatever_the_network_has_room_for),
        cmocka_unit_test(bands_and_limits_hold),
        cmocka_unit_test(selection_by_task_looks_at_tasks_not_at_jobs),
        cmocka_unit_test(by_ratio_what_has_waited_for_long_goes_before_what_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
