/* bench_stream.c - how many completions a second does a stream of jobs take, on one core?
 *
 * 10 000 TPC-H jobs (data/tpch, of all sizes; without the data generated ones) arrive at once on 50 executors, in
 * virtual time (clo_stream_simulate), under each built-in policy. Once all have arrived, a completion, with the
 * decisions that follow from it, is timed in windows of so many as lie between two calls of the progress function. Time
 * is what the thread spent on a CPU, so that programs beside it count only as far as they share caches with it. */
#define _GNU_SOURCE /* CLOCK_THREAD_CPUTIME_ID */
#include "common/platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#ifndef CLO_DATA
#define CLO_DATA "../shared/data"
#endif

enum {
    POLICIES_MAX = 32,
    FILES = 7,
    WINDOW = 65536,
    JOBS = 10000,
    QUICK_JOBS = 150,
    WINDOWS = 24,
    QUICK_WINDOWS = 1,
    GENERATED = 20
};

/* The "must" of DESIGN section 7, for the simple policies; the most memory for all. */
#define RATE_MUST 3e6
#define MEMORY_MUST_BYTES 1e9

static const char *const files[FILES] = {"2g", "5g", "10g", "20g", "50g", "80g", "100g"};
static const char *const judged[] = {"fifo", "fair"};

typedef struct policy_row {
    const clo_policy *policy;
    bench_stats ns;  /* a completion; of all windows */
    double *windows; /* [rounds * windows] */
    size_t windows_count;
    uint64_t live, memory_bytes; /* after the last window; the process's peak by then */
} policy_row;

typedef struct bench {
    bench_options options;
    const char *data;
    uint32_t jobs, windows, rows_count;
    policy_row rows[POLICIES_MAX];
    clo_workload *parts[FILES], *all, *stream;
    clo_platform *platform;
    bool is_generated;
    /* Of the simulation that runs. */
    policy_row *row;
    uint32_t calls;
    int64_t before_ns;
} bench;

static uint64_t peak_bytes(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

static bool add_jobs(clo_workload *to, const clo_workload *from)
{
    for (uint32_t j = 0; j < clo_workload_jobs(from); j++)
        if (clo_workload_add(to, clo_workload_get(from, j)) != CLO_OK)
            return false;
    return true;
}

/* False: the file is not there. */
static bool load_part(bench *b, uint32_t file)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/tpch/tpch_%s.jsonl", b->data, files[file]);
    return clo_workload_load(path, NULL, &b->parts[file]) == CLO_OK;
}

/* Jobs like those of TPC-H: some stages of up to 200 instances. */
static bool generate_jobs(bench *b)
{
    for (uint32_t g = 0; g < GENERATED; g++) {
        const clo_generate_config config = {.size = sizeof config,
                                            .seed = b->options.seed + g,
                                            .tasks = 10,
                                            .work_mean_ns = 2000000000,
                                            .work_spread = 0.9,
                                            .instances_min = 1,
                                            .instances_max = 200};
        clo_workload_job job = CLO_WORKLOAD_JOB_INIT;
        clo_graph *graph;

        if (clo_graph_generate("layered", &config, &graph) != CLO_OK)
            return false;
        if (clo_workload_adopt(b->all, graph) != CLO_OK)
            return clo_graph_destroy(graph), false;
        job.graph = graph;
        if (clo_workload_add(b->all, &job) != CLO_OK)
            return false;
    }
    b->is_generated = true;
    return true;
}

static bool make_stream(bench *b)
{
    const clo_arrivals_config arrivals = {
        .size = sizeof arrivals, .kind = CLO_ARRIVALS_BATCH, .shuffled = 1, .seed = b->options.seed, .jobs = b->jobs};
    bool is_good =
        clo_workload_create("tpch", &b->all) == CLO_OK && clo_platform_open("uniform:50", &b->platform) == CLO_OK;
    uint32_t found = 0;

    while (is_good && found < FILES && load_part(b, found))
        found++;
    for (uint32_t f = 0; f < FILES && is_good && found == FILES; f++)
        is_good = add_jobs(b->all, b->parts[f]);
    if (is_good && found < FILES)
        is_good = generate_jobs(b);
    return (is_good && clo_workload_arrivals(b->all, &arrivals, &b->stream) == CLO_OK) ||
           bench_fail("cannot make the jobs");
}

/* The first call comes when all have arrived, for there are more calls than arrivals in a window. */
static int note_window(void *argument, uint64_t ended, uint64_t jobs, int64_t now_ns)
{
    bench *b = argument;
    int64_t after_ns = bench_cpu_now_ns();

    (void)now_ns;
    if (b->calls++ > 0)
        b->row->windows[b->row->windows_count++] = (double)(after_ns - b->before_ns) / (double)WINDOW;
    b->row->live = jobs - ended;
    b->before_ns = bench_cpu_now_ns();
    return b->calls > b->windows;
}

static bool measure(bench *b, policy_row *row)
{
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;

    config.policy = row->policy;
    config.progress = note_window;
    config.progress_argument = b;
    b->row = row;
    b->calls = 0;
    clo_status status = clo_stream_simulate(b->stream, b->platform, &config, NULL);
    row->memory_bytes = peak_bytes();
    return status == CLO_OK || status == CLO_ERR_CANCELLED || bench_fail(row->policy->name);
}

static bool measure_all(bench *b)
{
    bool is_good = true;

    for (uint32_t p = 0; p < b->rows_count && is_good; p++) {
        b->rows[p].windows = calloc((size_t)b->options.rounds * b->windows, sizeof(double));
        is_good = b->rows[p].windows != NULL;
    }
    for (uint32_t r = 0; r < b->options.rounds; r++)
        for (uint32_t p = 0; p < b->rows_count && is_good; p++)
            is_good = measure(b, &b->rows[p]);
    for (uint32_t p = 0; p < b->rows_count; p++)
        b->rows[p].ns = bench_summarise(b->rows[p].windows, b->rows[p].windows_count);
    return is_good;
}

static bool is_judged(const policy_row *row)
{
    for (size_t i = 0; i < sizeof judged / sizeof judged[0]; i++)
        if (strcmp(row->policy->name, judged[i]) == 0)
            return true;
    return false;
}

static void print_text(const bench *b)
{
    printf("%d %s jobs at once on 50 executors; windows of %d completions, CPU time of one thread\n", (int)b->jobs,
           b->is_generated ? "generated" : "TPC-H", WINDOW);
    printf("%-8s %22s %12s %12s %10s\n", "policy", "ns a completion: p50", "lowest", "M a second", "live jobs");
    for (uint32_t p = 0; p < b->rows_count; p++) {
        const policy_row *row = &b->rows[p];
        printf("%-8s %22.1f %12.1f %12.2f %10llu", row->policy->name, row->ns.median, row->ns.lowest,
               1e3 / row->ns.median, (unsigned long long)row->live);
        if (is_judged(row))
            printf("   must %.0f M: %s", RATE_MUST / 1e6,
                   1e9 / row->ns.median >= RATE_MUST ? "holds" : "does not hold");
        printf("\n");
    }
    printf("memory of the process, at most: %.0f MB; must %.0f: %s\n", (double)peak_bytes() / 1e6,
           MEMORY_MUST_BYTES / 1e6, (double)peak_bytes() <= MEMORY_MUST_BYTES ? "holds" : "does not hold");
}

static void print_json(const bench *b)
{
    printf(
        "{\"bench\": \"stream\", \"jobs\": %d, \"generated\": %s, \"executors\": 50, \"window\": %d, \"rounds\": %u, "
        "\"seed\": %llu, \"rows\": [",
        (int)b->jobs, b->is_generated ? "true" : "false", WINDOW, b->options.rounds,
        (unsigned long long)b->options.seed);
    for (uint32_t p = 0; p < b->rows_count; p++) {
        const policy_row *row = &b->rows[p];
        printf("%s{\"policy\": \"%s\", \"ns_per_completion\": %.2f, \"lowest_ns\": %.2f, \"completions_per_s\": %.0f, "
               "\"live_jobs\": %llu, \"memory_bytes\": %llu}",
               p > 0 ? ", " : "", row->policy->name, row->ns.median, row->ns.lowest, 1e9 / row->ns.median,
               (unsigned long long)row->live, (unsigned long long)row->memory_bytes);
    }
    printf("], \"goals\": [");
    for (uint32_t p = 0; p < b->rows_count; p++)
        if (is_judged(&b->rows[p]))
            printf("{\"goal\": \"%s: completions a second\", \"value\": %.0f, \"must\": %.0f, \"holds\": %s}, ",
                   b->rows[p].policy->name, 1e9 / b->rows[p].ns.median, RATE_MUST,
                   1e9 / b->rows[p].ns.median >= RATE_MUST ? "true" : "false");
    printf("{\"goal\": \"memory of the process, bytes\", \"value\": %llu, \"must\": %.0f, \"holds\": %s}]}\n",
           (unsigned long long)peak_bytes(), MEMORY_MUST_BYTES,
           (double)peak_bytes() <= MEMORY_MUST_BYTES ? "true" : "false");
}

/* Those asked for, or all; a name that is none is told. */
static bool choose_policies(bench *b, const bench_list *asked)
{
    clo_entry entry = CLO_ENTRY_INIT;

    for (uint32_t i = 0; i < asked->count && b->rows_count < POLICIES_MAX; i++) {
        const clo_policy *policy = clo_policy_find(asked->items[i]);
        if (policy == NULL)
            return fprintf(stderr, "bench-stream: there is no policy '%s'\n", asked->items[i]), false;
        b->rows[b->rows_count++].policy = policy;
    }
    for (uint32_t i = 0; asked->count == 0 && b->rows_count < POLICIES_MAX && clo_registry_entry("policies", i, &entry);
         i++)
        b->rows[b->rows_count++].policy = clo_policy_find(entry.name);
    return true;
}

static void close_bench(bench *b)
{
    for (uint32_t p = 0; p < b->rows_count; p++)
        free(b->rows[p].windows);
    clo_workload_destroy(b->stream);
    clo_workload_destroy(b->all);
    for (uint32_t f = 0; f < FILES; f++)
        clo_workload_destroy(b->parts[f]);
    clo_platform_destroy(b->platform);
}

int main(int argc, char **argv)
{
    bench_list asked = {0};
    bench b = {.data = CLO_DATA};
    const bench_flag flags[] = {
        {.name = "policy NAME", .help = "may be given several times; else all that are registered", .list = &asked},
        {.name = "data DIR", .help = "where tpch/tpch_*.jsonl lie", .value = &b.data},
        {0}};
    const bench_about about = {.name = "stream",
                               .question = "how many completions a second does a stream of jobs take, on one core?",
                               .flags = flags,
                               .rounds = 3,
                               .quick_rounds = 1};
    int exit_status = bench_options_read(&b.options, &about, argc, argv);

    if (exit_status < 0) {
        b.jobs = b.options.quick ? QUICK_JOBS : JOBS;
        b.windows = b.options.quick ? QUICK_WINDOWS : WINDOWS;
        exit_status = !choose_policies(&b, &asked) ? 2 : make_stream(&b) && measure_all(&b) ? 0 : 1;
        if (exit_status == 0 && b.options.json)
            print_json(&b);
        else if (exit_status == 0)
            print_text(&b);
    }
    close_bench(&b);
    return exit_status;
}
