/* The threaded run: every way of dispatch, failure, cancellation, many jobs at once, capacities, data. What is
 * refused stands in test_run_errors.c. */
#define _GNU_SOURCE
#include "support.h"

#include "fault.h"
#include "planner_named.h"
#include "running.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void one_job_runs_many_times_in_every_dispatch_mode(void **state)
{
    (void)state;
    clo_task task = {.body = count_call, .work_ns = 1000};
    fixture f = start(8, scene_layers(20, 10, &task), CLO_CLOCK_REAL);
    clo_plan *plan;

    ok(clo_plan_create(f.cost, NULL, &plan));
    for (uint32_t mode = 0; mode < 2 + policies_count(); mode++) {
        clo_job *job = make_job(&f, mode >= 2 ? policy_at(mode - 2) : NULL, mode == 1 ? plan : NULL);
        for (int round = 0; round < 30; round++) {
            clo_job_result result = CLO_JOB_RESULT_INIT;
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
    for (uint32_t p = 0; p < policies_count(); p++) { /* a runtime's scheduler follows one policy */
        atomic_store(&calls, 0);
        for (uint32_t i = 0; i < 100; i++)
            jobs[i] = make_job(&f, i % 3 == 0 ? policy_at(p) : NULL, i % 3 == 1 ? plan : NULL);
        for (uint32_t i = 0; i < 100; i++)
            ok(clo_job_submit(jobs[i]));
        for (uint32_t i = 0; i < 100; i++)
            ok(clo_job_wait(jobs[i], NULL));
        assert_int_equal(atomic_load(&calls), 8000);
        for (uint32_t i = 0; i < 100; i++)
            clo_job_destroy(jobs[i]);
    }
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

/* fifo, which notices when two threads are in a policy at once. */
static _Atomic uint32_t inside, overlaps;

static void enter(void)
{
    if (atomic_fetch_add(&inside, 1) != 0)
        atomic_fetch_add(&overlaps, 1);
}

static void watched_event(void *policy_state, const clo_view *view, const clo_event *event)
{
    enter();
    clo_policy_find("fifo")->event(policy_state, view, event);
    atomic_fetch_sub(&inside, 1);
}

static bool watched_decide(void *policy_state, const clo_view *view, clo_choice *choice)
{
    enter();
    bool has_choice = clo_policy_find("fifo")->decide(policy_state, view, choice);
    atomic_fetch_sub(&inside, 1);
    return has_choice;
}

static void a_policy_is_never_called_by_two_threads_at_once(void **state)
{
    (void)state;
    const clo_policy watched = {.name = "watched",
                                .size = sizeof(clo_policy),
                                .state_bytes = clo_policy_find("fifo")->state_bytes,
                                .init = clo_policy_find("fifo")->init,
                                .event = watched_event,
                                .decide = watched_decide};
    clo_task task = {.body = count_call};
    fixture f = start(8, scene_layers(60, 16, &task), CLO_CLOCK_REAL);
    clo_job *job = make_job(&f, &watched, NULL);

    atomic_store(&overlaps, 0);
    for (int round = 0; round < 150; round++) {
        clo_job_result result = CLO_JOB_RESULT_INIT;
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, &result));
        assert_int_equal(result.executed, 960);
    }
    assert_int_equal(atomic_load(&overlaps), 0);
    clo_job_destroy(job);
    stop(&f);
}

static _Atomic uint32_t quick_done, quick_submitted;

static int mark_done(const clo_call *call)
{
    (void)call;
    atomic_store(&quick_done, 1);
    return 0;
}

/* The chain stands still until the short job is submitted, so it cannot run ahead while the submitting thread has no
 * CPU. From then on it counts the steps that the short job waits for. */
static int count_while_quick_is_out(const clo_call *call)
{
    (void)call;
    if (atomic_load(&quick_done) == 0)
        atomic_fetch_add(&calls, 1);
    while (atomic_load(&quick_submitted) == 0)
        usleep(100);
    return 0;
}

static void a_long_chain_does_not_keep_other_jobs_from_running(void **state)
{
    (void)state;
    clo_task step = {.body = count_while_quick_is_out}, quick = {.body = mark_done};
    fixture f = start(1, scene_layers(200000, 1, &step), CLO_CLOCK_REAL);
    clo_graph *graph = scene_layers(1, 1, &quick);
    clo_cost *cost;

    ok(clo_cost_create(graph, f.platform, &cost));
    for (uint32_t mode = 0; mode < 2; mode++) { /* the short job: stolen freely, or through an inbox */
        clo_job_config config = CLO_JOB_CONFIG_INIT;
        clo_job *chain = make_job(&f, NULL, NULL), *job;
        config.policy = mode == 1 ? clo_policy_find("fifo") : NULL;
        ok(clo_job_create(f.runtime, cost, &config, &job));
        atomic_store(&calls, 0);
        atomic_store(&quick_done, 0);
        atomic_store(&quick_submitted, 0);
        ok(clo_job_submit(chain));
        while (atomic_load(&calls) == 0) /* the worker has begun */
            usleep(100);
        ok(clo_job_submit(job));
        atomic_store(&quick_submitted, 1);
        ok(clo_job_wait(job, NULL));
        ok(clo_job_wait(chain, NULL));
        assert_true(atomic_load(&calls) < 190000); /* it did not have to wait for the chain's end */
        clo_job_destroy(job);
        clo_job_destroy(chain);
    }
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
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
    for (uint32_t mode = 0; mode < 2 + policies_count(); mode++) {
        clo_job *job = make_job(&f, mode >= 2 ? policy_at(mode - 2) : NULL, mode == 1 ? plan : NULL), *other;
        clo_job_result result = CLO_JOB_RESULT_INIT;
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
        clo_job_result result = CLO_JOB_RESULT_INIT;
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
    for (uint32_t mode = 0; mode < 2 + policies_count(); mode++) {
        clo_job_config job_config = CLO_JOB_CONFIG_INIT;
        clo_job *jobs[3]; /* the capacity is the machine's, not the job's */
        job_config.policy = mode >= 2 ? policy_at(mode - 2) : NULL;
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

    for (uint32_t mode = 0; mode < 3 + policies_count(); mode++) {
        clo_plan *plan = NULL;
        clo_job_result result = CLO_JOB_RESULT_INIT;
        plan_config.planner = planner_named(mode == 1 ? "heft" : "deft");
        if (mode == 1 || mode == 2)
            ok(clo_plan_create(f.cost, &plan_config, &plan));
        clo_job *job = make_job(&f, mode >= 3 ? policy_at(mode - 3) : NULL, plan);
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
    clo_job_result result = CLO_JOB_RESULT_INIT;

    ok(clo_plan_create(f.cost, NULL, &plan));
    clo_job *job = make_job(&f, NULL, plan);
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, &result));
    assert_true(result.makespan_ns >= clo_plan_makespan_ns(plan));
    assert_true(result.busy_ns >= 2000000);
    clo_job_destroy(job);
    clo_plan_destroy(plan);
    stop(&f);
}

static void nothing_is_allocated_between_submit_and_wait(void **state)
{
    (void)state;
    clo_task task = {.body = sum_inputs, .work_ns = 100, .output_bytes = 64, .duplicable = 1};
    fixture f = start(4, scene_layers(20, 5, &task), CLO_CLOCK_REAL);
    clo_plan *plan;

    ok(clo_plan_create(f.cost, NULL, &plan));
    for (uint32_t mode = 0; mode < 2 + policies_count(); mode++) {
        clo_job *job = make_job(&f, mode >= 2 ? policy_at(mode - 2) : NULL, mode == 1 ? plan : NULL);
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

static int64_t cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Until a quiet moment comes: on a busy machine workers get the time for their bounded spin late. */
static void an_idle_runtime_uses_no_cpu(void **state)
{
    enum { LOOKS_MAX = 200 };
    (void)state;
    clo_task task = {.body = count_call};
    fixture f = start(4, scene_layers(2, 2, &task), CLO_CLOCK_REAL);
    clo_job *job = make_job(&f, NULL, NULL);
    int64_t used_ns = INT64_MAX;

    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    nanosleep(&(struct timespec){0, 50000000}, NULL); /* past the bounded spin */
    for (int look = 0; look < LOOKS_MAX && used_ns >= 15000000; look++) {
        int64_t before_ns = cpu_ns();
        nanosleep(&(struct timespec){0, 300000000}, NULL);
        used_ns = cpu_ns() - before_ns;
    }
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
        cmocka_unit_test(a_long_chain_does_not_keep_other_jobs_from_running),
        cmocka_unit_test(a_policy_is_never_called_by_two_threads_at_once),
        cmocka_unit_test(the_first_error_ends_its_job_and_no_other),
        cmocka_unit_test(cancel_lets_running_bodies_end_and_starts_no_other),
        cmocka_unit_test(running_tasks_never_hold_more_than_the_machine_has),
        cmocka_unit_test(data_arrive_unharmed_across_memories_and_replicas),
        cmocka_unit_test(the_padded_clock_takes_at_least_the_time_of_the_cost_model),
        cmocka_unit_test(nothing_is_allocated_between_submit_and_wait),
        cmocka_unit_test(an_idle_runtime_uses_no_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
