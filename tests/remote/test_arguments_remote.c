/* test_arguments_remote.c - as tests/stress/test_arguments.c, for the library of several machines. Built for each MPI;
 * runs without a launcher, as the one rank of its own. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include <clotho_mpi/links.h>

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define refuses(call, ...) fails(CLO_ERR_ARGUMENT, #call, call(__VA_ARGS__))
#define refuses_somehow(call, ...) fails(CLO_ERR_ARGUMENT, "", call(__VA_ARGS__))

/* One of each object, and a second cluster with a cost of its own. */
static struct scene {
    clo_cluster *one, *two;
    clo_graph *graph;
    clo_cost *cost, *other_cost;
    clo_plan *plan;
    clo_remote *remote; /* NULL: MPI does not start here without a launcher */
} s;

static clo_cluster *cluster_of(const char *text)
{
    clo_cluster *cluster = NULL;

    ok(clo_cluster_parse("x", text, strlen(text), &cluster));
    return cluster;
}

static int set_up(void **state)
{
    clo_task task = {.work_ns = 1000};

    (void)state;
    s.one = cluster_of(
        "{\"format\": \"clotho.cluster/1\", \"machines\": [{\"name\": \"a\", \"platform\": \"uniform:1\"}]}");
    s.two =
        cluster_of("{\"format\": \"clotho.cluster/1\", \"machines\": [{\"name\": \"a\", \"platform\": \"uniform:1\"}, "
                   "{\"name\": \"b\", \"platform\": \"uniform:1\"}], \"link\": {\"latency_ns\": 1, "
                   "\"bandwidth_bytes_per_ns\": 1}}");
    ok(clo_graph_create("g", &s.graph));
    ok(clo_graph_add_task(s.graph, &task, NULL));
    ok(clo_graph_seal(s.graph));
    ok(clo_cost_create(s.graph, clo_cluster_platform(s.one), &s.cost));
    ok(clo_cost_create(s.graph, clo_cluster_platform(s.two), &s.other_cost));
    ok(clo_plan_create(s.cost, NULL, &s.plan));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    clo_plan_destroy(s.plan);
    clo_cost_destroy(s.other_cost);
    clo_cost_destroy(s.cost);
    clo_graph_destroy(s.graph);
    clo_cluster_destroy(s.two);
    clo_cluster_destroy(s.one);
    return 0;
}

static void before_mpi_has_begun(void **state)
{
    clo_remote_result result = CLO_REMOTE_RESULT_INIT;
    clo_remote_link link = CLO_REMOTE_LINK_INIT;
    clo_remote_links *links = NULL;
    clo_remote_port port = CLO_REMOTE_PORT_INIT;
    int code;

    (void)state;
    refuses(clo_remote_open, NULL, NULL, NULL);
    clo_remote_close(NULL);
    assert_int_equal(clo_remote_rank(NULL), 0);
    assert_int_equal(clo_remote_ranks(NULL), 0);
    assert_true(clo_remote_engine()[0] != '\0' && strchr(clo_remote_engine(), '\n') == NULL);
    refuses(clo_remote_run, NULL, s.one, s.cost, s.plan, NULL, &result, NULL);
    refuses(clo_remote_barrier, NULL, 0);
    refuses(clo_remote_measure, NULL, 0, NULL, NULL, NULL, &links);
    clo_remote_links_destroy(NULL);
    assert_int_equal(clo_remote_links_ranks(NULL), 0);
    assert_int_equal(clo_remote_links_limit(NULL), 0);
    refuses(clo_remote_links_get, NULL, 0, 1, &link);
    refuses(clo_remote_links_port, NULL, 0, &port);
    refuses(clo_remote_links_save, NULL, "x", "y");
    assert_null(links);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        clo_remote_abort(NULL, 3);
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFEXITED(code) && WEXITSTATUS(code) == 3);
}

static void with_one_rank(void **state)
{
    clo_remote_result result = CLO_REMOTE_RESULT_INIT, small = {.size = 8};
    clo_remote_config config = CLO_REMOTE_CONFIG_INIT, newer[2] = {CLO_REMOTE_CONFIG_INIT, CLO_REMOTE_CONFIG_INIT};
    clo_trace *trace = NULL;

    (void)state;
    ok(clo_remote_open(NULL, NULL, &s.remote));
    assert_int_equal(clo_remote_ranks(s.remote), 1);
    refuses(clo_remote_run, s.remote, NULL, s.cost, s.plan, NULL, &result, NULL);
    refuses(clo_remote_run, s.remote, s.one, NULL, s.plan, NULL, &result, NULL);
    refuses(clo_remote_run, s.remote, s.one, s.cost, NULL, NULL, &result, NULL);
    refuses(clo_remote_run, s.remote, s.one, s.cost, s.plan, NULL, NULL, NULL);
    refuses_somehow(clo_remote_run, s.remote, s.one, s.cost, s.plan, NULL, &small, NULL);
    newer[0].size = sizeof newer;
    refuses_somehow(clo_remote_run, s.remote, s.one, s.cost, s.plan, newer, &result, NULL);
    fails(CLO_ERR_ARGUMENT, "2 machines, and there are 1 ranks",
          clo_remote_run(s.remote, s.two, s.other_cost, s.plan, NULL, &result, NULL));
    fails(CLO_ERR_ARGUMENT, "cost is of another platform",
          clo_remote_run(s.remote, s.one, s.other_cost, s.plan, NULL, &result, NULL));
    config.piece_bytes = (uint64_t)INT32_MAX + 1;
    refuses_somehow(clo_remote_run, s.remote, s.one, s.cost, s.plan, &config, &result, NULL);
    config.piece_bytes = 0;
    config.slots_max = UINT32_MAX;
    refuses_somehow(clo_remote_run, s.remote, s.one, s.cost, s.plan, &config, &result, NULL);
    config.slots_max = 0;
    config.silence_ns = -1;
    refuses_somehow(clo_remote_run, s.remote, s.one, s.cost, s.plan, &config, &result, NULL);
    config.silence_ns = 0;
    config.unpinned = 1;
    ok(clo_remote_run(s.remote, s.one, s.cost, s.plan, &config, &result, &trace)); /* one machine is a cluster too */
    assert_int_equal(result.executed, 1);
    assert_int_equal(result.transfers, 0);
    assert_non_null(trace);
    clo_trace_destroy(trace);
    refuses(clo_remote_barrier, s.remote, -1);
    ok(clo_remote_barrier(s.remote, 0));
}

static void links_of_one_rank(void **state)
{
    clo_remote_config newer[2] = {CLO_REMOTE_CONFIG_INIT, CLO_REMOTE_CONFIG_INIT};
    clo_remote_link link = CLO_REMOTE_LINK_INIT, small = {.size = 8};
    clo_remote_links *links = NULL;
    clo_remote_port port = CLO_REMOTE_PORT_INIT;

    (void)state;
    assert_non_null(s.remote);
    refuses(clo_remote_measure, s.remote, 1, NULL, NULL, NULL, NULL);
    newer[0].size = sizeof newer;
    refuses_somehow(clo_remote_measure, s.remote, 1, newer, NULL, NULL, &links);
    newer[0].size = sizeof newer[0];
    newer[0].start_ns = -1;
    refuses_somehow(clo_remote_measure, s.remote, 1, newer, NULL, NULL, &links);
    assert_null(links);
    ok(clo_remote_measure(s.remote, 1, NULL, NULL, NULL, &links));
    assert_int_equal(clo_remote_links_ranks(links), 1);
    assert_int_equal(clo_remote_links_limit(links), 0);
    refuses(clo_remote_links_get, links, 0, 0, &link);
    refuses(clo_remote_links_get, links, 0, 1, &link);
    refuses(clo_remote_links_get, links, 0, 1, NULL);
    refuses_somehow(clo_remote_links_get, links, 0, 0, &small);
    refuses(clo_remote_links_port, links, 1, &port);
    refuses(clo_remote_links_port, links, 0, NULL);
    ok(clo_remote_links_port(links, 0, &port));
    assert_true(port.messages == 0 && port.out_bytes_per_ns == 0 && port.in_bytes_per_ns == 0);
    refuses(clo_remote_links_save, links, NULL, "y");
    refuses(clo_remote_links_save, links, "x", NULL);
    fails(CLO_ERR_IO, "", clo_remote_links_save(links, "/nowhere/x", "/nowhere/y"));
    clo_remote_links_destroy(links);
    clo_remote_close(s.remote);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(before_mpi_has_begun), cmocka_unit_test(with_one_rank),
                                       cmocka_unit_test(links_of_one_rank)};

    return cmocka_run_group_tests_name("arguments_remote", tests, set_up, tear_down);
}
