/* What a job takes for outputs and their copies: only memories where something runs, nothing before it is used, and no
 * more than the limit. */
#include "support.h"

#include "running.h"

#include <stdio.h>
#include <unistd.h>

#define MIB (1ull << 20)

/* `executors` executors, the last in memory `far`, the others in memory 0. */
static clo_platform *platform_of(uint32_t executors, uint32_t far)
{
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_executor list[4];
    clo_platform *platform;

    for (uint32_t e = 0; e < executors; e++)
        list[e] = (clo_executor){0, 0, e + 1 < executors ? 0 : far, -1, {65536, 65536, 65536, 65536}};
    desc.executors_count = executors;
    desc.executors = list;
    desc.kinds_count = 1;
    ok(clo_platform_create(&desc, &platform));
    return platform;
}

static fixture start_on(clo_platform *platform, clo_graph *graph)
{
    fixture f = {.platform = platform, .graph = graph};
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;

    config.unpinned = 1;
    config.copy_always = 1;
    ok(clo_cost_create(graph, f.platform, &f.cost));
    ok(clo_runtime_create(f.platform, &config, &f.runtime));
    return f;
}

static uint64_t resident_bytes(void)
{
    unsigned long all, resident;
    FILE *file = fopen("/proc/self/statm", "r");

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu %lu", &all, &resident), 2);
    fclose(file);
    return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void only_memories_in_use_cost_memory(void **state)
{
    (void)state;
    clo_task task = {.body = count_call, .work_ns = 1, .instances = 20000, .output_bytes = 1};
    size_t near, far;
    fixture f = start_on(platform_of(2, 1), scene_layers(1, 1, &task));

    ok(clo_job_memory_bytes(f.runtime, f.cost, NULL, &near));
    stop(&f);
    f = start_on(platform_of(2, 4095), scene_layers(1, 1, &task));
    ok(clo_job_memory_bytes(f.runtime, f.cost, NULL, &far));
    stop(&f);
    assert_true(near < 6 * MIB); /* three times 20 000 lines, and the counters */
    assert_true(far < near + 64 * 1024);
}

static void large_outputs_take_memory_when_they_are_used(void **state)
{
    (void)state;
    if (SANITIZED)
        skip(); /* its allocator keeps books of its own */
    clo_task task = {.body = count_call, .work_ns = 1, .output_bytes = 256 * MIB};
    fixture f = start_on(platform_of(4, 3), scene_layers(1, 1, &task));
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    uint64_t before = resident_bytes();
    clo_job *job;

    config.memory_limit_bytes = UINT64_MAX;
    ok(clo_job_create(f.runtime, f.cost, &config, &job));
    if (resident_bytes() > before + 8 * MIB)
        fail_msg("%llu bytes before any run", (unsigned long long)(resident_bytes() - before));
    stop(&f);
}

static void a_job_beyond_its_limit_is_refused_before_it_takes_memory(void **state)
{
    (void)state;
    clo_task task = {.body = count_call, .work_ns = 1, .output_bytes = 64 * MIB};
    fixture f = start_on(platform_of(2, 1), scene_layers(1, 1, &task));
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_sim_config sim = CLO_SIM_CONFIG_INIT;
    uint64_t before = resident_bytes();
    clo_job *job;
    size_t bytes;

    config.memory_limit_bytes = sim.memory_limit_bytes = 100 * MIB; /* 64 at home, 64 in each of two memories */
    sim.execute = 1;
    fails(CLO_ERR_LIMIT, "193 MiB of memory or more, the limit is 100 MiB",
          clo_job_create(f.runtime, f.cost, &config, &job));
    fails(CLO_ERR_LIMIT, "the limit is 100 MiB", clo_job_memory_bytes(f.runtime, f.cost, &config, &bytes));
    fails(CLO_ERR_LIMIT, "the limit is 100 MiB", clo_simulate(f.cost, &sim, NULL, NULL, NULL));
    assert_true(resident_bytes() < before + 16 * MIB);
    config.memory_limit_bytes = sim.memory_limit_bytes = 200 * MIB;
    ok(clo_job_memory_bytes(f.runtime, f.cost, &config, &bytes));
    ok(clo_simulate(f.cost, &sim, NULL, NULL, NULL));
    assert_true(bytes > 192 * MIB && bytes < 200 * MIB);
    stop(&f);
}

static void nobody_asks_for_more_than_the_machine_has(void **state)
{
    (void)state;
    clo_task task = {.body = count_call, .work_ns = 1, .output_bytes = 1ull << 44};
    fixture f = start_on(platform_of(2, 1), scene_layers(1, 1, &task));
    clo_job *job;

    fails(CLO_ERR_LIMIT, "raise memory_limit_bytes", clo_job_create(f.runtime, f.cost, NULL, &job));
    stop(&f);
}

static void a_new_plan_keeps_to_the_limit_of_its_job(void **state)
{
    (void)state;
    clo_task task = {.body = count_call, .work_ns = 1, .output_bytes = 40 * MIB};
    fixture f = start_on(platform_of(2, 1), scene_layers(1, 1, &task));
    const clo_placement here = {.finish_ns = 1};
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_plan *plan, *wide;
    clo_job *job;

    /* one entry in one memory: 80 MiB; with a replica in the other: twice 120 */
    const clo_placement both[] = {here, {.executor = 1, .is_replica = 1, .finish_ns = 1}};
    ok(clo_plan_from_placements(f.cost, NULL, &here, 1, &plan));
    ok(clo_plan_from_placements(f.cost, NULL, both, 2, &wide));
    config.plan = plan;
    config.memory_limit_bytes = 100 * MIB;
    ok(clo_job_create(f.runtime, f.cost, &config, &job));
    fails(CLO_ERR_LIMIT, "the limit is 100 MiB", clo_job_swap_plan(job, wide));
    ok(clo_job_swap_plan(job, plan));
    clo_plan_destroy(plan);
    clo_plan_destroy(wide);
    stop(&f);
}

static void far_memories_give_the_same_bytes(void **state)
{
    (void)state;
    static const uint32_t far[] = {0, 1, 4095};
    clo_task task = {.body = sum_inputs, .work_ns = 1000, .output_bytes = 64, .instances = 2};
    uint64_t hash[6];

    for (uint32_t i = 0; i < 6; i++) {
        fixture f = start_on(platform_of(4, far[i % 3]), scene_layers(6, 5, &task));
        clo_plan *plan;
        ok(clo_plan_create(f.cost, NULL, &plan));
        clo_job *job = make_job(&f, NULL, i < 3 ? NULL : plan);
        for (int run = 0; run < 20; run++) {
            ok(clo_job_submit(job));
            ok(clo_job_wait(job, NULL));
        }
        hash[i] = clo_job_output_hash(job);
        clo_plan_destroy(plan);
        stop(&f);
    }
    for (uint32_t i = 1; i < 6; i++)
        assert_true(hash[i] == hash[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_memories_in_use_cost_memory),
        cmocka_unit_test(large_outputs_take_memory_when_they_are_used),
        cmocka_unit_test(a_job_beyond_its_limit_is_refused_before_it_takes_memory),
        cmocka_unit_test(nobody_asks_for_more_than_the_machine_has),
        cmocka_unit_test(a_new_plan_keeps_to_the_limit_of_its_job),
        cmocka_unit_test(far_memories_give_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
