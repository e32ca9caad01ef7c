/* One job in many hands: calls on it from several threads at once, from bodies, from handlers, and after a fork. */
#define _GNU_SOURCE
#include "support.h"

#include "base/clock.h"
#include "running.h"

#include <clotho/planner.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS(n) (SANITIZED ? (n) / 10 : (n))

static int quick(const clo_call *call)
{
    (void)call;
    atomic_fetch_add(&calls, 1);
    return 0;
}

static void sleep_us(long us)
{
    nanosleep(&(struct timespec){0, us * 1000}, NULL);
}

static int slow(const clo_call *call)
{
    (void)call;
    atomic_fetch_add(&calls, 1);
    sleep_us(3000);
    return 0;
}

static clo_job *make(const fixture *f, clo_job_config config)
{
    clo_job *job;

    config.size = sizeof config;
    ok(clo_job_create(f->runtime, f->cost, &config, &job));
    return job;
}

/* A cancel that meets a submit belongs to one of the two submits as a whole. */

static clo_job *shared;
static _Atomic int go;
static _Atomic bool is_over;

static void *cancel_now_and_then(void *argument)
{
    (void)argument;
    while (!atomic_load(&is_over)) {
        int delay = atomic_load(&go);
        if (delay <= 0) /* our own -1 stays until the next round */
            continue;
        for (volatile int i = delay; i > 0; i--)
            ;
        clo_job_cancel(shared);
        atomic_store(&go, -1);
    }
    return NULL;
}

static void a_cancel_beside_a_submit_of_a_series_is_never_half_lost(void **state)
{
    clo_task task = {.body = quick};
    fixture f = start(1, scene_layers(2, 2, &task), CLO_CLOCK_REAL);
    pthread_t thread;

    (void)state;
    atomic_store(&is_over, false);
    shared = make(&f, (clo_job_config){.period_ns = 100000});
    pthread_create(&thread, NULL, cancel_now_and_then, NULL);
    for (int round = 0; round < ROUNDS(1000); round++) {
        clo_job_timing timing = CLO_JOB_TIMING_INIT;
        atomic_store(&go, 1 + round % 400);
        ok(clo_job_submit(shared));
        while (atomic_load(&go) != -1)
            sched_yield();
        /* Either it ends, or the cancel came before the submit: then the series runs on, with its bodies. */
        uint32_t before = atomic_load(&calls);
        clo_status status = CLO_ERR_TIMEOUT;
        for (int i = 0; i < 5000 && status == CLO_ERR_TIMEOUT && atomic_load(&calls) < before + 100; i++)
            status = clo_job_wait_for(shared, 1000000, NULL);
        if (status == CLO_ERR_CANCELLED)
            continue;
        ok(clo_job_timing_read(shared, &timing));
        if (status != CLO_ERR_TIMEOUT || atomic_load(&calls) < before + 100)
            fail_msg("round %d: cancelled, goes on without bodies; %llu released", round,
                     (unsigned long long)timing.released);
        clo_job_cancel(shared);
        fails(CLO_ERR_CANCELLED, "cancelled", clo_job_wait(shared, NULL));
    }
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
    stop(&f);
}

static void a_cancel_that_comes_after_the_last_body_changes_nothing(void **state)
{
    clo_task task = {.body = quick};
    fixture f = start(2, scene_layers(2, 2, &task), CLO_CLOCK_REAL);
    clo_job *single = make(&f, (clo_job_config){0}),
            *series = make(&f, (clo_job_config){.period_ns = 100000, .releases = 3});

    (void)state;
    clo_job_cancel(single); /* before the first submit: nothing to cancel */
    ok(clo_job_submit(single));
    ok(clo_job_wait(single, NULL));
    clo_job_cancel(single);
    ok(clo_job_wait(single, NULL));
    ok(clo_job_submit(series));
    ok(clo_job_wait(series, NULL));
    clo_job_cancel(series);
    ok(clo_job_wait(series, NULL));
    stop(&f);
}

/* Overrun notes of jobs without a handler, which are gone when the watchdog looks. */

static int over(const clo_call *call)
{
    (void)call;
    int64_t until_ns = clo_clock_ns() + 20000;
    while (clo_clock_ns() < until_ns)
        ;
    return 0;
}

static void overruns_of_jobs_that_are_gone_reach_nobody(void **state)
{
    clo_task task = {.body = over, .work_ns = 1000};
    fixture f = start(2, scene_layers(1, 2, &task), CLO_CLOCK_REAL);

    (void)state;
    for (int round = 0; round < ROUNDS(5000); round++) {
        clo_job *job = make(&f, (clo_job_config){.task_limit_ns = 1000});
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, NULL));
        clo_job_destroy(job);
    }
    stop(&f);
}

/* Reports belong to the submit that they were made in. */

static _Atomic uint32_t told;

static void count_miss(void *argument, clo_job *job, const clo_miss *miss)
{
    (void)argument;
    (void)job;
    assert_true(miss->late_ns >= 0);
    if (miss->kind == CLO_MISS_OVERRUN)
        atomic_fetch_add(&told, 1);
}

static void each_overrun_is_told_before_the_job_may_be_submitted_again(void **state)
{
    clo_task task = {.body = over, .work_ns = 1000};
    fixture f = start(2, scene_layers(1, 4, &task), CLO_CLOCK_REAL);
    clo_job *job = make(&f, (clo_job_config){.task_limit_ns = 1000, .miss = count_miss});

    (void)state;
    for (int round = 0; round < ROUNDS(500); round++) {
        clo_job_timing timing = CLO_JOB_TIMING_INIT;
        atomic_store(&told, 0);
        for (int i = 0; i < 1000000; i++) { /* without a wait: refused until all is told */
            clo_status status = clo_job_submit(job);
            if (status == CLO_OK)
                break;
            assert_int_equal(status, CLO_ERR_STATE);
            sched_yield();
        }
        while (clo_job_wait_for(job, 0, NULL) == CLO_ERR_TIMEOUT)
            sched_yield();
        ok(clo_job_timing_read(job, &timing));
        assert_int_equal(timing.overruns, atomic_load(&told));
    }
    stop(&f);
}

static _Atomic uint32_t deadlines_told;

static void count_deadline(void *argument, clo_job *job, const clo_miss *miss)
{
    (void)argument;
    (void)job;
    assert_true(miss->late_ns >= 0);
    if (miss->kind == CLO_MISS_DEADLINE)
        atomic_fetch_add(&deadlines_told, 1);
}

static void every_deadline_that_was_told_is_counted_also_of_runs_that_are_dropped(void **state)
{
    clo_task task = {.body = slow, .work_ns = 1000};
    fixture f = start(2, scene_layers(1, 1, &task), CLO_CLOCK_REAL);

    (void)state;
    for (int round = 0; round < ROUNDS(20); round++) {
        clo_job *job = make(&f, (clo_job_config){.period_ns = 500000, .miss = count_deadline});
        clo_job_timing timing = CLO_JOB_TIMING_INIT;

        atomic_store(&deadlines_told, 0);
        ok(clo_job_submit(job));
        sleep_us(20000); /* releases wait behind the slow ones, and their deadlines pass */
        clo_job_cancel(job);
        fails(CLO_ERR_CANCELLED, "cancelled", clo_job_wait(job, NULL));
        ok(clo_job_timing_read(job, &timing));
        assert_int_equal(timing.missed, atomic_load(&deadlines_told));
        clo_job_destroy(job);
    }
    stop(&f);
}

static void a_limit_in_percent_holds_only_where_a_task_can_run(void **state)
{
    clo_task task = {.body = quick, .work_ns = 1000, .executors_mask = 1};
    fixture f = start(2, scene_layers(2, 2, &task), CLO_CLOCK_REAL);
    clo_job *job = make(&f, (clo_job_config){.task_limit_percent = 100000});

    (void)state;
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    stop(&f);
}

/* Everything that is allowed together, at once. */

static const clo_plan *plans[2];

static void *use(void *argument)
{
    uint32_t me = (uint32_t)(uintptr_t)argument;

    while (!atomic_load(&is_over)) {
        clo_job_timing timing = CLO_JOB_TIMING_INIT;
        clo_trace *trace;
        switch (me) {
        case 0:
        case 1: {
            clo_status status = clo_job_submit(shared);
            assert_true(status == CLO_OK || status == CLO_ERR_STATE);
            break;
        }
        case 2:
            (void)!clo_job_wait_for(shared, 0, NULL);
            break;
        case 3:
            (void)!clo_job_wait_for(shared, 1000000, &(clo_job_result)CLO_JOB_RESULT_INIT);
            break;
        case 4:
            (void)!clo_job_timing_read(shared, &timing);
            if (clo_job_trace(shared, &trace) == CLO_OK)
                clo_trace_destroy(trace);
            break;
        case 5:
            ok(clo_job_swap_plan(shared, plans[clo_job_id(shared) % 2]));
            ok(clo_job_swap_plan(shared, plans[0]));
            break;
        default:
            clo_job_cancel(shared);
            sleep_us(100);
            break;
        }
    }
    return NULL;
}

static void a_job_may_be_used_by_many_threads_at_once(void **state)
{
    enum { USERS = 7 };
    clo_task task = {.body = quick, .work_ns = 1000, .duplicable = 1};
    fixture f = start(2, scene_layers(4, 4, &task), CLO_CLOCK_REAL);
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *a, *b;
    pthread_t threads[USERS];

    (void)state;
    ok(clo_plan_create(f.cost, NULL, &a));
    config.planner = &clo_planner_deft;
    ok(clo_plan_create(f.cost, &config, &b));
    plans[0] = a, plans[1] = b;
    for (int periodic = 0; periodic <= 1; periodic++) {
        shared = make(&f, (clo_job_config){.plan = a, .period_ns = periodic ? 20000 : 0});
        atomic_store(&is_over, false);
        for (uintptr_t i = 0; i < USERS; i++)
            pthread_create(&threads[i], NULL, use, (void *)i);
        sleep_us(400000);
        atomic_store(&is_over, true);
        for (uint32_t i = 0; i < USERS; i++)
            pthread_join(threads[i], NULL);
        clo_job_cancel(shared);
        clo_job_destroy(shared);
    }
    clo_plan_destroy(a);
    clo_plan_destroy(b);
    stop(&f);
}

static clo_runtime *shared_runtime;

static void *swap_policies(void *argument)
{
    while (!atomic_load(&is_over)) {
        clo_status status =
            clo_runtime_swap_policy(shared_runtime, clo_policy_find(argument != NULL ? "fifo" : "eft"), NULL);
        assert_int_equal(status, CLO_OK); /* two at once follow each other */
    }
    return NULL;
}

static void two_threads_may_swap_policies_beside_submits(void **state)
{
    clo_task task = {.body = quick, .work_ns = 1000};
    fixture f = start(2, scene_layers(4, 4, &task), CLO_CLOCK_REAL);
    pthread_t threads[2];

    (void)state;
    assert_non_null(clo_policy_find("eft"));
    shared = make(&f, (clo_job_config){.policy = clo_policy_find("fifo")});
    shared_runtime = f.runtime;
    atomic_store(&is_over, false);
    for (uintptr_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, swap_policies, (void *)i);
    for (int round = 0; round < ROUNDS(2000); round++) {
        ok(clo_job_submit(shared));
        ok(clo_job_wait(shared, NULL));
    }
    atomic_store(&is_over, true);
    for (uint32_t i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    stop(&f);
}

/* What bodies and handlers may not do is refused, and changes nothing. */

static clo_job *idle_job;
static clo_runtime *own_runtime;
static const clo_plan *own_plan;
static const clo_cost *own_cost;
static _Atomic uint32_t refused;

static void expect_refusal(clo_status status)
{
    if (status == CLO_ERR_STATE)
        atomic_fetch_add(&refused, 1);
}

static int misuse(const clo_call *call)
{
    (void)call;
    expect_refusal(clo_job_wait(shared, NULL));
    expect_refusal(clo_job_wait_for(shared, 0, NULL));
    expect_refusal(clo_job_submit(shared));
    expect_refusal(clo_job_swap_plan(shared, own_plan));
    expect_refusal(clo_runtime_swap_policy(own_runtime, clo_policy_find("fifo"), NULL));
    expect_refusal(clo_runtime_close(own_runtime, 0));
    clo_job_destroy(shared);
    clo_runtime_destroy(own_runtime);
    clo_job_destroy(idle_job); /* does not run: allowed */
    return 0;
}

static void a_body_may_not_wait_for_or_destroy_what_runs(void **state)
{
    clo_task task = {.body = misuse, .work_ns = 1000};
    fixture f = start(2, scene_layers(1, 1, &task), CLO_CLOCK_REAL);
    clo_plan *plan;

    (void)state;
    ok(clo_plan_create(f.cost, NULL, &plan));
    own_plan = plan;
    own_runtime = f.runtime;
    shared = make(&f, (clo_job_config){.plan = plan});
    idle_job = make(&f, (clo_job_config){0});
    atomic_store(&refused, 0);
    ok(clo_job_submit(shared));
    ok(clo_job_wait(shared, NULL));
    assert_int_equal(atomic_load(&refused), 6);
    clo_job_destroy(shared);
    clo_plan_destroy(plan);
    stop(&f);
}

/* What it needs more of the runtime than others: its scheduler, its watchdog. */
static void create_in_handler(void)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;
    size_t bytes;

    expect_refusal(clo_job_create(own_runtime, own_cost, &config, &job));
    config.deadline_ns = 1000;
    config.on_miss = CLO_MISS_ABORT;
    expect_refusal(clo_job_create(own_runtime, own_cost, &config, &job));
    config.policy = clo_policy_find("fifo");
    expect_refusal(clo_job_create(own_runtime, own_cost, &config, &job));
    expect_refusal(clo_job_memory_bytes(own_runtime, own_cost, &config, &bytes));
}

static void misuse_in_handler(void *argument, clo_job *job, const clo_miss *miss)
{
    (void)argument;
    (void)miss;
    create_in_handler();
    expect_refusal(clo_job_wait(job, NULL));
    expect_refusal(clo_job_submit(idle_job));
    expect_refusal(clo_runtime_close(own_runtime, 0));
    clo_job_destroy(job);
    clo_job_cancel(job);
}

static void a_handler_of_misses_may_only_cancel_and_read(void **state)
{
    clo_task task = {.body = over, .work_ns = 1000};
    fixture f = start(2, scene_layers(1, 1, &task), CLO_CLOCK_REAL);

    (void)state;
    own_runtime = f.runtime;
    own_cost = f.cost;
    shared = make(&f, (clo_job_config){.task_limit_ns = 1000, .miss = misuse_in_handler});
    idle_job = make(&f, (clo_job_config){.deadline_ns = 1000000000, .miss = misuse_in_handler});
    atomic_store(&refused, 0);
    ok(clo_job_submit(shared));
    ok(clo_job_wait(shared, NULL));
    assert_int_equal(atomic_load(&refused), 7);
    stop(&f);
}

static void after_a_fork_the_child_is_refused_and_may_free(void **state)
{
    clo_task task = {.body = quick, .work_ns = 1000};
    fixture f = start(2, scene_layers(2, 2, &task), CLO_CLOCK_REAL);
    clo_job *job = make(&f, (clo_job_config){.deadline_ns = 1000000000}), *fresh;
    clo_job *decided = make(&f, (clo_job_config){.policy = clo_policy_find("fifo")});
    int status = 0;

    (void)state;
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    ok(clo_job_submit(decided)); /* in the middle of whatever it does */
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        bool is_refused = clo_job_submit(job) == CLO_ERR_STATE && strstr(clo_last_error(), "forked") != NULL &&
                          clo_job_wait(job, NULL) == CLO_ERR_STATE &&
                          clo_job_create(f.runtime, f.cost, NULL, &fresh) == CLO_ERR_STATE &&
                          clo_runtime_swap_policy(f.runtime, clo_policy_find("eft"), NULL) == CLO_ERR_STATE;
        clo_job_cancel(job);
        clo_job_cancel(decided);
        clo_job_destroy(job);
        clo_job_destroy(decided);
        clo_runtime_destroy(f.runtime);
        _exit(is_refused ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    ok(clo_job_submit(job)); /* the parent is as it was */
    ok(clo_job_wait(job, NULL));
    ok(clo_job_wait(decided, NULL));
    ok(clo_job_submit(decided));
    ok(clo_job_wait(decided, NULL));
    stop(&f);
}

static void times_at_the_end_of_their_range_mean_never(void **state)
{
    clo_task task = {.body = slow, .work_ns = 1000};
    fixture f = start(2, scene_layers(1, 1, &task), CLO_CLOCK_REAL);
    const clo_job_config configs[] = {
        {.deadline_ns = INT64_MAX},
        {.deadline_ns = INT64_MAX, .on_miss = CLO_MISS_ABORT},
        {.task_limit_ns = INT64_MAX},
        {.task_limit_percent = UINT32_MAX},
        {.task_limit_ns = INT64_MAX, .task_limit_percent = UINT32_MAX, .deadline_ns = INT64_MAX - 1},
    };
    clo_job *job;

    (void)state;
    atomic_store(&told, 0);
    for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++) {
        clo_job_config config = configs[i];
        clo_job_timing timing = CLO_JOB_TIMING_INIT;
        config.miss = count_miss;
        job = make(&f, config);
        ok(clo_job_submit(job));
        ok(clo_job_wait_for(job, INT64_MAX, NULL));
        ok(clo_job_timing_read(job, &timing));
        assert_int_equal(timing.missed + timing.aborted + timing.overruns, 0);
        clo_job_destroy(job);
    }
    for (int i = 0; i < 2; i++) { /* one release, and the next never */
        clo_job_timing timing = CLO_JOB_TIMING_INIT;
        job =
            make(&f, (clo_job_config){.period_ns = INT64_MAX / (i + 1), .deadline_ns = INT64_MAX, .miss = count_miss});
        ok(clo_job_submit(job));
        fails(CLO_ERR_TIMEOUT, "not ended", clo_job_wait_for(job, 30000000, NULL));
        ok(clo_job_timing_read(job, &timing));
        assert_int_equal(timing.released, 1);
        assert_int_equal(timing.missed, 0);
        clo_job_destroy(job);
    }
    const clo_job_config absurd = {.size = sizeof absurd, .period_ns = 999};
    fails(CLO_ERR_ARGUMENT, "shortest period", clo_job_create(f.runtime, f.cost, &absurd, &job));
    ok(clo_runtime_close(f.runtime, INT64_MAX - 1));
    clo_runtime_config endless = CLO_RUNTIME_CONFIG_INIT; /* workers that never sleep, but stop */
    endless.spin_ns = INT64_MAX - 1;
    endless.unpinned = 1;
    ok(clo_runtime_create(f.platform, &endless, &f.runtime));
    job = make(&f, (clo_job_config){0});
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    clo_runtime_destroy(f.runtime);
    clo_cost_destroy(f.cost);
    clo_graph_destroy(f.graph);
    clo_platform_destroy(f.platform);
}

/* The watchdog is stopped at every moment of its loop: no ring may be lost. */
static void runtimes_with_a_watchdog_come_and_go(void **state)
{
    clo_task task = {.body = quick};
    clo_graph *graph = scene_layers(1, 1, &task);
    clo_platform *platform = scene_platform(1, 0);
    clo_cost *cost;
    uint64_t seed = 88172645463325252ull;

    (void)state;
    ok(clo_cost_create(graph, platform, &cost));
    for (int round = 0; round < ROUNDS(3000); round++) {
        clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
        clo_job_config job_config = CLO_JOB_CONFIG_INIT;
        clo_runtime *runtime;
        clo_job *job;

        config.unpinned = 1;
        config.spin_ns = -1;
        ok(clo_runtime_create(platform, &config, &runtime));
        job_config.task_limit_ns = 1000000000;
        ok(clo_job_create(runtime, cost, &job_config, &job));
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        for (volatile uint64_t i = seed % 8000; i > 0; i--)
            ;
        clo_runtime_destroy(runtime);
    }
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cancel_beside_a_submit_of_a_series_is_never_half_lost),
        cmocka_unit_test(a_cancel_that_comes_after_the_last_body_changes_nothing),
        cmocka_unit_test(overruns_of_jobs_that_are_gone_reach_nobody),
        cmocka_unit_test(each_overrun_is_told_before_the_job_may_be_submitted_again),
        cmocka_unit_test(every_deadline_that_was_told_is_counted_also_of_runs_that_are_dropped),
        cmocka_unit_test(a_limit_in_percent_holds_only_where_a_task_can_run),
        cmocka_unit_test(a_job_may_be_used_by_many_threads_at_once),
        cmocka_unit_test(two_threads_may_swap_policies_beside_submits),
        cmocka_unit_test(a_body_may_not_wait_for_or_destroy_what_runs),
        cmocka_unit_test(a_handler_of_misses_may_only_cancel_and_read),
        cmocka_unit_test(after_a_fork_the_child_is_refused_and_may_free),
        cmocka_unit_test(times_at_the_end_of_their_range_mean_never),
        cmocka_unit_test(runtimes_with_a_watchdog_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
