/* A policy that answers nonsense never breaks the books: every field of its choices is drawn at random, from the limits
 * of its type too, now and then a good one in between. In virtual time the stream checker judges every log; on workers
 * every body runs once. What was impossible is counted and named once, and the scheduler's own rule ends every job.
 * Mutation: drop the check of `executor`, of `duplicate` or of the job's band in engine/scheduler/choose.c. */
#include "support.h"

#include "base/numbers/rng.h"
#include "random.h"
#include "scene.h"

#include <clotho/stream.h>
#include <clotho/stream_check.h>

#include <stdatomic.h>
#include <string.h>

enum { JOBS = 12, GRAPHS = 3, SEEDS = 150, RUNS = 20, CALLS_LEAST = 100000 };

/* The state: it lives with the scheduler, so its calls are those of one thread at a time. */
typedef struct chaos {
    clo_rng rng;
    uint32_t jobs, executors;
} chaos;

static _Atomic uint64_t calls;
static uint64_t chaos_seed;

static size_t chaos_bytes(const clo_limits *limits, const void *argument)
{
    (void)limits;
    (void)argument;
    return sizeof(chaos);
}

static clo_status chaos_init(void *state, const clo_view *view)
{
    *(chaos *)state = (chaos){clo_rng_seed(chaos_seed), clo_view_limits(view)->jobs, clo_view_limits(view)->executors};
    return CLO_OK;
}

/* Something below `most`, or one of the limits. */
static uint32_t draw(chaos *c, uint32_t most)
{
    static const uint32_t edges[] = {0, 1, CLO_NONE, CLO_NONE - 1, 0x80000000u, 0x7fffffffu};
    uint32_t way = clo_rng_below(&c->rng, 10);

    if (way < 6)
        return edges[way];
    return way == 6 ? most : clo_rng_below(&c->rng, most > 0 ? most : 1);
}

/* Waits are short, or in the past: who asks for a far wake-up is believed. */
static int64_t draw_wake(chaos *c, const clo_view *view)
{
    int64_t now_ns = clo_view_now_ns(view);
    const int64_t edges[] = {0, -1, INT64_MIN, CLO_TIME_NEVER, now_ns, now_ns + 1, now_ns + 5000};

    return edges[clo_rng_below(&c->rng, sizeof edges / sizeof edges[0])];
}

static bool chaos_decide(void *state, const clo_view *view, clo_choice *choice)
{
    chaos *c = state;
    clo_ready_stage oldest = clo_view_first_ready(view);

    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    for (uint32_t steps = clo_rng_below(&c->rng, 4); steps > 0; steps--)
        (void)clo_view_step(view); /* and passes over the answer */
    choice->job = oldest.job;
    choice->stage = oldest.stage;
    if (clo_rng_below(&c->rng, 3) == 0)
        choice->job = draw(c, c->jobs);
    if (clo_rng_below(&c->rng, 3) == 0)
        choice->stage = draw(c, 40);
    if (clo_rng_below(&c->rng, 2) == 0)
        choice->count = draw(c, 9);
    if (clo_rng_below(&c->rng, 2) == 0)
        choice->executor = draw(c, c->executors);
    if (clo_rng_below(&c->rng, 6) == 0)
        choice->duplicate = draw(c, 40);
    if (clo_rng_below(&c->rng, 6) == 0)
        choice->limit = draw(c, 4);
    if (clo_rng_below(&c->rng, 6) == 0)
        choice->wake_ns = draw_wake(c, view);
    return clo_rng_below(&c->rng, 8) > 0;
}

#define CHAOS(NAME, READINESS, COMMITS)                                                       \
    {                                                                                         \
        .name = NAME, .size = sizeof(clo_policy), .readiness = READINESS, .commits = COMMITS, \
        .state_bytes = chaos_bytes, .init = chaos_init, .decide = chaos_decide                \
    }

static const clo_policy policies[] = {CHAOS("nonsense", CLO_READY_FINISHED, 0),
                                      CHAOS("early nonsense", CLO_READY_ASSIGNED, 1)};

static void judge(const clo_platform *platform, const clo_stream_job *jobs, const clo_log *log, uint64_t seed)
{
    clo_stream_case stream = CLO_STREAM_CASE_INIT;
    clo_stream_report report = CLO_STREAM_REPORT_INIT;

    stream.platform = platform;
    stream.jobs = jobs;
    stream.jobs_count = JOBS;
    /* A policy may have something recomputed on an executor where it ran before: of no use, and no harm. */
    stream.ignore = UINT64_C(1) << CLO_STREAM_TWICE_ON_EXECUTOR;
    if (clo_stream_check(&stream, log, &report) != CLO_OK)
        fail_msg("seed %llu: %s", (unsigned long long)seed, clo_last_error());
    assert_int_equal(report.finished, JOBS);
}

static clo_log *new_log(const clo_platform *platform, const clo_policy *policy)
{
    clo_log_policy named = {.name = policy->name};
    clo_log_header header = CLO_LOG_HEADER_INIT;
    clo_log *log;

    header.clock = CLO_CLOCK_VIRTUAL;
    header.executors = clo_platform_executors(platform);
    header.policies = &named;
    header.policies_count = 1;
    ok(clo_log_create(&header, 0, &log));
    return log;
}

/* Returns the refusals. */
static uint64_t simulate(uint64_t seed, const clo_policy *policy)
{
    clo_platform *platform = random_platform(seed, RANDOM_ALL);
    clo_graph *graphs[GRAPHS];
    clo_cost *costs[GRAPHS];
    static const unsigned features[GRAPHS] = {RANDOM_ALL, RANDOM_STAGES | RANDOM_DUPLICABLE,
                                              RANDOM_INSTANCES | RANDOM_DUPLICABLE | RANDOM_SMALL};
    clo_stream_job judged[JOBS];
    clo_workload *workload;
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_stream_result result = CLO_STREAM_RESULT_INIT;

    ok(clo_workload_create("nonsense", &workload));
    for (uint32_t g = 0; g < GRAPHS; g++) {
        graphs[g] = random_graph(g == 0 ? seed : seed * 100 + g, features[g]);
        ok(clo_cost_create(graphs[g], platform, &costs[g]));
    }
    for (uint32_t j = 0; j < JOBS; j++) {
        clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
        job.graph = graphs[j % GRAPHS];
        job.arrival_ns = j * 10000;
        job.band = seed % 2 == 0 ? j % 3 : 0;
        job.limit = j % 4 == 0 ? 1 : 0;
        ok(clo_workload_add(workload, &job));
        judged[j] = (clo_stream_job){j, costs[j % GRAPHS], job.arrival_ns, 0, 1, job.limit, job.band};
    }
    chaos_seed = seed;
    clo_log *log = new_log(platform, policy);
    config.policy = policy;
    config.steps_max = seed % 6 == 3 ? 2 : 0; /* without bands: it bounds how far their rule looks */
    config.log = log;
    ok(clo_stream_simulate(workload, platform, &config, &result));
    assert_int_equal(result.jobs_ended, JOBS);
    judge(platform, judged, log, seed);
    if (result.refused > 0)
        assert_non_null(strstr(result.refusal, policy->name));
    clo_log_destroy(log);
    clo_workload_destroy(workload);
    for (uint32_t g = 0; g < GRAPHS; g++) {
        clo_cost_destroy(costs[g]);
        clo_graph_destroy(graphs[g]);
    }
    clo_platform_destroy(platform);
    return result.refused;
}

static void nonsense_never_breaks_the_books_of_a_stream(void **state)
{
    uint64_t refused = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++)
            refused += simulate(seed, &policies[p]);
    print_message("%llu choices, %llu refused\n", (unsigned long long)calls, (unsigned long long)refused);
    assert_true(refused > 1000 && calls > CALLS_LEAST);
}

enum { WIDTH = 6, LAYERS = 5 };

static _Atomic uint32_t ran;

static int count_run(const clo_call *call)
{
    (void)call;
    atomic_fetch_add_explicit(&ran, 1, memory_order_relaxed);
    return 0;
}

static void nonsense_on_workers_runs_every_body_once(void **state)
{
    clo_task task = {.body = count_run, .work_ns = 1000};
    clo_graph *graph = scene_layers(LAYERS, WIDTH, &task);
    clo_platform *platform = scene_platform(2, 0);
    clo_runtime_config runtime_config = CLO_RUNTIME_CONFIG_INIT;
    uint64_t refused = 0;
    clo_cost *cost;

    (void)state;
    runtime_config.unpinned = 1;
    ok(clo_cost_create(graph, platform, &cost));
    for (uint32_t p = 0; p < 2; p++) {
        clo_runtime *runtime;
        clo_job *jobs[4];
        chaos_seed = p;
        ok(clo_runtime_create(platform, &runtime_config, &runtime));
        for (uint32_t j = 0; j < 4; j++) {
            clo_job_config config = CLO_JOB_CONFIG_INIT;
            config.policy = &policies[p];
            config.band = j % 2;
            config.limit = j % 3;
            ok(clo_job_create(runtime, cost, &config, &jobs[j]));
        }
        for (uint32_t run = 0; run < RUNS; run++) {
            atomic_store(&ran, 0);
            for (uint32_t j = 0; j < 4; j++)
                ok(clo_job_submit(jobs[j]));
            for (uint32_t j = 0; j < 4; j++) {
                clo_job_result result = CLO_JOB_RESULT_INIT;
                ok(clo_job_wait(jobs[j], &result));
                assert_int_equal(result.decisions, LAYERS * WIDTH);
                assert_true(result.refused == 0 || strstr(result.refusal, policies[p].name) != NULL);
                refused += result.refused;
            }
            assert_int_equal(atomic_load(&ran), 4 * LAYERS * WIDTH);
        }
        clo_runtime_destroy(runtime);
    }
    assert_true(refused > 0);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nonsense_never_breaks_the_books_of_a_stream),
        cmocka_unit_test(nonsense_on_workers_runs_every_body_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
