#include "bad.h"
#include "base/memory.h"
#include "io/text/reader.h"

#include "platform/model/platform.h"
#include <stdio.h>

#define SAGA(tasks, edges, nodes, links, rest)                                                                         \
    "{\"name\": \"s\",\n\"tasks\": [" tasks "],\n\"edges\": [" edges "],\n\"nodes\": [" nodes "],\n\"links\": [" links \
    "]" rest "}"
#define TASKS "{\"name\": \"t0\", \"cost\": 3}, {\"name\": \"t1\", \"cost\": 0.5}"
#define EDGES "{\"src\": \"t0\", \"dst\": \"t1\", \"size\": 1.5}"
#define NODES "{\"name\": \"n0\", \"speed\": 2}, {\"name\": \"n1\", \"speed\": 0.3}, {\"name\": \"n2\", \"speed\": 1}"
#define LINKS                                                                                                \
    "{\"a\": \"n0\", \"b\": \"n1\", \"bandwidth\": 0.5}, {\"a\": \"n2\", \"b\": \"n0\", \"bandwidth\": 3}, " \
    "{\"a\": \"n1\", \"b\": \"n2\", \"bandwidth\": null}, {\"a\": \"n0\", \"b\": \"n0\", \"bandwidth\": 1e300}"
#define ONE_NODE "{\"name\": \"n\", \"speed\": 1}"

static int64_t time_of(const clo_document *d, uint32_t task, uint32_t kind)
{
    int64_t ns = -1;

    assert_true(clo_graph_time(clo_document_graph(d), task, kind, &ns));
    return ns;
}

static void times_are_cost_over_speed_in_seconds(void **state)
{
    clo_document *d = parsed(SAGA(TASKS, EDGES, NODES, LINKS, ""));

    (void)state;
    assert_string_equal(clo_document_format(d), "saga");
    assert_true(clo_document_unit_ns(d) == 1e9);
    assert_int_equal(clo_graph_tasks(clo_document_graph(d)), 2);
    assert_int_equal(clo_platform_executors(clo_document_platform(d)), 3);
    assert_int_equal(task_of(d, 0).work_ns, 3000000000);
    assert_int_equal(task_of(d, 0).duplicable, 1);
    assert_int_equal(time_of(d, 0, 0), 1500000000);
    assert_int_equal(time_of(d, 0, 1), 10000000000);
    assert_int_equal(time_of(d, 1, 1), 1666666667);
    for (uint32_t e = 0; e < 3; e++) {
        assert_string_equal(clo_graph_kind_name(clo_document_graph(d), e),
                            clo_platform_executor_name(clo_document_platform(d), e));
        assert_int_equal(clo_platform_executor(clo_document_platform(d), e)->kind, e);
    }
    clo_document_destroy(d);
}

static void transfers_are_size_over_bandwidth_both_ways(void **state)
{
    clo_document *d = parsed(SAGA(TASKS, EDGES, NODES, LINKS, ""));
    uint64_t bytes = edge_of(d, 0).bytes;

    (void)state;
    assert_true(bytes == 3ull << 29);
    assert_int_equal(clo_platform_transfer_ns(clo_document_platform(d), bytes, 0, 1), 3000000000);
    assert_int_equal(clo_platform_transfer_ns(clo_document_platform(d), bytes, 1, 0), 3000000000);
    assert_int_equal(clo_platform_transfer_ns(clo_document_platform(d), bytes, 0, 2), 500000000);
    assert_int_equal(clo_platform_transfer_ns(clo_document_platform(d), bytes, 2, 1), 0); /* null: infinite */
    assert_int_equal(clo_platform_transfer_ns(clo_document_platform(d), bytes, 0, 0), 0);
    assert_true(clo_document_platform(d)->mean_includes_self);
    clo_document_destroy(d);
}

static void executors_stand_in_the_order_in_which_saga_iterates(void **state)
{
    clo_document *d =
        parsed(SAGA(TASKS, EDGES, NODES, LINKS, ", \"node_iteration_order_seed0\": [\"n2\", \"n0\", \"n1\"]"));

    (void)state;
    assert_string_equal(clo_platform_executor_name(clo_document_platform(d), 0), "n2");
    assert_string_equal(clo_platform_executor_name(clo_document_platform(d), 1), "n0");
    assert_string_equal(clo_platform_executor_name(clo_document_platform(d), 2), "n1");
    assert_int_equal(time_of(d, 0, 1), 1500000000);
    assert_int_equal(clo_platform_transfer_ns(clo_document_platform(d), 3ull << 29, 1, 2), 3000000000);
    clo_document_destroy(d);
}

static void the_scale_divides_a_run_without_changing_its_shape(void **state)
{
    static const char text[] = SAGA(TASKS, EDGES, NODES, LINKS, "");
    clo_load_config config = CLO_LOAD_CONFIG_INIT;
    clo_document *d;

    (void)state;
    config.scale = 0.001;
    ok(clo_document_parse("f", text, sizeof text - 1, &config, &d));
    assert_int_equal(time_of(d, 0, 0), 1500000);
    assert_int_equal(clo_platform_transfer_ns(clo_document_platform(d), edge_of(d, 0).bytes, 0, 1), 3000000);
    assert_true(clo_document_unit_ns(d) == 1e9);
    clo_document_destroy(d);
}

static const char table[] = "{\"name\": \"fig\", \"processors\": [\"P1\", \"P2\"], \"tasks\": [\"a\", "
                            "\"b\"],\n\"computation_cost\": [[14, 16.5], [1, 2]],\n"
                            "\"edges\": [{\"src\": \"a\", \"dst\": \"b\", \"cost\": 18}]}";

static void a_cost_table_has_links_of_unit_rate(void **state)
{
    clo_document *d = parsed(table);

    (void)state;
    assert_string_equal(clo_document_format(d), "cost-table");
    assert_int_equal(time_of(d, 0, 0), 14000000000);
    assert_int_equal(time_of(d, 0, 1), 16500000000);
    assert_int_equal(task_of(d, 0).work_ns, 15250000000); /* the mean */
    assert_int_equal(clo_platform_transfer_ns(clo_document_platform(d), edge_of(d, 0).bytes, 1, 0), 18000000000);
    assert_false(clo_document_platform(d)->mean_includes_self);
    clo_document_destroy(d);
}

static void malformed_files_are_refused(void **state)
{
    static const bad rows[] = {
        {SAGA("", "", ONE_NODE, "", ""), CLO_ERR_FORMAT, "f:2: tasks is empty; a graph needs at least one task"},
        {SAGA(TASKS, "", "", "", ""), CLO_ERR_FORMAT, "f:4: nodes is empty; write at least one node"},
        {SAGA("{\"name\": \"a\"}", "", ONE_NODE, "", ""), CLO_ERR_FORMAT, "f:2: tasks[0] has no \"cost\"; add it"},
        {SAGA("{\"name\": \"a\", \"cost\": -1}", "", ONE_NODE, "", ""), CLO_ERR_FORMAT,
         "f:2: tasks[0].cost is -1; write a number >= 0"},
        {SAGA("{\"name\": \"a\", \"cost\": 1e12}", "", ONE_NODE, "", ""), CLO_ERR_LIMIT,
         "f:2: tasks[0].cost is 1e+12, with scale 1 more than 146 years; write a smaller time"},
        {SAGA("{\"name\": \"a\", \"cost\": 1e9}", "", "{\"name\": \"n\", \"speed\": 1e-6}", "", ""), CLO_ERR_LIMIT,
         "f:2: tasks[0].cost takes more than 146 years on n; write a smaller cost"},
        {SAGA("{\"name\": \"a\", \"cost\": 1}, {\"name\": \"a\", \"cost\": 1}", "", ONE_NODE, "", ""), CLO_ERR_FORMAT,
         "f:2: tasks[1].name is \"a\"; write a name of its own; another one is called the same"},
        {SAGA(TASKS, "", "{\"name\": \"n\", \"speed\": 0}", "", ""), CLO_ERR_FORMAT,
         "f:4: nodes[0].speed is 0; write a number between 1e-12 and 1e12"},
        {SAGA(TASKS, "", NODES, "{\"a\": \"n0\", \"b\": \"n1\", \"bandwidth\": 1}", ""), CLO_ERR_FORMAT,
         "f:5: links has no link between n0 and n2; add it"},
        {SAGA(TASKS, "", ONE_NODE, "{\"a\": \"n\", \"b\": \"m\", \"bandwidth\": 1}", ""), CLO_ERR_FORMAT,
         "f:5: links[0].b is \"m\"; write a name that the file defines"},
        {SAGA(TASKS, "", NODES, "{\"a\": \"n0\", \"b\": \"n1\", \"bandwidth\": -1}", ""), CLO_ERR_FORMAT,
         "f:5: links[0].bandwidth is -1; write a number >= 0"},
        {SAGA(TASKS, "", NODES,
              "{\"a\": \"n0\", \"b\": \"n1\", \"bandwidth\": 1},\n{\"a\": \"n1\", \"b\": \"n0\", \"bandwidth\": 2}",
              ""),
         CLO_ERR_FORMAT, "f:6: links[1] is a second link of this pair; keep one"},
        {SAGA(TASKS, "", NODES, LINKS, ",\n\"node_iteration_order_seed0\": [\"n0\", \"n1\"]"), CLO_ERR_FORMAT,
         "f:6: node_iteration_order_seed0 has 2 names; write each of the 3 nodes once"},
        {SAGA(TASKS, "", NODES, LINKS, ",\n\"node_iteration_order_seed0\": [\"n0\", \"n1\", \"n9\"]"), CLO_ERR_FORMAT,
         "f:4: nodes[2].name is \"n2\"; write a name that the file defines"},
        {SAGA(TASKS, "{\"src\": \"t0\", \"dst\": \"t9\", \"size\": 1}", ONE_NODE, "", ""), CLO_ERR_FORMAT,
         "f:3: edges[0].dst is \"t9\"; write a name that the file defines"},
        {SAGA(TASKS, "{\"src\": \"t0\", \"dst\": \"t0\", \"size\": 1}", ONE_NODE, "", ""), CLO_ERR_FORMAT,
         "f:3: edges[0] goes from a task to itself; remove it"},
        {SAGA(TASKS, "{\"src\": \"t0\", \"dst\": \"t1\", \"size\": 1e11}", ONE_NODE, "", ""), CLO_ERR_LIMIT,
         "f:3: edges[0].size is 1e+11, with scale 1 more than 2^62 bytes; write a smaller size"},
        {"{\"computation_cost\": [], \"processors\": [\"p\"], \"tasks\": [\"a\"], \"edges\": []}", CLO_ERR_FORMAT,
         "f:1: computation_cost has 0 rows; write one for each of the 1 tasks"},
        {"{\"computation_cost\": [[1, 2]], \"processors\": [\"p\"], \"tasks\": [\"a\"], \"edges\": []}", CLO_ERR_FORMAT,
         "f:1: computation_cost[0] must be an array of 1 costs, one a processor"},
        {"{\"computation_cost\": [[-2]], \"processors\": [\"p\"], \"tasks\": [\"a\"], \"edges\": []}", CLO_ERR_FORMAT,
         "f:1: computation_cost[0][0] is -2; write a number >= 0"},
        {"{\"computation_cost\": [[2]], \"processors\": [\"p\"], \"tasks\": [\"a\"]}", CLO_ERR_FORMAT,
         "f:1: the file has no \"edges\"; add it"},
    };
    clo_load_config config = CLO_LOAD_CONFIG_INIT;
    clo_document *d;

    (void)state;
    REFUSE(rows);
    config.body = "command";
    fails(CLO_ERR_ARGUMENT, "f: body \"command\": format cost-table has no command lines; use spin or memory",
          clo_document_parse("f", table, sizeof table - 1, &config, &d));
}

static void more_nodes_than_a_graph_has_kinds_are_refused(void **state)
{
    char text[4096] = "{\"computation_cost\": [], \"tasks\": [\"a\"], \"processors\": [";
    clo_document *d;

    (void)state;
    for (int p = 0; p < 33; p++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s\"p%d\"", p == 0 ? "" : ", ", p);
    strcat(text, "]}");
    fails(CLO_ERR_LIMIT, "f:1: processors has 33 entries; at most 32 are possible, use the clotho format",
          clo_document_parse("f", text, strlen(text), NULL, &d));
}

static void saga_is_written_with_the_numbers_that_were_read(void **state)
{
    clo_document *d = parsed(SAGA(TASKS, EDGES, NODES, LINKS, "")), *e;
    char *text;

    (void)state;
    ok(clo_document_print(d, "saga", &text));
    assert_non_null(strstr(text, "{\"name\": \"t1\", \"cost\": 0.500000000}"));
    assert_non_null(strstr(text, "{\"src\": \"t0\", \"dst\": \"t1\", \"size\": 1.5}"));
    assert_non_null(strstr(text, "{\"name\": \"n1\", \"speed\": 0.3}"));
    assert_non_null(strstr(text, "{\"a\": \"n0\", \"b\": \"n1\", \"bandwidth\": 0.5}"));
    assert_non_null(strstr(text, "{\"a\": \"n1\", \"b\": \"n2\", \"bandwidth\": null}"));
    ok(clo_document_parse("again", text, strlen(text), NULL, &e));
    for (uint32_t t = 0; t < 2; t++)
        for (uint32_t k = 0; k < 3; k++)
            assert_int_equal(time_of(d, t, k), time_of(e, t, k));
    clo_free(text);
    clo_document_destroy(d);
    clo_document_destroy(e);
}

static void what_saga_cannot_hold_is_not_written(void **state)
{
    clo_document *d = parsed(table);
    char *text;

    (void)state;
    fails(CLO_ERR_UNSUPPORTED, "task 'b': its time on P1 does not follow from a speed, as saga needs; write clotho",
          clo_document_print(d, "saga", &text));
    clo_document_destroy(d);
    d = parsed("{\"format\": \"clotho.graph/1\", \"name\": \"x\", \"tasks\": [{\"work_ns\": 5}]}");
    fails(CLO_ERR_UNSUPPORTED, "saga: the graph 'x' carries no platform, which this format has; write clotho",
          clo_document_print(d, "saga", &text));
    clo_document_destroy(d);
    d = parsed("{\"format\": \"clotho.graph/1\", \"tasks\": [{\"instances\": 2}], \"platform\": {\"executors\": 1}}");
    fails(CLO_ERR_UNSUPPORTED, "task 't0' has 2 instances, which saga cannot hold; write clotho",
          clo_document_print(d, "saga", &text));
    clo_document_destroy(d);
    d = parsed(
        "{\"format\": \"clotho.graph/1\", \"tasks\": [{}], \"platform\": {\"executors\": 2, \"latency_ns\": 1}}");
    fails(CLO_ERR_UNSUPPORTED, "link e0 - e1 has a latency or two bandwidths, which saga cannot hold; write clotho",
          clo_document_print(d, "saga", &text));
    clo_document_destroy(d);
    d = parsed("{\"format\": \"clotho.graph/1\", \"tasks\": [{}], \"platform\": {\"executors\": 2, "
               "\"bandwidth_bytes_per_ns\": 1, \"cut_bytes\": [9], \"bandwidth_beyond\": [2]}}");
    fails(CLO_ERR_UNSUPPORTED, "platform 'platform': its links have pieces, which saga cannot hold; write clotho",
          clo_document_print(d, "saga", &text));
    clo_document_destroy(d);
    d = parsed("{\"format\": \"clotho.graph/1\", \"tasks\": [{}], \"platform\": {\"executors\": 2, "
               "\"port_bytes_per_ns\": 1}}");
    fails(CLO_ERR_UNSUPPORTED, "platform 'platform': its machines have ports, which saga cannot hold; write clotho",
          clo_document_print(d, "saga", &text));
    clo_document_destroy(d);
    d = parsed(SAGA(TASKS, EDGES, NODES, LINKS, ""));
    fails(CLO_ERR_UNSUPPORTED, "format 'cost-table' can only be read; use clotho, dot, wfformat or saga",
          clo_document_print(d, "cost-table", &text));
    clo_document_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_cost_over_speed_in_seconds),
        cmocka_unit_test(transfers_are_size_over_bandwidth_both_ways),
        cmocka_unit_test(executors_stand_in_the_order_in_which_saga_iterates),
        cmocka_unit_test(the_scale_divides_a_run_without_changing_its_shape),
        cmocka_unit_test(a_cost_table_has_links_of_unit_rate),
        cmocka_unit_test(malformed_files_are_refused),
        cmocka_unit_test(more_nodes_than_a_graph_has_kinds_are_refused),
        cmocka_unit_test(saga_is_written_with_the_numbers_that_were_read),
        cmocka_unit_test(what_saga_cannot_hold_is_not_written),
    };

    return cmocka_run_group_tests_name("io_saga", tests, NULL, NULL);
}
