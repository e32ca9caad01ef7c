/* tpch.c - the measured TPC-H queries as graphs. */
#include "common/tpch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 9, EXECUTORS = 50, EXECUTORS_MAX = 256 };

/* Splits a line at its commas, in place; empty fields count. Returns how many, at most COLUMNS. */
static int split(char *line, char **fields)
{
    int count = 0;

    for (char *at = line; at != NULL && count < COLUMNS;) {
        char *comma = strchr(at, ',');

        fields[count++] = at;
        if (comma != NULL)
            *comma++ = '\0';
        at = comma;
    }
    return count;
}

static bool read_parents(tpch *t, tpch_stage *stage, const char *text, uint32_t own)
{
    stage->parents_first = t->parents_count;
    while (*text != '\0') { /* every turn takes a number or ends */
        char *end;
        unsigned long parent = strtoul(text, &end, 10);

        if (end == text || t->parents_count == TPCH_PARENTS_MAX || parent == own)
            return false;
        t->parents[t->parents_count++] = (uint32_t)parent;
        stage->parents_count++;
        text = end + strspn(end, " ");
    }
    return true;
}

/* query, size, stage, n_tasks, parents, level, mean_rest_ms, mean_first_ms, mean_fresh_ms. Stages of a job follow one
 * another. */
static bool read_line(tpch *t, char *line)
{
    char *f[COLUMNS];

    if (split(line, f) != COLUMNS || t->stages_count == TPCH_STAGES_MAX)
        return false;
    uint32_t query = (uint32_t)strtoul(f[0], NULL, 10), size = (uint32_t)strtoul(f[1], NULL, 10);
    uint32_t number = (uint32_t)strtoul(f[2], NULL, 10);
    tpch_job *job = t->jobs_count > 0 ? &t->jobs[t->jobs_count - 1] : NULL;
    if (job == NULL || job->query != query || job->size_gb != size) {
        if (t->jobs_count == TPCH_JOBS_MAX)
            return false;
        job = &t->jobs[t->jobs_count++];
        *job = (tpch_job){.query = query, .size_gb = size, .stages_first = t->stages_count};
    }
    tpch_stage *stage = &t->stages[t->stages_count];
    stage->tasks = (uint32_t)strtoul(f[3], NULL, 10);
    stage->mean_ms = strtod(f[6][0] != '\0' ? f[6] : f[7][0] != '\0' ? f[7] : f[8], NULL);
    if (number != job->stages_count || stage->tasks == 0 || !(stage->mean_ms > 0))
        return false;
    job->stages_count++;
    t->stages_count++;
    return read_parents(t, stage, f[4], number);
}

tpch *tpch_open(const char *data, const char **why)
{
    char path[4096], line[512];
    tpch *t = calloc(1, sizeof *t);
    bool is_good = t != NULL;

    snprintf(path, sizeof path, "%s/tpch/stages.csv", data);
    FILE *file = fopen(path, "r");
    *why = t == NULL ? "no memory" : file == NULL ? "tpch/stages.csv is not there (--data DIR; bench/sets.py gets it)" : NULL;
    is_good = *why == NULL && fgets(line, sizeof line, file) != NULL; /* the head line */
    while (is_good && fgets(line, sizeof line, file) != NULL)
        is_good = read_line(t, line);
    if (file != NULL)
        fclose(file);
    if (is_good && t->jobs_count > 0)
        return t;
    if (*why == NULL)
        *why = "tpch/stages.csv has a line that is no stage";
    free(t);
    return NULL;
}

void tpch_close(tpch *t)
{
    free(t);
}

/* In [0, 1). */
static double uniform(uint64_t *state)
{
    return (double)(bench_random(state) >> 11) / 9007199254740992.0;
}

static int64_t work_ns(const tpch_stage *stage, const tpch_mix *mix, uint64_t *state)
{
    if (mix->has_uniform_times)
        return (int64_t)(uniform(state) * 1e9) + 1;
    return (int64_t)(stage->mean_ms * 1e6 * (mix->has_work_of_stage ? stage->tasks : 1));
}

static bool add_tasks(clo_graph *graph, const tpch *t, const tpch_job *job, const tpch_mix *mix, uint64_t *state)
{
    for (uint32_t s = 0; s < job->stages_count; s++) {
        clo_task task = {.duplicable = 1, .work_ns = work_ns(&t->stages[job->stages_first + s], mix, state)};

        for (uint32_t r = 0; r < mix->resources; r++)
            task.demand[r] = 1 + (int64_t)(uniform(state) * mix->demand_max * (TPCH_CAPACITY - 1));
        if (clo_graph_add_task(graph, &task, NULL) != CLO_OK)
            return false;
    }
    return true;
}

/* Mean bytes of an edge that leaves `from`. */
static double mean_bytes(const clo_graph *graph, const tpch_mix *mix, uint32_t from, double mean_ns)
{
    clo_task task;

    if (mix->is_edge_like_producer && clo_graph_task(graph, from, &task) == CLO_OK)
        return mix->ccr * (double)task.work_ns;
    return mix->ccr * mean_ns;
}

/* A job whose first stage has the id `first`; tasks take mean_ns on average. */
typedef struct placed_job {
    const tpch_job *job;
    uint32_t first;
    double mean_ns;
} placed_job;

static bool add_edges(clo_graph *graph, const tpch *t, placed_job placed, const tpch_mix *mix, uint64_t *state)
{
    for (uint32_t s = 0; s < placed.job->stages_count; s++) {
        const tpch_stage *stage = &t->stages[placed.job->stages_first + s];

        for (uint32_t p = 0; p < stage->parents_count; p++) {
            uint32_t from = placed.first + t->parents[stage->parents_first + p];
            double bytes = 2 * uniform(state) * mean_bytes(graph, mix, from, placed.mean_ns);

            if (clo_graph_add_edge(graph, from, placed.first + s, (uint64_t)bytes) != CLO_OK)
                return false;
        }
    }
    return true;
}

static double mean_work_ns(const clo_graph *graph)
{
    uint32_t count = clo_graph_tasks(graph);
    double sum = 0;
    clo_task task;

    for (uint32_t i = 0; i < count; i++)
        if (clo_graph_task(graph, i, &task) == CLO_OK)
            sum += (double)task.work_ns;
    return count > 0 ? sum / count : 0;
}

clo_graph *tpch_graph(const tpch *t, const tpch_mix *mix, uint64_t seed)
{
    clo_graph *graph = NULL;
    uint32_t *drawn = calloc(mix->jobs, sizeof *drawn), first = 0;
    bool is_good = drawn != NULL && clo_graph_create("tpch", &graph) == CLO_OK;

    for (uint32_t j = 0; j < mix->jobs && is_good; j++) {
        do /* ends: most sizes are let in */
            drawn[j] = bench_random_below(&seed, t->jobs_count);
        while (t->jobs[drawn[j]].size_gb == mix->skip_size_gb);
        is_good = add_tasks(graph, t, &t->jobs[drawn[j]], mix, &seed);
    }
    double mean_ns = is_good ? mean_work_ns(graph) : 0;
    for (uint32_t j = 0; j < mix->jobs && is_good; j++) {
        is_good = add_edges(graph, t, (placed_job){&t->jobs[drawn[j]], first, mean_ns}, mix, &seed);
        first += t->jobs[drawn[j]].stages_count;
    }
    if (is_good && clo_graph_seal(graph) == CLO_OK) {
        free(drawn);
        return graph;
    }
    bench_fail("cannot make a graph of TPC-H queries");
    free(drawn);
    clo_graph_destroy(graph);
    return NULL;
}

clo_platform *tpch_cluster(uint64_t seed)
{
    uint32_t speeds[EXECUTORS];

    for (uint32_t e = 0; e < EXECUTORS; e++)
        speeds[e] = (uint32_t)((21 + bench_random_below(&seed, 16)) * (uint64_t)CLO_SPEED_ONE * 2 / 57);
    return random_platform(EXECUTORS, speeds, 0, 1.0, 0);
}

static int by_amount(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* How many tasks fit at once at most, by the first resource: those that hold least. */
static uint32_t count_at_once(const clo_graph *graph)
{
    uint32_t count = clo_graph_tasks(graph), fit = 0;
    int64_t *amounts = calloc(count, sizeof *amounts), sum = 0;
    clo_task task;

    for (uint32_t i = 0; i < count && amounts != NULL; i++)
        if (clo_graph_task(graph, i, &task) == CLO_OK)
            amounts[i] = task.demand[0];
    if (amounts != NULL)
        qsort(amounts, count, sizeof *amounts, by_amount);
    while (amounts != NULL && fit < count && fit < EXECUTORS_MAX && (sum += amounts[fit]) <= TPCH_CAPACITY)
        fit++;
    free(amounts);
    return fit > 0 ? fit : 1;
}

clo_platform *tpch_machine(const clo_graph *graph, uint32_t resources)
{
    static const clo_executor equal = {.os_index = -1,
                                       .speed_q16 = {CLO_SPEED_ONE, CLO_SPEED_ONE, CLO_SPEED_ONE, CLO_SPEED_ONE}};
    int64_t capacities[CLO_RESOURCES_MAX];
    clo_executor executors[EXECUTORS_MAX];
    clo_platform *platform = NULL;

    for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++)
        capacities[r] = r < resources ? TPCH_CAPACITY : -1;
    clo_platform_desc desc = {.size = sizeof desc,
                              .executors_count = count_at_once(graph),
                              .executors = executors,
                              .kinds_count = 1,
                              .machines_count = 1,
                              .capacities = capacities};
    for (uint32_t e = 0; e < desc.executors_count; e++)
        executors[e] = equal;
    if (clo_platform_create(&desc, &platform) != CLO_OK)
        bench_fail("cannot make a machine");
    return platform;
}
