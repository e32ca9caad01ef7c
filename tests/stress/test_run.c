/* The threaded run: every status of runtime.h and job.h, failure, cancellation, many jobs at once, capacities. */
#define _GNU_SOURCE
#include "support.h"

#include "fault.h"
#include "scene.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic uint32_t calls;

static int count_call(const clo_call *call)
{
    (void)call;
    atomic_fetch_add(&calls, 1);
    return 0;
}

typedef struct fixture {
    clo_platform *platform;
    clo_graph *graph;
    clo_cost *cost;
    clo_runtime *runtime;
} fixture;

static fixture start(uint32_t executors, clo_graph *graph, clo_clock clock)
{
    fixture f = {.platform = scene_platform(executors, 1), .graph = graph};
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;

    config.unpinned = 1;
    config.clock = clock;
    config.trace = 1;
    config.copy_always = 1;
    ok(clo_cost_create(graph, f.platform, &f.cost));
    ok(clo_runtime_create(f.platform, &config, &f.runtime));
    return f;
}

static void stop(fixture *f)
{
    clo_runtime_destroy(f->runtime);
    clo_cost_destroy(f->cost);
    clo_graph_destroy(f->graph);
    clo_platform_destroy(f->platform);
}

static clo_job *make_job(const fixture *f, const clo_policy *policy, const clo_plan *plan)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    config.policy = policy;
    config.plan = plan;
    ok(clo_job_create(f->runtime, f->cost, &config, &job));
    return job;
}

static void one_job_runs_many_times_in_every_dispatch_mode(void **state)
{
    (void)state;
    clo_task task = {.body = count_call, .work_ns = 1000};
    fixture f = start(8, scene_layers(20, 10, &task), CLO_CLOCK_REAL);
    clo_plan *plan;

    ok(clo_plan_create(f.cost, NULL, &plan));
    for (uint32_t mode = 0; mode < 6; mode++) {
        clo_job *job = make_job(&f, mode >= 2 ? clo_policy_at(mode - 2) : NULL, mode == 1 ? plan : NULL);
        for (int round = 0; round < 30; round++) {
            clo_job_result result;
            atomic_store(&calls, 0);
            ok(clo_job_submit(job));
            ok(clo_job_wait(job, &result));
            assert_int_equal(atomic_load(&calls), 200);
            assert_int_equal(result.executed, 200);
            assert_int_equal(result.decisions, mode >= 2 ? 200 : 0);
        }
        clo_job_destroy(job);
    }
    clo_plan_destroy(plan);
    stop(&f);
}

static void a_hundred_jobs_at_once_all_finish(void **state)
{
    (void)state;
    clo_task task = {.body = count_call, .work_ns = 1000};
    fixture f = start(8, scene_layers(10, 8, &task), CLO_CLOCK_REAL);
    clo_job *jobs[100];
    clo_plan *plan;

    ok(clo_plan_create(f.cost, NULL, &plan));
    atomic_store(&calls, 0);
    for (uint32_t i = 0; i < 100; i++)
        jobs[i] = make_job(&f, i % 3 == 0 ? clo_policy_at(i % 4) : NULL, i % 3 == 1 ? plan : NULL);
    for (uint32_t i = 0; i < 100; i++)
        ok(clo_job_submit(jobs[i]));
    for (uint32_t i = 0; i < 100; i++)
        ok(clo_job_wait(jobs[i], NULL));
    assert_int_equal(atomic_load(&calls), 8000);
    for (uint32_t i = 0; i < 100; i++)
        clo_job_destroy(jobs[i]);
    clo_plan_destroy(plan);
    stop(&f);
}

static void *submitter(void *argument)
{
    const fixture *f = argument;

    for (int round = 0; round < 40; round++) {
        clo_job *job = make_job(f, round % 2 ? clo_policy_find("eft") : NULL, NULL);
        ok(clo_job_submit(job));
        if (round % 5 == 4)
            clo_job_cancel(job);
        clo_status status = clo_job_wait(job, NULL);
        assert_true(status == CLO_OK || (round % 5 == 4 && status == CLO_ERR_CANCELLED));
        clo_job_destroy(job);
    }
    return NULL;
}

static void several_threads_submit_wait_and_cancel_at_once(void **state)
{
    (void)state;
    clo_task task = {.body = count_call};
    fixture f = start(4, scene_layers(10, 4, &task), CLO_CLOCK_REAL);
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, submitter, &f), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    stop(&f);
}

static int fail_in_third_layer(const clo_call *call)
{
    atomic_fetch_add(&calls, 1);
    return call->task >= 20 && call->task < 30 ? 42 : 0;
}

static void the_first_error_ends_its_job_and_no_other(void **state)
{
    (void)state;
    clo_task bad = {.body = fail_in_third_layer}, good = {.body = count_call};
    fixture f = start(4, scene_layers(50, 10, &bad), CLO_CLOCK_REAL);
    clo_graph *other_graph = scene_layers(50, 10, &good);
    clo_cost *other_cost;
    clo_plan *plan;

    ok(clo_cost_create(other_graph, f.platform, &other_cost));
    ok(clo_plan_create(f.cost, NULL, &plan));
    for (uint32_t mode = 0; mode < 6; mode++) {
        clo_job *job = make_job(&f, mode >= 2 ? clo_policy_at(mode - 2) : NULL, mode == 1 ? plan : NULL), *other;
        clo_job_result result;
        ok(clo_job_create(f.runtime, other_cost, NULL, &other));
        for (int round = 0; round < 5; round++) {
            atomic_store(&calls, 0);
            ok(clo_job_submit(other));
            ok(clo_job_submit(job));
            fails(CLO_ERR_TASK, "failed with 42", clo_job_wait(job, &result));
            assert_int_equal(result.status, CLO_ERR_TASK);
            assert_in_range(result.failed_task, 20, 29);
            assert_int_equal(result.failed_code, 42);
            assert_true(result.executed < 31 + 4); /* nothing of the layers behind the error */
            ok(clo_job_wait(other, &result));
            assert_int_equal(result.executed, 500);
        }
        clo_job_destroy(job);
        clo_job_destroy(other);
    }
    clo_plan_destroy(plan);
    clo_cost_destroy(other_cost);
    clo_graph_destroy(other_graph);
    stop(&f);
}

static _Atomic uint32_t is_open;

static int wait_for_gate(const clo_call *call)
{
    (void)call;
    atomic_fetch_add(&calls, 1);
    while (atomic_load(&is_open) == 0)
        usleep(100);
    return 0;
}

static void cancel_lets_running_bodies_end_and_starts_no_other(void **state)
{
    (void)state;
    clo_task task = {.body = wait_for_gate, .work_ns = 1000};
    fixture f = start(2, scene_layers(100, 2, &task), CLO_CLOCK_REAL);
    clo_plan *plan;

    ok(clo_plan_create(f.cost, NULL, &plan));
    for (uint32_t mode = 0; mode < 3; mode++) {
        clo_job *job = make_job(&f, mode == 2 ? clo_policy_find("fifo") : NULL, mode == 1 ? plan : NULL);
        clo_job_result result;
        atomic_store(&calls, 0);
        atomic_store(&is_open, 0);
        ok(clo_job_submit(job));
        fails(CLO_ERR_STATE, "is running", clo_job_submit(job));
        clo_trace *trace;
        fails(CLO_ERR_STATE, "to its end", clo_job_trace(job, &trace));
        while (atomic_load(&calls) == 0)
            usleep(100);
        clo_job_cancel(job);
        atomic_store(&is_open, 1);
        fails(CLO_ERR_CANCELLED, "cancelled after", clo_job_wait(job, &result));
        assert_in_range(result.executed, 1, 2);
        ok(clo_job_submit(job)); /* a cancelled job may run again */
        ok(clo_job_wait(job, &result));
        assert_int_equal(result.executed, 200);
        clo_job_cancel(job); /* too late: changes nothing */
        ok(clo_job_wait(job, &result));
        clo_job_destroy(job);
    }
    clo_plan_destroy(plan);
    stop(&f);
}

static _Atomic int64_t in_use;
static _Atomic int64_t in_use_max;

static int hold_three(const clo_call *call)
{
    (void)call;
    int64_t now = atomic_fetch_add(&in_use, 3) + 3, seen = atomic_load(&in_use_max);
    while (now > seen && !atomic_compare_exchange_weak(&in_use_max, &seen, now))
        ;
    for (volatile int i = 0; i < 300; i++)
        ;
    atomic_fetch_sub(&in_use, 3);
    return 0;
}

static void running_tasks_never_hold_more_than_the_machine_has(void **state)
{
    (void)state;
    clo_task task = {.body = hold_three, .work_ns = 1000, .demand = {3}};
    clo_graph *graph = scene_layers(30, 8, &task);
    clo_executor executors[6];
    int64_t capacity[CLO_RESOURCES_MAX] = {7, -1, -1, -1, -1, -1, -1, -1};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_platform *platform;
    clo_runtime *runtime;
    clo_cost *cost;
    clo_plan *plan;

    for (int e = 0; e < 6; e++)
        executors[e] = (clo_executor){0, 0, 0, -1, {65536, 65536, 65536, 65536}};
    desc.executors_count = 6;
    desc.executors = executors;
    desc.kinds_count = 1;
    desc.machines_count = 1;
    desc.capacities = capacity;
    config.unpinned = 1;
    ok(clo_platform_create(&desc, &platform));
    ok(clo_runtime_create(platform, &config, &runtime));
    ok(clo_cost_create(graph, platform, &cost));
    ok(clo_plan_create(cost, NULL, &plan));
    for (uint32_t mode = 0; mode < 6; mode++) {
        clo_job_config job_config = CLO_JOB_CONFIG_INIT;
        clo_job *jobs[3]; /* the capacity is the machine's, not the job's */
        job_config.policy = mode >= 2 ? clo_policy_at(mode - 2) : NULL;
        job_config.plan = mode == 1 ? plan : NULL;
        atomic_store(&in_use_max, 0);
        for (int i = 0; i < 3; i++)
            ok(clo_job_create(runtime, cost, &job_config, &jobs[i]));
        for (int i = 0; i < 3; i++)
            ok(clo_job_submit(jobs[i]));
        for (int i = 0; i < 3; i++) {
            ok(clo_job_wait(jobs[i], NULL));
            clo_job_destroy(jobs[i]);
        }
        assert_in_range(atomic_load(&in_use_max), 3, 6);
    }
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    clo_runtime_destroy(runtime);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
}

static int sum_inputs(const clo_call *call)
{
    uint64_t sum = call->task + call->instance;

    for (uint32_t i = 0; i < call->inputs_count; i++) {
        uint64_t value;
        if (call->inputs_bytes[i] != 64)
            return 1;
        memcpy(&value, call->inputs[i], sizeof value);
        sum = sum * 31 + value;
    }
    memset(call->output, 0, call->output_bytes);
    memcpy(call->output, &sum, sizeof sum);
    return 0;
}

static void data_arrive_unharmed_across_memories_and_replicas(void **state)
{
    (void)state;
    clo_task task = {.body = sum_inputs, .work_ns = 50, .output_bytes = 64, .duplicable = 1};
    clo_graph *tree; /* 3 children each: the executors that get a child gain by computing its parents themselves */
    ok(clo_graph_create("tree", &tree));
    for (uint32_t i = 0; i < 121; i++) {
        ok(clo_graph_add_task(tree, &task, NULL));
        if (i > 0)
            ok(clo_graph_add_edge(tree, (i - 1) / 3, i, 64));
    }
    ok(clo_graph_seal(tree));
    fixture f = start(8, tree, CLO_CLOCK_REAL);
    clo_plan_config plan_config = CLO_PLAN_CONFIG_INIT;
    uint64_t want = 0, duplicates = 0;

    for (uint32_t mode = 0; mode < 8; mode++) {
        clo_plan *plan = NULL;
        clo_job_result result;
        plan_config.planner = mode == 1 ? "heft" : "deft";
        if (mode == 1 || mode == 2)
            ok(clo_plan_create(f.cost, &plan_config, &plan));
        clo_job *job = make_job(&f, mode >= 3 ? clo_policy_at((mode - 3) % 4) : NULL, plan);
        for (int round = 0; round < 5; round++) {
            size_t bytes;
            ok(clo_job_submit(job));
            ok(clo_job_wait(job, &result));
            if (want == 0)
                want = clo_job_output_hash(job);
            assert_true(clo_job_output_hash(job) == want);
            assert_non_null(clo_job_output(job, 120, 0, &bytes));
            assert_int_equal(bytes, 64);
            assert_null(clo_job_output(job, 121, 0, &bytes));
            assert_true(result.copied_bytes <= result.transfers * 64);
        }
        duplicates += result.duplicates_run;
        clo_job_destroy(job);
        clo_plan_destroy(plan);
    }
    assert_true(duplicates > 0);
    stop(&f);
}

static void the_padded_clock_takes_at_least_the_time_of_the_cost_model(void **state)
{
    (void)state;
    clo_task task = {.work_ns = 200000};
    fixture f = start(2, scene_layers(5, 2, &task), CLO_CLOCK_PADDED);
    clo_plan *plan;
    clo_job_result result;

    ok(clo_plan_create(f.cost, NULL, &plan));
    clo_job *job = make_job(&f, NULL, plan);
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, &result));
    assert_true(clo_runtime_is_emulated(f.runtime));
    assert_true(result.makespan_ns >= clo_plan_makespan_ns(plan));
    assert_true(result.busy_ns >= 2000000);
    clo_job_destroy(job);
    clo_plan_destroy(plan);
    stop(&f);
}

static uint32_t pick_nothing(void *state, const clo_view *view, uint32_t executor)
{
    (void)state;
    (void)view;
    (void)executor;
    return CLO_NONE;
}

static uint32_t pick_first(void *state, const clo_view *view, uint32_t executor)
{
    (void)state;
    (void)view;
    (void)executor;
    return 0;
}

static void hear_nothing(void *state, const clo_view *view, uint32_t instance, uint32_t by)
{
    (void)state;
    (void)view;
    (void)instance;
    (void)by;
}

static void a_policy_that_never_decides_or_decides_wrongly_ends_its_job_with_an_error(void **state)
{
    (void)state;
    const clo_policy idle = {.name = "idle", .ready = hear_nothing, .pick = pick_nothing};
    const clo_policy wrong = {.name = "wrong", .ready = hear_nothing, .pick = pick_first};
    clo_task task = {.body = count_call};
    fixture f = start(3, scene_layers(3, 3, &task), CLO_CLOCK_REAL);
    clo_sim_config sim = CLO_SIM_CONFIG_INIT;
    clo_job *job = make_job(&f, &idle, NULL);

    ok(clo_job_submit(job));
    fails(CLO_ERR_STATE, "policy 'idle' leaves every executor idle with 9", clo_job_wait(job, NULL));
    clo_job_destroy(job);
    sim.policy = &idle;
    fails(CLO_ERR_STATE, "policy 'idle' leaves every executor idle", clo_simulate(f.cost, &sim, NULL, NULL, NULL));
    job = make_job(&f, &wrong, NULL);
    ok(clo_job_submit(job));
    fails(CLO_ERR_STATE, "policy 'wrong' gave executor", clo_job_wait(job, NULL));
    clo_job_destroy(job);
    sim.policy = &wrong;
    fails(CLO_ERR_STATE, "not ready or cannot run", clo_simulate(f.cost, &sim, NULL, NULL, NULL));
    stop(&f);
}

static void wrong_arguments_are_refused_with_one_line(void **state)
{
    (void)state;
    clo_task task = {.body = count_call, .work_ns = 1000};
    fixture f = start(2, scene_layers(3, 3, &task), CLO_CLOCK_REAL), v = start(2, scene_layers(3, 3, &task),
                                                                             CLO_CLOCK_VIRTUAL);
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_policy empty = {.name = "empty"};
    clo_placement half = {0};
    clo_plan *plan;
    clo_job *job;

    fails(CLO_ERR_ARGUMENT, "needs a runtime", clo_job_create(NULL, f.cost, NULL, &job));
    fails(CLO_ERR_ARGUMENT, "another platform", clo_job_create(f.runtime, v.cost, NULL, &job));
    fails(CLO_ERR_UNSUPPORTED, "use clo_simulate", clo_job_create(v.runtime, v.cost, NULL, &job));
    config.policy = &empty;
    fails(CLO_ERR_ARGUMENT, "no ready or no pick", clo_job_create(f.runtime, f.cost, &config, &job));
    ok(clo_plan_create(f.cost, NULL, &plan));
    config.plan = plan;
    fails(CLO_ERR_ARGUMENT, "both a plan and a policy", clo_job_create(f.runtime, f.cost, &config, &job));
    clo_plan_destroy(plan);
    config.policy = NULL;
    ok(clo_plan_from_placements(f.cost, NULL, &half, 1, &plan));
    config.plan = plan;
    fails(CLO_ERR_INVALID, "1 placements for 9 instances", clo_job_create(f.runtime, f.cost, &config, &job));
    clo_plan_destroy(plan);
    config.plan = NULL;
    config.deadline_ns = -1;
    fails(CLO_ERR_ARGUMENT, "deadline", clo_job_create(f.runtime, f.cost, &config, &job));
    config.deadline_ns = 1;
    ok(clo_job_create(f.runtime, f.cost, &config, &job));
    clo_job_result result;
    fails(CLO_ERR_STATE, "never submitted", clo_job_wait(job, &result));
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, &result));
    assert_int_equal(result.missed_deadline, 1);
    clo_job_destroy(job);
    clo_job_destroy(NULL);
    clo_runtime_destroy(NULL);
    stop(&f);
    stop(&v);
}

static void a_plan_whose_order_is_impossible_is_refused(void **state)
{
    (void)state;
    clo_task task = {.work_ns = 10};
    fixture f = start(1, scene_layers(2, 1, &task), CLO_CLOCK_REAL);
    const clo_placement swapped[2] = {{.task = 1, .start_ns = 0, .finish_ns = 10},
                                      {.task = 0, .start_ns = 10, .finish_ns = 20}};
    const clo_placement twice[2] = {{.task = 0, .finish_ns = 10}, {.task = 0, .start_ns = 10, .finish_ns = 20}};
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_plan *plan;
    clo_job *job;

    ok(clo_plan_from_placements(f.cost, NULL, swapped, 2, &plan));
    config.plan = plan;
    fails(CLO_ERR_INVALID, "starts task 't1' before its predecessor 't0'",
          clo_job_create(f.runtime, f.cost, &config, &job));
    clo_plan_destroy(plan);
    ok(clo_plan_from_placements(f.cost, NULL, twice, 2, &plan));
    config.plan = plan;
    fails(CLO_ERR_INVALID, "twice", clo_job_create(f.runtime, f.cost, &config, &job));
    clo_plan_destroy(plan);
    stop(&f);
}

static void a_runtime_says_why_it_cannot_start(void **state)
{
    (void)state;
    clo_platform *many = scene_platform(64, 0);
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_runtime *runtime;

    fails(CLO_ERR_PLATFORM, "has 64 executors", clo_runtime_create(many, NULL, &runtime));
    fails(CLO_ERR_ARGUMENT, "needs a platform", clo_runtime_create(NULL, NULL, &runtime));
    config.clock = (clo_clock)7;
    fails(CLO_ERR_ARGUMENT, "clock is 7", clo_runtime_create(many, &config, &runtime));
    config.clock = CLO_CLOCK_VIRTUAL;
    config.jobs_max = 1u << 20;
    fails(CLO_ERR_LIMIT, "jobs_max", clo_runtime_create(many, &config, &runtime));
    config.jobs_max = 0;
    config.fifo_priority = 100;
    fails(CLO_ERR_ARGUMENT, "fifo_priority is 100", clo_runtime_create(many, &config, &runtime));
    clo_platform_destroy(many);

    const clo_executor far = {0, 0, 0, 1000, {65536, 65536, 65536, 65536}};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_platform *platform;
    desc.executors_count = desc.kinds_count = 1;
    desc.executors = &far;
    ok(clo_platform_create(&desc, &platform));
    fails(CLO_ERR_SYSTEM, "cannot pin worker 0 to CPU 1000", clo_runtime_create(platform, NULL, &runtime));
    clo_platform_destroy(platform);
}

/* Credentials belong to threads: this one, and the workers it creates, go without rights; the test keeps its own. */
static void *create_without_rights(void *platform)
{
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_runtime *runtime;

    config.fifo_priority = 10;
    if (geteuid() == 0 && syscall(SYS_setresuid, -1, 65534, -1) != 0)
        return (void *)2;
    clo_status status = clo_runtime_create(platform, &config, &runtime);
    return (void *)(size_t)(status == CLO_ERR_SYSTEM && strstr(clo_last_error(), "RLIMIT_RTPRIO") != NULL ? 0 : 1);
}

static void without_the_right_real_time_priority_is_one_clear_error(void **state)
{
    (void)state;
    clo_platform *platform = scene_platform(1, 0);
    struct rlimit none = {0, 0};
    pthread_t thread;
    void *result;

    assert_int_equal(setrlimit(RLIMIT_RTPRIO, &none), 0);
    assert_int_equal(pthread_create(&thread, NULL, create_without_rights, platform), 0);
    pthread_join(thread, &result);
    assert_null(result);
    clo_platform_destroy(platform);
}

static void jobs_beyond_jobs_max_are_refused_and_slots_are_reused(void **state)
{
    (void)state;
    clo_task task = {.body = count_call};
    clo_graph *graph = scene_layers(2, 2, &task);
    clo_platform *platform = scene_platform(1, 0);
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_runtime *runtime;
    clo_cost *cost;
    clo_job *jobs[3];

    config.jobs_max = 2;
    ok(clo_runtime_create(platform, &config, &runtime));
    ok(clo_cost_create(graph, platform, &cost));
    ok(clo_job_create(runtime, cost, NULL, &jobs[0]));
    ok(clo_job_create(runtime, cost, NULL, &jobs[1]));
    fails(CLO_ERR_LIMIT, "2 jobs exist already", clo_job_create(runtime, cost, NULL, &jobs[2]));
    clo_job_destroy(jobs[0]);
    ok(clo_job_create(runtime, cost, NULL, &jobs[2]));
    ok(clo_job_submit(jobs[2]));
    ok(clo_job_wait(jobs[2], NULL));
    clo_trace *trace;
    fails(CLO_ERR_STATE, "keeps no trace", clo_job_trace(jobs[2], &trace));
    ok(clo_job_submit(jobs[1]));
    clo_runtime_destroy(runtime); /* ends and frees the jobs that are left */
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
}

static clo_status whole_life(void *context)
{
    const fixture *f = context;
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config job_config = CLO_JOB_CONFIG_INIT;
    clo_runtime *runtime = NULL;
    clo_trace *trace = NULL;
    clo_plan *plan = NULL;
    clo_job *job = NULL, *decided = NULL;

    config.trace = config.unpinned = config.copy_always = 1;
    clo_status status = clo_runtime_create(f->platform, &config, &runtime);
    if (status == CLO_OK)
        status = clo_plan_create(f->cost, NULL, &plan);
    job_config.plan = plan;
    if (status == CLO_OK)
        status = clo_job_create(runtime, f->cost, &job_config, &job);
    if (status == CLO_OK)
        status = clo_job_submit(job);
    if (status == CLO_OK)
        status = clo_job_wait(job, NULL);
    if (status == CLO_OK)
        status = clo_job_trace(job, &trace);
    if (status == CLO_OK)
        status = clo_trace_write_chrome(trace, f->cost, NULL, "/dev/null");
    job_config.plan = NULL;
    job_config.policy = clo_policy_find("eft");
    if (status == CLO_OK)
        status = clo_job_create(runtime, f->cost, &job_config, &decided);
    clo_sim_config sim = CLO_SIM_CONFIG_INIT;
    sim.recorded = trace;
    sim.plan = plan;
    if (status == CLO_OK)
        status = clo_simulate(f->cost, &sim, NULL, NULL, NULL);
    sim.recorded = NULL;
    sim.plan = NULL;
    if (status == CLO_OK)
        status = clo_simulate(f->cost, &sim, NULL, NULL, NULL);
    clo_trace_destroy(trace);
    clo_job_destroy(job);
    clo_job_destroy(decided);
    clo_plan_destroy(plan);
    clo_runtime_destroy(runtime);
    return status;
}

static void every_allocation_of_a_run_may_fail(void **state)
{
    (void)state;
    clo_task task = {.body = sum_inputs, .work_ns = 1000, .output_bytes = 64, .duplicable = 1};
    fixture f = start(2, scene_layers(3, 3, &task), CLO_CLOCK_REAL);

    assert_true(fault_each(whole_life, &f) > 20);
    stop(&f);
}

static void nothing_is_allocated_between_submit_and_wait(void **state)
{
    (void)state;
    clo_task task = {.body = sum_inputs, .work_ns = 100, .output_bytes = 64, .duplicable = 1};
    fixture f = start(4, scene_layers(20, 5, &task), CLO_CLOCK_REAL);
    clo_plan *plan;

    ok(clo_plan_create(f.cost, NULL, &plan));
    for (uint32_t mode = 0; mode < 6; mode++) {
        clo_job *job = make_job(&f, mode >= 2 ? clo_policy_at(mode - 2) : NULL, mode == 1 ? plan : NULL);
        fault_fail_nth(0);
        for (int round = 0; round < 10; round++) {
            ok(clo_job_submit(job));
            ok(clo_job_wait(job, NULL));
        }
        assert_int_equal(fault_count(), 0);
        clo_job_destroy(job);
    }
    clo_plan_destroy(plan);
    stop(&f);
}

static void an_idle_runtime_uses_no_cpu(void **state)
{
    (void)state;
    clo_task task = {.body = count_call};
    fixture f = start(4, scene_layers(2, 2, &task), CLO_CLOCK_REAL);
    clo_job *job = make_job(&f, NULL, NULL);
    struct timespec before, after, pause = {0, 300000000};

    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    nanosleep(&(struct timespec){0, 50000000}, NULL); /* past the bounded spin */
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    nanosleep(&pause, NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    int64_t used_ns = (int64_t)(after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec;
    assert_true(used_ns < 15000000); /* 5 % of one CPU; four spinning workers would use 200 % */
    clo_job_destroy(job);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_job_runs_many_times_in_every_dispatch_mode),
        cmocka_unit_test(a_hundred_jobs_at_once_all_finish),
        cmocka_unit_test(several_threads_submit_wait_and_cancel_at_once),
        cmocka_unit_test(the_first_error_ends_its_job_and_no_other),
        cmocka_unit_test(cancel_lets_running_bodies_end_and_starts_no_other),
        cmocka_unit_test(running_tasks_never_hold_more_than_the_machine_has),
        cmocka_unit_test(data_arrive_unharmed_across_memories_and_replicas),
        cmocka_unit_test(the_padded_clock_takes_at_least_the_time_of_the_cost_model),
        cmocka_unit_test(a_policy_that_never_decides_or_decides_wrongly_ends_its_job_with_an_error),
        cmocka_unit_test(wrong_arguments_are_refused_with_one_line),
        cmocka_unit_test(a_plan_whose_order_is_impossible_is_refused),
        cmocka_unit_test(a_runtime_says_why_it_cannot_start),
        cmocka_unit_test(without_the_right_real_time_priority_is_one_clear_error),
        cmocka_unit_test(jobs_beyond_jobs_max_are_refused_and_slots_are_reused),
        cmocka_unit_test(every_allocation_of_a_run_may_fail),
        cmocka_unit_test(nothing_is_allocated_between_submit_and_wait),
        cmocka_unit_test(an_idle_runtime_uses_no_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
