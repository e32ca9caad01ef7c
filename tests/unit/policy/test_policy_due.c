/* Deadlines: mdd, and what `auto` and `parametric` make of them. */
#include "policy_scene.h"

#include "base/numbers/rng.h"

/* A job of one instance. */
static void due(policy_scene *s, int64_t arrival_ns, int64_t work_ns, int64_t deadline_ns, uint32_t weight)
{
    clo_task task = {.work_ns = work_ns, .instances = 1};

    scene_add(s, scene_graph(s, &task, 1),
              (clo_workload_job){.arrival_ns = arrival_ns, .deadline_ns = deadline_ns, .weight = weight});
}

static void expect_starts(policy_scene *s, const char *policy, const int64_t *starts_ns)
{
    scene_run(s, policy);
    for (uint32_t j = 0; j < s->jobs; j++)
        if (s->outcomes[j].start_ns != starts_ns[j])
            fail_msg("%s: job %u starts at %lld, not at %lld", policy, j, (long long)s->outcomes[j].start_ns,
                     (long long)starts_ns[j]);
}

/* What is lost waits behind what can be in time; of what can be, the earlier deadline goes first. */
static void who_can_be_in_time_goes_before_who_cannot(void **state)
{
    policy_scene s;

    (void)state;
    scene_open(&s, 1);
    due(&s, 0, 10, 0, 1);   /* runs first */
    due(&s, 1, 50, 5, 1);   /* late whatever is done */
    due(&s, 1, 10, 45, 1);  /* until 46 */
    due(&s, 1, 5, 1000, 1); /* has time */
    due(&s, 1, 10, 25, 1);  /* until 26 */
    expect_starts(&s, "edf", (int64_t[]){0, 10, 70, 80, 60});
    expect_starts(&s, "sjf", (int64_t[]){0, 35, 15, 10, 25});
    expect_starts(&s, "mdd", (int64_t[]){0, 30, 20, 80, 10});
    expect_starts(&s, "eft:mdd", (int64_t[]){0, 30, 20, 80, 10});
    assert_true(s.result.jobs_late == 1);
    assert_true(s.result.tardiness_mean_ns == (80 - 6) / 4.0); /* the first job has no deadline */
    scene_close(&s);
}

/* Of those that are late a heavier one goes before a shorter one; a deadline is nearer for one of weight. */
static void weights_count(void **state)
{
    policy_scene s;

    (void)state;
    scene_open(&s, 1);
    due(&s, 0, 10, 0, 1);
    due(&s, 1, 20, 1, 1);
    due(&s, 1, 40, 1, 4);
    due(&s, 1, 10, 99, 2); /* until 100 */
    due(&s, 1, 10, 94, 1); /* until 95 */
    expect_starts(&s, "mdd", (int64_t[]){0, 50, 10, 70, 80});
    scene_close(&s);
}

/* Nothing happens to the job that waits, but its time left falls below the work of those that come after it. */
static void a_deadline_that_comes_nearer_is_seen(void **state)
{
    static const char *const policies[] = {"mdd", "eft:mdd", "parametric:1,0,0,0,0,900,1,0,1,10ns"};
    policy_scene s;

    (void)state;
    scene_open(&s, 1);
    for (int i = 0; i < 12; i++)
        due(&s, 0, 30, 0, 1);
    due(&s, 1, 10, 99, 1);
    for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++) {
        scene_run(&s, policies[p]);
        if (s.outcomes[12].start_ns != 90)
            fail_msg("%s: starts at %lld", policies[p], (long long)s.outcomes[12].start_ns);
    }
    scene_close(&s);
}

#define LEAST_WORK "parametric:1,0,0,0,0,900,1,0,1"

/* For fewer late jobs what is lost goes last, and of the others the short one goes before the one that is due next. */
static void what_is_lost_goes_last_where_late_jobs_are_counted(void **state)
{
    policy_scene s;

    (void)state;
    scene_open(&s, 1);
    due(&s, 0, 10, 0, 1);   /* runs first */
    due(&s, 1, 5, 2, 1);    /* late whatever is done */
    due(&s, 1, 10, 45, 1);  /* until 46 */
    due(&s, 1, 8, 1000, 1); /* has time */
    due(&s, 1, 20, 39, 1);  /* until 40, which is before 46 */
    expect_starts(&s, LEAST_WORK ",10ns", (int64_t[]){0, 10, 35, 45, 15});
    expect_starts(&s, LEAST_WORK ",for=late,10ns", (int64_t[]){0, 48, 10, 40, 20});
    assert_true(s.result.jobs_late == 1);
    expect_starts(&s, LEAST_WORK ",for=p95,10ns", (int64_t[]){0, 10, 23, 15, 33});
    scene_close(&s);
}

/* Also behind 40 jobs of which `auto` has learnt that moving is free, so that it goes by the order of mdd. */
static void no_weight_brings_what_is_lost_to_the_front(void **state)
{
    static const char *const policies[] = {"auto:late", "parametric:late", LEAST_WORK ",for=late,10ns"};
    enum { BEFORE = 40, EACH = 3, TIME_NS = 10 };

    (void)state;
    for (uint32_t before = 1; before <= BEFORE; before += BEFORE - 1) {
        int64_t free_ns = before * EACH * TIME_NS;
        policy_scene s;
        scene_open(&s, 1);
        for (uint32_t j = 0; j < before; j++)
            scene_job(&s, 0, TIME_NS, EACH);
        due(&s, free_ns - 1, 5, 2, UINT32_MAX); /* late whatever is done */
        due(&s, free_ns - 1, 10, 45, 1);
        due(&s, free_ns - 1, 10, 0, 1);
        for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++) {
            scene_run(&s, policies[p]);
            if (s.outcomes[before].start_ns != free_ns + 20)
                fail_msg("%s: starts at %lld", policies[p], (long long)s.outcomes[before].start_ns);
        }
        scene_close(&s);
    }
}

/* A chain that cannot be in time on any number of executors is lost, however little work it has. */
static void a_path_that_is_too_long_is_lost(void **state)
{
    const clo_task chain[2] = {{.work_ns = 10}, {.work_ns = 10}};
    policy_scene s;

    (void)state;
    scene_open(&s, 2);
    scene_job(&s, 0, 10, 2);
    clo_graph *graph = scene_graph(&s, chain, 2);
    ok(clo_graph_add_edge(graph, 0, 1, 0));
    scene_add(&s, graph, (clo_workload_job){.arrival_ns = 1, .deadline_ns = 28}); /* until 29; 20 from 10 on */
    due(&s, 1, 40, 49, 1);
    due(&s, 1, 40, 49, 1);
    scene_run(&s, LEAST_WORK ",for=late,10ns");
    assert_int_equal(s.outcomes[1].start_ns, 50);
    assert_true(s.result.jobs_late == 1);
    scene_close(&s);
}

/* The same choices as wspt where no job has one. */
static void without_deadlines_it_is_wspt(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        clo_rng rng = clo_rng_seed(seed);
        clo_stream_outcome wspt[SCENE_JOBS_MAX];
        policy_scene s;
        scene_open(&s, 1 + clo_rng_below(&rng, 3));
        for (uint32_t j = 0; j < SCENE_JOBS_MAX; j++)
            due(&s, j * 20, 1 + clo_rng_below(&rng, 100), 0, 1 + clo_rng_below(&rng, 4));
        scene_run(&s, "wspt");
        memcpy(wspt, s.outcomes, sizeof wspt);
        scene_run(&s, "mdd");
        for (uint32_t j = 0; j < s.jobs; j++)
            assert_int_equal(s.outcomes[j].start_ns, wspt[j].start_ns);
        scene_close(&s);
    }
}

/* Jobs come and end in any order while others are looked over; deadlines and works at the ends of what there is. */
static void any_stream_ends(void **state)
{
    static const char *const policies[] = {"mdd",      "deft:mdd",   "auto",           "auto:late",
                                           "auto:p95", "parametric", "parametric:any", "parametric:late"};
    static const int64_t deadlines_ns[] = {0, 1, 50, 1000, 100000, INT64_MAX / 4};
    uint64_t late = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        clo_rng rng = clo_rng_seed(seed);
        policy_scene s;
        scene_open(&s, 1 + clo_rng_below(&rng, 8));
        for (uint32_t j = 0; j < SCENE_JOBS_MAX; j++) {
            clo_task task = {.work_ns = clo_rng_below(&rng, 200), .instances = 1 + clo_rng_below(&rng, 6)};
            scene_add(&s, scene_graph(&s, &task, 1),
                      (clo_workload_job){.arrival_ns = (int64_t)(j * (seed % 40)),
                                         .deadline_ns = deadlines_ns[clo_rng_below(&rng, 6)],
                                         .weight = clo_rng_below(&rng, 2) > 0 ? 1 : UINT32_MAX,
                                         .band = (uint32_t)(seed % 3 == 0) * clo_rng_below(&rng, CLO_BANDS_MAX)});
        }
        for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++) {
            scene_run(&s, policies[p]);
            assert_int_equal(s.result.jobs_ended, SCENE_JOBS_MAX);
            late += s.result.jobs_late;
        }
        scene_close(&s);
    }
    assert_true(late > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_can_be_in_time_goes_before_who_cannot),
        cmocka_unit_test(what_is_lost_goes_last_where_late_jobs_are_counted),
        cmocka_unit_test(no_weight_brings_what_is_lost_to_the_front),
        cmocka_unit_test(a_path_that_is_too_long_is_lost),
        cmocka_unit_test(weights_count),
        cmocka_unit_test(a_deadline_that_comes_nearer_is_seen),
        cmocka_unit_test(without_deadlines_it_is_wspt),
        cmocka_unit_test(any_stream_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
