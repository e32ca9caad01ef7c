#include "bad.h"
#include "base/memory.h"
#include "io/text/reader.h"

#include <stdio.h>

static void has_edge(const clo_document *d, uint32_t index, const char *from, const char *to, uint64_t bytes)
{
    clo_edge edge = edge_of(d, index);

    assert_string_equal(task_of(d, edge.from).name, from);
    assert_string_equal(task_of(d, edge.to).name, to);
    assert_int_equal(edge.bytes, bytes);
}

static void nodes_and_chains_are_read(void **state)
{
    clo_document *d =
        parsed("digraph g {\n  a [work_ns=5, class=float, duplicable=true, output_bytes=9, instances=3];\n"
               "  b [Weight=7 shape=box][class=\"9\"]\n  a -> b -> c [bytes=10, label=\"x\"]; b -> d\n}\n");

    (void)state;
    assert_string_equal(clo_document_format(d), "dot");
    assert_true(clo_document_unit_ns(d) == 1);
    assert_string_equal(clo_graph_name(clo_document_graph(d)), "g");
    assert_int_equal(clo_graph_tasks(clo_document_graph(d)), 4);
    assert_string_equal(task_of(d, 0).name, "a");
    assert_int_equal(task_of(d, 0).work_ns, 5);
    assert_int_equal(task_of(d, 0).task_class, CLO_CLASS_FLOAT);
    assert_int_equal(task_of(d, 0).duplicable, 1);
    assert_int_equal(task_of(d, 0).output_bytes, 9);
    assert_int_equal(task_of(d, 0).instances, 3);
    assert_int_equal(task_of(d, 1).work_ns, 7);
    assert_int_equal(task_of(d, 1).task_class, 9);
    assert_int_equal(task_of(d, 2).work_ns, 0); /* others state work */
    assert_int_equal(clo_graph_edges(clo_document_graph(d)), 3);
    has_edge(d, 0, "a", "b", 10);
    has_edge(d, 1, "b", "c", 10);
    has_edge(d, 2, "b", "d", 0);
    clo_document_destroy(d);
}

static void where_no_node_states_work_each_takes_a_millisecond(void **state)
{
    clo_document *d = parsed("digraph { a -> b [weight=4] }");

    (void)state;
    assert_int_equal(task_of(d, 0).work_ns, 1000000);
    assert_int_equal(task_of(d, 1).work_ns, 1000000);
    has_edge(d, 0, "a", "b", 4);
    assert_string_equal(clo_graph_name(clo_document_graph(d)), "graph");
    clo_document_destroy(d);
}

static void defaults_hold_inside_their_brackets(void **state)
{
    clo_document *d =
        parsed("digraph { node [work_ns=1]; edge [bytes=2]; a;\n subgraph cluster { rankdir=LR; node [work_ns=3] b\n"
               "edge [bytes=4] b -> a } c -> a; a [work_ns=9] }");

    (void)state;
    assert_int_equal(task_of(d, 0).work_ns, 9);
    assert_int_equal(task_of(d, 1).work_ns, 3);
    assert_int_equal(task_of(d, 2).work_ns, 1);
    has_edge(d, 0, "b", "a", 4);
    has_edge(d, 1, "c", "a", 2);
    clo_document_destroy(d);
}

static void a_subgraph_stands_for_all_its_nodes(void **state)
{
    clo_document *d = parsed("digraph { a -> {b c} -> subgraph s { d; e -> f [bytes=1] } [bytes=5] }");

    (void)state;
    assert_int_equal(clo_graph_tasks(clo_document_graph(d)), 6);
    assert_int_equal(clo_graph_edges(clo_document_graph(d)), 9);
    has_edge(d, 0, "a", "b", 5);
    has_edge(d, 1, "a", "c", 5);
    has_edge(d, 2, "e", "f", 1);
    has_edge(d, 3, "b", "d", 5);
    has_edge(d, 8, "c", "f", 5);
    clo_document_destroy(d);
    d = parsed("digraph { { a b; a } -> { c c } }"); /* mentioned twice, joined once */
    assert_int_equal(clo_graph_edges(clo_document_graph(d)), 2);
    clo_document_destroy(d);
}

static void all_spellings_of_names_are_read(void **state)
{
    static const char text[] =
        "\xef\xbb\xbf# a preprocessor line\n/* comment */ STRICT Digraph \"a \\\"b\\\" \\\\ \" { // more\n"
        "a_1:port:ne -> 12 -> -3.5 -> .5 -> \"12\" + \"3\" -> <<b>x</b>> -> \"n\xc3\xb6\\n\" -> \"node\" -> "
        "\"x\\\ny\"; }";
    static const char *const names[] = {"a_1", "12", "-3.5", ".5", "123", "<<b>x</b>>", "n\xc3\xb6\\n", "node", "xy"};
    clo_document *d = parsed(text);

    (void)state;
    assert_string_equal(clo_graph_name(clo_document_graph(d)), "a \"b\" \\ ");
    assert_int_equal(clo_graph_tasks(clo_document_graph(d)), 9);
    for (uint32_t t = 0; t < 9; t++)
        assert_string_equal(task_of(d, t).name, names[t]);
    clo_document_destroy(d);
}

static void a_repeated_edge_of_a_strict_graph_is_the_same_edge(void **state)
{
    clo_document *d = parsed("strict digraph { a -> b [bytes=3]; c -> b; a -> b; a -> b [bytes=4] }");

    (void)state;
    assert_int_equal(clo_graph_edges(clo_document_graph(d)), 2);
    has_edge(d, 0, "a", "b", 4);
    has_edge(d, 1, "c", "b", 0);
    assert_null(clo_document_note(d));
    clo_document_destroy(d);
}

/* As ninja -t graph, the -dot-cfg of LLVM and systemd-analyze dot write them. */
static void parallel_edges_become_one_that_carries_the_bytes_of_all_and_the_document_says_so(void **state)
{
    clo_document *d = parsed("digraph { edge [weight=1]; a -> b [bytes=3]; c -> b;\n"
                             "a:s1 -> b; {a c} -> b [bytes=10]; a -> b [label=\"x\"] }");

    (void)state;
    assert_int_equal(clo_graph_edges(clo_document_graph(d)), 2);
    has_edge(d, 0, "a", "b", 3 + 1 + 10 + 1);
    has_edge(d, 1, "c", "b", 1 + 10);
    assert_string_equal(clo_document_note(d), "f:2: parallel edges (4 more than pairs of tasks): each pair gets one "
                                              "edge, with the sum of their bytes");
    clo_document_destroy(d);
    d = parsed("digraph { a -> b; a -> c }");
    assert_null(clo_document_note(d));
    clo_document_destroy(d);
    assert_null(clo_document_note(NULL));
}

static void parallel_edges_that_cannot_be_one_are_refused(void **state)
{
    static const bad rows[] = {
        {"digraph { a [arms=2]; a -> b [arm=0]\na -> b [arm=1]; a -> c [arm=1] }", CLO_ERR_FORMAT,
         "f:2: the edge 'a' -> 'b' is there twice, with different arms; remove one"},
        {"digraph { a [arms=2]; a -> b [arm=0]\na -> b; a -> c [arm=1] }", CLO_ERR_FORMAT,
         "f:2: the edge 'a' -> 'b' is there twice, with different arms; remove one"},
        {"digraph { a -> b [bytes=\"3e18\"]\na -> b [bytes=\"3e18\"] }", CLO_ERR_LIMIT,
         "f:1: the bytes, scaled, exceed 2^62; write a smaller number"},
    };

    (void)state;
    REFUSE(rows);
}

static void malformed_dot_is_refused_with_its_line(void **state)
{
    static const bad rows[] = {
        {"graph { a -- b }", CLO_ERR_FORMAT, "f:1: an undirected graph; write digraph, and -> for the edges"},
        {"digraph {\na -- b }", CLO_ERR_FORMAT, "f:2: -- joins nodes without direction; write ->"},
        {"strict\nnonsense", CLO_ERR_FORMAT, "f:2: expected digraph"},
        {"digraph a b", CLO_ERR_FORMAT, "f:1: expected '{' after digraph"},
        {"digraph {\na ->", CLO_ERR_FORMAT, "f:2: the file ends inside the graph; close it with '}'"},
        {"digraph { a\n-> ; }", CLO_ERR_FORMAT, "f:2: expected a node or a subgraph after ->"},
        {"digraph { a -> }", CLO_ERR_FORMAT, "f:1: expected a node or a subgraph after ->"},
        {"digraph {\n\n}", CLO_ERR_FORMAT, "f:3: the graph has no nodes; write at least one"},
        {"digraph { a }\nb", CLO_ERR_FORMAT, "f:2: more text after the graph; one file holds one graph"},
        {"digraph { a -> a }", CLO_ERR_FORMAT, "f:1: an edge from 'a' to itself; remove it"},
        {"digraph { a [work_ns=-3] }", CLO_ERR_FORMAT, "f:1: work_ns is '-3'; write a number >= 0"},
        {"digraph { a [\nwork_ns=fast] }", CLO_ERR_FORMAT, "f:2: work_ns is 'fast'; write a number >= 0"},
        {"digraph { a [work_ns=\"nan\"] }", CLO_ERR_FORMAT, "f:1: work_ns is 'nan'; write a number >= 0"},
        {"digraph { a [work_ns=\"1e30\"] }", CLO_ERR_LIMIT,
         "f:1: work_ns is 1e30; the largest possible is 4.61169e+18"},
        {"digraph { a [work_ns=\"inf\"] }", CLO_ERR_LIMIT, "f:1: work_ns is inf; the largest possible is 4.61169e+18"},
        {"digraph { a [class=quick] }", CLO_ERR_FORMAT, "f:1: class is 'quick'; write a number >= 0"},
        {"digraph { a [instances=1.5] }", CLO_ERR_FORMAT, "f:1: instances is 1.5; write a whole number"},
        {"digraph { a [instances=0] }", CLO_ERR_FORMAT, "f:1: 0 instances; write 1 or more"},
        {"digraph { a [duplicable=maybe] }", CLO_ERR_FORMAT, "f:1: duplicable is 'maybe'; write true or false"},
        {"digraph { a -> b [bytes=-1] }", CLO_ERR_FORMAT, "f:1: bytes is '-1'; write a number >= 0"},
        {"digraph { a [x=] }", CLO_ERR_FORMAT, "f:1: expected the value of an attribute after '='"},
        {"digraph { a [x }", CLO_ERR_FORMAT, "f:1: expected key=value or ']' in a list of attributes"},
        {"digraph { node a }", CLO_ERR_FORMAT,
         "f:1: expected '[' after node, edge or graph; put names like these into double quotes"},
        {"digraph { subgraph x y }", CLO_ERR_FORMAT, "f:1: expected '{' after subgraph"},
        {"digraph { a = }", CLO_ERR_FORMAT, "f:1: expected a value after '='"},
        {"digraph { a: }", CLO_ERR_FORMAT, "f:1: expected a port after ':'"},
        {"digraph { ] }", CLO_ERR_FORMAT, "f:1: expected a statement here"},
        {"digraph { \"\" }", CLO_ERR_FORMAT, "f:1: a node without a name; write one between the quotes"},
        {"digraph {\n\"a }", CLO_ERR_FORMAT, "f:2: a string without its closing quote; end it with \""},
        {"digraph { \"a\" + b }", CLO_ERR_FORMAT, "f:1: expected a quoted string after '+'"},
        {"digraph { <a }", CLO_ERR_FORMAT, "f:1: an HTML string without its end; close it with >"},
        {"digraph { /* a }", CLO_ERR_FORMAT, "f:1: a comment without its end; close it with */"},
        {"digraph { 2mass }", CLO_ERR_FORMAT, "f:1: a name that begins with a digit; put it into double quotes"},
        {"digraph { -. }", CLO_ERR_FORMAT, "f:1: a malformed number; put names into double quotes"},
        {"digraph { a & b }", CLO_ERR_FORMAT,
         "f:1: a character that DOT does not know here; put names into double quotes"},
    };
    clo_document *d;
    static const char cycle[] = "digraph { a -> b -> c -> a }";

    (void)state;
    REFUSE(rows);
    fails(CLO_ERR_CYCLE, "f: ", clo_document_parse("f", cycle, sizeof cycle - 1, NULL, &d));
}

static void deep_and_multiplying_brackets_are_refused(void **state)
{
    size_t bytes = 10000000;
    char *text = test_malloc(bytes);
    clo_document *d;

    (void)state;
    memset(text, '{', bytes);
    memcpy(text, "digraph", 7);
    fails(CLO_ERR_FORMAT, "f:1: brackets nested deeper than 64 levels; flatten the subgraphs",
          clo_document_parse("f", text, bytes, NULL, &d));
    char *at = text + sprintf(text, "digraph {{");
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < 2100; i++)
            at += sprintf(at, "%c%d ", 'a' + side, i);
        at += sprintf(at, side == 0 ? "} -> {" : "}}");
    }
    fails(CLO_ERR_LIMIT, "f:1: more than 4194304 edges; use the clotho format",
          clo_document_parse("f", text, strlen(text), NULL, &d));
    test_free(text);
}

static void what_is_written_reads_back(void **state)
{
    clo_document *d = parsed(
                     "digraph \"g \\\"1\\\"\" { \"a\\\\\" [work_ns=1500000, class=12, duplicable=1, output_bytes=4, "
                     "instances=2];"
                     "\"b\nc\" [work_ns=0, class=memory]; \"a\\\\\" -> \"b\nc\" [bytes=12345678]; \"b\nc\" -> d }"),
                 *e;
    char *text, *again;

    (void)state;
    ok(clo_document_print(d, "dot", &text));
    assert_non_null(strstr(text, "  \"a\\\\\" [label=\"a\\\\\\n1.50 ms\", work_ns=1500000, class=12, output_bytes=4, "
                                 "instances=2, duplicable=true];\n"));
    assert_non_null(strstr(text, "  \"a\\\\\" -> \"b\nc\" [label=\"11.8 MiB\", bytes=12345678];\n"));
    ok(clo_document_parse("again", text, strlen(text), NULL, &e));
    ok(clo_document_print(e, "dot", &again));
    assert_string_equal(text, again);
    assert_string_equal(task_of(e, 0).name, "a\\");
    assert_int_equal(task_of(e, 2).work_ns, 0);
    clo_free(text);
    clo_free(again);
    clo_document_destroy(d);
    clo_document_destroy(e);
}

static void repeated_names_become_numbers_with_labels(void **state)
{
    clo_document *d = parsed("{\"format\": \"clotho.graph/1\", \"tasks\": [{\"name\": \"x\"}, {\"name\": \"x\"}], "
                             "\"edges\": [{\"from\": 0, \"to\": 1}]}");
    char *text;

    (void)state;
    ok(clo_document_print(d, "dot", &text));
    assert_non_null(strstr(text, "  t1 [label=\"x\\n0 ns\", work_ns=0];\n  t0 -> t1;\n"));
    clo_free(text);
    clo_document_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_and_chains_are_read),
        cmocka_unit_test(where_no_node_states_work_each_takes_a_millisecond),
        cmocka_unit_test(defaults_hold_inside_their_brackets),
        cmocka_unit_test(a_subgraph_stands_for_all_its_nodes),
        cmocka_unit_test(all_spellings_of_names_are_read),
        cmocka_unit_test(a_repeated_edge_of_a_strict_graph_is_the_same_edge),
        cmocka_unit_test(parallel_edges_become_one_that_carries_the_bytes_of_all_and_the_document_says_so),
        cmocka_unit_test(parallel_edges_that_cannot_be_one_are_refused),
        cmocka_unit_test(malformed_dot_is_refused_with_its_line),
        cmocka_unit_test(deep_and_multiplying_brackets_are_refused),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(repeated_names_become_numbers_with_labels),
    };

    return cmocka_run_group_tests_name("io_dot", tests, NULL, NULL);
}
