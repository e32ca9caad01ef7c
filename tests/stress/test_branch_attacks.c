/* Bodies and graphs that do what they must not: arms that do not exist, loops that want to go on, handles without an
 * order, replicas of what works in place, waits inside a worker, more releases in flight than there is memory. Each is
 * refused, or fails the job, by one line that names the task or the handle; the same runtime then runs a good job. */
#include "support.h"

#include "scene.h"

#include <limits.h>
#include <string.h>

static uint32_t chosen;

static int choose(const clo_call *call)
{
    if (call->arm != NULL)
        *call->arm = chosen;
    return 0;
}

/* A branch "fork" with three arms, a merge behind them. */
static clo_graph *make_fork(void)
{
    static const clo_task tasks[] = {{.name = "fork", .body = choose, .work_ns = 1000},
                                     {.name = "a", .work_ns = 1000},
                                     {.name = "b", .work_ns = 1000},
                                     {.name = "c", .work_ns = 1000},
                                     {.name = "merge", .work_ns = 1000}};

    return scene_fork(tasks, 3);
}

/* A loop of three iterations of "step", which always wants one more. */
static clo_graph *make_loop(void)
{
    const clo_task step = {.name = "step", .body = choose, .work_ns = 1000};
    clo_loop loop = CLO_LOOP_INIT;
    clo_graph *graph, *body;

    ok(clo_graph_create("body", &body));
    ok(clo_graph_add_task(body, &step, NULL));
    ok(clo_graph_seal(body));
    loop.body = body;
    loop.bound = 3;
    ok(clo_graph_create("loop", &graph));
    ok(clo_graph_add_loop(graph, &loop, NULL, NULL));
    ok(clo_graph_seal(graph));
    clo_graph_destroy(body);
    return graph;
}

typedef struct scene {
    clo_platform *platform;
    clo_graph *graph;
    clo_cost *cost;
    clo_plan *plan;
    clo_runtime *runtime;
} scene;

static scene open_scene(clo_graph *graph, clo_clock clock)
{
    scene s = {.graph = graph};
    clo_runtime_config config = CLO_RUNTIME_CONFIG_INIT;

    config.clock = clock;
    config.unpinned = 1;
    ok(clo_platform_open("uniform:2", &s.platform));
    ok(clo_cost_create(graph, s.platform, &s.cost));
    ok(clo_plan_create(s.cost, NULL, &s.plan));
    ok(clo_runtime_create(s.platform, &config, &s.runtime));
    return s;
}

static void close_scene(scene *s)
{
    clo_runtime_destroy(s->runtime);
    clo_plan_destroy(s->plan);
    clo_cost_destroy(s->cost);
    clo_graph_destroy(s->graph);
    clo_platform_destroy(s->platform);
}

/* how: 0 replay, 1 a policy, 2 work stealing. */
static clo_status run(const scene *s, int how, clo_job_result *result)
{
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_job *job;

    config.plan = how == 0 ? s->plan : NULL;
    config.policy = how == 1 ? clo_policy_find("fifo") : NULL;
    ok(clo_job_create(s->runtime, s->cost, &config, &job));
    ok(clo_job_submit(job));
    clo_status status = clo_job_wait(job, result);
    clo_job_destroy(job);
    return status;
}

static void fails_everywhere(clo_graph *graph, int code, const char *text, uint32_t good)
{
    uint32_t bad = chosen;

    for (int is_virtual = 0; is_virtual < 2; is_virtual++) {
        scene s = open_scene(graph, is_virtual ? CLO_CLOCK_VIRTUAL : CLO_CLOCK_REAL);
        for (int how = 0; how < (is_virtual ? 2 : 3); how++) {
            clo_job_result result = CLO_JOB_RESULT_INIT;
            chosen = bad;
            fails(CLO_ERR_TASK, text, run(&s, how, &result));
            assert_int_equal(result.failed_code, code);
            chosen = good;
            ok(run(&s, how, &result));
        }
        clo_sim_config config = CLO_SIM_CONFIG_INIT;
        config.plan = s.plan;
        config.execute = 1;
        chosen = bad;
        fails(CLO_ERR_TASK, text, clo_simulate(s.cost, &config, NULL, NULL, NULL));
        s.graph = NULL;
        close_scene(&s);
    }
    clo_graph_destroy(graph);
}

static void an_arm_that_does_not_exist_fails_the_job_with_the_task_named(void **state)
{
    (void)state;
    static const uint32_t bad[] = {3, CLO_ARMS_MAX, INT_MAX, (uint32_t)INT_MIN, (uint32_t)-2};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        chosen = bad[i];
        fails_everywhere(make_fork(), CLO_FAILED_ARM,
                         "task 'fork' (0) chose an arm that it does not have; its arms go from 0 to 2", 2);
    }
}

/* CLO_NONE, which is -1, is what stands there before: as if the body had not chosen. */
static void minus_one_leaves_the_choice_to_the_chances(void **state)
{
    (void)state;
    scene s = open_scene(make_fork(), CLO_CLOCK_REAL);
    clo_job_result result = CLO_JOB_RESULT_INIT;

    chosen = (uint32_t)-1;
    ok(run(&s, 0, &result));
    assert_int_equal(result.skipped, 2);
    close_scene(&s);
}

static void a_loop_over_its_bound_fails_the_job_with_the_task_named(void **state)
{
    (void)state;
    chosen = CLO_LOOP_AGAIN;
    fails_everywhere(make_loop(), CLO_FAILED_BOUND,
                     "task 'step' (2) wants another iteration after all 3 of its loop; raise clo_loop.bound",
                     CLO_LOOP_DONE);
    chosen = 2; /* no arm of any iteration */
    fails_everywhere(make_loop(), CLO_FAILED_ARM, "task 'step' (0) chose an arm that it does not have", CLO_LOOP_DONE);
}

/* A graph of two tasks with the handle "frame". */
static clo_graph *make_pair(uint32_t instances)
{
    const clo_task tasks[] = {{.name = "fill", .instances = instances, .duplicable = 1},
                              {.name = "use", .duplicable = 1}};
    const clo_handle handle = {.name = "frame", .bytes = 64};
    clo_graph *graph;

    ok(clo_graph_create("pair", &graph));
    ok(clo_graph_add_tasks(graph, tasks, 2, NULL));
    ok(clo_graph_add_handle(graph, &handle, NULL));
    return graph;
}

static void a_handle_written_without_order_is_refused_by_name(void **state)
{
    (void)state;
    clo_graph *graph = make_pair(1);

    ok(clo_graph_add_access(graph, 0, 0, CLO_ACCESS_WRITE));
    ok(clo_graph_add_access(graph, 0, 0, CLO_ACCESS_WRITE));
    fails(CLO_ERR_ARGUMENT, "handle \"frame\": task \"fill\" (0) uses it twice, and nothing orders that",
          clo_graph_seal(graph));
    clo_graph_destroy(graph);
    graph = make_pair(4);
    ok(clo_graph_add_access(graph, 0, 0, CLO_ACCESS_WRITE));
    fails(CLO_ERR_ARGUMENT, "handle \"frame\": the 4 instances of task \"fill\" (0) write it without order",
          clo_graph_seal(graph));
    clo_graph_destroy(graph);
}

static void an_edge_against_the_order_of_a_handle_is_a_cycle_that_names_it(void **state)
{
    (void)state;
    clo_graph *graph = make_pair(1);

    ok(clo_graph_add_access(graph, 0, 0, CLO_ACCESS_WRITE));
    ok(clo_graph_add_access(graph, 1, 0, CLO_ACCESS_WRITE));
    ok(clo_graph_add_edge(graph, 1, 0, 0));
    fails(CLO_ERR_CYCLE, "handle \"frame\" orders them as they were added", clo_graph_seal(graph));
    clo_graph_destroy(graph);
}

/* "fill" twice, on both executors. */
static void replica_is_refused(const clo_graph *graph)
{
    const clo_placement twice[] = {{.task = 0, .executor = 0},
                                   {.task = 0, .executor = 1, .is_replica = 1},
                                   {.task = 1, .executor = 1},
                                   {.task = 2, .executor = 0}};
    clo_platform *platform;
    clo_cost *cost;
    clo_plan *plan;

    ok(clo_platform_open("uniform:2", &platform));
    ok(clo_cost_create(graph, platform, &cost));
    ok(clo_plan_from_placements(cost, "own", twice, 4, &plan));
    fails(CLO_ERR_INVALID, "fill", clo_plan_check(plan, cost, CLO_CHECK_FULL));
    clo_plan_destroy(plan);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
}

static void what_is_changed_in_place_has_no_replica_and_says_why(void **state)
{
    (void)state;
    static const uint32_t modes[] = {CLO_ACCESS_WRITE, CLO_ACCESS_READ, CLO_ACCESS_UPDATE};
    const clo_task change = {.name = "change", .duplicable = 1};
    clo_graph *graph = make_pair(1);
    clo_task row;

    ok(clo_graph_add_task(graph, &change, NULL));
    for (uint32_t t = 0; t < 3; t++)
        ok(clo_graph_add_access(graph, t, 0, modes[t]));
    ok(clo_graph_seal(graph));
    for (uint32_t t = 0; t < 3; t++) {
        ok(clo_graph_task(graph, t, &row));
        assert_int_equal(row.duplicable, 0);
        assert_int_equal(clo_graph_pinned_by(graph, t), 0);
    }
    replica_is_refused(graph);
    clo_graph_destroy(graph);
}

static clo_job *inner;
static uint32_t refused;

static int wait_inside(const clo_call *call)
{
    (void)call;
    refused += clo_job_wait(inner, NULL) == CLO_ERR_STATE;
    refused += clo_job_wait_for(inner, INT64_MAX, NULL) == CLO_ERR_STATE;
    return 0;
}

/* On a worker, and on a thread that waits and helps. */
static void a_wait_inside_a_worker_is_refused(void **state)
{
    (void)state;
    const clo_task task = {.name = "wait", .body = wait_inside, .work_ns = 1000};

    for (int help = 0; help < 2; help++) {
        clo_graph *graph;
        clo_job *outer;
        clo_job_config config = CLO_JOB_CONFIG_INIT;
        ok(clo_graph_create("waits", &graph));
        ok(clo_graph_add_task(graph, &task, NULL));
        ok(clo_graph_seal(graph));
        scene s = open_scene(graph, CLO_CLOCK_REAL);
        config.plan = help ? NULL : s.plan;
        ok(clo_job_create(s.runtime, s.cost, &config, &outer));
        inner = outer; /* its own job, which cannot end before */
        refused = 0;
        ok(clo_job_submit(outer));
        ok(help ? clo_job_wait(outer, NULL) : clo_job_wait_for(outer, INT64_MAX, NULL));
        assert_int_equal(refused, 2);
        clo_job_destroy(outer);
        close_scene(&s);
    }
}

/* Sixteen releases of 2^45 bytes each. */
static void more_releases_in_flight_than_memory_have_a_status(void **state)
{
    (void)state;
    const clo_task tasks[] = {{.name = "a", .work_ns = 1000, .output_bytes = UINT64_C(1) << 45},
                              {.name = "b", .work_ns = 1000}};
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    clo_graph *graph;
    clo_job *job = NULL;

    ok(clo_graph_create("large", &graph));
    ok(clo_graph_add_tasks(graph, tasks, 2, NULL));
    ok(clo_graph_add_edge(graph, 0, 1, 8));
    ok(clo_graph_seal(graph));
    scene s = open_scene(graph, CLO_CLOCK_REAL);
    config.plan = s.plan;
    config.releases_in_flight = 16;
    config.releases = 100;
    clo_status status = clo_job_create(s.runtime, s.cost, &config, &job);
    assert_true(status == CLO_ERR_LIMIT || status == CLO_ERR_MEMORY);
    assert_true(clo_last_error()[0] != 0);
    assert_null(job);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_arm_that_does_not_exist_fails_the_job_with_the_task_named),
        cmocka_unit_test(minus_one_leaves_the_choice_to_the_chances),
        cmocka_unit_test(a_loop_over_its_bound_fails_the_job_with_the_task_named),
        cmocka_unit_test(a_handle_written_without_order_is_refused_by_name),
        cmocka_unit_test(an_edge_against_the_order_of_a_handle_is_a_cycle_that_names_it),
        cmocka_unit_test(what_is_changed_in_place_has_no_replica_and_says_why),
        cmocka_unit_test(a_wait_inside_a_worker_is_refused),
        cmocka_unit_test(more_releases_in_flight_than_memory_have_a_status),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
