/* test_policy_follow.c - the policy "follow": where times are as planned no job ends later than in the plan, however the
 * plan was made; runs of other policies are repeated; what the log does not have runs, too; nothing in a log can break
 * it. */
#include "sample.h"
#include "synch_case.h"

#include <clotho/follow.h>
#include <clotho/stream.h>

#include <string.h>

#define SEEDS sample_size(SANITIZED ? 10 : 60, 1)

enum { JOBS_MAX = 16 };

/* Simulates, checks that nothing was refused and that all ended; finish [jobs]. Returns the log if it is wanted. */
static clo_log *simulate(const synch_case *c, const clo_policy *policy, const clo_log *plan, int64_t *finish,
                         clo_stream_result *result)
{
    const clo_follow_argument argument = {.plan = plan};
    const clo_log_policy name = {policy->name, NULL};
    clo_log_header header = CLO_LOG_HEADER_INIT;
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_stream_outcome outcomes[JOBS_MAX];
    uint32_t jobs = clo_workload_jobs(c->workload);
    clo_log *log;

    assert_true(jobs <= JOBS_MAX);
    header.policies = &name;
    header.policies_count = 1;
    header.clock = CLO_CLOCK_VIRTUAL;
    ok(clo_log_create(&header, 0, &log));
    *result = (clo_stream_result)CLO_STREAM_RESULT_INIT;
    config.policy = policy;
    config.argument = plan != NULL ? &argument : NULL;
    config.outcomes = outcomes;
    config.log = log;
    if (clo_stream_simulate(c->workload, c->platform, &config, result) != CLO_OK)
        fail_msg("%s: %s", policy->name, clo_last_error());
    assert_int_equal(result->jobs_ended, jobs);
    for (uint32_t j = 0; j < jobs; j++)
        finish[j] = outcomes[j].finish_ns;
    return log;
}

/* Plans, follows the plan and compares. */
static void follow_plan(const synch_case *c, const char *planner, uint64_t seed)
{
    const clo_synch_config config = {.size = sizeof config, .planner = planner, .lp = CLO_SYNCH_LP_NEVER};
    int64_t done[JOBS_MAX] = {0}, finish[JOBS_MAX];
    clo_stream_result result;
    clo_synch *plan = NULL;
    clo_log *log;
    size_t count;

    ok(clo_synch_create(c->workload, c->platform, &config, &plan));
    ok(clo_synch_log(plan, &log));
    const clo_synch_piece *piece = clo_synch_pieces(plan, &count);
    for (size_t i = 0; i < count; i++)
        done[piece[i].job] = piece[i].finish_ns > done[piece[i].job] ? piece[i].finish_ns : done[piece[i].job];
    clo_log_destroy(simulate(c, clo_policy_find("follow"), log, finish, &result));
    assert_int_equal(result.refused + result.fallbacks, 0);
    for (uint32_t j = 0; j < clo_workload_jobs(c->workload); j++)
        if (finish[j] > done[j])
            fail_msg("seed %llu, %s: job %u ends at %lld, in the plan at %lld", (unsigned long long)seed, planner, j,
                     (long long)finish[j], (long long)done[j]);
    clo_log_destroy(log);
    clo_synch_destroy(plan);
}

static void no_job_ends_later_than_in_its_plan(void **state)
{
    static const char *const planners[] = {"synchpack-2", "tetris-weighted", "jsq-maxweight"};

    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        synch_case c;
        synch_case_random(&c, seed, seed % 2 == 0, seed % 3 == 0 ? 0 : 400);
        ok(clo_workload_sort(c.workload));
        for (uint32_t p = 0; p < 3; p++)
            follow_plan(&c, planners[p], seed);
        synch_case_close(&c);
    }
}

/* fifo's run, or another one's, followed: the same ends or earlier ones. */
static void the_run_of_another_policy_is_followed(void **state)
{
    static const char *const policies[] = {"fifo", "wspt", "tetris", "fair"};

    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        synch_case c;
        synch_case_random(&c, seed, false, seed % 2 == 0 ? 0 : 400);
        ok(clo_workload_sort(c.workload));
        for (uint32_t p = 0; p < 4; p++) {
            int64_t first[JOBS_MAX], then[JOBS_MAX];
            clo_stream_result result;
            clo_log *run = simulate(&c, clo_policy_find(policies[p]), NULL, first, &result);
            clo_log_destroy(simulate(&c, clo_policy_find("follow"), run, then, &result));
            assert_int_equal(result.refused, 0);
            for (uint32_t j = 0; j < clo_workload_jobs(c.workload); j++)
                if (then[j] > first[j])
                    fail_msg("seed %llu, %s: job %u ends at %lld, in the log at %lld", (unsigned long long)seed,
                             policies[p], j, (long long)then[j], (long long)first[j]);
            clo_log_destroy(run);
        }
        synch_case_close(&c);
    }
}

/* A task that was stopped runs as a whole; nothing is refused. */
static void preemptive_plans_are_followed_without_preemption(void **state)
{
    static const char *const planners[] = {"psrs", "synchpack-3"};

    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        for (uint32_t p = 0; p < 2; p++) {
            const clo_synch_config config = {.size = sizeof config, .planner = planners[p], .lp = CLO_SYNCH_LP_NEVER};
            int64_t finish[JOBS_MAX];
            clo_stream_result result;
            clo_synch *plan = NULL;
            synch_case c;
            clo_log *log;
            synch_case_random(&c, seed, true, 300);
            ok(clo_workload_sort(c.workload));
            ok(clo_synch_create(c.workload, c.platform, &config, &plan));
            ok(clo_synch_log(plan, &log));
            clo_log_destroy(simulate(&c, clo_policy_find("follow"), log, finish, &result));
            clo_log_destroy(log);
            clo_synch_destroy(plan);
            synch_case_close(&c);
        }
}

/* One machine of one executor, three jobs of one task, 10 ns each. */
static void open_three(synch_case *c)
{
    static const int64_t time[] = {10};

    synch_case_open(c, 1, 1, 10);
    for (uint32_t j = 0; j < 3; j++)
        synch_case_add(c, 1, 1, time, 0, 1);
}

static clo_log *log_of(const clo_log_record *records, size_t count)
{
    clo_log *log;

    ok(clo_log_create(NULL, 0, &log));
    for (size_t i = 0; i < count; i++)
        assert_true(clo_log_append(log, &records[i]));
    return log;
}

static void jobs_outside_the_log_come_after_those_in_it(void **state)
{
    static const clo_log_record last_first[] = {{0, 2, CLO_LOG_ARRIVE, CLO_NONE, CLO_NONE, CLO_NONE, 0},
                                                {10, 2, CLO_LOG_FINISH, 0, 0, 0, 0}};
    int64_t finish[JOBS_MAX];
    clo_stream_result result;
    synch_case c;

    (void)state;
    open_three(&c);
    clo_log *log = log_of(last_first, 2);
    clo_log_destroy(simulate(&c, clo_policy_find("follow"), log, finish, &result));
    assert_int_equal(result.refused, 0);
    assert_int_equal(finish[0], 10); /* it came first, and nobody planned was there */
    assert_int_equal(finish[2], 20);
    assert_int_equal(finish[1], 30);
    clo_log_destroy(log);
    clo_log_destroy(simulate(&c, clo_policy_find("follow"), NULL, finish, &result)); /* nothing is planned */
    assert_int_equal(finish[0] + finish[1] + finish[2], 60);
    synch_case_close(&c);
}

static void what_the_log_has_and_does_not_come_holds_nothing_up(void **state)
{
    static const int64_t time[] = {10};
    int64_t finish[JOBS_MAX];
    clo_stream_result result;
    synch_case c;

    (void)state;
    /* Job 0 of the log, planned for all of both executors until 90, and job 1: only one job comes. */
    clo_log_record records[20] = {{0, 0, CLO_LOG_ARRIVE, CLO_NONE, CLO_NONE, CLO_NONE, 0},
                                  {0, 1, CLO_LOG_ARRIVE, CLO_NONE, CLO_NONE, CLO_NONE, 1}};
    for (uint32_t i = 0; i < 18; i++)
        records[2 + i] =
            (clo_log_record){i / 2 * 10 + 10, i < 12 ? 1 : 0, CLO_LOG_FINISH, 0, i % 12, i % 2, i / 2 * 10};
    synch_case_open(&c, 1, 2, 10);
    synch_case_add(&c, 6, 1, time, 0, 1);
    clo_log *log = log_of(records, 20);
    clo_log_destroy(simulate(&c, clo_policy_find("follow"), log, finish, &result));
    assert_int_equal(finish[0], 31); /* it is waited for, for a part of its time */
    assert_int_equal(result.refused + result.fallbacks, 0);
    clo_log_destroy(log);
    synch_case_close(&c);
}

static void more_than_the_log_has_of_a_job_runs_at_once(void **state)
{
    static const clo_log_record records[] = {{0, 0, CLO_LOG_ARRIVE, CLO_NONE, CLO_NONE, CLO_NONE, 0},
                                             {10, 0, CLO_LOG_FINISH, 0, 0, 0, 0}};
    static const int64_t time[] = {10};
    int64_t finish[JOBS_MAX];
    clo_stream_result result;
    synch_case c;

    (void)state;
    synch_case_open(&c, 1, 4, 10);
    synch_case_add(&c, 8, 1, time, 0, 1);
    clo_log *log = log_of(records, 2);
    clo_log_destroy(simulate(&c, clo_policy_find("follow"), log, finish, &result));
    assert_int_equal(finish[0], 20);
    assert_int_equal(result.refused + result.fallbacks, 0);
    clo_log_destroy(log);
    synch_case_close(&c);
}

/* What the log names and there is not: executors, jobs, tasks, instances; times that are no times. */
static void nothing_in_a_log_breaks_it(void **state)
{
    static const clo_log_record records[] = {
        {INT64_MAX, UINT64_MAX, CLO_LOG_FINISH, 0, 0, 0, INT64_MIN},
        {INT64_MIN, 0, CLO_LOG_FINISH, CLO_NONE, CLO_NONE, 0, INT64_MAX},
        {5, 1, CLO_LOG_FINISH, 77, 0, 0, 0},
        {5, 1, CLO_LOG_FINISH, 0, 9, 0, 0},
        {5, 1, CLO_LOG_FINISH, 0, 9, 12, 0},
        {5, 16777215, CLO_LOG_FINISH, 0, 9, 0, -3},
        {5, 16777216, CLO_LOG_FINISH, 0, 9, 0, -3},
        {INT64_MAX, 2, CLO_LOG_ARRIVE, CLO_NONE, CLO_NONE, CLO_NONE, 0},
        {INT64_MAX, 2, CLO_LOG_FINISH, 0, 0, 0, INT64_MAX},
        {0, UINT64_MAX, CLO_LOG_ARRIVE, CLO_NONE, CLO_NONE, CLO_NONE, 0},
    };
    int64_t finish[JOBS_MAX];
    clo_stream_result result;
    synch_case c;

    (void)state;
    open_three(&c);
    for (size_t count = 0; count <= sizeof records / sizeof records[0]; count++) {
        clo_log *log = log_of(records, count);
        clo_log_destroy(simulate(&c, clo_policy_find("follow"), log, finish, &result));
        assert_int_equal(finish[0] + finish[1] + finish[2], 60);
        clo_log_destroy(log);
    }
    synch_case_close(&c);
}

/* In the log four instances run two at a time; the job may have one executor now. */
static void a_job_keeps_its_limit(void **state)
{
    static const clo_log_record records[] = {
        {0, 0, CLO_LOG_ARRIVE, CLO_NONE, CLO_NONE, CLO_NONE, 0},
        {10, 0, CLO_LOG_FINISH, 0, 0, 0, 0},
        {10, 0, CLO_LOG_FINISH, 0, 1, 1, 0},
        {20, 0, CLO_LOG_FINISH, 0, 2, 0, 10},
        {20, 0, CLO_LOG_FINISH, 0, 3, 1, 10},
    };
    const clo_task task = {.work_ns = 10, .instances = 4};
    clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
    int64_t finish[JOBS_MAX];
    clo_stream_result result;
    clo_graph *graph;
    synch_case c;

    (void)state;
    synch_case_open(&c, 1, 2, 10);
    ok(clo_graph_create("job", &graph));
    ok(clo_graph_add_task(graph, &task, NULL));
    ok(clo_graph_seal(graph));
    ok(clo_workload_adopt(c.workload, graph));
    job.graph = graph;
    job.limit = 1;
    ok(clo_workload_add(c.workload, &job));
    clo_log *log = log_of(records, sizeof records / sizeof records[0]);
    clo_log_destroy(simulate(&c, clo_policy_find("follow"), log, finish, &result));
    assert_int_equal(result.refused + result.fallbacks, 0);
    assert_int_equal(finish[0], 40);
    clo_log_destroy(log);
    synch_case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_job_ends_later_than_in_its_plan),
        cmocka_unit_test(the_run_of_another_policy_is_followed),
        cmocka_unit_test(preemptive_plans_are_followed_without_preemption),
        cmocka_unit_test(jobs_outside_the_log_come_after_those_in_it),
        cmocka_unit_test(what_the_log_has_and_does_not_come_holds_nothing_up),
        cmocka_unit_test(more_than_the_log_has_of_a_job_runs_at_once),
        cmocka_unit_test(a_job_keeps_its_limit),
        cmocka_unit_test(nothing_in_a_log_breaks_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
