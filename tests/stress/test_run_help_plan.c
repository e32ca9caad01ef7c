/* A thread that waits for a short planned job stands in for all workers of the plan (run/dispatch/unshared.c): bodies
 * run in an order that the plan allows, each as its executor, one at a time on each executor, whoever runs them; and
 * what such a thread leaves goes to these workers. */
#define _GNU_SOURCE
#include "support.h"

#include "running.h"

#include <clotho/planner.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#define ROUNDS(n) (SANITIZED ? (n) / 20 : (n))
enum { SIDE = 6, TASKS = SIDE * SIDE, WORKERS = 3, CROWD = 3 };

/* Bodies that run on each executor, of whatever job: more than one at a time is wrong. */
static _Atomic uint32_t busy[WORKERS];
static _Atomic uint32_t wrong_order, wrong_place, at_once;

/* A wavefront on the first `spread` executors. Where that is all and none of the workers looks for work, the thread
 * must leave it to them: else nobody would run it if that thread never waited. Plain counters, so that a missing order
 * is a data race, too. */
typedef struct game {
    uint32_t seen[TASKS];
    /* Of executors that it uses. */
    uint32_t spread;
    _Atomic uint32_t here, elsewhere;
    pthread_t waiter;
    /* Of the task that fails or is slow. */
    uint32_t odd;
    int code;
    long sleeps_us;
} game;

static uint32_t place_of(const game *g, uint32_t task)
{
    return (task % SIDE + task / SIDE) % g->spread;
}

static int play(const clo_call *call)
{
    game *g = call->argument;
    uint32_t t = call->task;

    atomic_fetch_add(&at_once, atomic_fetch_add(&busy[call->executor], 1) != 0);
    atomic_fetch_add(&wrong_place, call->executor != place_of(g, t));
    uint32_t count = ++g->seen[t];
    atomic_fetch_add(&wrong_order,
                     (t % SIDE > 0 && g->seen[t - 1] != count) || (t >= SIDE && g->seen[t - SIDE] != count));
    atomic_fetch_add(pthread_equal(pthread_self(), g->waiter) ? &g->here : &g->elsewhere, 1);
    if (g->sleeps_us > 0 && (t == g->odd || g->odd == CLO_NONE))
        nanosleep(&(struct timespec){0, g->sleeps_us * 1000}, NULL);
    atomic_fetch_sub(&busy[call->executor], 1);
    return t == g->odd ? g->code : 0;
}

/* Each task may run on its executor only, so every plan has it there. */
static clo_graph *wavefront(game *g)
{
    clo_task task = {.body = play, .argument = g, .work_ns = 100};
    clo_graph *graph;

    ok(clo_graph_create("wavefront", &graph));
    for (uint32_t t = 0; t < TASKS; t++) {
        uint32_t executor = place_of(g, t);
        ok(clo_graph_add_task(graph, &task, NULL));
        ok(clo_graph_set_executors(graph, t, &executor, 1));
    }
    for (uint32_t t = 0; t < TASKS; t++) {
        if (t % SIDE + 1 < SIDE)
            ok(clo_graph_add_edge(graph, t, t + 1, 0));
        if (t + SIDE < TASKS)
            ok(clo_graph_add_edge(graph, t, t + SIDE, 0));
    }
    ok(clo_graph_seal(graph));
    return graph;
}

static clo_plan *plan_of(const clo_cost *cost)
{
    clo_plan_config config = {.size = sizeof config, .planner = &clo_planner_heft};
    clo_plan *plan;

    ok(clo_plan_create(cost, &config, &plan));
    return plan;
}

static fixture open_game(game *g, uint32_t spread, int32_t help, int64_t spin_ns)
{
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;

    *g = (game){.spread = spread, .waiter = pthread_self(), .odd = CLO_NONE};
    atomic_store(&wrong_order, 0);
    atomic_store(&wrong_place, 0);
    atomic_store(&at_once, 0);
    fixture f = {.platform = scene_platform(WORKERS, 0), .graph = wavefront(g)};
    config.unpinned = 1;
    config.help = help;
    config.spin_ns = spin_ns;
    ok(clo_cost_create(f.graph, f.platform, &f.cost));
    ok(clo_runtime_create(f.platform, &config, &f.runtime));
    return f;
}

static void check_game(const game *g, uint32_t rounds)
{
    assert_int_equal(g->here + g->elsewhere, rounds * TASKS);
    assert_int_equal(wrong_order, 0);
    assert_int_equal(wrong_place, 0);
    assert_int_equal(at_once, 0);
}

static void who_waits_runs_a_plan_unless_told_not_to(void **state)
{
    (void)state;
    for (int32_t help = -1; help <= 1; help++)
        for (uint32_t spread = 1; spread <= WORKERS; spread++) {
            game g;
            fixture f = open_game(&g, spread, help, help == 1 ? -1 : 0);
            clo_plan *plan = plan_of(f.cost);
            clo_job *job = make_job(&f, NULL, plan);
            bool should_happen = help >= 0 && spread < WORKERS;
            uint32_t rounds = 0;
            int64_t since_ns = clo_clock_ns();

            for (; rounds < ROUNDS(400) || (should_happen && g.here == 0 && may_still_happen(since_ns)); rounds++) {
                ok(clo_job_submit(job));
                ok(clo_job_wait(job, NULL));
            }
            check_game(&g, rounds);
            if (help < 0)
                assert_int_equal(g.here, 0);
            uint32_t here = g.here;
            for (uint32_t i = 0; i < ROUNDS(100); i++, rounds++) { /* a wait with a limit does not help */
                ok(clo_job_submit(job));
                while (clo_job_wait_for(job, 1000000, NULL) == CLO_ERR_TIMEOUT)
                    ;
            }
            assert_int_equal(g.here, here);
            check_game(&g, rounds);
            clo_job_destroy(job);
            clo_plan_destroy(plan);
            stop(&f);
            skip_unless_seen(!should_happen || here > 0, "the waiting thread never had a planned run");
        }
}

/* Bodies that take long whatever was declared: their workers get them, and once more are asked for later. */
static void long_bodies_go_to_their_workers(void **state)
{
    game g;
    fixture f = open_game(&g, 2, 0, 0);
    clo_plan *plan = plan_of(f.cost);
    clo_job *job = make_job(&f, NULL, plan);
    uint32_t rounds = 0;
    int64_t since_ns = clo_clock_ns();

    (void)state;
    for (; rounds < ROUNDS(200) || (g.here == 0 && may_still_happen(since_ns)); rounds++) {
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, NULL));
    }
    g.sleeps_us = 100;
    uint32_t before = g.elsewhere;
    for (uint32_t i = 0; i < 10 || g.elsewhere == before; i++, rounds++) { /* until some were given away */
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, NULL));
    }
    g.sleeps_us = 0;
    uint32_t here = g.here;
    since_ns = clo_clock_ns();
    for (uint32_t i = 0; i < 100 || (g.here == here && may_still_happen(since_ns));
         i++, rounds++) { /* until it is tried again */
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, NULL));
    }
    check_game(&g, rounds);
    clo_job_destroy(job);
    clo_plan_destroy(plan);
    stop(&f);
    skip_unless_seen(g.here > here, "the waiting thread never had a planned run again");
}

static void a_failed_run_is_cut_and_the_next_one_is_whole(void **state)
{
    game g;
    fixture f = open_game(&g, 2, 0, 0);
    clo_plan *plan = plan_of(f.cost);
    clo_job *job = make_job(&f, NULL, plan);
    clo_job_result result = CLO_JOB_RESULT_INIT;
    int64_t since_ns = clo_clock_ns();

    (void)state;
    for (uint32_t i = 0; i < ROUNDS(400) || (g.here == 0 && may_still_happen(since_ns)); i++) {
        memset(g.seen, 0, sizeof g.seen);
        g.odd = i % TASKS;
        g.code = i % 2 == 0 ? 7 : 0;
        ok(clo_job_submit(job));
        assert_int_equal(clo_job_wait(job, &result), g.code != 0 ? CLO_ERR_TASK : CLO_OK);
        if (g.code != 0) {
            assert_int_equal(result.failed_task, g.odd);
            assert_int_equal(g.seen[TASKS - 1], g.odd == TASKS - 1);
        } else {
            assert_int_equal(result.executed, TASKS);
        }
    }
    assert_int_equal(wrong_order + wrong_place + at_once, 0);
    clo_job_destroy(job);
    clo_plan_destroy(plan);
    stop(&f);
    skip_unless_seen(g.here > 0, "the waiting thread never had a planned run");
}

/* Planned jobs of several threads, with one, two and three executors, beside one that others take: each thread stands
 * in for workers that the others want. */
static struct {
    fixture f, own[CROWD];
    game games[CROWD];
    clo_job *jobs[CROWD];
    _Atomic bool is_over;
} c;

static void *submit_own(void *argument)
{
    size_t k = (size_t)argument;

    c.games[k].waiter = pthread_self();
    for (uint32_t i = 0; i < ROUNDS(6000); i++)
        if (clo_job_submit(c.jobs[k]) != CLO_OK || clo_job_wait(c.jobs[k], NULL) != CLO_OK)
            return "a run failed";
    return NULL;
}

static void *steal_beside(void *argument)
{
    clo_job *job = argument;

    while (!atomic_load(&c.is_over))
        if (clo_job_submit(job) != CLO_OK || clo_job_wait(job, NULL) != CLO_OK)
            return "a run of work stealing failed";
    return NULL;
}

static void threads_that_want_the_same_workers_take_turns(void **state)
{
    (void)state;
    for (int64_t spin_ns = -1; spin_ns <= 0; spin_ns++) {
        pthread_t threads[CROWD + 1];
        clo_plan *plans[CROWD];
        void *what;
        game unused;

        c.f = open_game(&unused, 1, 0, spin_ns);
        fixture layers = c.f;
        layers.graph = scene_layers(4, 6, &(clo_task){.body = count_call, .work_ns = 500});
        ok(clo_cost_create(layers.graph, layers.platform, &layers.cost));
        clo_job *stealing = make_job(&layers, NULL, NULL);
        for (uint32_t k = 0; k < CROWD; k++) {
            c.games[k] = (game){.spread = 1 + k, .odd = CLO_NONE};
            c.own[k] = c.f;
            c.own[k].graph = wavefront(&c.games[k]);
            ok(clo_cost_create(c.own[k].graph, c.f.platform, &c.own[k].cost));
            plans[k] = plan_of(c.own[k].cost);
            c.jobs[k] = make_job(&c.own[k], NULL, plans[k]);
        }
        atomic_store(&c.is_over, false);
        pthread_create(&threads[CROWD], NULL, steal_beside, stealing);
        for (size_t k = 0; k < CROWD; k++)
            pthread_create(&threads[k], NULL, submit_own, (void *)k);
        for (size_t k = 0; k <= CROWD; k++) {
            atomic_store(&c.is_over, k == CROWD);
            pthread_join(threads[k], &what);
            assert_null(what);
        }
        for (uint32_t k = 0; k < CROWD; k++) {
            check_game(&c.games[k], ROUNDS(6000));
            clo_job_destroy(c.jobs[k]);
            clo_plan_destroy(plans[k]);
            clo_cost_destroy(c.own[k].cost);
            clo_graph_destroy(c.own[k].graph);
        }
        clo_job_destroy(stealing);
        clo_cost_destroy(layers.cost);
        clo_graph_destroy(layers.graph);
        stop(&c.f);
    }
}

/* What is left for a thread that never waits is run by the workers. */
static void a_plan_that_nobody_waits_for_runs_all_the_same(void **state)
{
    (void)state;
    for (int64_t spin_ns = -1; spin_ns <= 0; spin_ns++) {
        game g;
        fixture f = open_game(&g, 2, 0, spin_ns);
        clo_plan *plan = plan_of(f.cost);
        clo_job *job = make_job(&f, NULL, plan);

        for (uint32_t i = 1; i <= ROUNDS(1000); i++) {
            ok(clo_job_submit(job));
            while (atomic_load(&g.elsewhere) < i * TASKS)
                sched_yield();
            ok(clo_job_wait(job, NULL));
        }
        check_game(&g, ROUNDS(1000));
        assert_int_equal(g.here, 0);
        clo_job_destroy(job);
        clo_plan_destroy(plan);
        stop(&f);
    }
}

/* Another plan comes between runs, and other jobs of the same thread in between. */
static void plans_are_swapped_between_runs_that_one_thread_runs(void **state)
{
    game g;
    fixture f = open_game(&g, 2, 0, 0);
    clo_plan *plan = plan_of(f.cost);
    clo_job *job = make_job(&f, NULL, plan);

    (void)state;
    for (uint32_t i = 0; i < ROUNDS(1000); i++) {
        if (i % 3 == 0)
            ok(clo_job_swap_plan(job, plan));
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, NULL));
    }
    check_game(&g, ROUNDS(1000));
    clo_job_destroy(job);
    clo_plan_destroy(plan);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_runs_a_plan_unless_told_not_to),
        cmocka_unit_test(long_bodies_go_to_their_workers),
        cmocka_unit_test(a_failed_run_is_cut_and_the_next_one_is_whole),
        cmocka_unit_test(threads_that_want_the_same_workers_take_turns),
        cmocka_unit_test(a_plan_that_nobody_waits_for_runs_all_the_same),
        cmocka_unit_test(plans_are_swapped_between_runs_that_one_thread_runs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
