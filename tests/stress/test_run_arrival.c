/* A job with many tasks that are ready at once arrives in pieces (engine/scheduler/enter.c) on real workers:
 * completions, the end of other jobs, a cancellation and a new policy are served between two pieces, and the log
 * repeats all of it. So does a cancelled job leave, and so is a new policy shown what lives. The policy of these tests
 * waits inside an arrival, so that there is something to serve. Mutation: in combine of run/scheduler/combining.c do
 * all pieces before the next look at the records (the first three tests, and that of the policy that is shown what
 * lives), or leave tell_ended out of go_on (the first). */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include "running.h"
#include "trace/log_kinds.h"

#include <clotho/stream.h>

#include <pthread.h>
#include <time.h>

enum { PIECE = CLO_LOG_PIECE, PIECES = 12, TRIES = 6, SMALL = 0, LARGE = 1, COSTS = 2 };

static clo_policy slow; /* fifo that calls `hook` */
static const clo_policy *fifo;
static void (*hook)(uint32_t entered); /* of the job with tag LARGE: tasks that are ready so far */
static uint32_t entered;
static long wait_us;
static _Atomic uint32_t go, is_running, is_told, told_in_time, may_act, has_acted;

static void rest_us(long us)
{
    nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL);
}

static void wait_for(_Atomic uint32_t *flag)
{
    while (atomic_load(flag) == 0)
        rest_us(50);
}

static void slow_event(void *state, const clo_view *view, const clo_event *event)
{
    fifo->event(state, view, event);
    if (event->kind == CLO_EVENT_ARRIVE)
        entered = 0;
    if (event->kind == CLO_EVENT_READY && event->executor == CLO_NONE && hook != NULL)
        hook(++entered);
}

/* Begins, and ends when it may. */
static int wait_to_go(const clo_call *call)
{
    (void)call;
    atomic_store(&is_running, 1);
    wait_for(&go);
    return 0;
}

static clo_graph *small_graph(void)
{
    clo_task task = {.body = wait_to_go, .work_ns = 1000};
    clo_graph *graph;

    ok(clo_graph_create("small", &graph));
    for (uint32_t t = 0; t < 3; t++) {
        ok(clo_graph_add_task(graph, &task, NULL));
        if (t > 0)
            ok(clo_graph_add_edge(graph, t - 1, t, 0));
    }
    ok(clo_graph_seal(graph));
    return graph;
}

static clo_graph *large_graph(uint32_t tasks)
{
    clo_task task = {.body = count_call, .work_ns = 1000};
    clo_graph *graph;

    ok(clo_graph_create("large", &graph));
    for (uint32_t t = 0; t < tasks; t++)
        ok(clo_graph_add_task(graph, &task, NULL));
    ok(clo_graph_seal(graph));
    return graph;
}

/* A runtime with a log. */
typedef struct setting {
    fixture f; /* graph and cost of the large job */
    clo_graph *small;
    clo_cost *small_cost;
    clo_log *log;
} setting;

static setting open_setting(void)
{
    setting s = {.f = start(2, large_graph(PIECES * PIECE), CLO_CLOCK_REAL), .small = small_graph()};

    fifo = clo_policy_find("fifo");
    slow = *fifo;
    slow.name = "slow";
    slow.event = slow_event;
    hook = NULL;
    _Atomic uint32_t *const flags[] = {&go, &is_running, &is_told, &told_in_time, &may_act, &has_acted, &calls};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        atomic_store(flags[i], 0);
    ok(clo_cost_create(s.small, s.f.platform, &s.small_cost));
    ok(clo_log_create(NULL, 200000, &s.log));
    ok(clo_runtime_log_start(s.f.runtime, s.log));
    return s;
}

static clo_job *make(const setting *s, uint32_t tag)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    config.policy = &slow;
    config.tag = config.band = tag;
    ok(clo_job_create(s->f.runtime, tag == LARGE ? s->f.cost : s->small_cost, &config, &job));
    return job;
}

static void check_replay(const setting *s)
{
    const clo_log_header *about = clo_log_about(s->log);
    clo_replay_config config = CLO_REPLAY_CONFIG_INIT;
    clo_replay_policy policies[CLO_LOG_POLICIES_MAX] = {{0}};
    const clo_cost *costs[COSTS] = {s->small_cost, s->f.cost};

    hook = NULL;
    for (uint32_t p = 0; p < about->policies_count; p++)
        policies[p].policy =
            strcmp(about->policies[p].name, slow.name) == 0 ? &slow : clo_policy_find(about->policies[p].name);
    config.platform = s->f.platform;
    config.costs = costs;
    config.costs_count = COSTS;
    config.policies = policies;
    config.policies_count = about->policies_count;
    ok(clo_stream_replay(&config, s->log, NULL));
}

static void close_setting(setting *s)
{
    ok(clo_runtime_log_stop(s->f.runtime));
    check_replay(s);
    clo_log_destroy(s->log);
    stop(&s->f);
    clo_cost_destroy(s->small_cost);
    clo_graph_destroy(s->small);
}

/* Records of a kind behind the first one of `piece` and before the last one. */
static uint32_t between_pieces(const setting *s, uint32_t piece, uint32_t what)
{
    size_t count, first = SIZE_MAX, last = 0;
    const clo_log_record *records = clo_log_records(s->log, &count);
    uint32_t found = 0;

    for (size_t i = 0; i < count; i++)
        if (records[i].what == piece) {
            first = first == SIZE_MAX ? i : first;
            last = i;
        }
    for (size_t i = first; i < last && first != SIZE_MAX; i++)
        found += records[i].what == what;
    return found;
}

static uint32_t between(const setting *s, uint32_t what)
{
    return between_pieces(s, CLO_LOG_ENTER, what);
}

static uint32_t all_of(const setting *s, uint32_t what)
{
    size_t count;
    const clo_log_record *records = clo_log_records(s->log, &count);
    uint32_t found = 0;

    for (size_t i = 0; i < count; i++)
        found += records[i].what == what;
    return found;
}

static void *wait_for_small(void *job)
{
    ok(clo_job_wait(job, NULL));
    atomic_store(&is_told, 1);
    return NULL;
}

/* The second piece lets the body go on; each later one leaves it some time. */
static void let_small_end(uint32_t ready)
{
    if (ready == PIECE + 1)
        atomic_store(&go, 1);
    if (ready > PIECE && ready % PIECE == 0)
        rest_us(wait_us);
    if (ready == PIECES * PIECE)
        atomic_store(&told_in_time, atomic_load(&is_told));
}

static void another_job_runs_and_ends_while_one_enters(void **state)
{
    bool is_served = false;

    (void)state;
    wait_us = 1000;
    for (uint32_t i = 0; i < TRIES && !is_served; i++, wait_us *= 2) { /* a worker may have no CPU for so long */
        setting s = open_setting();
        clo_job *small = make(&s, SMALL), *large = make(&s, LARGE);
        pthread_t waiter;
        ok(clo_job_submit(small));
        wait_for(&is_running);
        assert_int_equal(pthread_create(&waiter, NULL, wait_for_small, small), 0);
        hook = let_small_end;
        ok(clo_job_submit(large));
        ok(clo_job_wait(large, NULL));
        pthread_join(waiter, NULL);
        assert_int_equal(atomic_load(&calls), PIECES * PIECE);
        ok(clo_runtime_log_stop(s.f.runtime));
        is_served = between(&s, CLO_LOG_FINISH) >= 3 && between(&s, CLO_LOG_START) >= 2 &&
                    between(&s, CLO_LOG_DONE) == 1 && atomic_load(&told_in_time) != 0;
        close_setting(&s);
    }
    assert_true(is_served);
}

static void wait_for_act(uint32_t ready)
{
    if (ready != PIECE + 10)
        return;
    atomic_store(&may_act, 1);
    wait_for(&has_acted);
}

static void *cancel(void *job)
{
    wait_for(&may_act);
    clo_job_cancel(job);
    atomic_store(&has_acted, 1);
    return NULL;
}

static void the_rest_of_a_job_that_is_cancelled_does_not_enter(void **state)
{
    setting s = open_setting();
    clo_job *large = make(&s, LARGE);
    pthread_t canceller;

    (void)state;
    hook = wait_for_act;
    assert_int_equal(pthread_create(&canceller, NULL, cancel, large), 0);
    ok(clo_job_submit(large));
    fails(CLO_ERR_CANCELLED, "", clo_job_wait(large, NULL));
    pthread_join(canceller, NULL);
    assert_int_equal(atomic_load(&calls), 0); /* nothing else had been asked for: nothing was decided */
    hook = NULL;
    ok(clo_job_submit(large)); /* once more, to its end */
    ok(clo_job_wait(large, NULL));
    assert_int_equal(atomic_load(&calls), PIECES * PIECE);
    ok(clo_runtime_log_stop(s.f.runtime));
    assert_int_equal(all_of(&s, CLO_LOG_ENTER), 1 + PIECES - 1);
    assert_int_equal(all_of(&s, CLO_LOG_CANCEL), 1);
    close_setting(&s);
}

static void wait_each_piece(uint32_t ready)
{
    if (ready == PIECE + 1)
        atomic_store(&may_act, 1);
    if (ready > PIECE && ready % PIECE == 0)
        rest_us(wait_us);
}

static void *swap(void *runtime)
{
    wait_for(&may_act);
    ok(clo_runtime_swap_policy(runtime, clo_policy_find("eft"), NULL));
    return NULL;
}

static void a_new_policy_comes_while_a_job_enters(void **state)
{
    bool is_swapped = false;

    (void)state;
    wait_us = 1000;
    for (uint32_t i = 0; i < TRIES && !is_swapped; i++, wait_us *= 2) {
        setting s = open_setting();
        clo_job *large = make(&s, LARGE);
        pthread_t swapper;
        hook = wait_each_piece;
        assert_int_equal(pthread_create(&swapper, NULL, swap, s.f.runtime), 0);
        ok(clo_job_submit(large));
        ok(clo_job_wait(large, NULL));
        pthread_join(swapper, NULL);
        assert_int_equal(atomic_load(&calls), PIECES * PIECE);
        ok(clo_runtime_log_stop(s.f.runtime));
        is_swapped = between(&s, CLO_LOG_SWAP) == 1;
        close_setting(&s);
    }
    assert_true(is_swapped);
}

/* Both workers wait in bodies of small jobs, and a large one has entered. */
static clo_job *enter_beside_bodies(const setting *s, clo_job *small[2])
{
    clo_job *large = make(s, LARGE);

    for (uint32_t i = 0; i < 2; i++) {
        atomic_store(&is_running, 0);
        small[i] = make(s, SMALL);
        ok(clo_job_submit(small[i]));
        wait_for(&is_running);
    }
    ok(clo_job_submit(large));
    return large;
}

static void other_jobs_end_while_a_policy_is_shown_what_lives(void **state)
{
    bool is_served = false;

    (void)state;
    wait_us = 1000;
    for (uint32_t i = 0; i < TRIES && !is_served; i++, wait_us *= 2) {
        setting s = open_setting();
        clo_job *small[2], *large = enter_beside_bodies(&s, small);
        pthread_t waiter;
        assert_int_equal(pthread_create(&waiter, NULL, wait_for_small, small[0]), 0);
        hook = let_small_end;
        ok(clo_runtime_swap_policy(s.f.runtime, &slow, NULL)); /* to the same one, which knows nothing again */
        ok(clo_job_wait(large, NULL));
        ok(clo_job_wait(small[1], NULL));
        pthread_join(waiter, NULL);
        assert_int_equal(atomic_load(&calls), PIECES * PIECE);
        ok(clo_runtime_log_stop(s.f.runtime));
        is_served = between_pieces(&s, CLO_LOG_MORE, CLO_LOG_FINISH) >= 3 &&
                    between_pieces(&s, CLO_LOG_MORE, CLO_LOG_START) >= 2 &&
                    between_pieces(&s, CLO_LOG_MORE, CLO_LOG_DONE) > 0 && atomic_load(&told_in_time) != 0;
        close_setting(&s);
    }
    assert_true(is_served);
}

static void a_job_that_is_cancelled_leaves_in_pieces(void **state)
{
    setting s = open_setting();
    clo_job *small[2], *large = enter_beside_bodies(&s, small);

    (void)state;
    clo_job_cancel(large);
    fails(CLO_ERR_CANCELLED, "", clo_job_wait(large, NULL));
    atomic_store(&go, 1);
    for (uint32_t i = 0; i < 2; i++)
        ok(clo_job_wait(small[i], NULL));
    assert_int_equal(atomic_load(&calls), 0);
    ok(clo_job_submit(large)); /* once more, to its end */
    ok(clo_job_wait(large, NULL));
    assert_int_equal(atomic_load(&calls), PIECES * PIECE);
    ok(clo_runtime_log_stop(s.f.runtime));
    assert_int_equal(all_of(&s, CLO_LOG_MORE), PIECES - 1);
    assert_int_equal(between_pieces(&s, CLO_LOG_MORE, CLO_LOG_DONE), 0);
    close_setting(&s);
}

typedef struct submitter {
    clo_job *job;
    pthread_t thread;
    uint32_t times, cancelled; /* every so many times; 0: never */
} submitter;

static void *submit_often(void *argument)
{
    const submitter *me = argument;

    for (uint32_t i = 1; i <= me->times; i++) {
        ok(clo_job_submit(me->job));
        if (me->cancelled != 0 && i % me->cancelled == 0)
            clo_job_cancel(me->job);
        clo_status status = clo_job_wait(me->job, NULL);
        assert_true(status == CLO_OK || (status == CLO_ERR_CANCELLED && me->cancelled != 0));
    }
    return NULL;
}

static void jobs_arrive_at_the_same_time(void **state)
{
    enum { LARGE_TIMES = SANITIZED ? 2 : 6, SMALL_TIMES = SANITIZED ? 100 : 1000 };
    setting s = open_setting();
    submitter all[] = {{.job = make(&s, LARGE), .times = LARGE_TIMES},
                       {.job = make(&s, LARGE), .times = LARGE_TIMES},
                       {.job = make(&s, LARGE), .times = LARGE_TIMES, .cancelled = 2},
                       {.job = make(&s, SMALL), .times = SMALL_TIMES, .cancelled = 7}};

    (void)state;
    atomic_store(&go, 1);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        assert_int_equal(pthread_create(&all[i].thread, NULL, submit_often, &all[i]), 0);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        pthread_join(all[i].thread, NULL);
    assert_true(atomic_load(&calls) >= (uint32_t)(2 * LARGE_TIMES * PIECES * PIECE));
    close_setting(&s);
}

/* Alone a job enters as a whole before anything is decided: as in the simulator, and in a recorded run. */
static void a_job_alone_is_decided_as_in_the_simulator(void **state)
{
    static const clo_clock clocks[] = {CLO_CLOCK_VIRTUAL, CLO_CLOCK_REAL};
    static const char *const names[] = {"fifo", "eft", "rank", "tetris"};

    (void)state;
    for (size_t c = 0; c < 2; c++)
        for (size_t p = 0; p < sizeof names / sizeof names[0]; p++) {
            fixture f = start(2, large_graph(2 * PIECE + 3), clocks[c]);
            clo_job *job = make_job(&f, clo_policy_find(names[p]), NULL);
            clo_job_result real = CLO_JOB_RESULT_INIT, simulated = CLO_JOB_RESULT_INIT;
            clo_sim_config config = CLO_SIM_CONFIG_INIT;
            clo_trace *trace;
            ok(clo_job_submit(job));
            ok(clo_job_wait(job, &real));
            ok(clo_job_trace(job, &trace));
            config.policy = clo_policy_find(names[p]);
            config.recorded = clocks[c] == CLO_CLOCK_REAL ? trace : NULL;
            ok(clo_simulate(f.cost, &config, &simulated, NULL, NULL));
            assert_int_equal(real.executed, simulated.executed);
            if (clocks[c] == CLO_CLOCK_VIRTUAL)
                assert_int_equal(real.makespan_ns, simulated.makespan_ns);
            clo_trace_destroy(trace);
            stop(&f);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_job_runs_and_ends_while_one_enters),
        cmocka_unit_test(the_rest_of_a_job_that_is_cancelled_does_not_enter),
        cmocka_unit_test(a_new_policy_comes_while_a_job_enters),
        cmocka_unit_test(other_jobs_end_while_a_policy_is_shown_what_lives),
        cmocka_unit_test(a_job_that_is_cancelled_leaves_in_pieces),
        cmocka_unit_test(jobs_arrive_at_the_same_time),
        cmocka_unit_test(a_job_alone_is_decided_as_in_the_simulator),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
