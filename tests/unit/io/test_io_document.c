#define _POSIX_C_SOURCE 200809L
#include "bad.h"
#include "base/memory.h"
#include "fault.h"
#include "graph/graph.h"
#include "io/cluster/cluster.h"
#include "io/text/parse.h"
#include "io/text/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* One small file of each format. */
static const char *const files[] = {
    "{\"format\": \"clotho.graph/1\", \"name\": \"g\", \"resources\": [\"m\"], \"kinds\": [\"k\"], \"tasks\": "
    "[{\"name\": \"a\", \"work_ns\": 5, "
    "\"times\": {\"k\": 3}, \"demand\": {\"m\": 1}, \"executors\": [1]}, {\"command\": [\"true\", \"x\"], "
    "\"directory\": \"/\"}], "
    "\"edges\": [{\"from\": \"a\", \"to\": 1, \"bytes\": 2}], \"platform\": {\"machines\": [[4]], \"executors\": "
    "[{\"kind\": \"k\"}, "
    "{\"kind\": \"k\", \"name\": \"e\", \"slot\": true, \"depth\": 3}], \"latency_ns\": 3, \"bandwidth_bytes_per_ns\": "
    "[[null, 1], [2, null]]}}\n",
    "{\"name\": \"w\", \"schemaVersion\": \"1.5\", \"workflow\": {\"specification\": {\"tasks\": [{\"name\": \"a\", "
    "\"id\": \"a\", \"parents\": [], "
    "\"children\": [\"b\"], \"inputFiles\": [], \"outputFiles\": [\"f\"]}, {\"name\": \"b\", \"id\": \"b\", "
    "\"parents\": [\"a\"], \"children\": [], "
    "\"inputFiles\": [\"f\"], \"outputFiles\": []}], \"files\": [{\"id\": \"f\", \"sizeInBytes\": 9}]}, \"execution\": "
    "{\"tasks\": ["
    "{\"id\": \"a\", \"runtimeInSeconds\": 1, \"memoryInBytes\": 4}, {\"id\": \"b\", \"runtimeInSeconds\": 2, "
    "\"memoryInBytes\": 4}]}}}\n",
    "{\"schemaVersion\": \"1.4\", \"workflow\": {\"tasks\": [{\"name\": \"a\", \"runtimeInSeconds\": 1, \"files\": "
    "[{\"name\": \"f\", \"link\": \"output\", "
    "\"sizeInBytes\": 8}]}, {\"name\": \"b\", \"parents\": [\"a\"], \"runtimeInSeconds\": 1}]}}",
    "{\"name\": \"s\", \"tasks\": [{\"name\": \"a\", \"cost\": 1}, {\"name\": \"b\", \"cost\": 2}], \"edges\": "
    "[{\"src\": \"a\", \"dst\": \"b\", \"size\": 3}], "
    "\"nodes\": [{\"name\": \"n\", \"speed\": 1}, {\"name\": \"m\", \"speed\": 2}], \"links\": [{\"a\": \"n\", \"b\": "
    "\"m\", \"bandwidth\": 2}]}",
    "{\"processors\": [\"p\", \"q\"], \"tasks\": [\"a\"], \"computation_cost\": [[1, 2]], \"edges\": []}",
    "{\"name\": \"p\", \"n\": 2, \"capacity\": [3, 1], \"duration\": [2, 5], \"demand\": [[0, 0], [2, 1]], "
    "\"successors\": [[1], []], \"lb\": 7, \"ub\": 7}",
    "{\"name\": \"s\", \"n\": 2, \"proc_time\": [4, 0], \"pred\": [[], [0]], \"optimal\": {\"2\": 4}}",
    "{\"name\": \"t\", \"n\": 2, \"capacity\": [9], \"duration_us\": [4, 1], \"demand\": [[3], [9]], \"edges\": [[1, "
    "0]]}",
    "{\"job\": \"j\", \"tasks\": [{\"id\": 4, \"name\": \"M1\", \"parents\": [], \"instances\": 3, \"dur\": 1.5, "
    "\"cpu\": 0.5, \"mem\": 0.2}, {\"id\": 2, \"name\": \"R2\", \"parents\": [4], \"instances\": 1, \"dur\": 1, "
    "\"cpu\": 1, \"mem\": 0.3}]}",
    "digraph g { node [work_ns=4]; a [class=float]; a -> {b; c} -> d [bytes=\"9\"]; /* end */ }\n",
};
static const char *const formats[] = {"clotho.graph/1", "wfformat-1.5", "wfformat-1.4", "saga",    "cost-table",
                                      "psplib",         "stg",          "tpch-packing", "alibaba", "dot"};
#define FILES (sizeof files / sizeof files[0])

static void every_format_is_recognised_by_its_content(void **state)
{
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        clo_document *d = parsed(files[i]);
        assert_string_equal(clo_document_format(d), formats[i]);
        assert_true(clo_document_graph(d)->sealed);
        clo_document_destroy(d);
    }
}

static void what_is_no_graph_is_refused(void **state)
{
    static const bad rows[] = {
        {"", CLO_ERR_FORMAT, "f:1: the file is empty; write a graph into it"},
        {" \n\n", CLO_ERR_FORMAT, "f:1: the file is empty; write a graph into it"},
        {"\n\nhello", CLO_ERR_FORMAT, "f:3: unknown format; convert it to one of those that are read: " FORMATS_READ},
        {"[]", CLO_ERR_FORMAT, "f:1: the file is an array; write an object {...} of a known format"},
        {"\n{}", CLO_ERR_FORMAT,
         "f:2: the file is JSON of an unknown format; a graph of our own begins with {\"format\": \"clotho.graph/1\"; "
         "formats that "
         "are read: " FORMATS_READ},
        {"{\"format\": 1}", CLO_ERR_FORMAT,
         "f:1: format is 1; write \"clotho.graph/1\", the one format of this kind that is known"},
        {"{\"tasks\": [}", CLO_ERR_FORMAT,
         "f:1: expected a value here: an object, an array, a string, a number, true, false or null"},
        {"\xff", CLO_ERR_FORMAT, "f:1: byte 0xff is not valid UTF-8; save the file as UTF-8"},
    };

    (void)state;
    REFUSE(rows);
}

static void ten_million_levels_are_one_clean_error(void **state)
{
    size_t bytes = 10000000;
    char *text = test_malloc(bytes);
    clo_document *d;

    (void)state;
    memset(text, '[', bytes);
    fails(CLO_ERR_FORMAT, "deep:1: nested deeper than 64 levels; no format of ours does that",
          clo_document_parse("deep", text, bytes, NULL, &d));
    for (size_t i = 0; i + 4 < bytes; i += 5)
        memcpy(text + i, "{\"a\":", 5);
    fails(CLO_ERR_FORMAT, "deep:1: nested deeper than 64 levels; no format of ours does that",
          clo_document_parse("deep", text, bytes, NULL, &d));
    test_free(text);
}

/* The address sanitizer sees a read behind the end: each piece is a block of its own. */
static void a_file_cut_anywhere_is_a_clean_error(void **state)
{
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        size_t whole = strlen(files[i]);
        while (files[i][whole - 1] == '\n')
            whole--;
        for (size_t bytes = 0; bytes < whole; bytes++) {
            char *piece = test_malloc(bytes > 0 ? bytes : 1);
            clo_document *d = NULL;
            memcpy(piece, files[i], bytes);
            clo_status status = clo_document_parse("cut", piece, bytes, NULL, &d);
            if (status != CLO_ERR_FORMAT || strncmp(clo_last_error(), "cut:1: ", 7) != 0)
                fail_msg("%zu bytes of file %zu: %d %s", bytes, i, status, clo_last_error());
            assert_null(clo_document_graph(d));
            test_free(piece);
        }
    }
}

/* Any byte may be anything: no crash, no leak, and an error line where it fails. */
static void a_file_with_one_wrong_byte_is_handled(void **state)
{
    static const char bytes[] = "\0\"{}[],:0-9ae.\\\x80\xff \n";
    char *text = NULL;

    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        text = strdup(files[i]);
        for (size_t at = 0; at < strlen(files[i]); at++) {
            for (size_t b = 0; b < sizeof bytes - 1; b++) {
                clo_document *d = NULL;
                text[at] = bytes[b];
                clo_status status = clo_document_parse("f", text, strlen(files[i]), NULL, &d);
                assert_true((status == CLO_OK) == (clo_document_graph(d) != NULL));
                assert_true(status == CLO_OK || strncmp(clo_last_error(), "f", 1) == 0);
                clo_document_destroy(d);
            }
            text[at] = files[i][at];
        }
        free(text);
    }
}

static void configs_are_checked(void **state)
{
    clo_load_config config = CLO_LOAD_CONFIG_INIT;
    clo_document *d;

    (void)state;
    config.scale = -1;
    fails(CLO_ERR_ARGUMENT, "scale is -1; use a number > 0",
          clo_document_parse("f", files[0], strlen(files[0]), &config, &d));
    config.scale = 1.0 / 0.0;
    fails(CLO_ERR_ARGUMENT, "scale is inf; use a number > 0",
          clo_document_parse("f", files[0], strlen(files[0]), &config, &d));
    config.scale = 0.0 / 0.0;
    fails(CLO_ERR_ARGUMENT, "use a number > 0", clo_document_parse("f", files[0], strlen(files[0]), &config, &d));
    config.scale = 1e18;
    fails(CLO_ERR_LIMIT, "f:1: tasks[0].work_ns is 5, with scale 1e+18 more than 146 years; write a smaller time",
          clo_document_parse("f", files[0], strlen(files[0]), &config, &d));
    config.scale = 1;
    config.body = "sing";
    fails(CLO_ERR_ARGUMENT, "body 'sing' is unknown; use spin, memory or command",
          clo_document_parse("f", files[0], strlen(files[0]), &config, &d));
    config.size = 1;
    fails(CLO_ERR_ARGUMENT, "clo_load_config.size is 1",
          clo_document_parse("f", files[0], strlen(files[0]), &config, &d));
    fails(CLO_ERR_ARGUMENT, "clo_document_parse: an argument is NULL", clo_document_parse("f", NULL, 0, NULL, &d));
    fails(CLO_ERR_ARGUMENT, "clo_document_load: path or out is NULL", clo_document_load(NULL, NULL, &d));
    clo_document_destroy(NULL);
}

static void formats_are_listed(void **state)
{
    clo_entry entry = CLO_ENTRY_INIT;
    uint32_t count = 0;

    (void)state;
    for (; clo_registry_entry("formats", count, &entry); count++) {
        assert_true(strlen(entry.summary) > 10);
        assert_true(strcmp(entry.directions, "r") == 0 || strcmp(entry.directions, "rw") == 0);
    }
    assert_int_equal(count, 14);
    assert_string_equal(entry.name, "dot");
}

static void documents_are_saved_in_the_format_of_their_ending(void **state)
{
    clo_document *d = parsed(files[1]), *e;
    char temporary[] = "/tmp/clotho_io_XXXXXX", path[64];
    static const char *const names[] = {"g.dot", "g.gv", "g.json", "dot"}, *const wanted[] = {"dot", "dot",
                                                                                              "clotho.graph/1",
                                                                                              "clotho.graph/1"};

    (void)state;
    assert_non_null(mkdtemp(temporary));
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", temporary, names[i]);
        ok(clo_document_save(d, NULL, path));
        ok(clo_document_load(path, NULL, &e));
        assert_string_equal(clo_document_format(e), wanted[i]);
        clo_document_destroy(e);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/no/way.json", temporary);
    fails(CLO_ERR_IO, path, clo_document_save(d, NULL, path));
    fails(CLO_ERR_IO, path, clo_document_load(path, NULL, &e));
    fails(CLO_ERR_IO, "/dev/full: ", clo_document_save(d, NULL, "/dev/full"));
    fails(CLO_ERR_ARGUMENT, "format 'xml' is unknown; use clotho, dot, wfformat or saga",
          clo_document_save(d, "xml", path));
    fails(CLO_ERR_ARGUMENT, "clo_document_save: path is NULL", clo_document_save(d, NULL, NULL));
    fails(CLO_ERR_ARGUMENT, "clo_document_save: document is NULL", clo_document_save(NULL, NULL, path));
    clo_document_destroy(d);
    rmdir(temporary);
}

/* Reads the example of a workload, with the two files that it names beside it. */
static void read_workload_example(const char *text, size_t bytes)
{
    static const char queries[] = "{\"format\": \"clotho.graph/1\", \"name\": \"q7\", \"tasks\": [{}]}\n",
                      camera[] = "digraph camera { a -> b }";
    char folder[] = "/tmp/clotho_io_XXXXXX", paths[3][64];
    clo_workload *w;

    assert_non_null(mkdtemp(folder));
    snprintf(paths[0], sizeof paths[0], "%s/w.jsonl", folder);
    snprintf(paths[1], sizeof paths[1], "%s/queries.jsonl", folder);
    snprintf(paths[2], sizeof paths[2], "%s/camera.dot", folder);
    ok(clo_file_write(paths[0], text, bytes));
    ok(clo_file_write(paths[1], queries, sizeof queries - 1));
    ok(clo_file_write(paths[2], camera, sizeof camera - 1));
    ok(clo_workload_load(paths[0], NULL, &w));
    assert_int_equal(clo_workload_jobs(w), 4);
    clo_workload_destroy(w);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(unlink(paths[i]), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* The example of a cluster, with the platform file that it names beside it. */
static void read_cluster_example(const char *text, size_t bytes)
{
    char folder[] = "/tmp/clotho-XXXXXX", paths[2][64], *xml;
    size_t xml_bytes;
    clo_cluster *c;
    clo_platform *whole;

    assert_non_null(mkdtemp(folder));
    snprintf(paths[0], sizeof paths[0], "%s/lab.json", folder);
    snprintf(paths[1], sizeof paths[1], "%s/b.xml", folder);
    ok(clo_file_read(CLO_SOURCE "/platforms/zcu102.xml", 1 << 24, &xml, &xml_bytes));
    ok(clo_file_write(paths[0], text, bytes));
    ok(clo_file_write(paths[1], xml, xml_bytes));
    ok(clo_cluster_load(paths[0], &c));
    assert_int_equal(clo_cluster_machines(c), 3);
    assert_string_equal(clo_cluster_machine_name(c, 1), "b");
    assert_int_equal(clo_platform_executors(c->own[2]), 4);
    uint32_t a = c->first_executor[0], b = c->first_executor[1], last = c->first_executor[2];
    ok(clo_cluster_open_platform(paths[0], &whole));
    assert_int_equal(clo_platform_executors(whole), c->first_executor[3]);
    assert_int_equal(clo_platform_transfer_ns(whole, 1000, a, b), 2000 + 100);
    assert_int_equal(clo_platform_transfer_ns(whole, 1000, b, a), 2000 + 100);
    assert_int_equal(clo_platform_transfer_ns(whole, 65536, a, last), 25000 + 65536);
    assert_int_equal(clo_platform_transfer_ns(whole, 65537, a, last), 25000 + 65536 + 100000); /* the step */
    clo_platform_destroy(whole);
    clo_cluster_destroy(c);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(unlink(paths[i]), 0);
    assert_int_equal(rmdir(folder), 0);
    clo_free(xml);
}

/* All examples of docs/FORMATS.md but the cluster, the plan, the workload and the log are graphs. */
static void the_examples_of_the_documentation_are_read(void **state)
{
    static const char *const wanted[] = {
        "clotho.graph/1", "clotho.graph/1", "cluster",      NULL,      "workload", NULL,
        "node-link",      "psplib",         "tpch-packing", "alibaba", "tpch",     "rpc"};
    char *text;
    size_t bytes;
    clo_document *d;

    (void)state;
    ok(clo_file_read(CLO_SOURCE "/docs/FORMATS.md", 1 << 20, &text, &bytes));
    char *at = text;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        char *begin = strstr(at, "```json\n") + 8, *end = strstr(begin, "\n```\n");
        at = end + 5;
        if (wanted[i] != NULL && strcmp(wanted[i], "workload") == 0)
            read_workload_example(begin, (size_t)(end - begin));
        if (wanted[i] != NULL && strcmp(wanted[i], "cluster") == 0)
            read_cluster_example(begin, (size_t)(end - begin));
        if (wanted[i] == NULL || strcmp(wanted[i], "workload") == 0 || strcmp(wanted[i], "cluster") == 0)
            continue;
        ok(clo_document_parse("FORMATS.md", begin, (size_t)(end - begin), NULL, &d));
        assert_string_equal(clo_document_format(d), wanted[i]);
        clo_document_destroy(d);
    }
    assert_null(strstr(at, "```json"));
    clo_free(text);
}

/* ---- every allocation fails once: ours, and cJSON's through its hooks ---- */

typedef struct print_job {
    const clo_document *document;
    const char *format;
} print_job;

static clo_status print_and_drop(void *context)
{
    const print_job *job = context;
    char *text;
    clo_status status = clo_document_print(job->document, job->format, &text);

    if (status == CLO_OK)
        clo_free(text);
    return status;
}

static clo_status plan_and_drop(void *context)
{
    const clo_cost *cost = context;
    static const clo_placement rows[] = {{.task = 0, .executor = 1, .finish_ns = 3}, {.task = 1, .finish_ns = 3}};
    clo_plan *plan, *again;
    char *text;
    clo_status status = clo_plan_from_placements(cost, NULL, rows, 2, &plan);

    if (status != CLO_OK)
        return status;
    status = clo_plan_print(plan, cost, &text);
    clo_plan_destroy(plan);
    if (status != CLO_OK)
        return status;
    status = clo_plan_parse("f", text, strlen(text), cost, &again);
    if (status == CLO_OK)
        clo_plan_destroy(again);
    clo_free(text);
    return status;
}

static void *counted_malloc(size_t bytes)
{
    return malloc(bytes); /* this program's malloc, which fault.c can make fail */
}

static void memory_may_fail_anywhere(void **state)
{
    cJSON_Hooks hooks = {.malloc_fn = counted_malloc, .free_fn = free};
    static const char *const written[] = {"clotho", "dot", "wfformat", "saga"};

    (void)state;
    cJSON_InitHooks(&hooks);
    for (size_t i = 0; i < FILES; i++)
        assert_true(fault_each(parse_and_drop, &(const char *){files[i]}) > 10);
    clo_document *d = parsed(files[3]);
    for (size_t f = 0; f < 4; f++) {
        print_job job = {d, written[f]};
        assert_true(fault_each(print_and_drop, &job) > 0);
    }
    clo_cost *cost;
    ok(clo_cost_create(clo_document_graph(d), clo_document_platform(d), &cost));
    assert_true(fault_each(plan_and_drop, cost) > 10);
    clo_cost_destroy(cost);
    clo_document_destroy(d);
    cJSON_InitHooks(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_is_recognised_by_its_content),
        cmocka_unit_test(what_is_no_graph_is_refused),
        cmocka_unit_test(ten_million_levels_are_one_clean_error),
        cmocka_unit_test(a_file_cut_anywhere_is_a_clean_error),
        cmocka_unit_test(a_file_with_one_wrong_byte_is_handled),
        cmocka_unit_test(configs_are_checked),
        cmocka_unit_test(formats_are_listed),
        cmocka_unit_test(documents_are_saved_in_the_format_of_their_ending),
        cmocka_unit_test(the_examples_of_the_documentation_are_read),
        cmocka_unit_test(memory_may_fail_anywhere),
    };

    return cmocka_run_group_tests_name("io_document", tests, NULL, NULL);
}
