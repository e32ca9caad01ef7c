/* What a job tells after ends that are rare: in virtual time, before the first release, where arms are skipped. */
#define _GNU_SOURCE
#include "support.h"

#include "ways.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* Under the virtual clock the model's time counts, for both. */
static void a_deadline_in_virtual_time_is_the_same_for_all_who_ask(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 4; round++) {
        clo_task task = {.body = count_call, .work_ns = 1000000000};
        fixture f = start(2, scene_layers(3, 1, &task), CLO_CLOCK_VIRTUAL);
        clo_plan *plan = round % 2 == 0 ? plan_of(&f, "heft") : NULL;
        clo_job_config config = {.size = sizeof config, .plan = plan};
        clo_job_result result = CLO_JOB_RESULT_INIT;
        clo_job_timing timing = CLO_JOB_TIMING_INIT;
        clo_job *job;

        config.policy = plan == NULL ? clo_policy_find("fifo") : NULL;
        config.deadline_ns = round < 2 ? 2000000000 : 4000000000;
        ok(clo_job_create(f.runtime, f.cost, &config, &job));
        for (uint32_t submit = 0; submit < 2; submit++) {
            ok(clo_job_submit(job));
            ok(clo_job_wait(job, &result));
            ok(clo_job_timing_read(job, &timing));
            assert_int_equal(result.makespan_ns / 1000000000, 3);
            assert_int_equal(result.missed_deadline, round < 2);
            assert_int_equal(timing.missed, round < 2);
            assert_int_equal(timing.response_ns.max_ns, result.makespan_ns);
        }
        clo_job_destroy(job);
        clo_plan_destroy(plan);
        stop(&f);
    }
}

static atomic_int is_over;

static void *cancel_often(void *job)
{
    while (atomic_load_explicit(&is_over, memory_order_relaxed) == 0)
        clo_job_cancel(job);
    return NULL;
}

/* Its result says nothing of the submit before. */
static void a_series_without_a_run_has_taken_no_time(void **state)
{
    clo_task task = {.body = count_call, .work_ns = 1000};
    fixture f = start(2, scene_layers(1, 1, &task), CLO_CLOCK_REAL);
    clo_job_config config = {.size = sizeof config, .period_ns = 1000, .releases = 1};
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_job_timing timing = CLO_JOB_TIMING_INIT;
    pthread_t canceller;
    clo_job *job;

    (void)state;
    ok(clo_job_create(f.runtime, f.cost, &config, &job));
    do { /* until a cancel comes before the watchdog knows of the submit */
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, &result));
        assert_true(result.makespan_ns > 0);
        atomic_store(&is_over, 0);
        assert_int_equal(pthread_create(&canceller, NULL, cancel_often, job), 0);
        ok(clo_job_submit(job));
        (void)(clo_job_wait(job, &result) == CLO_OK);
        atomic_store(&is_over, 1);
        pthread_join(canceller, NULL);
        ok(clo_job_timing_read(job, &timing));
    } while (timing.released > 0);
    assert_int_equal(result.status, CLO_ERR_CANCELLED);
    assert_int_equal(result.executed, 0);
    assert_int_equal(result.makespan_ns, 0);
    assert_int_equal(result.missed_deadline, 0);
    clo_job_destroy(job);
    stop(&f);
}

static int fail_late(const clo_call *call)
{
    int64_t begin_ns = clo_clock_ns();

    (void)call;
    while (clo_clock_ns() < begin_ns + 200000)
        ;
    return 7;
}

static void *keep_busy(void *unused)
{
    (void)unused;
    while (atomic_load_explicit(&is_over, memory_order_relaxed) == 0)
        ;
    return NULL;
}

/* Releases of many jobs are due at each moment, and the watchdog, which starts them, loses its CPU at any point: no
 * further run begins when the first has failed, or its end would be told. */
static void a_run_that_fails_is_the_last_one(void **state)
{
    enum { TRIES = 60, BUSY = 4, JOBS = 16 };
    static const uint32_t policies[] = {CLO_MISS_SKIP, CLO_MISS_RUN_LATE};
    clo_task task = {.body = fail_late, .work_ns = 200000};
    fixture f = start(2, scene_layers(1, 1, &task), CLO_CLOCK_REAL);
    pthread_t busy[BUSY];

    (void)state;
    atomic_store(&is_over, 0);
    for (uint32_t t = 0; t < BUSY; t++)
        assert_int_equal(pthread_create(&busy[t], NULL, keep_busy, NULL), 0);
    for (uint32_t p = 0; p < 2; p++) {
        clo_job_config config = {.size = sizeof config, .period_ns = 1000, .on_miss = policies[p]};
        clo_job *jobs[JOBS];
        for (uint32_t j = 0; j < JOBS; j++)
            ok(clo_job_create(f.runtime, f.cost, &config, &jobs[j]));
        for (uint32_t round = 0; round < TRIES; round++) {
            for (uint32_t j = 0; j < JOBS; j++)
                ok(clo_job_submit(jobs[j]));
            for (uint32_t j = 0; j < JOBS; j++) {
                clo_job_result result = CLO_JOB_RESULT_INIT;
                clo_job_timing timing = CLO_JOB_TIMING_INIT;
                assert_int_equal(clo_job_wait(jobs[j], &result), CLO_ERR_TASK);
                ok(clo_job_timing_read(jobs[j], &timing));
                assert_int_equal(result.failed_code, 7);
                assert_int_equal(timing.released, 1);
            }
        }
        for (uint32_t j = 0; j < JOBS; j++)
            clo_job_destroy(jobs[j]);
    }
    atomic_store(&is_over, 1);
    for (uint32_t t = 0; t < BUSY; t++)
        pthread_join(busy[t], NULL);
    stop(&f);
}

enum { SUBMITS = 5000 };

static void *submit_and_cancel_often(void *job)
{
    for (uint32_t i = 0; i < SUBMITS; i++) {
        clo_status status = clo_job_submit(job);
        assert_true(status == CLO_OK || status == CLO_ERR_STATE); /* the job may be running */
        clo_job_cancel(job);
    }
    return NULL;
}

/* A job may end before its submit has returned: the next submit, of another thread, finds nothing of that one under
 * way. */
static void a_job_that_ends_within_its_submit_can_be_submitted(void **state)
{
    enum { THREADS = 3 };
    (void)state;
    for (uint32_t in_flight = 0; in_flight <= 2; in_flight += 2) {
        clo_task task = {.body = count_call, .work_ns = 1};
        fixture f = start(1, scene_layers(1, 1, &task), CLO_CLOCK_REAL);
        clo_plan *plan = plan_of(&f, "heft");
        clo_job_config config = {.size = sizeof config, .plan = plan, .releases_in_flight = in_flight};
        clo_job_timing timing = CLO_JOB_TIMING_INIT;
        pthread_t threads[THREADS];
        clo_job *job;

        config.releases = in_flight > 0;
        config.deadline_ns = in_flight > 0 ? 0 : 3600000000000;
        config.on_miss = in_flight > 0 ? CLO_MISS_RUN_LATE : CLO_MISS_ABORT; /* with a deadline: it is watched */
        ok(clo_job_create(f.runtime, f.cost, &config, &job));
        for (uint32_t t = 0; t < THREADS; t++)
            assert_int_equal(pthread_create(&threads[t], NULL, submit_and_cancel_often, job), 0);
        for (uint32_t t = 0; t < THREADS; t++)
            pthread_join(threads[t], NULL);
        clo_status last = clo_job_wait(job, NULL); /* the last run, whoever submitted it */
        assert_true(last == CLO_OK || last == CLO_ERR_CANCELLED);
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, NULL));
        ok(clo_job_timing_read(job, &timing));
        assert_int_equal(timing.finished, 1);
        assert_int_equal(timing.missed, 0);
        clo_job_destroy(job);
        clo_plan_destroy(plan);
        stop(&f);
    }
}

static clo_job *own;
static uint32_t chosen;

static int choose_that(const clo_call *call)
{
    *call->arm = chosen;
    return 0;
}

static int cancel_own(const clo_call *call)
{
    (void)call;
    clo_job_cancel(own);
    return 0;
}

/* A fork: one arm is a, the other b and then c. The last one of each cancels the job. */
static clo_graph *make_fork(void)
{
    static const clo_task tasks[] = {{.name = "fork", .body = choose_that, .work_ns = 1000},
                                     {.name = "a", .body = cancel_own, .work_ns = 1000},
                                     {.name = "b", .body = count_call, .work_ns = 1000},
                                     {.name = "c", .body = cancel_own, .work_ns = 1000}};
    clo_graph *graph;

    ok(clo_graph_create("fork", &graph));
    ok(clo_graph_add_tasks(graph, tasks, 4, NULL));
    ok(clo_graph_set_branch(graph, 0, 2, NULL));
    for (uint32_t a = 0; a < 2; a++)
        ok(clo_graph_add_arm(graph, 0, a + 1, 0, a));
    ok(clo_graph_add_edge(graph, 2, 3, 0));
    ok(clo_graph_seal(graph));
    return graph;
}

/* The cancel comes from the last body; the other arm, which may come after it, has none to be left out. */
static void what_is_skipped_is_not_left_out(void **state)
{
    fixture f = start(1, make_fork(), CLO_CLOCK_REAL);
    clo_plan *plan = plan_of(&f, "heft");

    (void)state;
    for (uint32_t round = 0; round < 8; round++) { /* the other arm is before the cancel, or behind it */
        clo_job_result result = CLO_JOB_RESULT_INIT;
        const clo_policy *policy = round < 2 ? clo_policy_find("fifo") : round < 4 ? clo_policy_find("heft") : NULL;
        chosen = round % 2;
        own = make_job(&f, policy, round < 6 ? NULL : plan);
        ok(clo_job_submit(own));
        ok(clo_job_wait(own, &result));
        assert_int_equal(result.executed, 2 + chosen);
        assert_int_equal(result.skipped, 2 - chosen);
        clo_job_destroy(own);
    }
    clo_plan_destroy(plan);
    stop(&f);
}

/* As there, but a body would follow: it is left out under each way. */
static void what_would_run_is_left_out(void **state)
{
    static const clo_task tasks[] = {{.name = "fork", .body = choose_that, .work_ns = 1000},
                                     {.name = "a", .body = cancel_own, .work_ns = 1000},
                                     {.name = "b", .body = count_call, .work_ns = 1000},
                                     {.name = "merge", .body = count_call, .work_ns = 1000}};

    (void)state;
    fixture f = start(2, scene_fork(tasks, 2), CLO_CLOCK_REAL);
    clo_plan *plan = plan_of(&f, "heft");
    for (uint32_t round = 0; round < 30; round++) {
        clo_job_result result = CLO_JOB_RESULT_INIT;
        const clo_policy *policy = round % 3 == 0 ? clo_policy_find("fifo") : NULL;
        chosen = 0;
        own = make_job(&f, policy, round % 3 == 1 ? plan : NULL);
        ok(clo_job_submit(own));
        assert_int_equal(clo_job_wait(own, &result), CLO_ERR_CANCELLED);
        assert_int_equal(result.executed, 2);
        clo_job_destroy(own);
    }
    clo_plan_destroy(plan);
    stop(&f);
}

/* Jobs whose second body, and whose handlers, stay until they are told to go. */
enum { PLAIN, LATE, OVER, STAYING };

static _Atomic bool body_is_in[STAYING], body_goes[STAYING], handler_is_in[STAYING], handler_goes[STAYING];

static void wait_for(const _Atomic bool *flag)
{
    while (!atomic_load(flag))
        usleep(100);
}

static int stay(const clo_call *call)
{
    int64_t begin_ns = clo_clock_ns();
    size_t who = (size_t)(uintptr_t)call->argument;

    while (clo_clock_ns() < begin_ns + 1000000) /* longer than its limit */
        ;
    if (call->task == 0)
        return 0;
    atomic_store(&body_is_in[who], true);
    wait_for(&body_goes[who]);
    return 0;
}

static void stay_in_handler(void *argument, clo_job *job, const clo_miss *miss)
{
    size_t who = (size_t)(uintptr_t)argument;

    (void)job, (void)miss;
    atomic_store(&handler_is_in[who], true);
    wait_for(&handler_goes[who]);
}

/* Its first body has ended, its second one runs. */
static clo_job *submit_staying(fixture *f, uint32_t who, clo_job_config config)
{
    clo_task task = {.body = stay, .work_ns = 10, .argument = (void *)(uintptr_t)who};
    clo_job *job;

    f->graph = scene_layers(2, 1, &task);
    ok(clo_cost_create(f->graph, f->platform, &f->cost));
    config.size = sizeof config;
    if (who != PLAIN) {
        config.miss = stay_in_handler;
        config.miss_argument = (void *)(uintptr_t)who;
    }
    ok(clo_job_create(f->runtime, f->cost, &config, &job));
    ok(clo_job_submit(job));
    wait_for(&body_is_in[who]);
    return job;
}

/* While a handler of one job runs, another job, which has no handler, ends and is destroyed: whoever looks after both
 * does not come back to it, also if the look at it finds what a handler is to be told. */
static void a_job_may_go_while_a_handler_of_another_runs(void **state)
{
    static _Alignas(64) uint64_t memory[1 << 14];
    const uint64_t mark = 0xa5a5a5a5a5a5a5a5;
    fixture f[STAYING] = {{.platform = scene_platform(3, 0)}};
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;

    (void)state;
    config.unpinned = 1;
    config.help = -1;
    ok(clo_runtime_create(f->platform, &config, &f->runtime));
    for (uint32_t who = 1; who < STAYING; who++)
        f[who] = f[0];
    clo_job *plain = submit_staying(&f[PLAIN], PLAIN,
                                    (clo_job_config){.deadline_ns = INT64_C(3600000000000),
                                                     .on_miss = CLO_MISS_ABORT,
                                                     .memory = memory,
                                                     .memory_bytes = sizeof memory});
    clo_job *late = submit_staying(&f[LATE], LATE, (clo_job_config){.deadline_ns = 1000});
    wait_for(&handler_is_in[LATE]); /* of a look that comes to the plain job next */
    clo_job *over = submit_staying(&f[OVER], OVER, (clo_job_config){.task_limit_ns = 1000});
    atomic_store(&body_goes[PLAIN], true);
    ok(clo_job_wait(plain, NULL));
    atomic_store(&handler_goes[LATE], true);
    wait_for(&handler_is_in[OVER]);
    clo_job_destroy(plain);
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        memory[i] = mark;
    atomic_store(&handler_goes[OVER], true);
    atomic_store(&body_goes[LATE], true);
    atomic_store(&body_goes[OVER], true);
    ok(clo_job_wait(late, NULL));
    ok(clo_job_wait(over, NULL));
    clo_job_destroy(late);
    clo_job_destroy(over);
    for (uint32_t who = 1; who < STAYING; who++) {
        clo_cost_destroy(f[who].cost);
        clo_graph_destroy(f[who].graph);
    }
    stop(f);
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        assert_int_equal(memory[i], mark);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deadline_in_virtual_time_is_the_same_for_all_who_ask),
        cmocka_unit_test(a_series_without_a_run_has_taken_no_time),
        cmocka_unit_test(a_run_that_fails_is_the_last_one),
        cmocka_unit_test(a_job_that_ends_within_its_submit_can_be_submitted),
        cmocka_unit_test(what_is_skipped_is_not_left_out),
        cmocka_unit_test(what_would_run_is_left_out),
        cmocka_unit_test(a_job_may_go_while_a_handler_of_another_runs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
