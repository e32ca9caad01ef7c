/* Small sets whose bounds are worked out by hand, and what the admission test does not cover. */
#include "support.h"

#include "fault.h"
#include "scene.h"

#include <string.h>

enum { US = 1000 };

/* A chain of `tasks` tasks of `work_ns`, or one task of as many instances. */
static clo_graph *new_graph(uint32_t tasks, int64_t work_ns, uint32_t instances)
{
    clo_graph *graph;
    const clo_task task = {.work_ns = work_ns, .instances = instances};

    ok(clo_graph_create("g", &graph));
    for (uint32_t t = 0; t < tasks; t++)
        ok(clo_graph_add_task(graph, &task, NULL));
    for (uint32_t t = 1; t < tasks; t++)
        ok(clo_graph_add_edge(graph, t - 1, t, 0));
    ok(clo_graph_seal(graph));
    return graph;
}

static clo_workload *new_set(void)
{
    clo_workload *set;

    ok(clo_workload_create("set", &set));
    return set;
}

/* The set owns the graph. */
static void add(clo_workload *set, clo_graph *graph, const clo_workload_job *more)
{
    clo_workload_job job = *more;

    job.size = sizeof job;
    job.graph = graph;
    ok(clo_workload_adopt(set, graph));
    ok(clo_workload_add(set, &job));
}

static clo_admission_result test(clo_workload *set, uint32_t executors, clo_admission_order order,
                                 clo_admission_job *answers)
{
    clo_platform *platform = scene_platform(executors, 0);
    clo_admission_config config = CLO_ADMISSION_CONFIG_INIT;
    clo_admission_result result = CLO_ADMISSION_RESULT_INIT;

    config.order = order;
    ok(clo_admission_test(set, platform, &config, answers, &result));
    clo_platform_destroy(platform);
    return result;
}

static void a_job_alone_has_grahams_bound(void **state)
{
    clo_workload *set = new_set();
    clo_admission_job answer;

    (void)state;
    add(set, new_graph(1, 10 * US, 8), &(clo_workload_job){.period_ns = 100 * US, .deadline_ns = 45 * US});
    clo_admission_result result = test(set, 4, CLO_ADMISSION_GREEDY, &answer);
    assert_int_equal(answer.verdict, CLO_ADMISSION_ADMITTED);
    assert_int_equal(answer.response_ns, 27500); /* 10 + 70 / 4 */
    assert_int_equal(answer.blocking_ns, 0);
    assert_int_equal(answer.fastest_ns, 10 * US);
    assert_true(result.utilization_most[0] == 0.8 && result.utilization_least[0] == 0.8);
    assert_int_equal(result.verdict, CLO_ADMISSION_ADMITTED);
    clo_workload_destroy(set);
}

/* At the entry a body blocks each executor, behind it all but the one that ran the predecessor. */
static void one_body_of_a_lower_band_blocks_each_time_that_the_path_waits(void **state)
{
    clo_workload *set = new_set();
    clo_admission_job answers[2];

    (void)state;
    add(set, new_graph(3, 10 * US, 1), &(clo_workload_job){.period_ns = 500 * US});
    add(set, new_graph(1, 40 * US, 100), &(clo_workload_job){.band = 3});
    clo_admission_result result = test(set, 2, CLO_ADMISSION_GREEDY, answers);
    assert_int_equal(answers[0].deadline_ns, 500 * US);                        /* the period */
    assert_int_equal(answers[0].response_ns, 30 * US + (2 + 1 + 1) * 20 * US); /* 40 us on each of two executors: 20 */
    assert_int_equal(answers[0].blocking_ns, 80 * US);
    assert_true(answers[1].verdict == CLO_ADMISSION_ADMITTED && answers[1].deadline_ns == CLO_TIME_NEVER);
    assert_int_equal(result.admitted, 2);

    result = test(set, 1, CLO_ADMISSION_GREEDY, answers); /* one executor: only the entry can be blocked */
    assert_int_equal(answers[0].response_ns, 70 * US);
    clo_workload_destroy(set);
}

static void the_earliest_deadline_first_counts_fewer_releases_of_the_others(void **state)
{
    clo_workload *set = new_set();
    clo_admission_job answers[2];

    (void)state;
    add(set, new_graph(1, 10, 1), &(clo_workload_job){.period_ns = 200, .deadline_ns = 60});
    add(set, new_graph(1, 20, 1), &(clo_workload_job){.period_ns = 100, .deadline_ns = 300});
    clo_admission_result result = test(set, 1, CLO_ADMISSION_EDF, answers);
    assert_int_equal(result.verdict, CLO_ADMISSION_ADMITTED);
    assert_int_equal(answers[0].response_ns, 50); /* 10, one release of 20, one body of 20 with a later deadline */
    assert_int_equal(answers[0].blocking_ns, 20);

    /* Any order: four releases of the other, 10 + 4 * 20 > 60. So the other, which leans on it, is unknown too. */
    result = test(set, 1, CLO_ADMISSION_GREEDY, answers);
    assert_int_equal(result.unknown, 2);
    assert_string_equal(answers[0].reason, "no bound of its response time up to its deadline was found");
    assert_string_equal(answers[1].reason, "a periodic job of its band or of a higher one is not admitted");
    clo_workload_destroy(set);
}

static void overhead_and_higher_bands_are_added(void **state)
{
    clo_platform *platform = scene_platform(1, 0);
    clo_workload *set = new_set();
    clo_admission_job answers[2];
    clo_admission_config config = {.size = sizeof config, .overhead_ns = 3};

    (void)state;
    add(set, new_graph(1, 10, 1), &(clo_workload_job){.period_ns = 100, .deadline_ns = 50});
    add(set, new_graph(1, 20, 1), &(clo_workload_job){.period_ns = 1000, .band = 1});
    ok(clo_admission_test(set, platform, &config, answers, NULL));
    assert_int_equal(answers[0].response_ns, 13 + 23);
    assert_int_equal(answers[1].response_ns, 23 + 13); /* ceil((36 + 50) / 100) = 1 */
    ok(clo_admission_test(set, platform, &config, NULL, NULL));
    clo_workload_destroy(set);
    clo_platform_destroy(platform);
}

static void what_is_impossible_is_refused(void **state)
{
    clo_workload *set = new_set();
    clo_admission_job answers[2];

    (void)state;
    add(set, new_graph(4, 10, 1), &(clo_workload_job){.deadline_ns = 39});
    add(set, new_graph(1, 10, 30),
        &(clo_workload_job){.period_ns = 100, .releases = 50, .deadline_ns = 900, .band = 1});
    clo_admission_result result = test(set, 2, CLO_ADMISSION_GREEDY, answers);
    assert_int_equal(result.refused, 2);
    assert_string_equal(answers[0].reason, "its longest chain of fastest times is longer than its deadline");
    assert_string_equal(answers[1].reason,
                        "its releases ask for more work than all executors do up to their deadlines");
    assert_int_equal(result.verdict, CLO_ADMISSION_REFUSED);
    clo_workload_destroy(set);

    set = new_set();
    add(set, new_graph(1, 10, 3), &(clo_workload_job){.deadline_ns = 25, .band = 2});
    add(set, new_graph(1, 10, 3), &(clo_workload_job){.deadline_ns = 25, .band = 2});
    result = test(set, 2, CLO_ADMISSION_GREEDY, answers); /* 60 in 2 * 25 */
    assert_int_equal(result.overloaded_band, 2);
    assert_int_equal(result.verdict, CLO_ADMISSION_REFUSED);
    clo_workload_destroy(set);
}

static void what_is_not_covered_is_unknown_and_says_so(void **state)
{
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_executor list[2] = {{0, 0, 0, -1, {65536, 65536, 65536, 65536}}, {0, 0, 0, -1, {65536, 65536, 65536, 65536}}};
    const int64_t capacities[CLO_RESOURCES_MAX] = {10, -1, -1, -1, -1, -1, -1, -1};
    const clo_task hungry = {.work_ns = 10, .demand = {6}};
    clo_platform *platform;
    clo_workload *set = new_set();
    clo_graph *graph;
    clo_admission_job answers[2];

    (void)state;
    desc.executors_count = 2;
    desc.executors = list;
    desc.kinds_count = 1;
    desc.machines_count = 1;
    desc.capacities = capacities;
    ok(clo_platform_create(&desc, &platform));
    ok(clo_graph_create("hungry", &graph));
    ok(clo_graph_add_task(graph, &hungry, NULL));
    ok(clo_graph_seal(graph));
    add(set, graph, &(clo_workload_job){.deadline_ns = 1000});
    add(set, new_graph(1, 10, 4), &(clo_workload_job){.deadline_ns = 1000, .limit = 1});
    ok(clo_admission_test(set, platform, NULL, answers, NULL));
    assert_string_equal(answers[0].reason, "the test does not cover demands of capacities");
    assert_string_equal(answers[1].reason, "the test does not cover limits of executors");
    assert_true(answers[0].verdict == CLO_ADMISSION_UNKNOWN && answers[1].verdict == CLO_ADMISSION_UNKNOWN);
    clo_workload_destroy(set);
    clo_platform_destroy(platform);
}

static void bad_arguments_are_refused(void **state)
{
    clo_platform *platform = scene_platform(2, 0);
    clo_workload *set = new_set();
    clo_graph *graph = new_graph(1, 10, 1);
    const clo_task nowhere = {.work_ns = 10, .executors_mask = 8};
    clo_graph *far;

    (void)state;
    add(set, graph, &(clo_workload_job){.deadline_ns = 1000});
    fails(CLO_ERR_ARGUMENT, "clo_admission_config.order is 7",
          clo_admission_test(set, platform, &(clo_admission_config){.size = sizeof(clo_admission_config), .order = 7},
                             NULL, NULL));
    fails(CLO_ERR_ARGUMENT, "clo_admission_config.overhead_ns is -1",
          clo_admission_test(set, platform,
                             &(clo_admission_config){.size = sizeof(clo_admission_config), .overhead_ns = -1}, NULL,
                             NULL));
    ok(clo_graph_create("far", &far));
    ok(clo_graph_add_task(far, &nowhere, NULL));
    ok(clo_graph_seal(far));
    add(set, far, &(clo_workload_job){.deadline_ns = 1000});
    fails(CLO_ERR_PLATFORM, "", clo_admission_test(set, platform, NULL, NULL, NULL));
    clo_workload_destroy(set);
    clo_platform_destroy(platform);
}

typedef struct twice {
    clo_workload *set;
    clo_platform *platform;
} twice;

static clo_status test_once(void *context)
{
    const twice *t = context;

    return clo_admission_test(t->set, t->platform, NULL, NULL, NULL);
}

static void every_allocation_may_fail(void **state)
{
    twice t = {new_set(), scene_platform(2, 0)};

    (void)state;
    add(t.set, new_graph(3, 10, 1), &(clo_workload_job){.period_ns = 100});
    add(t.set, new_graph(2, 10, 1), &(clo_workload_job){.period_ns = 100});
    assert_true(fault_each(test_once, &t) > 10);
    clo_workload_destroy(t.set);
    clo_platform_destroy(t.platform);
}

/* The period stands in for a deadline, but nobody has asked for it: a chain that is longer is no reason to refuse. */
static void a_job_that_outlasts_its_period_is_refused_only_with_a_deadline(void **state)
{
    clo_workload *set = new_set();
    clo_admission_job answers[2];

    (void)state;
    add(set, new_graph(3, 50, 1), &(clo_workload_job){.period_ns = 100});
    add(set, new_graph(3, 50, 1), &(clo_workload_job){.period_ns = 100, .deadline_ns = 100});
    (void)test(set, 4, CLO_ADMISSION_GREEDY, answers);
    assert_int_equal(answers[0].verdict, CLO_ADMISSION_UNKNOWN);
    assert_int_equal(answers[1].verdict, CLO_ADMISSION_REFUSED);
    clo_workload_destroy(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_alone_has_grahams_bound),
        cmocka_unit_test(one_body_of_a_lower_band_blocks_each_time_that_the_path_waits),
        cmocka_unit_test(the_earliest_deadline_first_counts_fewer_releases_of_the_others),
        cmocka_unit_test(overhead_and_higher_bands_are_added),
        cmocka_unit_test(what_is_impossible_is_refused),
        cmocka_unit_test(what_is_not_covered_is_unknown_and_says_so),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_job_that_outlasts_its_period_is_refused_only_with_a_deadline),
    };
    return cmocka_run_group_tests_name("admission", tests, NULL, NULL);
}
