/* Bodies that finish later: every way to dispatch and every clock; who completes, when, and how often; what happens to
 * them when a run is cut short. */
#define _GNU_SOURCE
#include "support.h"

#include "driver.h"
#include "running.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

static driver drives;
static clo_token kept[64];
static _Atomic uint32_t kept_count, told;
static pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER;

static void keep(clo_token token)
{
    pthread_mutex_lock(&keeping);
    kept[atomic_load(&kept_count) % 64] = token;
    atomic_fetch_add(&kept_count, 1);
    pthread_mutex_unlock(&keeping);
}

/* What a body and the driver do together, by the body alone. */
static int sum_at_once(const clo_call *call)
{
    int code = sum_inputs(call);

    ++*(uint64_t *)call->output;
    return code;
}

static int sum_later(const clo_call *call)
{
    clo_token token;
    int code = sum_inputs(call);

    if (code != 0 || clo_token_take(call, NULL, NULL, &token) != CLO_OK)
        return 2;
    driver_give(&drives, token, call->output);
    return CLO_PENDING;
}

static clo_graph *layers_of(clo_task_fn body)
{
    clo_task task = {.body = body, .work_ns = 1000, .output_bytes = 64, .may_pend = 1};

    return scene_layers(5, 4, &task);
}

static uint64_t run_twice(fixture *f, const clo_policy *policy, const clo_plan *plan)
{
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_job *job = make_job(f, policy, plan);
    uint64_t hash = 0;

    for (int run = 0; run < 2; run++) {
        clo_trace *trace;
        size_t events;
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, &result));
        assert_int_equal(result.executed, clo_graph_instances(f->graph));
        ok(clo_job_trace(job, &trace));
        (void)clo_trace_events(trace, &events);
        assert_int_equal(events, clo_graph_instances(f->graph));
        clo_trace_destroy(trace);
        hash = clo_job_output_hash(job);
    }
    clo_job_destroy(job);
    return hash;
}

static void outputs_are_those_of_bodies_that_finish_at_once_under_every_dispatch_and_clock(void **state)
{
    (void)state;
    fixture plain = start(3, layers_of(sum_at_once), CLO_CLOCK_REAL);
    uint64_t wanted = run_twice(&plain, NULL, NULL);
    uint32_t runs = 0;

    driver_start(&drives, 0);
    for (clo_clock clock = CLO_CLOCK_REAL; clock <= CLO_CLOCK_VIRTUAL; clock++) {
        fixture f = start(3, layers_of(sum_later), clock);
        clo_plan *plan;
        ok(clo_plan_create(f.cost, NULL, &plan));
        assert_true(run_twice(&f, NULL, plan) == wanted);
        for (uint32_t p = 0; p < 3; p++, runs += 2)
            assert_true(run_twice(&f, clo_policy_find(p == 0 ? "fifo" : p == 1 ? "deft" : "fair"), NULL) == wanted);
        if (clock != CLO_CLOCK_VIRTUAL)
            assert_true(run_twice(&f, NULL, NULL) == wanted);
        runs += clock != CLO_CLOCK_VIRTUAL ? 4 : 2;
        clo_plan_destroy(plan);
        stop(&f);
    }
    driver_stop(&drives);
    assert_int_equal(atomic_load(&drives.completed), runs * clo_graph_instances(plain.graph));
    assert_int_equal(atomic_load(&drives.stale), 0);
    stop(&plain);
}

/* Keeps its token for the test. */
static int pend(const clo_call *call)
{
    clo_token token;

    if (clo_token_take(call, NULL, NULL, &token) != CLO_OK)
        return 2;
    keep(token);
    return CLO_PENDING;
}

static void tell(void *argument)
{
    atomic_fetch_add(&told, 1);
    if (argument != NULL)
        (void)!clo_token_complete(*(clo_token *)argument, 5);
}

static int pend_with_cancel(const clo_call *call)
{
    static clo_token token;

    if (clo_token_take(call, tell, call->argument != NULL ? &token : NULL, &token) != CLO_OK)
        return 2;
    keep(token);
    return CLO_PENDING;
}

static void wait_for_kept(uint32_t count)
{
    while (atomic_load(&kept_count) < count)
        usleep(100);
}

static fixture start_one(clo_task_fn body, void *argument, uint32_t instances)
{
    clo_task task = {.name = "late", .body = body, .argument = argument, .instances = instances, .may_pend = 1};

    atomic_store(&kept_count, 0);
    atomic_store(&told, 0);
    return start(2, scene_layers(1, 1, &task), CLO_CLOCK_REAL);
}

typedef struct rival {
    pthread_t thread;
    pthread_barrier_t *line;
    uint32_t won;
} rival;

static void *compete(void *argument)
{
    rival *r = argument;

    pthread_barrier_wait(r->line);
    r->won = clo_token_complete(kept[0], 0) == CLO_OK;
    return NULL;
}

static void of_completions_at_once_exactly_one_succeeds(void **state)
{
    (void)state;
    fixture f = start_one(pend, NULL, 1);
    clo_job *job = make_job(&f, NULL, NULL);
    pthread_barrier_t line;
    rival rivals[3];

    pthread_barrier_init(&line, NULL, 3);
    for (int run = 0; run < 50; run++) {
        atomic_store(&kept_count, 0);
        ok(clo_job_submit(job));
        wait_for_kept(1);
        for (int r = 0; r < 3; r++) {
            rivals[r].line = &line;
            pthread_create(&rivals[r].thread, NULL, compete, &rivals[r]);
        }
        ok(clo_job_wait(job, NULL));
        uint32_t won = 0;
        for (int r = 0; r < 3; r++) {
            pthread_join(rivals[r].thread, NULL);
            won += rivals[r].won;
        }
        assert_int_equal(won, 1);
        kept[0].number--;
        assert_int_equal(clo_token_complete(kept[0], 0), CLO_ERR_STATE);
    }
    kept[0].number++;
    clo_job_destroy(job);
    fails(CLO_ERR_STATE, "stale", clo_token_complete(kept[0], 0));
    pthread_barrier_destroy(&line);
    stop(&f);
}

/* What the body's argument says is done with its token. */
enum { RETURNS_0, COMPLETES_0, COMPLETES_7, TAKES_TWO, TAKES_NONE, PENDS_UNTOLD, WAYS };

static int misbehave(const clo_call *call)
{
    int way = *(const int *)call->argument;
    clo_token token, second;

    if (way == TAKES_NONE || way == PENDS_UNTOLD)
        return CLO_PENDING;
    if (clo_token_take(call, NULL, NULL, &token) != CLO_OK)
        return 2;
    kept[0] = token;
    if (way == TAKES_TWO && clo_token_take(call, NULL, NULL, &second) != CLO_ERR_STATE)
        return 3;
    if (way == RETURNS_0)
        return 0;
    if (clo_token_complete(token, way == COMPLETES_7 ? 7 : 0) != CLO_OK)
        return 4;
    return CLO_PENDING;
}

static void a_completion_may_come_before_the_body_returns_and_a_token_is_stale_after_another_return(void **state)
{
    (void)state;
    const int codes[WAYS] = {0, 0, 7, 0, CLO_PENDING, CLO_PENDING};

    for (int way = 0; way < WAYS; way++) {
        clo_task task = {.body = misbehave, .argument = &way, .may_pend = way != PENDS_UNTOLD};
        fixture f = start(2, scene_layers(1, 1, &task), CLO_CLOCK_REAL);
        clo_job_result result = CLO_JOB_RESULT_INIT;
        clo_job *job = make_job(&f, NULL, NULL);
        ok(clo_job_submit(job));
        assert_int_equal(clo_job_wait(job, &result), codes[way] == 0 ? CLO_OK : CLO_ERR_TASK);
        assert_int_equal(result.failed_code, codes[way]);
        if (way < TAKES_NONE)
            fails(CLO_ERR_STATE, "stale", clo_token_complete(kept[0], 0));
        clo_job_destroy(job);
        stop(&f);
    }
    clo_token zeros = {0};
    fails(CLO_ERR_ARGUMENT, "zeros", clo_token_complete(zeros, 0));
    fails(CLO_ERR_ARGUMENT, "call or out", clo_token_take(NULL, NULL, NULL, &zeros));
    fails(CLO_ERR_STATE, "may_pend", clo_token_take(&(clo_call){0}, NULL, NULL, &zeros));
}

static int64_t now_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void see_running(void *argument, const clo_job_progress *job)
{
    *(uint32_t *)argument = job->running;
    assert_int_equal(job->executed, 0);
}

/* Until a quiet moment comes: on a busy machine the bodies may still be returning, and workers have yet to fall
 * asleep. */
static bool takes_no_cpu_time(clo_job *job)
{
    enum { WINDOWS = 300 };

    for (int i = 0; i < WINDOWS; i++) {
        int64_t cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID), wall_ns = now_ns(CLOCK_MONOTONIC);
        fails(CLO_ERR_TIMEOUT, "task 'late' on executor 0, task 'late' on executor 1",
              clo_job_wait_for(job, 200000000, NULL));
        cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns;
        wall_ns = now_ns(CLOCK_MONOTONIC) - wall_ns;
        print_message("2 bodies pending on 2 executors: %.2f %% CPU over %.0f ms\n",
                      100. * (double)cpu_ns / (double)wall_ns, (double)wall_ns / 1e6);
        if (cpu_ns < wall_ns / 20)
            return true;
    }
    return false;
}

static void what_is_pending_runs_in_every_respect_but_takes_no_cpu_time(void **state)
{
    (void)state;
    fixture f = start_one(pend, NULL, 2);
    clo_job *job = make_job(&f, NULL, NULL);
    uint32_t running = 0;

    ok(clo_job_submit(job));
    wait_for_kept(2);
    assert_true(takes_no_cpu_time(job));
    ok(clo_runtime_visit_jobs(f.runtime, see_running, &running));
    assert_int_equal(running, 2);
    fails(CLO_ERR_ARGUMENT, "CLO_PENDING is no result", clo_token_complete(kept[0], CLO_PENDING));
    kept[2] = kept[0];
    kept[2].executor = 9;
    fails(CLO_ERR_ARGUMENT, "executor 9 of 2", clo_token_complete(kept[2], 0));
    ok(clo_token_complete(kept[0], 0));
    ok(clo_token_complete(kept[1], 0));
    ok(clo_job_wait(job, NULL));
    clo_job_destroy(job);
    stop(&f);
}

static void a_cancel_ends_what_is_pending_without_a_driver_and_tells_who_has_a_function(void **state)
{
    (void)state;
    static int completes;
    clo_job_result result = CLO_JOB_RESULT_INIT;

    for (int policy = 0; policy < 2; policy++) {
        fixture f = start_one(pend, NULL, 3);
        clo_job *job = make_job(&f, policy ? clo_policy_find("fifo") : NULL, NULL);
        ok(clo_job_submit(job));
        wait_for_kept(2);
        clo_job_cancel(job);
        assert_int_equal(clo_job_wait(job, &result), CLO_ERR_CANCELLED);
        assert_int_equal(result.executed, 0);
        for (int i = 0; i < 2; i++)
            assert_int_equal(clo_token_complete(kept[i], 0), CLO_ERR_STATE);
        clo_job_destroy(job);
        stop(&f);
    }
    for (int how = 0; how < 3; how++) { /* the function completes; somebody does, with a failure or with success */
        fixture f = start_one(pend_with_cancel, how == 0 ? &completes : NULL, 1);
        clo_job *job = make_job(&f, NULL, NULL);
        ok(clo_job_submit(job));
        wait_for_kept(1);
        clo_job_cancel(job);
        clo_job_cancel(job);
        while (atomic_load(&told) == 0)
            usleep(100);
        if (how > 0) {
            assert_int_equal(clo_job_wait_for(job, 2000000, NULL), CLO_ERR_TIMEOUT);
            ok(clo_token_complete(kept[0], how == 1 ? 5 : 0));
        }
        assert_int_equal(clo_job_wait(job, &result), how == 2 ? CLO_OK : CLO_ERR_CANCELLED);
        assert_int_equal(atomic_load(&told), 1);
        assert_int_equal(result.executed, how == 2);
        clo_job_destroy(job);
        stop(&f);
    }
}

static int fail_after_late(const clo_call *call)
{
    (void)call;
    wait_for_kept(1);
    return 9;
}

static void a_deadline_a_failure_and_the_end_of_the_runtime_cut_what_is_pending(void **state)
{
    (void)state;
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_job *job;
    fixture f = start_one(pend, NULL, 1);

    config.deadline_ns = 3000000;
    config.on_miss = CLO_MISS_ABORT;
    ok(clo_job_create(f.runtime, f.cost, &config, &job));
    ok(clo_job_submit(job));
    assert_int_equal(clo_job_wait(job, &result), CLO_ERR_ABORTED);
    clo_job_destroy(job);
    job = make_job(&f, NULL, NULL); /* left to the runtime */
    atomic_store(&kept_count, 0);
    ok(clo_job_submit(job));
    wait_for_kept(1);
    stop(&f);

    clo_graph *graph;
    clo_task late = {.body = pend, .may_pend = 1}, bad = {.body = fail_after_late};
    ok(clo_graph_create("two", &graph));
    ok(clo_graph_add_task(graph, &late, NULL));
    ok(clo_graph_add_task(graph, &bad, NULL));
    ok(clo_graph_seal(graph));
    atomic_store(&kept_count, 0);
    f = start(2, graph, CLO_CLOCK_REAL);
    job = make_job(&f, clo_policy_find("fifo"), NULL);
    ok(clo_job_submit(job));
    assert_int_equal(clo_job_wait(job, &result), CLO_ERR_TASK);
    assert_int_equal(result.failed_code, 9);
    clo_job_destroy(job);
    stop(&f);
}

static _Atomic uint32_t overruns;

static void count_overrun(void *argument, clo_job *job, const clo_miss *miss)
{
    (void)argument;
    (void)job;
    if (miss->kind != CLO_MISS_OVERRUN || atomic_fetch_add(&overruns, 1) > 0)
        return;
    wait_for_kept(1);                      /* on a busy machine the body has no token yet */
    (void)!clo_token_complete(kept[0], 0); /* also from here */
}

static void a_limit_holds_for_what_is_pending(void **state)
{
    (void)state;
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    fixture f = start_one(pend, NULL, 1);
    clo_job *job;

    config.task_limit_ns = 2000000;
    config.miss = count_overrun;
    ok(clo_job_create(f.runtime, f.cost, &config, &job));
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    assert_int_equal(atomic_load(&overruns), 1);
    clo_job_destroy(job);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_are_those_of_bodies_that_finish_at_once_under_every_dispatch_and_clock),
        cmocka_unit_test(of_completions_at_once_exactly_one_succeeds),
        cmocka_unit_test(a_completion_may_come_before_the_body_returns_and_a_token_is_stale_after_another_return),
        cmocka_unit_test(what_is_pending_runs_in_every_respect_but_takes_no_cpu_time),
        cmocka_unit_test(a_cancel_ends_what_is_pending_without_a_driver_and_tells_who_has_a_function),
        cmocka_unit_test(a_deadline_a_failure_and_the_end_of_the_runtime_cut_what_is_pending),
        cmocka_unit_test(a_limit_holds_for_what_is_pending),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
