/* The real workloads beside the repository: counts as their tables say, and the numbers of the published examples. */
#define _POSIX_C_SOURCE 200809L
#include "../fuzz/same.h"
#include "base/memory.h"
#include "io/text/reader.h"
#include "support.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MEND "put the workloads there, or: cmake --preset release -DCLOTHO_DATA=FOLDER"

static clo_document *load(const char *path)
{
    clo_document *d;

    ok(clo_document_load(path, NULL, &d));
    return d;
}

/* Own JSON keeps a document whole; `more` keeps its structure. */
static void check_round_trip(const clo_document *d, const char *format)
{
    clo_document *e;
    char *text;

    ok(clo_document_print(d, format, &text));
    ok(clo_document_parse("again", text, strlen(text), NULL, &e));
    if (strcmp(format, "clotho") == 0) {
        assert_true(same_graph(clo_document_graph(d), clo_document_graph(e)));
        assert_true(same_platform(clo_document_platform(d), clo_document_platform(e)));
        assert_true(clo_document_unit_ns(d) == clo_document_unit_ns(e));
    }
    assert_int_equal(clo_graph_tasks(clo_document_graph(d)), clo_graph_tasks(clo_document_graph(e)));
    assert_int_equal(clo_graph_edges(clo_document_graph(d)), clo_graph_edges(clo_document_graph(e)));
    clo_free(text);
    clo_document_destroy(e);
}

static double total_work_s(const clo_graph *graph)
{
    double sum = 0;
    clo_task task;

    for (uint32_t t = 0; t < clo_graph_tasks(graph); t++) {
        ok(clo_graph_task(graph, t, &task));
        sum += (double)task.work_ns / 1e9;
    }
    return sum;
}

static void workflows_have_the_tasks_edges_and_times_of_their_index(void **state)
{
    FILE *index = fopen(CLO_DATA "/wfformat/index.csv", "r");
    char line[512], file[200], schema[20], path[1024];
    int rows = 0;

    (void)state;
    if (index == NULL) {
        skip_because("no workloads at " CLO_DATA, MEND);
    }
    assert_non_null(fgets(line, sizeof line, index));
    while (fgets(line, sizeof line, index) != NULL) {
        unsigned tasks, edges, depth, files;
        double bytes, critical, total;

        assert_int_equal(sscanf(line, "%199[^,],%19[^,],%u,%u,%u,%u,%lf,%lf,%lf", file, schema, &tasks, &edges, &depth,
                                &files, &bytes, &critical, &total),
                         9);
        snprintf(path, sizeof path, CLO_DATA "/wfformat/%s%s", strcmp(schema, "1.4") == 0 ? "schema1.4/" : "", file);
        if (access(path, R_OK) != 0)
            continue;
        clo_document *d = load(path);
        assert_int_equal(clo_graph_tasks(clo_document_graph(d)), tasks);
        assert_int_equal(clo_graph_edges(clo_document_graph(d)), edges);
        assert_true(total_work_s(clo_document_graph(d)) > total * 0.999999 - 0.001 &&
                    total_work_s(clo_document_graph(d)) < total * 1.000001 + 0.001);
        check_round_trip(d, "clotho");
        check_round_trip(d, "wfformat");
        check_round_trip(d, "dot");
        clo_document_destroy(d);
        rows++;
    }
    fclose(index);
    assert_true(rows >= 15);
}

/* The same run in both versions of the schema is the same graph, up to the names. */
static void both_versions_of_a_workflow_give_the_same_graph(void **state)
{
    static const char *const names[] = {"epigenomics-chameleon-hep-1seq-100k-001.json",
                                        "montage-chameleon-2mass-005d-001.json"};
    char path[1024];

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, CLO_DATA "/wfformat/schema1.4/%s", names[i]);
        if (access(path, R_OK) != 0)
            skip_because("no workloads at " CLO_DATA, MEND);
        clo_document *old = load(path);
        snprintf(path, sizeof path, CLO_DATA "/wfformat/%s", names[i]);
        clo_document *new = load(path);
        double bytes[2] = {0, 0};
        clo_edge edge;

        assert_int_equal(clo_graph_tasks(clo_document_graph(old)), clo_graph_tasks(clo_document_graph(new)));
        assert_int_equal(clo_graph_edges(clo_document_graph(old)), clo_graph_edges(clo_document_graph(new)));
        for (uint32_t e = 0; e < clo_graph_edges(clo_document_graph(old)); e++) {
            ok(clo_graph_edge(clo_document_graph(old), e, &edge));
            bytes[0] += (double)edge.bytes;
            ok(clo_graph_edge(clo_document_graph(new), e, &edge));
            bytes[1] += (double)edge.bytes;
        }
        assert_true(bytes[0] > 0 && bytes[0] == bytes[1]);
        assert_true(total_work_s(clo_document_graph(old)) > total_work_s(clo_document_graph(new)) * 0.99999);
        assert_true(total_work_s(clo_document_graph(old)) < total_work_s(clo_document_graph(new)) * 1.00001);
        clo_document_destroy(old);
        clo_document_destroy(new);
    }
}

/* Counts from the file's own name: ..._n12_p3_... */
static void saga_files_have_the_tasks_and_nodes_of_their_names(void **state)
{
    glob_t found;
    int files = 0;

    (void)state;
    if (glob(CLO_DATA "/saga_reference/[0-9]*.json", 0, NULL, &found) != 0)
        skip_because("no workloads at " CLO_DATA, MEND);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        unsigned tasks, nodes;
        clo_document *d = load(found.gl_pathv[i]);

        assert_int_equal(sscanf(strstr(found.gl_pathv[i], "_n"), "_n%u_p%u", &tasks, &nodes), 2);
        assert_string_equal(clo_document_format(d), "saga");
        assert_int_equal(clo_graph_tasks(clo_document_graph(d)), tasks);
        assert_int_equal(clo_platform_executors(clo_document_platform(d)), nodes);
        check_round_trip(d, "clotho");
        check_round_trip(d, "saga");
        check_round_trip(d, "dot");
        clo_document_destroy(d);
        files++;
    }
    globfree(&found);
    assert_int_equal(files, 36);
}

/* rank_u of the first task, as printed in the papers: 108 (Topcuoglu 2002, table 3) and 169 (Arabnejad 2014,
 * recomputed from its table): all times, all links and the mean convention at once. */
static void cost_tables_give_the_published_ranks(void **state)
{
    static const struct {
        const char *path;
        double rank;
    } rows[] = {{CLO_DATA "/saga_reference/topcuoglu2002.json", 108},
                {CLO_DATA "/saga_reference/arabnejad2014.json", 169}};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        int64_t ranks[10];
        clo_cost *cost;

        if (access(rows[i].path, R_OK) != 0)
            skip_because("no workloads at " CLO_DATA, MEND);
        clo_document *d = load(rows[i].path);
        assert_string_equal(clo_document_format(d), "cost-table");
        assert_int_equal(clo_graph_tasks(clo_document_graph(d)), 10);
        assert_int_equal(clo_graph_edges(clo_document_graph(d)), 15);
        ok(clo_cost_create(clo_document_graph(d), clo_document_platform(d), &cost));
        clo_cost_rank_u(cost, ranks);
        double rank = (double)ranks[0] / clo_document_unit_ns(d);
        if (rank < rows[i].rank - 0.001 || rank > rows[i].rank + 0.001)
            fail_msg("%s: rank_u %g, not %g", rows[i].path, rank, rows[i].rank);
        clo_cost_destroy(cost);
        clo_document_destroy(d);
    }
}

/* Lines of a file of the data sets, as its README or `wc` tells, and how many of them exceed a limit of ours. */
typedef struct set {
    const char *path, *format;
    size_t lines, beyond;
} set;

static void read_set(const set *s)
{
    clo_documents *documents;
    clo_document *d;
    size_t beyond = 0;

    ok(clo_documents_open(s->path, NULL, &documents));
    assert_int_equal(clo_documents_count(documents), s->lines);
    for (size_t i = 0; i < s->lines; i++) {
        clo_status status = clo_documents_next(documents, &d);
        beyond += status == CLO_ERR_LIMIT;
        if (status == CLO_ERR_LIMIT)
            continue;
        ok(status);
        assert_string_equal(clo_document_format(d), s->format);
        assert_int_equal(clo_document_line(d), i + 1);
        if (i % 16 == 0)
            check_round_trip(d, "clotho");
        clo_document_destroy(d);
    }
    assert_int_equal(beyond, s->beyond);
    clo_documents_close(documents);
}

static void every_line_of_the_data_sets_is_read(void **state)
{
    static const set sets[] = {
        {CLO_DATA "/psplib/j30.jsonl", "psplib", 288, 0},
        {CLO_DATA "/psplib/j60.jsonl", "psplib", 288, 0},
        {CLO_DATA "/psplib/j90.jsonl", "psplib", 288, 0},
        {CLO_DATA "/psplib/j120.jsonl", "psplib", 360, 0},
        {CLO_DATA "/stg/stg50.jsonl", "stg", 108, 0},
        {CLO_DATA "/stg/stg100.jsonl", "stg", 108, 0},
        {CLO_DATA "/tpch_packing/tpch50.jsonl", "tpch-packing", 5, 0},
        {CLO_DATA "/tpch_packing/tpch100.jsonl", "tpch-packing", 5, 0},
        {CLO_DATA "/tpch_packing/tpch150.jsonl", "tpch-packing", 5, 0},
        {CLO_DATA "/alibaba/v2018_dag_medium3690.jsonl", "alibaba", 2272, 0},
        {CLO_DATA "/alibaba/v2018_dag_sample6600.jsonl", "alibaba", 3877, 0},
        {CLO_DATA "/tpch/tpch_2g.jsonl", "tpch", 22, 0},
        {CLO_DATA "/tpch/tpch_100g.jsonl", "tpch", 22, 0},
        {CLO_DATA "/rpc_callgraph/alibaba_call_graphs.jsonl", "rpc", 4035, 0},
    };
    size_t found = 0;

    (void)state;
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        if (access(sets[i].path, R_OK) != 0)
            continue;
        read_set(&sets[i]);
        found++;
    }
    if (found == 0) {
        skip_because("no workloads at " CLO_DATA, MEND);
    }
}

static void same_tasks(const clo_document *a, const clo_document *b)
{
    clo_task left, right;

    assert_int_equal(clo_graph_tasks(clo_document_graph(a)), clo_graph_tasks(clo_document_graph(b)));
    assert_int_equal(clo_graph_edges(clo_document_graph(a)), clo_graph_edges(clo_document_graph(b)));
    for (uint32_t t = 0; t < clo_graph_tasks(clo_document_graph(a)); t++) {
        ok(clo_graph_task(clo_document_graph(a), t, &left));
        ok(clo_graph_task(clo_document_graph(b), t, &right));
        assert_int_equal(left.work_ns, right.work_ns);
        assert_memory_equal(left.demand, right.demand, sizeof left.demand);
    }
}

/* An original file and the instance of the same name in the JSON Lines: "FOLDER/100_rand0000.stg" is "100/rand0000". */
static void compare_forms(const char *text, const char *lines, const char *name)
{
    clo_load_config config = CLO_LOAD_CONFIG_INIT;
    clo_document *a = load(text), *b;

    config.instance = name;
    clo_status status = clo_document_load(lines, &config, &b);
    if (status == CLO_OK) { /* else: the sample is of the part that is kept aside */
        same_tasks(a, b);
        if (clo_document_platform(a) != NULL)
            assert_true(same_platform(clo_document_platform(a), clo_document_platform(b)));
        clo_document_destroy(b);
    } else {
        assert_int_equal(status, CLO_ERR_ARGUMENT);
    }
    clo_document_destroy(a);
}

static void the_original_files_are_the_lines_of_their_names(void **state)
{
    glob_t found;
    char lines[1024], name[64];

    (void)state;
    if (glob(CLO_DATA "/psplib/sm_samples/*.sm", 0, NULL, &found) != 0)
        skip_because("no workloads at " CLO_DATA, MEND);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *file = strrchr(found.gl_pathv[i], '/') + 1;
        size_t size = strncmp(file, "j120", 4) == 0 ? 4 : 3;
        snprintf(name, sizeof name, "%.*s", (int)strlen(file) - 3, file);
        snprintf(lines, sizeof lines, CLO_DATA "/psplib/%.*s.jsonl", (int)size, file);
        compare_forms(found.gl_pathv[i], lines, name);
    }
    globfree(&found);
    assert_int_equal(glob(CLO_DATA "/stg/*.stg", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *file = strrchr(found.gl_pathv[i], '/') + 1;
        int size = (int)strcspn(file, "_");
        snprintf(name, sizeof name, "%.*s/%.8s", size, file, file + size + 1);
        snprintf(lines, sizeof lines, CLO_DATA "/stg/stg%.*s.jsonl", size, file);
        compare_forms(found.gl_pathv[i], lines, name);
    }
    globfree(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workflows_have_the_tasks_edges_and_times_of_their_index),
        cmocka_unit_test(both_versions_of_a_workflow_give_the_same_graph),
        cmocka_unit_test(saga_files_have_the_tasks_and_nodes_of_their_names),
        cmocka_unit_test(cost_tables_give_the_published_ranks),
        cmocka_unit_test(every_line_of_the_data_sets_is_read),
        cmocka_unit_test(the_original_files_are_the_lines_of_their_names),
    };

    return cmocka_run_group_tests_name("io_data", tests, NULL, NULL);
}
