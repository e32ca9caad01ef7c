/* The node-link JSON of networkx, as node_link_data writes it. */
#include "bad.h"

#define HEAD "{\"directed\": true, \"multigraph\": false, \"graph\": {\"name\": \"n\"}, "
#define MULTI "{\"directed\": true, \"multigraph\": true, \"graph\": {}, "

static void nodes_and_links_are_read_under_both_names(void **state)
{
    static const char *const texts[] = {
        HEAD "\"nodes\": [{\"weight\": 1.5, \"id\": \"a\"}, {\"weight\": 2, \"id\": \"b\"}],"
             "\"links\": [{\"weight\": 0.5, \"source\": \"a\", \"target\": \"b\"}]}",
        HEAD "\"nodes\": [{\"cost\": 1.5, \"id\": \"a\"}, {\"cost\": 2, \"id\": \"b\", \"color\": {\"x\": [null]}}],"
             "\"edges\": [{\"size\": 0.5, \"source\": \"a\", \"target\": \"b\", \"key\": 0}]}",
        "{\"nodes\": [{\"duration\": 1.5, \"id\": \"a\"}, {\"runtime\": 2, \"id\": \"b\"}], \"graph\": {\"name\": "
        "\"n\"}, "
        "\"directed\": true, \"edges\": [{\"cost\": 0.5, \"source\": \"a\", \"target\": \"b\"}]}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        clo_document *d = parsed(texts[i]);
        assert_string_equal(clo_document_format(d), "node-link");
        assert_string_equal(clo_graph_name(clo_document_graph(d)), "n");
        assert_true(clo_document_unit_ns(d) == 1e9);
        assert_int_equal(clo_graph_tasks(clo_document_graph(d)), 2);
        assert_string_equal(task_of(d, 1).name, "b");
        assert_int_equal(task_of(d, 0).work_ns, 1500000000);
        assert_int_equal(task_of(d, 1).work_ns, 2000000000);
        assert_int_equal(clo_graph_edges(clo_document_graph(d)), 1);
        assert_int_equal(edge_of(d, 0).bytes, 1 << 29);
        assert_null(clo_document_note(d));
        clo_document_destroy(d);
    }
}

static void own_units_are_nanoseconds_and_bytes(void **state)
{
    clo_document *d = parsed(HEAD "\"nodes\": [{\"work_ns\": 7, \"weight\": 1, \"id\": 0}, {\"id\": 1}],"
                                  "\"links\": [{\"bytes\": 9, \"size\": 1, \"source\": 0, \"target\": 1}]}");

    (void)state;
    assert_true(clo_document_unit_ns(d) == 1);
    assert_int_equal(task_of(d, 0).work_ns, 7);
    assert_int_equal(task_of(d, 1).work_ns, 0); /* another one states work */
    assert_int_equal(edge_of(d, 0).bytes, 9);
    clo_document_destroy(d);
}

static void where_no_node_states_work_each_takes_a_millisecond(void **state)
{
    clo_document *d = parsed(HEAD "\"nodes\": [{\"id\": \"a\"}, {\"id\": \"b\"}], \"links\": []}");

    (void)state;
    assert_int_equal(task_of(d, 0).work_ns, 1000000);
    assert_int_equal(task_of(d, 1).work_ns, 1000000);
    clo_document_destroy(d);
}

static void ids_are_strings_numbers_or_tuples(void **state)
{
    clo_document *d =
        parsed(HEAD "\"nodes\": [{\"id\": 12}, {\"id\": 0.5}, {\"id\": \"x y\"}, {\"id\": [\"gemm\", 1, 2]}],"
                    "\"links\": [{\"source\": 12, \"target\": [\"gemm\", 1, 2]}]}");

    (void)state;
    assert_string_equal(task_of(d, 0).name, "12");
    assert_string_equal(task_of(d, 1).name, "0.5");
    assert_string_equal(task_of(d, 2).name, "x y");
    assert_string_equal(task_of(d, 3).name, "(gemm, 1, 2)");
    assert_int_equal(edge_of(d, 0).from, 0);
    assert_int_equal(edge_of(d, 0).to, 3);
    clo_document_destroy(d);
}

static void parallel_edges_of_a_multigraph_become_one(void **state)
{
    clo_document *d = parsed(MULTI "\"nodes\": [{\"id\": \"a\"}, {\"id\": \"b\"}, {\"id\": \"c\"}],\n"
                                   "\"edges\": [{\"bytes\": 1, \"source\": \"b\", \"target\": \"c\", \"key\": 0},\n"
                                   "{\"bytes\": 2, \"source\": \"a\", \"target\": \"b\", \"key\": 0},\n"
                                   "{\"bytes\": 4, \"source\": \"b\", \"target\": \"c\", \"key\": 1},\n"
                                   "{\"bytes\": 8, \"source\": \"a\", \"target\": \"b\", \"key\": 1},\n"
                                   "{\"bytes\": 16, \"source\": \"b\", \"target\": \"c\", \"key\": \"x\"}]}");

    (void)state;
    assert_int_equal(clo_graph_edges(clo_document_graph(d)), 2);
    assert_int_equal(edge_of(d, 0).from, 1);
    assert_int_equal(edge_of(d, 0).bytes, 21);
    assert_int_equal(edge_of(d, 1).from, 0);
    assert_int_equal(edge_of(d, 1).bytes, 10);
    assert_string_equal(clo_document_note(d), "f:4: parallel edges (3 more than pairs of tasks): each pair gets one "
                                              "edge, with the sum of their bytes");
    clo_document_destroy(d);
}

static void malformed_node_link_is_refused(void **state)
{
#define NODES "\"nodes\": [{\"id\": \"a\"}, {\"id\": \"b\"}],\n"
    static const bad rows[] = {
        {"{\"directed\": false, " NODES "\"links\": []}", CLO_ERR_FORMAT,
         "f:1: directed is false; write true: the edges of a task graph have a direction"},
        {"{\"multigraph\": false, " NODES "\"links\": []}", CLO_ERR_FORMAT,
         "f:1: the file has no \"directed\"; add it"},
        {HEAD "\"nodes\": [], \"links\": []}", CLO_ERR_FORMAT, "f:1: nodes is empty; a graph needs at least one task"},
        {HEAD "\"nodes\": [{\"name\": 1}], \"links\": []}", CLO_ERR_FORMAT, "f:1: nodes[0] has no \"id\"; add it"},
        {HEAD "\"nodes\": [{\"id\": null}], \"links\": []}", CLO_ERR_FORMAT,
         "f:1: nodes[0].id is null; write a string, a number or an array of these"},
        {HEAD "\"nodes\": [{\"id\": [1, [2]]}], \"links\": []}", CLO_ERR_FORMAT,
         "f:1: nodes[0].id is an array; write a string, a number or an array of these"},
        {HEAD "\"nodes\": [{\"id\": 1}, {\"id\": \"1\"}], \"links\": []}", CLO_ERR_FORMAT,
         "f:1: nodes[1].id is \"1\"; write an id of its own; another node has this one"},
        {HEAD "\"nodes\": [{\"id\": 1, \"weight\": \"5\"}], \"links\": []}", CLO_ERR_FORMAT,
         "f:1: nodes[0].weight is \"5\"; write a number >= 0"},
        {HEAD NODES "\"nothing\": []}", CLO_ERR_FORMAT, "f:1: the file has no \"edges\"; add it"},
        {HEAD NODES "\"links\": [],\n\"edges\": []}", CLO_ERR_FORMAT, "f:3: edges stands beside \"links\"; keep one"},
        {HEAD NODES "\"links\": [{\"source\": \"a\"}]}", CLO_ERR_FORMAT, "f:2: links[0] has no \"target\"; add it"},
        {HEAD NODES "\"links\": [{\"source\": \"a\", \"target\": \"z\"}]}", CLO_ERR_FORMAT,
         "f:2: links[0].target is \"z\"; write the id of a node; there is none like this"},
        {HEAD NODES "\"links\": [{\"source\": \"a\", \"target\": \"a\"}]}", CLO_ERR_FORMAT,
         "f:2: links[0].target is the task itself; remove it"},
        {HEAD NODES "\"links\": [{\"source\": \"a\", \"target\": \"b\", \"bytes\": -1}]}", CLO_ERR_FORMAT,
         "f:2: links[0].bytes is -1; write a number >= 0"},
        {HEAD NODES "\"links\": [{\"source\": \"a\", \"target\": \"b\", \"bytes\": 3e18},\n"
                    "{\"source\": \"a\", \"target\": \"b\", \"bytes\": 3e18}]}",
         CLO_ERR_LIMIT,
         "f:3: links[1].target gets more than 2^62 bytes from its source, all parallel edges together; write less"},
    };
    clo_load_config config = CLO_LOAD_CONFIG_INIT;
    static const char text[] = HEAD NODES "\"links\": []}";
    clo_document *d;

    (void)state;
    REFUSE(rows);
    config.body = "command";
    fails(CLO_ERR_ARGUMENT, "f: body \"command\": format node-link has no command lines; use spin or memory",
          clo_document_parse("f", text, sizeof text - 1, &config, &d));
}

static void no_cut_and_no_byte_makes_it_crash(void **state)
{
    static const char text[] =
        MULTI "\"nodes\": [{\"id\": [1, \"x\"], \"weight\": 1}, {\"id\": 2}], \"edges\": [\n"
              "{\"source\": 2, \"target\": [1, \"x\"]}, {\"source\": 2, \"target\": [1, \"x\"]}]}";

    (void)state;
    handle_every_cut(text);
    handle_every_byte(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_and_links_are_read_under_both_names),
        cmocka_unit_test(own_units_are_nanoseconds_and_bytes),
        cmocka_unit_test(where_no_node_states_work_each_takes_a_millisecond),
        cmocka_unit_test(ids_are_strings_numbers_or_tuples),
        cmocka_unit_test(parallel_edges_of_a_multigraph_become_one),
        cmocka_unit_test(malformed_node_link_is_refused),
        cmocka_unit_test(no_cut_and_no_byte_makes_it_crash),
    };

    return cmocka_run_group_tests_name("io_node_link", tests, NULL, NULL);
}
