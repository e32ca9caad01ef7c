/* The real workloads beside the repository: counts as their tables say, and the numbers of the published examples. */
#define _POSIX_C_SOURCE 200809L
#include "../fuzz/same.h"
#include "base/memory.h"
#include "io/reader.h"
#include "support.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static clo_document load(const char *path)
{
    clo_document d;

    ok(clo_document_load(path, NULL, &d));
    return d;
}

/* Own JSON keeps a document whole; `more` keeps its structure. */
static void check_round_trip(const clo_document *d, const char *format)
{
    clo_document e;
    char *text;

    ok(clo_document_print(d, format, &text));
    ok(clo_document_parse("again", text, strlen(text), NULL, &e));
    if (strcmp(format, "clotho") == 0) {
        assert_true(same_graph(d->graph, e.graph));
        assert_true(same_platform(d->platform, e.platform));
        assert_true(d->unit_ns == e.unit_ns);
    }
    assert_int_equal(clo_graph_tasks(d->graph), clo_graph_tasks(e.graph));
    assert_int_equal(clo_graph_edges(d->graph), clo_graph_edges(e.graph));
    clo_free(text);
    clo_document_destroy(&e);
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
        print_message("no workloads at " CLO_DATA "; skipped\n");
        skip();
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
        clo_document d = load(path);
        assert_int_equal(clo_graph_tasks(d.graph), tasks);
        assert_int_equal(clo_graph_edges(d.graph), edges);
        assert_true(total_work_s(d.graph) > total * 0.999999 - 0.001 &&
                    total_work_s(d.graph) < total * 1.000001 + 0.001);
        check_round_trip(&d, "clotho");
        check_round_trip(&d, "wfformat");
        check_round_trip(&d, "dot");
        clo_document_destroy(&d);
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
            skip();
        clo_document old = load(path);
        snprintf(path, sizeof path, CLO_DATA "/wfformat/%s", names[i]);
        clo_document new = load(path);
        double bytes[2] = {0, 0};
        clo_edge edge;

        assert_int_equal(clo_graph_tasks(old.graph), clo_graph_tasks(new.graph));
        assert_int_equal(clo_graph_edges(old.graph), clo_graph_edges(new.graph));
        for (uint32_t e = 0; e < clo_graph_edges(old.graph); e++) {
            ok(clo_graph_edge(old.graph, e, &edge));
            bytes[0] += (double)edge.bytes;
            ok(clo_graph_edge(new.graph, e, &edge));
            bytes[1] += (double)edge.bytes;
        }
        assert_true(bytes[0] > 0 && bytes[0] == bytes[1]);
        assert_true(total_work_s(old.graph) > total_work_s(new.graph) * 0.99999);
        assert_true(total_work_s(old.graph) < total_work_s(new.graph) * 1.00001);
        clo_document_destroy(&old);
        clo_document_destroy(&new);
    }
}

/* Counts from the file's own name: ..._n12_p3_... */
static void saga_files_have_the_tasks_and_nodes_of_their_names(void **state)
{
    glob_t found;
    int files = 0;

    (void)state;
    if (glob(CLO_DATA "/saga_reference/[0-9]*.json", 0, NULL, &found) != 0)
        skip();
    for (size_t i = 0; i < found.gl_pathc; i++) {
        unsigned tasks, nodes;
        clo_document d = load(found.gl_pathv[i]);

        assert_int_equal(sscanf(strstr(found.gl_pathv[i], "_n"), "_n%u_p%u", &tasks, &nodes), 2);
        assert_string_equal(d.format, "saga");
        assert_int_equal(clo_graph_tasks(d.graph), tasks);
        assert_int_equal(clo_platform_executors(d.platform), nodes);
        check_round_trip(&d, "clotho");
        check_round_trip(&d, "saga");
        check_round_trip(&d, "dot");
        clo_document_destroy(&d);
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
            skip();
        clo_document d = load(rows[i].path);
        assert_string_equal(d.format, "cost-table");
        assert_int_equal(clo_graph_tasks(d.graph), 10);
        assert_int_equal(clo_graph_edges(d.graph), 15);
        ok(clo_cost_create(d.graph, d.platform, &cost));
        clo_cost_rank_u(cost, ranks);
        double rank = (double)ranks[0] / d.unit_ns;
        if (rank < rows[i].rank - 0.001 || rank > rows[i].rank + 0.001)
            fail_msg("%s: rank_u %g, not %g", rows[i].path, rank, rows[i].rank);
        clo_cost_destroy(cost);
        clo_document_destroy(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workflows_have_the_tasks_edges_and_times_of_their_index),
        cmocka_unit_test(both_versions_of_a_workflow_give_the_same_graph),
        cmocka_unit_test(saga_files_have_the_tasks_and_nodes_of_their_names),
        cmocka_unit_test(cost_tables_give_the_published_ranks),
    };

    return cmocka_run_group_tests_name("io_data", tests, NULL, NULL);
}
