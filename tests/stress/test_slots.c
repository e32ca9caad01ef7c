/* Slots: executors without a thread of their own, served by a few; many bodies that are pending at once. */
#define _GNU_SOURCE
#include "support.h"

#include "driver.h"
#include "running.h"

#include <clotho/stream.h>
#include <clotho/stream_check.h>

#include <dirent.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MANY 10000u

static driver drives;
static uint8_t counts[MANY];

static int64_t now_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int go_out(const clo_call *call)
{
    clo_token token;

    if (clo_token_take(call, NULL, NULL, &token) != CLO_OK)
        return 2;
    counts[call->instance]++;
    driver_give(&drives, token, call->output);
    return CLO_PENDING;
}

static fixture start_slots(const char *platform, clo_graph *graph, uint32_t workers)
{
    fixture f = {.graph = graph};
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;

    config.slot_workers = workers;
    config.trace = 1;
    ok(clo_platform_open(platform, &f.platform));
    ok(clo_cost_create(graph, f.platform, &f.cost));
    ok(clo_runtime_create(f.platform, &config, &f.runtime));
    return f;
}

static clo_graph *wide(uint32_t instances)
{
    clo_task task = {.name = "call", .body = go_out, .instances = instances, .work_ns = 1000, .may_pend = 1};

    return scene_layers(1, 1, &task);
}

static uint32_t given(void)
{
    pthread_mutex_lock(&drives.lock);
    uint32_t count = drives.given;
    pthread_mutex_unlock(&drives.lock);
    return count;
}

/* Threads of this process. */
static uint32_t threads(void)
{
    DIR *folder = opendir("/proc/self/task");
    uint32_t count = 0;

    for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    if (folder != NULL)
        closedir(folder);
    return count;
}

/* The workers take no CPU time. On a loaded machine the last bodies may still be returning, and workers have yet to
 * fall asleep, so they have some windows of time for it. */
static bool all_sleep(clo_job *job, uint32_t many, const char *way)
{
    enum { WINDOWS = 300 };

    for (uint32_t i = 0; i < WINDOWS; i++) {
        int64_t cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID), wall_ns = now_ns(CLOCK_MONOTONIC);
        assert_int_equal(clo_job_wait_for(job, 200000000, NULL), CLO_ERR_TIMEOUT);
        cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns;
        wall_ns = now_ns(CLOCK_MONOTONIC) - wall_ns;
        print_message("%s: %u bodies pending on 2 workers (%u threads): %.3f ms CPU over %.0f ms, %.2f %%\n", way, many,
                      threads(), (double)cpu_ns / 1e6, (double)wall_ns / 1e6, 100. * (double)cpu_ns / (double)wall_ns);
        if (cpu_ns < wall_ns / 20)
            return true;
    }
    return false;
}

static void run_many(fixture *f, const clo_plan *plan, const clo_policy *policy, uint32_t many, const char *way)
{
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_job *job = make_job(f, policy, plan);

    memset(counts, 0, sizeof counts);
    driver_start(&drives, many + 1); /* not before we say so */
    ok(clo_job_submit(job));
    while (given() < many)
        usleep(1000);
    assert_true(all_sleep(job, many, way));
    driver_stop(&drives);
    ok(clo_job_wait(job, &result));
    assert_int_equal(result.executed, many);
    assert_int_equal(atomic_load(&drives.completed), many);
    assert_int_equal(atomic_load(&drives.stale), 0);
    for (uint32_t i = 0; i < many; i++)
        assert_int_equal(counts[i], 1);
    clo_job_destroy(job);
}

static void ten_thousand_bodies_are_pending_on_two_workers_that_sleep(void **state)
{
    (void)state;
    fixture f = start_slots("slots:10000", wide(MANY), 2);

    assert_int_equal(clo_runtime_workers(f.runtime), MANY);
    run_many(&f, NULL, NULL, MANY, "steal");
    run_many(&f, NULL, NULL, MANY, "steal again");
    stop(&f);
}

static void replay_and_policies_fill_all_slots(void **state)
{
    (void)state;
    fixture f = start_slots("slots:1000", wide(1000), 2);
    clo_plan *plan;

    ok(clo_plan_create(f.cost, NULL, &plan));
    run_many(&f, plan, NULL, 1000, "replay");
    run_many(&f, NULL, clo_policy_find("fifo"), 1000, "policy");
    clo_plan_destroy(plan);
    stop(&f);
}

/* With an argument the driver leaves the output alone: a run that is cut short ends executions before it comes. */
static int sum_later(const clo_call *call)
{
    clo_token token;
    int code = sum_inputs(call);

    if (code != 0 || clo_token_take(call, NULL, NULL, &token) != CLO_OK)
        return 2;
    driver_give(&drives, token, call->argument != NULL ? NULL : call->output);
    return CLO_PENDING;
}

static int sum_at_once(const clo_call *call)
{
    int code = sum_inputs(call);

    ++*(uint64_t *)call->output;
    return code;
}

static uint64_t hash_of(fixture *f, const clo_policy *policy, const clo_plan *plan, int runs)
{
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_job *job = make_job(f, policy, plan);
    uint64_t hash = 0;

    for (int run = 0; run < runs; run++) {
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, &result));
        assert_int_equal(result.executed, clo_graph_instances(f->graph));
        hash = clo_job_output_hash(job);
    }
    clo_trace *trace;
    clo_plan *ran;
    ok(clo_job_trace(job, &trace));
    ok(clo_trace_to_plan(trace, f->cost, &ran));
    ok(clo_plan_check(ran, f->cost, CLO_CHECK_MEASURED));
    clo_plan_destroy(ran);
    clo_trace_destroy(trace);
    clo_job_destroy(job);
    return hash;
}

/* Layers of tasks that demand of one machine, some of which finish later, on CPUs and slots. */
static void graphs_with_edges_and_demands_give_the_same_outputs_and_clean_traces(void **state)
{
    (void)state;
    const char *const names[] = {"cpu", "slot"};
    clo_executor list[7];
    int64_t capacities[CLO_RESOURCES_MAX] = {3, -1, -1, -1, -1, -1, -1, -1};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_task task = {.work_ns = 1000, .output_bytes = 64, .may_pend = 1, .demand = {1}};
    uint64_t hashes[2];

    for (uint32_t e = 0; e < 7; e++)
        list[e] = (clo_executor){e >= 2, 0, 0, e < 2 ? -1 : CLO_OS_SLOT, {65536, 65536, 65536, 65536}};
    desc.executors_count = 7;
    desc.executors = list;
    desc.kinds_count = 2;
    desc.kind_names = names;
    desc.capacities = capacities;
    driver_start(&drives, 0);
    for (int later = 0; later < 2; later++) {
        clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
        fixture f = {0};
        clo_plan *plan;
        config.unpinned = config.trace = 1;
        task.body = later ? sum_later : sum_at_once;
        f.graph = scene_layers(6, 5, &task);
        ok(clo_platform_create(&desc, &f.platform));
        ok(clo_cost_create(f.graph, f.platform, &f.cost));
        ok(clo_runtime_create(f.platform, &config, &f.runtime));
        ok(clo_plan_create(f.cost, NULL, &plan));
        hashes[later] = hash_of(&f, NULL, NULL, 20);
        assert_true(hash_of(&f, NULL, plan, 20) == hashes[later]);
        assert_true(hash_of(&f, clo_policy_find("fifo"), NULL, 20) == hashes[later]);
        assert_true(hash_of(&f, clo_policy_find("eft"), NULL, 20) == hashes[later]);
        clo_plan_destroy(plan);
        stop(&f);
    }
    driver_stop(&drives);
    assert_true(hashes[0] == hashes[1]);
}

/* A body that is pending lasts until its completion in the log, too: the checker finds the log valid, and each decision
 * is repeated. */
static void logs_of_policies_are_valid_and_replay(void **state)
{
    (void)state;
    const char *const names[] = {"fifo", "eft"};
    clo_task task = {.body = sum_later, .argument = &drives, .work_ns = 1000, .output_bytes = 64, .may_pend = 1};

    for (int p = 0; p < 2; p++) {
        fixture f = start_slots("slots:6", scene_layers(6, 5, &task), 2);
        const clo_cost *costs[] = {f.cost};
        clo_replay_policy policies[] = {{.policy = clo_policy_find(names[p])}};
        clo_stream_case stream = CLO_STREAM_CASE_INIT;
        clo_stream_report report = CLO_STREAM_REPORT_INIT;
        clo_replay_config config = CLO_REPLAY_CONFIG_INIT;
        clo_replay_result result = CLO_REPLAY_RESULT_INIT;
        clo_stream_job jobs[10] = {{0}};
        clo_log *log;

        ok(clo_log_create(NULL, 4000, &log));
        ok(clo_runtime_log_start(f.runtime, log));
        driver_start(&drives, 0);
        clo_job *job = make_job(&f, policies[0].policy, NULL);
        for (int run = 0; run < 10; run++) {
            ok(clo_job_submit(job));
            if (run == 5)
                clo_job_cancel(job);
            (void)!clo_job_wait(job, NULL);
            jobs[run] = (clo_stream_job){.job = (uint64_t)run, .cost = f.cost, .weight = 1};
        }
        driver_stop(&drives);
        clo_job_destroy(job);
        ok(clo_runtime_log_stop(f.runtime));
        stream.platform = config.platform = f.platform;
        stream.jobs = jobs;
        stream.jobs_count = 10;
        ok(clo_stream_check(&stream, log, &report));
        assert_int_equal(report.finished + report.cancelled, 10);
        config.costs = costs;
        config.costs_count = config.policies_count = 1;
        config.policies = policies;
        ok(clo_stream_replay(&config, log, &result));
        clo_log_destroy(log);
        stop(&f);
    }
}

static clo_token kept[8];
static _Atomic uint32_t kept_count, told;
static pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER;

static void tell(void *argument)
{
    (void)argument;
    atomic_fetch_add(&told, 1);
}

static int pend(const clo_call *call)
{
    clo_token token;

    if (clo_token_take(call, call->argument != NULL ? tell : NULL, NULL, &token) != CLO_OK)
        return 2;
    pthread_mutex_lock(&keeping);
    kept[atomic_load(&kept_count) % 8] = token;
    atomic_fetch_add(&kept_count, 1);
    pthread_mutex_unlock(&keeping);
    return CLO_PENDING;
}

static void a_cancel_reaches_what_is_pending_on_slots(void **state)
{
    (void)state;
    static int has_function;

    for (int how = 0; how < 4; how++) { /* with a function or without; by a cancel or by the end of the runtime */
        clo_task task = {.body = pend, .argument = how % 2 ? &has_function : NULL, .instances = 8, .may_pend = 1};
        clo_job_result result = CLO_JOB_RESULT_INIT;
        fixture f = start_slots("slots:4", scene_layers(1, 1, &task), 2);
        clo_job *job = make_job(&f, how < 2 ? NULL : clo_policy_find("fifo"), NULL);
        atomic_store(&kept_count, 0);
        atomic_store(&told, 0);
        ok(clo_job_submit(job));
        while (atomic_load(&kept_count) < 4)
            usleep(100);
        if (how % 2 == 0) {
            stop(&f);
            continue;
        }
        clo_job_cancel(job);
        while (atomic_load(&told) < 4)
            usleep(100);
        assert_int_equal(clo_job_wait_for(job, 1000000, NULL), CLO_ERR_TIMEOUT);
        for (int i = 0; i < 4; i++)
            ok(clo_token_complete(kept[i], i));
        assert_int_equal(clo_job_wait(job, &result), CLO_ERR_CANCELLED);
        assert_int_equal(result.executed, 1);
        assert_int_equal(atomic_load(&told), 4);
        clo_job_destroy(job);
        stop(&f);
    }
}

/* Bodies on slots that do not pend, and release each other from slot to slot. */
static void ordinary_bodies_run_on_slots_too(void **state)
{
    (void)state;
    clo_task task = {.body = count_call, .work_ns = 10};
    fixture f = start_slots("slots:5", scene_layers(20, 7, &task), 3);

    for (int how = 0; how < 3; how++) {
        clo_plan *plan = NULL;
        if (how == 1)
            ok(clo_plan_create(f.cost, NULL, &plan));
        clo_job *job = make_job(&f, how == 2 ? clo_policy_find("fifo") : NULL, plan);
        for (int run = 0; run < 20; run++) {
            atomic_store(&calls, 0);
            ok(clo_job_submit(job));
            ok(clo_job_wait(job, NULL));
            assert_int_equal(atomic_load(&calls), 140);
        }
        clo_job_destroy(job);
        clo_plan_destroy(plan);
    }
    stop(&f);
}

static void slots_come_last_and_have_few_workers(void **state)
{
    (void)state;
    clo_executor list[2] = {{0, 0, 0, CLO_OS_SLOT, {65536, 65536, 65536, 65536}},
                            {0, 0, 0, -1, {65536, 65536, 65536, 65536}}};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_platform *platform;
    clo_runtime *runtime;

    desc.executors_count = 2;
    desc.executors = list;
    desc.kinds_count = 1;
    fails(CLO_ERR_ARGUMENT, "executor 1 comes after a slot; put the slots last", clo_platform_create(&desc, &platform));
    list[0].os_index = CLO_OS_SLOT_DEEP(CLO_SLOT_DEPTH_MAX);
    fails(CLO_ERR_ARGUMENT, "executor 1 comes after a slot; put the slots last", clo_platform_create(&desc, &platform));
    list[0].os_index = CLO_OS_SLOT_DEEP(CLO_SLOT_DEPTH_MAX + 1);
    fails(CLO_ERR_ARGUMENT, "executor 0: os_index -6", clo_platform_create(&desc, &platform));
    fails(CLO_ERR_ARGUMENT, "P of slots:P is a number", clo_platform_open("slots:0", &platform));
    ok(clo_platform_open("slots:3", &platform));
    assert_int_equal(clo_platform_executor(platform, 2)->os_index, CLO_OS_SLOT);
    assert_string_equal(clo_platform_kind_name(platform, 0), "slot");
    config.slot_workers = 257;
    fails(CLO_ERR_LIMIT, "slot_workers is 257; at most 256", clo_runtime_create(platform, &config, &runtime));
    clo_platform_destroy(platform);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_come_last_and_have_few_workers),
        cmocka_unit_test(ordinary_bodies_run_on_slots_too),
        cmocka_unit_test(graphs_with_edges_and_demands_give_the_same_outputs_and_clean_traces),
        cmocka_unit_test(logs_of_policies_are_valid_and_replay),
        cmocka_unit_test(a_cancel_reaches_what_is_pending_on_slots),
        cmocka_unit_test(replay_and_policies_fill_all_slots),
        cmocka_unit_test(ten_thousand_bodies_are_pending_on_two_workers_that_sleep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
