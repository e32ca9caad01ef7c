/* Capacities of machines on real workers and in the simulator: who waits holds no executor, blocks nobody that fits, is
 * not passed for ever, and leaves at once when its job is stopped. */
#include "support.h"

#include "run/state/runtime.h"
#include "running.h"
#include "trace/trace.h"

#include <sched.h>
#include <string.h>

#define EXECUTORS 4u
#define LANES 3u
#define LENGTH 1500u

/* RESTRICTED: steal, but not on every executor. */
enum { STEAL, REPLAY, POLICY, RESTRICTED, MODES };

static _Atomic uint32_t passed, has_started, is_open, inside;
static clo_runtime *lanes_runtime;

/* EXECUTORS executors on one machine, of whose only resource there is `capacity`. */
static clo_platform *one_machine(int64_t capacity)
{
    clo_executor executors[EXECUTORS];
    int64_t capacities[CLO_RESOURCES_MAX] = {capacity, -1, -1, -1, -1, -1, -1, -1};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_platform *platform;

    for (uint32_t e = 0; e < EXECUTORS; e++)
        executors[e] = (clo_executor){0, 0, 0, -1, {65536, 65536, 65536, 65536}};
    desc.executors_count = EXECUTORS;
    desc.executors = executors;
    desc.kinds_count = 1;
    desc.machines_count = 1;
    desc.capacities = capacities;
    ok(clo_platform_create(&desc, &platform));
    return platform;
}

static clo_runtime *make_runtime(const clo_platform *platform, clo_clock clock)
{
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_runtime *runtime;

    config.unpinned = 1;
    config.trace = 1;
    config.clock = clock;
    ok(clo_runtime_create(platform, &config, &runtime));
    return runtime;
}

/* Counts itself if the big one waits: nobody else can be the oldest before that has started. */
static int run_small(const clo_call *call)
{
    clo_semaphore_state state;

    (void)clo_semaphore_read(&lanes_runtime->machines[0].semaphore, &state);
    if (state.oldest != CLO_SEMAPHORE_NEW && atomic_load(&has_started) == 0)
        atomic_fetch_add(&passed, 1);
    for (uint32_t i = 0; i < 2000 + 1000 * (call->task % LANES); i++)
        __asm__ volatile("");
    return 0;
}

static int run_big(const clo_call *call)
{
    (void)call;
    atomic_store(&has_started, 1);
    return 0;
}

/* Task 0 is the root, 1 the big one, after the first of the others, which make LANES lanes of small ones of different
 * lengths: as long as they last, one of them runs at any time. */
static clo_graph *lanes(void)
{
    clo_task root = {.work_ns = 10}, big = {.body = run_big, .work_ns = 1000, .demand = {EXECUTORS}};
    clo_graph *graph;

    ok(clo_graph_create("lanes", &graph));
    ok(clo_graph_add_task(graph, &root, NULL));
    ok(clo_graph_add_task(graph, &big, NULL));
    for (uint32_t i = 0; i < LANES * LENGTH; i++) {
        clo_task small = {.body = run_small, .work_ns = 1000 + 317 * (i % LANES), .demand = {1}};
        ok(clo_graph_add_task(graph, &small, NULL));
        ok(clo_graph_add_edge(graph, i < LANES ? 0 : i + 2 - LANES, i + 2, 0));
    }
    ok(clo_graph_add_edge(graph, 2, 1, 0));
    ok(clo_graph_seal(graph));
    return graph;
}

/* Each lane on an executor of its own, the big one alone on the last. */
static clo_plan *lanes_plan(const clo_cost *cost)
{
    static clo_placement placements[2 + LANES * LENGTH];
    clo_plan *plan;

    placements[0] = (clo_placement){.task = 0, .executor = EXECUTORS - 1, .start_ns = 0, .finish_ns = 10};
    placements[1] = (clo_placement){.task = 1, .executor = EXECUTORS - 1, .start_ns = 1010, .finish_ns = 2010};
    for (uint32_t i = 0; i < LANES * LENGTH; i++) {
        int64_t length_ns = 1000 + 317 * (i % LANES), start_ns = 10 + i / LANES * length_ns;
        placements[i + 2] = (clo_placement){
            .task = i + 2, .executor = i % LANES, .start_ns = start_ns, .finish_ns = start_ns + length_ns};
    }
    ok(clo_plan_from_placements(cost, "lanes", placements, 2 + LANES * LENGTH, &plan));
    return plan;
}

static uint32_t overtakes_in(const clo_trace *trace)
{
    size_t count;
    uint32_t overtakes = 0;
    const clo_trace_event *events = clo_trace_events(trace, &count);
    int64_t ready_ns = 0, start_ns = 0;

    for (size_t i = 0; i < count; i++) {
        ready_ns = events[i].task == 2 ? events[i].finish_ns : ready_ns;
        start_ns = events[i].task == 1 ? events[i].start_ns : start_ns;
    }
    for (size_t i = 0; i < count; i++)
        overtakes += events[i].task > 1 && events[i].start_ns >= ready_ns && events[i].start_ns < start_ns;
    return overtakes;
}

static void small_tasks_do_not_starve_a_big_one_in_the_simulator(void **state)
{
    (void)state;
    clo_graph *graph = lanes();
    clo_platform *platform = one_machine(EXECUTORS);
    clo_cost *cost;

    ok(clo_cost_create(graph, platform, &cost));
    clo_plan *plan = lanes_plan(cost);
    for (int mode = STEAL; mode <= POLICY; mode++) {
        clo_sim_config config = CLO_SIM_CONFIG_INIT;
        clo_trace *trace;
        config.plan = mode == REPLAY ? plan : NULL;
        config.policy = mode == POLICY ? clo_policy_find("fifo") : NULL;
        ok(clo_simulate(cost, &config, NULL, &trace, NULL));
        uint32_t overtakes = overtakes_in(trace);
        if (mode == REPLAY) /* the plan's order of starts */
            assert_int_equal(overtakes, 0);
        else
            assert_in_range(overtakes, 64, 64 + LANES); /* one of each lane may start at the same instant */
        clo_trace_destroy(trace);
    }
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
}

static void small_tasks_do_not_starve_a_big_one_on_workers(void **state)
{
    (void)state;
    clo_graph *graph = lanes();
    clo_platform *platform = one_machine(EXECUTORS);
    clo_runtime *runtime = make_runtime(platform, CLO_CLOCK_REAL);
    clo_cost *cost;

    lanes_runtime = runtime;
    ok(clo_cost_create(graph, platform, &cost));
    clo_plan *plan = lanes_plan(cost);
    for (int mode = STEAL; mode <= POLICY; mode++) {
        clo_job_config config = CLO_JOB_CONFIG_INIT;
        clo_job_result result = CLO_JOB_RESULT_INIT;
        clo_job *job;
        config.plan = mode == REPLAY ? plan : NULL;
        config.policy = mode == POLICY ? clo_policy_find("fifo") : NULL;
        ok(clo_job_create(runtime, cost, &config, &job));
        for (int run = 0; run < 3; run++) {
            atomic_store(&passed, 0);
            atomic_store(&has_started, 0);
            ok(clo_job_submit(job));
            ok(clo_job_wait(job, &result));
            assert_int_equal(result.executed, 2 + LANES * LENGTH);
            print_message("mode %d: %u small ones have passed the big one\n", mode, atomic_load(&passed));
            assert_in_range(atomic_load(&passed), 0, 64 + EXECUTORS); /* those that were on their way */
        }
        clo_job_destroy(job);
    }
    clo_plan_destroy(plan);
    clo_runtime_destroy(runtime);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
}

/* Holds what its task demands until the test opens. */
static int hold_on(const clo_call *call)
{
    (void)call;
    atomic_fetch_add(&inside, 1);
    while (atomic_load(&is_open) == 0)
        sched_yield();
    return 0;
}

static int fail_when_told(const clo_call *call)
{
    return *(const int *)call->argument;
}

/* `count` equal tasks, and if there is a code one that demands nothing and returns it. */
static clo_graph *few(uint32_t count, clo_task_fn body, int64_t demand, int *code, uint64_t mask)
{
    clo_task task = {.body = body, .work_ns = 1000, .demand = {demand}, .executors_mask = mask};
    clo_task other = {.body = fail_when_told, .argument = code, .work_ns = 1000, .executors_mask = mask};
    clo_graph *graph;

    ok(clo_graph_create("few", &graph));
    if (code != NULL) /* the first: to a policy, executors whose tasks wait for capacity count as busy */
        ok(clo_graph_add_task(graph, &other, NULL));
    for (uint32_t i = 0; i < count; i++)
        ok(clo_graph_add_task(graph, &task, NULL));
    ok(clo_graph_seal(graph));
    return graph;
}

typedef struct scene {
    clo_platform *platform;
    clo_runtime *runtime;
    clo_graph *graphs[3];
    clo_cost *costs[3];
    clo_plan *plan; /* of the second */
    int code;
} scene;

/* 0: holds two of three units on the last executor until it is told; 1: ten that want two, and one that wants none, but
 * for STEAL on the other executors only, since nobody takes from a worker what it alone may run; 2: one unit each. */
static void open_scene(scene *s, int mode)
{
    s->platform = one_machine(3);
    s->runtime = make_runtime(s->platform, CLO_CLOCK_REAL);
    s->code = 0;
    s->graphs[0] = few(1, hold_on, 2, NULL, 1u << (EXECUTORS - 1));
    s->graphs[1] = few(10, count_call, 2, &s->code, mode == STEAL ? 0 : (1u << (EXECUTORS - 1)) - 1);
    s->graphs[2] = few(20, count_call, 1, NULL, 0);
    for (int i = 0; i < 3; i++)
        ok(clo_cost_create(s->graphs[i], s->platform, &s->costs[i]));
    ok(clo_plan_create(s->costs[1], NULL, &s->plan));
    atomic_store(&is_open, 0);
    atomic_store(&inside, 0);
    atomic_store(&calls, 0);
}

static void close_scene(scene *s)
{
    clo_runtime_destroy(s->runtime);
    clo_plan_destroy(s->plan);
    for (int i = 0; i < 3; i++) {
        clo_cost_destroy(s->costs[i]);
        clo_graph_destroy(s->graphs[i]);
    }
    clo_platform_destroy(s->platform);
}

static clo_job *job_of(const scene *s, int which, int mode)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    config.plan = mode == REPLAY ? s->plan : NULL;
    config.policy = mode == POLICY ? clo_policy_find("fifo") : NULL;
    ok(clo_job_create(s->runtime, s->costs[which], &config, &job));
    return job;
}

#define LONG_NS 20000000000

static void who_waits_holds_no_executor_blocks_nobody_and_leaves_when_its_job_is_stopped(void **state)
{
    (void)state;
    for (int mode = STEAL; mode < MODES; mode++) {
        scene s;
        open_scene(&s, mode);
        clo_job *holder = job_of(&s, 0, STEAL), *waits = job_of(&s, 1, mode), *fits = job_of(&s, 2, STEAL);
        ok(clo_job_submit(holder));
        while (atomic_load(&inside) == 0)
            sched_yield();
        for (int round = 0; round < 20; round++) {
            ok(clo_job_submit(waits));
            ok(clo_job_submit(fits));
            ok(clo_job_wait_for(fits, LONG_NS, NULL)); /* beside those that wait */
            assert_int_equal(atomic_load(&calls), 20 * (round + 1));
            clo_job_cancel(waits);
            fails(CLO_ERR_CANCELLED, "cancelled", clo_job_wait_for(waits, LONG_NS, NULL));
            s.code = 3;
            ok(clo_job_submit(waits));
            fails(CLO_ERR_TASK, "failed with 3", clo_job_wait_for(waits, LONG_NS, NULL));
            s.code = 0;
        }
        ok(clo_job_submit(waits));
        atomic_store(&is_open, 1);
        ok(clo_job_wait_for(holder, LONG_NS, NULL));
        ok(clo_job_wait_for(waits, LONG_NS, NULL));
        assert_int_equal(atomic_load(&calls), 20 * 20 + 10);
        clo_job_destroy(holder);
        clo_job_destroy(waits);
        clo_job_destroy(fits);
        close_scene(&s);
    }
}

/* All modes at once beside each other, jobs cancelled and submitted again all the time: nothing is lost or left
 * behind. */
static void jobs_that_come_and_go_leave_the_capacities_whole(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, REPLAY);
    atomic_store(&is_open, 1);
    clo_job *jobs[6];
    for (int i = 0; i < 6; i++)
        jobs[i] = job_of(&s, i < 3 ? 1 : i % 3, i < 3 ? i : STEAL);
    for (int round = 0; round < 300; round++) {
        for (int i = 0; i < 6; i++)
            ok(clo_job_submit(jobs[i]));
        for (int i = round % 4; i < 6; i += 4)
            clo_job_cancel(jobs[i]);
        for (int i = 0; i < 6; i++) {
            clo_status status = clo_job_wait_for(jobs[i], LONG_NS, NULL);
            assert_true(status == CLO_OK || status == CLO_ERR_CANCELLED);
        }
    }
    for (int i = 0; i < 6; i++)
        clo_job_destroy(jobs[i]);
    close_scene(&s);
}

/* Under the virtual clock each job has capacities of its own; a stopped one ends like any other, and runs again. Work
 * stealing has no order there. */
static void a_run_in_virtual_time_ends_when_it_fails_or_is_cancelled_and_runs_again(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, REPLAY);
    clo_runtime *runtime = make_runtime(s.platform, CLO_CLOCK_VIRTUAL);
    clo_runtime_destroy(s.runtime);
    s.runtime = runtime;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_job *job = job_of(&s, 1, REPLAY);
    for (int round = 0; round < 50; round++) {
        s.code = round % 5 == 1 ? 7 : 0;
        ok(clo_job_submit(job));
        if (round % 5 == 2)
            clo_job_cancel(job);
        clo_status status = clo_job_wait_for(job, LONG_NS, &result);
        assert_true(round % 5 == 1   ? status == CLO_ERR_TASK
                    : round % 5 == 2 ? status == CLO_OK || status == CLO_ERR_CANCELLED
                                     : status == CLO_OK && result.executed == 11 && result.makespan_ns == 10000);
    }
    clo_job_destroy(job);
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    fails(CLO_ERR_UNSUPPORTED, "use clo_simulate", clo_job_create(runtime, s.costs[1], &config, &job));
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_tasks_do_not_starve_a_big_one_in_the_simulator),
        cmocka_unit_test(small_tasks_do_not_starve_a_big_one_on_workers),
        cmocka_unit_test(who_waits_holds_no_executor_blocks_nobody_and_leaves_when_its_job_is_stopped),
        cmocka_unit_test(jobs_that_come_and_go_leave_the_capacities_whole),
        cmocka_unit_test(a_run_in_virtual_time_ends_when_it_fails_or_is_cancelled_and_runs_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
