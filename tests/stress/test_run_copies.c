/* Data move between memories only where they must: never within one, and between coherent ones only if asked to. */
#include "running.h"

enum { BYTES = 64 };

static clo_platform *two_executors(uint32_t memories, uint32_t coherent)
{
    const clo_executor executors[2] = {{0, 0, 0, -1, {65536, 65536, 65536, 65536}},
                                       {0, 0, memories - 1, -1, {65536, 65536, 65536, 65536}}};
    const int64_t latency_ns[4] = {0, 100, 100, 0};
    clo_platform_desc desc = CLO_PLATFORM_DESC_INIT;
    clo_platform *platform;

    desc.executors_count = 2;
    desc.executors = executors;
    desc.kinds_count = 1;
    desc.coherent = coherent;
    desc.latency_ns = latency_ns;
    ok(clo_platform_create(&desc, &platform));
    return platform;
}

/* What two tasks, on two executors, report that they moved. */
static clo_job_result run_pair(uint32_t memories, uint32_t coherent, uint32_t copy_always)
{
    clo_task task = {.work_ns = 1000, .body = sum_inputs, .output_bytes = BYTES};
    const clo_placement placements[2] = {{.task = 0, .executor = 0, .finish_ns = 1000},
                                         {.task = 1, .executor = 1, .start_ns = 5000, .finish_ns = 6000}};
    fixture f = {.platform = two_executors(memories, coherent), .graph = scene_layers(2, 1, &task)};
    clo_runtime_config config = {
        .size = sizeof config, .unpinned = 1, .clock = CLO_CLOCK_VIRTUAL, .copy_always = copy_always};
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_plan *plan;

    ok(clo_cost_create(f.graph, f.platform, &f.cost));
    ok(clo_runtime_create(f.platform, &config, &f.runtime));
    ok(clo_plan_from_placements(f.cost, NULL, placements, 2, &plan));
    clo_job *job = make_job(&f, NULL, plan);
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, &result));
    size_t bytes;
    assert_non_null(clo_job_output(job, 1, 0, &bytes));
    assert_int_equal(bytes, BYTES);
    assert_null(clo_job_output(job, 0, 1, &bytes)); /* there is one instance of each */
    assert_int_equal(bytes, 0);
    assert_null(clo_job_output(job, 2, 0, NULL));
    clo_job_destroy(job);
    clo_plan_destroy(plan);
    stop(&f);
    return result;
}

static void data_are_copied_between_memories_that_are_not_coherent_or_if_asked_for(void **state)
{
    (void)state;
    for (uint32_t copy_always = 0; copy_always < 2; copy_always++)
        for (uint32_t coherent = 0; coherent < 2; coherent++) {
            clo_job_result result = run_pair(2, coherent, copy_always);
            assert_int_equal(result.transfers, 1);
            assert_int_equal(result.transferred_bytes, BYTES);
            assert_int_equal(result.copied_bytes, coherent && !copy_always ? 0 : BYTES);
        }
}

static void within_a_memory_nothing_moves(void **state)
{
    (void)state;
    for (uint32_t copy_always = 0; copy_always < 2; copy_always++) {
        clo_job_result result = run_pair(1, 0, copy_always);
        assert_int_equal(result.transfers, 0);
        assert_int_equal(result.transferred_bytes, 0);
        assert_int_equal(result.copied_bytes, 0);
    }
}

static void under_the_real_clock_no_time_is_counted_as_transfer(void **state)
{
    (void)state;
    clo_task task = {.work_ns = 1000, .body = sum_inputs, .output_bytes = BYTES};
    fixture f = {.platform = scene_platform(2, 1), .graph = scene_layers(4, 4, &task)};
    clo_runtime_config config = {.size = sizeof config, .unpinned = 1, .trace = 1};
    clo_trace *trace;
    size_t count;

    ok(clo_cost_create(f.graph, f.platform, &f.cost));
    ok(clo_runtime_create(f.platform, &config, &f.runtime));
    clo_job *job = make_job(&f, NULL, NULL);
    ok(clo_job_submit(job));
    ok(clo_job_wait(job, NULL));
    ok(clo_job_trace(job, &trace));
    const clo_trace_event *events = clo_trace_events(trace, &count);
    assert_int_equal(count, 16);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(events[i].transfer_ns, 0);
    clo_trace_destroy(trace);
    clo_job_destroy(job);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_are_copied_between_memories_that_are_not_coherent_or_if_asked_for),
        cmocka_unit_test(within_a_memory_nothing_moves),
        cmocka_unit_test(under_the_real_clock_no_time_is_counted_as_transfer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
