/* Bad arguments of branch.h, and what refuses a graph with branches. */
#include "graph/control_flow.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

static int again(const clo_call *call)
{
    *call->arm = CLO_LOOP_AGAIN;
    return 0;
}

static int beyond(const clo_call *call)
{
    *call->arm = 7;
    return 0;
}

/* A branch "b" of two arms, "x" and "y", that a merge "m" follows; open. */
static clo_graph *make_graph(clo_task_fn body)
{
    const clo_task tasks[] = {{.name = "b", .body = body}, {.name = "x"}, {.name = "y"}, {.name = "m"}};
    clo_graph *graph;

    ok(clo_graph_create("g", &graph));
    ok(clo_graph_add_tasks(graph, tasks, 4, NULL));
    ok(clo_graph_set_branch(graph, 0, 2, NULL));
    ok(clo_graph_add_arm(graph, 0, 1, 0, 0));
    ok(clo_graph_add_arm(graph, 0, 2, 0, 1));
    ok(clo_graph_add_edge(graph, 1, 3, 0));
    ok(clo_graph_add_edge(graph, 2, 3, 0));
    ok(clo_graph_set_merge(graph, 3));
    return graph;
}

static void branches_refuse_bad_arguments(void **state)
{
    (void)state;
    const uint32_t short_of[] = {1, 2};
    clo_graph *graph = make_graph(NULL);

    fails(CLO_ERR_ARGUMENT, "NULL", clo_graph_set_branch(NULL, 0, 2, NULL));
    fails(CLO_ERR_ARGUMENT, "arms", clo_graph_set_branch(graph, 0, 0, NULL));
    fails(CLO_ERR_ARGUMENT, "arms", clo_graph_set_branch(graph, 0, CLO_ARMS_MAX + 1, NULL));
    fails(CLO_ERR_ARGUMENT, "add up to 3", clo_graph_set_branch(graph, 1, 2, short_of));
    fails(CLO_ERR_ARGUMENT, "", clo_graph_set_branch(graph, 9, 2, NULL));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_graph_add_arm(NULL, 0, 1, 0, 0));
    fails(CLO_ERR_ARGUMENT, "arm 256", clo_graph_add_arm(graph, 0, 1, 0, CLO_ARMS_MAX));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_graph_set_merge(NULL, 0));
    fails(CLO_ERR_ARGUMENT, "", clo_graph_set_merge(graph, 9));
    assert_int_equal(clo_graph_branches(graph), 1);
    assert_int_equal(clo_graph_arms(graph, 0), 2);
    assert_true(clo_graph_is_merge(graph, 3) && !clo_graph_is_merge(graph, 2));
    ok(clo_graph_seal(graph));
    assert_int_equal(clo_graph_edge_arm(graph, 1), 1);
    assert_int_equal(clo_graph_edge_arm(graph, 2), CLO_NONE);
    fails(CLO_ERR_STATE, "sealed", clo_graph_set_branch(graph, 1, 2, NULL));
    fails(CLO_ERR_STATE, "sealed", clo_graph_add_arm(graph, 0, 1, 0, 0));
    fails(CLO_ERR_STATE, "sealed", clo_graph_set_merge(graph, 1));
    clo_graph_destroy(graph);
    assert_int_equal(clo_graph_branches(NULL), 0);
    assert_int_equal(clo_graph_arms(NULL, 0), 0);
    assert_int_equal(clo_graph_chance(NULL, 0, 0), 0);
    assert_false(clo_graph_is_merge(NULL, 0));
    assert_int_equal(clo_graph_edge_arm(NULL, 0), CLO_NONE);
    assert_false(clo_plan_is_skipped(NULL, 0));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_plan_set_planner(NULL, "x"));
}

static void sealing_refuses_what_cannot_be_a_branch(void **state)
{
    (void)state;
    static const clo_task bad[] = {{.instances = 2}, {.duplicable = 1}, {.may_pend = 1}};

    for (size_t i = 0; i < 3; i++) {
        clo_graph *graph = make_graph(NULL);
        uint32_t id;
        ok(clo_graph_add_task(graph, &bad[i], &id));
        ok(clo_graph_set_branch(graph, id, 1, NULL));
        fails(CLO_ERR_ARGUMENT, "is a branch and has", clo_graph_seal(graph));
        clo_graph_destroy(graph);
    }
    clo_graph *graph = make_graph(NULL);
    ok(clo_graph_add_arm(graph, 1, 2, 0, 0));
    fails(CLO_ERR_ARGUMENT, "which is no branch", clo_graph_seal(graph));
    clo_graph_destroy(graph);
    graph = make_graph(NULL);
    ok(clo_graph_add_arm(graph, 0, 3, 0, 2));
    fails(CLO_ERR_ARGUMENT, "its arms go from 0 to 1", clo_graph_seal(graph));
    ok(clo_graph_set_branch(graph, 0, 3, NULL));
    fails(CLO_ERR_ARGUMENT, "twice", clo_graph_seal(graph));
    clo_graph_destroy(graph);
    graph = make_graph(NULL);
    ok(clo_graph_add_handle(graph, &(clo_handle){.name = "h", .bytes = 8}, NULL));
    ok(clo_graph_add_access(graph, 0, 0, CLO_ACCESS_WRITE));
    fails(CLO_ERR_UNSUPPORTED, "give the handle an address or kept", clo_graph_seal(graph));
    clo_graph_destroy(graph);
}

/* A handle that the graph does not have, and a second iteration that finds no new one. */
static void loop_handles_are_checked(clo_graph *graph, const clo_graph *plain, clo_loop loop)
{
    const uint32_t unknown = 7;
    clo_graph *body;

    ok(clo_graph_create("body", &body));
    ok(clo_graph_add_task(body, &(clo_task){.name = "c"}, NULL));
    ok(clo_graph_add_handle(body, &(clo_handle){.name = "h", .bytes = 8, .kept = 1}, NULL));
    ok(clo_graph_add_access(body, 0, 0, CLO_ACCESS_UPDATE));
    ok(clo_graph_seal(body));
    loop.body = body;
    loop.handles = &unknown;
    fails(CLO_ERR_ARGUMENT, "handle", clo_graph_add_loop(graph, &loop, NULL, NULL));
    loop.body = plain; /* which has no handles to look for */
    loop.bound = 0;
    fails(CLO_ERR_ARGUMENT, "bound", clo_graph_add_loop(graph, &loop, NULL, NULL));
    clo_graph_destroy(body);
}

static void iterations_share_the_handles_of_their_body(void **state)
{
    (void)state;
    const clo_handle handle = {.name = "h", .bytes = 8, .kept = 1};
    clo_loop loop = CLO_LOOP_INIT;
    clo_graph *graph, *body;
    clo_access access;

    ok(clo_graph_create("body", &body));
    ok(clo_graph_add_task(body, &(clo_task){.name = "c"}, NULL));
    ok(clo_graph_add_task(body, &(clo_task){.name = "d"}, NULL));
    ok(clo_graph_add_handle(body, &handle, NULL));
    ok(clo_graph_add_handle(body, &handle, NULL));
    ok(clo_graph_add_access(body, 0, 0, CLO_ACCESS_UPDATE));
    ok(clo_graph_add_access(body, 1, 0, CLO_ACCESS_UPDATE));
    ok(clo_graph_add_access(body, 1, 1, CLO_ACCESS_WRITE));
    ok(clo_graph_seal(body));
    const uint32_t handles[] = {0, CLO_NONE};
    loop.body = body;
    loop.bound = 3;
    loop.handles = handles;
    ok(clo_graph_create("g", &graph));
    ok(clo_graph_add_handle(graph, &handle, NULL));
    ok(clo_graph_add_loop(graph, &loop, NULL, NULL));
    ok(clo_graph_seal(graph));
    assert_int_equal(clo_graph_handles(graph), 2);
    for (uint32_t a = 0; a < 9; a++) {
        ok(clo_graph_access(graph, a, &access));
        assert_int_equal(access.handle, a % 3 == 2);
    }
    /* Task d waits for c by the handle alone: it has the arm CLO_LOOP_AGAIN of the iteration before as well as c. */
    uint32_t arms = 0;
    for (uint32_t e = 0; e < clo_graph_edges_added(graph); e++)
        arms += clo_graph_edge_arm(graph, e) == CLO_LOOP_AGAIN;
    assert_int_equal(arms, 4);
    clo_graph_destroy(body);
    clo_graph_destroy(graph);
}

static void loops_refuse_bad_arguments_and_leave_the_graph_as_it_was(void **state)
{
    (void)state;
    clo_loop loop = CLO_LOOP_INIT;
    const clo_edge nowhere = {0, 5, 0};
    clo_graph *graph = make_graph(NULL), *body;
    uint32_t first, exit;

    fails(CLO_ERR_ARGUMENT, "NULL", clo_graph_add_loop(NULL, &loop, NULL, NULL));
    fails(CLO_ERR_ARGUMENT, "NULL", clo_graph_add_loop(graph, NULL, NULL, NULL));
    fails(CLO_ERR_ARGUMENT, "body", clo_graph_add_loop(graph, &loop, NULL, NULL));
    ok(clo_graph_create("body", &body));
    ok(clo_graph_add_task(body, &(clo_task){.name = "c"}, NULL));
    loop.body = body;
    fails(CLO_ERR_ARGUMENT, "bound", clo_graph_add_loop(graph, &loop, NULL, NULL));
    loop.bound = 3;
    fails(CLO_ERR_STATE, "not sealed", clo_graph_add_loop(graph, &loop, NULL, NULL));
    ok(clo_graph_seal(body));
    loop.condition = 1;
    fails(CLO_ERR_ARGUMENT, "condition", clo_graph_add_loop(graph, &loop, NULL, NULL));
    loop.condition = 0;
    loop.again = CLO_CHANCES_ONE + 1;
    fails(CLO_ERR_ARGUMENT, "again", clo_graph_add_loop(graph, &loop, NULL, NULL));
    loop.again = 0;
    loop.carried = &nowhere;
    loop.carried_count = 1;
    fails(CLO_ERR_ARGUMENT, "carried[0]", clo_graph_add_loop(graph, &loop, NULL, NULL));
    loop.carried_count = 0;
    loop.exit = &(const clo_task){.work_ns = -1};
    fails(CLO_ERR_ARGUMENT, "work_ns", clo_graph_add_loop(graph, &loop, NULL, NULL));
    loop.exit = NULL;
    loop_handles_are_checked(graph, body, loop);
    assert_int_equal(clo_graph_tasks(graph), 4);
    assert_int_equal(clo_graph_branches(graph), 1);
    assert_int_equal(clo_graph_handles(graph), 0);
    ok(clo_graph_add_loop(graph, &loop, &first, &exit));
    assert_int_equal(first, 4);
    assert_int_equal(exit, 7);
    assert_int_equal(clo_graph_bound(graph, 6), 3);
    ok(clo_graph_seal(graph));
    clo_graph_destroy(body);
    clo_graph_destroy(graph);
}

/* Runs a graph once by work stealing; the job must fail with `code`, its task named. */
static void job_fails(clo_graph *graph, int code, const char *text)
{
    clo_job_result result = CLO_JOB_RESULT_INIT;
    clo_platform *platform;
    clo_runtime *runtime;
    clo_cost *cost;
    clo_job *job;

    ok(clo_graph_seal(graph));
    ok(clo_platform_open("uniform:2", &platform));
    ok(clo_cost_create(graph, platform, &cost));
    ok(clo_runtime_create(platform, NULL, &runtime));
    clo_job_config config = CLO_JOB_CONFIG_INIT;
    const uint64_t done = 1;
    const int64_t after_ns[8] = {0};
    config.done = &done;
    fails(CLO_ERR_UNSUPPORTED, "branches", clo_job_create(runtime, cost, &config, &job));
    config = (clo_job_config)CLO_JOB_CONFIG_INIT;
    config.hedge_after_ns = after_ns;
    fails(CLO_ERR_UNSUPPORTED, "branches", clo_job_create(runtime, cost, &config, &job));
    ok(clo_job_create(runtime, cost, NULL, &job));
    ok(clo_job_submit(job));
    fails(CLO_ERR_TASK, text, clo_job_wait(job, &result));
    assert_int_equal(result.failed_code, code);
    clo_sim_config sim = CLO_SIM_CONFIG_INIT;
    sim.execute = 1;
    fails(CLO_ERR_TASK, text, clo_simulate(cost, &sim, NULL, NULL, NULL));
    clo_job_destroy(job);
    clo_runtime_destroy(runtime);
    clo_cost_destroy(cost);
    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
}

static void an_arm_out_of_range_and_a_loop_over_its_bound_fail_the_job_by_name(void **state)
{
    (void)state;
    clo_loop loop = CLO_LOOP_INIT;
    clo_graph *graph, *body;

    job_fails(make_graph(beyond), CLO_FAILED_ARM, "task 'b' (0) chose an arm");
    ok(clo_graph_create("body", &body));
    ok(clo_graph_add_task(body, &(clo_task){.name = "c", .body = again}, NULL));
    ok(clo_graph_seal(body));
    ok(clo_graph_create("g", &graph));
    loop.body = body;
    loop.bound = 3;
    ok(clo_graph_add_loop(graph, &loop, NULL, NULL));
    clo_graph_destroy(body);
    job_fails(graph, CLO_FAILED_BOUND, "task 'c' (2) wants another iteration after all 3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branches_refuse_bad_arguments),
        cmocka_unit_test(sealing_refuses_what_cannot_be_a_branch),
        cmocka_unit_test(iterations_share_the_handles_of_their_body),
        cmocka_unit_test(loops_refuse_bad_arguments_and_leave_the_graph_as_it_was),
        cmocka_unit_test(an_arm_out_of_range_and_a_loop_over_its_bound_fail_the_job_by_name),
    };

    return cmocka_run_group_tests_name("arguments_branch", tests, NULL, NULL);
}
