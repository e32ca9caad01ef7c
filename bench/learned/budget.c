/* budget.c - budgets of one schedule, and of three: is the network worth its pass?
 *
 *   lachesis 1    its greedy order alone
 *   lachesis 3    the shortest of that plan, DEFT's and TDCA's
 *
 * They meet every planner that makes one plan, search in the same time, and the shorter of DEFT's and TDCA's plans, on
 * workloads that no training saw. Time is CPU time of the thread, the least of some repeats in turn; search gets the
 * time of the network as its budget, and of its repeats the shortest plan counts, because other programs take wall time
 * from it. A planner of one plan takes part where it takes as long or less on the whole setting. Of those the best one
 * is chosen in hindsight, setting by setting. Every plan passes clo_plan_check. */
#define _POSIX_C_SOURCE 200809L
#include "common/model_edit.h"
#include "common/tpch.h"
#include "learned/learned.h"

#include <clotho/planner.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CONTENDERS_MAX = 64,
    INSTANCES_MAX = 256,
    REPEATS = 3,
    DRAWN_EACH = 4, /* graphs of a setting for each round */
    FEW_JOBS = 20,  /* of TPC-H, at most, with --quick */
    PROBED = 2,     /* instances on which all planners run */
    UNLIKE = 8,
    TASKS_MAX = 3000,
    PATH_BYTES = 4096
};

/* Longer than so many times "lachesis": out after the probe. */
#define TIMES_MOST 2.0

enum { NETWORK, THREE, BEST, BEST_THREE, PAIR, RULES /* planners of one plan come from here on */ };

/* Schedules of a way; budgets: it gets the time of another one. */
static const uint64_t schedules[RULES] = {[NETWORK] = 1, [THREE] = 3};
static const uint32_t as_long_as[RULES] = {[BEST] = NETWORK, [BEST_THREE] = THREE};

typedef enum source { FROM_TPCH, FROM_FAMILY, FROM_FILES } source;

typedef struct setting {
    const char *name;
    source source;
    /* Jobs of TPC-H, tasks of a family; most instances of files. */
    uint32_t size;
    double ccr;
    const char *from; /* family, or pattern of files */
} setting;

static const setting settings[] = {
    {"TPC-H, 1 job, CCR 1", FROM_TPCH, 1, 1, NULL},
    {"TPC-H, 1 job, CCR 5", FROM_TPCH, 1, 5, NULL},
    {"TPC-H, 5 jobs, CCR 1", FROM_TPCH, 5, 1, NULL},
    {"TPC-H, 5 jobs, CCR 5", FROM_TPCH, 5, 5, NULL},
    {"TPC-H, 20 jobs, CCR 1", FROM_TPCH, 20, 1, NULL},
    {"TPC-H, 20 jobs, CCR 5", FROM_TPCH, 20, 5, NULL},
    {"TPC-H, 60 jobs, CCR 1", FROM_TPCH, 60, 1, NULL},
    {"TPC-H, 60 jobs, CCR 5", FROM_TPCH, 60, 5, NULL},
    {"TPC-H, 100 jobs, CCR 1", FROM_TPCH, 100, 1, NULL},
    {"TPC-H, 100 jobs, CCR 5", FROM_TPCH, 100, 5, NULL},
    {"layered, 20 tasks, CCR 0.1", FROM_FAMILY, 20, 0.1, "layered"},
    {"layered, 20 tasks, CCR 1", FROM_FAMILY, 20, 1, "layered"},
    {"layered, 20 tasks, CCR 5", FROM_FAMILY, 20, 5, "layered"},
    {"layered, 20 tasks, CCR 10", FROM_FAMILY, 20, 10, "layered"},
    {"layered, 200 tasks, CCR 0.1", FROM_FAMILY, 200, 0.1, "layered"},
    {"layered, 200 tasks, CCR 1", FROM_FAMILY, 200, 1, "layered"},
    {"layered, 200 tasks, CCR 5", FROM_FAMILY, 200, 5, "layered"},
    {"layered, 200 tasks, CCR 10", FROM_FAMILY, 200, 10, "layered"},
    {"wfformat", FROM_FILES, 20, 0, "wfformat/[!w]*.json"},
    {"Alibaba", FROM_FILES, 100, 0, "alibaba/v2018_dag_medium3690.jsonl"},
};

enum { SETTINGS = sizeof settings / sizeof settings[0] };

typedef struct contender {
    const char *label, *planner;
    bool is_out;
} contender;

static const contender ways[RULES] = {
    [NETWORK] = {"lachesis 1", "lachesis", false},
    [THREE] = {"lachesis 3", "lachesis", false},
    [BEST] = {"best, as long as lachesis 1", "best", false},
    [BEST_THREE] = {"best, as long as lachesis 3", "best", false},
    [PAIR] = {"deft and tdca", NULL, false},
};

typedef struct result {
    double us, makespan;
} result;

typedef struct arena {
    const learned *l;
    const tpch *queries;
    clo_model *network;
    void *network_bytes;
    contender list[CONTENDERS_MAX];
    uint32_t count;
    /* [instances][CONTENDERS_MAX] of the setting */
    result *results;
    double bounds[INSTANCES_MAX];
    uint32_t instances, tasks;
    bool has_row;
} arena;

static bool is_one_plan(const char *planner)
{
    static const char *const others[] = {"best", "exact", "lachesis", "random"};

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(planner, others[i]) == 0)
            return false;
    return strncmp(planner, "edges", 5) != 0;
}

static bool list_contenders(arena *a)
{
    clo_entry known = CLO_ENTRY_INIT;

    memcpy(a->list, ways, sizeof ways);
    a->count = RULES;
    for (uint32_t i = 0; clo_registry_entry("planners", i, &known) && a->count < CONTENDERS_MAX; i++)
        if (is_one_plan(known.name))
            a->list[a->count++] = (contender){known.name, known.name, false};
    return a->count < CONTENDERS_MAX || bench_fail("too many planners");
}

static bool is_network(uint32_t which)
{
    return which == NETWORK || which == THREE;
}

/* results: of all contenders on this graph. */
static bool plan_once(const arena *a, uint32_t which, const clo_cost *cost, result *results)
{
    result *out = &results[which];
    clo_plan_config config = CLO_PLAN_CONFIG_INIT;
    clo_plan *plan = NULL;

    config.planner = clo_planner_find(a->list[which].planner);
    if (which < RULES) {
        config.schedules_max = schedules[which];
        config.argument = is_network(which) ? a->network : NULL;
        config.budget_ns = schedules[which] == 0 ? (int64_t)(results[as_long_as[which]].us * 1e3) + 1 : 0;
    }
    int64_t begin_ns = bench_cpu_now_ns();
    if (clo_plan_create(cost, &config, &plan) != CLO_OK)
        return bench_fail(a->list[which].label);
    double us = (double)(bench_cpu_now_ns() - begin_ns) / 1e3, makespan = (double)clo_plan_makespan_ns(plan);
    bool is_good = clo_plan_check(plan, cost, CLO_CHECK_FULL) == CLO_OK || bench_fail(a->list[which].label);
    clo_plan_destroy(plan);
    out->us = out->us == 0 || us < out->us ? us : out->us;
    out->makespan = out->makespan == 0 || makespan < out->makespan ? makespan : out->makespan;
    return is_good;
}

static uint32_t find(const arena *a, const char *planner)
{
    uint32_t c = RULES;

    while (c < a->count && strcmp(a->list[c].planner, planner) != 0)
        c++;
    return c;
}

/* Both in turn. */
static void make_pair(const arena *a, result *results)
{
    const result *one = &results[find(a, "deft")], *other = &results[find(a, "tdca")];

    results[PAIR] = (result){one->us + other->us, fmin(one->makespan, other->makespan)};
}

static void drop_slow_ones(arena *a)
{
    double sums[CONTENDERS_MAX] = {0};

    for (uint32_t i = 0; i < a->instances; i++)
        for (uint32_t c = 0; c < a->count; c++)
            sums[c] += a->results[(size_t)i * CONTENDERS_MAX + c].us;
    for (uint32_t c = RULES; c < a->count; c++)
        a->list[c].is_out = sums[c] > TIMES_MOST * sums[NETWORK] && c != find(a, "deft") && c != find(a, "tdca");
}

static bool add_cost(arena *a, const clo_cost *cost)
{
    result *out = a->results + (size_t)a->instances * CONTENDERS_MAX;
    clo_bound bound = CLO_BOUND_INIT;
    bool is_good = a->instances < INSTANCES_MAX && clo_cost_bound(cost, &bound) == CLO_OK;

    memset(out, 0, CONTENDERS_MAX * sizeof *out);
    for (int repeat = 0; repeat < (a->l->options.quick ? 1 : REPEATS) && is_good; repeat++)
        for (uint32_t c = 0; c < a->count && is_good; c++)
            if (!a->list[c].is_out && c != PAIR)
                is_good = plan_once(a, c, cost, out);
    if (!is_good)
        return bench_fail("an instance");
    make_pair(a, out);
    a->bounds[a->instances++] = (double)bound.best_ns;
    a->tasks += clo_graph_tasks(clo_cost_graph(cost));
    if (a->instances == PROBED)
        drop_slow_ones(a);
    return true;
}

static bool add_graph(arena *a, const clo_graph *graph, const clo_platform *platform)
{
    clo_cost *cost = NULL;
    bool is_good = graph != NULL && platform != NULL &&
                   (clo_cost_create(graph, platform, &cost) == CLO_OK || bench_fail("costs")) && add_cost(a, cost);

    clo_cost_destroy(cost);
    return is_good;
}

static clo_platform *unlike_executors(void)
{
    static const uint32_t speeds[UNLIKE] = {32768, 32768, 65536, 65536, 65536, 65536, 98304, 131072};

    return random_platform(UNLIKE, speeds, 0, 1, 0);
}

static bool add_drawn(arena *a, const setting *s, uint32_t w)
{
    uint64_t state = (9000 + w) * UINT64_C(1000003) + s->size * 1009 + a->l->options.seed, seed = bench_random(&state);
    const tpch_mix mix = {.jobs = s->size,
                          .ccr = s->ccr,
                          .has_work_of_stage = true,
                          .is_edge_like_producer = w % 2 == 1,
                          .skip_size_gb = 20};
    const clo_generate_config family = {
        .size = sizeof family, .seed = seed, .tasks = s->size, .ccr = s->ccr, .work_spread = 0.8, .duplicable = 1};
    clo_graph *graph = NULL;
    if (s->source == FROM_TPCH)
        graph = tpch_graph(a->queries, &mix, seed);
    else if (clo_graph_generate(s->from, &family, &graph) != CLO_OK)
        graph = NULL;
    clo_platform *platform = s->source == FROM_TPCH ? tpch_cluster(seed) : unlike_executors();
    bool is_good = add_graph(a, graph, platform);

    clo_platform_destroy(platform);
    clo_graph_destroy(graph);
    return is_good;
}

static bool is_fit(const clo_graph *graph)
{
    return clo_graph_tasks(graph) > 2 && clo_graph_instances(graph) <= TASKS_MAX;
}

/* So many of a file, spread evenly. */
static bool add_file(arena *a, const char *path, uint32_t most)
{
    clo_documents *documents = NULL;
    clo_document *d;
    bool is_good = true;

    if (clo_documents_open(path, NULL, &documents) != CLO_OK)
        return bench_fail(path);
    size_t count = clo_documents_count(documents);
    clo_platform *platform = unlike_executors();
    for (size_t at = 0; at < count && is_good; at++) {
        clo_status status = clo_documents_next(documents, &d);
        if (status == CLO_ERR_LIMIT)
            continue;
        if (status != CLO_OK) {
            is_good = bench_fail(path);
            break;
        }
        if ((count <= most || at * most / count != (at + 1) * most / count) && is_fit(clo_document_graph(d)))
            is_good = add_graph(a, clo_document_graph(d), platform);
        clo_document_destroy(d);
    }
    clo_platform_destroy(platform);
    clo_documents_close(documents);
    return is_good;
}

static bool add_files(arena *a, const setting *s, uint32_t most)
{
    char pattern[PATH_BYTES];
    glob_t found;
    bool is_good = true;

    snprintf(pattern, sizeof pattern, "%s/%s", a->l->data, s->from);
    if (glob(pattern, 0, NULL, &found) != 0)
        return bench_fail(pattern);
    for (size_t i = 0; i < found.gl_pathc && is_good && (found.gl_pathc == 1 || i < most); i++)
        is_good = add_file(a, found.gl_pathv[i], most);
    globfree(&found);
    return is_good;
}

typedef struct summary {
    double us, above; /* means: CPU time, percent above the bound */
} summary;

static summary sum_up(const arena *a, uint32_t c)
{
    summary s = {0};

    for (uint32_t i = 0; i < a->instances; i++) {
        const result *r = &a->results[(size_t)i * CONTENDERS_MAX + c];
        s.us += r->us / a->instances;
        s.above += 100 * (r->makespan / a->bounds[i] - 1) / a->instances;
    }
    return s;
}

/* Percent that the plans of `way` are shorter than those of c, with half a 95 % interval. */
static double gain(const arena *a, uint32_t way, uint32_t c, double *interval)
{
    double mean = 0, squares = 0, n = a->instances;

    for (uint32_t i = 0; i < a->instances; i++) {
        const result *r = a->results + (size_t)i * CONTENDERS_MAX;
        mean += 100 * (1 - r[way].makespan / r[c].makespan) / n;
    }
    for (uint32_t i = 0; i < a->instances; i++) {
        const result *r = a->results + (size_t)i * CONTENDERS_MAX;
        double off = 100 * (1 - r[way].makespan / r[c].makespan) - mean;
        squares += off * off;
    }
    *interval = n > 1 ? 1.96 * sqrt(squares / (n - 1) / n) : 0;
    return mean;
}

/* Of the planners of one plan that take `us` or less; HEFT always does. */
static uint32_t best_rule(const arena *a, double us)
{
    uint32_t best = RULES;
    double least = INFINITY;

    for (uint32_t c = RULES; c < a->count; c++) {
        summary s = sum_up(a, c);
        if (!a->list[c].is_out && s.us <= us && s.above < least) {
            best = c;
            least = s.above;
        }
    }
    return best;
}

static void print_one(const arena *a, uint32_t c, bool is_named)
{
    const char *label = a->list[c].label;
    summary s = sum_up(a, c);

    if (a->l->options.json)
        printf(", \"%s\": {\"planner\": \"%s\", \"us\": %.2f, \"above_bound\": %.4f}", is_named ? "rule" : label, label,
               s.us, s.above);
    else if (is_named)
        printf(" `%s`, %.0f us, %.2f |", label, s.us, s.above);
    else
        printf(" %.0f us, %.2f |", s.us, s.above);
}

static void print_gain(const arena *a, uint32_t way, uint32_t c)
{
    double interval, mean = gain(a, way, c, &interval);

    if (a->l->options.json)
        printf(", \"%s over %s\": {\"percent\": %.4f, \"interval\": %.4f}", a->list[way].label, a->list[c].label, mean,
               interval);
    else
        printf(" %+.2f ± %.2f |", mean, interval);
}

/* A network against the best rule of its time, search in its time, and the pair. */
static void print_gains(const arena *a, uint32_t way, uint32_t rule, uint32_t search)
{
    print_gain(a, way, rule);
    print_gain(a, way, search);
    print_gain(a, way, PAIR);
}

static void print_row(arena *a, const setting *s)
{
    uint32_t rule = best_rule(a, sum_up(a, NETWORK).us), rule_three = best_rule(a, sum_up(a, THREE).us);

    if (a->l->options.json)
        printf("%s\n{\"setting\": \"%s\", \"graphs\": %u, \"tasks\": %.1f", a->has_row ? "," : "", s->name,
               a->instances, (double)a->tasks / a->instances);
    else
        printf("| %s | %u | %.0f |", s->name, a->instances, (double)a->tasks / a->instances);
    a->has_row = true;
    print_one(a, NETWORK, false);
    print_one(a, rule, true);
    print_one(a, BEST, false);
    print_one(a, PAIR, false);
    print_gains(a, NETWORK, rule, BEST);
    print_one(a, THREE, false);
    print_gains(a, THREE, rule_three, BEST_THREE);
    printf("%s\n", a->l->options.json ? "}" : "");
    fflush(stdout);
}

static bool run_setting(arena *a, const setting *s)
{
    bool is_quick = a->l->options.quick, is_good = true;
    uint32_t most = s->source == FROM_FILES ? s->size : DRAWN_EACH * a->l->options.rounds;

    if (is_quick && s->source == FROM_TPCH && s->size > FEW_JOBS)
        return true;
    most = is_quick ? 1 : most < INSTANCES_MAX ? most : INSTANCES_MAX;
    a->instances = a->tasks = 0;
    for (uint32_t c = 0; c < a->count; c++)
        a->list[c].is_out = false;
    if (s->source == FROM_FILES)
        is_good = add_files(a, s, most);
    for (uint32_t w = 0; s->source != FROM_FILES && w < most && is_good; w++)
        is_good = add_drawn(a, s, w);
    if (is_good && a->instances > 0)
        print_row(a, s);
    return is_good;
}

static bool open_models(arena *a)
{
    size_t bytes;
    const void *data = clo_model_builtin("lachesis", &bytes);
    clo_status status = a->l->file != NULL ? clo_model_load(a->l->file, &a->network)
                                           : clo_model_open("lachesis", data, bytes, &a->network);

    if (status != CLO_OK)
        return bench_fail("the model cannot be opened");
    if (!a->l->has_shuffled_weights && !a->l->has_zero_residual)
        return true;
    clo_model *other = model_edited(a->network, a->l->has_zero_residual ? MODEL_RANK_UP_ALONE : MODEL_SHUFFLED,
                                    a->l->options.seed, &a->network_bytes);
    clo_model_destroy(a->network);
    a->network = other;
    return other != NULL;
}

bool learned_budget(const learned *l)
{
    arena *a = calloc(1, sizeof *a);
    const char *why = NULL;
    tpch *queries = tpch_open(l->data, &why);
    bool is_good = a != NULL;

    if (queries == NULL || a == NULL) {
        fprintf(stderr, "bench: budget: skipped, %s\n", why != NULL ? why : "out of memory");
        if (l->options.json)
            printf("{\"part\": \"budget\", \"skipped\": true}");
        free(a);
        tpch_close(queries);
        return true;
    }
    a->l = l;
    a->queries = queries;
    a->results = calloc((size_t)INSTANCES_MAX * CONTENDERS_MAX, sizeof *a->results);
    if (l->options.json)
        printf("{\"part\": \"budget\", \"rows\": [");
    else
        printf(
            "Budgets of one schedule and of three: CPU time a plan, %% above the bound; the best planner that takes as "
            "long or less, search in that time, and deft and tdca in turn; %% shorter\n\n| setting | graphs | tasks | "
            "lachesis 1 | best rule | best | deft and tdca | than the rule | than best | than the pair | lachesis 3 | "
            "than the rule | than best | than the pair |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    is_good = a->results != NULL && list_contenders(a) && open_models(a);
    for (int i = 0; i < SETTINGS && is_good; i++)
        if (l->table == NULL || strncmp(settings[i].name, l->table, strlen(l->table)) == 0)
            is_good = run_setting(a, &settings[i]);
    if (l->options.json)
        printf("]}");
    clo_model_destroy(a->network);
    free(a->network_bytes);
    free(a->results);
    free(a);
    tpch_close(queries);
    return is_good;
}
