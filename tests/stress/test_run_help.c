/* Threads that wait for short jobs run them (run/threads/help.c): who runs what, what bodies may do meanwhile, and that
 * nothing is forgotten that is left for a thread which does not come. */
#define _GNU_SOURCE
#include "support.h"

#include "running.h"

#include <clotho/planner.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

#define ROUNDS(n) (SANITIZED ? (n) / 20 : (n))
enum { TASKS = 40 };

/* A chain, a diamond on top of each other task: plain counters, so that a missing order is a data race, too. */
typedef struct game {
    uint32_t seen[TASKS];
    _Atomic uint32_t violations, here, elsewhere;
    pthread_t waiter;
    clo_job *other;
    clo_runtime *runtime;
    _Atomic uint32_t flag;
} game;

static int play(const clo_call *call)
{
    game *g = call->argument;
    uint32_t count = ++g->seen[call->task];

    if (call->task > 0 && g->seen[call->task - 1] != count)
        atomic_fetch_add(&g->violations, 1);
    atomic_fetch_add(pthread_equal(pthread_self(), g->waiter) ? &g->here : &g->elsewhere, 1);
    return 0;
}

static clo_graph *chain(uint32_t tasks, clo_task_fn body, void *argument)
{
    clo_task task = {.body = body, .argument = argument};
    clo_graph *graph;

    ok(clo_graph_create("chain", &graph));
    for (uint32_t t = 0; t < tasks; t++)
        ok(clo_graph_add_task(graph, &task, NULL));
    for (uint32_t t = 1; t < tasks; t++)
        ok(clo_graph_add_edge(graph, t - 1, t, 0));
    ok(clo_graph_seal(graph));
    return graph;
}

static fixture open_on(uint32_t workers, clo_graph *graph, int64_t spin_ns, int32_t help)
{
    fixture f = {.platform = scene_platform(workers, 0), .graph = graph};
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;

    config.unpinned = 1;
    config.spin_ns = spin_ns;
    config.help = help;
    ok(clo_cost_create(graph, f.platform, &f.cost));
    ok(clo_runtime_create(f.platform, &config, &f.runtime));
    return f;
}

static void who_waits_runs_the_job_unless_told_not_to(void **state)
{
    (void)state;
    for (int32_t help = -1; help <= 1; help++) {
        game g = {.waiter = pthread_self()};
        fixture f = open_on(2, chain(TASKS, play, &g), help == 1 ? -1 : 0, help);
        clo_job *job = make_job(&f, NULL, NULL);
        uint32_t rounds = 0;
        int64_t since_ns = clo_clock_ns();

        for (; rounds < 200 || (help >= 0 && atomic_load(&g.here) == 0 && may_still_happen(since_ns)); rounds++) {
            ok(clo_job_submit(job));
            ok(clo_job_wait(job, NULL));
        }
        assert_int_equal(g.here + g.elsewhere, rounds * TASKS);
        assert_int_equal(g.violations, 0);
        if (help < 0)
            assert_int_equal(g.here, 0);
        uint32_t here = g.here;
        for (uint32_t i = 0; i < 100; i++) { /* a wait with a limit cannot be held up by a body */
            ok(clo_job_submit(job));
            while (clo_job_wait_for(job, 1000000, NULL) == CLO_ERR_TIMEOUT)
                ;
        }
        assert_int_equal(g.here, here);
        clo_job_destroy(job);
        stop(&f);
        skip_unless_seen(help < 0 || here > 0, "the waiting thread never had a run");
    }
}

static int misuse(const clo_call *call)
{
    game *g = call->argument;
    uint32_t wrong = 0;

    wrong += clo_job_wait(g->other, NULL) != CLO_ERR_STATE;
    wrong += clo_job_wait_for(g->other, 0, NULL) != CLO_ERR_STATE;
    wrong += clo_runtime_close(g->runtime, 0) != CLO_ERR_STATE;
    atomic_fetch_add(&g->violations, wrong);
    atomic_fetch_add(pthread_equal(pthread_self(), g->waiter) ? &g->here : &g->elsewhere, 1);
    return 0;
}

static void a_body_on_a_waiting_thread_may_do_no_more_than_on_a_worker(void **state)
{
    (void)state;
    game g = {.waiter = pthread_self()};
    fixture f = open_on(2, chain(1, misuse, &g), 0, 0);
    clo_job *job = make_job(&f, NULL, NULL);

    g.other = make_job(&f, NULL, NULL);
    g.runtime = f.runtime;
    while (atomic_load(&g.here) < 20) { /* until it has happened often enough */
        g.other = job;                  /* submitted */
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, NULL));
    }
    assert_int_equal(g.violations, 0);
    stop(&f);
}

/* Of another runtime: neither a worker nor who stands in for one helps there. */
static int wait_elsewhere(const clo_call *call)
{
    game *g = call->argument;

    return clo_job_submit(g->other) == CLO_OK && clo_job_wait(g->other, NULL) == CLO_OK ? 0 : 1;
}

static void a_body_may_wait_for_a_job_of_another_runtime(void **state)
{
    (void)state;
    game inner = {.waiter = pthread_self()}, outer = {.waiter = pthread_self()};
    fixture in = open_on(2, chain(TASKS, play, &inner), 0, 0), out = open_on(1, chain(3, wait_elsewhere, &outer), 0, 0);
    clo_job *job = make_job(&out, NULL, NULL);

    outer.other = make_job(&in, NULL, NULL);
    for (uint32_t i = 0; i < ROUNDS(2000); i++) {
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, NULL));
    }
    assert_int_equal(inner.here, 0);
    assert_int_equal(inner.elsewhere, 3 * TASKS * ROUNDS(2000));
    assert_int_equal(inner.violations, 0);
    stop(&out);
    stop(&in);
}

/* Threads with jobs of their own, one with a job that only workers run, and two that wait for the same job. */

typedef struct crowd {
    fixture f;
    game games[3];
    clo_graph *graphs[3];
    clo_cost *costs[3];
    clo_job *jobs[3], *replay;
    _Atomic bool is_over;
} crowd;

static crowd c;

static void *submit_own(void *argument)
{
    size_t which = (size_t)argument;

    for (uint32_t i = 0; i < ROUNDS(6000); i++) {
        while (clo_job_submit(c.jobs[which]) != CLO_OK) /* wait_too reads what the last run left */
            sched_yield();
        ok(clo_job_wait(c.jobs[which], NULL));
    }
    return NULL;
}

static void *wait_too(void *argument)
{
    (void)argument;
    while (!atomic_load(&c.is_over)) {
        clo_status status = clo_job_wait(c.jobs[0], NULL);
        assert_true(status == CLO_OK || status == CLO_ERR_STATE); /* not submitted yet */
    }
    return NULL;
}

static void *replay_beside(void *argument)
{
    (void)argument;
    for (uint32_t i = 0; i < ROUNDS(3000); i++) {
        ok(clo_job_submit(c.replay));
        if (i % 3 == 0)
            sched_yield();
        ok(clo_job_wait(c.replay, NULL));
    }
    return NULL;
}

static void many_threads_wait_and_each_job_runs_once_for_each_submit(void **state)
{
    (void)state;
    for (int32_t spin = -1; spin <= 0; spin++) {
        clo_plan_config config = {.size = sizeof config, .planner = &clo_planner_heft};
        clo_plan *plan;
        pthread_t threads[5];

        memset(&c, 0, sizeof c);
        c.f = open_on(3, scene_layers(4, 6, &(clo_task){.body = count_call, .work_ns = 500}), spin, 0);
        ok(clo_plan_create(c.f.cost, &config, &plan));
        c.replay = make_job(&c.f, NULL, plan);
        for (size_t k = 0; k < 3; k++) {
            fixture own = c.f;
            c.graphs[k] = chain(k == 0 ? 1 : TASKS, play, &c.games[k]);
            ok(clo_cost_create(c.graphs[k], c.f.platform, &c.costs[k]));
            own.cost = c.costs[k];
            c.jobs[k] = make_job(&own, NULL, NULL);
        }
        atomic_store(&calls, 0);
        pthread_create(&threads[4], NULL, wait_too, NULL);
        pthread_create(&threads[3], NULL, replay_beside, NULL);
        for (size_t k = 0; k < 3; k++)
            pthread_create(&threads[k], NULL, submit_own, (void *)k);
        for (size_t k = 0; k < 4; k++)
            pthread_join(threads[k], NULL);
        atomic_store(&c.is_over, true);
        pthread_join(threads[4], NULL);
        assert_int_equal(atomic_load(&calls), 24 * ROUNDS(3000));
        for (size_t k = 0; k < 3; k++) {
            assert_int_equal(c.games[k].violations, 0);
            assert_int_equal(c.games[k].seen[0], ROUNDS(6000));
        }
        clo_plan_destroy(plan);
        clo_runtime_destroy(c.f.runtime);
        c.f.runtime = NULL;
        for (size_t k = 0; k < 3; k++) {
            clo_cost_destroy(c.costs[k]);
            clo_graph_destroy(c.graphs[k]);
        }
        stop(&c.f);
    }
}

/* What is left for the submitter is run by others if it never waits, also beside threads that keep all of them busy. */

static void *keep_busy(void *argument)
{
    clo_job *job = argument;

    while (!atomic_load(&c.is_over)) {
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, NULL));
    }
    return NULL;
}

static void a_job_that_nobody_waits_for_runs_all_the_same(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) { /* spinning or not, alone or beside others */
        game g = {.waiter = pthread_self()}, busy[2] = {{.waiter = pthread_self()}, {.waiter = pthread_self()}};
        fixture f = open_on(2, chain(TASKS, play, &g), way % 2 == 0 ? 0 : -1, 0), others[2] = {f, f};
        clo_job *job = make_job(&f, NULL, NULL);
        pthread_t threads[2];

        atomic_store(&c.is_over, false);
        for (int k = 0; k < 2 && way >= 2; k++) {
            others[k].graph = chain(TASKS, play, &busy[k]);
            ok(clo_cost_create(others[k].graph, f.platform, &others[k].cost));
            pthread_create(&threads[k], NULL, keep_busy, make_job(&others[k], NULL, NULL));
        }
        for (uint32_t i = 1; i <= ROUNDS(1000); i++) {
            ok(clo_job_submit(job));
            while (atomic_load(&g.elsewhere) < i * TASKS) /* nobody helps */
                sched_yield();
            ok(clo_job_wait(job, NULL));
        }
        atomic_store(&c.is_over, true);
        for (int k = 0; k < 2 && way >= 2; k++)
            pthread_join(threads[k], NULL);
        assert_int_equal(g.here, 0);
        clo_runtime_destroy(f.runtime);
        f.runtime = NULL;
        for (int k = 0; k < 2 && way >= 2; k++) {
            clo_cost_destroy(others[k].cost);
            clo_graph_destroy(others[k].graph);
        }
        stop(&f);
    }
}

static int until_flag(const clo_call *call)
{
    game *g = call->argument;

    while (call->task == 1 && atomic_load(&g->flag) == 0)
        sched_yield();
    return 0;
}

static void *cancel_it(void *argument)
{
    game *g = argument;

    clo_job_cancel(g->other);
    atomic_store(&g->flag, 1);
    return NULL;
}

static void a_cancel_reaches_a_job_that_its_waiter_runs(void **state)
{
    (void)state;
    game g = {.waiter = pthread_self()};
    fixture f = open_on(2, chain(TASKS, until_flag, &g), 0, 0);

    g.other = make_job(&f, NULL, NULL);
    for (uint32_t i = 0; i < ROUNDS(400); i++) {
        pthread_t thread;
        clo_job_result result = CLO_JOB_RESULT_INIT;

        atomic_store(&g.flag, 0);
        ok(clo_job_submit(g.other));
        pthread_create(&thread, NULL, cancel_it, &g);
        assert_int_equal(clo_job_wait(g.other, &result), CLO_ERR_CANCELLED);
        assert_in_range(result.executed, 0, 2);
        pthread_join(thread, NULL);
    }
    stop(&f);
}

static _Atomic uint32_t timeouts;

static void on_timeout(int number)
{
    (void)number;
    atomic_fetch_add(&timeouts, 1);
}

static void signals_come_to_the_waiting_thread_as_ever(void **state)
{
    (void)state;
    game g = {.waiter = pthread_self()};
    fixture f = open_on(2, chain(TASKS, play, &g), 0, 0);
    clo_job *job = make_job(&f, NULL, NULL);
    struct sigaction action = {.sa_handler = on_timeout}, before;
    struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
    uint32_t rounds = 0;

    sigaction(SIGALRM, &action, &before);
    setitimer(ITIMER_REAL, &often, NULL);
    for (; atomic_load(&timeouts) < 50; rounds++) {
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, NULL));
    }
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &before, NULL);
    assert_int_equal(g.here + g.elsewhere, rounds * TASKS);
    assert_int_equal(g.violations, 0);
    stop(&f);
}

static int64_t cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* A burst keeps one worker on the look-out; after it nobody computes. Until a quiet moment comes: workers that spin get
 * their time late on a busy machine. */
static void after_a_burst_nobody_uses_the_cpu(void **state)
{
    (void)state;
    game g = {.waiter = pthread_self()};
    fixture f = open_on(2, chain(TASKS, play, &g), 0, 0);
    clo_job *job = make_job(&f, NULL, NULL);
    int64_t used_ns;

    for (uint32_t i = 0; i < 1000; i++) {
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, NULL));
    }
    do {
        int64_t before_ns = cpu_ns();
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        used_ns = cpu_ns() - before_ns;
    } while (used_ns > 5000000);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_runs_the_job_unless_told_not_to),
        cmocka_unit_test(a_body_on_a_waiting_thread_may_do_no_more_than_on_a_worker),
        cmocka_unit_test(a_body_may_wait_for_a_job_of_another_runtime),
        cmocka_unit_test(many_threads_wait_and_each_job_runs_once_for_each_submit),
        cmocka_unit_test(a_job_that_nobody_waits_for_runs_all_the_same),
        cmocka_unit_test(a_cancel_reaches_a_job_that_its_waiter_runs),
        cmocka_unit_test(signals_come_to_the_waiting_thread_as_ever),
        cmocka_unit_test(after_a_burst_nobody_uses_the_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
