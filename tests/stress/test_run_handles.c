/* Handles and grains on real workers: what bodies see of each other's data, under every way to dispatch. */
#include "support.h"

#include "running.h"

#include <stdlib.h>

enum { PARTS = 24, STEPS = 40, CELLS = 240 };

/* Adds one to the cells of its part; fails where they are not what the step before has left. */
static int step_part(const clo_call *call)
{
    uint32_t part = CELLS / call->instances, want = (uint32_t)(uintptr_t)call->argument;
    uint32_t *cells = call->data[0];

    if (call->data_count != 1 || call->data_bytes[0] != CELLS * sizeof *cells || call->count == 0 ||
        call->instance + call->count > call->instances)
        return 2;
    for (uint32_t i = call->instance * part; i < (call->instance + call->count) * part; i++)
        if (cells[i]++ != want)
            return 3;
    return 0;
}

/* Reads all cells, and the sum of another handle. */
static int check_all(const clo_call *call)
{
    const uint32_t *cells = call->data[0];
    uint32_t want = (uint32_t)(uintptr_t)call->argument;

    for (uint32_t i = 0; i < CELLS; i++)
        if (cells[i] != want)
            return 4;
    return 0;
}

static int clear_all(const clo_call *call)
{
    memset(call->data[0], 0, call->data_bytes[0]);
    return 0;
}

/* clear, then STEPS times: parts are updated, and two tasks of three instances read everything. */
static clo_graph *make_steps(uint32_t grain)
{
    clo_graph *graph = NULL;
    uint32_t id;

    ok(clo_graph_create("steps", &graph));
    ok(clo_graph_add_handle(graph, &(clo_handle){.name = "cells", .bytes = CELLS * sizeof(uint32_t)}, NULL));
    ok(clo_graph_add_task(graph, &(clo_task){.body = clear_all, .work_ns = 100}, NULL));
    ok(clo_graph_add_access(graph, 0, 0, CLO_ACCESS_WRITE));
    for (uintptr_t step = 0; step < STEPS; step++) {
        clo_task update = {
            .body = step_part, .argument = (void *)step, .work_ns = 100, .instances = PARTS, .grain = grain};
        clo_task check = {.body = check_all, .argument = (void *)(step + 1), .work_ns = 100, .instances = 3};
        ok(clo_graph_add_task(graph, &update, &id));
        ok(clo_graph_add_access(graph, id, 0, CLO_ACCESS_UPDATE | CLO_ACCESS_PARTS));
        for (int k = 0; k < 2; k++) {
            ok(clo_graph_add_task(graph, &check, &id));
            ok(clo_graph_add_access(graph, id, 0, CLO_ACCESS_READ));
        }
    }
    ok(clo_graph_seal(graph));
    return graph;
}

static void run_some(const fixture *f, const clo_policy *policy, const clo_plan *plan)
{
    clo_job *job = make_job(f, policy, plan);

    for (int round = 0; round < 5; round++) {
        clo_job_result result = CLO_JOB_RESULT_INIT;
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, &result));
        assert_int_equal(result.executed, clo_graph_instances(f->graph));
    }
    size_t bytes;
    const uint32_t *cells = clo_job_data(job, 0, &bytes);
    assert_int_equal(bytes, CELLS * sizeof *cells);
    for (uint32_t i = 0; i < CELLS; i++)
        assert_int_equal(cells[i], STEPS);
    assert_null(clo_job_data(job, 1, &bytes));
    clo_job_destroy(job);
}

static void every_body_sees_the_version_before_it_in_every_memory(void **state)
{
    (void)state;
    static const uint32_t grains[] = {0, 5, 24};

    for (uint32_t g = 0; g < 3; g++) {
        fixture f = start(4, make_steps(grains[g]), CLO_CLOCK_REAL);
        clo_plan *plan;
        ok(clo_plan_create(f.cost, NULL, &plan));
        run_some(&f, NULL, NULL);
        run_some(&f, NULL, plan);
        run_some(&f, clo_policy_find("fifo"), NULL);
        clo_plan_destroy(plan);
        stop(&f);
    }
}

static uint8_t seen[100000];

static int note_range(const clo_call *call)
{
    if (call->instances != sizeof seen || call->count == 0 || call->count > 333 || call->instance % 333 != 0 ||
        call->data_count != 0)
        return 5;
    for (uint32_t i = call->instance; i < call->instance + call->count; i++)
        seen[i]++;
    return 0;
}

static void every_instance_is_served_once_on_the_fast_path(void **state)
{
    (void)state;
    clo_graph *graph = NULL;
    clo_platform *platform = NULL;
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    fixture f = {0};

    ok(clo_graph_create("ranges", &graph));
    ok(clo_graph_add_task(graph, &(clo_task){.body = note_range, .instances = sizeof seen, .grain = 333, .work_ns = 50},
                          NULL));
    ok(clo_graph_seal(graph));
    ok(clo_platform_open("uniform:3", &platform));
    config.unpinned = 1;
    ok(clo_runtime_create(platform, &config, &f.runtime));
    ok(clo_cost_create(graph, platform, &f.cost));
    f.graph = graph;
    f.platform = platform;
    clo_job *job = make_job(&f, NULL, NULL);
    for (int round = 1; round <= 3; round++) {
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, NULL));
        for (size_t i = 0; i < sizeof seen; i++)
            assert_int_equal(seen[i], round);
    }
    clo_job_destroy(job);
    stop(&f);
}

static int count_on(const clo_call *call)
{
    ++*(int64_t *)call->data[0];
    ++*(int64_t *)call->data[1];
    return 0;
}

static void what_is_kept_lasts_from_run_to_run_and_over_a_new_plan(void **state)
{
    (void)state;
    static int64_t ours;
    clo_graph *graph = NULL;
    const clo_handle handles[2] = {{.bytes = 8, .kept = 1}, {.bytes = 8, .address = &ours}};

    ours = 0;
    ok(clo_graph_create("kept", &graph));
    for (uint32_t h = 0; h < 2; h++)
        ok(clo_graph_add_handle(graph, &handles[h], NULL));
    for (uint32_t t = 0; t < 3; t++) {
        ok(clo_graph_add_task(graph, &(clo_task){.body = count_on, .work_ns = 1000}, NULL));
        ok(clo_graph_add_access(graph, t, 0, CLO_ACCESS_UPDATE));
        ok(clo_graph_add_access(graph, t, 1, CLO_ACCESS_UPDATE));
    }
    ok(clo_graph_seal(graph));
    fixture f = start(3, graph, CLO_CLOCK_REAL);
    clo_plan *plan;
    ok(clo_plan_create(f.cost, NULL, &plan));
    clo_job *job = make_job(&f, NULL, plan);
    for (int64_t run = 1; run <= 4; run++) {
        if (run == 3)
            ok(clo_job_swap_plan(job, plan));
        ok(clo_job_submit(job));
        ok(clo_job_wait(job, NULL));
        assert_int_equal(*(const int64_t *)clo_job_data(job, 0, NULL), 3 * run);
        assert_ptr_equal(clo_job_data(job, 1, NULL), &ours);
        assert_int_equal(ours, 3 * run);
    }
    clo_job_destroy(job);
    clo_plan_destroy(plan);
    stop(&f);
}

static void a_job_with_handles_cannot_begin_in_the_middle(void **state)
{
    (void)state;
    fixture f = start(2, make_steps(0), CLO_CLOCK_REAL);
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    uint64_t done[64] = {1};
    clo_job *job = NULL;

    assert_true(clo_graph_instances(f.graph) <= 64 * 64);
    config.done = done;
    fails(CLO_ERR_UNSUPPORTED, "handles", clo_job_create(f.runtime, f.cost, &config, &job));
    assert_null(job);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_body_sees_the_version_before_it_in_every_memory),
        cmocka_unit_test(every_instance_is_served_once_on_the_fast_path),
        cmocka_unit_test(what_is_kept_lasts_from_run_to_run_and_over_a_new_plan),
        cmocka_unit_test(a_job_with_handles_cannot_begin_in_the_middle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
