#include "bad.h"
#include "io/text/reader.h"

#include "base/memory.h"
#include "generate/body.h"

#define HEAD "{\"format\": \"clotho.graph/1\", "

static const char full[] =
    "{\n"
    "  \"format\": \"clotho.graph/1\",\n"
    "  \"name\": \"g\",\n"
    "  \"unit_ns\": 1000,\n"
    "  \"kinds\": [\"big\", \"gpu\"],\n"
    "  \"resources\": [\"memory\", null, \"power\"],\n"
    "  \"tasks\": [\n"
    "    {\"name\": \"a\", \"work_ns\": 10, \"times\": {\"big\": 5, \"gpu\": null}, \"class\": \"float\", "
    "\"output_bytes\": 64, \"instances\": 3, \"duplicable\": true, \"demand\": {\"memory\": 7, \"power\": 2}},\n"
    "    {\"name\": \"b\", \"work_ns\": 20, \"class\": 77, \"executors\": [0, 63], \"demand\": [0, 4], \"body\": "
    "\"memory\"},\n"
    "    {\"work_ns\": 0, \"command\": [\"echo\", \"\", \"x y\"], \"directory\": \"/tmp\"},\n"
    "    {\"name\": \"b\", \"work_ns\": 1, \"body\": \"none\"}\n"
    "  ],\n"
    "  \"edges\": [\n"
    "    {\"from\": \"a\", \"to\": 1, \"bytes\": 6},\n"
    "    {\"from\": 1, \"to\": 2},\n"
    "    {\"from\": \"a\", \"to\": 3, \"bytes\": 9007199254740992}\n"
    "  ],\n"
    "  \"platform\": {\n"
    "    \"name\": \"p\",\n"
    "    \"coherent\": true,\n"
    "    \"mean_includes_self\": true,\n"
    "    \"resources\": [\"memory\"],\n"
    "    \"machines\": [[100], [null, 5]],\n"
    "    \"kinds\": [\"gpu\", \"big\"],\n"
    "    \"executors\": [\n"
    "      {\"name\": \"x\", \"kind\": \"big\", \"memory\": 0, \"speed\": 1.5, \"speeds\": {\"float\": 3}},\n"
    "      {\"name\": \"y\", \"kind\": \"gpu\", \"machine\": 1, \"memory\": 3, \"cpu\": 2, \"speed\": 0.25}],\n"
    "    \"latency_ns\": [\n"
    "      [0, 7], \n"
    "      [8, 0]],\n"
    "    \"bandwidth_bytes_per_ns\": 2.5\n"
    "  }\n"
    "}\n";

static void every_field_of_a_task_is_read(void **state)
{
    clo_document *d = parsed(full);
    clo_task a = task_of(d, 0), b = task_of(d, 1), c = task_of(d, 2), n = task_of(d, 3);
    int64_t ns;

    (void)state;
    assert_string_equal(clo_document_format(d), "clotho.graph/1");
    assert_true(clo_document_unit_ns(d) == 1000);
    assert_string_equal(clo_graph_name(clo_document_graph(d)), "g");
    assert_int_equal(clo_graph_tasks(clo_document_graph(d)), 4);
    assert_string_equal(a.name, "a");
    assert_int_equal(a.work_ns, 10);
    assert_true(a.body == clo_body_spin);
    assert_int_equal(a.task_class, CLO_CLASS_FLOAT);
    assert_int_equal(a.output_bytes, 64);
    assert_int_equal(a.instances, 3);
    assert_int_equal(a.duplicable, 1);
    assert_int_equal(a.demand[0], 7);
    assert_int_equal(a.demand[2], 2);
    assert_true(clo_graph_time(clo_document_graph(d), 0, 0, &ns));
    assert_int_equal(ns, 5);
    assert_true(clo_graph_time(clo_document_graph(d), 0, 1, &ns));
    assert_true(ns == CLO_TIME_NEVER);
    assert_false(clo_graph_time(clo_document_graph(d), 1, 0, &ns));
    assert_int_equal(b.task_class, 77);
    assert_true(b.executors_mask == (1ull | 1ull << 63));
    assert_int_equal(b.demand[1], 4);
    assert_true(b.body == clo_body_memory);
    assert_null(c.name);
    assert_null(n.body);
    clo_document_destroy(d);
}

static void a_command_line_is_copied_into_the_document(void **state)
{
    clo_document *d = parsed(full);
    clo_task task = task_of(d, 2);
    const clo_command *command = task.argument;

    (void)state;
    assert_true(task.body == clo_body_command);
    assert_string_equal(command->argv[0], "echo");
    assert_string_equal(command->argv[1], "");
    assert_string_equal(command->argv[2], "x y");
    assert_null(command->argv[3]);
    assert_string_equal(command->directory, "/tmp");
    assert_int_equal(command->output_bytes, 65536);
    assert_int_equal(command->exit_status, -1);
    command->output[65535] = 'x'; /* the whole buffer is ours: the address sanitizer watches */
    clo_document_destroy(d);
}

static void edges_go_by_name_or_index(void **state)
{
    clo_document *d = parsed(full);

    (void)state;
    assert_int_equal(clo_graph_edges(clo_document_graph(d)), 3);
    assert_int_equal(edge_of(d, 0).from, 0);
    assert_int_equal(edge_of(d, 0).to, 1);
    assert_int_equal(edge_of(d, 0).bytes, 6);
    assert_int_equal(edge_of(d, 1).bytes, 0);
    assert_true(edge_of(d, 2).bytes == 9007199254740992u);
    clo_document_destroy(d);
}

static void the_platform_is_read_whole(void **state)
{
    clo_document *d = parsed(full);
    const clo_executor *x = clo_platform_executor(clo_document_platform(d), 0),
                       *y = clo_platform_executor(clo_document_platform(d), 1);

    (void)state;
    assert_string_equal(clo_platform_name(clo_document_platform(d)), "p");
    assert_true(clo_platform_is_coherent(clo_document_platform(d)));
    assert_int_equal(clo_platform_machines(clo_document_platform(d)), 2);
    assert_int_equal(clo_platform_capacity(clo_document_platform(d), 0, 0), 100);
    assert_int_equal(clo_platform_capacity(clo_document_platform(d), 0, 1), -1);
    assert_int_equal(clo_platform_capacity(clo_document_platform(d), 1, 0), -1);
    assert_int_equal(clo_platform_capacity(clo_document_platform(d), 1, 1), 5);
    assert_string_equal(clo_platform_kind_name(clo_document_platform(d), 0), "gpu");
    assert_int_equal(x->kind, 1);
    assert_int_equal(y->kind, 0);
    assert_int_equal(y->machine, 1);
    assert_int_equal(y->memory, 3);
    assert_int_equal(x->os_index, -1);
    assert_int_equal(y->os_index, 2);
    assert_int_equal(x->speed_q16[CLO_CLASS_GENERIC], 98304);
    assert_int_equal(x->speed_q16[CLO_CLASS_FLOAT], 196608);
    assert_int_equal(clo_platform_transfer_ns(clo_document_platform(d), 10, 0, 1), 7 + 4);
    assert_int_equal(clo_platform_transfer_ns(clo_document_platform(d), 10, 1, 0), 8 + 4);
    clo_document_destroy(d);
}

static void executors_from_64_on_read_and_write(void **state)
{
    clo_document *d = parsed(HEAD "\"tasks\": [{\"executors\": [4095, 70, 0, 70]}, {}]}");
    uint32_t executors[4];
    char *text;

    (void)state;
    assert_int_equal(clo_graph_executors(clo_document_graph(d), 0, executors, 4), 3);
    assert_memory_equal(executors, ((uint32_t[]){0, 70, 4095}), 3 * sizeof *executors);
    assert_int_equal(clo_graph_executors(clo_document_graph(d), 1, executors, 4), 0);
    ok(clo_document_print(d, "clotho", &text));
    assert_non_null(strstr(text, "\"executors\": [0, 70, 4095]"));
    clo_free(text);
    clo_document_destroy(d);
}

static void a_number_of_executors_makes_a_uniform_platform(void **state)
{
    clo_document *d = parsed(HEAD "\"tasks\": [{}], \"platform\": {\"executors\": 3, \"latency_ns\": 5, "
                                  "\"bandwidth_bytes_per_ns\": null}}");

    (void)state;
    assert_int_equal(clo_platform_executors(clo_document_platform(d)), 3);
    assert_int_equal(clo_platform_kinds(clo_document_platform(d)), 1);
    assert_string_equal(clo_platform_kind_name(clo_document_platform(d), 0), "cpu");
    assert_int_equal(clo_platform_executor(clo_document_platform(d), 2)->speed_q16[3], 65536);
    assert_int_equal(clo_platform_transfer_ns(clo_document_platform(d), 1000000, 0, 2), 5);
    assert_int_equal(clo_platform_transfer_ns(clo_document_platform(d), 1000000, 1, 1), 0);
    clo_document_destroy(d);
}

/* Links have one cell then, and a look into a second one is what the address sanitizer sees. */
static void a_platform_of_one_executor_is_written_without_links(void **state)
{
    (void)state;
    clo_document *d = parsed(HEAD "\"tasks\": [{}], \"platform\": {\"executors\": 1}}");
    char *text;

    ok(clo_document_print(d, "clotho", &text));
    assert_null(strstr(text, "latency_ns"));
    assert_null(strstr(text, "bandwidth"));
    clo_free(text);
    clo_document_destroy(d);
}

static void what_is_written_reads_back_and_is_written_the_same(void **state)
{
    clo_document *d = parsed(full), *e;
    char *first, *second;

    (void)state;
    ok(clo_document_print(d, "clotho", &first));
    ok(clo_document_parse("again", first, strlen(first), NULL, &e));
    ok(clo_document_print(e, "clotho", &second));
    assert_string_equal(first, second);
    assert_non_null(strstr(first, "{\"name\": \"b\", \"work_ns\": 20, \"class\": 77, \"executors\": [0, 63], "
                                  "\"demand\": [0, 4], \"body\": \"memory\"}"));
    assert_non_null(strstr(first, "{\"work_ns\": 0, \"command\": [\"echo\", \"\", \"x y\"], \"directory\": \"/tmp\"}"));
    assert_non_null(strstr(first, "{\"from\": \"a\", \"to\": 3, \"bytes\": 9007199254740992}"));
    assert_non_null(strstr(first, "\"machines\": [[100], [null, 5]]"));
    clo_free(first);
    clo_free(second);
    clo_document_destroy(d);
    clo_document_destroy(e);
}

static void links_in_pieces_read_back(void **state)
{
    clo_document *d = parsed(HEAD "\"tasks\": [{}], \"platform\": {\"executors\": 2, \"latency_ns\": 5, "
                                  "\"bandwidth_bytes_per_ns\": 2, \"cut_bytes\": [100, 1000], "
                                  "\"bandwidth_beyond\": [4, [[null, null], [0.5, null]]]}}");
    clo_document *e;
    char *text;

    (void)state;
    assert_int_equal(clo_platform_transfer_ns(clo_document_platform(d), 200, 0, 1), 5 + 50 + 25);
    assert_int_equal(clo_platform_transfer_ns(clo_document_platform(d), 2000, 0, 1), 5 + 50 + 225);
    assert_int_equal(clo_platform_transfer_ns(clo_document_platform(d), 2000, 1, 0), 5 + 50 + 225 + 2000);
    ok(clo_document_print(d, "clotho", &text));
    assert_non_null(strstr(text, "\"cut_bytes\": [100, 1000],\n    \"bandwidth_beyond\": [4, [\n      [null, null]"));
    ok(clo_document_parse("again", text, strlen(text), NULL, &e));
    for (uint64_t bytes = 0; bytes < 100000; bytes = bytes * 3 / 2 + 7)
        for (uint32_t way = 0; way < 2; way++)
            assert_int_equal(clo_platform_transfer_ns(clo_document_platform(d), bytes, way, 1 - way),
                             clo_platform_transfer_ns(clo_document_platform(e), bytes, way, 1 - way));
    clo_free(text);
    clo_document_destroy(d);
    clo_document_destroy(e);
}

static void the_scale_multiplies_times_and_bytes_only(void **state)
{
    clo_load_config config = CLO_LOAD_CONFIG_INIT;
    clo_document *d;
    int64_t ns;

    (void)state;
    config.scale = 2.5;
    ok(clo_document_parse("f", full, sizeof full - 1, &config, &d));
    assert_int_equal(task_of(d, 0).work_ns, 25);
    assert_int_equal(task_of(d, 0).output_bytes, 160);
    assert_int_equal(task_of(d, 0).demand[0], 7);
    assert_int_equal(task_of(d, 0).instances, 3);
    assert_true(clo_graph_time(clo_document_graph(d), 0, 0, &ns));
    assert_int_equal(ns, 13); /* 12.5 */
    assert_true(clo_graph_time(clo_document_graph(d), 0, 1, &ns));
    assert_true(ns == CLO_TIME_NEVER);
    assert_int_equal(edge_of(d, 0).bytes, 15);
    assert_int_equal(clo_platform_transfer_ns(clo_document_platform(d), 10, 0, 1), 11);
    clo_document_destroy(d);
}

static void the_body_of_the_config_is_for_tasks_that_name_none(void **state)
{
    clo_load_config config = CLO_LOAD_CONFIG_INIT;
    clo_document *d;

    (void)state;
    config.body = "memory";
    ok(clo_document_parse("f", full, sizeof full - 1, &config, &d));
    assert_true(task_of(d, 0).body == clo_body_memory);
    assert_true(task_of(d, 2).body == clo_body_command);
    assert_null(task_of(d, 3).body);
    clo_document_destroy(d);
    config.body = "command";
    fails(CLO_ERR_FORMAT, "f:8: tasks[0] has the body \"command\" but no \"command\"; add [\"program\", \"argument\"]",
          clo_document_parse("f", full, sizeof full - 1, &config, &d));
}

static void malformed_heads_are_refused(void **state)
{
    static const bad rows[] = {
        {HEAD "\"tasks\": []}", CLO_ERR_FORMAT, "f:1: tasks is empty; a graph needs at least one task"},
        {"{\"format\": \"clotho.graph/1\"\n}", CLO_ERR_FORMAT, "f:1: the file has no \"tasks\"; add it"},
        {"{\"format\": \"clotho.graph/2\"}", CLO_ERR_FORMAT,
         "f:1: format is \"clotho.graph/2\"; write \"clotho.graph/1\", the one format of this kind that is known"},
        {"{\"format\": \"clotho.plan/1\"}", CLO_ERR_FORMAT,
         "f:1: format says that this is a plan, no graph; name the graph"},
        {HEAD "\"tasks\": {}}", CLO_ERR_FORMAT, "f:1: tasks is an object; write an array [...]"},
        {HEAD "\n\"taks\": []}", CLO_ERR_FORMAT, "f:2: taks is not a known key; did you mean \"tasks\"?"},
        {HEAD "\"name\": 5, \"tasks\": []}", CLO_ERR_FORMAT, "f:1: name is 5; write a string in double quotes"},
        {HEAD "\"unit_ns\": 0, \"tasks\": []}", CLO_ERR_FORMAT, "f:1: unit_ns is 0; write a number > 0"},
        {HEAD "\"kinds\": [\"a\",\n\"a\"], \"tasks\": []}", CLO_ERR_FORMAT, "f:2: kinds[1] is there twice; remove one"},
        {HEAD "\"resources\": [\"a\",\n\"a\"], \"tasks\": []}", CLO_ERR_FORMAT,
         "f:2: resources[1] is there twice; remove one"},
        {HEAD "\"resources\": [null, null, null, null, null, null, null, null,\nnull], \"tasks\": []}", CLO_ERR_LIMIT,
         "f:2: resources[8] is one too many; there are at most 8 resources"},
        {HEAD "\"tasks\": [{}],\n\"tasks\": []}", CLO_ERR_FORMAT, "f:2: tasks is there twice; remove one"},
        {HEAD "\"tasks\": [\n3]}", CLO_ERR_FORMAT, "f:2: tasks[0] is 3; write an object {...}"},
    };

    (void)state;
    REFUSE(rows);
}

static void malformed_tasks_are_refused(void **state)
{
    static const bad rows[] = {
        {HEAD "\"tasks\": [{},\n{\"work_ns\": -3}]}", CLO_ERR_FORMAT,
         "f:2: tasks[1].work_ns is -3; write a number >= 0"},
        {HEAD "\"tasks\": [{\"work_ns\": \"3\"}]}", CLO_ERR_FORMAT,
         "f:1: tasks[0].work_ns is \"3\"; write a number >= 0"},
        {HEAD "\"tasks\": [{\"work_ns\": 1e999}]}", CLO_ERR_LIMIT,
         "f:1: tasks[0].work_ns is too large for a number; write a smaller one"},
        {HEAD "\"tasks\": [{\"work_ns\": 1e30}]}", CLO_ERR_LIMIT,
         "f:1: tasks[0].work_ns is 1e+30, with scale 1 more than 146 years; write a smaller time"},
        {HEAD "\"tasks\": [{\"wrok_ns\": 1}]}", CLO_ERR_FORMAT,
         "f:1: tasks[0].wrok_ns is not a known key; did you mean \"work_ns\"?"},
        {HEAD "\"tasks\": [{\"work_ns\": 1,\n\"work_ns\": 2}]}", CLO_ERR_FORMAT,
         "f:2: tasks[0].work_ns is there twice; remove one"},
        {HEAD "\"tasks\": [{\"class\": \"fast\"}]}", CLO_ERR_FORMAT,
         "f:1: tasks[0].class is \"fast\"; write \"generic\", \"integer\", \"float\", \"memory\" or a number"},
        {HEAD "\"tasks\": [{\"class\": 65536}]}", CLO_ERR_LIMIT,
         "f:1: tasks[0].class is 65536; the largest possible is 65535"},
        {HEAD "\"tasks\": [{\"class\": 1.5}]}", CLO_ERR_FORMAT,
         "f:1: tasks[0].class is 1.5; write a whole number >= 0"},
        {HEAD "\"tasks\": [{\"instances\": 0}]}", CLO_ERR_FORMAT, "f:1: tasks[0] has 0 instances; write 1 or more"},
        {HEAD "\"tasks\": [{\"instances\": 4294967295}]}", CLO_ERR_LIMIT,
         "f:1: tasks[0].instances is 4294967295; the largest possible is 4294967293"},
        {HEAD "\"tasks\": [{\"duplicable\": 1}]}", CLO_ERR_FORMAT,
         "f:1: tasks[0].duplicable is 1; write true or false"},
        {HEAD "\"tasks\": [{\"output_bytes\": 1e19}]}", CLO_ERR_LIMIT,
         "f:1: tasks[0].output_bytes is 1e+19, with scale 1 more than 2^62 bytes; write a smaller size"},
    };
    static const char sum[] = HEAD "\"tasks\": [{\"work_ns\": 4e18}, {\"work_ns\": 4e18}, {\"work_ns\": 4e18}]}";
    clo_document *d;

    (void)state;
    REFUSE(rows);
    fails(CLO_ERR_LIMIT, "f: ", clo_document_parse("f", sum, sizeof sum - 1, NULL, &d));
}

static void malformed_parts_of_tasks_are_refused(void **state)
{
    static const bad rows[] = {
        {HEAD "\"tasks\": [{\"executors\": []}]}", CLO_ERR_FORMAT,
         "f:1: tasks[0].executors is empty; list executors (0 .. 65535) or leave it out"},
        {HEAD "\"tasks\": [{\"executors\": [70, 65536]}]}", CLO_ERR_LIMIT,
         "f:1: tasks[0].executors[1] is 65536; the largest possible is 65535"},
        {HEAD "\"tasks\": [{\"executors\": [-1]}]}", CLO_ERR_FORMAT,
         "f:1: tasks[0].executors[0] is -1; write a whole number >= 0"},
        {HEAD "\"tasks\": [{\"demand\": {\"gold\": 1}}]}", CLO_ERR_FORMAT,
         "f:1: tasks[0].demand.gold is not a resource of the graph; add it to \"resources\""},
        {HEAD "\"tasks\": [{\"demand\": 4}]}", CLO_ERR_FORMAT,
         "f:1: tasks[0].demand is 4; write {\"resource\": amount} or an array of amounts"},
        {HEAD "\"tasks\": [{\"demand\": [1,2,3,4,5,6,7,8,9]}]}", CLO_ERR_LIMIT,
         "f:1: tasks[0].demand[8] is one too many; a demand has at most 8 amounts"},
        {HEAD "\"tasks\": [{\"times\": 4}]}", CLO_ERR_FORMAT,
         "f:1: tasks[0].times is 4; write {\"kind\": nanoseconds}"},
        {HEAD "\"kinds\": [\"a\"], \"tasks\": [{\"times\": {\"b\": 1}}]}", CLO_ERR_FORMAT,
         "f:1: tasks[0].times.b is not a kind of the graph; add it to \"kinds\""},
        {HEAD "\"tasks\": [{\"times\": {\"b\": 1, \"b\": 2}}]}", CLO_ERR_FORMAT,
         "f:1: tasks[0].times.b is there twice; remove one"},
        {HEAD "\"tasks\": [{\"times\": {\"b\": -1}}]}", CLO_ERR_FORMAT,
         "f:1: tasks[0].times.b is -1; write a number >= 0"},
        {HEAD "\"tasks\": [{\"body\": \"spinn\"}]}", CLO_ERR_FORMAT,
         "f:1: tasks[0].body is \"spinn\"; write \"spin\", \"memory\", \"command\" or \"none\""},
        {HEAD "\"tasks\": [{\"body\": \"spin\", \"command\": [\"a\"]}]}", CLO_ERR_FORMAT,
         "f:1: tasks[0].command is there, but the body is not \"command\"; remove one"},
        {HEAD "\"tasks\": [{\"command\": []}]}", CLO_ERR_FORMAT,
         "f:1: tasks[0].command is empty; write the program first, or leave it out"},
        {HEAD "\"tasks\": [{\"command\": [\"\"]}]}", CLO_ERR_FORMAT,
         "f:1: tasks[0].command[0] is \"\"; write the name of a program"},
        {HEAD "\"tasks\": [{\"command\": [\"a\", 1]}]}", CLO_ERR_FORMAT,
         "f:1: tasks[0].command[1] is 1; write a string"},
    };

    (void)state;
    REFUSE(rows);
}

static void instances_that_multiply_beyond_all_memory_are_refused(void **state)
{
    static const bad rows[] = {
        {HEAD "\"tasks\": [{\"instances\": 2097153}, {\"instances\": 2097153}]}", CLO_OK, NULL},
        {HEAD "\"tasks\": [{\"instances\": 2097153}, {\"instances\": 2097154}]}", CLO_ERR_LIMIT,
         "f: more than 4194304 instances; write fewer instances"},
        /* edges between them are not counted by pairs */
        {HEAD "\"tasks\": [{\"instances\": 9000}, {\"instances\": 9000}], \"edges\": [{\"from\": 0, \"to\": 1}]}",
         CLO_OK, NULL},
    };
    clo_document *d = parsed(rows[0].text);

    (void)state;
    assert_int_equal(clo_graph_instances(clo_document_graph(d)), 4194306);
    clo_document_destroy(d);
    d = parsed(rows[2].text);
    assert_int_equal(clo_graph_instances(clo_document_graph(d)), 18000);
    clo_document_destroy(d);
    refuse_each(rows + 1, 1);
}

static void malformed_edges_are_refused(void **state)
{
    static const bad rows[] = {
        {HEAD "\"tasks\": [{\"name\": \"a\"}],\n\"edges\": [{\"from\": \"a\", \"to\": \"z\"}]}", CLO_ERR_FORMAT,
         "f:2: edges[0].to is \"z\"; write the name or index of a task of this file; there is none of this name"},
        {HEAD "\"tasks\": [{}, {}],\n\"edges\": [{\"from\": 0, \"to\": 2}]}", CLO_ERR_FORMAT,
         "f:2: edges[0].to is 2; the graph has the tasks 0 .. 1"},
        {HEAD "\"tasks\": [{}, {}],\n\"edges\": [{\"from\": 0, \"to\": -1}]}", CLO_ERR_FORMAT,
         "f:2: edges[0].to is -1; write a whole number >= 0"},
        {HEAD "\"tasks\": [{}, {}],\n\"edges\": [{\"from\": 0}]}", CLO_ERR_FORMAT,
         "f:2: edges[0] has no \"to\"; add it"},
        {HEAD "\"tasks\": [{}, {}],\n\"edges\": [{\"from\": true, \"to\": 1}]}", CLO_ERR_FORMAT,
         "f:2: edges[0].from is true; write the name or the index of a task"},
        {HEAD "\"tasks\": [{\"name\": \"a\"}, {\"name\": \"a\"}, {}],\n\"edges\": [{\"from\": \"a\", \"to\": 2}]}",
         CLO_ERR_FORMAT, "f:2: edges[0].from is \"a\"; write the index of the task; several tasks have this name"},
        {HEAD "\"tasks\": [{}, {}],\n\"edges\": [\n{\"from\": 1, \"to\": 1}]}", CLO_ERR_FORMAT,
         "f:3: edges[0] goes from a task to itself; remove it"},
        {HEAD "\"tasks\": [{}, {}],\n\"edges\": [{\"from\": 0, \"to\": 1, \"bytes\": -1}]}", CLO_ERR_FORMAT,
         "f:2: edges[0].bytes is -1; write a number >= 0"},
        {HEAD "\"tasks\": [{}, {}],\n\"edges\": [{\"from\": 0, \"to\": 1, \"size\": 1}]}", CLO_ERR_FORMAT,
         "f:2: edges[0].size is not a known key; did you mean \"bytes\"?"},
        {HEAD "\"tasks\": [{}, {}],\n\"edges\": 5}", CLO_ERR_FORMAT, "f:2: edges is 5; write an array [...]"},
    };
    static const char cycle[] =
        HEAD "\"tasks\": [{\"name\": \"a\"}, {\"name\": \"b\"}], \"edges\": [{\"from\": 0, \"to\": 1}, "
             "{\"from\": 1, \"to\": 0}]}";
    static const char twice[] =
        HEAD "\"tasks\": [{\"name\": \"a\"}, {\"name\": \"b\"}], \"edges\": [{\"from\": 0, \"to\": 1}, "
             "{\"from\": 0, \"to\": 1}]}";
    clo_document *d;

    (void)state;
    REFUSE(rows);
    fails(CLO_ERR_CYCLE, "file.json: ", clo_document_parse("file.json", cycle, sizeof cycle - 1, NULL, &d));
    fails(CLO_ERR_FORMAT, "file.json: ", clo_document_parse("file.json", twice, sizeof twice - 1, NULL, &d));
}

#define PLATFORM(text) HEAD "\"tasks\": [{}],\n\"platform\": {" text "}}"
static void malformed_pieces_of_links_are_refused(void **state)
{
    static const bad rows[] = {
        {PLATFORM("\"executors\": 2, \"cut_bytes\": [5]"), CLO_ERR_FORMAT,
         "f:2: platform.cut_bytes stands without \"bandwidth_beyond\"; add it"},
        {PLATFORM("\"executors\": 2, \"bandwidth_beyond\": [5]"), CLO_ERR_FORMAT,
         "f:2: platform.bandwidth_beyond stands without \"cut_bytes\"; add it"},
        {PLATFORM("\"executors\": 2, \"cut_bytes\": [], \"bandwidth_beyond\": []"), CLO_ERR_FORMAT,
         "f:2: platform.cut_bytes has 0 cuts; write 1 .. 7"},
        {PLATFORM("\"executors\": 2, \"cut_bytes\": [1,2,3,4,5,6,7,8], \"bandwidth_beyond\": [1,1,1,1,1,1,1,1]"),
         CLO_ERR_FORMAT, "f:2: platform.cut_bytes has 8 cuts; write 1 .. 7"},
        {PLATFORM("\"executors\": 2, \"cut_bytes\": [5, 5], \"bandwidth_beyond\": [1, 1]"), CLO_ERR_FORMAT,
         "f:2: platform.cut_bytes[1] is 5; write bytes > 0, more than the cut before"},
        {PLATFORM("\"executors\": 2, \"cut_bytes\": [-5], \"bandwidth_beyond\": [1]"), CLO_ERR_FORMAT,
         "f:2: platform.cut_bytes[0] is -5; write a whole number >= 0"},
        {PLATFORM("\"executors\": 2, \"cut_bytes\": [5], \"bandwidth_beyond\": [1, 1]"), CLO_ERR_FORMAT,
         "f:2: platform.bandwidth_beyond has 2 entries; write 1, one for each cut"},
        {PLATFORM("\"executors\": 2, \"cut_bytes\": [5], \"bandwidth_beyond\": [-1]"), CLO_ERR_FORMAT,
         "f:2: platform.bandwidth_beyond[0] is -1; write bytes per ns (GB/s) > 0, or null for infinite"},
    };

    (void)state;
    REFUSE(rows);
}

static void malformed_ports_are_refused(void **state)
{
    static const bad rows[] = {
        {PLATFORM("\"machines\": [[], []], \"executors\": 2, \"port_bytes_per_ns\": [5]"), CLO_ERR_FORMAT,
         "f:2: platform.port_bytes_per_ns has 1 entries; write 2, one for each machine"},
        {PLATFORM("\"executors\": 2, \"port_bytes_per_ns\": 0"), CLO_ERR_FORMAT,
         "f:2: platform.port_bytes_per_ns is 0; write bytes per ns (GB/s) > 0, or null for infinite"},
        {PLATFORM("\"executors\": 2, \"port_bytes_per_ns\": [\"1\"]"), CLO_ERR_FORMAT,
         "f:2: platform.port_bytes_per_ns[0] is \"1\"; write bytes per ns (GB/s) > 0, or null for infinite"},
    };

    (void)state;
    REFUSE(rows);
}

static void malformed_platforms_are_refused(void **state)
{
    static const bad rows[] = {
        {HEAD "\"tasks\": [{}], \"platform\": 3}", CLO_ERR_FORMAT, "f:1: platform is 3; write an object {...}"},
        {PLATFORM(""), CLO_ERR_FORMAT, "f:2: platform has no \"executors\"; add it"},
        {PLATFORM("\"executors\": 0"), CLO_ERR_FORMAT,
         "f:2: platform.executors must be a number or a list of 1 .. 65536 executors"},
        {PLATFORM("\"executors\": []"), CLO_ERR_FORMAT,
         "f:2: platform.executors must be a number or a list of 1 .. 65536 executors"},
        {PLATFORM("\"executors\": 70000"), CLO_ERR_LIMIT,
         "f:2: platform.executors is 70000; the largest possible is 65536"},
        {PLATFORM("\"executors\": [{}]"), CLO_ERR_FORMAT, "f:2: platform.executors[0] has no \"kind\"; add it"},
        {PLATFORM("\"kinds\": [\"b\"], \"executors\": [{\"kind\": \"a\"}]"), CLO_ERR_FORMAT,
         "f:2: platform.executors[0].kind is \"a\"; write one of the \"kinds\" of the platform"},
        {PLATFORM("\"kinds\": [\"b\", \"b\"], \"executors\": 1"), CLO_ERR_FORMAT,
         "f:2: platform.kinds[1] is there twice; remove one"},
        {PLATFORM("\"executors\": [{\"kind\": \"a\", \"speed\": 0}]"), CLO_ERR_FORMAT,
         "f:2: platform.executors[0].speed is 0; write a speed between 0.00002 and 65535 (1 is the reference "
         "executor)"},
        {PLATFORM("\"executors\": [{\"kind\": \"a\", \"speed\": 65536}]"), CLO_ERR_FORMAT,
         "f:2: platform.executors[0].speed is 65536; write a speed between 0.00002 and 65535 (1 is the reference "
         "executor)"},
        {PLATFORM("\"executors\": [{\"kind\": \"a\", \"slot\": true, \"depth\": 0}]"), CLO_ERR_FORMAT,
         "f:2: platform.executors[0].depth is 0; write a number from 1 on, of an executor with \"slot\": true"},
        {PLATFORM("\"executors\": [{\"kind\": \"a\", \"slot\": true, \"depth\": 5}]"), CLO_ERR_LIMIT,
         "f:2: platform.executors[0].depth is 5; the largest possible is 4"},
        {PLATFORM("\"executors\": [{\"kind\": \"a\", \"depth\": 3}]"), CLO_ERR_FORMAT,
         "f:2: platform.executors[0].depth is 3; write a number from 1 on, of an executor with \"slot\": true"},
        {PLATFORM("\"executors\": [{\"kind\": \"a\", \"machine\": 1}]"), CLO_ERR_LIMIT,
         "f:2: platform.executors[0].machine is 1; the largest possible is 0"},
        {PLATFORM("\"executors\": 2, \"latency_ns\": [[0, 1]]"), CLO_ERR_FORMAT,
         "f:2: platform.latency_ns has 1 row; write one for each of the 2 executors"},
        {PLATFORM("\"executors\": 2, \"latency_ns\": [[0, 1], [0]]"), CLO_ERR_FORMAT,
         "f:2: platform.latency_ns[1] must be an array of 2 numbers, one an executor"},
        {PLATFORM("\"executors\": 2, \"latency_ns\": -1"), CLO_ERR_FORMAT,
         "f:2: platform.latency_ns is -1; write a whole number >= 0"},
        {PLATFORM("\"executors\": 2, \"bandwidth_bytes_per_ns\": 0"), CLO_ERR_FORMAT,
         "f:2: platform.bandwidth_bytes_per_ns is 0; write bytes per ns (GB/s) > 0, or null for infinite"},
        {PLATFORM("\"executors\": 1, \"machines\": []"), CLO_ERR_FORMAT,
         "f:2: platform.machines must list 1 .. 65536 machines"},
        {PLATFORM("\"executors\": 1, \"machines\": [3]"), CLO_ERR_FORMAT,
         "f:2: platform.machines[0] is 3; write {\"resource\": capacity} or an array of capacities"},
        {PLATFORM("\"executors\": 1, \"machines\": [{\"gold\": 3}]"), CLO_ERR_FORMAT,
         "f:2: platform.machines[0].gold is not a resource of the platform; add it to its \"resources\""},
        {PLATFORM("\"executors\": 1, \"machines\": [[1,2,3,4,5,6,7,8,9]]"), CLO_ERR_FORMAT,
         "f:2: platform.machines[0][8] is one too many; there are at most 8 resources"},
        {PLATFORM("\"executors\": 1, \"speed\": 1"), CLO_ERR_FORMAT,
         "f:2: platform.speed is not a known key; correct or remove it"},
    };

    (void)state;
    REFUSE(rows);
}

static void graphs_that_json_would_change_are_not_written(void **state)
{
    clo_document *d = NULL;
    clo_graph *graph;
    clo_task task = {.name = "big", .work_ns = 9007199254740993};
    uint32_t kind;
    char *text;

    (void)state;
    ok(clo_graph_create("g", &graph));
    ok(clo_graph_add_task(graph, &task, NULL));
    ok(clo_graph_seal(graph));
    ok(clo_document_create(graph, NULL, &d));
    fails(CLO_ERR_UNSUPPORTED, "task 'big': work_ns is 9007199254740993; JSON holds integers up to 2^53 exactly",
          clo_document_print(d, "clotho", &text));
    clo_document_destroy(d);

    task.work_ns = 1;
    ok(clo_graph_create("g", &graph));
    ok(clo_graph_add_task(graph, &task, NULL));
    ok(clo_graph_kind(graph, "k", &kind));
    ok(clo_graph_set_body(graph, 0, kind, clo_body_spin));
    ok(clo_graph_seal(graph));
    ok(clo_document_create(graph, NULL, &d));
    fails(CLO_ERR_UNSUPPORTED, "task 'big' has C functions for single kinds, which a file cannot hold",
          clo_document_print(d, "clotho", &text));
    clo_document_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_of_a_task_is_read),
        cmocka_unit_test(a_command_line_is_copied_into_the_document),
        cmocka_unit_test(edges_go_by_name_or_index),
        cmocka_unit_test(the_platform_is_read_whole),
        cmocka_unit_test(executors_from_64_on_read_and_write),
        cmocka_unit_test(a_number_of_executors_makes_a_uniform_platform),
        cmocka_unit_test(what_is_written_reads_back_and_is_written_the_same),
        cmocka_unit_test(links_in_pieces_read_back),
        cmocka_unit_test(the_scale_multiplies_times_and_bytes_only),
        cmocka_unit_test(the_body_of_the_config_is_for_tasks_that_name_none),
        cmocka_unit_test(malformed_heads_are_refused),
        cmocka_unit_test(malformed_tasks_are_refused),
        cmocka_unit_test(malformed_parts_of_tasks_are_refused),
        cmocka_unit_test(instances_that_multiply_beyond_all_memory_are_refused),
        cmocka_unit_test(malformed_edges_are_refused),
        cmocka_unit_test(malformed_pieces_of_links_are_refused),
        cmocka_unit_test(malformed_ports_are_refused),
        cmocka_unit_test(malformed_platforms_are_refused),
        cmocka_unit_test(graphs_that_json_would_change_are_not_written),
        cmocka_unit_test(a_platform_of_one_executor_is_written_without_links),
    };

    return cmocka_run_group_tests_name("io_clotho", tests, NULL, NULL);
}
