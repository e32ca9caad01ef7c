/* R7, releases, deadlines and limits of bodies: watched, counted, told. Orders are made certain by bodies that wait for
 * flags, never by times; where a moment must pass, it is short and its lateness does not matter.
 * Mutation: leave out clo_watchdog_ring in end_run, the late mark in account, or see_body in clo_watch_poll. */
#define _GNU_SOURCE
#include "support.h"

#include "running.h"

#include <clotho/planner.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#define MS 1000000

static _Atomic uint32_t gate_open, inside;

/* Runs through while the gate is open. */
static int pass_gate(const clo_call *call)
{
    (void)call;
    atomic_fetch_add(&inside, 1);
    while (atomic_load(&gate_open) == 0)
        sched_yield();
    atomic_fetch_add(&calls, 1);
    return 0;
}

static int fail_late(const clo_call *call)
{
    (void)call;
    return atomic_fetch_add(&calls, 1) + 1 == 10 ? 9 : 0;
}

/* What the handler was told. */
#define TOLD_MAX 4096u
static clo_miss told[TOLD_MAX];
static _Atomic uint32_t told_count;

static void listen(void *argument, clo_job *job, const clo_miss *miss)
{
    uint32_t at = atomic_load(&told_count);

    (void)job;
    if (at < TOLD_MAX)
        told[at] = *miss;
    atomic_store(&told_count, at + 1);
    if (argument != NULL)
        atomic_store((_Atomic uint32_t *)argument, 1); /* lets a body go on that waits for this call */
}

static void wait_for_count(const _Atomic uint32_t *count, uint32_t least)
{
    while (atomic_load(count) < least)
        sched_yield();
}

static void rest(int64_t ns)
{
    nanosleep(&(struct timespec){0, (long)ns}, NULL);
}

static fixture prepare(uint32_t workers, clo_task_fn body, uint32_t tasks)
{
    clo_task task = {.body = body, .work_ns = 1000};
    clo_graph *graph;

    atomic_store(&calls, 0);
    atomic_store(&inside, 0);
    atomic_store(&gate_open, 0);
    atomic_store(&told_count, 0);
    ok(clo_graph_create("periodic", &graph));
    for (uint32_t t = 0; t < tasks; t++)
        ok(clo_graph_add_task(graph, &task, NULL));
    for (uint32_t t = 1; t < tasks; t++)
        ok(clo_graph_add_edge(graph, t - 1, t, 0));
    ok(clo_graph_seal(graph));
    fixture f = {.platform = scene_platform(workers, 0), .graph = graph};
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    config.unpinned = 1;
    ok(clo_cost_create(graph, f.platform, &f.cost));
    ok(clo_runtime_create(f.platform, &config, &f.runtime));
    return f;
}

static clo_job *periodic(const fixture *f, int64_t period_ns, uint64_t releases, clo_miss_action action)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    config.period_ns = period_ns;
    config.releases = releases;
    config.on_miss = action;
    config.miss = listen;
    ok(clo_job_create(f->runtime, f->cost, &config, &job));
    return job;
}

static clo_job_timing timing_of(const clo_job *job)
{
    clo_job_timing timing = CLO_JOB_TIMING_INIT;

    ok(clo_job_timing_read(job, &timing));
    return timing;
}

static uint32_t told_of(clo_miss_kind kind)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < atomic_load(&told_count); i++)
        count += told[i].kind == kind;
    return count;
}

static void a_periodic_job_runs_once_for_each_release_and_ends(void **state)
{
    static const char *const policies[] = {NULL, "fifo", "eft"};

    (void)state;
    for (int way = 0; way < 4; way++)
        for (uint32_t workers = 1; workers <= 8; workers *= 2) {
            fixture f = prepare(workers, count_call, 5);
            clo_job_config config = CLO_JOB_CONFIG_INIT;
            clo_job_result result = CLO_JOB_RESULT_INIT;
            clo_plan *plan = NULL;
            clo_job *job;

            config.period_ns = MS / 5;
            config.releases = 50;
            if (way == 3)
                ok(clo_plan_create(f.cost, NULL, &plan));
            else if (policies[way] != NULL)
                config.policy = clo_policy_find(policies[way]);
            config.plan = plan;
            ok(clo_job_create(f.runtime, f.cost, &config, &job));
            for (uint32_t again = 1; again <= 2; again++) {
                ok(clo_job_submit(job));
                ok(clo_job_wait(job, &result));
                clo_job_timing timing = timing_of(job);
                assert_int_equal(atomic_load(&calls), again * 250);
                assert_int_equal(result.executed, 250);
                assert_int_equal(timing.released, 50);
                assert_int_equal(timing.finished, 50);
                assert_int_equal(timing.response_ns.count, 50);
                assert_int_equal(timing.start_ns.count, 50);
                assert_int_equal(timing.jitter_ns.count, 50);
                assert_true(timing.response_ns.p50_ns <= timing.response_ns.max_ns);
                assert_int_equal(timing.skipped + timing.aborted + timing.overruns, 0);
            }
            clo_job_destroy(job);
            clo_plan_destroy(plan);
            stop(&f);
        }
}

static void a_run_that_is_late_is_told_once_and_the_releases_that_wait_are_run(void **state)
{
    fixture f = prepare(2, pass_gate, 1);
    clo_job *job = periodic(&f, 2 * MS, 0, CLO_MISS_RUN_LATE); /* without end: a worker may take long to wake */

    (void)state;
    ok(clo_job_submit(job));
    wait_for_count(&inside, 1); /* 0 runs, all others wait */
    uint32_t before = atomic_load(&told_count);
    wait_for_count(&told_count, before + 3); /* the first of these may have been on its way */
    assert_int_equal(atomic_load(&inside), 1);
    for (uint32_t i = 0; i < before + 3; i++) {
        assert_int_equal(told[i].kind, CLO_MISS_DEADLINE);
        assert_int_equal(told[i].release, i);
        assert_true(told[i].late_ns >= 0);
        assert_int_equal(told[i].release_ns - told[0].release_ns, 2 * MS * (int64_t)i);
    }
    assert_int_equal(told[before + 1].task, 0); /* is running */
    atomic_store(&gate_open, 1);
    wait_for_count(&calls, before + 8);
    clo_job_cancel(job);
    clo_status status = clo_job_wait(job, NULL);
    assert_true(status == CLO_ERR_CANCELLED);
    clo_job_timing timing = timing_of(job);
    assert_true(timing.missed >= before + 3);
    assert_int_equal(timing.missed, told_of(CLO_MISS_DEADLINE));
    assert_true(timing.released >= atomic_load(&calls));
    for (uint32_t i = 1; i < atomic_load(&told_count) && i < TOLD_MAX; i++)
        assert_true(told[i].release > told[i - 1].release);
    clo_job_destroy(job);
    stop(&f);
}

static void a_release_that_meets_a_running_one_is_left_out_if_asked_for(void **state)
{
    fixture f = prepare(2, pass_gate, 1);
    clo_job *job = periodic(&f, MS, 12, CLO_MISS_SKIP);

    (void)state;
    ok(clo_job_submit(job));
    fails(CLO_ERR_STATE, "is running", clo_job_submit(job)); /* no run can end before the gate is open */
    while (told_of(CLO_MISS_RELEASE) < 4)
        sched_yield();
    atomic_store(&gate_open, 1);
    ok(clo_job_wait(job, NULL));
    clo_job_timing timing = timing_of(job);
    assert_true(timing.skipped >= 4);
    assert_int_equal(timing.skipped, told_of(CLO_MISS_RELEASE));
    assert_int_equal(timing.released + timing.skipped, 12);
    assert_int_equal(timing.finished, timing.released);
    assert_int_equal(atomic_load(&calls), timing.released);
    assert_int_equal(timing.missed, told_of(CLO_MISS_DEADLINE));
    clo_job_destroy(job);
    stop(&f);
}

/* Waits for a series with on_miss = abort: on a loaded machine the last run may be one of those that were cut. */
static void wait_for_cut_series(clo_job *job, clo_job_result *result)
{
    clo_status status = clo_job_wait(job, result);

    assert_true(status == CLO_OK || (status == CLO_ERR_ABORTED && timing_of(job).aborted > 0));
}

static void a_run_is_cut_at_its_deadline_if_asked_for_and_the_next_one_is_whole(void **state)
{
    fixture f = prepare(2, pass_gate, 4); /* a chain: the first body holds the others up */
    clo_job *job = periodic(&f, 50 * MS, 3, CLO_MISS_ABORT);
    clo_job_result result = CLO_JOB_RESULT_INIT;

    (void)state;
    ok(clo_job_submit(job));
    while (atomic_load(&inside) == 0 && atomic_load(&told_count) == 0)
        sched_yield();
    bool has_begun = atomic_load(&told_count) == 0; /* before its cut: a worker may take long to wake */
    wait_for_count(&told_count, 1);
    atomic_store(&gate_open, 1);
    wait_for_cut_series(job, &result);
    clo_job_timing timing = timing_of(job);
    assert_true(timing.aborted >= 1);
    assert_int_equal(timing.released, 3);
    assert_int_equal(timing.finished, 3);
    assert_true(timing.missed >= timing.aborted);
    if (timing.aborted == 1) /* all but the first of the first run were skipped, the other two runs are whole */
        assert_in_range(atomic_load(&calls), has_begun ? 9 : 8, 9);
    assert_true(atomic_load(&calls) <= 12 - 3);
    assert_int_equal(result.executed, atomic_load(&calls));
    clo_job_destroy(job);
    stop(&f);
}

/* The cut comes before it is told, and the bodies wait for that. */
static void an_aborted_run_has_a_status_of_its_own(void **state)
{
    fixture f = prepare(1, pass_gate, 10);
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_job *job;

    (void)state;
    config.deadline_ns = 5 * MS;
    config.on_miss = CLO_MISS_ABORT;
    config.miss = listen;
    config.miss_argument = &gate_open;
    ok(clo_job_create(f.runtime, f.cost, &config, &job));
    ok(clo_job_submit(job));
    fails(CLO_ERR_ABORTED, "aborted at its deadline", clo_job_wait(job, &result));
    assert_int_equal(result.status, CLO_ERR_ABORTED);
    assert_int_equal(result.missed_deadline, 1);
    assert_true(result.executed < 10);
    clo_job_destroy(job);
    stop(&f);
}

static void a_period_shorter_than_the_work_loses_nothing_that_is_not_counted(void **state)
{
    (void)state;
    for (int action = CLO_MISS_RUN_LATE; action <= CLO_MISS_ABORT; action++) {
        fixture f = prepare(2, count_call, 300);
        clo_job *job = periodic(&f, 1000, 2000, (clo_miss_action)action); /* 300 tasks take longer than a microsecond */

        ok(clo_job_submit(job));
        wait_for_cut_series(job, NULL);
        clo_job_timing timing = timing_of(job);
        assert_int_equal(timing.released + timing.skipped, 2000);
        assert_int_equal(timing.finished, timing.released);
        if (action == CLO_MISS_RUN_LATE)
            assert_int_equal(atomic_load(&calls), 2000 * 300);
        if (action != CLO_MISS_SKIP)
            assert_int_equal(timing.skipped, 0);
        if (action != CLO_MISS_ABORT)
            assert_int_equal(timing.aborted, 0);
        clo_job_destroy(job);
        stop(&f);
    }
}

static void a_deadline_that_is_past_at_once_is_told_once_for_each_submit(void **state)
{
    fixture f = prepare(2, count_call, 3);
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_job *job;

    (void)state;
    config.deadline_ns = 1;
    config.miss = listen;
    ok(clo_job_create(f.runtime, f.cost, &config, &job));
    for (uint32_t run = 1; run <= 200; run++) {
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, &result));
        assert_int_equal(result.missed_deadline, 1);
        assert_int_equal(atomic_load(&told_count), run); /* told before wait returns */
        assert_int_equal(timing_of(job).missed, 1);
    }
    clo_job_destroy(job);
    stop(&f);
}

static void a_series_is_ended_by_cancel_and_by_a_failure(void **state)
{
    fixture f = prepare(2, count_call, 3);
    clo_job *job = periodic(&f, MS / 10, 0, CLO_MISS_RUN_LATE);
    clo_job_result result = CLO_JOB_RESULT_INIT;

    (void)state;
    ok(clo_job_submit(job));
    wait_for_count(&calls, 30);
    clo_job_cancel(job);
    fails(CLO_ERR_CANCELLED, "cancelled after", clo_job_wait(job, &result));
    assert_int_equal(timing_of(job).released, timing_of(job).finished);
    uint32_t seen = atomic_load(&calls);
    rest(2 * MS);
    assert_int_equal(atomic_load(&calls), seen);
    clo_job_destroy(job);
    stop(&f);

    f = prepare(2, fail_late, 1);
    job = periodic(&f, MS / 10, 0, CLO_MISS_RUN_LATE);
    ok(clo_job_submit(job));
    fails(CLO_ERR_TASK, "failed with 9", clo_job_wait(job, &result));
    assert_int_equal(timing_of(job).finished, 10);
    clo_job_destroy(job);
    stop(&f);
}

static void a_series_without_end_is_cancelled_when_it_is_destroyed(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        fixture f = prepare(3, count_call, 4);
        clo_job *job = periodic(&f, MS / 20, 0, (clo_miss_action)(round % 3));

        ok(clo_job_submit(job));
        if (round % 2 == 0)
            wait_for_count(&calls, 4);
        if (round % 4 < 2)
            clo_job_destroy(job); /* else by the runtime */
        stop(&f);
    }
}

static void an_overrun_is_told_while_the_body_still_runs(void **state)
{
    fixture f = prepare(2, pass_gate, 2);
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    (void)state;
    config.task_limit_ns = MS;
    config.miss = listen;
    config.miss_argument = &gate_open; /* the body ends only once it was told */
    ok(clo_job_create(f.runtime, f.cost, &config, &job));
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    assert_int_equal(timing_of(job).overruns, told_of(CLO_MISS_OVERRUN));
    assert_true(told_of(CLO_MISS_OVERRUN) >= 1);
    assert_int_equal(told[0].kind, CLO_MISS_OVERRUN);
    assert_int_equal(told[0].task, 0);
    assert_true(told[0].executor < 2);
    clo_job_destroy(job);
    stop(&f);
}

static int spin_briefly(const clo_call *call)
{
    struct timespec start, now;

    (void)call;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec < 20000);
    return 0;
}

static void every_short_overrun_is_counted_and_told_once(void **state)
{
    fixture f = prepare(1, spin_briefly, 40);
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    (void)state;
    config.task_limit_percent = 200; /* of the expected 1 us; all last 20 us, less than the watchdog's round */
    config.miss = listen;
    ok(clo_job_create(f.runtime, f.cost, &config, &job));
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    assert_int_equal(timing_of(job).overruns, 40);
    assert_int_equal(told_of(CLO_MISS_OVERRUN), 40);
    clo_job_destroy(job);
    stop(&f);
}

static void waiting_gives_up_in_time_and_names_what_runs(void **state)
{
    fixture f = prepare(2, pass_gate, 1);
    clo_job *job = make_job(&f, NULL, NULL);

    (void)state;
    fails(CLO_ERR_STATE, "never submitted", clo_job_wait_for(job, MS, NULL));
    ok(clo_job_submit(job));
    wait_for_count(&inside, 1);
    fails(CLO_ERR_TIMEOUT, "task 't0' on executor", clo_job_wait_for(job, MS, NULL));
    fails(CLO_ERR_TIMEOUT, "not ended", clo_job_wait_for(job, 0, NULL));
    atomic_store(&gate_open, 1);
    ok(clo_job_wait_for(job, 500ll * 1000 * MS, NULL));
    clo_job_destroy(job);
    stop(&f);
}

typedef struct nested {
    clo_job *other;
    clo_runtime *runtime;
    _Atomic uint32_t wrong;
} nested;

static int submit_other(const clo_call *call)
{
    nested *n = call->argument;

    if (clo_job_submit(n->other) != CLO_OK)
        atomic_fetch_add(&n->wrong, 1);
    if (clo_job_wait(n->other, NULL) != CLO_ERR_STATE || clo_runtime_close(n->runtime, 0) != CLO_ERR_STATE)
        atomic_fetch_add(&n->wrong, 1);
    return 0;
}

static void a_body_may_submit_another_job_but_not_wait_for_it(void **state)
{
    fixture f = prepare(2, count_call, 3);
    nested n = {.runtime = f.runtime};
    clo_task task = {.body = submit_other, .argument = &n};
    clo_graph *graph = scene_layers(1, 1, &task);
    clo_cost *cost;
    clo_job *job;

    (void)state;
    ok(clo_cost_create(graph, f.platform, &cost));
    for (int is_timed = 0; is_timed <= 1; is_timed++) {
        n.other = is_timed ? periodic(&f, MS / 10, 3, CLO_MISS_RUN_LATE) : make_job(&f, NULL, NULL);
        ok(clo_job_create(f.runtime, cost, NULL, &job));
        for (int run = 0; run < 20; run++) {
            ok(clo_job_submit(job));
            ok(clo_job_wait(job, NULL));
            ok(clo_job_wait(n.other, NULL));
        }
        clo_job_destroy(n.other);
        clo_job_destroy(job);
    }
    assert_int_equal(atomic_load(&n.wrong), 0);
    assert_int_equal(atomic_load(&calls), 20 * 3 + 20 * 9);
    clo_cost_destroy(cost);
    clo_graph_destroy(graph);
    stop(&f);
}

static void two_series_and_plain_jobs_share_the_workers(void **state)
{
    fixture f = prepare(3, count_call, 6);
    clo_job *fast = periodic(&f, MS / 10, 200, CLO_MISS_RUN_LATE), *slow = periodic(&f, MS, 20, CLO_MISS_RUN_LATE);
    clo_job *plain = make_job(&f, NULL, NULL);

    (void)state;
    ok(clo_job_submit(fast));
    ok(clo_job_submit(slow));
    for (int run = 0; run < 100; run++) {
        ok(clo_job_submit(plain));
        ok(clo_job_wait(plain, NULL));
    }
    ok(clo_job_wait(fast, NULL));
    ok(clo_job_wait(slow, NULL));
    assert_int_equal(atomic_load(&calls), (200 + 20 + 100) * 6);
    assert_true(clo_job_id(fast) != clo_job_id(slow));
    clo_job_destroy(plain);
    clo_job_destroy(slow);
    clo_job_destroy(fast);
    stop(&f);
}

static void plans_are_swapped_under_a_running_series(void **state)
{
    fixture f = prepare(3, count_call, 6);
    clo_plan_config heft = CLO_PLAN_CONFIG_INIT, serial = CLO_PLAN_CONFIG_INIT;
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_plan *plans[2];
    clo_job *job, *steal = make_job(&f, NULL, NULL);

    (void)state;
    heft.planner = &clo_planner_heft;
    serial.planner = &clo_planner_serial;
    ok(clo_plan_create(f.cost, &heft, &plans[0]));
    ok(clo_plan_create(f.cost, &serial, &plans[1]));
    config.plan = plans[0];
    config.period_ns = MS / 20;
    config.releases = 1000;
    ok(clo_job_create(f.runtime, f.cost, &config, &job));
    fails(CLO_ERR_ARGUMENT, "no plan to be replaced", clo_job_swap_plan(steal, plans[0]));
    ok(clo_job_submit(job));
    for (int swap = 1; atomic_load(&calls) < 5000; swap++)
        ok(clo_job_swap_plan(job, plans[swap % 2]));
    ok(clo_job_wait(job, NULL));
    assert_int_equal(atomic_load(&calls), 6000);
    clo_job_destroy(job);
    clo_job_destroy(steal);
    clo_plan_destroy(plans[0]);
    clo_plan_destroy(plans[1]);
    stop(&f);
}

static void wrong_timing_is_refused_with_one_line(void **state)
{
    fixture f = prepare(1, count_call, 1);
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job_timing timing = CLO_JOB_TIMING_INIT;
    clo_job *job;

    (void)state;
    config.period_ns = -1;
    fails(CLO_ERR_ARGUMENT, "period_ns is negative", clo_job_create(f.runtime, f.cost, &config, &job));
    config.period_ns = 0;
    config.releases = 3;
    fails(CLO_ERR_ARGUMENT, "releases without period_ns", clo_job_create(f.runtime, f.cost, &config, &job));
    config.period_ns = 1000;
    config.deadline_ns = 34000;
    fails(CLO_ERR_ARGUMENT, "more than 32 periods", clo_job_create(f.runtime, f.cost, &config, &job));
    config.deadline_ns = 0;
    config.on_miss = (clo_miss_action)7;
    fails(CLO_ERR_ARGUMENT, "on_miss is 7", clo_job_create(f.runtime, f.cost, &config, &job));
    config.on_miss = CLO_MISS_SKIP;
    config.task_limit_ns = -1;
    fails(CLO_ERR_ARGUMENT, "task_limit_ns is negative", clo_job_create(f.runtime, f.cost, &config, &job));
    job = make_job(&f, NULL, NULL);
    fails(CLO_ERR_STATE, "never submitted", clo_job_timing_read(job, &timing));
    clo_job_destroy(job);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_periodic_job_runs_once_for_each_release_and_ends),
        cmocka_unit_test(a_run_that_is_late_is_told_once_and_the_releases_that_wait_are_run),
        cmocka_unit_test(a_release_that_meets_a_running_one_is_left_out_if_asked_for),
        cmocka_unit_test(a_run_is_cut_at_its_deadline_if_asked_for_and_the_next_one_is_whole),
        cmocka_unit_test(an_aborted_run_has_a_status_of_its_own),
        cmocka_unit_test(a_period_shorter_than_the_work_loses_nothing_that_is_not_counted),
        cmocka_unit_test(a_deadline_that_is_past_at_once_is_told_once_for_each_submit),
        cmocka_unit_test(a_series_is_ended_by_cancel_and_by_a_failure),
        cmocka_unit_test(a_series_without_end_is_cancelled_when_it_is_destroyed),
        cmocka_unit_test(an_overrun_is_told_while_the_body_still_runs),
        cmocka_unit_test(every_short_overrun_is_counted_and_told_once),
        cmocka_unit_test(waiting_gives_up_in_time_and_names_what_runs),
        cmocka_unit_test(a_body_may_submit_another_job_but_not_wait_for_it),
        cmocka_unit_test(two_series_and_plain_jobs_share_the_workers),
        cmocka_unit_test(plans_are_swapped_under_a_running_series),
        cmocka_unit_test(wrong_timing_is_refused_with_one_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
