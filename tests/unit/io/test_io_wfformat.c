#include "bad.h"
#include "base/memory.h"
#include "io/text/reader.h"

#define TASK(id, parents, children, in, out)                                                           \
    "{\"name\": \"n\", \"id\": \"" id "\", \"parents\": [" parents "], \"children\": [" children "], " \
    "\"inputFiles\": [" in "], \"outputFiles\": [" out "]}"
#define RUN(id, rest) "{\"id\": \"" id "\", " rest "}"
#define WF(tasks, files, runs)                                                                                     \
    "{\"name\": \"w\", \"schemaVersion\": \"1.5\", \"workflow\": {\n\"specification\": {\"tasks\": [" tasks "],\n" \
    "\"files\": [" files "]},\n\"execution\": {\"makespanInSeconds\": 1, \"executedAt\": \"x\", \"tasks\": [" runs \
    "]}}}"

static const char diamond[] = WF(
    TASK("a", "", "\"b\", \"c\"", "\"in\"", "\"x\", \"y\", \"x\"") "," TASK(
        "b", "\"a\"", "\"d\"", "\"x\", \"in\", \"x\"",
        "\"z\"") "," TASK("c", "\"a\"", "", "\"x\", \"y\"", "\"u\"") "," TASK("d", "\"b\", \"c\"", "",
                                                                              "\"z\", \"y\", \"unlisted\"", ""),
    "{\"id\": \"in\", \"sizeInBytes\": 1000}, {\"id\": \"x\", \"sizeInBytes\": 10}, {\"id\": \"y\", \"sizeInBytes\": "
    "3}, "
    "{\"id\": \"z\", \"sizeInBytes\": 500}",
    RUN("d", "\"runtimeInSeconds\": 0") "," RUN(
        "a",
        "\"runtimeInSeconds\": 1.25, \"memoryInBytes\": 7, \"coreCount\": "
        "1.5") "," RUN("c", "\"runtimeInSeconds\": 1e-9") "," RUN("b",
                                                                  "\"runtimeInSeconds\": 3") "," RUN("other",
                                                                                                     "\"runtimeInSecond"
                                                                                                     "s\": 9"));

static void edges_carry_the_files_that_one_writes_and_the_other_reads(void **state)
{
    clo_document *d = parsed(diamond);

    (void)state;
    assert_string_equal(clo_document_format(d), "wfformat-1.5");
    assert_true(clo_document_unit_ns(d) == 1e9);
    assert_string_equal(clo_graph_name(clo_document_graph(d)), "w");
    assert_int_equal(clo_graph_tasks(clo_document_graph(d)), 4);
    assert_int_equal(clo_graph_edges(clo_document_graph(d)), 4);
    assert_int_equal(edge_of(d, 0).bytes, 10);  /* a -> b: x, though listed twice */
    assert_int_equal(edge_of(d, 1).bytes, 13);  /* a -> c: x and y                */
    assert_int_equal(edge_of(d, 2).bytes, 500); /* b -> d: z                     */
    assert_int_equal(edge_of(d, 3).bytes, 0);   /* c -> d: y is a's               */
    clo_document_destroy(d);
}

static void work_is_the_run_time_and_the_name_the_id(void **state)
{
    clo_document *d = parsed(diamond);

    (void)state;
    assert_string_equal(task_of(d, 0).name, "a");
    assert_int_equal(task_of(d, 0).work_ns, 1250000000);
    assert_int_equal(task_of(d, 1).work_ns, 3000000000);
    assert_int_equal(task_of(d, 2).work_ns, 1);
    assert_int_equal(task_of(d, 3).work_ns, 0);
    assert_true(task_of(d, 0).body == clo_body_spin);
    assert_null(clo_graph_resource_name(clo_document_graph(d), 0)); /* only one task states memory */
    clo_document_destroy(d);
}

static void children_that_no_parent_list_repeats_are_edges_too(void **state)
{
    clo_document *d = parsed(WF(TASK("a", "", "\"b\"", "", "\"x\"") "," TASK("b", "", "", "\"x\"", ""),
                                "{\"id\": \"x\", \"sizeInBytes\": 4}",
                                RUN("a", "\"runtimeInSeconds\": 1") "," RUN("b", "\"runtimeInSeconds\": 1")));

    (void)state;
    assert_int_equal(clo_graph_edges(clo_document_graph(d)), 1);
    assert_int_equal(edge_of(d, 0).to, 1);
    assert_int_equal(edge_of(d, 0).bytes, 4);
    clo_document_destroy(d);
}

static void demands_are_kept_if_every_task_states_them(void **state)
{
    clo_document *d = parsed(WF(TASK("a", "", "", "", ""), "",
                                RUN("a", "\"runtimeInSeconds\": 1, \"memoryInBytes\": 7, \"coreCount\": 1.5")));

    (void)state;
    assert_string_equal(clo_graph_resource_name(clo_document_graph(d), 0), "memory");
    assert_string_equal(clo_graph_resource_name(clo_document_graph(d), 1), "cores");
    assert_int_equal(task_of(d, 0).demand[0], 7);
    assert_int_equal(task_of(d, 0).demand[1], 2);
    clo_document_destroy(d);
}

static void version_1_4_names_its_parents(void **state)
{
    static const char text[] =
        "{\"name\": \"w\", \"schemaVersion\": \"1.4\", \"workflow\": {\"tasks\": ["
        "{\"name\": \"one\", \"id\": \"ID1\", \"parents\": [], \"runtimeInSeconds\": 2, \"files\": ["
        "{\"name\": \"f\", \"link\": \"output\", \"sizeInBytes\": 8}, {\"name\": \"g\", \"link\": \"output\", "
        "\"size\": 16}]},"
        "{\"name\": \"two\", \"id\": \"ID2\", \"parents\": [\"one\"], \"runtime\": 3, \"files\": ["
        "{\"name\": \"f\", \"link\": \"input\", \"sizeInBytes\": 8}, {\"name\": \"g\", \"link\": \"input\", \"size\": "
        "16}]},"
        "{\"name\": \"three\", \"parents\": [\"ID1\"], \"runtimeInSeconds\": 4}]}}";
    clo_document *d = parsed(text);

    (void)state;
    assert_string_equal(clo_document_format(d), "wfformat-1.4");
    assert_string_equal(task_of(d, 1).name, "two");
    assert_int_equal(task_of(d, 1).work_ns, 3000000000);
    assert_int_equal(clo_graph_edges(clo_document_graph(d)), 2);
    assert_int_equal(edge_of(d, 0).bytes, 24);
    assert_int_equal(edge_of(d, 1).from, 0);
    assert_int_equal(edge_of(d, 1).to, 2);
    assert_int_equal(edge_of(d, 1).bytes, 0);
    clo_document_destroy(d);
}

#define OLD(version, list, id, memory)                                                                                \
    "{\"name\": \"w\", \"schemaVersion\": \"" version "\", \"workflow\": {\"makespan\": 5, \"machines\": [], \"" list \
    "\": [{\"name\": \"one\", " id(1) "\"parents\": [], \"children\": [\"two\"], \"runtime\": 2, " memory             \
                                      ", \"cores\": 1.5, \"files\": [{\"name\": \"f\", \"link\": \"output\", "        \
                                      "\"size\": 8}]}, {\"name\": \"two\", " id(                                      \
                                          2) "\"parents\": [\"one\"], \"runtime\": 3.5, " memory                      \
                                             ", \"cores\": 1, \"files\": [{\"name\": \"f\", \"link\": "               \
                                             "\"input\", \"size\": 8}]}]}}"
#define WITH_ID(n) "\"id\": \"ID" #n "\", \"category\": \"c\", "
#define WITHOUT_ID(n) ""

static void the_versions_before_1_4_have_other_words_for_the_same(void **state)
{
    static const struct {
        const char *text, *format;
    } rows[] = {
        {OLD("1.0", "jobs", WITHOUT_ID, "\"memory\": 4"), "wfformat-1.0"},
        {OLD("1.1", "jobs", WITHOUT_ID, "\"memory\": 4"), "wfformat-1.1"},
        {OLD("1.2", "jobs", WITH_ID, "\"memory\": 4"), "wfformat-1.2"},
        {OLD("1.3", "tasks", WITH_ID, "\"memory\": 4"), "wfformat-1.3"},
        {OLD("1.3", "jobs", WITH_ID, "\"memory\": 4"), "wfformat-1.3"},
        {OLD("1.4", "tasks", WITH_ID, "\"memory\": 4"), "wfformat-1.4"},
        {OLD("1.4", "tasks", WITH_ID, "\"memory\": 9, \"memoryInBytes\": 4000"), "wfformat-1.4"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        clo_document *d = parsed(rows[i].text);
        assert_string_equal(clo_document_format(d), rows[i].format);
        assert_int_equal(clo_graph_tasks(clo_document_graph(d)), 2);
        assert_string_equal(task_of(d, 1).name, "two");
        assert_int_equal(task_of(d, 1).work_ns, 3500000000);
        assert_int_equal(clo_graph_edges(clo_document_graph(d)), 1);
        assert_int_equal(edge_of(d, 0).bytes, 8);
        assert_string_equal(clo_graph_resource_name(clo_document_graph(d), 0), "memory");
        assert_string_equal(clo_graph_resource_name(clo_document_graph(d), 1), "cores");
        assert_int_equal(task_of(d, 0).demand[0], 4000); /* memory: KB */
        assert_int_equal(task_of(d, 0).demand[1], 2);
        clo_document_destroy(d);
    }
}

static void commands_of_the_file_are_run_if_asked_for(void **state)
{
    clo_load_config config = CLO_LOAD_CONFIG_INIT;
    static const char with[] =
        WF(TASK("a", "", "", "", ""), "",
           RUN("a", "\"runtimeInSeconds\": 1, \"command\": {\"program\": \"p\", \"arguments\": [\"-x\", \"\"]}"));
    static const char without[] = WF(TASK("a", "", "", "", ""), "", RUN("a", "\"runtimeInSeconds\": 1"));
    clo_document *d;

    (void)state;
    config.body = "command";
    ok(clo_document_parse("f", with, sizeof with - 1, &config, &d));
    const clo_command *command = task_of(d, 0).argument;
    assert_string_equal(command->argv[0], "p");
    assert_string_equal(command->argv[1], "-x");
    assert_string_equal(command->argv[2], "");
    assert_null(command->argv[3]);
    clo_document_destroy(d);
    fails(CLO_ERR_FORMAT, "f:4: workflow.execution.tasks[0] has no \"command\"; add it",
          clo_document_parse("f", without, sizeof without - 1, &config, &d));
}

static void malformed_workflows_are_refused(void **state)
{
    static const bad rows[] = {
        {"{\"schemaVersion\": \"1.6\", \"workflow\": {}}", CLO_ERR_FORMAT,
         "f:1: schemaVersion is \"1.6\"; write \"1.0\" to \"1.5\", the versions of WfFormat that are known here"},
        {"{\"schemaVersion\": 1.3, \"workflow\": {}}", CLO_ERR_FORMAT,
         "f:1: schemaVersion is 1.3; write \"1.0\" to \"1.5\", the versions of WfFormat that are known here"},
        {"{\"schemaVersion\": \"1.3\", \"workflow\": {}}", CLO_ERR_FORMAT, "f:1: workflow has no \"tasks\"; add it"},
        {"{\"schemaVersion\": \"1.0\", \"workflow\": {\"jobs\": [{\"name\": \"a\"}]}}", CLO_ERR_FORMAT,
         "f:1: workflow.jobs[0] has no \"runtime\"; add it"},
        {"{\"schemaVersion\": \"1.5\", \"workflow\": {}}", CLO_ERR_FORMAT,
         "f:1: workflow has no \"specification\"; add it"},
        {"{\"schemaVersion\": \"1.5\", \"workflow\": {\"specification\": {}}}", CLO_ERR_FORMAT,
         "f:1: workflow.specification has no \"tasks\"; add it"},
        {"{\"schemaVersion\": \"1.4\", \"workflow\": {\"tasks\": []}}", CLO_ERR_FORMAT,
         "f:1: workflow.tasks is empty; a workflow needs at least one task"},
        {"{\"schemaVersion\": \"1.4\", \"workflow\": {\"tasks\": [{\"name\": \"a\"}]}}", CLO_ERR_FORMAT,
         "f:1: workflow.tasks[0] has no \"runtimeInSeconds\"; add it"},
        {WF(TASK("a", "", "", "", ""), "", ""), CLO_ERR_FORMAT,
         "f:2: workflow.specification.tasks[0] has no run time; add it to workflow.execution.tasks"},
        {WF(TASK("a", "", "", "", "") "," TASK("a", "", "", "", ""), "", ""), CLO_ERR_FORMAT,
         "f:2: workflow.specification.tasks[1].id is \"a\"; write an id of its own; another task has this one"},
        {WF(TASK("a", "", "", "", ""), "",
            RUN("a", "\"runtimeInSeconds\": 1") ",\n" RUN("a", "\"runtimeInSeconds\": 1")),
         CLO_ERR_FORMAT, "f:5: workflow.execution.tasks[1] is the second run of task \"a\"; keep one"},
        {WF(TASK("a", "", "", "", ""), "", RUN("a", "\"runtimeInSeconds\": -1")), CLO_ERR_FORMAT,
         "f:4: workflow.execution.tasks[0].runtimeInSeconds is -1; write a number >= 0"},
        {WF(TASK("a", "", "", "", ""), "", RUN("a", "\"runtimeInSeconds\": 1e10")), CLO_ERR_LIMIT,
         "f:4: workflow.execution.tasks[0].runtimeInSeconds is 1e+10, with scale 1 more than 146 years; write a "
         "smaller time"},
        {WF(TASK("a", "\"z\"", "", "", ""), "", RUN("a", "\"runtimeInSeconds\": 1")), CLO_ERR_FORMAT,
         "f:2: workflow.specification.tasks[0].parents[0] is \"z\"; write the id of a task of this workflow; there is "
         "none like this"},
        {WF(TASK("a", "\"a\"", "", "", ""), "", RUN("a", "\"runtimeInSeconds\": 1")), CLO_ERR_FORMAT,
         "f:2: workflow.specification.tasks[0].parents[0] is the task itself; remove it"},
        {WF(TASK("a", "", "", "", "") "," TASK("b", "\"a\", \"a\"", "", "", ""), "",
            RUN("a", "\"runtimeInSeconds\": 1") "," RUN("b", "\"runtimeInSeconds\": 1")),
         CLO_ERR_FORMAT,
         "f:2: workflow.specification.tasks[1].parents[1] is \"a\"; write each task once; it is there twice"},
        {WF(TASK("a", "", "", "", ""), "{\"id\": \"x\", \"sizeInBytes\": -4}", RUN("a", "\"runtimeInSeconds\": 1")),
         CLO_ERR_FORMAT, "f:3: workflow.specification.files[0].sizeInBytes is -4; write a number >= 0"},
        {WF(TASK("a", "", "", "3", ""), "", RUN("a", "\"runtimeInSeconds\": 1")), CLO_ERR_FORMAT,
         "f:2: workflow.specification.tasks[0].inputFiles[0] is 3; write a string in double quotes"},
    };
    static const char cycle[] = WF(TASK("a", "\"b\"", "", "", "") "," TASK("b", "\"a\"", "", "", ""), "",
                                   RUN("a", "\"runtimeInSeconds\": 1") "," RUN("b", "\"runtimeInSeconds\": 1"));
    clo_document *d;

    (void)state;
    REFUSE(rows);
    fails(CLO_ERR_CYCLE, "f: ", clo_document_parse("f", cycle, sizeof cycle - 1, NULL, &d));
}

static void what_is_written_is_1_5_and_reads_back(void **state)
{
    clo_document *d = parsed(diamond), *e;
    char *text;

    (void)state;
    ok(clo_document_print(d, "wfformat", &text));
    ok(clo_document_parse("again", text, strlen(text), NULL, &e));
    clo_free(text);
    assert_string_equal(clo_document_format(e), "wfformat-1.5");
    for (uint32_t t = 0; t < 4; t++) {
        assert_string_equal(task_of(d, t).name, task_of(e, t).name);
        assert_true(task_of(d, t).work_ns == task_of(e, t).work_ns);
    }
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(edge_of(d, i).from, edge_of(e, i).from);
        assert_int_equal(edge_of(d, i).to, edge_of(e, i).to);
        assert_int_equal(edge_of(d, i).bytes, edge_of(e, i).bytes);
    }
    clo_document_destroy(d);
    clo_document_destroy(e);
}

static void names_that_are_no_ids_become_numbers_in_the_file(void **state)
{
    clo_document *d = parsed("{\"format\": \"clotho.graph/1\", \"tasks\": [{\"name\": \"a b\"}, {\"instances\": 2}]}"),
                 *e;
    char *text;

    (void)state;
    fails(CLO_ERR_UNSUPPORTED, "task 't1' has 2 instances, which wfformat cannot hold; write clotho",
          clo_document_print(d, "wfformat", &text));
    clo_document_destroy(d);
    d = parsed("{\"format\": \"clotho.graph/1\", \"resources\": [\"memory\"], \"tasks\": [{\"name\": \"a b\", "
               "\"demand\": [5]}]}");
    ok(clo_document_print(d, "wfformat", &text));
    assert_non_null(strstr(text, "{\"name\": \"a b\", \"id\": \"t0\""));
    ok(clo_document_parse("again", text, strlen(text), NULL, &e));
    assert_int_equal(task_of(e, 0).demand[0], 5);
    clo_free(text);
    clo_document_destroy(d);
    clo_document_destroy(e);
}

static void command_lines_are_written_and_run_again(void **state)
{
    static const char text[] = "{\"format\": \"clotho.graph/1\", \"tasks\": [{\"command\": [\"p\", \"-x\", \"y z\"]}]}";
    clo_load_config config = CLO_LOAD_CONFIG_INIT;
    clo_document *d = parsed(text), *e;
    char *written;

    (void)state;
    ok(clo_document_print(d, "wfformat", &written));
    assert_non_null(strstr(written, "\"command\": {\"program\": \"p\", \"arguments\": [\"-x\", \"y z\"]}"));
    config.body = "command";
    ok(clo_document_parse("again", written, strlen(written), &config, &e));
    assert_string_equal(((const clo_command *)task_of(e, 0).argument)->argv[2], "y z");
    clo_free(written);
    clo_document_destroy(d);
    clo_document_destroy(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_carry_the_files_that_one_writes_and_the_other_reads),
        cmocka_unit_test(work_is_the_run_time_and_the_name_the_id),
        cmocka_unit_test(children_that_no_parent_list_repeats_are_edges_too),
        cmocka_unit_test(demands_are_kept_if_every_task_states_them),
        cmocka_unit_test(version_1_4_names_its_parents),
        cmocka_unit_test(the_versions_before_1_4_have_other_words_for_the_same),
        cmocka_unit_test(commands_of_the_file_are_run_if_asked_for),
        cmocka_unit_test(malformed_workflows_are_refused),
        cmocka_unit_test(what_is_written_is_1_5_and_reads_back),
        cmocka_unit_test(command_lines_are_written_and_run_again),
        cmocka_unit_test(names_that_are_no_ids_become_numbers_in_the_file),
    };

    return cmocka_run_group_tests_name("io_wfformat", tests, NULL, NULL);
}
