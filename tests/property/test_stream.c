/* Streams of random jobs under every policy, in virtual time: every log is judged by the stream checker, which shares
 * no code with the scheduler; the same stream gives the same log; what comes later changes nothing of what was
 * before. CLOTHO_PROPERTY_SEEDS=N (or A-N: from stream A on): N streams instead, those up to 150 under every policy and
 * each later one under one that its number draws; and of the other tests as many as their share comes to.
 * CLOTHO_PROPERTY_POLICY=NAME[:ARGUMENT], or `all`: each of these streams under that policy, or under every one, and
 * the other tests not at all. */
#include "support.h"

#include "random.h"
#include "sample.h"
#include "scene.h"

#include "base/numbers/rng.h"
#include "trace/log_kinds.h"

#include <clotho/stream.h>
#include <clotho/stream_check.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAMS 150u
#define PROGRESS_STREAMS 250u /* where the number was asked for: a line after so many */
#define GRAPHS 4u
#define JOBS 30u
#define RECORDS 200000u
#define SEEDS_STEP (SANITIZED ? 11u : 1u) /* no multiple of 2, 3, 4, 7: features go by these */

/* Where the streams begin, and where they end; `of_all`: of the STREAMS that are played unasked. */
static uint64_t first_stream(void)
{
    const char *asked = getenv("CLOTHO_PROPERTY_SEEDS");

    return asked != NULL && strchr(asked, '-') != NULL ? strtoull(asked, NULL, 10) : 1;
}

static uint64_t streams(uint64_t of_all)
{
    const char *asked = getenv("CLOTHO_PROPERTY_SEEDS"), *dash = asked != NULL ? strchr(asked, '-') : NULL;
    uint64_t wanted =
        asked != NULL ? strtoull(dash != NULL ? dash + 1 : asked, NULL, 10) * of_all / STREAMS : sample_size(of_all, 5);

    return wanted > 0 ? wanted : 1;
}

static void show_progress(const char *what, uint64_t seed)
{
    if (getenv("CLOTHO_PROPERTY_SEEDS") != NULL && seed % PROGRESS_STREAMS == 0)
        fprintf(stderr, "%s: %llu streams\n", what, (unsigned long long)seed);
}

typedef struct stream_fixture {
    clo_platform *platform;
    clo_graph *graphs[GRAPHS];
    clo_cost *costs[GRAPHS];
    clo_workload *workload;
    clo_stream_job judged[JOBS];
} stream_fixture;

static clo_workload_job draw_job(const stream_fixture *f, uint64_t seed, uint32_t j)
{
    clo_workload_job job = CLO_WORKLOAD_JOB_INIT;

    job.graph = f->graphs[j % GRAPHS];
    job.arrival_ns = (int64_t)(j * (seed % 7) * 20000);
    job.weight = 1 + j % 3;
    job.band = seed % 3 == 0 ? j % 3 : 0;
    job.limit = j % 4 == 0 ? 1 : 0;
    job.group = j % (1 + (uint32_t)seed % 4);
    job.deadline_ns = j % 2 != 0 ? 1000000 + j : 0;
    return job;
}

static stream_fixture prepare(uint64_t seed, uint32_t jobs)
{
    stream_fixture f = {.platform = random_platform(seed, RANDOM_ALL)};

    ok(clo_workload_create("stream", &f.workload));
    for (uint32_t g = 0; g < GRAPHS; g++) {
        f.graphs[g] = g == 0   ? random_graph(seed, RANDOM_ALL)
                      : g == 1 ? random_graph(seed + 1000, RANDOM_STAGES | RANDOM_DUPLICABLE)
                               : random_graph(seed * 100 + g, RANDOM_INSTANCES | RANDOM_DUPLICABLE | RANDOM_SMALL);
        ok(clo_cost_create(f.graphs[g], f.platform, &f.costs[g]));
    }
    for (uint32_t j = 0; j < jobs; j++) {
        clo_workload_job job = draw_job(&f, seed, j);
        ok(clo_workload_add(f.workload, &job));
        f.judged[j] = (clo_stream_job){.job = j,
                                       .cost = f.costs[j % GRAPHS],
                                       .arrival_ns = job.arrival_ns,
                                       .deadline_ns = job.deadline_ns,
                                       .weight = job.weight,
                                       .limit = job.limit,
                                       .band = job.band};
    }
    return f;
}

static void stop(stream_fixture *f)
{
    clo_workload_destroy(f->workload);
    for (uint32_t g = 0; g < GRAPHS; g++) {
        clo_cost_destroy(f->costs[g]);
        clo_graph_destroy(f->graphs[g]);
    }
    clo_platform_destroy(f->platform);
}

static clo_log *new_log(const stream_fixture *f, const char *policy, const char *environment)
{
    char name[64];
    size_t length = strcspn(policy, ":");
    clo_log_policy named = {.name = name, .argument = policy[length] == ':' ? policy + length + 1 : NULL};
    clo_log_header header = CLO_LOG_HEADER_INIT;
    clo_log *log;

    snprintf(name, sizeof name, "%.*s", (int)length, policy);
    header.clock = CLO_CLOCK_VIRTUAL;
    header.executors = clo_platform_executors(f->platform);
    header.policies = &named;
    header.policies_count = 1;
    header.environment = environment;
    ok(clo_log_create(&header, RECORDS, &log));
    return log;
}

/* "NAME" or "NAME:ARGUMENT" number `index`: the registered ones, and some with arguments; NULL past the end. */
static const char *policy_text(uint32_t index)
{
    static const char *const more[] = {"eft:sjf",
                                       "eft:fair",
                                       "eft:wfair:0.7",
                                       "deft:hrrn",
                                       "deft:sjf-cp",
                                       "deft:capacity",
                                       "deft:drf",
                                       "deft:edf",
                                       "eft:replan:2",
                                       "deft:decima",
                                       "eft:decima:sampled,seed=3",
                                       "deft:task-fifo",
                                       "eft:task-sjf",
                                       "deft:task-hrrn",
                                       "graphene:kappa=0",
                                       "wfair:2",
                                       "graphene-star:0,0.3",
                                       "graphene:srpt=0.7,area=1,scarce=1"};
    uint32_t named = policies_count();

    if (index < named && strcmp(name_at("policies", index), "synchpack-2") == 0)
        return "synchpack-2:2";
    if (index < named)
        return strcmp(name_at("policies", index), "replan") == 0 ? "replan:4" : name_at("policies", index);
    return index - named < sizeof more / sizeof more[0] ? more[index - named] : NULL;
}

/* A search at every arrival, and a network, take ten times the time of the others: every third stream, unless asked
 * for. */
static bool is_left_out(const char *policy, uint64_t seed)
{
    bool is_costly = strstr(policy, "replan") != NULL || strcmp(policy, "decima") == 0 ||
                     strstr(policy, ":decima") != NULL || strncmp(policy, "synchpack-2", 11) == 0;

    return is_costly && seed % 3 != 2 && getenv("CLOTHO_PROPERTY_SEEDS") == NULL;
}

/* The same for stream `seed`, which plays them all or, beyond STREAMS, one, or what is asked for; NULL past the end. */
static const char *policy_of_stream(uint64_t seed, uint32_t index)
{
    const char *asked = getenv("CLOTHO_PROPERTY_POLICY");
    clo_rng rng = sample_rng(seed);
    uint32_t count = 0;

    if (asked != NULL && strcmp(asked, "all") != 0)
        return index == 0 ? asked : NULL;
    if (seed <= STREAMS || asked != NULL)
        return policy_text(index);
    while (policy_text(count) != NULL)
        count++;
    return index == 0 ? policy_text(clo_rng_below(&rng, count)) : NULL;
}

static clo_log *simulate(const stream_fixture *f, const char *policy, uint32_t steps_max, clo_stream_result *result)
{
    _Alignas(16) unsigned char argument[256];
    char name[64];
    size_t length = strcspn(policy, ":");
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_log *log = new_log(f, policy, NULL);

    snprintf(name, sizeof name, "%.*s", (int)length, policy);
    config.policy = clo_policy_find(name);
    assert_non_null(config.policy);
    if (policy[length] == ':') {
        assert_true(config.policy->argument_bytes <= sizeof argument);
        ok(config.policy->parse(policy + length + 1, argument));
        config.argument = argument;
    }
    config.steps_max = steps_max;
    config.log = log;
    ok(clo_stream_simulate(f->workload, f->platform, &config, result));
    assert_int_equal(clo_log_dropped(log), 0);
    return log;
}

static void judge(const stream_fixture *f, uint32_t jobs, const clo_log *log, const char *policy, uint64_t seed)
{
    clo_stream_case stream = CLO_STREAM_CASE_INIT;
    clo_stream_report report = CLO_STREAM_REPORT_INIT;

    stream.platform = f->platform;
    stream.jobs = f->judged;
    stream.jobs_count = jobs;
    if (clo_stream_check(&stream, log, &report) != CLO_OK)
        fail_msg("seed %u, policy %s: %s", (unsigned)seed, policy, clo_last_error());
    assert_int_equal(report.finished, jobs);
}

/* How often capacity was kept for a stage that many had passed. */
static size_t count_kept(const clo_log *log)
{
    size_t count, kept = 0;
    const clo_log_record *records = clo_log_records(log, &count);

    for (size_t i = 0; i < count; i++)
        kept += records[i].what == CLO_LOG_KEEP && records[i].value > 0;
    return kept;
}

/* The inputs of the log lead to its decisions, whoever makes the inputs. */
static void repeat(const stream_fixture *f, const clo_log *log, const char *policy, uint64_t seed)
{
    clo_replay_config config = CLO_REPLAY_CONFIG_INIT;
    clo_replay_result result = CLO_REPLAY_RESULT_INIT;
    const clo_cost *costs[JOBS];
    size_t count;

    for (uint32_t j = 0; j < JOBS; j++)
        costs[j] = f->costs[j % GRAPHS];
    config.platform = f->platform;
    config.costs = costs;
    config.costs_count = JOBS;
    if (clo_stream_replay(&config, log, &result) != CLO_OK)
        fail_msg("seed %u, policy %s: %s", (unsigned)seed, policy, clo_last_error());
    (void)clo_log_records(log, &count);
    assert_int_equal(result.records, count);
}

static void every_policy_schedules_every_stream_validly(void **state)
{
    uint64_t duplicates = 0, kept = 0;

    (void)state;
    for (uint64_t seed = first_stream(); seed <= streams(STREAMS); seed += SEEDS_STEP) {
        stream_fixture f = prepare(seed, JOBS);
        const char *policy;
        for (uint32_t p = 0; (policy = policy_of_stream(seed, p)) != NULL; p++) {
            if (is_left_out(policy, seed))
                continue;
            clo_stream_result result = CLO_STREAM_RESULT_INIT;
            clo_log *log = simulate(&f, policy, seed % 4 == 0 && seed % 3 != 0 ? 3 : 0, &result);
            judge(&f, JOBS, log, policy, seed);
            repeat(&f, log, policy, seed);
            assert_int_equal(result.jobs_ended, JOBS);
            if (result.refused > 0)
                fail_msg("seed %u, policy %s: %s", (unsigned)seed, policy, result.refusal);
            duplicates += result.duplicates;
            kept += count_kept(log);
            clo_log_destroy(log);
        }
        stop(&f);
        show_progress("every policy, valid", seed);
    }
    if (first_stream() > 1 || getenv("CLOTHO_PROPERTY_POLICY") != NULL)
        return;
    /* Of few streams, for their memory or as asked, none may keep anything. */
    if (SANITIZED || streams(STREAMS) < STREAMS / 5)
        return;
    assert_true(duplicates > streams(STREAMS));
    assert_true(kept > 0);
}

static void the_same_stream_gives_the_same_log_whatever_comes_after(void **state)
{
    (void)state;
    for (uint64_t seed = 2; seed <= streams(40); seed += SANITIZED ? 5u : 1u) {
        stream_fixture all = prepare(seed, JOBS), some = prepare(seed, JOBS / 2);
        const char *policy;
        for (uint32_t p = 0; (policy = policy_text(p)) != NULL; p++) {
            if (is_left_out(policy, seed))
                continue;
            clo_log *first = simulate(&all, policy, 0, NULL), *again = simulate(&all, policy, 0, NULL);
            clo_log *shorter = simulate(&some, policy, 0, NULL);
            char text[400];
            size_t count, same;
            assert_int_equal(clo_log_first_difference(first, again, text, sizeof text), CLO_LOG_EQUAL);
            same = clo_log_first_difference(first, shorter, text, sizeof text);
            const clo_log_record *records = clo_log_records(first, &count);
            assert_true(same < count);
            bool is_arrival = records[same].what == CLO_LOG_ARRIVE || records[same].what == CLO_LOG_JOB;
            if (!is_arrival || records[same].job != JOBS / 2)
                fail_msg("seed %u, policy %s: %s", (unsigned)seed, policy, text);
            clo_log_destroy(first);
            clo_log_destroy(again);
            clo_log_destroy(shorter);
        }
        stop(&all);
        stop(&some);
    }
}

/* Moving takes as long as some tasks here, and times vary. */
static int64_t draw_time(void *state, const clo_environment_execution *x)
{
    clo_rng *rng = state;

    assert_true(x->bound >= 1);
    return x->cost_ns / 2 + clo_rng_below(rng, (uint32_t)(x->cost_ns % 1000000) + 1);
}

static clo_log *simulate_in_environment(const stream_fixture *f, const char *policy, uint64_t seed,
                                        clo_stream_result *result)
{
    clo_rng rng = sample_rng(seed);
    clo_environment environment = {.size = sizeof environment,
                                   .name = "decima",
                                   .moving_ns = 20000,
                                   .time_ns = draw_time,
                                   .state = &rng,
                                   .keeps_stages = seed % 2 == 0};
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_log *log = new_log(f, policy, "decima");

    config.policy = clo_policy_find(policy);
    config.steps_max = seed % 5 == 0 && seed % 3 != 0 ? 3 : 0;
    config.log = log;
    config.environment = &environment;
    ok(clo_stream_simulate(f->workload, f->platform, &config, result));
    return log;
}

static void every_policy_schedules_every_stream_validly_in_an_environment(void **state)
{
    uint64_t moves = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= streams(30); seed += SANITIZED ? 5u : 1u) {
        stream_fixture f = prepare(seed, JOBS);
        clo_entry entry = CLO_ENTRY_INIT;
        for (uint32_t p = 0; clo_registry_entry("policies", p, &entry); p++) {
            if (is_left_out(entry.name, seed))
                continue;
            clo_stream_result result = CLO_STREAM_RESULT_INIT;
            clo_log *log = simulate_in_environment(&f, entry.name, seed, &result);
            clo_log *again = simulate_in_environment(&f, entry.name, seed, NULL);
            judge(&f, JOBS, log, entry.name, seed);
            assert_int_equal(clo_log_first_difference(log, again, NULL, 0), CLO_LOG_EQUAL);
            assert_int_equal(result.jobs_ended, JOBS);
            if (result.refused > 0)
                fail_msg("seed %u, policy %s: %s", (unsigned)seed, entry.name, result.refusal);
            moves += result.moves;
            clo_log_destroy(log);
            clo_log_destroy(again);
        }
        stop(&f);
        show_progress("in an environment, valid", seed);
    }
    assert_true(moves > streams(30) * 33);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_policy_schedules_every_stream_validly),
        cmocka_unit_test(every_policy_schedules_every_stream_validly_in_an_environment),
        cmocka_unit_test(the_same_stream_gives_the_same_log_whatever_comes_after),
    };
    const struct CMUnitTest first[] = {tests[0]};

    return getenv("CLOTHO_PROPERTY_POLICY") != NULL ? cmocka_run_group_tests(first, NULL, NULL)
                                                    : cmocka_run_group_tests(tests, NULL, NULL);
}
