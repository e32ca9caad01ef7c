/* device_scene.h - a random graph whose tasks run on CPUs and, as kernels, on a device of the driver "null". */
#ifndef CLO_TEST_DEVICE_SCENE_H
#define CLO_TEST_DEVICE_SCENE_H

#include "planner_named.h"
#include "support.h"

#include <string.h>

enum { DEVICE_TASKS = 40, DEVICE_WORDS = 64, DEVICE_WAYS = 3 }; /* ways: plan, steal, policy */

/* What every task does: its number and all words of its inputs, mixed. */
static inline void device_mix(uint64_t number, const uint64_t *const *inputs, const size_t *bytes, uint32_t count,
                              uint64_t *output)
{
    for (uint64_t w = 0; w < DEVICE_WORDS; w++) {
        uint64_t sum = (number + 1) * 0x9e3779b97f4a7c15u + w;
        for (uint32_t i = 0; i < count; i++)
            if (bytes[i] > 0)
                sum = (sum ^ inputs[i][w]) * 0xff51afd7ed558ccdu + (sum >> 29);
        output[w] = sum;
    }
}

static inline int device_body(const clo_call *call)
{
    const uint64_t *inputs[CLO_KERNEL_OPERANDS_MAX];

    for (uint32_t i = 0; i < call->inputs_count; i++)
        inputs[i] = call->inputs[i];
    device_mix((uintptr_t)call->argument, inputs, call->inputs_bytes, call->inputs_count, call->output);
    return 0;
}

/* As a kernel: the last operand is the output, the scalar the number of inputs and of the task. */
static inline void device_function(void *const *operands, const size_t *bytes, uint32_t count,
                                   const clo_scalar *scalars)
{
    const uint64_t *inputs[CLO_KERNEL_OPERANDS_MAX];
    uint32_t numbers[2];

    memcpy(numbers, scalars[0].value, sizeof numbers);
    assert_int_equal(count, numbers[0] + 1);
    for (uint32_t i = 0; i < numbers[0]; i++)
        inputs[i] = operands[i];
    device_mix(numbers[1], inputs, bytes, numbers[0], operands[numbers[0]]);
}

typedef struct device_scene {
    clo_platform *platform;
    clo_graph *graph;
    clo_cost *cost;
    clo_device *device;
    clo_runtime *runtime;
    clo_kernel kernels[DEVICE_TASKS];
    uint32_t numbers[DEVICE_TASKS][2], from[DEVICE_TASKS][3];
    clo_scalar scalars[DEVICE_TASKS];
} device_scene;

/* Two CPUs of kind "cpu" with one memory, and `slots` of kind "npu" and such a depth with another. */
static inline clo_platform *device_platform(uint32_t slots, uint32_t depth)
{
    static const char *const kinds[] = {"cpu", "npu"};
    static const double bandwidth[18 * 18] = {0};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_executor list[18];
    int64_t latency[18 * 18];
    clo_platform *platform;

    for (uint32_t e = 0; e < 2 + slots; e++)
        list[e] = (clo_executor){e >= 2, 0, e >= 2, e < 2 ? -1 : CLO_OS_SLOT_DEEP(depth), {65536, 65536, 65536, 65536}};
    for (uint32_t i = 0; i < 18 * 18; i++)
        latency[i] = 100;
    desc.executors_count = 2 + slots;
    desc.executors = list;
    desc.kinds_count = 2;
    desc.kind_names = kinds;
    desc.latency_ns = latency;
    desc.bandwidth_bytes_per_ns = bandwidth;
    ok(clo_platform_create(&desc, &platform));
    return platform;
}

/* Edges from up to three of the last tasks. The device is four times as fast. */
static inline void device_graph(device_scene *s, uint64_t seed, bool has_fallback, bool is_device_only)
{
    uint64_t random = seed * 2 + 1;
    uint32_t cpu, npu;

    ok(clo_graph_create("device", &s->graph));
    ok(clo_graph_kind(s->graph, "cpu", &cpu));
    ok(clo_graph_kind(s->graph, "npu", &npu));
    for (uint32_t t = 0; t < DEVICE_TASKS; t++) {
        const clo_task task = {
            .argument = (void *)(uintptr_t)t, .output_bytes = sizeof(uint64_t) * DEVICE_WORDS, .may_pend = 1};
        uint32_t inputs = 0;
        ok(clo_graph_add_task(s->graph, &task, NULL));
        for (uint32_t from = t > 5 ? t - 5 : 0; from < t && inputs < 3; from++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            if (random >> 62 != 0)
                continue;
            ok(clo_graph_add_edge(s->graph, from, t, 512));
            s->from[t][inputs++] = from;
        }
        s->numbers[t][0] = inputs;
        s->numbers[t][1] = t;
        s->scalars[t] = (clo_scalar){s->numbers[t], sizeof s->numbers[t]};
        s->kernels[t] = (clo_kernel)CLO_KERNEL_INIT;
        s->kernels[t].device = s->device;
        s->kernels[t].scalars = &s->scalars[t];
        s->kernels[t].scalars_count = 1;
        s->kernels[t].fallback = has_fallback ? device_body : NULL;
        s->kernels[t].argument = task.argument;
        if (!is_device_only || t % 2 == 0)
            ok(clo_graph_set_body(s->graph, t, cpu, device_body));
        ok(clo_graph_set_time(s->graph, t, cpu, 40000));
        ok(clo_graph_set_kernel(s->graph, t, npu, &s->kernels[t]));
        ok(clo_graph_set_time(s->graph, t, npu, 10000));
    }
    ok(clo_graph_seal(s->graph));
}

static inline device_scene device_open_as(const char *selector, const clo_device_config *given, clo_platform *platform)
{
    static const clo_host_kernel function = {.name = "mix", .run = device_function};
    clo_device_config config = given != NULL ? *given : (clo_device_config)CLO_DEVICE_CONFIG_INIT;
    device_scene s = {.platform = platform};

    config.host_kernels = &function;
    config.host_kernels_count = 1;
    ok(clo_device_open(clo_driver_find("null"), selector, &config, &s.device));
    return s;
}

static inline device_scene device_open(const char *selector, const clo_device_config *given, uint32_t slots)
{
    return device_open_as(selector, given, device_platform(slots, 1));
}

/* As one executor. */
static inline device_scene device_open_deep(const char *selector, const clo_device_config *given, uint32_t depth)
{
    return device_open_as(selector, given, device_platform(1, depth));
}

static inline void device_start(device_scene *s)
{
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;

    config.unpinned = config.trace = config.copy_always = 1;
    ok(clo_cost_create(s->graph, s->platform, &s->cost));
    ok(clo_runtime_create(s->platform, &config, &s->runtime));
}

static inline void device_stop(device_scene *s)
{
    clo_runtime_destroy(s->runtime);
    clo_device_close(s->device);
    clo_cost_destroy(s->cost);
    clo_graph_destroy(s->graph);
    clo_platform_destroy(s->platform);
}

/* A job in one of the ways; the plan, if any, is freed by the caller once the job is gone. */
static inline clo_job *device_job(const device_scene *s, int way, clo_plan **plan)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    *plan = NULL;
    if (way == 0) {
        ok(clo_plan_create(s->cost, NULL, plan));
        ok(clo_plan_check(*plan, s->cost, CLO_CHECK_FULL));
        config.plan = *plan;
    }
    if (way == 2)
        config.policy = clo_policy_find("eft");
    ok(clo_job_create(s->runtime, s->cost, &config, &job));
    return job;
}

static inline clo_device_stats device_stats(const device_scene *s)
{
    clo_device_stats stats = CLO_DEVICE_STATS_INIT;

    ok(clo_device_get_stats(s->device, &stats));
    return stats;
}

/* Every task has put out what it does without a device. */
static inline void device_check(const device_scene *s, const clo_job *job)
{
    static uint64_t outputs[DEVICE_TASKS][DEVICE_WORDS];

    for (uint32_t t = 0; t < DEVICE_TASKS; t++) { /* ids are in topological order */
        const uint64_t *inputs[3];
        size_t bytes[3] = {sizeof outputs[0], sizeof outputs[0], sizeof outputs[0]}, size = 0;
        for (uint32_t i = 0; i < s->numbers[t][0]; i++)
            inputs[i] = outputs[s->from[t][i]];
        device_mix(t, inputs, bytes, s->numbers[t][0], outputs[t]);
        const void *output = clo_job_output(job, t, 0, &size);
        assert_int_equal(size, sizeof outputs[t]);
        assert_memory_equal(output, outputs[t], sizeof outputs[t]);
    }
}

static inline void device_run(const device_scene *s, clo_job *job)
{
    clo_job_result result = CLO_JOB_RESULT_INIT;

    ok(clo_job_submit(job));
    ok(clo_job_wait(job, &result));
    device_check(s, job);
}

#endif
