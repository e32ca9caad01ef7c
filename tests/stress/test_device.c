/* Kernels on a device: results are those of bodies in every way to dispatch. test_device_lost.c has what goes wrong. The
 * device is the driver "null", which overwrites memory that nobody may read. */
#define _DEFAULT_SOURCE /* usleep */
#include "device_scene.h"

#include "recorded.h"

#include <clotho/pipeline.h>
#include <clotho/sim.h>

#include <stdio.h>
#include <unistd.h>

static void kernels_give_what_bodies_give(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 4; seed++)
        for (int way = 0; way < DEVICE_WAYS; way++) {
            uint32_t depth = 1 + (uint32_t)(seed % 3);
            char selector[80];
            clo_plan *plan;
            snprintf(selector, sizeof selector, "launch_ns=20000,copy_ns=3000,MBps=4000,depth=%u", depth);
            device_scene s = device_open(selector, NULL, depth);
            device_graph(&s, seed, true, seed % 2 == 0);
            ok(clo_device_prepare(s.device, s.graph));
            device_start(&s);
            clo_job *job = device_job(&s, way, &plan);
            for (int run = 0; run < 3; run++)
                device_run(&s, job);
            clo_device_stats stats = device_stats(&s);
            assert_int_equal(stats.is_lost, 0);
            assert_int_equal(stats.fallbacks + stats.crowded, 0);
            assert_true(way != 0 || stats.launched > 0);
            assert_int_equal(stats.busy_ns, stats.launched * 20000);
            assert_int_equal(stats.get_bytes, stats.launched * sizeof(uint64_t) * DEVICE_WORDS);
            clo_job_destroy(job);
            clo_plan_destroy(plan);
            device_stop(&s);
        }
}

static void a_cancelled_run_waits_for_the_device(void **state)
{
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_plan *plan;

    (void)state;
    device_scene s = device_open("launch_ns=300000,depth=2", NULL, 2);
    device_graph(&s, 3, true, false);
    ok(clo_device_prepare(s.device, s.graph));
    device_start(&s);
    clo_job *job = device_job(&s, 0, &plan);
    for (int run = 0; run < 20; run++) {
        ok(clo_job_submit(job));
        usleep((unsigned)(run * 150));
        clo_job_cancel(job);
        clo_status status = clo_job_wait(job, &result);
        assert_true(status == CLO_OK || status == CLO_ERR_CANCELLED);
    }
    device_run(&s, job);
    clo_job_destroy(job);
    clo_plan_destroy(plan);
    device_stop(&s);
}

static void several_jobs_share_a_device(void **state)
{
    clo_job *jobs[3];
    clo_plan *plans[3];
    clo_job_result result = CLO_JOB_RESULT_INIT;

    (void)state;
    device_scene s = device_open("launch_ns=5000,depth=3", NULL, 3);
    device_graph(&s, 4, true, false);
    ok(clo_device_prepare(s.device, s.graph));
    device_start(&s);
    for (int way = 0; way < DEVICE_WAYS; way++)
        jobs[way] = device_job(&s, way, &plans[way]);
    for (int run = 0; run < 10; run++) {
        for (int way = 0; way < DEVICE_WAYS; way++)
            ok(clo_job_submit(jobs[way]));
        for (int way = 0; way < DEVICE_WAYS; way++) {
            ok(clo_job_wait(jobs[way], &result));
            device_check(&s, jobs[way]);
        }
    }
    assert_int_equal(device_stats(&s).is_lost, 0);
    for (int way = 0; way < DEVICE_WAYS; way++) {
        clo_job_destroy(jobs[way]);
        clo_plan_destroy(plans[way]);
    }
    device_stop(&s);
}

/* Three releases at once, by a plan and without one; also past the loss of the device. */
static void releases_in_flight_share_a_device(void **state)
{
    static const char *const selectors[] = {"launch_ns=5000,depth=2", "launch_ns=5000,depth=2,fail=70"};

    (void)state;
    for (int way = 0; way < 2; way++)
        for (int f = 0; f < 2; f++) {
            clo_pipeline_config pipeline = CLO_PIPELINE_CONFIG_INIT;
            clo_job_config config = CLO_JOB_CONFIG_INIT;
            clo_job_result result = CLO_JOB_RESULT_INIT;
            clo_plan *plan = NULL;
            clo_job *job;
            device_scene s = device_open(selectors[f], NULL, 2);
            device_graph(&s, 8, true, true);
            ok(clo_device_prepare(s.device, s.graph));
            device_start(&s);
            pipeline.releases_in_flight = config.releases_in_flight = 3;
            config.releases = 50;
            if (way == 0)
                ok(clo_plan_pipeline(s.cost, &pipeline, &plan));
            config.plan = plan;
            ok(clo_job_create(s.runtime, s.cost, &config, &job));
            ok(clo_job_submit(job));
            ok(clo_job_wait(job, &result));
            device_check(&s, job);
            assert_int_equal(device_stats(&s).is_lost, f);
            clo_job_destroy(job);
            clo_plan_destroy(plan);
            device_stop(&s);
        }
}

/* A simulator has no device: bodies that it calls are the fallbacks. */
static void a_simulation_calls_fallbacks(void **state)
{
    clo_sim_config config = CLO_SIM_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_plan *plan;
    uint64_t hash;

    (void)state;
    device_scene s = device_open("", NULL, 1);
    device_graph(&s, 6, true, false);
    ok(clo_device_prepare(s.device, s.graph));
    device_start(&s);
    clo_job *job = device_job(&s, 0, &plan);
    device_run(&s, job);
    config.plan = plan;
    config.execute = 1;
    ok(clo_simulate(s.cost, &config, &result, NULL, &hash));
    assert_int_equal(result.makespan_ns, clo_plan_makespan_ns(plan));
    assert_int_equal(hash, clo_job_output_hash(job));
    clo_job_destroy(job);
    clo_plan_destroy(plan);
    device_stop(&s);
}

/* In place: application memory and handles; the copy lane works beside the kernels. */
static void increment(void *const *operands, const size_t *bytes, uint32_t count, const clo_scalar *scalars)
{
    uint64_t *words = operands[0], by;

    assert_int_equal(count, 1);
    memcpy(&by, scalars[0].value, sizeof by);
    for (size_t w = 0; w < bytes[0] / sizeof *words; w++)
        words[w] = words[w] * 3 + by;
}

enum { CHAIN = 20, WORDS = 32 };

static void kernels_change_memory_and_handles_in_place(void **state)
{
    static const clo_host_kernel function = {.name = "increment", .run = increment, .takes_ns = 5000};
    static uint64_t memory[WORDS], numbers[CHAIN];
    clo_device_config config = CLO_DEVICE_CONFIG_INIT;
    clo_operand operands[2] = {
        {.source = CLO_OPERAND_MEMORY, .mode = CLO_ACCESS_UPDATE, .address = memory, .bytes = sizeof memory},
        {.source = CLO_OPERAND_HANDLE}};
    clo_scalar scalars[CHAIN];
    clo_kernel kernels[CHAIN];
    clo_plan *plan;

    (void)state;
    config.host_kernels = &function;
    config.host_kernels_count = 1;
    for (int is_handle = 0; is_handle < 2; is_handle++) {
        device_scene s = {.platform = device_platform(2, 1)};
        uint64_t expected = 7;
        uint32_t npu, handle;
        ok(clo_device_open(clo_driver_find("null"), "depth=2", &config, &s.device));
        ok(clo_graph_create("chain", &s.graph));
        ok(clo_graph_kind(s.graph, "npu", &npu));
        ok(clo_graph_add_handle(s.graph, &(clo_handle){.bytes = sizeof memory, .address = memory}, &handle));
        for (uint32_t t = 0; t < CHAIN; t++) {
            numbers[t] = t;
            scalars[t] = (clo_scalar){&numbers[t], sizeof numbers[t]};
            kernels[t] = (clo_kernel)CLO_KERNEL_INIT;
            kernels[t].device = s.device;
            kernels[t].operands = &operands[is_handle];
            kernels[t].operands_count = 1;
            kernels[t].scalars = &scalars[t];
            kernels[t].scalars_count = 1;
            ok(clo_graph_add_task(s.graph, &(clo_task){.work_ns = 5000, .may_pend = 1}, NULL));
            ok(clo_graph_set_kernel(s.graph, t, npu, &kernels[t]));
            if (is_handle)
                ok(clo_graph_add_access(s.graph, t, handle, CLO_ACCESS_UPDATE));
            else if (t > 0)
                ok(clo_graph_add_edge(s.graph, t - 1, t, 0));
            expected = expected * 3 + t;
        }
        ok(clo_graph_seal(s.graph));
        ok(clo_device_prepare(s.device, s.graph));
        for (uint32_t w = 0; w < WORDS; w++)
            memory[w] = 7;
        device_start(&s);
        clo_job *job = device_job(&s, 0, &plan);
        clo_job_result result = CLO_JOB_RESULT_INIT;
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, &result));
        for (uint32_t w = 0; w < WORDS; w++)
            assert_int_equal(memory[w], expected);
        assert_int_equal(device_stats(&s).launched, CHAIN);
        clo_job_destroy(job);
        clo_plan_destroy(plan);
        device_stop(&s);
    }
}

/* Without outputs a call has no inputs, whatever waits for what: the handle is the first operand. */
static void a_graph_of_handles_alone_has_no_inputs(void **state)
{
    static const clo_host_kernel function = {.name = "increment", .run = increment};
    static const uint64_t by = 5;
    static const clo_scalar scalar = {&by, sizeof by};
    clo_device_config config = CLO_DEVICE_CONFIG_INIT;
    clo_job_result result = CLO_JOB_RESULT_INIT;
    device_scene s = {.platform = device_platform(1, 1)};
    clo_kernel kernel = CLO_KERNEL_INIT;
    uint32_t npu, handle;
    clo_plan *plan;

    (void)state;
    config.host_kernels = &function;
    config.host_kernels_count = 1;
    ok(clo_device_open(clo_driver_find("null"), "", &config, &s.device));
    kernel.device = s.device;
    kernel.scalars = &scalar;
    kernel.scalars_count = 1;
    ok(clo_graph_create("handles", &s.graph));
    ok(clo_graph_kind(s.graph, "npu", &npu));
    ok(clo_graph_add_handle(s.graph, &(clo_handle){.bytes = 16, .kept = 1}, &handle));
    for (uint32_t t = 0; t < 3; t++) {
        ok(clo_graph_add_task(s.graph, &(clo_task){.work_ns = 10, .may_pend = 1}, NULL));
        ok(clo_graph_set_kernel(s.graph, t, npu, &kernel));
        ok(clo_graph_add_access(s.graph, t, handle, CLO_ACCESS_UPDATE));
    }
    ok(clo_graph_seal(s.graph));
    ok(clo_device_prepare(s.device, s.graph));
    device_start(&s);
    clo_job *job = device_job(&s, 0, &plan);
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, &result));
    const uint64_t *content = clo_job_data(job, handle, NULL);
    assert_int_equal(content[0], 5 + 3 * 5 + 9 * 5);
    assert_int_equal(content[1], content[0]);
    assert_int_equal(device_stats(&s).launched, 3);
    clo_job_destroy(job);
    clo_plan_destroy(plan);
    device_stop(&s);
}

/* The driver null, but nothing tells when a command has ended. */
static void describe_without_fd(const void *device, clo_device_facts *out)
{
    clo_driver_find("null")->describe(device, out);
    out->has_fd = 0;
}

static void a_driver_without_a_descriptor_is_polled(void **state)
{
    static const clo_host_kernel function = {.name = "mix", .run = device_function};
    clo_driver driver = *clo_driver_find("null");
    clo_device_config config = CLO_DEVICE_CONFIG_INIT;
    device_scene s = {.platform = device_platform(2, 1)};
    clo_plan *plan;

    (void)state;
    driver.describe = describe_without_fd;
    config.host_kernels = &function;
    config.host_kernels_count = 1;
    config.spin_ns = 1;
    ok(clo_device_open(&driver, "launch_ns=200000,depth=2", &config, &s.device));
    device_graph(&s, 3, true, true);
    ok(clo_device_prepare(s.device, s.graph));
    device_start(&s);
    clo_job *job = device_job(&s, 0, &plan);
    device_run(&s, job);
    assert_int_equal(device_stats(&s).fallbacks, 0);
    clo_job_destroy(job);
    clo_plan_destroy(plan);
    device_stop(&s);
}

static void is_valid(const void *context, const clo_trace *recorded)
{
    const device_scene *s = context;
    clo_plan *happened;

    ok(clo_trace_to_plan(recorded, s->cost, &happened));
    ok(clo_plan_check(happened, s->cost, CLO_CHECK_MEASURED));
    clo_plan_destroy(happened);
}

/* Nothing that the device does is hidden from the trace: the simulator decides as the run did. */
static void a_run_with_a_device_replays_decision_by_decision(void **state)
{
    (void)state;
    for (int way = 0; way < DEVICE_WAYS; way++) {
        device_scene s = device_open("launch_ns=20000,copy_ns=2000,depth=2", NULL, 2);
        clo_plan *plan = NULL;
        device_graph(&s, 11, true, true);
        ok(clo_device_prepare(s.device, s.graph));
        ok(clo_cost_create(s.graph, s.platform, &s.cost));
        if (way == 0)
            ok(clo_plan_create(s.cost, NULL, &plan));
        record_and_replay(s.cost, plan, way == 2 ? clo_policy_find("eft") : NULL, 11, is_valid, &s);
        assert_true(device_stats(&s).launched > 0);
        clo_plan_destroy(plan);
        device_stop(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_give_what_bodies_give),
        cmocka_unit_test(a_cancelled_run_waits_for_the_device),
        cmocka_unit_test(several_jobs_share_a_device),
        cmocka_unit_test(releases_in_flight_share_a_device),
        cmocka_unit_test(a_simulation_calls_fallbacks),
        cmocka_unit_test(kernels_change_memory_and_handles_in_place),
        cmocka_unit_test(a_graph_of_handles_alone_has_no_inputs),
        cmocka_unit_test(a_driver_without_a_descriptor_is_polled),
        cmocka_unit_test(a_run_with_a_device_replays_decision_by_decision),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
