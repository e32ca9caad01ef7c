/* Streams of jobs with branches on workers, in real and in virtual time: while they run, a body cancels one of them.
 * The log of each run is judged valid, and the simulator repeats it record by record. In it stand what branches chose,
 * what was skipped, and the cancellation, after which nothing of that job starts. */
#include "support.h"

#include "random.h"

#include <stdlib.h>

#define SEEDS 90
#define SEEDS_STEP (SANITIZED ? 7u : 1u)

enum { JOBS = 4, CANCELLER = JOBS - 1, RECORDS = 1 << 18 };

typedef struct scene {
    clo_graph *graphs[JOBS];
    clo_cost *costs[JOBS];
    clo_job *jobs[JOBS];
    clo_platform *platform;
    clo_runtime *runtime;
    clo_log *log;
} scene;

/* What the canceller cancels: a job that is there as long as the canceller runs. */
static clo_job *victim;

static int cancel_it(const clo_call *call)
{
    (void)call;
    clo_job_cancel(victim);
    return 0;
}

static int go_on(const clo_call *call)
{
    *call->arm = 1;
    return 0;
}

/* A branch, behind it an arm that is skipped and a task that cancels the victim after a while. */
static clo_graph *make_canceller(int64_t wait_ns)
{
    const clo_task tasks[] = {{.name = "choose", .body = go_on, .work_ns = wait_ns},
                              {.name = "spare", .body = cancel_it, .work_ns = 1000},
                              {.name = "cancel", .body = cancel_it, .work_ns = 1000}};
    clo_graph *graph;

    ok(clo_graph_create("canceller", &graph));
    ok(clo_graph_add_tasks(graph, tasks, 3, NULL));
    ok(clo_graph_set_branch(graph, 0, 2, NULL));
    ok(clo_graph_add_arm(graph, 0, 1, 0, 0));
    ok(clo_graph_add_arm(graph, 0, 2, 0, 1));
    ok(clo_graph_seal(graph));
    return graph;
}

static const clo_policy *policy_of(uint64_t number)
{
    uint32_t count = policies_count();

    return policy_at(count > 0 ? (uint32_t)(number % count) : 0);
}

/* Only two of three seeds give a random DAG, which alone has branches. */
static scene make_scene(uint64_t seed, clo_clock clock)
{
    uint64_t of_dag = seed / 2 * 3 + seed % 2;
    unsigned features = seed % 3 == 0 ? RANDOM_ALL : RANDOM_ALL & ~(unsigned)RANDOM_DEMANDS;
    scene s = {.platform = random_platform(of_dag, features)};
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;

    config.unpinned = 1;
    config.clock = clock;
    ok(clo_runtime_create(s.platform, &config, &s.runtime));
    ok(clo_log_create(NULL, RECORDS, &s.log));
    ok(clo_runtime_log_start(s.runtime, s.log));
    for (uint32_t j = 0; j < JOBS; j++) {
        clo_job_config job = CLO_JOB_CONFIG_INIT;
        s.graphs[j] = j == CANCELLER ? make_canceller(1000 + (int64_t)(seed * seed % 11) * 20000)
                                     : random_graph(of_dag, features | RANDOM_BRANCHES | (j > 0 ? RANDOM_SMALL : 0));
        ok(clo_cost_create(s.graphs[j], s.platform, &s.costs[j]));
        job.policy = policy_of(seed);
        job.tag = j;
        job.seed = seed + j;
        job.band = seed % 4 == 0 && j != CANCELLER;
        job.arrival_ns = clock == CLO_CLOCK_VIRTUAL ? (int64_t)(j % 3 * (seed % 3) * 5000) : 0;
        ok(clo_job_create(s.runtime, s.costs[j], &job, &s.jobs[j]));
    }
    return s;
}

/* The log is complete once the runtime is gone. */
static void end_runtime(scene *s)
{
    for (uint32_t j = 0; j < JOBS; j++)
        clo_job_destroy(s->jobs[j]);
    clo_runtime_destroy(s->runtime);
}

static void drop_scene(scene *s)
{
    clo_log_destroy(s->log);
    for (uint32_t j = 0; j < JOBS; j++) {
        clo_cost_destroy(s->costs[j]);
        clo_graph_destroy(s->graphs[j]);
    }
    clo_platform_destroy(s->platform);
}

static void judge(const scene *s, uint64_t seed)
{
    clo_stream_case stream = CLO_STREAM_CASE_INIT;
    clo_stream_report report = CLO_STREAM_REPORT_INIT;
    clo_stream_job jobs[JOBS] = {{0}};
    size_t count, found = 0;
    const clo_log_record *records = clo_log_records(s->log, &count);

    for (size_t i = 0; i + 2 < count && found < JOBS; i++)
        if (records[i].what == CLO_LOG_ARRIVE)
            jobs[found++] = (clo_stream_job){
                .job = records[i].job,
                .cost = s->costs[records[i].value],
                .weight = 1,
                .band = records[i + 2].what == CLO_LOG_BAND ? (uint32_t)records[i + 2].value : 0,
            };
    assert_int_equal(found, JOBS);
    stream.platform = s->platform;
    stream.jobs = jobs;
    stream.jobs_count = JOBS;
    if (clo_stream_check(&stream, s->log, &report) != CLO_OK)
        fail_msg("seed %u: %s", (unsigned)seed, clo_last_error());
    assert_int_equal(report.arrived, JOBS);
    assert_int_equal(report.finished + report.cancelled, JOBS);
    /* A cancellation may reach the workers before the scheduler, and come there when all has ended; or the other way
     * round, when all bodies have begun. */
    assert_true(report.cancelled <= 1);
}

static void repeat(const scene *s, uint64_t seed)
{
    const clo_log_header *about = clo_log_about(s->log);
    clo_replay_config config = CLO_REPLAY_CONFIG_INIT;
    clo_replay_policy policies[CLO_LOG_POLICIES_MAX] = {{0}};

    for (uint32_t p = 0; p < about->policies_count; p++)
        policies[p].policy = clo_policy_find(about->policies[p].name);
    config.platform = s->platform;
    config.costs = (const clo_cost *const *)s->costs;
    config.costs_count = JOBS;
    config.policies = policies;
    config.policies_count = about->policies_count;
    if (clo_stream_replay(&config, s->log, NULL) != CLO_OK)
        fail_msg("seed %u: %s", (unsigned)seed, clo_last_error());
}

/* How often there was something to see. */
typedef struct seen {
    uint32_t cancelled, in_the_middle, skipped;
} seen;

/* Replicas of graph `j` that were decided; some of them ran, and others may have been skipped. */
static uint64_t replicas_of(const scene *s, uint32_t j)
{
    size_t count;
    const clo_log_record *records = clo_log_records(s->log, &count);
    uint64_t job = CLO_LOG_NO_JOB, replicas = 0;

    for (size_t i = 0; i < count; i++) {
        if (records[i].what == CLO_LOG_ARRIVE && records[i].value == j)
            job = records[i].job;
        bool is_decision = records[i].what == CLO_LOG_START || records[i].what == CLO_LOG_COMMIT;
        replicas += is_decision && records[i].job == job && (records[i].value & CLO_LOG_REPLICA) != 0;
    }
    return replicas;
}

static void check_result(const scene *s, uint32_t j, clo_status status, const clo_job_result *result)
{
    uint64_t settled = result->executed + result->skipped;
    uint64_t wanted = clo_graph_instances(s->graphs[j]) + replicas_of(s, j);

    if (status == CLO_ERR_CANCELLED)
        assert_true(settled < wanted);
    else
        assert_int_equal(settled, wanted);
    if (j == CANCELLER)
        assert_int_equal(result->skipped, 1);
}

static void run(uint64_t seed, clo_clock clock, seen *sum)
{
    scene s = make_scene(seed, clock);
    clo_job_result results[JOBS];
    clo_status status[JOBS];

    victim = s.jobs[seed % 3];
    if (clock == CLO_CLOCK_VIRTUAL)
        ok(clo_runtime_hold_time(s.runtime, 1));
    for (uint32_t j = 0; j < JOBS; j++)
        ok(clo_job_submit(s.jobs[(j + seed) % JOBS]));
    if (clock == CLO_CLOCK_VIRTUAL)
        ok(clo_runtime_hold_time(s.runtime, 0));
    for (uint32_t j = 0; j < JOBS; j++) {
        results[j] = (clo_job_result)CLO_JOB_RESULT_INIT;
        status[j] = clo_job_wait(s.jobs[j], &results[j]);
        if (j != seed % 3 || status[j] != CLO_ERR_CANCELLED)
            assert_int_equal(status[j], CLO_OK);
    }
    end_runtime(&s);
    for (uint32_t j = 0; j < JOBS; j++) {
        check_result(&s, j, status[j], &results[j]);
        sum->cancelled += status[j] == CLO_ERR_CANCELLED;
        sum->in_the_middle += status[j] == CLO_ERR_CANCELLED && results[j].executed > 0;
        sum->skipped += results[j].skipped > 0;
    }
    judge(&s, seed);
    repeat(&s, seed);
    drop_scene(&s);
}

static void in_virtual_time_a_cancelled_job_leaves_a_valid_log_that_is_repeated(void **state)
{
    (void)state;
    seen sum = {0};

    for (uint64_t seed = 0; seed < SEEDS; seed += SEEDS_STEP)
        run(seed, CLO_CLOCK_VIRTUAL, &sum);
    print_message("cancelled: %u, in the middle %u\n", sum.cancelled, sum.in_the_middle);
    assert_true(sum.in_the_middle > 0); /* it comes while they run */
}

static void on_real_workers_too(void **state)
{
    (void)state;
    seen sum = {0};

    for (uint64_t seed = 0; seed < SEEDS; seed += 2 * SEEDS_STEP)
        run(seed, CLO_CLOCK_REAL, &sum);
    print_message("cancelled: %u, in the middle %u\n", sum.cancelled, sum.in_the_middle);
    assert_true(sum.skipped >= SEEDS / (2 * SEEDS_STEP)); /* whether it was in time, the machine says */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_virtual_time_a_cancelled_job_leaves_a_valid_log_that_is_repeated),
        cmocka_unit_test(on_real_workers_too),
    };

    return cmocka_run_group_tests_name("branch_logs", tests, NULL, NULL);
}
