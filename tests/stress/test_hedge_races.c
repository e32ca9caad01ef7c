/* Hedges where everything happens at once: originals end while their hedges begin, both end together, jobs are
 * cancelled and runtimes closed at any moment. Outputs are always those of a run without hedges. */
#define _GNU_SOURCE
#include "support.h"

#include "driver.h"
#include "running.h"

#include "base/clock.h"
#include "base/numbers/rng.h"
#include "sync/sleep/park.h"

#include <clotho/planner.h>
#include <string.h>
#include <unistd.h>

#define LAYERS 6u
#define WIDTH 24u
#define TASKS (LAYERS * WIDTH)
#define ROUNDS (SANITIZED ? 8 : 20)

enum { STEAL, PLAN, SLOTS, WAYS };

static driver drives;
static _Atomic uint32_t began[TASKS], draws;
/* All tokens keep their runtime: it may be closed beside their completions. */
static _Atomic bool keeps_tokens;

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

/* The two of a pair end at about the same time: the original waits for its hedge, but not for ever. */
static int together(const clo_call *call)
{
    if (call->is_replica)
        atomic_fetch_add(&began[call->task], 1);
    else
        for (int i = 0; i < 60 && atomic_load(&began[call->task]) == 0; i++)
            spin(1000);
    return sum_inputs(call);
}

/* Some end before they could be hedged, some while they are, some later. */
static int sometimes_late(const clo_call *call)
{
    spin(draw(4) == 0 ? draw(100000) : draw(3000));
    return sum_inputs(call);
}

static void ignore(void *argument)
{
    (void)argument;
}

static int finish_later(const clo_call *call)
{
    clo_token token;
    int code = sometimes_late(call);
    bool keeps = atomic_load_explicit(&keeps_tokens, memory_order_relaxed);

    if (code != 0 || clo_token_take(call, keeps || draw(2) == 0 ? ignore : NULL, NULL, &token) != CLO_OK)
        return 2;
    driver_give(&drives, token, NULL);
    return !keeps && draw(8) == 0 ? 0 : CLO_PENDING;
}

static fixture start_way(int way, clo_task_fn body, bool may_pend, int64_t demand)
{
    clo_task task = {.body = body, .work_ns = 1000, .output_bytes = 64, .duplicable = 1, .demand = {demand}};

    task.may_pend = may_pend;
    clo_graph *graph = scene_layers(LAYERS, WIDTH, &task);
    if (way != SLOTS)
        return start(3, graph, CLO_CLOCK_REAL);
    fixture f = {.graph = graph};
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    config.trace = config.unpinned = 1;
    ok(clo_platform_open("slots:9", &f.platform));
    ok(clo_cost_create(graph, f.platform, &f.cost));
    ok(clo_runtime_create(f.platform, &config, &f.runtime));
    return f;
}

static clo_job *make(const fixture *f, const clo_plan *plan, int64_t after_ns)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    int64_t delays[TASKS];
    clo_job *job;

    for (uint32_t t = 0; t < TASKS; t++)
        delays[t] = after_ns > 1 && t % 5 == 0 ? INT64_MAX : after_ns;
    config.plan = plan;
    config.hedge_after_ns = after_ns > 0 ? delays : NULL;
    ok(clo_job_create(f->runtime, f->cost, &config, &job));
    return job;
}

static clo_plan *plan_of(int way, const fixture *f)
{
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan = NULL;

    config.planner = &clo_planner_deft; /* with replicas of its own */
    if (way == PLAN)
        ok(clo_plan_create(f->cost, &config, &plan));
    return plan;
}

static void check_trace(const fixture *f, const clo_job *job, const clo_job_result *result, uint64_t replicas)
{
    clo_trace *trace;
    clo_plan *plan;
    size_t count, seen = 0;

    ok(clo_job_trace(job, &trace));
    const clo_trace_event *events = clo_trace_events(trace, &count);
    for (size_t i = 0; i < count; i++)
        seen += events[i].is_replica;
    assert_int_equal(count - seen, TASKS);
    assert_int_equal(seen, result->duplicates_run);
    assert_int_equal(result->duplicates_run - replicas + result->hedges_skipped, result->hedged);
    assert_true(result->hedges_won <= result->duplicates_run - replicas);
    ok(clo_trace_to_plan(trace, f->cost, &plan));
    ok(clo_plan_check(plan, f->cost, CLO_CHECK_MEASURED));
    clo_plan_destroy(plan);
    clo_trace_destroy(trace);
}

/* What happened in all runs, for the reader. */
static uint64_t hedged, skipped, won, cancelled;

static void add_up(const clo_job_result *result)
{
    hedged += result->hedged;
    skipped += result->hedges_skipped;
    won += result->hedges_won;
    cancelled += result->hedges_cancelled;
}

static uint64_t run_once(clo_job *job, clo_job_result *result)
{
    memset(began, 0, sizeof began);
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, result));
    return clo_job_output_hash(job);
}

static void compare(int way, clo_task_fn body, bool may_pend)
{
    const int64_t delays[] = {1, 1000, 20000};
    fixture f = start_way(way, body, may_pend, 0);
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_plan *plan = plan_of(way, &f);
    clo_job *job = make(&f, plan, 0);
    uint64_t wanted = run_once(job, &result), replicas = result.duplicates_run;

    assert_int_equal(result.hedged, 0);
    clo_job_destroy(job);
    for (size_t d = 0; d < sizeof delays / sizeof delays[0]; d++) {
        job = make(&f, plan, delays[d]);
        for (int round = 0; round < ROUNDS; round++) {
            assert_true(run_once(job, &result) == wanted);
            check_trace(&f, job, &result, replicas);
            add_up(&result);
        }
        clo_job_destroy(job);
    }
    clo_plan_destroy(plan);
    driver_drain(&drives);
    stop(&f);
}

static void outputs_are_those_of_a_run_without_hedges_whoever_is_first(void **state)
{
    (void)state;
    driver_start(&drives, 0);
    for (int way = 0; way < WAYS; way++) {
        hedged = skipped = won = cancelled = 0;
        do { /* until there are some: a watchdog that is late to its CPU sees none of these bodies */
            compare(way, together, false);
            compare(way, sometimes_late, false);
            compare(way, finish_later, true);
        } while (hedged == 0);
        print_message("%s: %llu hedges, %llu skipped, %llu first, %llu losers cancelled\n",
                      way == STEAL  ? "steal"
                      : way == PLAN ? "plan"
                                    : "slots",
                      (unsigned long long)hedged, (unsigned long long)skipped, (unsigned long long)won,
                      (unsigned long long)cancelled);
    }
    driver_stop(&drives);
}

static void cancel_some(int way, clo_task_fn body, bool may_pend, bool closes)
{
    fixture f = start_way(way, body, may_pend, 0);
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_plan *plan = plan_of(way, &f);
    clo_job *job = make(&f, plan, 1000);

    for (int round = 0; round < ROUNDS && !closes; round++) {
        memset(began, 0, sizeof began);
        ok(clo_job_submit(job));
        spin(draw(400000));
        clo_job_cancel(job);
        clo_status status = clo_job_wait(job, &result);
        assert_true(status == CLO_OK || status == CLO_ERR_CANCELLED);
        assert_true(result.hedges_won <= result.hedged);
        add_up(&result);
    }
    if (closes) {
        ok(clo_job_submit(job));
        spin(draw(200000));
    } else {
        clo_job_destroy(job);
        driver_drain(&drives);
    }
    stop(&f); /* with a job that runs */
    clo_plan_destroy(plan);
}

static void a_job_may_be_cancelled_at_any_moment_and_run_again(void **state)
{
    (void)state;
    driver_start(&drives, 0);
    for (int way = 0; way < WAYS; way++) {
        cancel_some(way, together, false, false);
        cancel_some(way, sometimes_late, false, false);
        cancel_some(way, finish_later, true, false);
    }
    driver_stop(&drives);
}

static void a_runtime_may_be_closed_while_hedges_are_about(void **state)
{
    (void)state;
    driver_start(&drives, 0);
    atomic_store(&keeps_tokens, true);
    for (int round = 0; round < ROUNDS / 3; round++)
        for (int way = 0; way < WAYS; way++) {
            cancel_some(way, sometimes_late, false, true);
            cancel_some(way, finish_later, true, true);
        }
    driver_stop(&drives);
}

static int frail(const clo_call *call)
{
    spin(draw(5000));
    return draw(40) == 0 ? 3 : sum_inputs(call);
}

static void failures_end_a_run_once_and_leave_the_job_whole(void **state)
{
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        fixture f = start_way(way, frail, false, 0);
        clo_plan *plan = plan_of(way, &f);
        clo_job *job = make(&f, plan, 1);
        uint32_t failed = 0;
        for (int round = 0; round < ROUNDS; round++) {
            clo_job_result result = CLO_JOB_RESULT_INIT;
            ok(clo_job_submit(job));
            clo_status status = clo_job_wait(job, &result);
            assert_true(status == CLO_OK || status == CLO_ERR_TASK);
            assert_true(status == CLO_OK || result.failed_code == 3);
            failed += status != CLO_OK;
        }
        assert_true(failed > 0);
        clo_job_destroy(job);
        clo_plan_destroy(plan);
        stop(&f);
    }
}

static void a_series_runs_its_releases_with_hedges_one_after_another(void **state)
{
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        fixture f = start_way(way, sometimes_late, false, 0);
        clo_job_config config = CLO_JOB_CONFIG_INIT;
        clo_job_result result = CLO_JOB_RESULT_INIT;
        clo_plan *plan = plan_of(way, &f), *other = plan_of(way, &f);
        int64_t delays[TASKS];
        clo_job *job;
        for (uint32_t t = 0; t < TASKS; t++)
            delays[t] = 2000;
        config.plan = plan;
        config.hedge_after_ns = delays;
        config.period_ns = 1000;
        config.releases = 20;
        ok(clo_job_create(f.runtime, f.cost, &config, &job));
        memset(delays, 0xff, sizeof delays); /* copied */
        ok(clo_job_submit(job));
        if (plan != NULL)
            ok(clo_job_swap_plan(job, other));
        ok(clo_job_wait(job, &result));
        assert_true(result.executed >= 20 * TASKS);
        assert_true(result.hedges_won + result.hedges_skipped <= result.hedged);
        clo_job_destroy(job);
        clo_plan_destroy(plan);
        clo_plan_destroy(other);
        stop(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_are_those_of_a_run_without_hedges_whoever_is_first),
        cmocka_unit_test(a_job_may_be_cancelled_at_any_moment_and_run_again),
        cmocka_unit_test(a_runtime_may_be_closed_while_hedges_are_about),
        cmocka_unit_test(failures_end_a_run_once_and_leave_the_job_whole),
        cmocka_unit_test(a_series_runs_its_releases_with_hedges_one_after_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
