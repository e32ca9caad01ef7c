/* Jobs of many short bodies that the waiting thread runs alone (run/sharing/serial.c): each body once and in order,
 * whoever runs it, also where the rest of a run goes to the workers in its midst, and where others want them. */
#define _GNU_SOURCE
#include "support.h"

#include "running.h"

#include <clotho/planner.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>

#define ROUNDS(n) (SANITIZED ? (n) / 20 : (n))
/* Runs may be too long for it under a sanitizer. */
#define MUST_HAPPEN (!SANITIZED)
enum { WIDTH = 8, STEPS = 150, TASKS = WIDTH * STEPS };

/* Points of a line, step by step; each needs itself and its neighbours of the step before. Plain counters, so that a
 * missing order is a data race, too. */
typedef struct game {
    uint32_t seen[TASKS];
    _Atomic uint32_t violations, here, elsewhere, flag;
    /* Cancelled runs that the waiting thread had. */
    uint32_t cancelled_here;
    sem_t asked;
    /* Bodies from here on take long. */
    uint32_t long_from;
    pthread_t waiter;
    clo_job *job;
} game;

static int play(const clo_call *call)
{
    game *g = call->argument;
    uint32_t count = ++g->seen[call->task], point = call->task % WIDTH;

    for (uint32_t i = point > 0 ? point - 1 : 0; i <= point + 1 && i < WIDTH && call->task >= WIDTH; i++)
        if (g->seen[call->task - point - WIDTH + i] != count)
            atomic_fetch_add(&g->violations, 1);
    for (uint32_t i = 0; i < 300 && call->task >= g->long_from; i++)
        (void)atomic_load(&g->flag);
    atomic_fetch_add(pthread_equal(pthread_self(), g->waiter) ? &g->here : &g->elsewhere, 1);
    return 0;
}

static clo_graph *line(game *g)
{
    clo_task task = {.body = play, .argument = g};
    clo_graph *graph;

    ok(clo_graph_create("line", &graph));
    for (uint32_t t = 0; t < TASKS; t++)
        ok(clo_graph_add_task(graph, &task, NULL));
    for (uint32_t t = WIDTH; t < TASKS; t++)
        for (uint32_t point = t % WIDTH, i = point > 0 ? point - 1 : 0; i <= point + 1 && i < WIDTH; i++)
            ok(clo_graph_add_edge(graph, t - point - WIDTH + i, t, 0));
    ok(clo_graph_seal(graph));
    return graph;
}

static fixture open_with(clo_graph *graph, int32_t help)
{
    fixture f = {.platform = scene_platform(2, 0), .graph = graph};
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;

    config.unpinned = 1;
    config.help = help;
    ok(clo_cost_create(graph, f.platform, &f.cost));
    ok(clo_runtime_create(f.platform, &config, &f.runtime));
    return f;
}

static void run_once(clo_job *job)
{
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
}

static void a_run_of_short_bodies_is_the_waiting_threads_unless_told_not_to(void **state)
{
    (void)state;
    for (int32_t help = -1; help <= 0; help++) {
        game g = {.waiter = pthread_self(), .long_from = TASKS};
        fixture f = open_with(line(&g), help);
        clo_job *job = make_job(&f, NULL, NULL);
        uint32_t rounds = 1;
        int64_t since_ns = clo_clock_ns();

        run_once(job);
        assert_int_equal(g.here, 0); /* bodies of a first run could be long */
        for (; rounds < ROUNDS(1000) ||
               (MUST_HAPPEN && help == 0 && atomic_load(&g.here) == 0 && may_still_happen(since_ns));
             rounds++)
            run_once(job);
        assert_int_equal(g.here + g.elsewhere, rounds * TASKS);
        assert_int_equal(g.violations, 0);
        if (help < 0)
            assert_int_equal(g.here, 0);
        stop(&f);
        skip_unless_seen(!MUST_HAPPEN || help < 0 || g.here > 0, "the waiting thread never had such a run alone");
    }
}

static void the_workers_get_the_rest_once_bodies_take_long(void **state)
{
    (void)state;
    game g = {.waiter = pthread_self(), .long_from = TASKS / 3};
    fixture f = open_with(line(&g), 0);
    clo_job *job = make_job(&f, NULL, NULL);
    bool has_changed = false;
    int64_t since_ns = clo_clock_ns();

    run_once(job);
    for (uint32_t i = 1; i < ROUNDS(200) || (MUST_HAPPEN && !has_changed && may_still_happen(since_ns)); i++) {
        uint32_t here = atomic_load(&g.here), elsewhere = atomic_load(&g.elsewhere);
        run_once(job);
        has_changed |= atomic_load(&g.here) > here && atomic_load(&g.elsewhere) > elsewhere;
    }
    assert_int_equal((g.here + g.elsewhere) % TASKS, 0);
    assert_int_equal(g.violations, 0);
    stop(&f);
    skip_unless_seen(!MUST_HAPPEN || has_changed, "the waiting thread never had such a run alone");
}

/* One task releases more than a deque takes. */

enum { LEAVES = 5000 };

static int count_leaf(const clo_call *call)
{
    atomic_fetch_add((_Atomic uint32_t *)call->argument, 1);
    return 0;
}

static void more_than_a_deque_takes_is_for_all_workers(void **state)
{
    (void)state;
    _Atomic uint32_t leaves = 0;
    clo_task task = {.body = count_leaf, .argument = &leaves};
    clo_graph *graph;

    ok(clo_graph_create("fan", &graph));
    for (uint32_t t = 0; t < LEAVES + 3; t++)
        ok(clo_graph_add_task(graph, &task, NULL));
    for (uint32_t t = 1; t < 3; t++)
        ok(clo_graph_add_edge(graph, t - 1, t, 0));
    for (uint32_t t = 3; t < LEAVES + 3; t++)
        ok(clo_graph_add_edge(graph, 2, t, 0));
    ok(clo_graph_seal(graph));
    fixture f = open_with(graph, 0);
    clo_job *job = make_job(&f, NULL, NULL);
    for (uint32_t i = 1; i <= ROUNDS(400); i++) {
        run_once(job);
        assert_int_equal(atomic_load(&leaves), i * (LEAVES + 3));
    }
    stop(&f);
}

/* A chain gives the clock no reason to be read: only the cancel ends such a run early. The body in the middle asks for
 * it and waits until it is there. */

enum { FLAG_NONE, FLAG_WANTED, FLAG_GIVEN };

static int ask_in_the_middle(const clo_call *call)
{
    game *g = call->argument;
    bool is_here = pthread_equal(pthread_self(), g->waiter) != 0;

    if (call->task == TASKS / 2 && atomic_load(&g->flag) == FLAG_WANTED) {
        g->cancelled_here += is_here;
        sem_post(&g->asked);
        while (atomic_load(&g->flag) != FLAG_GIVEN)
            sched_yield();
    }
    atomic_fetch_add(is_here ? &g->here : &g->elsewhere, 1);
    return 0;
}

static void *cancel_when_asked(void *argument)
{
    game *g = argument;

    while (sem_wait(&g->asked) == 0 && g->job != NULL) {
        clo_job_cancel(g->job);
        atomic_store(&g->flag, FLAG_GIVEN);
    }
    return NULL;
}

static clo_graph *chain(game *g)
{
    clo_task task = {.body = ask_in_the_middle, .argument = g};
    clo_graph *graph;

    ok(clo_graph_create("chain", &graph));
    for (uint32_t t = 0; t < TASKS; t++)
        ok(clo_graph_add_task(graph, &task, NULL));
    for (uint32_t t = 1; t < TASKS; t++)
        ok(clo_graph_add_edge(graph, t - 1, t, 0));
    ok(clo_graph_seal(graph));
    return graph;
}

static void a_cancel_reaches_a_run_that_its_waiter_has_alone(void **state)
{
    (void)state;
    game g = {.waiter = pthread_self()};
    fixture f = open_with(chain(&g), 0);
    pthread_t thread;
    int64_t since_ns = clo_clock_ns();

    sem_init(&g.asked, 0, 0);
    clo_job *job = g.job = make_job(&f, NULL, NULL);
    pthread_create(&thread, NULL, cancel_when_asked, &g);
    for (uint32_t i = 0; i < ROUNDS(400) || (MUST_HAPPEN && g.cancelled_here == 0 && may_still_happen(since_ns)); i++) {
        clo_job_result result = CLO_JOB_RESULT_INIT;

        run_once(job); /* twice: its time decides who has the next, and one in 32 is had by the other side */
        run_once(job);
        atomic_store(&g.flag, FLAG_WANTED);
        ok(clo_job_submit(job));
        assert_int_equal(clo_job_wait(job, &result), CLO_ERR_CANCELLED);
        assert_int_equal(result.executed, TASKS / 2 + 1);
        atomic_store(&g.flag, FLAG_NONE);
    }
    g.job = NULL; /* the end of the other thread */
    sem_post(&g.asked);
    pthread_join(thread, NULL);
    sem_destroy(&g.asked);
    stop(&f);
    skip_unless_seen(!MUST_HAPPEN || g.cancelled_here > 0, "the waiting thread never had such a run alone");
}

/* Threads with a job each and too few workers for them, beside a job that only certain workers run; now and then one
 * does not wait at once. */

static fixture shared;
static game games[3];

static void *submit_own(void *argument)
{
    game *g = argument;

    for (uint32_t i = 0; i < ROUNDS(1000); i++) {
        ok(clo_job_submit(g->job));
        for (uint32_t k = 0; k < i % 4; k++)
            sched_yield();
        ok(clo_job_wait(g->job, NULL));
    }
    return NULL;
}

static void many_threads_share_the_workers_and_each_body_runs_once(void **state)
{
    (void)state;
    clo_plan_config config = {.size = sizeof config, .planner = &clo_planner_heft};
    clo_cost *costs[3];
    clo_graph *graphs[3];
    clo_plan *plan = NULL;
    pthread_t threads[3];

    memset(games, 0, sizeof games);
    for (size_t k = 0; k < 3; k++) {
        games[k].long_from = k == 1 ? TASKS - 100 : TASKS;
        graphs[k] = line(&games[k]);
    }
    shared = open_with(graphs[0], 0);
    costs[0] = shared.cost;
    for (size_t k = 0; k < 3; k++) {
        fixture own = shared;
        if (k > 0)
            ok(clo_cost_create(graphs[k], shared.platform, &costs[k]));
        own.cost = costs[k];
        if (k == 2)
            ok(clo_plan_create(own.cost, &config, &plan));
        games[k].job = make_job(&own, NULL, plan);
        pthread_create(&threads[k], NULL, submit_own, &games[k]);
    }
    for (size_t k = 0; k < 3; k++)
        pthread_join(threads[k], NULL);
    for (size_t k = 0; k < 3; k++) {
        assert_int_equal(games[k].violations, 0);
        assert_int_equal(games[k].seen[0], ROUNDS(1000));
        assert_int_equal(games[k].seen[TASKS - 1], ROUNDS(1000));
    }
    clo_plan_destroy(plan);
    clo_runtime_destroy(shared.runtime);
    shared.runtime = NULL;
    for (size_t k = 1; k < 3; k++) {
        clo_cost_destroy(costs[k]);
        clo_graph_destroy(graphs[k]);
    }
    stop(&shared);
}

static void a_job_that_nobody_waits_for_runs_all_the_same(void **state)
{
    (void)state;
    game g = {.waiter = pthread_self(), .long_from = TASKS};
    fixture f = open_with(line(&g), 0);
    clo_job *job = make_job(&f, NULL, NULL);

    for (uint32_t i = 1; i <= ROUNDS(400); i++) {
        ok(clo_job_submit(job));
        while (atomic_load(&g.elsewhere) < i * TASKS) /* nobody helps */
            sched_yield();
        ok(clo_job_wait(job, NULL));
    }
    assert_int_equal(g.here, 0);
    assert_int_equal(g.violations, 0);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_of_short_bodies_is_the_waiting_threads_unless_told_not_to),
        cmocka_unit_test(the_workers_get_the_rest_once_bodies_take_long),
        cmocka_unit_test(more_than_a_deque_takes_is_for_all_workers),
        cmocka_unit_test(a_cancel_reaches_a_run_that_its_waiter_has_alone),
        cmocka_unit_test(many_threads_share_the_workers_and_each_body_runs_once),
        cmocka_unit_test(a_job_that_nobody_waits_for_runs_all_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
