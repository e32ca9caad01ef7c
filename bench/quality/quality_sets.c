/* quality_sets.c - the data sets with published results. */
#define _POSIX_C_SOURCE 200809L
#include "common/random.h"
#include "quality/quality_parts.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ALIBABA_MAX = 300, QUICK_MAX = 2, PATH_BYTES = 4096, INSTANCES_MAX = 2000, UNLIKE = 8 };

/* What a set is planned on. */
typedef enum bed {
    BED_OWN,   /* the platform in the file                                */
    BED_EQUAL, /* as many equal executors as the reference is about       */
    BED_UNLIKE /* eight executors of speeds 0.5 to 2, links of 1 Gbit/s */
} bed;

typedef struct set {
    const char *name, *files; /* a pattern under the data folder */
    bed bed;
    uint32_t executors; /* BED_EQUAL                                                */
    uint32_t limit;     /* most instances without --instances; 0: all               */
    bool has_several;   /* only graphs of at least two tasks and not too many instances */
    bool is_large;      /* not in a quick run that does not ask for it                  */
} set;

static const set sets[] = {
    {"saga", "saga_reference/[0-9]*.json", BED_OWN, 0, 0, false, false},
    {"psplib-j30", "psplib/j30.jsonl", BED_OWN, 0, 0, false, false},
    {"psplib-j60", "psplib/j60.jsonl", BED_OWN, 0, 0, false, false},
    {"psplib-j90", "psplib/j90.jsonl", BED_OWN, 0, 0, false, false},
    {"psplib-j120", "psplib/j120.jsonl", BED_OWN, 0, 0, false, false},
    {"stg-50 on 2", "stg/stg50.jsonl", BED_EQUAL, 2, 0, false, false},
    {"stg-50 on 4", "stg/stg50.jsonl", BED_EQUAL, 4, 0, false, false},
    {"stg-50 on 8", "stg/stg50.jsonl", BED_EQUAL, 8, 0, false, false},
    {"stg-50 on 16", "stg/stg50.jsonl", BED_EQUAL, 16, 0, false, false},
    {"stg-100 on 2", "stg/stg100.jsonl", BED_EQUAL, 2, 0, false, false},
    {"stg-100 on 4", "stg/stg100.jsonl", BED_EQUAL, 4, 0, false, false},
    {"stg-100 on 8", "stg/stg100.jsonl", BED_EQUAL, 8, 0, false, false},
    {"stg-100 on 16", "stg/stg100.jsonl", BED_EQUAL, 16, 0, false, false},
    {"tpch-packing-50", "tpch_packing/tpch50.jsonl", BED_OWN, 0, 0, false, false},
    {"tpch-packing-100", "tpch_packing/tpch100.jsonl", BED_OWN, 0, 0, false, true},
    {"tpch-packing-150", "tpch_packing/tpch150.jsonl", BED_OWN, 0, 0, false, true},
    {"wfformat", "wfformat/[!w]*.json", BED_UNLIKE, 0, 0, false, false},
    {"alibaba", "alibaba/v2018_dag_sample6600.jsonl", BED_OWN, 0, ALIBABA_MAX, true, false},
};

/* A platform to plan on. `made`: the same where it is to be destroyed, else NULL. */
static const clo_platform *make_bed(const set *s, const clo_document *d, clo_platform **made)
{
    static const uint32_t speeds[UNLIKE] = {32768, 32768, 65536, 65536, 65536, 65536, 98304, 131072};
    char spec[32];

    *made = NULL;
    if (s->bed == BED_OWN)
        return clo_document_platform(d);
    if (s->bed == BED_UNLIKE)
        return *made = random_platform(UNLIKE, speeds, 0, 0.125, 0);
    snprintf(spec, sizeof spec, "uniform:%u", s->executors);
    return clo_platform_open(spec, made) == CLO_OK ? *made : NULL;
}

/* Of SAGA's table, the shortest makespan of its algorithms on an instance, in ns; 0: none. Hbmct drops tasks and rows
 * with a problem are no schedules. Columns: instance, three counts, algorithm, makespan ... problem (the last). */
static int64_t saga_best_ns(const char *data, const char *name)
{
    char path[PATH_BYTES], line[512], instance_name[128], algorithm[32], number[32];
    double best = 0;

    snprintf(path, sizeof path, "%s/saga_reference/makespans.csv", data);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        size_t end = strcspn(line, "\r\n");

        if (sscanf(line, "%127[^,],%*[^,],%*[^,],%*[^,],%31[^,],%31[^,]", instance_name, algorithm, number) != 3 ||
            strcmp(instance_name, name) != 0 || strcmp(algorithm, "Hbmct") == 0 || line[end - 1] != ',')
            continue;
        double makespan = strtod(number, NULL);
        if (best <= 0 || makespan < best)
            best = makespan;
    }
    if (file != NULL)
        fclose(file);
    return (int64_t)llround(best * 1e9); /* one unit is taken as 1 s */
}

/* What is proved of an optimum of which the published one is too low, in the file's unit (stg_optima.csv); 0:
 * nothing. */
static double proved_optimum(const char *name, uint32_t executors)
{
    char line[128], instance_name[64], on[16], lower[16];
    double best = 0;
    FILE *file = fopen(CLO_STG_OPTIMA, "r");

    while (file != NULL && best <= 0 && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "%63[^,],%15[^,],%*[^,],%15[^,]", instance_name, on, lower) == 3 &&
            strcmp(instance_name, name) == 0 && strtoul(on, NULL, 10) == executors)
            best = strtod(lower, NULL);
    if (file != NULL)
        fclose(file);
    return best;
}

static int64_t reference_ns(const quality *q, const set *s, const clo_document *d)
{
    uint32_t count;
    const clo_reference *references = clo_document_references(d, &count);

    if (strcmp(clo_document_format(d), "saga") == 0)
        return saga_best_ns(q->data, clo_graph_name(clo_document_graph(d)));
    for (uint32_t i = 0; i < count; i++)
        if (references[i].executors == s->executors) {
            double proved = proved_optimum(clo_graph_name(clo_document_graph(d)), s->executors);
            return (int64_t)llround(fmax(references[i].upper, proved) * clo_document_unit_ns(d));
        }
    return 0;
}

static bool add_document(const quality *q, const set *s, comparison *c, const clo_document *d)
{
    bool is_good = false;
    clo_cost *cost = NULL;
    clo_platform *made;
    const clo_platform *platform = make_bed(s, d, &made);

    if (platform == NULL || clo_cost_create(clo_document_graph(d), platform, &cost) != CLO_OK)
        bench_fail(clo_graph_name(clo_document_graph(d)));
    else
        is_good = comparison_add(c, clo_graph_name(clo_document_graph(d)), cost, reference_ns(q, s, d));
    clo_cost_destroy(cost);
    clo_platform_destroy(made);
    return is_good;
}

static bool is_fit(const set *s, const clo_document *d)
{
    const clo_graph *graph = clo_document_graph(d);

    return !s->has_several || (clo_graph_tasks(graph) > 1 && clo_graph_instances(graph) <= INSTANCES_MAX);
}

/* True if number `at` of `count` is one of `wanted` that are spread evenly. */
static bool is_chosen(size_t at, size_t count, uint32_t wanted)
{
    return wanted == 0 || count <= wanted || at * wanted / count != (at + 1) * wanted / count;
}

/* Instances of a set that are to be read: all, or a limit. */
static uint32_t wanted(const quality *q, const set *s)
{
    if (q->instances_max > 0)
        return q->instances_max;
    return q->options.quick ? QUICK_MAX : s->limit;
}

/* A file with many instances. One that cannot be read, or a library without files, ends the set. */
static bool add_file(const quality *q, const set *s, comparison *c, const char *path)
{
    clo_documents *documents = NULL;
    clo_document *d;
    clo_status status = clo_documents_open(path, NULL, &documents);
    bool is_good = true;

    if (status == CLO_ERR_UNSUPPORTED)
        return true;
    if (status != CLO_OK)
        return bench_fail(path);
    size_t count = clo_documents_count(documents);
    for (size_t at = 0; at < count && is_good; at++) {
        status = clo_documents_next(documents, &d);
        if (status == CLO_ERR_LIMIT) /* of jobs with very many instances; is_fit would not take them either */
            continue;
        if (status != CLO_OK) {
            is_good = bench_fail(path);
            break;
        }
        if (is_chosen(at, count, wanted(q, s)) && is_fit(s, d))
            is_good = add_document(q, s, c, d);
        clo_document_destroy(d);
    }
    clo_documents_close(documents);
    return is_good;
}

static bool run_set(quality *q, const set *s, candidates *chosen)
{
    char pattern[PATH_BYTES];
    glob_t found;
    comparison *c = quality_comparison(q, s->name, STYLE_SET, chosen, "heft");
    bool is_good = c != NULL;

    snprintf(pattern, sizeof pattern, "%s/%s", q->data, s->files);
    if (!is_good)
        return false;
    if (glob(pattern, 0, NULL, &found) != 0) {
        quality_skip(q, s->name, "its files are not there (--data DIR; bench/sets.py gets public ones)");
        return true;
    }
    for (size_t i = 0; i < found.gl_pathc && is_good; i++)
        if (found.gl_pathc == 1 || is_chosen(i, found.gl_pathc, wanted(q, s)))
            is_good = add_file(q, s, c, found.gl_pathv[i]);
    globfree(&found);
    if (is_good)
        quality_done(q, c);
    return is_good;
}

bool quality_sets(quality *q)
{
    static const char *const few[] = {"heft", "deft", "peft", "sufferage", "best", NULL};
    const bench_list full = {.items = {"1000", "100ms"}, .count = 2}, quick = {.items = {"50"}, .count = 1};
    candidates *chosen = NULL;

    if (quality_wants(q, "stg") && access(CLO_STG_OPTIMA, R_OK) != 0)
        fprintf(stderr, "note: %s cannot be read; STG's published optima are taken as they are\n", CLO_STG_OPTIMA);
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        if (!quality_wants(q, sets[i].name) || (sets[i].is_large && q->options.quick && q->only == NULL))
            continue;
        if (chosen == NULL)
            chosen = quality_candidates(q, q->options.quick ? few : NULL, q->options.quick ? &quick : &full);
        if (chosen == NULL || !run_set(q, &sets[i], chosen))
            return false;
    }
    return true;
}
