/* Hedges: an execution that takes long has a rival; the first to end well counts, and what becomes of the other. No
 * time decides: a body that stalls waits for what its hedge has made possible. */
#define _GNU_SOURCE
#include "support.h"

#include "run/state/runtime.h"
#include "run/state/worker.h"
#include "running.h"

#include <string.h>
#include <unistd.h>

enum { STEAL, PLAN, SLOTS, WAYS };

static _Atomic uint32_t after_ran, told, kept_count, rivals;
static clo_token kept[16];

/* The consumer: what it reads must be whole. */
static int go_on(const clo_call *call)
{
    int code = sum_inputs(call);

    atomic_store(&after_ran, 1);
    return code;
}

static void wait_for(_Atomic uint32_t *counter, uint32_t least)
{
    while (atomic_load(counter) < least)
        usleep(50);
}

static void fill(const clo_call *call, uint64_t value)
{
    memset(call->output, 0, call->output_bytes);
    memcpy(call->output, &value, sizeof value);
}

/* The original writes rubbish, and goes on only once the consumer of its hedge's output has run. */
static int stall(const clo_call *call)
{
    if (call->is_replica) {
        atomic_fetch_add(&rivals, 1);
        fill(call, 77);
        return 0;
    }
    fill(call, 1);
    wait_for(&after_ran, 1);
    fill(call, 2);
    return 0;
}

static int pend(const clo_call *call)
{
    clo_token token;

    if (call->is_replica)
        return stall(call);
    if (clo_token_take(call, NULL, NULL, &token) != CLO_OK)
        return 9;
    kept[atomic_fetch_add(&kept_count, 1) % 16] = token;
    fill(call, 1);
    return CLO_PENDING;
}

static void tell(void *argument)
{
    atomic_fetch_add(&told, 1);
    if (argument != NULL)
        (void)!clo_token_complete(*(clo_token *)argument, 5);
}

static clo_token completed;

static int pend_until_told(const clo_call *call)
{
    if (call->is_replica)
        return stall(call);
    if (clo_token_take(call, tell, &completed, &completed) != CLO_OK)
        return 9;
    return CLO_PENDING;
}

static clo_graph *pair_of(clo_task_fn body, uint8_t may_pend)
{
    clo_task first = {.name = "slow", .body = body, .work_ns = 1000, .output_bytes = 64, .duplicable = 1};
    clo_task then = {.name = "after", .body = go_on, .work_ns = 1000, .output_bytes = 64};
    clo_graph *graph;

    first.may_pend = may_pend;
    ok(clo_graph_create("pair", &graph));
    ok(clo_graph_add_task(graph, &first, NULL));
    ok(clo_graph_add_task(graph, &then, NULL));
    ok(clo_graph_add_edge(graph, 0, 1, 64));
    ok(clo_graph_seal(graph));
    return graph;
}

static fixture start_way(int way, clo_graph *graph)
{
    if (way != SLOTS)
        return start(2, graph, CLO_CLOCK_REAL);
    fixture f = {.graph = graph};
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;

    config.trace = 1;
    config.unpinned = 1;
    config.slot_workers = 3; /* these bodies block their threads */
    ok(clo_platform_open("slots:3", &f.platform));
    ok(clo_cost_create(graph, f.platform, &f.cost));
    ok(clo_runtime_create(f.platform, &config, &f.runtime));
    return f;
}

static clo_status make(const fixture *f, const clo_plan *plan, const int64_t *after_ns, clo_job **job)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;

    config.plan = plan;
    config.hedge_after_ns = after_ns;
    return clo_job_create(f->runtime, f->cost, &config, job);
}

static clo_plan *plan_of(int way, const fixture *f)
{
    const clo_placement apart[] = {{.finish_ns = 1000},
                                   {.task = 1, .executor = 1, .start_ns = 2000, .finish_ns = 3000}};
    clo_plan *plan = NULL;

    if (way == PLAN)
        ok(clo_plan_from_placements(f->cost, NULL, apart, clo_graph_tasks(f->graph), &plan));
    return plan;
}

/* The executions that have lost; the trace must pass as a measured plan. */
static uint32_t lost_of(const fixture *f, const clo_job *job, size_t events)
{
    clo_trace *trace;
    clo_plan *plan;
    size_t count;
    uint32_t lost = 0;

    ok(clo_job_trace(job, &trace));
    const clo_trace_event *all = clo_trace_events(trace, &count);
    if (events > 0)
        assert_int_equal(count, events);
    for (size_t i = 0; i < count; i++)
        lost += all[i].is_lost;
    ok(clo_trace_to_plan(trace, f->cost, &plan));
    ok(clo_plan_check(plan, f->cost, CLO_CHECK_MEASURED));
    clo_plan_destroy(plan);
    clo_trace_destroy(trace);
    return lost;
}

static void check_counts(const clo_job_result *result)
{
    assert_int_equal(result->duplicates_run + result->hedges_skipped, result->hedged);
    assert_true(result->hedges_won <= result->duplicates_run);
}

/* Runs `body` with a hedge that wins, three times with one job. */
static void win(int way, clo_task_fn body, uint8_t may_pend, uint32_t cancelled)
{
    const int64_t after_ns[] = {1000, 0};
    fixture f = start_way(way, pair_of(body, may_pend));
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_plan *plan = plan_of(way, &f);
    clo_job *job;

    ok(make(&f, plan, after_ns, &job));
    for (int run = 0; run < 3; run++) {
        atomic_store(&after_ran, 0);
        atomic_store(&kept_count, 0);
        atomic_store(&told, 0);
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, &result));
        check_counts(&result);
        assert_int_equal(result.hedged, 1);
        assert_int_equal(result.hedges_won, 1);
        assert_int_equal(result.duplicates_run, 1);
        assert_int_equal(result.hedges_cancelled, cancelled);
        assert_int_equal(result.executed, cancelled ? 2 : 3);
        assert_int_equal(*(const uint64_t *)clo_job_output(job, 0, 0, NULL), 77);
        assert_int_equal(*(const uint64_t *)clo_job_output(job, 1, 0, NULL), 31 + 77);
        assert_int_equal(lost_of(&f, job, 3), 1);
        for (uint32_t i = 0; i < atomic_load(&kept_count); i++)
            assert_int_equal(clo_token_complete(kept[i], 0), CLO_ERR_STATE);
    }
    clo_job_destroy(job);
    clo_plan_destroy(plan);
    stop(&f);
}

static void consumers_go_on_with_the_hedges_output_while_the_original_still_runs(void **state)
{
    (void)state;
    for (int way = 0; way < WAYS; way++)
        win(way, stall, 0, 0);
}

static void a_pending_loser_is_dropped_or_told(void **state)
{
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        win(way, pend, 1, 1);
        win(way, pend_until_told, 1, 1);
        assert_int_equal(atomic_load(&told), 1);
    }
}

static int at_once(const clo_call *call)
{
    fill(call, call->is_replica ? 1 : 77);
    return 0;
}

static void without_a_stall_or_with_an_endless_delay_nothing_is_hedged(void **state)
{
    (void)state;
    const int64_t delays[] = {INT64_MAX, INT64_MAX - 1, 3600000000000};

    for (int way = 0; way < WAYS; way++)
        for (int d = 0; d < 3; d++) {
            const int64_t after_ns[] = {delays[d], delays[d]};
            clo_graph *graph = pair_of(at_once, 0);
            fixture f = start_way(way, graph);
            clo_plan *plan = plan_of(way, &f);
            clo_job_result result = CLO_JOB_RESULT_INIT;
            clo_job *job;
            fails(CLO_ERR_ARGUMENT, "task 'after', which may not be executed twice", make(&f, plan, after_ns, &job));
            ok(make(&f, plan, (const int64_t[]){delays[d], 0}, &job));
            ok(clo_job_submit(job));
            ok(clo_job_wait(job, &result));
            assert_int_equal(result.hedged, 0);
            assert_int_equal(result.executed, 2);
            assert_int_equal(lost_of(&f, job, 2), 0);
            clo_job_destroy(job);
            clo_plan_destroy(plan);
            stop(&f);
        }
}

static void what_cannot_be_hedged_is_refused(void **state)
{
    (void)state;
    fixture f = start(2, pair_of(stall, 0), CLO_CLOCK_REAL);
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    fails(CLO_ERR_ARGUMENT, "task 'slow' is negative", make(&f, NULL, (const int64_t[]){-1, 0}, &job));
    fails(CLO_ERR_ARGUMENT, "task 'after', which", make(&f, NULL, (const int64_t[]){1, 1}, &job));
    config.hedge_after_ns = (const int64_t[]){1, 0};
    config.policy = clo_policy_find("fifo");
    fails(CLO_ERR_UNSUPPORTED, "a policy asks for replicas itself", clo_job_create(f.runtime, f.cost, &config, &job));
    stop(&f);
    f = start(2, pair_of(stall, 0), CLO_CLOCK_PADDED);
    fails(CLO_ERR_UNSUPPORTED, "real clock", make(&f, NULL, (const int64_t[]){1, 0}, &job));
    stop(&f);
    f = start(1, pair_of(at_once, 0), CLO_CLOCK_REAL); /* nowhere to go */
    clo_job_result result = CLO_JOB_RESULT_INIT;
    ok(make(&f, NULL, (const int64_t[]){1, 0}, &job));
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, &result));
    assert_int_equal(result.hedged, 0);
    clo_job_destroy(job);
    stop(&f);
}

/* What the argument says goes wrong once both have begun. */
enum { ORIGINAL_FAILS, HEDGE_FAILS, BOTH_FAIL };

static int fail_some(const clo_call *call)
{
    int how = *(const int *)call->argument;

    fill(call, 77);
    if (call->is_replica) {
        atomic_fetch_add(&rivals, 1);
        return how == ORIGINAL_FAILS ? 0 : 6;
    }
    wait_for(&rivals, 1);
    return how == HEDGE_FAILS ? 0 : 5;
}

static void a_failure_counts_only_where_the_other_one_fails_too(void **state)
{
    (void)state;
    for (int way = 0; way < WAYS; way++)
        for (int how = ORIGINAL_FAILS; how <= BOTH_FAIL; how++) {
            clo_task task = {.name = "frail", .body = fail_some, .argument = &how, .output_bytes = 64, .duplicable = 1};
            fixture f = start_way(way, scene_layers(1, 1, &task));
            clo_job_result result = CLO_JOB_RESULT_INIT;
            clo_plan *plan = plan_of(way, &f);
            clo_job *job;
            atomic_store(&rivals, 0);
            ok(make(&f, plan, (const int64_t[]){1}, &job));
            ok(clo_job_submit(job));
            assert_int_equal(clo_job_wait(job, &result), how == BOTH_FAIL ? CLO_ERR_TASK : CLO_OK);
            check_counts(&result);
            assert_int_equal(result.hedges_won, how == ORIGINAL_FAILS);
            if (how == BOTH_FAIL)
                assert_int_equal(result.failed_code, 5);
            else
                assert_int_equal(*(const uint64_t *)clo_job_output(job, 0, 0, NULL), 77);
            clo_job_destroy(job);
            clo_plan_destroy(plan);
            stop(&f);
        }
}

static _Atomic uint32_t blocks, blocker_ends;

static int block(const clo_call *call)
{
    (void)call;
    atomic_store(&blocks, 1);
    wait_for(&blocker_ends, 1);
    return 0;
}

static const clo_runtime *seen;

/* Ends once its hedge lies before the other executor, which is busy. */
static int end_when_held_out(const clo_call *call)
{
    if (call->is_replica)
        return atomic_fetch_add(&rivals, 1), 0;
    while (clo_mailbox_is_empty(&seen->workers[1 - call->executor].hedge))
        usleep(50);
    return 0;
}

static void a_hedge_that_has_not_begun_does_not_hold_up_its_job(void **state)
{
    (void)state;
    clo_task task = {.name = "block", .body = block};
    clo_graph *blocker = scene_layers(1, 1, &task);

    clo_task late = {.name = "late", .body = end_when_held_out, .duplicable = 1};
    fixture f = start(2, scene_layers(1, 1, &late), CLO_CLOCK_REAL);
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_cost *cost;
    clo_job *job, *other;
    seen = f.runtime;
    atomic_store(&rivals, 0);
    atomic_store(&blocks, 0);
    atomic_store(&blocker_ends, 0);
    ok(clo_cost_create(blocker, f.platform, &cost));
    ok(clo_job_create(f.runtime, cost, NULL, &other));
    ok(clo_job_submit(other));
    wait_for(&blocks, 1);
    ok(make(&f, NULL, (const int64_t[]){1}, &job));
    for (int run = 0; run < 20; run++) {
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, &result)); /* while the other executor is still busy */
        check_counts(&result);
        assert_int_equal(result.hedged, 1);
        assert_int_equal(result.hedges_skipped, 1);
    }
    atomic_store(&blocker_ends, 1);
    ok(clo_job_wait(other, NULL));
    assert_int_equal(atomic_load(&rivals), 0);
    clo_job_destroy(job);
    clo_job_destroy(other);
    clo_cost_destroy(cost);
    stop(&f);
    clo_graph_destroy(blocker);
}

/* Two executors on one machine, of whose only resource there is `capacity`. */
static clo_platform *one_machine(int64_t capacity)
{
    const clo_executor executor = {0, 0, 0, -1, {65536, 65536, 65536, 65536}};
    const clo_executor list[] = {executor, executor};
    const int64_t capacities[CLO_RESOURCES_MAX] = {capacity, -1, -1, -1, -1, -1, -1, -1};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_platform *platform;

    desc.executors_count = 2;
    desc.executors = list;
    desc.kinds_count = 1;
    desc.machines_count = 1;
    desc.capacities = capacities;
    ok(clo_platform_create(&desc, &platform));
    return platform;
}

static int stall_until_rival(const clo_call *call)
{
    if (call->is_replica)
        atomic_fetch_add(&rivals, 1);
    else
        while (atomic_load(&rivals) == 0 && atomic_load(&told) == 0)
            usleep(50);
    return 0;
}

static void a_hedge_gets_what_it_demands_at_once_or_is_skipped(void **state)
{
    (void)state;
    for (int64_t demand = 1; demand <= 2; demand++) { /* of 2 */
        clo_task late = {.name = "late", .body = stall_until_rival, .duplicable = 1, .demand = {demand}};
        fixture f = {.platform = one_machine(2), .graph = scene_layers(1, 1, &late)};
        clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
        config.unpinned = 1;
        ok(clo_cost_create(f.graph, f.platform, &f.cost));
        ok(clo_runtime_create(f.platform, &config, &f.runtime));
        clo_job_result result = CLO_JOB_RESULT_INIT;
        clo_job *job;
        atomic_store(&rivals, 0);
        atomic_store(&told, 0);
        ok(make(&f, NULL, (const int64_t[]){1}, &job));
        ok(clo_job_submit(job));
        if (demand == 2) {
            usleep(20000); /* most hedges have been looked at by now; those that have not cannot begin either */
            atomic_store(&told, 1);
        }
        ok(clo_job_wait(job, &result));
        check_counts(&result);
        if (demand == 1)
            assert_int_equal(result.duplicates_run, 1);
        else
            assert_int_equal(result.duplicates_run, 0);
        clo_job_destroy(job);
        stop(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(consumers_go_on_with_the_hedges_output_while_the_original_still_runs),
        cmocka_unit_test(a_pending_loser_is_dropped_or_told),
        cmocka_unit_test(without_a_stall_or_with_an_endless_delay_nothing_is_hedged),
        cmocka_unit_test(what_cannot_be_hedged_is_refused),
        cmocka_unit_test(a_failure_counts_only_where_the_other_one_fails_too),
        cmocka_unit_test(a_hedge_that_has_not_begun_does_not_hold_up_its_job),
        cmocka_unit_test(a_hedge_gets_what_it_demands_at_once_or_is_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
