/* Deep slots (CLO_OS_SLOT_DEEP): several bodies pending at once on what is one executor in plans and traces. */
#define _GNU_SOURCE
#include "support.h"

#include "device_scene.h"
#include "driver.h"
#include "recorded.h"
#include "running.h"

#include <string.h>
#include <unistd.h>

enum { DEPTH = 3, TASKS = 24 };

static driver drives;
static _Atomic uint32_t under_way, most_under_way;

static void note_begin(void)
{
    uint32_t now = atomic_fetch_add(&under_way, 1) + 1, most = atomic_load(&most_under_way);

    while (now > most && !atomic_compare_exchange_weak(&most_under_way, &most, now))
        continue;
}

/* Pending until the driver completes it; the output is the sum of the inputs, and one more from the driver. */
static int sum_later(const clo_call *call)
{
    clo_token token;
    int code = sum_inputs(call);

    if (code != 0 || clo_token_take(call, NULL, NULL, &token) != CLO_OK)
        return 2;
    driver_give(&drives, token, call->output);
    return CLO_PENDING;
}

static int sum_at_once(const clo_call *call)
{
    int code = sum_inputs(call);

    ++*(uint64_t *)call->output;
    return code;
}

/* `cpus` CPUs, then `slots` slots of that depth, all in one memory, with three of a resource. */
static fixture start_deep(uint32_t cpus, uint32_t slots, int32_t depth, clo_graph *graph)
{
    const char *const names[] = {"cpu", "slot"};
    int64_t capacities[CLO_RESOURCES_MAX] = {3, -1, -1, -1, -1, -1, -1, -1};
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_executor list[8];
    fixture f = {.graph = graph};

    for (uint32_t e = 0; e < cpus + slots; e++)
        list[e] = (clo_executor){
            e >= cpus && cpus > 0, 0, 0, e < cpus ? -1 : CLO_OS_SLOT_DEEP(depth), {65536, 65536, 65536, 65536}};
    desc.executors_count = cpus + slots;
    desc.executors = list;
    desc.kinds_count = 1 + (cpus > 0);
    desc.kind_names = names;
    desc.capacities = capacities;
    config.unpinned = config.trace = 1;
    ok(clo_platform_create(&desc, &f.platform));
    ok(clo_cost_create(graph, f.platform, &f.cost));
    ok(clo_runtime_create(f.platform, &config, &f.runtime));
    return f;
}

/* No two executions of an executor overlap in it, and the rules of edges hold. */
static void check_trace(const fixture *f, const clo_job *job)
{
    clo_trace *trace;
    clo_plan *ran;

    ok(clo_job_trace(job, &trace));
    ok(clo_trace_to_plan(trace, f->cost, &ran));
    ok(clo_plan_check(ran, f->cost, CLO_CHECK_MEASURED));
    clo_plan_destroy(ran);
    clo_trace_destroy(trace);
}

/* The driver completes nothing before DEPTH bodies are pending: a slot that begins fewer never ends. */
static void plans_and_stealing_use_the_depth_of_a_slot(void **state)
{
    clo_task task = {.body = sum_later, .work_ns = 1000, .output_bytes = 64, .may_pend = 1};
    clo_job_result result = CLO_JOB_RESULT_INIT;

    (void)state;
    for (int way = 0; way < 2; way++) {
        fixture f = start_deep(0, 1, DEPTH, scene_layers(1, TASKS, &task));
        clo_plan *plan = NULL;
        if (way == 0)
            ok(clo_plan_create(f.cost, NULL, &plan));
        clo_job *job = make_job(&f, NULL, plan);
        for (int run = 0; run < 20; run++) {
            driver_start(&drives, DEPTH);
            ok(clo_job_submit(job));
            ok(clo_job_wait(job, &result));
            assert_int_equal(result.executed, TASKS);
            driver_stop(&drives);
            assert_int_equal(atomic_load(&drives.stale), 0);
            check_trace(&f, job);
        }
        clo_job_destroy(job);
        clo_plan_destroy(plan);
        stop(&f);
    }
}

static _Atomic uint32_t open_tokens;
static clo_token kept[TASKS];

static int keep_token(const clo_call *call)
{
    if (clo_token_take(call, NULL, NULL, &kept[atomic_load(&open_tokens)]) != CLO_OK) /* a thread calls all */
        return 2;
    note_begin();
    atomic_fetch_add(&open_tokens, 1);
    return CLO_PENDING;
}

/* Completes the tokens in the order in which they came. */
static void complete_in_order(clo_job *job)
{
    for (uint32_t t = 0; t < TASKS; t++) {
        while (atomic_load(&open_tokens) <= t)
            usleep(50);
        atomic_fetch_sub(&under_way, 1);
        ok(clo_token_complete(kept[t], 0));
    }
    ok(clo_job_wait(job, NULL));
}

/* Policies, and jobs with limits of bodies: the scheduler, and the watchdog, know one body of an executor. */
static void other_jobs_begin_one_body_after_the_other(void **state)
{
    clo_task task = {.body = keep_token, .work_ns = 1000, .may_pend = 1};

    (void)state;
    for (int way = 0; way < 3; way++) {
        fixture f = start_deep(0, 1, DEPTH, scene_layers(1, TASKS, &task));
        clo_job_config config = CLO_JOB_CONFIG_INIT;
        clo_plan *plan;
        clo_job *job;
        ok(clo_plan_create(f.cost, NULL, &plan));
        config.policy = way == 0 ? clo_policy_find("fifo") : NULL;
        config.plan = way == 1 ? plan : NULL;
        config.task_limit_ns = way > 0 ? 60000000000 : 0;
        ok(clo_job_create(f.runtime, f.cost, &config, &job));
        atomic_store(&open_tokens, 0);
        atomic_store(&under_way, 0);
        atomic_store(&most_under_way, 0);
        ok(clo_job_submit(job));
        complete_in_order(job);
        assert_int_equal(atomic_load(&most_under_way), 1);
        check_trace(&f, job);
        clo_job_destroy(job);
        clo_plan_destroy(plan);
        stop(&f);
    }
}

static uint64_t hash_of(const fixture *f, const clo_policy *policy, const clo_plan *plan)
{
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_job *job = make_job(f, policy, plan);

    for (int run = 0; run < 20; run++) {
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, &result));
        assert_int_equal(result.executed, clo_graph_instances(f->graph));
        check_trace(f, job);
    }
    uint64_t hash = clo_job_output_hash(job);
    clo_job_destroy(job);
    return hash;
}

/* What waits for each other on one slot is not pending there at once; what demands of a machine waits for that. */
static void edges_and_demands_hold_within_a_deep_slot(void **state)
{
    uint64_t hashes[4];

    (void)state;
    driver_start(&drives, 0);
    for (int round = 0; round < 4; round++) {
        clo_task task = {.work_ns = 1000, .output_bytes = 64, .may_pend = 1, .demand = {round / 2}};
        task.body = round % 2 ? sum_later : sum_at_once;
        fixture f = start_deep((uint32_t)round / 2, 2, DEPTH, scene_layers(6, 5, &task));
        clo_plan *plan;
        ok(clo_plan_create(f.cost, NULL, &plan));
        hashes[round] = hash_of(&f, NULL, NULL);
        assert_true(hash_of(&f, NULL, plan) == hashes[round]);
        assert_true(hash_of(&f, clo_policy_find("eft"), NULL) == hashes[round]);
        clo_plan_destroy(plan);
        stop(&f);
    }
    driver_stop(&drives);
    assert_true(hashes[0] == hashes[1] && hashes[2] == hashes[3]);
}

static void cancel_nothing(void *argument)
{
    atomic_fetch_add((_Atomic uint32_t *)argument, 1);
}

static _Atomic uint32_t cancelled;

static int pend_and_be_told(const clo_call *call)
{
    if (clo_token_take(call, cancel_nothing, &cancelled, &kept[atomic_load(&open_tokens)]) != CLO_OK)
        return 2;
    atomic_fetch_add(&open_tokens, 1);
    return CLO_PENDING;
}

static void a_cancel_reaches_all_that_is_pending_on_a_slot(void **state)
{
    clo_task task = {.body = pend_and_be_told, .work_ns = 1000, .may_pend = 1};

    (void)state;
    fixture f = start_deep(0, 1, DEPTH, scene_layers(1, TASKS, &task));
    clo_job *job = make_job(&f, NULL, NULL);
    for (int run = 0; run < 50; run++) {
        atomic_store(&open_tokens, 0);
        atomic_store(&cancelled, 0);
        ok(clo_job_submit(job));
        while (atomic_load(&open_tokens) < DEPTH)
            usleep(50);
        clo_job_cancel(job);
        while (atomic_load(&cancelled) < DEPTH) /* each is told */
            usleep(50);
        for (uint32_t t = 0; t < DEPTH; t++)
            ok(clo_token_complete(kept[t], 1));
        assert_int_equal(clo_job_wait(job, NULL), CLO_ERR_CANCELLED);
        assert_int_equal(atomic_load(&open_tokens), DEPTH);
    }
    clo_job_destroy(job);
    stop(&f);
}

static void is_valid(const void *context, const clo_trace *recorded)
{
    const device_scene *s = context;
    clo_plan *happened;

    ok(clo_trace_to_plan(recorded, s->cost, &happened));
    ok(clo_plan_check(happened, s->cost, CLO_CHECK_MEASURED));
    clo_plan_destroy(happened);
}

/* The simulator knows one executor, and decides as the run did. */
static void a_device_that_is_one_deep_slot_replays_decision_by_decision(void **state)
{
    (void)state;
    for (uint32_t depth = 2; depth <= CLO_SLOT_DEPTH_MAX; depth++)
        for (int way = 0; way < DEVICE_WAYS; way++) {
            device_scene s = device_open_deep("launch_ns=20000,copy_ns=9000,depth=2", NULL, depth);
            clo_plan *plan = NULL;
            device_graph(&s, depth, true, true);
            ok(clo_device_prepare(s.device, s.graph));
            ok(clo_cost_create(s.graph, s.platform, &s.cost));
            if (way == 0)
                ok(clo_plan_create(s.cost, NULL, &plan));
            record_and_replay(s.cost, plan, way == 2 ? clo_policy_find("eft") : NULL, depth, is_valid, &s);
            assert_true(device_stats(&s).launched > 0);
            clo_plan_destroy(plan);
            device_stop(&s);
        }
}

static int end_at_once(const clo_call *call)
{
    (void)call;
    return 0;
}

static int complete_first(const clo_call *call)
{
    (void)call;
    return clo_token_complete(kept[0], 0) != CLO_OK;
}

/* Tasks 0 and 1 on the slot; 2 on the CPU, behind 1, ends 0. */
static void what_ends_first_on_a_deep_slot_replays_where_it_began_last(void **state)
{
    static const clo_placement placements[] = {{.task = 0, .executor = 1, .finish_ns = 1000},
                                               {.task = 1, .executor = 1, .start_ns = 1000, .finish_ns = 2000},
                                               {.task = 2, .executor = 0, .start_ns = 2000, .finish_ns = 3000}};
    const clo_task tasks[] = {{.body = keep_token, .work_ns = 1000, .may_pend = 1},
                              {.body = end_at_once, .work_ns = 1000, .may_pend = 1},
                              {.body = complete_first, .work_ns = 1000}};
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_graph *graph;
    clo_plan *plan;
    clo_trace *recorded;

    (void)state;
    ok(clo_graph_create("late", &graph));
    ok(clo_graph_add_tasks(graph, tasks, 3, NULL));
    ok(clo_graph_add_edge(graph, 1, 2, 0));
    ok(clo_graph_seal(graph));
    fixture f = start_deep(1, 1, 2, graph);
    ok(clo_plan_from_placements(f.cost, NULL, placements, 3, &plan));
    clo_job *job = make_job(&f, NULL, plan);
    atomic_store(&open_tokens, 0);
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    ok(clo_job_trace(job, &recorded));
    config.plan = plan;
    config.recorded = recorded;
    ok(clo_simulate(f.cost, &config, NULL, NULL, NULL));
    clo_trace_destroy(recorded);
    clo_job_destroy(job);
    clo_plan_destroy(plan);
    stop(&f);
}

static void kernels_give_what_bodies_give_on_a_deep_slot(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3; seed++)
        for (int way = 0; way < DEVICE_WAYS; way++) {
            clo_plan *plan;
            device_scene s = device_open_deep(seed == 2 ? "launch_ns=20000,copy_ns=3000,depth=2,fail=60"
                                                        : "launch_ns=20000,copy_ns=3000,depth=2",
                                              NULL, 2 + (uint32_t)seed);
            device_graph(&s, seed, true, seed % 2 == 0);
            ok(clo_device_prepare(s.device, s.graph));
            device_start(&s);
            clo_job *job = device_job(&s, way, &plan);
            for (int run = 0; run < 5; run++)
                device_run(&s, job);
            assert_true(seed == 2 || device_stats(&s).fallbacks + device_stats(&s).crowded == 0);
            clo_job_destroy(job);
            clo_plan_destroy(plan);
            device_stop(&s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_and_stealing_use_the_depth_of_a_slot),
        cmocka_unit_test(other_jobs_begin_one_body_after_the_other),
        cmocka_unit_test(edges_and_demands_hold_within_a_deep_slot),
        cmocka_unit_test(a_cancel_reaches_all_that_is_pending_on_a_slot),
        cmocka_unit_test(a_device_that_is_one_deep_slot_replays_decision_by_decision),
        cmocka_unit_test(what_ends_first_on_a_deep_slot_replays_where_it_began_last),
        cmocka_unit_test(kernels_give_what_bodies_give_on_a_deep_slot),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
