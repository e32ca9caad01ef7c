/* Limits of bodies with releases in flight: a body that waits until the handler has told of it is found while it runs,
 * with its release, once; on workers and on slots, and while it is pending. */
#include "support.h"

#include "driver.h"

#include <clotho/pipeline.h>
#include <sched.h>

#define RELEASES 12u
#define TASKS 3u
#define LIMIT_NS 1000000
#define LONG_TASK 1u

static driver drives;
/* Times that the handler has told of the long task in a release. */
static _Atomic uint32_t told[RELEASES];
static _Atomic uint32_t wrong, reports;

static bool is_long(const clo_call *call)
{
    return call->task == LONG_TASK && call->release % 4 == 1;
}

static void tell(void *argument, clo_job *job, const clo_miss *miss)
{
    (void)argument;
    (void)job;
    if (miss->kind == CLO_MISS_DEADLINE)
        return;
    bool is_good = miss->kind == CLO_MISS_OVERRUN && miss->task < TASKS && miss->executor < 4 &&
                   miss->release < RELEASES && miss->late_ns >= 0;
    atomic_fetch_add(&wrong, !is_good);
    atomic_fetch_add(&reports, 1);
    if (is_good && miss->task == LONG_TASK)
        atomic_fetch_add(&told[miss->release], 1);
}

static int run_long(const clo_call *call)
{
    while (is_long(call) && atomic_load(&told[call->release]) == 0)
        sched_yield();
    return 0;
}

/* Tokens of the long task, by release. */
static clo_token held[RELEASES];
static _Atomic uint32_t is_held[RELEASES], is_over;

static int pend(const clo_call *call)
{
    clo_token token;

    if (clo_token_take(call, NULL, NULL, &token) != CLO_OK)
        return 2;
    if (is_long(call)) {
        held[call->release] = token;
        atomic_store(&is_held[call->release], 1);
    } else {
        driver_give(&drives, token, NULL);
    }
    return CLO_PENDING;
}

/* A driver that waits as the body above does. */
static void *complete_told(void *unused)
{
    while (atomic_load(&is_over) == 0) {
        for (uint32_t r = 0; r < RELEASES; r++)
            /* In this order: told may be of the run before as long as nothing is held. */
            if (atomic_load(&is_held[r]) != 0 && atomic_load(&told[r]) > 0 && atomic_exchange(&is_held[r], 0) != 0)
                (void)!clo_token_complete(held[r], 0);
        sched_yield();
    }
    return unused;
}

typedef struct scene {
    clo_graph *graph;
    clo_platform *platform;
    clo_cost *cost;
    clo_plan *plan;
    clo_runtime *runtime;
    clo_job *job;
} scene;

static void open_scene(scene *s, const char *platform, clo_task_fn body)
{
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;

    config.unpinned = 1;
    ok(clo_graph_create("limits", &s->graph));
    for (uint32_t t = 0; t < TASKS; t++) {
        clo_task task = {.body = body, .work_ns = 1000, .may_pend = body == pend};
        ok(clo_graph_add_task(s->graph, &task, NULL));
        if (t > 0)
            ok(clo_graph_add_edge(s->graph, t - 1, t, 0));
    }
    ok(clo_graph_seal(s->graph));
    ok(clo_platform_open(platform, &s->platform));
    ok(clo_cost_create(s->graph, s->platform, &s->cost));
    ok(clo_plan_pipeline(s->cost, NULL, &s->plan));
    ok(clo_runtime_create(s->platform, &config, &s->runtime));
    atomic_store(&wrong, 0);
}

static void make(scene *s, bool has_plan, int64_t period_ns, bool by_percent)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;

    config.plan = has_plan ? s->plan : NULL;
    config.releases_in_flight = 3;
    config.releases = RELEASES;
    config.period_ns = period_ns;
    if (period_ns > 0)
        config.deadline_ns = period_ns * 32; /* as far away as may be: a busy machine misses it all the same */
    if (by_percent)
        config.task_limit_percent = LIMIT_NS / 1000 * 100; /* of 1000 ns */
    else
        config.task_limit_ns = LIMIT_NS;
    config.miss = tell;
    ok(clo_job_create(s->runtime, s->cost, &config, &s->job));
}

static void close_scene(scene *s)
{
    clo_job_destroy(s->job);
    clo_runtime_destroy(s->runtime);
    clo_plan_destroy(s->plan);
    clo_cost_destroy(s->cost);
    clo_graph_destroy(s->graph);
    clo_platform_destroy(s->platform);
}

/* Others may overrun, too, where the CPU was somebody else's; but each body once. */
static void check(const scene *s)
{
    clo_job_timing timing = CLO_JOB_TIMING_INIT;

    assert_int_equal(atomic_load(&wrong), 0);
    for (uint32_t r = 0; r < RELEASES; r++)
        assert_in_range(atomic_load(&told[r]), r % 4 == 1, 1);
    ok(clo_job_timing_read(s->job, &timing));
    assert_int_equal(timing.overruns, atomic_load(&reports));
}

static void run_twice(scene *s)
{
    for (int again = 0; again < 2; again++) {
        for (uint32_t r = 0; r < RELEASES; r++)
            atomic_store(&told[r], 0);
        atomic_store(&reports, 0);
        ok(clo_job_submit(s->job));
        ok(clo_job_wait(s->job, NULL));
        check(s);
    }
}

static void a_body_that_overruns_is_found_while_it_runs(void **state)
{
    (void)state;
    for (int way = 0; way < 8; way++) {
        scene s;
        open_scene(&s, "uniform:2", run_long);
        make(&s, way % 2, way / 2 % 2 * 20000000, way / 4);
        run_twice(&s);
        close_scene(&s);
    }
}

static void one_that_is_pending_is_found_too(void **state)
{
    pthread_t completer;

    (void)state;
    driver_start(&drives, 0);
    atomic_store(&is_over, 0);
    assert_int_equal(pthread_create(&completer, NULL, complete_told, NULL), 0);
    for (int way = 0; way < 8; way++) {
        scene s;
        open_scene(&s, way / 4 ? "slots:4" : "uniform:2", pend);
        make(&s, way % 2, way / 2 % 2 * 20000000, false);
        run_twice(&s);
        close_scene(&s);
    }
    atomic_store(&is_over, 1);
    pthread_join(completer, NULL);
    driver_stop(&drives);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_that_overruns_is_found_while_it_runs),
        cmocka_unit_test(one_that_is_pending_is_found_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
