/* A job whose plan is swapped for one that is run in another way: its times stay in one unit, and a thread that waits
 * for it meanwhile looks at nothing of a plan that is being exchanged, or is gone. */
#include "support.h"

#include "base/clock.h"
#include "running.h"

#include <pthread.h>

/* One task before another, and with a replica of the first where the second does not run. */
static clo_plan *plan_of(const clo_cost *cost, size_t count)
{
    static const clo_placement placements[] = {{0, 0, 0, 0, 0, 1000}, {1, 0, 0, 0, 1000, 2000}, {0, 0, 1, 1, 0, 1000}};
    clo_plan *plan;

    ok(clo_plan_from_placements(cost, "own", placements, count, &plan));
    return plan;
}

static void hold_times(clo_job *job)
{
    clo_job_result result = CLO_JOB_RESULT_INIT;
    int64_t before_ns = clo_clock_ns();

    ok(clo_job_submit(job));
    ok(clo_job_wait(job, &result));
    int64_t most_ns = clo_clock_ns() - before_ns;
    assert_true(result.makespan_ns >= 0);
    assert_true(result.makespan_ns <= most_ns + most_ns / 8 + 1000000); /* ticks are turned into ns by a line */
}

typedef struct scene {
    clo_platform *platform;
    clo_graph *graph;
    clo_cost *cost;
    clo_runtime *runtime;
    clo_plan *single, *doubled;
    clo_job *job;
} scene;

static scene open_scene(void)
{
    clo_task task = {.body = count_call, .work_ns = 1000, .duplicable = 1};
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;
    clo_job_config plain = CLO_JOB_CONFIG_INIT;
    scene s = {.platform = scene_platform(2, 0)};

    ok(clo_graph_create("g", &s.graph));
    for (int i = 0; i < 2; i++)
        ok(clo_graph_add_task(s.graph, &task, NULL));
    ok(clo_graph_add_edge(s.graph, 0, 1, 0));
    ok(clo_graph_seal(s.graph));
    ok(clo_cost_create(s.graph, s.platform, &s.cost));
    config.unpinned = 1;
    ok(clo_runtime_create(s.platform, &config, &s.runtime));
    s.single = plan_of(s.cost, 2);
    s.doubled = plan_of(s.cost, 3);
    plain.plan = s.single;
    ok(clo_job_create(s.runtime, s.cost, &plain, &s.job));
    return s;
}

static void close_scene(const scene *s)
{
    clo_job_destroy(s->job);
    clo_plan_destroy(s->doubled);
    clo_plan_destroy(s->single);
    clo_runtime_destroy(s->runtime);
    clo_cost_destroy(s->cost);
    clo_graph_destroy(s->graph);
    clo_platform_destroy(s->platform);
}

static void a_swap_to_replicas_and_back_keeps_the_times_right(void **state)
{
    (void)state;
    scene s = open_scene();

    for (int i = 0; i < 20; i++) { /* the first run after each swap is the one */
        hold_times(s.job);
        hold_times(s.job);
        ok(clo_job_swap_plan(s.job, i % 2 == 0 ? s.doubled : s.single));
    }
    close_scene(&s);
}

static _Atomic int is_over;

static void *keep_waiting(void *job)
{
    clo_job_result result = CLO_JOB_RESULT_INIT;

    while (!atomic_load(&is_over))
        if (clo_job_wait(job, &result) != CLO_OK)
            return &is_over;
    return NULL;
}

static void a_thread_waits_while_another_swaps_and_submits(void **state)
{
    (void)state;
    scene s = open_scene();
    pthread_t waiter;
    void *failed;

    ok(clo_job_submit(s.job)); /* from here on there is something to wait for */
    atomic_store(&is_over, 0);
    assert_int_equal(pthread_create(&waiter, NULL, keep_waiting, s.job), 0);
    for (int i = 0; i < 2000; i++) {
        ok(clo_job_swap_plan(s.job, i % 2 == 0 ? s.doubled : s.single));
        clo_status status;
        do /* the other one reads a result, or has not run it yet */
            status = clo_job_submit(s.job);
        while (status == CLO_ERR_STATE);
        assert_int_equal(status, CLO_OK);
    }
    atomic_store(&is_over, 1);
    ok(pthread_join(waiter, &failed) == 0 ? CLO_OK : CLO_ERR_STATE);
    assert_null(failed);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_swap_to_replicas_and_back_keeps_the_times_right),
                                       cmocka_unit_test(a_thread_waits_while_another_swaps_and_submits)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
