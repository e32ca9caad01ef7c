/* Devices that are lost, full, or not prepared: results are right all the same, and what happened is named. */
#define _DEFAULT_SOURCE
#include "device_scene.h"

#include <clotho/sim.h>

#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static _Atomic uint32_t losses;

static void count_loss(void *argument, const char *reason)
{
    (void)argument;
    assert_true(strlen(reason) > 0);
    atomic_fetch_add(&losses, 1);
}

static void a_lost_device_loses_no_data(void **state)
{
    static const char *const faults[] = {"fail=5", "refuse=5", "lose=5", "hang=5", "late=5", "fail=1", "hang=1"};

    (void)state;
    for (size_t f = 0; f < sizeof faults / sizeof faults[0]; f++)
        for (int way = 0; way < DEVICE_WAYS; way++) {
            clo_device_config config = CLO_DEVICE_CONFIG_INIT;
            char selector[80];
            clo_plan *plan;
            config.limit_ns = 20000000;
            config.no_trial = 1;
            config.on_lost = count_loss;
            atomic_store(&losses, 0);
            snprintf(selector, sizeof selector, "launch_ns=10000,depth=2,%s", faults[f]);
            device_scene s = device_open(selector, &config, 2);
            device_graph(&s, f, true, false);
            ok(clo_device_prepare(s.device, s.graph));
            device_start(&s);
            clo_job *job = device_job(&s, way, &plan);
            for (int run = 0; run < 3; run++)
                device_run(&s, job);
            clo_device_stats stats = device_stats(&s);
            if (way == 0) { /* the plan gives it enough */
                assert_int_equal(stats.is_lost, 1);
                assert_true(strlen(stats.reason) > 0);
                assert_int_equal(atomic_load(&losses), 1);
                assert_true(stats.fallbacks > 0);
                assert_true(stats.launched <= 4 || strcmp(faults[f], "lose=5") == 0); /* which loses no other */
                fails(CLO_ERR_STATE, "lost", clo_device_prepare(s.device, s.graph));
            }
            clo_job_destroy(job);
            clo_plan_destroy(plan);
            device_stop(&s);
        }
}

static void without_a_fallback_the_task_fails_by_name(void **state)
{
    clo_device_config config = CLO_DEVICE_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_plan *plan;

    (void)state;
    config.no_trial = 1;
    device_scene s = device_open("fail=3", &config, 1);
    device_graph(&s, 1, false, true);
    ok(clo_device_prepare(s.device, s.graph));
    device_start(&s);
    clo_job *job = device_job(&s, 0, &plan);
    ok(clo_job_submit(job));
    assert_int_equal(clo_job_wait(job, &result), CLO_ERR_TASK);
    assert_int_equal(result.failed_code, CLO_FAILED_DEVICE);
    assert_non_null(strstr(device_stats(&s).reason, "failed"));
    clo_job_destroy(job);
    clo_plan_destroy(plan);
    device_stop(&s);
}

typedef struct swap {
    clo_job *job;
    const clo_plan *plan;
} swap;

static void swap_plan(void *argument, const char *reason)
{
    swap *to = argument;

    (void)reason;
    if (to->job != NULL)
        assert_int_equal(clo_job_swap_plan(to->job, to->plan), CLO_OK);
}

/* The plan that was made beforehand: for a graph whose kernels have times that nobody would choose. */
static void the_next_run_takes_a_plan_without_the_device(void **state)
{
    swap to = {0};
    clo_device_config config = CLO_DEVICE_CONFIG_INIT;
    clo_placement placements[DEVICE_TASKS];
    clo_plan *plan, *without;

    (void)state;
    config.no_trial = 1;
    config.on_lost = swap_plan;
    config.argument = &to;
    device_scene s = device_open("fail=4", &config, 1);
    device_graph(&s, 2, true, false);
    ok(clo_device_prepare(s.device, s.graph));
    device_start(&s);
    for (uint32_t t = 0; t < DEVICE_TASKS; t++) /* one after the other on CPU 0 */
        placements[t] = (clo_placement){.task = t, .executor = 0, .start_ns = t * 40000, .finish_ns = (t + 1) * 40000};
    ok(clo_plan_from_placements(s.cost, "by hand", placements, DEVICE_TASKS, &without));
    clo_job *job = device_job(&s, 0, &plan);
    to = (swap){job, without};
    device_run(&s, job); /* it is lost */
    uint64_t fallbacks = device_stats(&s).fallbacks;
    assert_true(fallbacks > 0);
    device_run(&s, job);
    assert_int_equal(device_stats(&s).fallbacks, fallbacks);
    to.job = NULL;
    clo_job_destroy(job);
    clo_plan_destroy(plan);
    clo_plan_destroy(without);
    device_stop(&s);
}

/* More executions than requests: the slot's thread does what is too many. So does an unprepared device. */
static void what_finds_no_request_is_done_by_its_fallback(void **state)
{
    clo_device_config config = CLO_DEVICE_CONFIG_INIT;
    clo_plan *plan;

    (void)state;
    config.requests_max = 1;
    for (int is_prepared = 0; is_prepared < 2; is_prepared++) {
        device_scene s = device_open("launch_ns=200000", &config, 4);
        device_graph(&s, 5, true, false);
        if (is_prepared)
            ok(clo_device_prepare(s.device, s.graph));
        device_start(&s);
        clo_job *job = device_job(&s, 0, &plan);
        device_run(&s, job);
        clo_device_stats stats = device_stats(&s);
        if (!is_prepared)
            assert_int_equal(stats.launched, 0);
        assert_int_equal(stats.is_lost, 0);
        clo_job_destroy(job);
        clo_plan_destroy(plan);
        device_stop(&s);
    }
}

/* A graph of one task with so many inputs, whose kernel has `bytes` of memory. */
static clo_graph *with_inputs(const device_scene *s, uint32_t inputs, clo_kernel *kernel, clo_operand *memory,
                              size_t bytes)
{
    clo_graph *graph;
    uint32_t npu;

    *memory = (clo_operand){.source = CLO_OPERAND_MEMORY, .mode = CLO_ACCESS_WRITE, .address = memory, .bytes = bytes};
    *kernel = (clo_kernel)CLO_KERNEL_INIT;
    kernel->device = s->device;
    kernel->function = 1; /* which does nothing */
    kernel->operands = memory;
    kernel->operands_count = 1;
    ok(clo_graph_create("inputs", &graph));
    ok(clo_graph_kind(graph, "npu", &npu));
    for (uint32_t t = 0; t <= inputs; t++)
        ok(clo_graph_add_task(graph, &(clo_task){.output_bytes = 8, .may_pend = 1}, NULL));
    for (uint32_t t = 0; t < inputs; t++)
        ok(clo_graph_add_edge(graph, t, inputs, 8));
    ok(clo_graph_set_kernel(graph, inputs, npu, kernel));
    ok(clo_graph_seal(graph));
    return graph;
}

/* It is refused, or it is as if the jobs had waited. */
static void other_graphs_are_prepared_beside_jobs(void **state)
{
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_operand memory;
    clo_kernel kernel;
    clo_plan *plan;

    (void)state;
    device_scene s = device_open("launch_ns=1000,depth=2", NULL, 2);
    device_graph(&s, 9, true, true);
    ok(clo_device_prepare(s.device, s.graph));
    device_start(&s);
    clo_job *job = device_job(&s, 1, &plan);
    for (uint32_t inputs = 4; inputs < 100; inputs++) {
        clo_graph *other = with_inputs(&s, inputs, &kernel, &memory, sizeof memory);
        ok(clo_job_submit(job));
        for (int tries = 0; tries < 5; tries++) {
            clo_status status = clo_device_prepare(s.device, other);
            assert_true(status == CLO_OK || status == CLO_ERR_STATE);
        }
        ok(clo_job_wait(job, &result));
        device_check(&s, job);
        clo_graph_destroy(other);
    }
    assert_int_equal(device_stats(&s).is_lost, 0);
    clo_job_destroy(job);
    device_stop(&s);
}

/* The driver null with little memory, which it does not tell. */
static clo_status reserve_little(void *device, size_t bytes, clo_device_arena *out)
{
    return bytes > 16384 ? clo_device_fail(CLO_ERR_LIMIT, "too little memory")
                         : clo_driver_find("null")->reserve(device, bytes, out);
}

static void a_graph_that_does_not_fit_leaves_the_others_prepared(void **state)
{
    static const clo_host_kernel function = {.name = "mix", .run = device_function};
    clo_driver driver = *clo_driver_find("null");
    clo_device_config config = CLO_DEVICE_CONFIG_INIT;
    device_scene s = {.platform = device_platform(1, 1)};
    clo_operand memory;
    clo_kernel kernel;
    clo_plan *plan;

    (void)state;
    driver.reserve = reserve_little;
    config.host_kernels = &function;
    config.host_kernels_count = 1;
    ok(clo_device_open(&driver, "", &config, &s.device));
    device_graph(&s, 2, true, false);
    ok(clo_device_prepare(s.device, s.graph));
    clo_graph *other = with_inputs(&s, 1, &kernel, &memory, 16385);
    fails(CLO_ERR_LIMIT, "too little memory", clo_device_prepare(s.device, other));
    clo_graph_destroy(other);
    device_start(&s);
    clo_job *job = device_job(&s, 0, &plan);
    device_run(&s, job);
    assert_int_equal(device_stats(&s).fallbacks + device_stats(&s).crowded, 0);
    assert_true(device_stats(&s).launched > 0);
    clo_job_destroy(job);
    clo_plan_destroy(plan);
    device_stop(&s);
}

/* In a child nobody serves the device: what would wait for it is refused, and simulations call fallbacks. */
static void a_forked_child_does_without_the_device(void **state)
{
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    uint64_t hash = 0, of_child = 0;
    uint32_t function;
    int status, pipes[2];

    (void)state;
    device_scene s = device_open("", NULL, 1);
    device_graph(&s, 6, true, false);
    ok(clo_device_prepare(s.device, s.graph));
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    config.execute = 1;
    ok(clo_simulate(s.cost, &config, &result, NULL, &hash));
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        bool is_good = clo_device_prepare(s.device, s.graph) == CLO_ERR_STATE &&
                       clo_device_find(s.device, "mix", &function) == CLO_ERR_STATE &&
                       clo_simulate(s.cost, &config, &result, NULL, &of_child) == CLO_OK;
        clo_device_close(s.device);
        is_good = is_good && write(pipes[1], &of_child, sizeof of_child) == sizeof of_child;
        _exit(is_good ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(read(pipes[0], &of_child, sizeof of_child), sizeof of_child);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(of_child, hash);
    close(pipes[0]);
    close(pipes[1]);
    device_stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_device_loses_no_data),
        cmocka_unit_test(without_a_fallback_the_task_fails_by_name),
        cmocka_unit_test(the_next_run_takes_a_plan_without_the_device),
        cmocka_unit_test(what_finds_no_request_is_done_by_its_fallback),
        cmocka_unit_test(other_graphs_are_prepared_beside_jobs),
        cmocka_unit_test(a_graph_that_does_not_fit_leaves_the_others_prepared),
        cmocka_unit_test(a_forked_child_does_without_the_device),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
