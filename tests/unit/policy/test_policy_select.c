/* What the policies that select choose, on streams small enough to be worked out by hand. */
#include "policy_scene.h"

#include "base/numbers/rng.h"
#include "policy/select/policies.h"

static void expect_starts(policy_scene *s, const char *policy, const int64_t *start_ns)
{
    scene_run(s, policy);
    for (uint32_t j = 0; j < s->jobs; j++)
        if (s->outcomes[j].start_ns != start_ns[j])
            fail_msg("%s: job %u starts at %lld, not at %lld", policy, j, (long long)s->outcomes[j].start_ns,
                     (long long)start_ns[j]);
}

static void sjf_takes_the_job_with_the_least_work(void **state)
{
    policy_scene s;

    (void)state;
    scene_open(&s, 1);
    scene_job(&s, 0, 100, 1);
    scene_job(&s, 1, 30, 2); /* 60 in all: longer than the next one */
    scene_job(&s, 2, 50, 1);
    expect_starts(&s, "fifo", (int64_t[]){0, 100, 160});
    expect_starts(&s, "sjf", (int64_t[]){0, 150, 100});
    expect_starts(&s, "sjf-cp", (int64_t[]){0, 150, 100});
    scene_close(&s);
}

/* After its first instance the first job has 40 left, less than the second one, which came meanwhile. */
static void sjf_counts_what_is_left(void **state)
{
    policy_scene s;

    (void)state;
    scene_open(&s, 1);
    scene_job(&s, 0, 40, 2);
    scene_job(&s, 5, 50, 1);
    expect_starts(&s, "sjf", (int64_t[]){0, 80});
    expect_starts(&s, "sjf-cp", (int64_t[]){0, 80});
    scene_close(&s);
}

/* Two roots; the second one begins the longer path. */
static void sjf_cp_and_rank_take_the_critical_path_first(void **state)
{
    policy_scene s;
    clo_task tasks[3] = {{.work_ns = 10}, {.work_ns = 10}, {.work_ns = 20}};

    (void)state;
    scene_open(&s, 1);
    clo_graph *graph = scene_graph(&s, tasks, 3);
    ok(clo_graph_add_edge(graph, 1, 2, 0));
    scene_add(&s, graph, (clo_workload_job){0});
    scene_run(&s, "sjf");
    assert_int_equal(scene_start(&s, 0, 0, 0, NULL), 0);
    scene_run(&s, "sjf-cp");
    assert_int_equal(scene_start(&s, 0, 1, 0, NULL), 0);
    assert_int_equal(scene_start(&s, 0, 0, 0, NULL), 30);
    scene_run(&s, "rank");
    assert_int_equal(scene_start(&s, 0, 1, 0, NULL), 0);
    scene_close(&s);
}

/* At 100 the ratios less 1 are 99/50, 90/20 and 1/10: the middle one leads, though it was last when it came. */
static void hrrn_takes_the_highest_response_ratio_at_the_time(void **state)
{
    policy_scene s;

    (void)state;
    scene_open(&s, 1);
    scene_job(&s, 0, 100, 1);
    scene_job(&s, 1, 50, 1);
    scene_job(&s, 10, 20, 1);
    scene_job(&s, 99, 10, 1);
    expect_starts(&s, "hrrn", (int64_t[]){0, 120, 100, 170}); /* at 120: 119/50 against 21/10 */
    scene_close(&s);
}

/* Against the rule itself: whenever a job of one instance starts, no other that waits has a higher ratio. */
static void hrrn_is_exact_on_random_streams(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        clo_rng rng = clo_rng_seed(seed);
        int64_t work[SCENE_JOBS_MAX], at_ns = 0;
        policy_scene s;
        scene_open(&s, 1 + clo_rng_below(&rng, 2));
        for (uint32_t j = 0; j < SCENE_JOBS_MAX; j++) {
            work[j] = 1 + clo_rng_below(&rng, 1u << (1 + clo_rng_below(&rng, 12)));
            scene_job(&s, at_ns, work[j], 1);
            at_ns += clo_rng_below(&rng, 400);
        }
        scene_run(&s, "hrrn");
        for (uint32_t j = 0; j < s.jobs; j++)
            for (uint32_t k = 0; k < s.jobs; k++) {
                const clo_stream_outcome *a = &s.outcomes[j], *b = &s.outcomes[k];
                bool waits = b->arrival_ns < a->start_ns && b->start_ns > a->start_ns;
                if (waits && (a->start_ns - a->arrival_ns) * work[k] < (a->start_ns - b->arrival_ns) * work[j])
                    fail_msg("seed %u: job %u started before %u", (unsigned)seed, j, k);
            }
        scene_close(&s);
    }
}

/* Ten executors; works of 800 and 200. */
static void wfair_shares_by_the_power_of_the_work(void **state)
{
    static const struct {
        const char *policy;
        uint32_t first, second;
    } cases[] = {{"wfair:0", 5, 5},   {"wfair:1", 8, 2},    {"wfair:-1.0", 2, 8}, {"wfair", 2, 8},
                 {"wfair:0.5", 7, 3}, {"wfair:-0.5", 3, 7}, {"wfair:2.0", 10, 0}, {"wfair:-2", 0, 10}};
    policy_scene s;

    (void)state;
    scene_open(&s, 10);
    scene_job(&s, 0, 5, 10); /* holds all executors until both are there */
    scene_job(&s, 1, 40, 20);
    scene_job(&s, 1, 10, 20);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        scene_run(&s, cases[i].policy);
        if (scene_started(&s, 1, 5) != cases[i].first || scene_started(&s, 2, 5) != cases[i].second)
            fail_msg("%s: %u and %u", cases[i].policy, scene_started(&s, 1, 5), scene_started(&s, 2, 5));
    }
    scene_close(&s);
}

static void weights_count_in_wfair(void **state)
{
    clo_task task = {.work_ns = 10, .instances = 20};
    policy_scene s;

    (void)state;
    scene_open(&s, 10);
    scene_job(&s, 0, 5, 10);
    scene_add(&s, scene_graph(&s, &task, 1), (clo_workload_job){.arrival_ns = 1, .weight = 4});
    scene_add(&s, scene_graph(&s, &task, 1), (clo_workload_job){.arrival_ns = 1});
    scene_run(&s, "wfair:0");
    assert_int_equal(scene_started(&s, 1, 5), 8);
    assert_int_equal(scene_started(&s, 2, 5), 2);
    scene_close(&s);
}

/* Ghodsi et al. 2011, section 4.1: 9 CPUs and 18 GB; <1, 4> and <3, 1> get 3 and 2 tasks. */
static void drf_meets_the_example_of_its_paper(void **state)
{
    clo_task a = {.work_ns = 10, .instances = 10, .demand = {1, 4}}, b = a, all = {.work_ns = 5, .demand = {9, 18}};
    policy_scene s;

    (void)state;
    b.demand[0] = 3, b.demand[1] = 1;
    scene_open(&s, 20);
    s.capacities[0] = 9, s.capacities[1] = 18;
    scene_add(&s, scene_graph(&s, &all, 1), (clo_workload_job){0});
    scene_add(&s, scene_graph(&s, &a, 1), (clo_workload_job){.arrival_ns = 1});
    scene_add(&s, scene_graph(&s, &b, 1), (clo_workload_job){.arrival_ns = 1});
    scene_run(&s, "drf");
    assert_int_equal(scene_started(&s, 1, 5), 3);
    assert_int_equal(scene_started(&s, 2, 5), 2);
    scene_close(&s);
}

/* Two jobs of one group against one without: six executors, three for each user. */
static void drf_and_capacity_share_among_groups(void **state)
{
    static const char *const policies[] = {"drf", "capacity"};
    clo_task task = {.work_ns = 10, .instances = 10};
    policy_scene s;

    (void)state;
    scene_open(&s, 6);
    scene_job(&s, 0, 5, 6);
    for (uint32_t j = 0; j < 3; j++)
        scene_add(&s, scene_graph(&s, &task, 1), (clo_workload_job){.arrival_ns = 1, .group = j < 2 ? 7 : 0});
    for (int p = 0; p < 2; p++) {
        scene_run(&s, policies[p]);
        assert_int_equal(scene_started(&s, 1, 5), 3); /* the older one of the group */
        assert_int_equal(scene_started(&s, 2, 5), 0);
        assert_int_equal(scene_started(&s, 3, 5), 3);
    }
    scene_close(&s);
}

/* Task 2, two edges below task 0, is ready at 2; task 4, one edge below task 3, at 3, when an executor is free. */
static void capacity_goes_breadth_first(void **state)
{
    clo_task tasks[6] = {{.work_ns = 1}, {.work_ns = 1},  {.work_ns = 50},
                         {.work_ns = 3}, {.work_ns = 50}, {.work_ns = 5}};
    policy_scene s;

    (void)state;
    scene_open(&s, 2);
    clo_graph *graph = scene_graph(&s, tasks, 6);
    ok(clo_graph_add_edge(graph, 0, 1, 0));
    ok(clo_graph_add_edge(graph, 1, 2, 0));
    ok(clo_graph_add_edge(graph, 3, 4, 0));
    ok(clo_graph_add_edge(graph, 0, 5, 0));
    scene_add(&s, graph, (clo_workload_job){0});
    scene_run(&s, "fifo");
    assert_int_equal(scene_start(&s, 0, 2, 0, NULL), 3);
    scene_run(&s, "capacity");
    assert_int_equal(scene_start(&s, 0, 4, 0, NULL), 3);
    assert_int_equal(scene_start(&s, 0, 2, 0, NULL), 7);
    scene_close(&s);
}

static void limits_and_bands_hold(void **state)
{
    clo_task task = {.work_ns = 10, .instances = 4};
    policy_scene s;
    static const char *const policies[] = {"sjf",      "sjf-cp",   "hrrn",          "wfair",    "drf",    "capacity",
                                           "eft:fair", "deft:sjf", "graphene-star", "graphene", "tetris", "replan:4"};

    (void)state;
    scene_open(&s, 2);
    scene_job(&s, 0, 5, 2);
    scene_add(&s, scene_graph(&s, &task, 1), (clo_workload_job){.arrival_ns = 1, .band = 1});
    scene_add(&s, scene_graph(&s, &task, 1), (clo_workload_job){.arrival_ns = 2, .limit = 1});
    for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++) {
        scene_run(&s, policies[p]);
        assert_int_equal(s.outcomes[2].start_ns, 5); /* of the higher band, one executor only */
        assert_int_equal(scene_started(&s, 2, 5), 1);
        assert_int_equal(s.outcomes[2].finish_ns, 45);
        assert_int_equal(s.outcomes[1].finish_ns, 45);
    }
    scene_close(&s);
}

static bool may_start(const clo_view *view, uint32_t job, uint32_t stage)
{
    return clo_select_startable(view, job, stage);
}

/* Selects for decide_one_by_one. */
static const clo_selector *one_by_one;

static bool decide_one_by_one(void *state, const clo_view *view, clo_choice *choice)
{
    return one_by_one->select(state, view, may_start, choice);
}

/* Jobs of one to twelve stages with edges; few of their demands are 0. */
static void add_exclusive_jobs(policy_scene *s, clo_rng *rng)
{
    for (uint32_t j = 0; j < 6; j++) {
        clo_task tasks[12] = {0};
        uint32_t count = 1 + clo_rng_below(rng, 12);
        for (uint32_t t = 0; t < count; t++) {
            tasks[t].work_ns = clo_rng_below(rng, 20);
            tasks[t].instances = 1 + clo_rng_below(rng, 3);
            for (uint32_t r = 0; r < 2; r++)
                tasks[t].demand[r] = clo_rng_below(rng, 6) == 0 ? 0 : 1 + clo_rng_below(rng, 4);
        }
        clo_graph *graph = scene_graph(s, tasks, count);
        for (uint32_t t = 1; t < count; t++)
            if (clo_rng_below(rng, 3) == 0)
                ok(clo_graph_add_edge(graph, clo_rng_below(rng, t), t, 0));
        scene_add(s, graph,
                  (clo_workload_job){.arrival_ns = clo_rng_below(rng, 40),
                                     .limit = clo_rng_below(rng, 4) == 0 ? 2 : 0,
                                     .band = clo_rng_below(rng, 4) == 0});
    }
}

/* What cannot fit is passed at once: the same log, the same steps, as with a look at each, whatever their bound. */
static void passing_at_once_decides_as_looking_at_each(void **state)
{
    static const clo_selector *const selectors[] = {&clo_selector_fifo, &clo_selector_hrrn,   &clo_selector_drf,
                                                    &clo_selector_rank, &clo_selector_sjf_cp, &clo_selector_capacity};

    (void)state;
    for (uint64_t seed = 0; seed < 600; seed++) {
        one_by_one = selectors[seed % 6];
        clo_policy each = *one_by_one->policy;
        each.decide = decide_one_by_one;
        clo_rng rng = clo_rng_seed(seed);
        policy_scene s;
        clo_log *logs[2];
        clo_stream_result results[2] = {CLO_STREAM_RESULT_INIT, CLO_STREAM_RESULT_INIT};
        size_t counts[2];
        scene_open(&s, 2 + clo_rng_below(&rng, 6));
        s.desc.machines_count = 1 + clo_rng_below(&rng, 2);
        for (uint32_t e = 0; e < s.desc.executors_count; e++)
            s.executors[e].machine = e % s.desc.machines_count;
        for (uint32_t m = 0; m < s.desc.machines_count; m++)
            for (uint32_t r = 0; r < 2; r++)
                s.capacities[m * CLO_RESOURCES_MAX + r] = 4 + clo_rng_below(&rng, 3);
        ok(clo_platform_create(&s.desc, &s.platform));
        add_exclusive_jobs(&s, &rng);
        uint32_t steps_max = clo_rng_below(&rng, 2) * (1 + clo_rng_below(&rng, 8));
        for (int way = 0; way < 2; way++) {
            clo_log_policy named = {.name = each.name};
            clo_log_header header = CLO_LOG_HEADER_INIT;
            clo_stream_config config = CLO_STREAM_CONFIG_INIT;
            header.clock = CLO_CLOCK_VIRTUAL;
            header.executors = s.desc.executors_count;
            header.policies = &named;
            header.policies_count = 1;
            ok(clo_log_create(&header, SCENE_RECORDS, &logs[way]));
            config.policy = way == 0 ? one_by_one->policy : &each;
            config.steps_max = steps_max;
            config.log = logs[way];
            ok(clo_stream_simulate(s.workload, s.platform, &config, &results[way]));
        }
        const clo_log_record *a = clo_log_records(logs[0], &counts[0]), *b = clo_log_records(logs[1], &counts[1]);
        assert_int_equal(counts[0], counts[1]);
        assert_memory_equal(a, b, counts[0] * sizeof *a);
        assert_int_equal(results[0].decision_steps, results[1].decision_steps);
        clo_log_destroy(logs[0]);
        clo_log_destroy(logs[1]);
        scene_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sjf_takes_the_job_with_the_least_work),
        cmocka_unit_test(sjf_counts_what_is_left),
        cmocka_unit_test(sjf_cp_and_rank_take_the_critical_path_first),
        cmocka_unit_test(hrrn_takes_the_highest_response_ratio_at_the_time),
        cmocka_unit_test(hrrn_is_exact_on_random_streams),
        cmocka_unit_test(wfair_shares_by_the_power_of_the_work),
        cmocka_unit_test(weights_count_in_wfair),
        cmocka_unit_test(drf_meets_the_example_of_its_paper),
        cmocka_unit_test(drf_and_capacity_share_among_groups),
        cmocka_unit_test(capacity_goes_breadth_first),
        cmocka_unit_test(limits_and_bands_hold),
        cmocka_unit_test(passing_at_once_decides_as_looking_at_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
