/* The data sets of jobs: TPC-H queries measured on Spark, call graphs of microservices, and the batch jobs of the
 * Alibaba trace v2017. */
#include "bad.h"
#include "fault.h"
#include "io/text/parse.h"

#define STAGE(id, more) "{\"id\": " id ", \"n_tasks\": 3" more "}"
#define WAVES(fresh, first, rest) ", \"fresh\": {" fresh "}, \"first\": {" first "}, \"rest\": {" rest "}"
#define QUERY(stages, edges) "{\"job\": \"q\", \"query\": 1, \"stages\": [" stages "], \"edges\": [" edges "]}"
#define GOOD STAGE("0", WAVES("", "\"2\": [7]", "\"2\": [1, 2], \"5\": [6]"))

static void a_stage_takes_the_mean_of_its_later_waves(void **state)
{
    clo_document *d =
        parsed(QUERY(GOOD ", " STAGE("1", WAVES("\"2\": [9]", "\"2\": [4], \"5\": [5]", "\"2\": []")) ", " STAGE(
                         "2", WAVES("\"2\": [9]", "\"2\": []", "")),
                     "[0, 1], [0, 2]"));

    (void)state;
    assert_string_equal(clo_document_format(d), "tpch");
    assert_string_equal(clo_graph_name(clo_document_graph(d)), "q");
    assert_int_equal(task_of(d, 0).work_ns, 3000000); /* rest: (1 + 2 + 6) / 3 ms */
    assert_int_equal(task_of(d, 0).instances, 3);
    assert_string_equal(task_of(d, 0).name, "stage0");
    assert_int_equal(task_of(d, 1).work_ns, 4500000); /* no rest: the first wave */
    assert_int_equal(task_of(d, 2).work_ns, 9000000); /* only fresh ones */
    assert_int_equal(edge_of(d, 1).to, 2);
    assert_true(clo_document_unit_ns(d) == 1e6);
    assert_null(clo_document_platform(d));
    clo_document_destroy(d);
}

static void a_stage_keeps_its_waves(void **state)
{
    clo_document *d =
        parsed(QUERY(STAGE("0", WAVES("\"5\": [7]", "\"5\": [7, 8], \"10\": []", "\"5\": [], \"10\": [1, 2]")), ""));
    const clo_graph *graph = clo_document_graph(d);
    uint32_t count;

    (void)state;
    assert_int_equal(clo_graph_wave_levels(graph, 0), 2);
    assert_int_equal(clo_graph_wave_level(graph, 0, 1), 10);
    assert_int_equal(clo_graph_wave_times(graph, 0, 0, CLO_WAVE_FIRST, &count)[0], 8000000); /* 7 is fresh */
    assert_int_equal(count, 1);
    assert_int_equal(clo_graph_wave_times(graph, 0, 1, CLO_WAVE_REST, &count)[1], 2000000);
    assert_int_equal(count, 2);
    clo_document_destroy(d);
}

static void bad_queries_are_refused(void **state)
{
    static const bad rows[] = {
        {QUERY("", ""), CLO_ERR_FORMAT, "f:1: stages is empty; a job needs at least one stage"},
        {QUERY(GOOD, "[0, 1]"), CLO_ERR_LIMIT, "f:1: edges[0][1] is 1; the largest possible is 0"},
        {QUERY(GOOD, "[0]"), CLO_ERR_FORMAT, "f:1: edges[0] has 1 entries; write 2, one for each end"},
        {QUERY(STAGE("1", WAVES("", "", "\"2\": [1]")), ""), CLO_ERR_FORMAT,
         "f:1: stages[0].id is 1; stages are numbered from 0, write 0"},
        {QUERY(STAGE("0", WAVES("", "", "\"x5\": [1]")), ""), CLO_ERR_FORMAT,
         "f:1: stages[0].rest.x5 is of no number of executors; write \"5\", \"10\" ..."},
        {QUERY(STAGE("0", WAVES("", "", "")), ""), CLO_ERR_FORMAT,
         "f:1: stages[0] has no durations; write some into \"rest\""},
        {QUERY(STAGE("0", ", \"first\": {}"), ""), CLO_ERR_FORMAT, "f:1: stages[0] has no \"rest\"; add it"},
        {QUERY(STAGE("0", WAVES("", "", "\"2\": [-1]")), ""), CLO_ERR_FORMAT,
         "f:1: stages[0].rest.2[0] is -1; write a number >= 0"},
        {QUERY(STAGE("0", WAVES("", "", "\"2\": 5")), ""), CLO_ERR_FORMAT,
         "f:1: stages[0].rest.2 is 5; write an array of milliseconds"},
        {QUERY(STAGE("0", ", \"rest\": []"), ""), CLO_ERR_FORMAT,
         "f:1: stages[0].rest is an array; write {\"executors\": [milliseconds]}"},
        {QUERY(STAGE("0", WAVES("", "", "\"2\": [1e300]")), ""), CLO_ERR_LIMIT,
         "f:1: stages[0].rest.2[0] is 1e+300 ms, with scale 1 more than 146 years; write less"},
        {QUERY("{\"id\": 0, \"n_tasks\": 0}", ""), CLO_ERR_FORMAT,
         "f:1: stages[0].n_tasks is 0; write a whole number >= 1"},
    };

    (void)state;
    REFUSE(rows);
    handle_every_cut(QUERY(GOOD, ""));
    handle_every_byte(QUERY(GOOD, ""));
}

#define CALLS(nodes, calls) "{\"service\": \"S\", \"type\": \"t\", \"nodes\": [" nodes "], \"calls\": [" calls "]}"
#define NODES "[\"a\", \"relay\"], [\"b\", \"normal\"], [\"c\", \"database\"]"

static void a_node_has_as_many_instances_as_it_is_called(void **state)
{
    clo_document *d =
        parsed(CALLS(NODES, "[0, 1, \"rpc\", 2], [1, 2, \"db\", 3], [0, 2, \"mc\", 4], [0, 1, \"mq\", 1]"));

    (void)state;
    assert_string_equal(clo_document_format(d), "rpc");
    assert_string_equal(clo_graph_name(clo_document_graph(d)), "S");
    assert_int_equal(task_of(d, 0).instances, 1); /* called from outside */
    assert_int_equal(task_of(d, 1).instances, 3); /* by two types: one edge */
    assert_int_equal(task_of(d, 2).instances, 7);
    assert_int_equal(task_of(d, 2).work_ns, 1000000);
    assert_string_equal(task_of(d, 2).name, "c");
    assert_int_equal(clo_graph_edges(clo_document_graph(d)), 3);
    clo_document_destroy(d);
}

static void bad_call_graphs_are_refused(void **state)
{
    static const bad rows[] = {
        {CALLS("", ""), CLO_ERR_FORMAT, "f:1: nodes is empty; a call graph needs at least one node"},
        {CALLS("[\"a\"]", ""), CLO_ERR_FORMAT, "f:1: nodes[0] has 1 entries; write 2, one for each of name and label"},
        {CALLS("[1, 2]", ""), CLO_ERR_FORMAT, "f:1: nodes[0][0] is 1; write a string in double quotes"},
        {CALLS(NODES, "[0, 3, \"rpc\", 1]"), CLO_ERR_LIMIT, "f:1: calls[0][1] is 3; the largest possible is 2"},
        {CALLS(NODES, "[0, 1]"), CLO_ERR_FORMAT,
         "f:1: calls[0] has 2 entries; write 4, one for each of caller, callee, type and count"},
        {CALLS(NODES, "[1, 1, \"rpc\", 1]"), CLO_ERR_FORMAT, "f:1: calls[0] goes from a node to itself; remove it"},
        {CALLS(NODES, "[0, 1, \"rpc\", 0]"), CLO_ERR_FORMAT, "f:1: calls[0][3] is 0; write a whole number >= 1"},
        {CALLS(NODES, "[0, 1, \"rpc\", 2147483647], [2, 1, \"rpc\", 1]"), CLO_ERR_LIMIT,
         "f:1: nodes[1] is called 2147483648 times; at most 2147483647 are possible"},
    };

    (void)state;
    REFUSE(rows);
    handle_every_cut(CALLS(NODES, "[0, 1, \"rpc\", 2]"));
    handle_every_byte(CALLS(NODES, "[0, 1, \"rpc\", 2]"));
}

#define HEAD "job_id,task_id,submit_s,span_s,instances,cpu_cores,mem_norm\n"

static clo_status read_csv(const char *text, clo_workload **out)
{
    return clo_workload_parse("f", text, strlen(text), NULL, out);
}

static void lines_of_a_job_become_its_tasks(void **state)
{
    clo_workload *w = NULL;
    clo_task task;

    (void)state;
    ok(read_csv(HEAD "7,70,90,5,1,0.5,0.25\n7,71,80,2.5,3,1,0\r\n\n5,50,-3,1,1,6,1", &w));
    assert_int_equal(clo_workload_jobs(w), 2);
    const clo_workload_job *early = clo_workload_get(w, 0), *late = clo_workload_get(w, 1);
    assert_string_equal(early->name, "5");
    assert_int_equal(early->arrival_ns, 0); /* before the trace began */
    assert_int_equal(early->line, 5);
    assert_string_equal(late->name, "7");
    assert_int_equal(late->arrival_ns, 80000000000); /* its first task */
    assert_int_equal(late->line, 2);
    assert_int_equal(clo_graph_tasks(late->graph), 2);
    ok(clo_graph_task(late->graph, 0, &task));
    assert_string_equal(task.name, "70");
    assert_int_equal(task.demand[0], 500);
    assert_int_equal(task.demand[1], 25000);
    ok(clo_graph_task(late->graph, 1, &task));
    assert_int_equal(task.work_ns, 2500000000);
    assert_int_equal(task.instances, 3);
    assert_string_equal(clo_platform_name(clo_workload_platform(w)), "alibaba-v2017");
    assert_int_equal(clo_platform_executors(clo_workload_platform(w)), 64);
    assert_int_equal(clo_platform_capacity(clo_workload_platform(w), 0, 1), 100000);
    assert_string_equal(clo_graph_resource_name(late->graph, 1), "memory");
    clo_workload_destroy(w);
}

static void bad_lines_are_refused(void **state)
{
    static const bad rows[] = {
        {HEAD, CLO_ERR_FORMAT, "f:1: holds no jobs; write one task a line below the first line"},
        {HEAD "1,2,3,4,5,6", CLO_ERR_FORMAT,
         "f:2: has too few columns; write job_id,task_id,submit_s,span_s,instances,cpu_cores,mem_norm"},
        {HEAD "1,2,3,4,5,6,7,8", CLO_ERR_FORMAT,
         "f:2: has too many columns; write job_id,task_id,submit_s,span_s,instances,cpu_cores,mem_norm"},
        {HEAD "1,2,3,4,5,6,0.1\nx,2,3,4,5,6,0.1", CLO_ERR_FORMAT, "f:3: job_id is \"x\"; write a whole number >= 0"},
        {HEAD "1,2,3.5,4,5,6,0.1", CLO_ERR_FORMAT, "f:2: submit_s is \"3.5\"; write a whole number"},
        {HEAD "1,2,3,-4,5,6,0.1", CLO_ERR_FORMAT, "f:2: span_s is \"-4\"; write a number >= 0"},
        {HEAD "1,2,3,4,0,6,0.1", CLO_ERR_FORMAT, "f:2: instances is \"0\"; write a whole number from 1 to 2147483647"},
        {HEAD "1,2,3,4,5,nan,0.1", CLO_ERR_FORMAT, "f:2: cpu_cores is \"nan\"; write a number >= 0"},
        {HEAD "1,2,3,4,5,6,1e999", CLO_ERR_FORMAT, "f:2: mem_norm is \"1e999\"; write a number >= 0"},
        {HEAD "1,2,3,4,5,6,", CLO_ERR_FORMAT, "f:2: mem_norm is \"\"; write a number >= 0"},
        {HEAD "1,2,3,4,5,6,0x10", CLO_ERR_FORMAT, "f:2: mem_norm is \"0x10\"; write a number >= 0"},
        {HEAD "1,2,3,9e15,5,6,0", CLO_ERR_LIMIT,
         "f:2: holds a number that is, with scale 1, too large; write a smaller one"},
        {HEAD "1,1,1,1,1,1,0\n2,1,1,1,1,1,0\n1,2,1,1,1,1,0", CLO_ERR_FORMAT,
         "f:4: job 1 has lines from 2 on too; put its lines together"},
        {HEAD "1,1,1,4e9,2147483647,1,0", CLO_ERR_LIMIT, "f:2: "},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        clo_workload *w = NULL;
        clo_status status = read_csv(rows[i].text, &w);
        if (status != rows[i].status || strncmp(clo_last_error(), rows[i].error, strlen(rows[i].error)) != 0)
            fail_msg("%s\n  gives    %d %s\n  not      %d %s", rows[i].text, status, clo_last_error(), rows[i].status,
                     rows[i].error);
        assert_null(w);
    }
}

static void the_table_is_no_graph(void **state)
{
    clo_document *d = NULL;

    (void)state;
    fails(CLO_ERR_FORMAT, "f:1: holds the jobs of a workload, not a graph; read it with clo_workload_load",
          clo_document_parse("f", HEAD "1,1,1,1,1,1,0", strlen(HEAD) + 13, NULL, &d));
    assert_null(d);
}

static void cut_tables_are_handled(void **state)
{
    static const char text[] = HEAD "7,70,90,5,1,0.5,0.25\n7,71,80,2.5,3,1,0\n5,50,-3,1,1,6,1\n";

    (void)state;
    for (size_t bytes = 0; bytes < sizeof text; bytes++) {
        char *piece = test_malloc(bytes + 1);
        clo_workload *w = NULL;
        memcpy(piece, text, bytes);
        clo_status status = clo_workload_parse("f", piece, bytes, NULL, &w);
        assert_true((status == CLO_OK) == (w != NULL));
        assert_true(status == CLO_OK || strncmp(clo_last_error(), "f:", 2) == 0);
        clo_workload_destroy(w);
        test_free(piece);
    }
}

static clo_status read_and_drop(void *context)
{
    clo_workload *w = NULL;
    clo_status status = read_csv(context, &w);

    clo_workload_destroy(w);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    static char csv[] = HEAD "1,1,9,1,1,1,0\n1,2,1,1,1,1,0\n2,2,1,1,1,1,0", query[] = QUERY(GOOD, ""),
                calls[] = CALLS(NODES, "[0, 1, \"rpc\", 2]");

    (void)state;
    assert_true(fault_each(read_and_drop, csv) > 10);
    assert_true(fault_each(read_and_drop, query) > 10);
    assert_true(fault_each(read_and_drop, calls) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stage_takes_the_mean_of_its_later_waves),
        cmocka_unit_test(a_stage_keeps_its_waves),
        cmocka_unit_test(bad_queries_are_refused),
        cmocka_unit_test(a_node_has_as_many_instances_as_it_is_called),
        cmocka_unit_test(bad_call_graphs_are_refused),
        cmocka_unit_test(lines_of_a_job_become_its_tasks),
        cmocka_unit_test(bad_lines_are_refused),
        cmocka_unit_test(the_table_is_no_graph),
        cmocka_unit_test(cut_tables_are_handled),
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests_name("io_jobs", tests, NULL, NULL);
}
