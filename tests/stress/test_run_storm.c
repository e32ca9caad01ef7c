/* The end of jobs in many hands: threads cancel them, wait for them, read their times and outputs, submit them again
 * and destroy them, at random, beside deadlines, releases, failures and bodies that finish later; and runtimes close
 * while bodies make, cancel and destroy other jobs. Whatever the order, each submit has one end. */
#define _GNU_SOURCE
#include "support.h"

#include "driver.h"
#include "ways.h"

#include "base/numbers/rng.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

enum { THREADS = 4, RELEASES = 3, PARKED = 4 };
#define STORM_CALLS (SANITIZED ? 300u : 2000u)
#define CLOSE_ROUNDS (SANITIZED ? 30u : 150u)

static _Atomic uint32_t draws;

static uint32_t draw(uint32_t below)
{
    clo_rng rng = clo_rng_seed(atomic_fetch_add(&draws, 1));

    return clo_rng_below(&rng, below);
}

/* Runtimes that close */

typedef struct meddling {
    clo_runtime *runtime;
    clo_cost *cost;
    bool has_policy;
    /* Jobs that were never submitted, for whoever destroys them. */
    _Atomic(clo_job *) parked[PARKED];
    _Atomic uint32_t inside, closed;
} meddling;

static clo_job *make_other(const meddling *m)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    config.policy = m->has_policy && draw(2) == 0 ? clo_policy_find("fifo") : NULL;
    config.period_ns = draw(4) == 0 ? 50000 : 0; /* without end */
    config.deadline_ns = draw(3) == 0 ? 1000000 : 0;
    config.on_miss = config.deadline_ns > 0 ? CLO_MISS_ABORT : CLO_MISS_RUN_LATE;
    return clo_job_create(m->runtime, m->cost, &config, &job) == CLO_OK ? job : NULL; /* else it closes, or is full */
}

/* Makes, submits, cancels and destroys other jobs until the runtime closes, and some more: until then a job of its own
 * runs, so nothing of the runtime is gone. */
static int meddle(const clo_call *call)
{
    meddling *m = call->argument;
    uint32_t left = 20;

    atomic_fetch_add(&m->inside, 1);
    while (left > 0) {
        left -= atomic_load(&m->closed) != 0;
        _Atomic(clo_job *) *place = &m->parked[draw(PARKED)];
        clo_job *job = atomic_exchange(place, NULL);
        if (job != NULL && draw(4) == 0)
            (void)(clo_job_submit(job) == CLO_OK); /* the runtime's from now on */
        else if (job != NULL)
            clo_job_destroy(job);
        job = make_other(m);
        if (job == NULL)
            continue;
        clo_job_cancel(job);
        clo_job *before = atomic_exchange(place, job);
        clo_job_destroy(before);
    }
    return 0;
}

static void *close_runtime(void *argument)
{
    meddling *m = argument;

    while (clo_runtime_close(m->runtime, draw(3) == 0 ? 0 : draw(300000)) != CLO_OK)
        atomic_store(&m->closed, 1);
    return NULL;
}

static void bodies_make_and_destroy_jobs_while_their_runtime_closes(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < CLOSE_ROUNDS; round++) {
        static meddling m;
        clo_task task = {.body = meddle, .argument = &m, .work_ns = 1000}, small = {.work_ns = 1000};
        clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
        clo_platform *platform = scene_platform(3, 0);
        clo_graph *graph = scene_layers(1, 2, &task), *others = scene_layers(2, 2, &small);
        clo_job_config mine = CLO_JOB_CONFIG_INIT;
        clo_cost *cost;
        clo_job *job;
        pthread_t closer;

        memset(&m, 0, sizeof m);
        m.has_policy = round % 2 == 1;
        config.unpinned = 1;
        config.jobs_max = 16;
        ok(clo_cost_create(graph, platform, &cost));
        ok(clo_cost_create(others, platform, &m.cost));
        ok(clo_runtime_create(platform, &config, &m.runtime));
        mine.policy = m.has_policy ? clo_policy_find("fifo") : NULL;
        ok(clo_job_create(m.runtime, cost, &mine, &job));
        ok(clo_job_submit(job));
        while (atomic_load(&m.inside) == 0)
            sched_yield();
        assert_int_equal(pthread_create(&closer, NULL, close_runtime, &m), 0);
        pthread_join(closer, NULL);
        clo_cost_destroy(m.cost);
        clo_cost_destroy(cost);
        clo_graph_destroy(graph);
        clo_graph_destroy(others);
        clo_platform_destroy(platform);
    }
}

/* Jobs in many hands */

/* What a job is like. */
enum { WHOLE, FAILING, PENDING, ABORTED, PERIODIC, SKIPPING, PENDING_PERIODIC, KINDS };

typedef struct slot {
    clo_job *job;
    clo_graph *graph;
    clo_cost *cost;
    clo_plan *plan;
    int kind;
    /* Held by whoever names the job; for writing by whoever destroys it. */
    pthread_rwlock_t life;
    /* Of whoever submits it, or reads what it left. */
    pthread_mutex_t results;
    /* Calls of cancel that have begun, and that have returned. */
    _Atomic uint32_t cancels, cancelled;
    _Atomic uint32_t failures, misses;
    /* Before the last submit. */
    uint32_t cancelled_before, failures_before;
    bool was_submitted;
} slot;

static clo_platform *storm_platform;
static clo_runtime *storm_runtime;
static slot slots[KINDS];
static driver drives;

/* The first line where something was wrong; threads of the test may not fail. */
static _Atomic int wrong_line;

static void expect(bool holds, int line)
{
    int none = 0;

    if (!holds)
        atomic_compare_exchange_strong(&wrong_line, &none, line);
}
#define EXPECT(holds) expect((holds), __LINE__)

static bool is_pending(const slot *s)
{
    return s->kind == PENDING || s->kind == PENDING_PERIODIC;
}

static bool is_periodic(const slot *s)
{
    return s->kind == PERIODIC || s->kind == SKIPPING || s->kind == PENDING_PERIODIC;
}

static void ignore(void *argument)
{
    (void)argument;
}

static int run_body(const clo_call *call)
{
    slot *s = call->argument;
    clo_token token;

    memset(call->output, (int)call->task, call->output_bytes);
    for (uint32_t i = draw(20); i > 0; i--)
        sched_yield();
    if (s->kind == FAILING && draw(16) == 0) {
        atomic_fetch_add(&s->failures, 1);
        return 3;
    }
    if (!is_pending(s))
        return 0;
    if (clo_token_take(call, draw(2) == 0 ? ignore : NULL, NULL, &token) != CLO_OK)
        return 2;
    driver_give(&drives, token, NULL);
    return CLO_PENDING;
}

static void note_miss(void *argument, clo_job *job, const clo_miss *miss)
{
    slot *s = argument;

    atomic_fetch_add(&s->misses, miss->kind != CLO_MISS_OVERRUN);
    if (draw(16) == 0) {
        atomic_fetch_add(&s->cancels, 1);
        clo_job_cancel(job);
        atomic_fetch_add(&s->cancelled, 1);
    }
}

static void create(slot *s)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    uint32_t way = draw(3);

    config.plan = way == 0 ? s->plan : NULL;
    config.policy = way == 1 ? clo_policy_find("fifo") : NULL;
    config.period_ns = is_periodic(s) ? 50000 : 0;
    config.releases = is_periodic(s) ? RELEASES : 0;
    config.deadline_ns = s->kind == ABORTED ? 1 + draw(60000) : 0;
    config.on_miss = s->kind == SKIPPING                                 ? CLO_MISS_SKIP
                     : s->kind == ABORTED || s->kind == PENDING_PERIODIC ? CLO_MISS_ABORT
                                                                         : CLO_MISS_RUN_LATE;
    config.miss = is_periodic(s) || s->kind == ABORTED ? note_miss : NULL;
    config.miss_argument = s;
    s->was_submitted = false;
    EXPECT(clo_job_create(storm_runtime, s->cost, &config, &s->job) == CLO_OK);
}

static void open_slot(slot *s, int kind)
{
    clo_task task = {.body = run_body, .argument = s, .work_ns = 1000, .output_bytes = 64};

    memset(s, 0, sizeof *s);
    s->kind = kind;
    task.may_pend = is_pending(s);
    s->graph = scene_layers(3, 3, &task);
    ok(clo_cost_create(s->graph, storm_platform, &s->cost));
    ok(clo_plan_create(s->cost, NULL, &s->plan));
    pthread_rwlock_init(&s->life, NULL);
    pthread_mutex_init(&s->results, NULL);
    create(s);
}

static void close_slot(slot *s)
{
    clo_plan_destroy(s->plan);
    clo_cost_destroy(s->cost);
    clo_graph_destroy(s->graph);
    pthread_rwlock_destroy(&s->life);
    pthread_mutex_destroy(&s->results);
}

static void cancel(slot *s)
{
    atomic_fetch_add(&s->cancels, 1);
    clo_job_cancel(s->job);
    atomic_fetch_add(&s->cancelled, 1);
}

/* With `results` held: only if it is over, so that the misses of the run before are told. */
static void submit(slot *s)
{
    if (s->was_submitted && clo_job_wait_for(s->job, 0, NULL) == CLO_ERR_TIMEOUT)
        return;
    uint32_t cancelled = atomic_load(&s->cancelled), failures = atomic_load(&s->failures);
    uint32_t misses = atomic_exchange(&s->misses, 0);
    clo_status status = clo_job_submit(s->job);
    EXPECT(status == CLO_OK || status == CLO_ERR_STATE); /* somebody reads the result */
    if (status != CLO_OK) {
        atomic_store(&s->misses, misses);
        return;
    }
    s->cancelled_before = cancelled;
    s->failures_before = failures;
    s->was_submitted = true;
}

static void check_result(clo_status status, const clo_job_result *result)
{
    if (status == CLO_ERR_STATE || status == CLO_ERR_TIMEOUT) /* never submitted; it runs */
        return;
    EXPECT(status == CLO_OK || status == CLO_ERR_CANCELLED || status == CLO_ERR_ABORTED || status == CLO_ERR_TASK);
    EXPECT(result->status == status);
    EXPECT((result->failed_task != CLO_NONE) == (status == CLO_ERR_TASK));
}

static void wait_beside(slot *s)
{
    clo_job_result result = CLO_JOB_RESULT_INIT;

    if (draw(2) == 0)
        check_result(clo_job_wait(s->job, &result), &result);
    else
        check_result(clo_job_wait_for(s->job, draw(100000), &result), &result);
}

/* The end has a cause. */
static void check_cause(const slot *s, clo_status status)
{
    uint32_t failed = atomic_load(&s->failures) - s->failures_before;

    EXPECT(status != CLO_OK || failed == 0);
    EXPECT(status != CLO_ERR_TASK || failed > 0);
    EXPECT(status != CLO_ERR_CANCELLED || atomic_load(&s->cancels) > s->cancelled_before);
    EXPECT(status != CLO_ERR_ABORTED || s->kind == ABORTED || s->kind == PENDING_PERIODIC);
}

/* With `results` held, so that nobody submits it meanwhile: all who ask are told the same. */
static void read_results(slot *s)
{
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_job_timing timing = CLO_JOB_TIMING_INIT;

    clo_status status = clo_job_wait(s->job, &result);
    if (!s->was_submitted) {
        EXPECT(status == CLO_ERR_STATE);
        return;
    }
    check_result(status, &result);
    check_cause(s, status);
    EXPECT(clo_job_timing_read(s->job, &timing) == CLO_OK);
    EXPECT(timing.finished == timing.released);
    EXPECT((status == CLO_ERR_ABORTED) <= (timing.aborted > 0) || s->kind == ABORTED);
    if (is_periodic(s) || s->kind == ABORTED)
        EXPECT(atomic_load(&s->misses) == timing.missed + timing.skipped);
    if (is_periodic(s) && status == CLO_OK)
        EXPECT(timing.released + timing.skipped == RELEASES);
    if (status == CLO_OK && !is_periodic(s))
        EXPECT(result.executed == 9);
    uint64_t hash = clo_job_output_hash(s->job);
    cancel(s);
    EXPECT(clo_job_output_hash(s->job) == hash);
    EXPECT(clo_job_output(s->job, 0, 0, NULL) != NULL);
    EXPECT(clo_job_wait_for(s->job, 0, &result) == status);
}

static void count_job(void *argument, const clo_job_progress *job)
{
    (void)job;
    ++*(uint32_t *)argument;
}

static void look(const slot *s)
{
    clo_job_timing timing = CLO_JOB_TIMING_INIT;
    uint32_t jobs = 0;

    EXPECT(clo_job_timing_read(s->job, &timing) != CLO_ERR_ARGUMENT);
    EXPECT(clo_job_id(s->job) > 0);
    EXPECT(clo_runtime_visit_jobs(storm_runtime, count_job, &jobs) == CLO_OK && jobs > 0);
}

static void replace(slot *s)
{
    if (pthread_rwlock_trywrlock(&s->life) != 0)
        return;
    clo_job_destroy(s->job);
    create(s);
    pthread_rwlock_unlock(&s->life);
}

static void *call_at_random(void *unused)
{
    for (uint32_t i = 0; i < STORM_CALLS; i++) {
        slot *s = &slots[draw(KINDS)];
        uint32_t what = draw(16);
        if (what == 0) {
            replace(s);
            continue;
        }
        pthread_rwlock_rdlock(&s->life);
        bool is_mine = what > 7 && pthread_mutex_trylock(&s->results) == 0;
        if (what < 3)
            cancel(s);
        else if (what < 5)
            look(s);
        else if (what < 8)
            wait_beside(s);
        else if (is_mine && what < 12)
            submit(s);
        else if (is_mine)
            read_results(s);
        if (is_mine)
            pthread_mutex_unlock(&s->results);
        pthread_rwlock_unlock(&s->life);
    }
    return unused;
}

static void a_submit_has_one_end_whoever_asks(void **state)
{
    pthread_t threads[THREADS];
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;

    (void)state;
    storm_platform = scene_platform(3, 1);
    config.unpinned = config.copy_always = 1;
    ok(clo_runtime_create(storm_platform, &config, &storm_runtime));
    driver_start(&drives, 0);
    for (int k = 0; k < KINDS; k++)
        open_slot(&slots[k], k);
    for (uint32_t t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, call_at_random, NULL), 0);
    for (uint32_t t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    for (int k = 0; k < KINDS; k++) {
        (void)(clo_job_submit(slots[k].job) == CLO_OK); /* it runs, in any case */
        if (is_pending(&slots[k]))
            (void)(clo_job_wait(slots[k].job, NULL) == CLO_OK); /* tokens are not completed after the runtime */
    }
    driver_stop(&drives);
    while (clo_runtime_close(storm_runtime, draw(50000)) != CLO_OK)
        ; /* all of it is cancelled */
    for (int k = 0; k < KINDS; k++)
        close_slot(&slots[k]);
    clo_platform_destroy(storm_platform);
    assert_int_equal(atomic_load(&wrong_line), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_submit_has_one_end_whoever_asks),
        cmocka_unit_test(bodies_make_and_destroy_jobs_while_their_runtime_closes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
