/* How a job ends is decided once: who waits, who waits again, the counters of the job, its bodies and the scheduler's
 * log tell the same end, whenever it is cancelled, aborted or fails. All kinds of jobs, many rounds, each with a cancel
 * that comes beside the last bodies. */
#define _GNU_SOURCE
#include "support.h"

#include "driver.h"
#include "ways.h"

#include "base/clock.h"
#include "base/numbers/rng.h"
#include "sync/sleep/park.h"

#include <clotho/stream.h>
#include <clotho/stream_check.h>

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

enum { LAYERS = 3, WIDTH = 3, TASKS = LAYERS * WIDTH, RELEASES = 4, RECORDS = 200000, ROUNDS_MAX = 250 };
#define ROUNDS (SANITIZED || EMULATED ? 40u : (uint32_t)ROUNDS_MAX)

enum { VIRTUAL_POLICY = WAYS, ALL_WAYS };

/* What its bodies are like. */
enum { WHOLE, FAILING, PENDING, BRANCHES, LOOPS, SHAPES };

/* How it is submitted. */
enum { ONCE, PERIODIC, IN_RELEASES, HEDGED, MANNERS };

static driver drives;
static _Atomic uint32_t bodies, failures, draws;

static uint32_t draw(uint32_t below)
{
    clo_rng rng = clo_rng_seed(atomic_fetch_add(&draws, 1));

    return clo_rng_below(&rng, below);
}

static void spin(int64_t ns)
{
    int64_t until_ns = clo_clock_ns() + ns;

    while (clo_clock_ns() < until_ns)
        clo_relax();
}

static int work(const clo_call *call)
{
    (void)call;
    spin(draw(1000));
    atomic_fetch_add(&bodies, 1);
    return 0;
}

static int choose(const clo_call *call)
{
    if (call->arm != NULL)
        *call->arm = draw(2);
    return work(call);
}

/* One in eight. */
static int may_fail(const clo_call *call)
{
    (void)work(call);
    if (draw(8) != 0)
        return 0;
    atomic_fetch_add(&failures, 1);
    return 3;
}

static void ignore(void *argument)
{
    (void)argument;
}

static int finish_later(const clo_call *call)
{
    clo_token token;

    if (clo_token_take(call, draw(2) == 0 ? ignore : NULL, NULL, &token) != CLO_OK)
        return 2;
    driver_give(&drives, token, NULL);
    return CLO_PENDING;
}

static clo_graph *make_branches(void)
{
    static const clo_task tasks[] = {{.name = "fork", .body = choose, .work_ns = 1000},
                                     {.name = "a", .body = work, .work_ns = 1000},
                                     {.name = "b", .body = work, .work_ns = 1000},
                                     {.name = "merge", .body = work, .work_ns = 1000}};

    return scene_fork(tasks, 2);
}

/* It goes on or not, as it likes; after the third iteration that is a failure. */
static int go_on(const clo_call *call)
{
    if (call->arm != NULL)
        *call->arm = draw(2);
    return work(call);
}

static clo_graph *make_loop(void)
{
    const clo_task step = {.name = "step", .body = go_on, .work_ns = 1000};
    clo_loop loop = CLO_LOOP_INIT;
    clo_graph *graph, *body;

    ok(clo_graph_create("body", &body));
    ok(clo_graph_add_task(body, &step, NULL));
    ok(clo_graph_seal(body));
    loop.body = body;
    loop.bound = 3;
    ok(clo_graph_create("loop", &graph));
    ok(clo_graph_add_loop(graph, &loop, NULL, NULL));
    ok(clo_graph_seal(graph));
    clo_graph_destroy(body);
    return graph;
}

static clo_graph *make_graph(int shape, int manner)
{
    clo_task task = {.body = shape == FAILING   ? may_fail
                             : shape == PENDING ? finish_later
                                                : work,
                     .work_ns = 1000,
                     .may_pend = shape == PENDING,
                     .duplicable = manner == HEDGED};

    if (shape == BRANCHES)
        return make_branches();
    return shape == LOOPS ? make_loop() : scene_layers(LAYERS, WIDTH, &task);
}

static bool is_policy(int way)
{
    return way == POLICY || way == SLOTS_POLICY || way == VIRTUAL_POLICY;
}

static bool exists(int way, int shape, int manner)
{
    bool has_arms = shape == BRANCHES || shape == LOOPS;

    if (way == VIRTUAL_POLICY && (shape == PENDING || manner != ONCE))
        return false;
    if (manner == PERIODIC)
        return way != SLOTS && way != SLOTS_POLICY;
    if (manner == IN_RELEASES)
        return (way == STEAL || way == PLAN) && !has_arms && shape != PENDING;
    return manner == ONCE || ((way == STEAL || way == PLAN || way == SLOTS) && !has_arms);
}

/* A job, and the thread that cancels it. */
typedef struct scene {
    fixture f;
    clo_plan *plan;
    clo_job *job;
    int way, shape, manner;
    clo_log *log;
    pthread_t canceller;
    /* Rounds that were begun, and in which the cancel has returned. */
    _Atomic uint32_t begun, cancelled;
    _Atomic uint32_t longest_ns, is_over;
    /* Of each round: what the wait said, and how many runs there were. */
    clo_status statuses[ROUNDS_MAX];
    uint64_t runs[ROUNDS_MAX];
} scene;

static void *cancel_all(void *argument)
{
    scene *s = argument;

    for (uint32_t round = 1;; round++) {
        while (atomic_load(&s->begun) < round && atomic_load(&s->is_over) == 0)
            sched_yield();
        if (atomic_load(&s->begun) < round)
            return NULL;
        if (round % 8 != 0) { /* else nobody cancels it */
            spin(draw(1 + atomic_load(&s->longest_ns)));
            clo_job_cancel(s->job);
        }
        atomic_store(&s->cancelled, round);
    }
}

static void make_job_of(scene *s)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    int64_t delays[64];

    for (uint32_t t = 0; t < 64; t++)
        delays[t] = 500;
    config.policy = is_policy(s->way) ? clo_policy_find("fifo") : NULL;
    config.plan = s->plan;
    config.period_ns = s->manner == PERIODIC ? 30000 : 0;
    config.releases = s->manner == PERIODIC || s->manner == IN_RELEASES ? RELEASES : 0;
    config.releases_in_flight = s->manner == IN_RELEASES ? 2 : 0;
    config.hedge_after_ns = s->manner == HEDGED ? delays : NULL;
    ok(clo_job_create(s->f.runtime, s->f.cost, &config, &s->job));
}

static void begin(scene *s, int way, int shape, int manner)
{
    clo_graph *graph = make_graph(shape, manner);

    *s = (scene){.way = way, .shape = shape, .manner = manner};
    s->f = way == VIRTUAL_POLICY ? start(3, graph, CLO_CLOCK_VIRTUAL) : start_way(way, graph);
    s->plan = way == PLAN || manner == IN_RELEASES ? plan_of(&s->f, "heft") : NULL;
    atomic_store(&s->longest_ns, 20000);
    if (is_policy(way)) {
        ok(clo_log_create(NULL, RECORDS, &s->log));
        ok(clo_runtime_log_start(s->f.runtime, s->log));
    }
    make_job_of(s);
    if (shape == PENDING)
        driver_start(&drives, 0);
    assert_int_equal(pthread_create(&s->canceller, NULL, cancel_all, s), 0);
}

static void end(scene *s)
{
    atomic_store(&s->is_over, 1);
    pthread_join(s->canceller, NULL);
    if (s->shape == PENDING)
        driver_stop(&drives);
    clo_job_destroy(s->job);
    clo_plan_destroy(s->plan);
    stop(&s->f);
    clo_log_destroy(s->log);
}

/* What the bodies say. Of branches and loops nobody knows how many there should be; hedges are counted too, and so are
 * bodies that were pending when the job was cancelled, and did well all the same. */
static void check_bodies(const scene *s, clo_status status, uint32_t count, uint32_t failed)
{
    uint32_t all = TASKS * (s->manner == PERIODIC || s->manner == IN_RELEASES ? RELEASES : 1);

    assert_true(failed > 0 || status != CLO_ERR_TASK || s->shape == LOOPS);
    assert_true(failed == 0 || status == CLO_ERR_TASK || status == CLO_ERR_CANCELLED || s->manner == HEDGED);
    if (s->shape != WHOLE || s->manner == HEDGED)
        return;
    if (status == CLO_OK)
        assert_int_equal(count, all);
    else
        assert_true(count < all);
}

/* Nothing that comes now changes what was decided. */
static void check_again(const scene *s, clo_status status)
{
    clo_job_result again = CLO_JOB_RESULT_INIT;

    assert_int_equal(clo_job_wait(s->job, NULL), status);
    clo_job_cancel(s->job);
    assert_int_equal(clo_job_wait_for(s->job, 0, &again), status);
    assert_int_equal(again.status, status);
    assert_true((again.failed_task != CLO_NONE) == (status == CLO_ERR_TASK));
}

static void run_round(scene *s, uint32_t round)
{
    clo_job_timing timing = CLO_JOB_TIMING_INIT;
    int64_t before_ns = clo_clock_ns();

    atomic_store(&bodies, 0);
    atomic_store(&failures, 0);
    ok(clo_job_submit(s->job));
    atomic_store(&s->begun, round + 1);
    clo_status status = clo_job_wait(s->job, NULL);
    int64_t length_ns = clo_clock_ns() - before_ns;
    assert_true(status == CLO_OK || status == CLO_ERR_CANCELLED || status == CLO_ERR_TASK);
    check_bodies(s, status, atomic_load(&bodies), atomic_load(&failures));
    check_again(s, status);
    ok(clo_job_timing_read(s->job, &timing));
    assert_int_equal(timing.aborted, 0);
    s->statuses[round] = status;
    s->runs[round] = timing.released;
    if (status == CLO_OK && length_ns < 1000000) /* cancels come about as long after the submit as it takes */
        atomic_store(&s->longest_ns, (uint32_t)(length_ns + length_ns / 4));
    while (atomic_load(&s->cancelled) < round + 1)
        sched_yield();
}

static uint32_t end_of(clo_status status)
{
    return status == CLO_OK ? CLO_LOG_DONE_OK : status == CLO_ERR_TASK ? CLO_LOG_DONE_FAILED : CLO_LOG_DONE_CANCELLED;
}

/* The jobs of the log are the runs, in order. Of a series the last one says how it has ended, unless releases were left
 * out. */
static void check_log(const scene *s, clo_stream_job *jobs, uint8_t *ends)
{
    static const uint8_t end_of_value[] = {CLO_STREAM_END_OK, CLO_STREAM_END_CUT, CLO_STREAM_END_FAILED};
    size_t count;
    const clo_log_record *records = clo_log_records(s->log, &count);
    uint64_t run = 0, done = 0;
    uint32_t round = 0;

    for (size_t i = 0; i < count; i++) {
        if (records[i].what != CLO_LOG_DONE)
            continue;
        while (run == s->runs[round]) {
            round++;
            run = 0;
        }
        jobs[done] = (clo_stream_job){.job = records[i].job, .cost = s->f.cost, .weight = 1};
        assert_int_equal(records[i].job, done++);
        bool is_last = ++run == s->runs[round], lacks = s->manner == PERIODIC && s->runs[round] < RELEASES;
        if (!is_last)
            assert_int_equal(records[i].value, CLO_LOG_DONE_OK);
        else if (!lacks || records[i].value == CLO_LOG_DONE_FAILED || s->statuses[round] != CLO_ERR_CANCELLED)
            ends[done - 1] = end_of_value[end_of(s->statuses[round])];
    }
    clo_stream_case stream = CLO_STREAM_CASE_INIT;
    stream.platform = s->f.platform;
    stream.jobs = jobs;
    stream.jobs_count = done;
    stream.ends = ends;
    ok(clo_stream_check(&stream, s->log, NULL));
}

static void replay_log(const scene *s)
{
    clo_replay_policy policy = {.policy = clo_policy_find("fifo")};
    clo_replay_config config = CLO_REPLAY_CONFIG_INIT;
    const clo_cost *cost = s->f.cost;

    config.platform = s->f.platform;
    config.costs = &cost;
    config.costs_count = 1;
    config.policies = &policy;
    config.policies_count = 1;
    ok(clo_stream_replay(&config, s->log, NULL));
}

static void check_kind(int way, int shape, int manner)
{
    static scene s;
    static clo_stream_job jobs[ROUNDS_MAX * RELEASES];
    static uint8_t ends[ROUNDS_MAX * RELEASES];

    begin(&s, way, shape, manner);
    for (uint32_t round = 0; round < ROUNDS; round++)
        run_round(&s, round);
    if (s.log != NULL) {
        ok(clo_runtime_log_stop(s.f.runtime));
        memset(ends, CLO_STREAM_END_UNKNOWN, sizeof ends);
        check_log(&s, jobs, ends);
        replay_log(&s);
    }
    end(&s);
}

static void check_manner(int manner)
{
    for (int way = 0; way < ALL_WAYS; way++)
        for (int shape = 0; shape < SHAPES; shape++)
            if (exists(way, shape, manner))
                check_kind(way, shape, manner);
}

/* Deadlines */

#define DEADLINE_NS 100000

static _Atomic int64_t until_ns;
static _Atomic uint32_t misses, is_over;

static int end_then(const clo_call *call)
{
    (void)call;
    while (clo_clock_ns() < atomic_load(&until_ns))
        clo_relax();
    return 0;
}

static void note_miss(void *argument, clo_job *job, const clo_miss *miss)
{
    (void)argument;
    (void)job;
    atomic_fetch_add(&misses, miss->kind == CLO_MISS_DEADLINE);
}

/* The watchdog looks all the time. */
static void *ring_all(void *argument)
{
    while (atomic_load(&is_over) == 0)
        clo_job_cancel(argument); /* it does not run */
    return NULL;
}

static clo_job *make_due(const fixture *f, int way)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    config.policy = way == POLICY ? clo_policy_find("fifo") : NULL;
    config.deadline_ns = DEADLINE_NS;
    config.miss = note_miss;
    ok(clo_job_create(f->runtime, f->cost, &config, &job));
    return job;
}

/* Ends about when its deadline passes. */
static void end_at_deadline(clo_job *job, int way)
{
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_job_timing timing = CLO_JOB_TIMING_INIT;

    atomic_store(&misses, 0);
    atomic_store(&until_ns, clo_clock_ns() + DEADLINE_NS - 500 + draw(1500));
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, &result));
    ok(clo_job_timing_read(job, &timing));
    assert_int_equal(timing.missed, timing.response_ns.max_ns > DEADLINE_NS);
    assert_int_equal(atomic_load(&misses), timing.missed);
    if (way != POLICY) /* there the makespan counts from the arrival */
        assert_int_equal(result.missed_deadline, timing.missed);
}

static void a_deadline_is_met_or_missed_for_all_who_ask(void **state)
{
    (void)state;
    for (int way = STEAL; way <= POLICY; way += POLICY - STEAL) {
        clo_task task = {.body = end_then, .work_ns = 1000};
        fixture f = start_way(way, scene_layers(1, 1, &task));
        clo_job *job = make_due(&f, way), *other = make_due(&f, STEAL);
        pthread_t ringer;

        atomic_store(&is_over, 0);
        assert_int_equal(pthread_create(&ringer, NULL, ring_all, other), 0);
        for (uint32_t round = 0; round < 10 * ROUNDS; round++)
            end_at_deadline(job, way);
        atomic_store(&is_over, 1);
        pthread_join(ringer, NULL);
        clo_job_destroy(job);
        clo_job_destroy(other);
        stop(&f);
    }
}

static void a_job_tells_one_end(void **state)
{
    (void)state;
    check_manner(ONCE);
}

static void a_periodic_job_tells_one_end(void **state)
{
    (void)state;
    check_manner(PERIODIC);
}

static void releases_in_flight_tell_one_end(void **state)
{
    (void)state;
    check_manner(IN_RELEASES);
}

static void a_hedged_job_tells_one_end(void **state)
{
    (void)state;
    check_manner(HEDGED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_tells_one_end),
        cmocka_unit_test(a_periodic_job_tells_one_end),
        cmocka_unit_test(releases_in_flight_tell_one_end),
        cmocka_unit_test(a_hedged_job_tells_one_end),
        cmocka_unit_test(a_deadline_is_met_or_missed_for_all_who_ask),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
