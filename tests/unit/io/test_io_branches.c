/* Branches, merges and loops in files: own JSON and DOT keep them, no other format does. */
#include "../../fuzz/same.h"
#include "bad.h"
#include "fault.h"
#include "io/text/reader.h"
#include "random.h"

#include "base/memory.h"
#include "graph/control_flow.h"
#include "io/text/parse.h"

#include <stdio.h>

#define HEAD "{\"format\": \"clotho.graph/1\", "
#define TWO "\"tasks\": [{\"name\": \"a\", \"arms\": 2}, {\"name\": \"b\"}], "

static const char camera[] = HEAD
    "\"tasks\": [{\"name\": \"detect\", \"arms\": 2, \"chances\": [49152, 16384]}, {\"name\": \"cheap\"},\n"
    "{\"name\": \"exact\"}, {\"name\": \"report\", \"merge\": true}],\n"
    "\"edges\": [{\"from\": \"detect\", \"to\": 1, \"arm\": 0}, {\"from\": 0, \"to\": 2, \"bytes\": 7, \"arm\": 1},\n"
    "{\"from\": 1, \"to\": 3}, {\"from\": 2, \"to\": 3}]}";

static const char newton[] =
    HEAD "\"resources\": [\"memory\"], \"tasks\": [{\"name\": \"before\"}], \"loops\": [{\n"
         "\"tasks\": [{\"name\": \"step\", \"work_ns\": 5, \"times\": {\"big\": 3}, \"demand\": {\"memory\": 2}, "
         "\"executors\": [1, 70]}, {\"name\": \"test\", \"work_ns\": 1}],\n"
         "\"edges\": [{\"from\": \"step\", \"to\": \"test\", \"bytes\": 4}], \"condition\": \"test\", \"bound\": 3,\n"
         "\"again\": 16384, \"carried\": [{\"from\": \"step\", \"to\": 0, \"bytes\": 8}],\n"
         "\"exit\": {\"name\": \"root\", \"work_ns\": 2, \"times\": {\"big\": 1}}, \"exit_bytes\": 9}],\n"
         "\"edges\": [{\"from\": \"before\", \"to\": \"step\"}]}";

static void arms_chances_and_merges_are_read(void **state)
{
    clo_document *d = parsed(camera);
    const clo_graph *graph = clo_document_graph(d);

    (void)state;
    assert_int_equal(clo_graph_branches(graph), 1);
    assert_int_equal(clo_graph_arms(graph, 0), 2);
    assert_int_equal(clo_graph_chance(graph, 0, 0), 49152);
    assert_int_equal(clo_graph_chance(graph, 0, 1), 16384);
    assert_int_equal(clo_graph_arms(graph, 1), 0);
    assert_false(clo_graph_is_merge(graph, 2));
    assert_true(clo_graph_is_merge(graph, 3));
    assert_int_equal(clo_graph_edge_arm(graph, 0), 0);
    assert_int_equal(clo_graph_edge_arm(graph, 1), 1);
    assert_int_equal(clo_graph_edge_arm(graph, 2), CLO_NONE);
    assert_int_equal(edge_of(d, 1).bytes, 7);
    clo_document_destroy(d);
}

/* The graph that a program would make with clo_graph_add_loop. */
static clo_graph *newton_by_hand(void)
{
    clo_task before = {.name = "before", .body = clo_body_spin, .instances = 1},
             step = {.name = "step", .work_ns = 5, .body = clo_body_spin, .demand = {2}, .instances = 1},
             test = {.name = "test", .work_ns = 1, .body = clo_body_spin, .instances = 1},
             root = {.name = "root", .work_ns = 2, .body = clo_body_spin, .instances = 1};
    const uint32_t executors[] = {1, 70};
    const clo_edge carried = {0, 0, 8};
    clo_loop loop = CLO_LOOP_INIT;
    clo_graph *body, *graph;
    uint32_t first, exit, kind;

    ok(clo_graph_create("body", &body));
    ok(clo_graph_set_resource(body, 0, "memory"));
    ok(clo_graph_add_task(body, &step, NULL));
    ok(clo_graph_set_executors(body, 0, executors, 2));
    ok(clo_graph_kind(body, "big", &kind));
    ok(clo_graph_set_time(body, 0, kind, 3));
    ok(clo_graph_add_task(body, &test, NULL));
    ok(clo_graph_add_edge(body, 0, 1, 4));
    ok(clo_graph_seal(body));
    ok(clo_graph_create("graph", &graph));
    ok(clo_graph_set_resource(graph, 0, "memory"));
    ok(clo_graph_add_task(graph, &before, NULL));
    loop.body = body;
    loop.condition = 1;
    loop.bound = 3;
    loop.again = 16384;
    loop.carried = &carried;
    loop.carried_count = 1;
    loop.exit = &root;
    loop.exit_bytes = 9;
    ok(clo_graph_add_loop(graph, &loop, &first, &exit));
    ok(clo_graph_set_time(graph, exit, kind, 1));
    ok(clo_graph_add_edge(graph, 0, first, 0));
    ok(clo_graph_seal(graph));
    clo_graph_destroy(body);
    return graph;
}

static void a_loop_of_a_file_is_the_one_of_the_library(void **state)
{
    clo_document *d = parsed(newton);
    clo_graph *graph = newton_by_hand();

    (void)state;
    assert_int_equal(clo_graph_tasks(graph), 8);
    assert_int_equal(clo_graph_bound(graph, 6), 3);
    assert_true(same_graph(clo_document_graph(d), graph));
    clo_graph_destroy(graph);
    clo_document_destroy(d);
}

static void read_back(const clo_document *d, const char *format)
{
    clo_document *again;
    char *first, *second;

    ok(clo_document_print(d, format, &first));
    ok(clo_document_parse("again", first, strlen(first), NULL, &again));
    ok(clo_document_print(again, format, &second));
    if (strcmp(format, "dot") != 0) /* there names that repeat become numbers */
        assert_string_equal(first, second);
    assert_int_equal(clo_graph_tasks(clo_document_graph(d)), clo_graph_tasks(clo_document_graph(again)));
    assert_int_equal(clo_graph_edges(clo_document_graph(d)), clo_graph_edges(clo_document_graph(again)));
    assert_true(same_control_flow(clo_document_graph(d), clo_document_graph(again)));
    clo_free(first);
    clo_free(second);
    clo_document_destroy(again);
}

static void what_is_written_reads_back(void **state)
{
    static const char *const texts[] = {camera, newton};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        clo_document *d = parsed(texts[i]);
        read_back(d, "clotho");
        read_back(d, "dot");
        clo_document_destroy(d);
    }
}

static void random_graphs_with_branches_read_back_whole(void **state)
{
    uint32_t branches = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        /* Bodies for kinds are in no file. */
        clo_graph *graph = random_graph(seed, (RANDOM_ALL & ~(unsigned)RANDOM_KINDS) | RANDOM_BRANCHES);
        clo_document *d, *again;
        char *text;
        branches += clo_graph_branches(graph);
        ok(clo_document_create(graph, NULL, &d));
        ok(clo_document_print(d, "clotho", &text));
        ok(clo_document_parse("f", text, strlen(text), NULL, &again));
        assert_true(same_control_flow(graph, clo_document_graph(again)));
        read_back(again, "clotho");
        read_back(again, "dot");
        clo_free(text);
        clo_document_destroy(again);
        clo_document_destroy(d); /* takes the graph along */
    }
    assert_true(branches > 100);
}

static void a_workload_keeps_the_branches_of_its_graphs(void **state)
{
    clo_document *d = parsed(newton);
    clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
    clo_workload *workload, *again;
    char *text;

    (void)state;
    job.graph = clo_document_graph(d);
    ok(clo_workload_create("w", &workload));
    ok(clo_workload_add(workload, &job));
    ok(clo_workload_print(workload, &text));
    ok(clo_workload_parse("f", text, strlen(text), NULL, &again));
    assert_true(same_control_flow(clo_workload_get(again, 0)->graph, clo_document_graph(d)));
    clo_free(text);
    clo_workload_destroy(again);
    clo_workload_destroy(workload);
    clo_document_destroy(d);
}

static void formats_that_cannot_hold_branches_say_so(void **state)
{
    clo_document *d = parsed(HEAD "\"tasks\": [{\"name\": \"a\", \"merge\": true}], \"platform\": {\"executors\": 1}}");
    char *text;

    (void)state;
    fails(CLO_ERR_UNSUPPORTED,
          "graph \"graph\" has branches or merges, and format wfformat does not know them; use a graph without",
          clo_document_print(d, "wfformat", &text));
    fails(CLO_ERR_UNSUPPORTED,
          "graph \"graph\" has branches or merges, and format saga does not know them; use a graph without",
          clo_document_print(d, "saga", &text));
    clo_document_destroy(d);
}

static void malformed_branches_are_refused_with_their_line(void **state)
{
    static const bad rows[] = {
        {HEAD "\"tasks\": [{\"arms\": 0}]}", CLO_ERR_FORMAT, "f:1: tasks[0].arms is 0; write 1 to 256"},
        {HEAD "\"tasks\": [{\"arms\": 257}]}", CLO_ERR_LIMIT, "f:1: tasks[0].arms is 257; the largest possible is 256"},
        {HEAD "\"tasks\": [{\"arms\": -1}]}", CLO_ERR_FORMAT, "f:1: tasks[0].arms is -1; write a whole number >= 0"},
        {HEAD "\"tasks\": [{\"arms\": 1.5}]}", CLO_ERR_FORMAT, "f:1: tasks[0].arms is 1.5; write a whole number >= 0"},
        {HEAD "\"tasks\": [{\"arms\": 2, \"arms\": 2}]}", CLO_ERR_FORMAT,
         "f:1: tasks[0].arms is there twice; remove one"},
        {HEAD "\"tasks\": [{\"arms\": 2,\n\"instances\": 2}]}", CLO_ERR_FORMAT,
         "f:1: tasks[0].arms makes the task a branch; leave out \"instances\""},
        {HEAD "\"tasks\": [{\"arms\": 2, \"duplicable\": true}]}", CLO_ERR_FORMAT,
         "f:1: tasks[0].arms makes the task a branch; leave out \"duplicable\""},
        {HEAD "\"tasks\": [{\"chances\": [65536]}]}", CLO_ERR_FORMAT,
         "f:1: tasks[0].chances is there without \"arms\"; add the number of arms"},
        {HEAD "\"tasks\": [{\"arms\": 2, \"chances\": [65536]}]}", CLO_ERR_FORMAT,
         "f:1: tasks[0].chances has 1 entries; write 2, one for each arm"},
        {HEAD "\"tasks\": [{\"arms\": 2, \"chances\": [65536, 1]}]}", CLO_ERR_FORMAT,
         "f:1: tasks[0].chances adds up to 65537; make that 65536"},
        {HEAD "\"tasks\": [{\"arms\": 2, \"chances\": [65537, -1]}]}", CLO_ERR_LIMIT,
         "f:1: tasks[0].chances[0] is 65537; the largest possible is 65536"},
        {HEAD "\"tasks\": [{\"arms\": 2, \"chances\": 0.5}]}", CLO_ERR_FORMAT,
         "f:1: tasks[0].chances is 0.5; write an array of chances, one for each arm"},
        {HEAD "\"tasks\": [{\"bound\": 0}]}", CLO_ERR_FORMAT, "f:1: tasks[0].bound is 0; write 1 to 65536"},
        {HEAD "\"tasks\": [{\"bound\": 65537}]}", CLO_ERR_LIMIT,
         "f:1: tasks[0].bound is 65537; the largest possible is 65536"},
        {HEAD "\"tasks\": [{\"bound\": 2, \"arms\": 2}]}", CLO_ERR_FORMAT,
         "f:1: tasks[0].bound is for the last condition of a loop, which has one arm; remove \"arms\""},
        {HEAD "\"tasks\": [{\"bound\": 2, \"instances\": 3}]}", CLO_ERR_FORMAT,
         "f:1: tasks[0].bound makes the task a branch; leave out \"instances\""},
        {HEAD "\"tasks\": [{\"merge\": 1}]}", CLO_ERR_FORMAT, "f:1: tasks[0].merge is 1; write true or false"},
        {HEAD TWO "\"edges\": [{\"from\": \"a\", \"to\": 1, \"arm\": 2}]}", CLO_ERR_FORMAT,
         "f:1: edges[0].arm is 2; the task has the arms 0 .. 1"},
        {HEAD TWO "\"edges\": [{\"from\": \"a\", \"to\": 1, \"arm\": 9007199254740992}]}", CLO_ERR_FORMAT,
         "f:1: edges[0].arm is 9007199254740992; the task has the arms 0 .. 1"},
        {HEAD TWO "\"edges\": [\n{\"from\": \"b\", \"to\": 0, \"arm\": 0}]}", CLO_ERR_FORMAT,
         "f:2: edges[0].arm is of a task that is no branch; write \"arms\" into that task"},
        {HEAD "\"tasks\": [{}, {}], \"edges\": [{\"from\": 0, \"to\": 1, \"arm\": 0}]}", CLO_ERR_FORMAT,
         "f:1: edges[0].arm is of a task that is no branch; write \"arms\" into that task"},
        {HEAD "\"handles\": [{\"bytes\": 8}], \"tasks\": [{\"arms\": 1}]}", CLO_ERR_UNSUPPORTED,
         "f: handle \"h0\": graph \"graph\" has branches, so who writes it may be skipped; give the handle an address "
         "or "
         "kept"},
    };

    (void)state;
    REFUSE(rows);
}

#define LOOP(rest) HEAD "\"tasks\": [{}], \"loops\": [{\"tasks\": [{\"name\": \"s\"}, {}], " rest "}]}"

static void malformed_loops_are_refused_with_their_line(void **state)
{
    static const bad rows[] = {
        {HEAD "\"tasks\": [{}], \"loops\": {}}", CLO_ERR_FORMAT, "f:1: loops is an object; write an array [...]"},
        {HEAD "\"tasks\": [{}], \"loops\": [7]}", CLO_ERR_FORMAT, "f:1: loops[0] is 7; write an object {...}"},
        {HEAD "\"tasks\": [{}], \"loops\": [{\"bound\": 2}]}", CLO_ERR_FORMAT,
         "f:1: loops[0] has no \"tasks\"; add it"},
        {HEAD "\"tasks\": [{}], \"loops\": [{\"tasks\": []}]}", CLO_ERR_FORMAT,
         "f:1: loops[0].tasks is empty; a graph needs at least one task"},
        {LOOP("\"condition\": 0"), CLO_ERR_FORMAT, "f:1: loops[0] has no \"bound\"; add it"},
        {LOOP("\"bound\": 2"), CLO_ERR_FORMAT, "f:1: loops[0] has no \"condition\"; add it"},
        {LOOP("\"bound\": 0, \"condition\": 0"), CLO_ERR_FORMAT, "f:1: loops[0].bound is 0; write 1 to 65536"},
        {LOOP("\"bound\": 65537, \"condition\": 0"), CLO_ERR_LIMIT,
         "f:1: loops[0].bound is 65537; the largest possible is 65536"},
        {LOOP("\"bound\": 2, \"condition\": 2"), CLO_ERR_FORMAT,
         "f:1: loops[0].condition is 2; the graph has the tasks 0 .. 1"},
        {LOOP("\"bound\": 2, \"condition\": \"t\""), CLO_ERR_FORMAT,
         "f:1: loops[0].condition is \"t\"; write the name or index of a task of this file; there is none of this "
         "name"},
        {LOOP("\"bound\": 2, \"condition\": 0, \"again\": 65537"), CLO_ERR_LIMIT,
         "f:1: loops[0].again is 65537; the largest possible is 65536"},
        {LOOP("\"bound\": 2, \"condition\": 0, \"often\": 1"), CLO_ERR_FORMAT,
         "f:1: loops[0].often is not a known key; correct or remove it"},
        {LOOP("\"bound\": 2, \"condition\": 0, \"carried\": [{\"from\": 0, \"to\": 2}]"), CLO_ERR_FORMAT,
         "f:1: loops[0].carried[0].to is 2; the graph has the tasks 0 .. 1"},
        {LOOP("\"bound\": 2, \"condition\": 0, \"carried\": [{\"from\": 0, \"to\": 1, \"arm\": 0}]"), CLO_ERR_FORMAT,
         "f:1: loops[0].carried[0].arm is not a known key; correct or remove it"},
        {LOOP("\"bound\": 2, \"condition\": 0, \"edges\": [{\"from\": 0, \"to\": 1}, {\"from\": 1, \"to\": 0}]"),
         CLO_ERR_CYCLE,
         "f:1: loops[0]: 2 tasks wait for each other: \"s\" -> \"t1\" -> \"s\"; remove one of these edges"},
        {LOOP("\"bound\": 2, \"condition\": 0, \"exit\": {\"work\": 1}"), CLO_ERR_FORMAT,
         "f:1: loops[0].exit.work is not a known key; did you mean \"work_ns\"?"},
        {LOOP("\"bound\": 2, \"condition\": 0, \"exit_bytes\": -1"), CLO_ERR_FORMAT,
         "f:1: loops[0].exit_bytes is -1; write a number >= 0"},
        {HEAD "\"tasks\": [{}], \"loops\": [{\"tasks\": [{\"arms\": 2}], \"condition\": 0, \"bound\": 2}]}",
         CLO_ERR_FORMAT, "f:1: loops[0]: clo_loop.condition: task 0 is a branch of the body; choose another task"},
        {HEAD "\"handles\": [{\"bytes\": 8}], \"tasks\": [{}], \"loops\": [{\"tasks\": [{\"data\": [{\"handle\": 0, "
              "\"mode\": \"read\"}]}], \"condition\": 0, \"bound\": 2}]}",
         CLO_ERR_UNSUPPORTED, "f:1: loops[0].tasks[0].data is in a loop; use edges in place of handles"},
        {HEAD "\"tasks\": [{}],\n\"loops\": [{\"tasks\": [{\"instances\": 100}], \"condition\": 0, \"bound\": 65536}]}",
         CLO_ERR_LIMIT,
         "f:2: loops[0] makes more than 1048576 tasks, edges and instances of all iterations; lower its \"bound\""},
        {HEAD "\"tasks\": [{}], \"loops\": [{\"tasks\": [{}, {\"instances\": 4294967293}], \"condition\": 0, "
              "\"bound\": 1}]}",
         CLO_ERR_LIMIT,
         "f:1: loops[0] makes more than 1048576 tasks, edges and instances of all iterations; lower its \"bound\""},
    };

    (void)state;
    REFUSE(rows);
}

static void malformed_branches_in_dot_are_refused_with_their_line(void **state)
{
    static const bad rows[] = {
        {"digraph { a [arms=0] }", CLO_ERR_FORMAT, "f:1: arms is 0; write 1 to 256"},
        {"digraph { a [arms=257] }", CLO_ERR_LIMIT, "f:1: arms is 257; the largest possible is 256"},
        {"digraph { a [arms=1.5] }", CLO_ERR_FORMAT, "f:1: arms is 1.5; write a whole number"},
        {"digraph { a [arms=x] }", CLO_ERR_FORMAT, "f:1: arms is 'x'; write a number >= 0"},
        {"digraph { a [bound=0] }", CLO_ERR_FORMAT, "f:1: bound is 0; write 1 to 65536"},
        {"digraph { a [bound=65537] }", CLO_ERR_LIMIT, "f:1: bound is 65537; the largest possible is 65536"},
        {"digraph { a [bound=2, arms=2] }", CLO_ERR_FORMAT,
         "f:1: bound is for the last condition of a loop, which has one arm; remove arms and chances"},
        {"digraph { a [merge=perhaps] }", CLO_ERR_FORMAT, "f:1: merge is 'perhaps'; write true or false"},
        {"digraph { a [chances=\"65536\"] }", CLO_ERR_FORMAT, "f:1: chances without arms; write arms=NUMBER too"},
        {"digraph { a [arms=2, chances=\"1,2,3\"] }", CLO_ERR_FORMAT,
         "f:1: chances is '1,2,3'; write 2 numbers with commas between, 65536 in all"},
        {"digraph { a [arms=2, chances=\"65536\"] }", CLO_ERR_FORMAT,
         "f:1: chances is '65536'; write 2 numbers with commas between, 65536 in all"},
        {"digraph { a [arms=2, chances=\"\"] }", CLO_ERR_FORMAT,
         "f:1: chances is ''; write 2 numbers with commas between, 65536 in all"},
        {"digraph { a [arms=2, chances=\"9999999,1\"] }", CLO_ERR_FORMAT,
         "f:1: chances is '9999999,1'; write 2 numbers with commas between, 65536 in all"},
        {"digraph { a [arms=2, chances=\"65536,1\"] }", CLO_ERR_FORMAT,
         "f:1: task 0: the chances of its arms add up to 65537; make that 65536"},
        {"digraph { a [arms=2, instances=2] }", CLO_ERR_FORMAT,
         "f:1: a branch with several instances; remove one of the two"},
        {"digraph { a [arms=2, duplicable=true] }", CLO_ERR_FORMAT,
         "f:1: a branch that is duplicable; remove one of the two"},
        {"digraph {\na -> b [arm=0] }", CLO_ERR_FORMAT,
         "f:2: an arm of a node that is no branch; write arms=NUMBER there"},
        {"digraph { a [arms=2]\na -> b [arm=2] }", CLO_ERR_FORMAT, "f:2: arm is 2; the node has the arms 0 .. 1"},
        {"digraph { a [bound=9]\na -> b [arm=1] }", CLO_ERR_FORMAT, "f:2: arm is 1; the node has the arms 0 .. 0"},
        {"digraph { a -> b [arm=256] }", CLO_ERR_LIMIT, "f:1: arm is 256; the largest possible is 255"},
    };

    (void)state;
    REFUSE(rows);
}

static void in_dot_attributes_make_branches(void **state)
{
    clo_document *d = parsed("digraph { edge [arm=1]; a [arms=3, chances=\" 1 , 2,65533\"]; a -> {b c}; "
                             "a -> d [arm=2]; e [merge=true, bound=5] }");
    const clo_graph *graph = clo_document_graph(d);

    (void)state;
    assert_int_equal(clo_graph_arms(graph, 0), 3);
    assert_int_equal(clo_graph_chance(graph, 0, 2), 65533);
    assert_int_equal(clo_graph_edge_arm(graph, 0), 1);
    assert_int_equal(clo_graph_edge_arm(graph, 1), 1);
    assert_int_equal(clo_graph_edge_arm(graph, 2), 2);
    assert_true(clo_graph_is_merge(graph, 4));
    assert_int_equal(clo_graph_bound(graph, 4), 5);
    clo_document_destroy(d);
}

static void cut_or_changed_anywhere_a_file_is_read_or_refused(void **state)
{
    (void)state;
    handle_every_cut(camera);
    handle_every_byte(camera);
    handle_every_cut(newton);
    if (!SANITIZED)
        handle_every_byte(newton);
    handle_every_byte("digraph { a [arms=2, chances=\"1,65535\"]; a -> b [arm=1]; c [merge=1, bound=3] }");
}

static void every_allocation_may_fail(void **state)
{
    const char *text = newton;

    (void)state;
    fault_each(parse_and_drop, &text);
}

/* The table of names is full with the tasks before the loop, and grows at a name in it. */
static void the_table_of_names_may_not_grow_in_a_loop(void **state)
{
    char text[2000];
    int at = snprintf(text, sizeof text, HEAD "\"tasks\": [");
    const char *all = text;

    (void)state;
    for (int t = 0; t < 32; t++)
        at += snprintf(text + at, sizeof text - (size_t)at, "%s{\"name\": \"t%d\"}", t > 0 ? ", " : "", t);
    snprintf(text + at, sizeof text - (size_t)at,
             "], \"loops\": [{\"tasks\": [{\"name\": \"step\"}], \"condition\": \"step\", \"bound\": 2}]}");
    fault_each(parse_and_drop, &all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arms_chances_and_merges_are_read),
        cmocka_unit_test(a_loop_of_a_file_is_the_one_of_the_library),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(random_graphs_with_branches_read_back_whole),
        cmocka_unit_test(a_workload_keeps_the_branches_of_its_graphs),
        cmocka_unit_test(formats_that_cannot_hold_branches_say_so),
        cmocka_unit_test(malformed_branches_are_refused_with_their_line),
        cmocka_unit_test(malformed_loops_are_refused_with_their_line),
        cmocka_unit_test(malformed_branches_in_dot_are_refused_with_their_line),
        cmocka_unit_test(in_dot_attributes_make_branches),
        cmocka_unit_test(cut_or_changed_anywhere_a_file_is_read_or_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(the_table_of_names_may_not_grow_in_a_loop),
    };

    return cmocka_run_group_tests_name("io_branches", tests, NULL, NULL);
}
