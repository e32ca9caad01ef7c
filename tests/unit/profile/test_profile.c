/* Profiles: what is learned is found again, merged, published, and used by costs. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include "base/numbers/rng.h"

#include <clotho/job.h>
#include <clotho/profile.h>
#include <clotho/runtime.h>
#include <stdio.h>

#include <string.h>
#include <time.h>
#include <unistd.h>

static const clo_codelet gemm = {"gemm", 1, 4096};

static clo_profile *new_profile(uint32_t entries_max)
{
    clo_profile *profile;

    ok(clo_profile_create(entries_max, &profile));
    return profile;
}

static void learn(clo_profile *profile, const clo_codelet *codelet, uint64_t bytes, int64_t ns, int times)
{
    for (int i = 0; i < times; i++)
        ok(clo_profile_learn(profile, codelet, bytes, "core", ns));
}

static clo_profile_entry entry(const clo_profile *profile, uint32_t index)
{
    clo_profile_entry found;

    ok(clo_profile_entry_at(profile, index, &found));
    return found;
}

static void what_is_learned_is_seen_when_it_is_published(void **state)
{
    clo_profile *profile = new_profile(0);

    (void)state;
    learn(profile, &gemm, 64, 1000, 12);
    assert_int_equal(clo_profile_entries(profile), 0);
    assert_int_equal(clo_profile_snapshot(profile), 0);
    ok(clo_profile_publish(profile));
    assert_int_equal(clo_profile_entries(profile), 1);
    clo_profile_entry e = entry(profile, 0);
    assert_string_equal(e.codelet, "gemm");
    assert_string_equal(e.kind, "core");
    assert_int_equal(e.version, 1);
    assert_int_equal(e.footprint, 4096);
    assert_int_equal(e.bytes, 64);
    assert_int_equal(e.samples, 11); /* the first one was of cold caches */
    assert_int_equal(e.location_ns, 1000);
    uint64_t snapshot = clo_profile_snapshot(profile);
    ok(clo_profile_publish(profile));
    assert_int_equal(clo_profile_snapshot(profile), snapshot);
    learn(profile, &gemm, 64, 3000, 30);
    ok(clo_profile_publish(profile));
    assert_true(clo_profile_snapshot(profile) != snapshot);
    assert_int_equal(entry(profile, 0).level_changes, 1);
    fails(CLO_ERR_ARGUMENT, "entry 1 does not exist", clo_profile_entry_at(profile, 1, &e));
    clo_profile_destroy(profile);
}

static void the_first_sample_counts_until_there_is_a_second(void **state)
{
    clo_profile *profile = new_profile(0);

    (void)state;
    learn(profile, &gemm, 64, 90000, 1);
    ok(clo_profile_publish(profile));
    assert_int_equal(entry(profile, 0).location_ns, 90000);
    learn(profile, &gemm, 64, 1000, 1);
    ok(clo_profile_publish(profile));
    assert_int_equal(entry(profile, 0).location_ns, 1000);
    assert_int_equal(entry(profile, 0).most_ns, 90000);
    clo_profile_destroy(profile);
}

/* Another version, kind, footprint or name is another entry; a footprint of 0 is the bytes. */
static void each_key_has_an_entry_of_its_own(void **state)
{
    clo_profile *profile = new_profile(0);
    const clo_codelet keys[] = {{"gemm", 1, 4096}, {"gemm", 2, 4096}, {"gemm", 1, 8}, {"gem", 1, 4096}, {"gemm", 1, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        learn(profile, &keys[i], 32, 100, 2);
    ok(clo_profile_learn(profile, &keys[0], 32, "little", 100));
    ok(clo_profile_publish(profile));
    assert_int_equal(clo_profile_entries(profile), 6);
    for (uint32_t i = 1; i < 6; i++)
        assert_true(strcmp(entry(profile, i - 1).codelet, entry(profile, i).codelet) <= 0);
    assert_int_equal(entry(profile, 2).footprint, 32);
    clo_profile_destroy(profile);
}

static void a_full_profile_gives_up_its_oldest_entry_and_counts(void **state)
{
    clo_profile *profile = new_profile(4);
    char name[16];
    clo_profile_entry old = {.codelet = "old", .kind = "core", .samples = 9, .location_ns = 5, .newest_s = 1};

    (void)state;
    ok(clo_profile_add(profile, &old));
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "c%d", i);
        learn(profile, &(clo_codelet){name, 0, 1}, 1, 100, 1);
    }
    assert_int_equal(clo_profile_evicted(profile), 0);
    learn(profile, &gemm, 1, 100, 1);
    ok(clo_profile_publish(profile));
    assert_int_equal(clo_profile_evicted(profile), 1);
    assert_int_equal(clo_profile_entries(profile), 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(strcmp(entry(profile, i).codelet, "old") != 0);
    for (int i = 0; i < 1000; i++) { /* all of them, again and again: the table stays sound */
        snprintf(name, sizeof name, "n%d", i % 7);
        learn(profile, &(clo_codelet){name, 0, 1}, 1, 100, 1);
    }
    ok(clo_profile_publish(profile));
    assert_int_equal(clo_profile_entries(profile), 4);
    clo_profile_destroy(profile);
}

static clo_profile_entry drawn(clo_rng *rng)
{
    static const char *const names[] = {"a", "b"};
    int64_t location_ns = 1000 + clo_rng_below(rng, 3) * 500;

    return (clo_profile_entry){.codelet = names[clo_rng_below(rng, 2)],
                               .kind = "core",
                               .footprint = 1 + clo_rng_below(rng, 2),
                               .bytes = 10 + clo_rng_below(rng, 2),
                               .samples = 1 + clo_rng_below(rng, 20),
                               .location_ns = location_ns,
                               .spread_ns = clo_rng_below(rng, 200),
                               .high_ns = location_ns + clo_rng_below(rng, 100),
                               .mean_ns = clo_rng_below(rng, 2) * (location_ns + clo_rng_below(rng, 50)),
                               .most_ns = location_ns + clo_rng_below(rng, 1000),
                               .level_changes = clo_rng_below(rng, 3),
                               .is_assumed = clo_rng_below(rng, 4) == 0,
                               .newest_s = 100 + clo_rng_below(rng, 3)};
}

static bool equals(const clo_profile_entry *a, const clo_profile_entry *b)
{
    return strcmp(a->codelet, b->codelet) == 0 && a->footprint == b->footprint && a->bytes == b->bytes &&
           a->samples == b->samples && a->location_ns == b->location_ns && a->spread_ns == b->spread_ns &&
           a->high_ns == b->high_ns && a->mean_ns == b->mean_ns && a->most_ns == b->most_ns &&
           a->level_changes == b->level_changes && a->is_assumed == b->is_assumed && a->newest_s == b->newest_s;
}

/* Every field of every entry comes back. */
static void a_file_keeps_entries(void **state)
{
    const char *path = CLO_BINARY "/test_profile_entries.json";
    clo_rng rng = clo_rng_seed(3);

    (void)state;
    for (int i = 0; i < 100; i++) {
        clo_profile *profile = new_profile(8), *again = new_profile(8);
        clo_profile_entry was, is;
        for (int k = 0; k < 6; k++) {
            const clo_profile_entry entry = drawn(&rng);
            ok(clo_profile_add(profile, &entry));
        }
        ok(clo_profile_publish(profile));
        ok(clo_profile_save(profile, path));
        ok(clo_profile_load(again, path, 0));
        assert_int_equal(clo_profile_entries(again), clo_profile_entries(profile));
        for (uint32_t e = 0; e < clo_profile_entries(profile); e++) {
            ok(clo_profile_entry_at(profile, e, &was));
            ok(clo_profile_entry_at(again, e, &is));
            assert_true(equals(&was, &is));
        }
        clo_profile_destroy(profile);
        clo_profile_destroy(again);
    }
    unlink(path);
}

static void the_order_of_a_merge_does_not_matter(void **state)
{
    clo_rng rng = clo_rng_seed(1);

    (void)state;
    for (int i = 0; i < 5000; i++) {
        clo_profile *both = new_profile(8), *turned = new_profile(8);
        clo_profile_entry a = drawn(&rng), b = drawn(&rng);
        ok(clo_profile_add(both, &a));
        ok(clo_profile_add(both, &b));
        ok(clo_profile_add(turned, &b));
        ok(clo_profile_add(turned, &a));
        ok(clo_profile_publish(both));
        ok(clo_profile_publish(turned));
        assert_int_equal(clo_profile_entries(both), clo_profile_entries(turned));
        assert_int_equal(clo_profile_snapshot(both), clo_profile_snapshot(turned));
        for (uint32_t k = 0; k < clo_profile_entries(both); k++) {
            clo_profile_entry x = entry(both, k), y = entry(turned, k);
            assert_true(equals(&x, &y));
        }
        clo_profile_destroy(both);
        clo_profile_destroy(turned);
    }
}

static clo_profile_entry merged(clo_profile_entry a, clo_profile_entry b)
{
    clo_profile *profile = new_profile(1);

    ok(clo_profile_add(profile, &a));
    ok(clo_profile_add(profile, &b));
    ok(clo_profile_publish(profile));
    clo_profile_entry found = entry(profile, 0);
    found.codelet = found.kind = NULL;
    clo_profile_destroy(profile);
    return found;
}

static void times_that_agree_are_averaged_and_of_others_the_younger_stands(void **state)
{
    clo_profile_entry a = {.codelet = "c", .kind = "k", .samples = 30, .location_ns = 1000, .spread_ns = 100};
    clo_profile_entry b = a;

    (void)state;
    b.samples = 10;
    b.location_ns = 1200;
    b.newest_s = 7;
    assert_int_equal(merged(a, b).location_ns, 1050);
    assert_int_equal(merged(a, b).samples, 40);
    b.location_ns = 5000;
    assert_int_equal(merged(a, b).location_ns, 5000);
    assert_int_equal(merged(a, b).samples, 10);
    b.samples = 8; /* too few to be trusted */
    assert_int_equal(merged(a, b).location_ns, 1000);
    b.samples = 10;
    b.is_assumed = 1; /* what was measured here beats it, though it is older */
    assert_int_equal(merged(a, b).location_ns, 1000);
    a.location_ns = b.location_ns;
    assert_int_equal(merged(a, b).is_assumed, 0);
}

/* Two kinds, of which "fast" has twice the speed. */
static clo_platform *two_kinds(void)
{
    static const char *const names[] = {"fast", "slow"};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_executor executors[3] = {{0, 0, 0, -1, {131072, 131072, 131072, 131072}},
                                 {1, 0, 0, -1, {65536, 65536, 65536, 65536}},
                                 {1, 0, 0, -1, {65536, 65536, 65536, 65536}}};
    clo_platform *platform;

    desc.executors_count = 3;
    desc.executors = executors;
    desc.kinds_count = 2;
    desc.kind_names = names;
    ok(clo_platform_create(&desc, &platform));
    return platform;
}

/* Tasks 0 .. 4 are gemm of footprints 1 .. 5; task 5 has no codelet. */
static clo_graph *codelets(void)
{
    clo_graph *graph;

    ok(clo_graph_create("codelets", &graph));
    for (uint32_t t = 0; t < 6; t++) {
        const clo_task task = {.work_ns = 777, .output_bytes = 1000u << t};
        ok(clo_graph_add_task(graph, &task, NULL));
        if (t < 5)
            ok(clo_graph_set_codelet(graph, t, &(clo_codelet){"gemm", 1, t + 1}));
    }
    ok(clo_graph_seal(graph));
    return graph;
}

static void a_cost_takes_the_best_time_that_is_known(void **state)
{
    clo_platform *platform = two_kinds();
    clo_graph *graph = codelets();
    clo_profile *profile = new_profile(0);
    clo_measured measured = CLO_MEASURED_INIT;
    clo_cost *cost;

    (void)state;
    for (uint32_t t = 0; t < 4; t++) /* 10 ns for 1000 bytes, and 500 */
        if (t != 1)
            for (int i = 0; i < 10; i++)
                ok(clo_profile_learn(profile, &(clo_codelet){"gemm", 1, t + 1}, 1000u << t, "slow", 500 + (10 << t)));
    ok(clo_profile_learn(profile, &(clo_codelet){"gemm", 1, 1}, 1000, "fast", 100));
    ok(clo_profile_publish(profile));
    measured.spreads_q16 = 0;
    ok(clo_cost_create_measured(graph, platform, profile, &measured, &cost));
    assert_int_equal(clo_cost_execution_ns(cost, 0, 0), 100); /* measured */
    assert_int_equal(clo_cost_execution_ns(cost, 0, 1), 510);
    assert_int_equal(clo_cost_execution_ns(cost, 1, 1), 520); /* from three sizes, on a line */
    assert_int_equal(clo_cost_execution_ns(cost, 1, 0), 260); /* and by speed */
    assert_int_equal(clo_cost_execution_ns(cost, 2, 0), 270);
    assert_int_equal(clo_cost_execution_ns(cost, 4, 1), 660); /* twice the largest size */
    assert_int_equal(clo_cost_execution_ns(cost, 5, 1), 777); /* as the graph says */
    assert_int_equal(clo_cost_execution_ns(cost, 5, 0), 389);
    assert_int_equal(measured.tasks_by[CLO_TIME_MEASURED], 1);
    assert_int_equal(measured.tasks_by[CLO_TIME_SCALED], 4);
    assert_int_equal(measured.tasks_by[CLO_TIME_TYPED], 1);
    assert_int_equal(measured.snapshot, clo_profile_snapshot(profile));
    clo_cost_destroy(cost);
    clo_profile_destroy(profile);
    clo_graph_destroy(graph);
    clo_platform_destroy(platform);
}

/* Without enough sizes, or too far from them, nothing is made up. */
static void sizes_that_are_too_few_or_too_far_say_nothing(void **state)
{
    clo_platform *platform = two_kinds();
    clo_graph *graph = codelets();
    clo_profile *profile = new_profile(0);
    clo_measured measured = CLO_MEASURED_INIT;
    clo_cost *cost;

    (void)state;
    for (uint32_t t = 0; t < 2; t++)
        ok(clo_profile_learn(profile, &(clo_codelet){"gemm", 1, t + 1}, 1000u << t, "slow", 500));
    ok(clo_profile_learn(profile, &(clo_codelet){"gemm", 2, 3}, 4000, "slow", 500)); /* another version */
    ok(clo_profile_publish(profile));
    ok(clo_cost_create_measured(graph, platform, profile, &measured, &cost));
    assert_int_equal(measured.tasks_by[CLO_TIME_TYPED], 4);
    assert_int_equal(clo_cost_execution_ns(cost, 3, 1), 777);
    clo_cost_destroy(cost);
    clo_profile_destroy(profile);
    clo_graph_destroy(graph);
    clo_platform_destroy(platform);
}

static int wait_us(const clo_call *call)
{
    struct timespec begin, now;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < *(const long *)call->argument);
    return 0;
}

/* C functions that say nothing of their times: after one run the cost knows them. */
static void a_graph_without_times_is_known_after_one_run(void **state)
{
    static long long_ns = 200000;
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_platform *platform;
    clo_runtime *runtime;
    clo_graph *graph;
    clo_cost *cost, *known;
    clo_job *job;
    clo_trace *trace;
    clo_profile *profile = new_profile(0);
    clo_measured measured = CLO_MEASURED_INIT;
    size_t learned = 0;

    (void)state;
    ok(clo_platform_open("uniform:2", &platform));
    ok(clo_graph_create("untimed", &graph));
    for (uint32_t t = 0; t < 4; t++) {
        const clo_task task = {.body = wait_us, .argument = &long_ns};
        ok(clo_graph_add_task(graph, &task, NULL));
    }
    ok(clo_graph_seal(graph));
    ok(clo_cost_create(graph, platform, &cost));
    config.trace = 1;
    config.unpinned = 1;
    ok(clo_runtime_create(platform, &config, &runtime));
    ok(clo_job_create(runtime, cost, NULL, &job));
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    ok(clo_job_trace(job, &trace));
    ok(clo_profile_learn_trace(profile, cost, trace, &learned));
    assert_int_equal(learned, 4);
    ok(clo_profile_publish(profile));
    assert_int_equal(entry(profile, 0).codelet[0], CLO_CODELET_ADDRESS);
    ok(clo_cost_create_measured(graph, platform, profile, &measured, &known));
    for (uint32_t t = 0; t < 4; t++)
        assert_true(clo_cost_execution_ns(known, t, 0) >= long_ns);
    assert_int_equal(measured.tasks_by[CLO_TIME_MEASURED], 4);
    clo_trace_destroy(trace);
    clo_job_destroy(job);
    clo_runtime_destroy(runtime);
    clo_cost_destroy(known);
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    clo_platform_destroy(platform);
    clo_profile_destroy(profile);
}

/* A profile of a board, used for another one: by speed 1 of the reference executor. */
static void times_of_kinds_that_the_platform_lacks_are_scaled(void **state)
{
    clo_platform *platform = two_kinds();
    clo_graph *graph = codelets();
    clo_profile *profile = new_profile(0);
    clo_measured measured = CLO_MEASURED_INIT;
    clo_cost *cost;

    (void)state;
    for (int i = 0; i < 9; i++)
        ok(clo_profile_learn(profile, &(clo_codelet){"gemm", 1, 1}, 1000, "elsewhere", 600));
    ok(clo_profile_publish(profile));
    measured.spreads_q16 = 0;
    ok(clo_cost_create_measured(graph, platform, profile, &measured, &cost));
    assert_int_equal(clo_cost_execution_ns(cost, 0, 0), 300);
    assert_int_equal(clo_cost_execution_ns(cost, 0, 1), 600);
    assert_int_equal(measured.tasks_by[CLO_TIME_SCALED], 1);
    assert_int_equal(measured.tasks_by[CLO_TIME_TYPED], 5);
    clo_cost_destroy(cost);
    clo_profile_destroy(profile);
    clo_graph_destroy(graph);
    clo_platform_destroy(platform);
}

static void records_of_the_job_alone_are_learned(void **state)
{
    clo_platform *platform = two_kinds();
    clo_graph *graph = codelets();
    clo_profile *profile = new_profile(0);
    clo_record records[] = {{.job = 7, .task = 1, .executor = 1, .start_ns = 100, .finish_ns = 350},
                            {.job = 8, .task = 99, .executor = 99, .start_ns = 100, .finish_ns = 900},
                            {.job = 7, .task = 1, .executor = 2, .start_ns = 400, .finish_ns = 650},
                            {.job = 7, .task = 5, .executor = 0, .start_ns = 400, .finish_ns = 650}};
    size_t learned = 99;
    clo_cost *cost;

    (void)state;
    ok(clo_cost_create(graph, platform, &cost));
    ok(clo_profile_learn_records(profile, cost, 7, records, 4, &learned));
    assert_int_equal(learned, 2); /* task 5 has no codelet and no body */
    ok(clo_profile_publish(profile));
    assert_int_equal(clo_profile_entries(profile), 1);
    assert_int_equal(entry(profile, 0).location_ns, 250);
    assert_string_equal(entry(profile, 0).kind, "slow");
    fails(CLO_ERR_ARGUMENT, "another graph", clo_profile_learn_records(profile, cost, 8, records, 4, &learned));
    records[0].finish_ns = 0;
    fails(CLO_ERR_ARGUMENT, "another graph", clo_profile_learn_records(profile, cost, 7, records, 1, &learned));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_profile_learn_records(profile, cost, 7, NULL, 1, &learned));
    ok(clo_profile_learn_records(profile, cost, 7, NULL, 0, &learned));
    assert_int_equal(learned, 0);
    clo_cost_destroy(cost);
    clo_profile_destroy(profile);
    clo_graph_destroy(graph);
    clo_platform_destroy(platform);
}

/* Kernels share their body: what tells them apart is its argument. */
static void bodies_with_arguments_of_their_own_are_known_by_these(void **state)
{
    static int first, second;
    clo_platform *platform = two_kinds();
    clo_profile *profile = new_profile(0);
    clo_record records[2] = {{.job = 7, .task = 0, .executor = 1, .start_ns = 0, .finish_ns = 250},
                             {.job = 7, .task = 1, .executor = 1, .start_ns = 0, .finish_ns = 900}};
    clo_graph *graph;
    clo_cost *cost;
    uint32_t slow;

    (void)state;
    ok(clo_graph_create("kernels", &graph));
    ok(clo_graph_kind(graph, "slow", &slow));
    for (uint32_t t = 0; t < 2; t++) {
        ok(clo_graph_add_task(graph, &(clo_task){.work_ns = 1}, NULL));
        ok(clo_graph_set_body_argument(graph, t, slow, wait_us, t == 0 ? &first : &second));
    }
    ok(clo_graph_seal(graph));
    ok(clo_cost_create(graph, platform, &cost));
    ok(clo_profile_learn_records(profile, cost, 7, records, 2, NULL));
    ok(clo_profile_publish(profile));
    assert_int_equal(clo_profile_entries(profile), 2);
    assert_string_not_equal(entry(profile, 0).codelet, entry(profile, 1).codelet);
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    clo_profile_destroy(profile);
    clo_platform_destroy(platform);
}

static bool spreads_equal(clo_run_spread x, clo_run_spread y)
{
    return x.runs == y.runs && x.location_q16 == y.location_q16 && x.spread_q16 == y.spread_q16 &&
           x.high_q16 == y.high_q16 && x.most_q16 == y.most_q16 && x.newest_s == y.newest_s;
}

static void spreads_of_runs_are_merged_in_any_order_and_change_no_times(void **state)
{
    clo_rng rng = clo_rng_seed(2);

    (void)state;
    for (int i = 0; i < 5000; i++) {
        clo_profile *both = new_profile(8), *turned = new_profile(8);
        clo_run_spread spreads[2];
        learn(both, &gemm, 64, 1000, 12);
        ok(clo_profile_publish(both));
        uint64_t snapshot = clo_profile_snapshot(both);
        assert_int_equal(clo_profile_run_spread(both).runs, 0);
        for (int k = 0; k < 2; k++) {
            const clo_profile_entry e = drawn(&rng);
            spreads[k] = (clo_run_spread){e.samples, e.location_ns, e.spread_ns, e.high_ns, e.most_ns, e.newest_s};
        }
        ok(clo_profile_add_run_spread(both, &spreads[0]));
        ok(clo_profile_publish(both));
        assert_true(spreads_equal(clo_profile_run_spread(both), spreads[0]));
        ok(clo_profile_add_run_spread(both, &spreads[1]));
        ok(clo_profile_add_run_spread(turned, &spreads[1]));
        ok(clo_profile_add_run_spread(turned, &spreads[0]));
        ok(clo_profile_publish(both));
        ok(clo_profile_publish(turned));
        assert_true(spreads_equal(clo_profile_run_spread(both), clo_profile_run_spread(turned)));
        assert_int_equal(clo_profile_snapshot(both), snapshot);
        assert_int_equal(clo_profile_snapshot(turned), 0);
        clo_profile_destroy(both);
        clo_profile_destroy(turned);
    }
}

/* More codelets than a call remembers, by footprint or by bytes, and two kinds: each sample is in the entry of its own task,
 * also in a profile that has room for a few only, where entries go in mid-call. Mutation: size left out of memo. */
static void many_tasks_in_one_call_keep_their_entries(void **state)
{
    enum { MANY = 700, FEW = 5 };
    static clo_record records[2 * MANY];
    clo_platform *platform = two_kinds();
    clo_graph *graph;
    clo_cost *cost;
    size_t learned;

    (void)state;
    ok(clo_graph_create("many", &graph));
    for (uint32_t t = 0; t < MANY; t++) {
        ok(clo_graph_add_task(graph, &(clo_task){.work_ns = 5, .output_bytes = 1 + t}, NULL));
        ok(clo_graph_set_codelet(graph, t, &(clo_codelet){t % 2 == 0 ? "even" : "odd", 0, t % 4 < 2 ? 1 + t : 0}));
        for (uint32_t k = 0; k < 2; k++)
            records[2 * t + k] = (clo_record){.job = 1, .task = t, .executor = k, .finish_ns = 1000 * (int64_t)(1 + t)};
    }
    for (uint32_t t = 0; t < 80; t++) /* four that are wide */
        ok(clo_graph_add_edge(graph, t / 4, MANY - 4 + t % 4, 0));
    ok(clo_graph_seal(graph));
    ok(clo_cost_create(graph, platform, &cost));
    for (uint32_t max = FEW; max <= 2 * MANY; max = max == FEW ? 2 * MANY : max + 1) {
        clo_profile *profile = new_profile(max);
        for (int i = 0; i < 3; i++) {
            ok(clo_profile_learn_records(profile, cost, 1, records, 2 * MANY, &learned));
            assert_int_equal(learned, 2 * MANY);
        }
        ok(clo_profile_publish(profile));
        assert_true(clo_profile_entries(profile) == max);
        for (uint32_t i = 0; i < max; i++)
            assert_int_equal(entry(profile, i).location_ns, 1000 * (int64_t)entry(profile, i).footprint);
        assert_int_equal(clo_profile_evicted(profile) > 0, max == FEW);
        clo_profile_destroy(profile);
    }
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    clo_platform_destroy(platform);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_learned_is_seen_when_it_is_published),
        cmocka_unit_test(the_first_sample_counts_until_there_is_a_second),
        cmocka_unit_test(each_key_has_an_entry_of_its_own),
        cmocka_unit_test(a_full_profile_gives_up_its_oldest_entry_and_counts),
        cmocka_unit_test(a_file_keeps_entries),
        cmocka_unit_test(the_order_of_a_merge_does_not_matter),
        cmocka_unit_test(spreads_of_runs_are_merged_in_any_order_and_change_no_times),
        cmocka_unit_test(times_that_agree_are_averaged_and_of_others_the_younger_stands),
        cmocka_unit_test(a_cost_takes_the_best_time_that_is_known),
        cmocka_unit_test(sizes_that_are_too_few_or_too_far_say_nothing),
        cmocka_unit_test(times_of_kinds_that_the_platform_lacks_are_scaled),
        cmocka_unit_test(records_of_the_job_alone_are_learned),
        cmocka_unit_test(bodies_with_arguments_of_their_own_are_known_by_these),
        cmocka_unit_test(many_tasks_in_one_call_keep_their_entries),
        cmocka_unit_test(a_graph_without_times_is_known_after_one_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
