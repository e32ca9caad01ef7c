/* The data sets of jobs beside the repository as workloads: counts as their READMEs say, figures as their tables say,
 * and the memory of long streams. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"
#include "workload/workload.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MEND "put the workloads there, or: cmake --preset release -DCLOTHO_DATA=FOLDER"
#define STREAM_JOBS 10000
#define STREAM_KB_MAX (50L * 1024)
#define ALIBABA_KB_MAX (300L * 1024)

static const char *const sizes[] = {"2g", "5g", "10g", "20g", "50g", "80g", "100g"};

/* A line of /proc/self/status, in kB. */
static long status_kb(const char *key)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long kb = -1;

    assert_non_null(file);
    while (kb < 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, strlen(key)) == 0)
            kb = strtol(line + strlen(key), NULL, 10);
    assert_int_equal(fclose(file), 0);
    return kb;
}

/* The peak from here on; systems that cannot begin it afresh show that of the whole program. */
static void begin_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");

    if (file == NULL)
        return;
    fputs("5", file);
    (void)fclose(file);
}

static clo_workload *load(const char *path)
{
    clo_workload *w;

    ok(clo_workload_load(path, NULL, &w));
    assert_true(w->is_sorted);
    return w;
}

static uint64_t count_tasks(const clo_workload *w)
{
    uint64_t tasks = 0;

    for (uint32_t j = 0; j < clo_workload_jobs(w); j++)
        tasks += clo_graph_tasks(clo_workload_get(w, j)->graph);
    return tasks;
}

/* All sizes in one file, as `cat tpch_*.jsonl` makes it. */
static void join_queries(const char *path)
{
    FILE *out = fopen(path, "w");
    char part[1024];
    static char block[1 << 16];

    assert_non_null(out);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        size_t bytes;
        snprintf(part, sizeof part, CLO_DATA "/tpch/tpch_%s.jsonl", sizes[s]);
        FILE *in = fopen(part, "r");
        assert_non_null(in);
        while ((bytes = fread(block, 1, sizeof block, in)) > 0)
            assert_int_equal(fwrite(block, 1, bytes, out), bytes);
        assert_int_equal(fclose(in), 0);
    }
    assert_int_equal(fclose(out), 0);
}

static void ten_thousand_queries_share_154_graphs(void **state)
{
    char path[] = "/tmp/clotho_queries_XXXXXX";
    clo_arrivals_config config = CLO_ARRIVALS_CONFIG_INIT;
    clo_workload *w, *stream;

    (void)state;
    if (access(CLO_DATA "/tpch/tpch_2g.jsonl", R_OK) != 0) {
        skip_because("no workloads at " CLO_DATA, MEND);
    }
    int made = mkstemp(path);
    assert_true(made >= 0);
    assert_int_equal(close(made), 0);
    join_queries(path);
    begin_peak();
    w = load(path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(clo_workload_jobs(w), 154);
    assert_int_equal(count_tasks(w), 1414);
    config.kind = CLO_ARRIVALS_POISSON;
    config.mean_ns = 25000000000;
    config.shuffled = 1;
    config.jobs = STREAM_JOBS;
    ok(clo_workload_arrivals(w, &config, &stream));
    assert_int_equal(clo_workload_jobs(stream), STREAM_JOBS);
    for (uint32_t j = 0; j < STREAM_JOBS; j++)
        assert_string_equal(clo_workload_get(stream, j)->name, clo_graph_name(clo_workload_get(stream, j)->graph));
    print_message("%d jobs of TPC-H: %ld kB at most\n", STREAM_JOBS, status_kb("VmHWM:"));
    if (!SANITIZED)
        assert_in_range(status_kb("VmHWM:"), 1, STREAM_KB_MAX);
    clo_workload_destroy(stream);
    clo_workload_destroy(w);
}

/* stages.csv holds the mean of `rest` with one decimal, or nothing where no run had a second wave. */
static void stages_take_what_their_table_says(void **state)
{
    FILE *table = fopen(CLO_DATA "/tpch/stages.csv", "r");
    clo_workload *w[7];
    char line[1024], size[8];
    size_t compared = 0;

    (void)state;
    if (table == NULL)
        skip_because("no workloads at " CLO_DATA, MEND);
    for (size_t s = 0; s < 7; s++) {
        snprintf(line, sizeof line, CLO_DATA "/tpch/tpch_%s.jsonl", sizes[s]);
        w[s] = load(line);
        assert_int_equal(clo_workload_jobs(w[s]), 22);
    }
    assert_non_null(fgets(line, sizeof line, table));
    while (fgets(line, sizeof line, table) != NULL) {
        unsigned query, stage, instances;
        size_t s = 0;
        clo_task task;
        assert_int_equal(sscanf(line, "%u,%7[0-9g],%u,%u", &query, size, &stage, &instances), 4);
        while (strcmp(sizes[s], size) != 0)
            s++;
        char *mean = line;
        for (int comma = 0; comma < 6; comma++)
            mean = strchr(mean, ',') + 1;
        ok(clo_graph_task(clo_workload_get(w[s], query - 1)->graph, stage, &task));
        assert_int_equal(task.instances, instances);
        if (*mean == ',')
            continue;
        compared++;
        assert_true(fabs((double)task.work_ns / 1e6 - strtod(mean, NULL)) <= 0.0501);
    }
    assert_int_equal(fclose(table), 0);
    assert_true(compared > 1000);
    for (size_t s = 0; s < 7; s++)
        clo_workload_destroy(w[s]);
}

static void the_trace_of_alibaba_is_read_whole(void **state)
{
    static const struct {
        const char *path;
        uint32_t jobs;
        uint64_t tasks; /* 0: not counted */
        int executors;
    } sets[] = {
        {CLO_DATA "/alibaba/v2017_batch_jobs.csv", 6435, 37416, 64},
        {CLO_DATA "/alibaba/v2018_dag_medium3690.jsonl", 2272, 0, 96},
        {CLO_DATA "/alibaba/v2018_dag_sample6600.jsonl", 3877, 0, 96},
    };
    clo_workload *w[3] = {0};

    (void)state;
    if (access(sets[0].path, R_OK) != 0) {
        skip_because("no workloads at " CLO_DATA, MEND);
    }
    begin_peak();
    for (size_t i = 0; i < 3; i++) {
        w[i] = load(sets[i].path);
        assert_int_equal(clo_workload_jobs(w[i]), sets[i].jobs);
        assert_int_equal(clo_platform_executors(clo_workload_platform(w[i])), sets[i].executors);
        if (sets[i].tasks > 0)
            assert_int_equal(count_tasks(w[i]), sets[i].tasks);
    }
    print_message("all jobs of Alibaba: %ld kB at most\n", status_kb("VmHWM:"));
    if (!SANITIZED)
        assert_in_range(status_kb("VmHWM:"), 1, ALIBABA_KB_MAX);
    for (size_t i = 0; i < 3; i++)
        clo_workload_destroy(w[i]);
}

static void call_graphs_are_read_whole(void **state)
{
    (void)state;
    if (access(CLO_DATA "/rpc_callgraph/alibaba_call_graphs.jsonl", R_OK) != 0) {
        skip_because("no workloads at " CLO_DATA, MEND);
    }
    clo_workload *w = load(CLO_DATA "/rpc_callgraph/alibaba_call_graphs.jsonl");
    assert_int_equal(clo_workload_jobs(w), 4035);
    clo_workload_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_thousand_queries_share_154_graphs),
        cmocka_unit_test(stages_take_what_their_table_says),
        cmocka_unit_test(the_trace_of_alibaba_is_read_whole),
        cmocka_unit_test(call_graphs_are_read_whole),
    };

    return cmocka_run_group_tests_name("io_workloads", tests, NULL, NULL);
}
