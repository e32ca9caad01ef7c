/* What a device has from the execution before is not moved there again (clo_driver.keeps), and results are the same: also
 * where the host writes meanwhile, where operands overlap, and past the loss of the device. */
#include "device_scene.h"

#include <stdio.h>

enum { CHAIN = 12, WORDS = 512 };

static clo_driver keeping;
static uint64_t memory[WORDS];

/* Each word of the last operand: three times itself, and the word of each operand before it. */
static void gather(void *const *operands, const size_t *bytes, uint32_t count, const clo_scalar *scalars)
{
    (void)scalars;
    for (size_t w = 0; w < bytes[count - 1] / sizeof(uint64_t); w++) {
        uint64_t sum = 3 * ((uint64_t *)operands[count - 1])[w] + 1;
        for (uint32_t i = 0; i + 1 < count; i++)
            sum += ((const uint64_t *)operands[i])[w];
        ((uint64_t *)operands[count - 1])[w] = sum;
    }
}

static const clo_operand update = {
    .source = CLO_OPERAND_MEMORY, .mode = CLO_ACCESS_UPDATE, .address = memory, .bytes = sizeof memory};
static const clo_operand half = {
    .source = CLO_OPERAND_MEMORY, .mode = CLO_ACCESS_UPDATE, .address = memory, .bytes = sizeof memory / 2};
static const clo_operand twice[] = {
    {.source = CLO_OPERAND_MEMORY, .mode = CLO_ACCESS_READ, .address = memory, .bytes = sizeof memory},
    {.source = CLO_OPERAND_MEMORY, .mode = CLO_ACCESS_UPDATE, .address = memory, .bytes = sizeof memory}};

/* The same on a CPU; the argument is one of the operands above. */
static int gather_here(const clo_call *call)
{
    const clo_operand *operand = call->argument;
    uint64_t before[WORDS];
    void *operands[2] = {before, memory};
    size_t bytes[2] = {sizeof before, operand->bytes};

    memcpy(before, memory, sizeof before);
    if (operand == twice)
        gather(operands, bytes, 2, NULL);
    else
        gather(&operands[1], &bytes[1], 1, NULL);
    return 0;
}

static clo_device *open_device(const char *selector)
{
    static const clo_host_kernel function = {.name = "gather", .run = gather};
    clo_device_config config = CLO_DEVICE_CONFIG_INIT;
    clo_device *device;

    keeping = *clo_driver_find("null");
    keeping.keeps = 1;
    config.host_kernels = &function;
    config.host_kernels_count = 1;
    ok(clo_device_open(&keeping, selector, &config, &device));
    return device;
}

/* A chain on the memory: task t uses operands[t % 4], the whole where NULL, on a CPU where that is `on_cpu`. */
static clo_device_stats run_chain(const char *selector, const clo_operand *const operands[4], uint32_t on_cpu)
{
    device_scene s = {.platform = device_platform(1, 2), .device = open_device(selector)};
    clo_kernel kernels[CHAIN];
    uint64_t expected[WORDS];
    uint32_t cpu, npu;
    clo_plan *plan;

    ok(clo_graph_create("chain", &s.graph));
    ok(clo_graph_kind(s.graph, "cpu", &cpu));
    ok(clo_graph_kind(s.graph, "npu", &npu));
    for (uint32_t w = 0; w < WORDS; w++)
        memory[w] = w;
    for (uint32_t t = 0; t < CHAIN; t++) {
        const clo_operand *of = operands[t % 4] != NULL ? operands[t % 4] : &update;
        kernels[t] = (clo_kernel)CLO_KERNEL_INIT;
        kernels[t].device = s.device;
        kernels[t].operands = of;
        kernels[t].operands_count = of == twice ? 2 : 1;
        kernels[t].fallback = gather_here;
        kernels[t].argument = (void *)(uintptr_t)of;
        ok(clo_graph_add_task(s.graph, &(clo_task){.argument = (void *)(uintptr_t)of, .may_pend = 1}, NULL));
        ok(clo_graph_set_body(s.graph, t, cpu, gather_here));
        ok(clo_graph_set_kernel(s.graph, t, npu, &kernels[t]));
        ok(clo_graph_set_time(s.graph, t, t % 4 == on_cpu ? cpu : npu, 1000));
        ok(clo_graph_set_time(s.graph, t, t % 4 == on_cpu ? npu : cpu, CLO_TIME_NEVER));
        if (t > 0)
            ok(clo_graph_add_edge(s.graph, t - 1, t, 0));
        gather_here(&(clo_call){.argument = (void *)(uintptr_t)of});
    }
    memcpy(expected, memory, sizeof memory);
    ok(clo_graph_seal(s.graph));
    ok(clo_device_prepare(s.device, s.graph));
    device_start(&s);
    clo_job *job = device_job(&s, 0, &plan);
    for (uint32_t w = 0; w < WORDS; w++)
        memory[w] = w;
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    assert_memory_equal(memory, expected, sizeof memory);
    clo_device_stats stats = device_stats(&s);
    clo_job_destroy(job);
    clo_plan_destroy(plan);
    device_stop(&s);
    return stats;
}

static void a_chain_moves_its_data_to_the_device_once(void **state)
{
    static const clo_operand *const whole[4] = {NULL};
    static const char *const selectors[] = {"depth=1,keep=1", "depth=3,keep=1,copy_ns=1000"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        clo_device_stats stats = run_chain(selectors[i], whole, CLO_NONE);
        assert_int_equal(stats.launched, CHAIN);
        assert_int_equal(stats.put_bytes, sizeof memory);
        assert_int_equal(stats.kept_bytes, (CHAIN - 1) * sizeof memory);
        assert_int_equal(stats.get_bytes, CHAIN * sizeof memory);
    }
}

static void what_the_host_has_written_is_moved_again(void **state)
{
    static const clo_operand *const whole[4] = {NULL};

    (void)state;
    clo_device_stats stats = run_chain("depth=2,keep=1", whole, 2);
    assert_int_equal(stats.launched, CHAIN * 3 / 4);
    assert_int_equal(stats.put_bytes, (1 + CHAIN / 4) * sizeof memory);
    assert_int_equal(stats.put_bytes + stats.kept_bytes, CHAIN * 3 / 4 * sizeof memory);
}

static void operands_that_overlap_are_moved_on_their_own(void **state)
{
    static const clo_operand *const mixed[4] = {&update, &half, twice, twice};

    (void)state;
    for (uint32_t on_cpu = 0; on_cpu < 5; on_cpu++) {
        clo_device_stats stats = run_chain("depth=2,keep=1", mixed, on_cpu);
        assert_int_equal(stats.fallbacks + stats.crowded, 0);
        assert_true(on_cpu == 3 || stats.kept_bytes > 0);
    }
}

static void a_device_that_is_lost_takes_no_result_along(void **state)
{
    static const clo_operand *const mixed[4] = {&update, &half, twice, twice};
    char selector[60];

    (void)state;
    for (int at = 3; at < 3 + CHAIN; at++) { /* prepare launches once */
        snprintf(selector, sizeof selector, "depth=2,keep=1,%s=%d", at % 2 ? "fail" : "refuse", at - 1);
        clo_device_stats stats = run_chain(selector, mixed, CLO_NONE);
        assert_int_equal(stats.is_lost, 1);
        assert_int_equal(stats.launched + stats.fallbacks, CHAIN);
    }
}

/* Buffers of the runtime, which each run writes anew. */
static void graphs_give_the_same_on_a_device_that_keeps(void **state)
{
    uint64_t kept = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 6; seed++)
        for (int way = 0; way < DEVICE_WAYS; way++) {
            static const clo_host_kernel function = {.name = "mix", .run = device_function};
            device_scene s = {.platform = device_platform(seed % 2 ? 1 : 2, seed % 2 ? 3 : 1)};
            clo_device_config config = CLO_DEVICE_CONFIG_INIT;
            clo_plan *plan;
            config.host_kernels = &function;
            config.host_kernels_count = 1;
            keeping = *clo_driver_find("null");
            keeping.keeps = 1;
            ok(clo_device_open(&keeping, "launch_ns=5000,depth=2,keep=1", &config, &s.device));
            device_graph(&s, seed, true, seed % 3 == 0);
            ok(clo_device_prepare(s.device, s.graph));
            device_start(&s);
            clo_job *job = device_job(&s, way, &plan);
            for (int run = 0; run < 4; run++)
                device_run(&s, job);
            clo_device_stats stats = device_stats(&s);
            assert_int_equal(stats.fallbacks + stats.crowded, 0);
            kept += stats.kept_bytes;
            clo_job_destroy(job);
            clo_plan_destroy(plan);
            device_stop(&s);
        }
    assert_true(kept > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_moves_its_data_to_the_device_once),
        cmocka_unit_test(what_the_host_has_written_is_moved_again),
        cmocka_unit_test(operands_that_overlap_are_moved_on_their_own),
        cmocka_unit_test(a_device_that_is_lost_takes_no_result_along),
        cmocka_unit_test(graphs_give_the_same_on_a_device_that_keeps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
