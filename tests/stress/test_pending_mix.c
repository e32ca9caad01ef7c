/* Bodies that finish later, together with all else that a job may have: branches, loops, ranges, handles, instances
 * that are done before, hedges, replicas of a plan, periods, memory of the caller's. What is allowed gives the outputs
 * of bodies that finish at once; what is not is refused in one line. */
#define _GNU_SOURCE
#include "support.h"

#include "driver.h"
#include "fault.h"
#include "ways.h"

#include "base/numbers/rng.h"

#include <clotho/branch.h>
#include <clotho/handle.h>

#include <stdlib.h>
#include <string.h>

static driver drives;
static _Atomic uint32_t draws, wanted_arm, wanted_rounds;
static _Atomic bool is_cut; /* the driver leaves outputs alone: they may be gone */

static uint32_t draw(uint32_t below)
{
    clo_rng rng = clo_rng_seed(atomic_fetch_add(&draws, 1));

    return clo_rng_below(&rng, below);
}

static void check_trace(const fixture *f, const clo_job *job)
{
    clo_trace *trace;
    clo_plan *plan;

    ok(clo_job_trace(job, &trace));
    ok(clo_trace_to_plan(trace, f->cost, &plan));
    ok(clo_plan_check(plan, f->cost, CLO_CHECK_MEASURED));
    clo_plan_destroy(plan);
    clo_trace_destroy(trace);
}

/* Inputs of arms that were not chosen are NULL. */
static int sum_alive(const clo_call *call)
{
    uint64_t sum = call->task * 7 + call->instance, value;

    for (uint32_t i = 0; i < call->inputs_count; i++) {
        value = 0;
        if (call->inputs[i] != NULL)
            memcpy(&value, call->inputs[i], sizeof value);
        sum = sum * 31 + value;
    }
    memset(call->output, 0, call->output_bytes);
    memcpy(call->output, &sum, sizeof sum);
    return 0;
}

static int sum_at_once(const clo_call *call)
{
    int code = sum_alive(call);

    ++*(uint64_t *)call->output;
    return code;
}

/* The driver does the rest. */
static int sum_later(const clo_call *call)
{
    clo_token token;
    int code = sum_alive(call);

    if (code != 0 || clo_token_take(call, NULL, NULL, &token) != CLO_OK)
        return 2;
    driver_give(&drives, token, atomic_load(&is_cut) ? NULL : call->output);
    return CLO_PENDING;
}

/* Branches and loops */

static int choose(const clo_call *call)
{
    *call->arm = atomic_load(&wanted_arm);
    return sum_alive(call);
}

/* Counts its iterations in its output's second word. */
static int again(const clo_call *call)
{
    uint64_t before = 0;
    int code = sum_alive(call);

    for (uint32_t i = 0; i < call->inputs_count; i++)
        if (call->inputs[i] != NULL)
            before = ((const uint64_t *)call->inputs[i])[1];
    ((uint64_t *)call->output)[1] = before + 1;
    *call->arm = before + 1 < atomic_load(&wanted_rounds) ? CLO_LOOP_AGAIN : CLO_LOOP_DONE;
    return code;
}

/* What the condition has counted goes through the iteration's first task. */
static int carry(const clo_call *call)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < call->inputs_count; i++)
        if (call->inputs[i] != NULL)
            count = ((const uint64_t *)call->inputs[i])[1];
    int code = call->argument != NULL ? sum_later(call) : sum_at_once(call);
    ((uint64_t *)call->output)[1] = count;
    return code;
}

static const char later_mark;

static void add_loop(clo_graph *graph, bool is_later, uint32_t *exit)
{
    clo_task work = {.body = carry, .work_ns = 1000, .output_bytes = 64, .may_pend = is_later};
    clo_task condition = {.body = again, .work_ns = 100, .output_bytes = 64};
    clo_task done = {.body = is_later ? sum_later : sum_at_once, .output_bytes = 64, .may_pend = is_later};
    clo_edge carried = {1, 0, 64};
    clo_loop loop = CLO_LOOP_INIT;
    clo_graph *iteration;

    work.argument = is_later ? (void *)(uintptr_t)&later_mark : NULL;
    ok(clo_graph_create("iteration", &iteration));
    ok(clo_graph_add_task(iteration, &work, NULL));
    ok(clo_graph_add_task(iteration, &condition, NULL));
    ok(clo_graph_add_edge(iteration, 0, 1, 64));
    ok(clo_graph_seal(iteration));
    loop.body = iteration;
    loop.condition = 1;
    loop.bound = 6;
    loop.carried = &carried;
    loop.carried_count = 1;
    loop.exit = &done;
    loop.exit_bytes = 64;
    ok(clo_graph_add_loop(graph, &loop, NULL, exit));
    clo_graph_destroy(iteration);
}

/* choose -> (a, b of arm 0 | c of arm 1) -> merge -> after; beside that a loop. */
static clo_graph *make_control_flow(bool is_later)
{
    clo_task task = {.body = is_later ? sum_later : sum_at_once, .work_ns = 1000, .output_bytes = 64};
    clo_task branch = {.body = choose, .work_ns = 100, .output_bytes = 64};
    clo_graph *graph;
    uint32_t exit;

    task.may_pend = is_later;
    ok(clo_graph_create("modes", &graph));
    ok(clo_graph_add_task(graph, &branch, NULL));
    for (int t = 0; t < 5; t++)
        ok(clo_graph_add_task(graph, &task, NULL));
    ok(clo_graph_set_branch(graph, 0, 2, NULL));
    ok(clo_graph_add_arm(graph, 0, 1, 64, 0));
    ok(clo_graph_add_edge(graph, 1, 2, 64));
    ok(clo_graph_add_arm(graph, 0, 3, 64, 1));
    ok(clo_graph_add_edge(graph, 2, 4, 64));
    ok(clo_graph_add_edge(graph, 3, 4, 64));
    ok(clo_graph_set_merge(graph, 4));
    ok(clo_graph_add_edge(graph, 4, 5, 64));
    add_loop(graph, is_later, &exit);
    ok(clo_graph_add_edge(graph, exit, 5, 64));
    ok(clo_graph_seal(graph));
    return graph;
}

typedef struct seen {
    uint64_t hash, executed, skipped;
} seen;

static seen run_control_flow(const fixture *f, clo_job *job, uint32_t arm, uint32_t rounds)
{
    clo_job_result result = CLO_JOB_RESULT_INIT;

    atomic_store(&wanted_arm, arm);
    atomic_store(&wanted_rounds, rounds);
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, &result));
    assert_int_equal(result.executed + result.skipped, clo_graph_tasks(f->graph));
    check_trace(f, job);
    return (seen){clo_job_output_hash(job), result.executed, result.skipped};
}

/* Cut short at any moment, and whole again afterwards. */
static void cut_control_flow(const fixture *f, clo_job *job, const seen *wanted)
{
    for (int round = 0; round < (SANITIZED ? 10 : 40); round++) {
        atomic_store(&wanted_arm, draw(2));
        atomic_store(&is_cut, true);
        ok(clo_job_submit(job));
        for (uint32_t i = draw(3000); i > 0; i--)
            (void)draw(2);
        clo_job_cancel(job);
        clo_status status = clo_job_wait(job, NULL);
        assert_true(status == CLO_OK || status == CLO_ERR_CANCELLED);
    }
    atomic_store(&is_cut, false);
    assert_true(run_control_flow(f, job, 1, 3).hash == wanted->hash);
}

static void arms_and_loops_may_pend(void **state)
{
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        fixture plain = start_way(way, make_control_flow(false)), f = start_way(way, make_control_flow(true));
        const clo_policy *policy = way == POLICY || way == SLOTS_POLICY ? clo_policy_find("fifo") : NULL;
        clo_plan *plan = way == PLAN ? plan_of(&f, "heft") : NULL, *same = way == PLAN ? plan_of(&plain, "heft") : NULL;
        clo_job *at_once = make_job(&plain, policy, same), *later = make_job(&f, policy, plan);
        seen last = {0};
        driver_start(&drives, 0);
        for (uint32_t arm = 0; arm < 2; arm++)
            for (uint32_t rounds = 1; rounds <= 6; rounds++) {
                seen a = run_control_flow(&plain, at_once, arm, rounds), b = run_control_flow(&f, later, arm, rounds);
                assert_true(a.hash == b.hash);
                assert_int_equal(a.executed, b.executed);
                assert_int_equal(b.executed, 4 - arm + 2 * rounds + 2);
            }
        last = run_control_flow(&plain, at_once, 1, 3);
        cut_control_flow(&f, later, &last);
        driver_stop(&drives);
        clo_job_destroy(at_once);
        clo_job_destroy(later);
        clo_plan_destroy(plan);
        clo_plan_destroy(same);
        stop(&plain);
        stop(&f);
    }
}

/* Ranges */

#define ITEMS 103u
#define GRAIN 8u

static _Atomic uint32_t served[ITEMS];

static int serve_range(const clo_call *call)
{
    clo_token token;

    for (uint32_t i = call->instance; i < call->instance + call->count; i++)
        atomic_fetch_add(&served[i], 1);
    if (clo_token_take(call, NULL, NULL, &token) != CLO_OK)
        return 2;
    driver_give(&drives, token, NULL);
    return CLO_PENDING;
}

static void a_range_is_completed_as_one(void **state)
{
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        clo_task task = {.body = serve_range, .instances = ITEMS, .grain = GRAIN, .work_ns = 100, .may_pend = 1};
        fixture f = start_way(way, scene_layers(1, 1, &task));
        clo_plan *plan = way == PLAN ? plan_of(&f, "heft") : NULL;
        clo_job *job = make_job(&f, way == POLICY || way == SLOTS_POLICY ? clo_policy_find("fifo") : NULL, plan);
        clo_job_result result = CLO_JOB_RESULT_INIT;
        memset(served, 0, sizeof served);
        driver_start(&drives, way == SLOTS ? 5 : 0);
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, &result));
        driver_stop(&drives);
        assert_int_equal(atomic_load(&drives.completed), (ITEMS + GRAIN - 1) / GRAIN);
        assert_int_equal(result.executed, (ITEMS + GRAIN - 1) / GRAIN);
        for (uint32_t i = 0; i < ITEMS; i++)
            assert_int_equal(served[i], 1);
        clo_job_destroy(job);
        clo_plan_destroy(plan);
        stop(&f);
    }
}

/* Handles */

enum { STEPS = 30 };

/* The driver changes the handle's buffer in place. */
static int step_later(const clo_call *call)
{
    clo_token token;
    uint64_t *cell = call->data[0];

    if (call->data_count != 1 || *cell != (uint64_t)(uintptr_t)call->argument)
        return 3;
    if (clo_token_take(call, NULL, NULL, &token) != CLO_OK)
        return 2;
    driver_give(&drives, token, cell);
    return CLO_PENDING;
}

static int read_cell(const clo_call *call)
{
    return *(const uint64_t *)call->data[0] == (uint64_t)(uintptr_t)call->argument ? 0 : 4;
}

static clo_graph *make_steps(void)
{
    clo_graph *graph;
    uint32_t id;

    ok(clo_graph_create("steps", &graph));
    ok(clo_graph_add_handle(graph, &(clo_handle){.name = "cell", .bytes = 64}, NULL));
    ok(clo_graph_add_task(graph, &(clo_task){.work_ns = 100}, NULL)); /* clears it: new buffers are zeros */
    ok(clo_graph_add_access(graph, 0, 0, CLO_ACCESS_WRITE));
    for (uintptr_t step = 0; step < STEPS; step++) {
        clo_task update = {.body = step_later, .argument = (void *)step, .work_ns = 100, .may_pend = 1};
        clo_task check = {.body = read_cell, .argument = (void *)(step + 1), .work_ns = 100};
        ok(clo_graph_add_task(graph, &update, &id));
        ok(clo_graph_add_access(graph, id, 0, CLO_ACCESS_UPDATE));
        for (int k = 0; k < 2; k++) {
            ok(clo_graph_add_task(graph, &check, &id));
            ok(clo_graph_add_access(graph, id, 0, CLO_ACCESS_READ));
        }
    }
    ok(clo_graph_seal(graph));
    return graph;
}

static void a_handle_may_be_changed_until_the_completion(void **state)
{
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        fixture f = start_way(way, make_steps());
        clo_plan *plan = way == PLAN ? plan_of(&f, "heft") : NULL;
        clo_job *job = make_job(&f, way == POLICY || way == SLOTS_POLICY ? clo_policy_find("fifo") : NULL, plan);
        size_t bytes;
        driver_start(&drives, 0);
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, NULL));
        driver_stop(&drives);
        assert_int_equal(*(const uint64_t *)clo_job_data(job, 0, &bytes), STEPS);
        clo_job_destroy(job);
        clo_plan_destroy(plan);
        stop(&f);
    }
}

/* A part done before, hedges, and replicas of a plan */

#define LAYERS 5u
#define WIDTH 6u
#define TASKS (LAYERS * WIDTH)

static void ignore(void *argument)
{
    (void)argument;
}

/* Some are told when they have lost, some are dropped; some do not pend at all. The driver leaves outputs alone. */
static int sum_somehow(const clo_call *call)
{
    clo_token token;
    int code = sum_inputs(call);

    if (code != 0 || draw(4) == 0)
        return code;
    if (clo_token_take(call, draw(2) == 0 ? ignore : NULL, NULL, &token) != CLO_OK)
        return 2;
    driver_give(&drives, token, NULL);
    return draw(8) == 0 ? 0 : CLO_PENDING;
}

static void go_on(const fixture *f, const clo_plan *plan, uint64_t done, const void *const *outputs, uint64_t wanted)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    int64_t delays[TASKS];
    uint32_t left = TASKS - (uint32_t)__builtin_popcountll(done);
    clo_job *job;

    for (uint32_t t = 0; t < TASKS; t++)
        delays[t] = t % 3 == 0 ? 0 : t % 3 == 1 ? 1 : 50000;
    config.plan = plan;
    config.done = &done;
    config.done_outputs = outputs;
    config.hedge_after_ns = delays;
    ok(clo_job_create(f->runtime, f->cost, &config, &job));
    for (int round = 0; round < (SANITIZED ? 3 : 10); round++) {
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, &result));
        assert_true(clo_job_output_hash(job) == wanted);
        assert_true(result.executed >= left);
        assert_true(result.hedges_won <= result.hedged);
        check_trace(f, job);
    }
    clo_job_destroy(job);
}

static void what_is_done_and_hedges_and_replicas_agree(void **state)
{
    (void)state;
    clo_task task = {.body = sum_inputs, .work_ns = 1000, .output_bytes = 64, .duplicable = 1};
    fixture plain = start_way(STEAL, scene_layers(LAYERS, WIDTH, &task));
    clo_job *whole = make_job(&plain, NULL, NULL);
    const void *outputs[TASKS];

    ok(clo_job_submit(whole));
    ok(clo_job_wait(whole, NULL));
    uint64_t wanted = clo_job_output_hash(whole);
    for (uint32_t t = 0; t < TASKS; t++)
        outputs[t] = clo_job_output(whole, t, 0, NULL);
    task.body = sum_somehow;
    task.may_pend = 1;
    driver_start(&drives, 0);
    for (int way = 0; way < WAYS; way++) {
        if (way == POLICY || way == SLOTS_POLICY)
            continue; /* hedges are for plans and work stealing */
        fixture f = start_way(way, scene_layers(LAYERS, WIDTH, &task));
        clo_plan *plan = way == PLAN ? plan_of(&f, "deft") : NULL;
        const uint64_t sets[] = {0, (1u << 11) - 1, 0x2aaaaaaa, 0x3fffffff, draw(1u << 30)};
        for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++)
            go_on(&f, plan, sets[s] & 0x3fffffff, outputs, wanted);
        clo_plan_destroy(plan);
        driver_drain(&drives);
        stop(&f);
    }
    driver_stop(&drives);
    clo_job_destroy(whole);
    stop(&plain);
}

/* The real-time profile */

static void a_series_in_the_callers_memory_allocates_nothing(void **state)
{
    (void)state;
    for (int way = 0; way < 3; way++) {
        clo_task task = {.body = sum_later, .work_ns = 1000, .output_bytes = 64, .may_pend = 1};
        clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
        clo_job_config job_config = CLO_JOB_CONFIG_INIT;
        fixture f = {.platform = scene_platform(2, 0), .graph = scene_layers(4, 3, &task)};
        size_t bytes, job_bytes;
        clo_job *job;
        clo_job_result result = CLO_JOB_RESULT_INIT;

        ok(clo_cost_create(f.graph, f.platform, &f.cost));
        config.unpinned = 1;
        config.recorder_events = 256;
        config.real_time = SANITIZED ? CLO_REAL_TIME_OFF : CLO_REAL_TIME_TRY;
        ok(clo_runtime_memory_bytes(f.platform, &config, &bytes));
        config.memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
        config.memory_bytes = bytes;
        ok(clo_runtime_create(f.platform, &config, &f.runtime));
        clo_plan *plan = way == PLAN ? plan_of(&f, "heft") : NULL;
        job_config.plan = plan;
        job_config.policy = way == POLICY ? clo_policy_find("fifo") : NULL;
        job_config.period_ns = 100000;
        job_config.releases = 50;
        job_config.task_limit_ns = INT64_C(3600000000000);
        ok(clo_job_memory_bytes(f.runtime, f.cost, &job_config, &job_bytes));
        job_config.memory = aligned_alloc(64, (job_bytes + 63) / 64 * 64);
        job_config.memory_bytes = job_bytes;
        ok(clo_job_create(f.runtime, f.cost, &job_config, &job));
        driver_start(&drives, 0);
        fault_fail_nth(0);
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, &result));
        assert_int_equal(fault_count(), 0);
        driver_stop(&drives);
        assert_int_equal(result.executed, 50 * clo_graph_instances(f.graph));
        clo_job_destroy(job);
        clo_plan_destroy(plan);
        stop(&f);
        free(job_config.memory);
        free(config.memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arms_and_loops_may_pend),
        cmocka_unit_test(a_range_is_completed_as_one),
        cmocka_unit_test(a_handle_may_be_changed_until_the_completion),
        cmocka_unit_test(what_is_done_and_hedges_and_replicas_agree),
        cmocka_unit_test(a_series_in_the_callers_memory_allocates_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
