/* Streams of jobs whose graphs have branches: every policy schedules them validly, the log leads to its decisions, and
 * the judge of logs finds lies about arms and about what was skipped. A stream of one job is the job. */
#include "support.h"

#include "random.h"
#include "trace/log_kinds.h"

#include <stdlib.h>
#include <string.h>

#define SEEDS 36
#define SEEDS_STEP (SANITIZED ? 7u : 1u)

enum { JOBS = 6, GRAPHS = 3, RECORDS = 1 << 20 };

typedef struct scene {
    clo_graph *graphs[GRAPHS];
    clo_cost *costs[GRAPHS];
    const clo_cost *of_job[JOBS];
    clo_platform *platform;
    clo_workload *workload;
    clo_stream_job judged[JOBS];
} scene;

/* Only two of three seeds give a random DAG, which alone has branches. */
static uint64_t of_dag(uint64_t seed)
{
    return seed / 2 * 3 + seed % 2;
}

static scene make_scene(uint64_t seed, unsigned features)
{
    scene s = {.platform = random_platform(of_dag(seed), features)};

    ok(clo_workload_create("branches", &s.workload));
    for (uint32_t g = 0; g < GRAPHS; g++) {
        unsigned more = RANDOM_BRANCHES | (g == 0 ? 0u : RANDOM_SMALL) | (g == 2 ? RANDOM_GRAIN : 0u);
        s.graphs[g] = random_graph(of_dag(seed), features | more);
        ok(clo_cost_create(s.graphs[g], s.platform, &s.costs[g]));
    }
    for (uint32_t j = 0; j < JOBS; j++) {
        clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
        job.graph = s.graphs[j % GRAPHS];
        job.arrival_ns = (int64_t)(j * (seed % 5) * 20000);
        job.weight = 1 + j % 3;
        job.band = seed % 3 == 0 ? j % 3 : 0;
        job.limit = j % 4 == 3 ? 1 : 0;
        job.deadline_ns = j % 2 != 0 ? 1000000 + j : 0;
        ok(clo_workload_add(s.workload, &job));
        s.of_job[j] = s.costs[j % GRAPHS];
        s.judged[j] = (clo_stream_job){.job = j,
                                       .cost = s.of_job[j],
                                       .arrival_ns = job.arrival_ns,
                                       .deadline_ns = job.deadline_ns,
                                       .weight = job.weight,
                                       .limit = job.limit,
                                       .band = job.band};
    }
    return s;
}

static void drop_scene(scene *s)
{
    clo_workload_destroy(s->workload);
    for (uint32_t g = 0; g < GRAPHS; g++) {
        clo_cost_destroy(s->costs[g]);
        clo_graph_destroy(s->graphs[g]);
    }
    clo_platform_destroy(s->platform);
}

static clo_log *new_log(const scene *s, const clo_policy *policy)
{
    clo_log_policy named = {.name = policy->name};
    clo_log_header header = CLO_LOG_HEADER_INIT;
    clo_log *log;

    header.clock = CLO_CLOCK_VIRTUAL;
    header.executors = clo_platform_executors(s->platform);
    header.policies = &named;
    header.policies_count = 1;
    ok(clo_log_create(&header, RECORDS, &log));
    return log;
}

static clo_log *simulate(const scene *s, const clo_policy *policy, uint64_t seed, clo_stream_result *result)
{
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_log *log = new_log(s, policy);

    config.policy = policy;
    config.log = log;
    config.seed = seed;
    *result = (clo_stream_result)CLO_STREAM_RESULT_INIT;
    if (clo_stream_simulate(s->workload, s->platform, &config, result) != CLO_OK)
        fail_msg("seed %u, policy %s: %s", (unsigned)seed, policy->name, clo_last_error());
    return log;
}

static clo_status judge(const scene *s, const clo_log *log, clo_stream_report *report)
{
    clo_stream_case stream = CLO_STREAM_CASE_INIT;

    *report = (clo_stream_report)CLO_STREAM_REPORT_INIT;
    stream.platform = s->platform;
    stream.jobs = s->judged;
    stream.jobs_count = JOBS;
    return clo_stream_check(&stream, log, report);
}

static clo_status repeat(const scene *s, const clo_log *log)
{
    clo_replay_config config = CLO_REPLAY_CONFIG_INIT;

    config.platform = s->platform;
    config.costs = s->of_job;
    config.costs_count = JOBS;
    return clo_stream_replay(&config, log, NULL);
}

static void every_policy_schedules_streams_with_branches_validly(void **state)
{
    (void)state;
    uint64_t skipped = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed += SEEDS_STEP) {
        scene s = make_scene(seed, RANDOM_ALL);
        for (uint32_t k = 0; k < 3; k++) {
            const clo_policy *policy = policy_at((uint32_t)(seed * 3 + k) % policies_count());
            clo_stream_report report;
            clo_stream_result result;
            clo_log *log = simulate(&s, policy, seed, &result);
            if (judge(&s, log, &report) != CLO_OK)
                fail_msg("seed %u, policy %s: %s", (unsigned)seed, policy->name, clo_last_error());
            if (repeat(&s, log) != CLO_OK)
                fail_msg("seed %u, policy %s: %s", (unsigned)seed, policy->name, clo_last_error());
            assert_int_equal(result.jobs_ended, JOBS);
            assert_int_equal(report.finished, JOBS);
            assert_true(report.mean_completion_bound_ns <= result.jct_mean_ns * (1 + 1e-9) + 1);
            skipped += result.skipped;
            clo_log_destroy(log);
        }
        drop_scene(&s);
    }
    print_message("skipped: %llu instances\n", (unsigned long long)skipped);
    assert_true(skipped > SEEDS / SEEDS_STEP);
}

/* The job of seed k of a workload draws with seed + k, and each release of a periodic one anew. */
static void a_stream_of_one_job_is_the_job(void **state)
{
    (void)state;
    uint32_t differ = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed += SEEDS_STEP) {
        scene s = make_scene(seed, RANDOM_ALL);
        const clo_policy *policy = policy_at((uint32_t)seed % policies_count());
        clo_sim_config config = CLO_SIM_CONFIG_INIT;
        clo_job_result alone = CLO_JOB_RESULT_INIT, next = CLO_JOB_RESULT_INIT;
        clo_stream_config streamed = CLO_STREAM_CONFIG_INIT;
        clo_stream_result result = CLO_STREAM_RESULT_INIT;
        clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
        clo_workload *workload;
        config.policy = streamed.policy = policy;
        config.seed = streamed.seed = seed;
        ok(clo_simulate(s.costs[0], &config, &alone, NULL, NULL));
        config.seed++;
        ok(clo_simulate(s.costs[0], &config, &next, NULL, NULL));
        job.graph = s.graphs[0];
        job.period_ns = INT64_C(1) << 40;
        job.releases = 2;
        ok(clo_workload_create("one", &workload));
        ok(clo_workload_add(workload, &job));
        ok(clo_stream_simulate(workload, s.platform, &streamed, &result));
        assert_int_equal(result.skipped, alone.skipped + next.skipped);
        if (result.makespan_ns != job.period_ns + next.makespan_ns)
            fail_msg("seed %u, policy %s: %lld ns, alone %lld ns", (unsigned)seed, policy->name,
                     (long long)(result.makespan_ns - job.period_ns), (long long)next.makespan_ns);
        differ += alone.skipped != next.skipped;
        clo_workload_destroy(workload);
        drop_scene(&s);
    }
    assert_true(differ > 0);
}

/* Each changes one record of a good log to a lie; returns false where it has none to change. */
typedef bool (*plant_fn)(clo_log_record *records, size_t count);

static bool an_arm_that_is_none(clo_log_record *records, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (records[i].what == CLO_LOG_ARM) {
            records[i].value = CLO_ARMS_MAX;
            return true;
        }
    return false;
}

static bool an_arm_that_is_not_said(clo_log_record *records, size_t count)
{
    for (size_t i = 0; i + 1 < count; i++)
        if (records[i].what == CLO_LOG_ARM) { /* which says nothing then: the log stays as long as it was */
            records[i] = (clo_log_record){.now_ns = records[i].now_ns,
                                          .job = CLO_LOG_NO_JOB,
                                          .what = CLO_LOG_TOGETHER,
                                          .stage = CLO_NONE,
                                          .instance = CLO_NONE,
                                          .executor = CLO_NONE};
            return true;
        }
    return false;
}

static bool skipped_but_it_ran(clo_log_record *records, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (records[i].what == CLO_LOG_START && (records[i].value & CLO_LOG_SKIPPED) != 0) {
            records[i].value &= ~(int64_t)CLO_LOG_SKIPPED;
            return true;
        }
    return false;
}

static bool ran_but_it_was_skipped(clo_log_record *records, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (records[i].what == CLO_LOG_START && records[i].value == 0) {
            records[i].value = CLO_LOG_SKIPPED;
            return true;
        }
    return false;
}

static void lies_about_arms_are_found_in_logs(void **state)
{
    (void)state;
    static const struct {
        plant_fn plant;
        uint32_t kind;
    } plants[] = {{an_arm_that_is_none, CLO_STREAM_ARM},
                  {an_arm_that_is_not_said, CLO_STREAM_ARM},
                  {skipped_but_it_ran, CLO_STREAM_SKIPPED},
                  {ran_but_it_was_skipped, CLO_STREAM_SKIPPED}};
    uint32_t planted[4] = {0};

    for (uint64_t seed = 0; seed < SEEDS; seed += SEEDS_STEP)
        for (size_t p = 0; p < 4; p++) {
            scene s = make_scene(seed, RANDOM_ALL);
            clo_stream_report report;
            clo_stream_result result;
            clo_log *log = simulate(&s, clo_policy_find("fifo"), seed, &result);
            size_t count;
            clo_log_record *records = (clo_log_record *)(uintptr_t)clo_log_records(log, &count);
            if (plants[p].plant(records, count)) {
                planted[p]++;
                assert_int_equal(judge(&s, log, &report), CLO_ERR_INVALID);
                /* A graph without branches has no such value at all. */
                if (report.by_kind[plants[p].kind] == 0 && report.by_kind[CLO_STREAM_BAD_VALUE] == 0)
                    fail_msg("seed %u, plant %u: %s", (unsigned)seed, (unsigned)p, clo_last_error());
                assert_int_equal(repeat(&s, log), CLO_ERR_INVALID);
            }
            clo_log_destroy(log);
            drop_scene(&s);
        }
    for (size_t p = 0; p < 4; p++)
        assert_true(planted[p] > 3);
}

/* Three jobs on workers, of one real scheduler; one of them is cancelled at once. */
static void the_log_of_a_real_run_with_branches_is_judged_and_replayed(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed += 3 * SEEDS_STEP) {
        scene s = make_scene(seed, RANDOM_ALL & ~(unsigned)RANDOM_DEMANDS);
        clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
        clo_runtime *runtime;
        clo_job *jobs[GRAPHS];
        clo_log *log = NULL;
        ok(clo_log_create(NULL, RECORDS, &log));
        config.unpinned = 1;
        ok(clo_runtime_create(s.platform, &config, &runtime));
        ok(clo_runtime_log_start(runtime, log));
        for (uint32_t g = 0; g < GRAPHS; g++) {
            clo_job_config job = CLO_JOB_CONFIG_INIT;
            job.policy = clo_policy_find(seed % 2 ? "sjf" : "fifo");
            job.tag = g;
            job.seed = seed;
            ok(clo_job_create(runtime, s.costs[g], &job, &jobs[g]));
            ok(clo_job_submit(jobs[g]));
        }
        clo_job_cancel(jobs[2]);
        for (uint32_t g = 0; g < GRAPHS; g++) {
            clo_status status = clo_job_wait(jobs[g], NULL);
            assert_true(status == CLO_OK || (g == 2 && status == CLO_ERR_CANCELLED));
        }
        for (uint32_t g = 0; g < GRAPHS; g++)
            clo_job_destroy(jobs[g]);
        clo_runtime_destroy(runtime);
        if (repeat(&s, log) != CLO_OK)
            fail_msg("seed %u: %s", (unsigned)seed, clo_last_error());
        clo_log_destroy(log);
        drop_scene(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_policy_schedules_streams_with_branches_validly),
        cmocka_unit_test(a_stream_of_one_job_is_the_job),
        cmocka_unit_test(lies_about_arms_are_found_in_logs),
        cmocka_unit_test(the_log_of_a_real_run_with_branches_is_judged_and_replayed),
    };

    return cmocka_run_group_tests_name("branch_streams", tests, NULL, NULL);
}
