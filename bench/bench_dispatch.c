/* bench_dispatch.c - what does a task cost? Graphs of empty tasks, beside the peers that are installed.
 *
 * All peers in one process, in a random order in every round, so that what the machine does meanwhile meets all of
 * them. Before a peer is timed on a graph it runs it with bodies that check the order. Figures are medians over the
 * rounds with the 10th and 90th percentile, and the lowest, which a busy machine disturbs least; compare ratios within
 * one run, not numbers of different days. */
#include "peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PEERS_MAX = 16, GRAPHS = 5 };

/* Samples of one peer on one graph, ns a task. */
typedef struct cell {
    double *build, *prepare, *run;
    uint32_t count;
    bench_stats build_stats, prepare_stats, run_stats;
} cell;

typedef struct table {
    const peer *peers[PEERS_MAX];
    uint32_t peers_count;
    bench_graph graphs[GRAPHS];
    const char *labels[GRAPHS];
    cell cells[GRAPHS][PEERS_MAX];
    double foreign_load; /* share of the CPUs that other programs used meanwhile */
} table;

static void add_peers(table *t, const peer *peers, uint32_t cpus)
{
    for (; peers->name != NULL; peers++)
        if (peers->workers <= cpus && t->peers_count < PEERS_MAX)
            t->peers[t->peers_count++] = peers;
}

static bool open_graphs(table *t, bool is_quick, uint64_t seed)
{
    static const char *const names[GRAPHS] = {"chain", "fan", "wave", "rand", "rand"};
    static const char *const labels[GRAPHS] = {"chain", "fan", "wave", "rand", "reuse"};
    uint32_t large = is_quick ? 10000 : 100000;
    /* No larger fan: what libgomp spends on one grows with the square of its width. */
    const uint32_t sizes[GRAPHS] = {large, 10000, is_quick ? 10000 : 90000, large, 1000};

    for (int g = 0; g < GRAPHS; g++) {
        if (!bench_graph_open(&t->graphs[g], names[g], sizes[g], seed))
            return false;
        t->labels[g] = labels[g];
    }
    t->graphs[GRAPHS - 1].runs = 100;
    return true;
}

static bool open_cells(table *t, uint32_t rounds)
{
    for (int g = 0; g < GRAPHS; g++)
        for (uint32_t p = 0; p < t->peers_count; p++) {
            cell *c = &t->cells[g][p];

            c->build = calloc(rounds, sizeof(double));
            c->prepare = calloc(rounds, sizeof(double));
            c->run = calloc(rounds, sizeof(double));
            if (c->build == NULL || c->prepare == NULL || c->run == NULL)
                return false;
        }
    return true;
}

static void close_all(table *t)
{
    for (int g = 0; g < GRAPHS; g++) {
        bench_graph_close(&t->graphs[g]);
        for (uint32_t p = 0; p < t->peers_count; p++) {
            free(t->cells[g][p].build);
            free(t->cells[g][p].prepare);
            free(t->cells[g][p].run);
        }
    }
}

static bool begin(const peer *p, void *state)
{
    return p->start == NULL || p->start(state);
}

static bool check(const peer *p, bench_graph *g)
{
    void *state;
    bool is_right;

    bench_graph_reset(g);
    g->body = bench_visit;
    state = p->build(g, p->workers);
    is_right = state != NULL && begin(p, state) && (p->prepare == NULL || p->prepare(state)) && p->run(state) &&
               p->run(state) && bench_graph_is_right(g, 2);
    if (state != NULL)
        p->destroy(state);
    g->body = bench_empty;
    if (!is_right)
        fprintf(stderr, "bench-dispatch: %s with %u workers does not run %s in order\n", p->name, p->workers, g->name);
    return is_right;
}

/* One sample: build, prepare, one run to warm up, then the timed runs. */
static bool measure(const peer *p, bench_graph *g, cell *c)
{
    int64_t build_ns = -bench_now_ns(), started_ns, prepared_ns, warm_ns, end_ns;
    void *state = p->build(g, p->workers);
    bool is_good = state != NULL;

    build_ns += bench_now_ns();
    is_good = is_good && begin(p, state);
    started_ns = bench_now_ns();
    is_good = is_good && (p->prepare == NULL || p->prepare(state));
    prepared_ns = bench_now_ns();
    is_good = is_good && p->run(state);
    warm_ns = bench_now_ns();
    for (uint32_t r = 0; r < g->runs && is_good; r++)
        is_good = p->run(state);
    end_ns = bench_now_ns();
    if (state != NULL)
        p->destroy(state);
    c->build[c->count] = (double)build_ns / g->tasks;
    c->prepare[c->count] = (double)(prepared_ns - started_ns) / g->tasks;
    c->run[c->count++] = (double)(end_ns - warm_ns) / g->tasks / g->runs;
    bench_rest();
    return is_good;
}

static bool measure_all(table *t, const bench_options *o)
{
    uint32_t order[PEERS_MAX];
    uint64_t state = o->seed;
    load before = load_now();

    for (uint32_t p = 0; p < t->peers_count; p++)
        order[p] = p;
    for (int g = 0; g < GRAPHS; g++) {
        for (uint32_t p = 0; p < t->peers_count; p++)
            if (!check(t->peers[p], &t->graphs[g]))
                return false;
        for (uint32_t round = 0; round < o->rounds; round++) {
            bench_shuffle(order, t->peers_count, &state);
            for (uint32_t i = 0; i < t->peers_count; i++)
                if (!measure(t->peers[order[i]], &t->graphs[g], &t->cells[g][order[i]]))
                    return false;
        }
        for (uint32_t p = 0; p < t->peers_count; p++) {
            cell *c = &t->cells[g][p];

            c->build_stats = bench_summarise(c->build, c->count);
            c->prepare_stats = bench_summarise(c->prepare, c->count);
            c->run_stats = bench_summarise(c->run, c->count);
        }
    }
    t->foreign_load = load_foreign(before);
    return true;
}

/* Run times of a peer, NULL where it is missing. */
static const bench_stats *run_of(const table *t, int graph, const char *name, uint32_t workers)
{
    for (uint32_t p = 0; p < t->peers_count; p++)
        if (strcmp(t->peers[p]->name, name) == 0 && t->peers[p]->workers == workers)
            return &t->cells[graph][p].run_stats;
    return NULL;
}

static void print_ratio(const char *what, const char *other, const bench_stats *a, const bench_stats *b)
{
    if (a != NULL && b != NULL && b->lowest > 0)
        printf("%s / %s: median %.2f, lowest %.2f\n", what, other, a->median / b->median, a->lowest / b->lowest);
}

static void print_text(const table *t, const bench_options *o)
{
    printf("ns a task, medians of %u rounds [10th .. 90th percentile]; build: declare (and seal); prepare: once before "
           "the first run; other programs used %.0f %% of the CPUs\n",
           o->rounds, 100 * t->foreign_load);
    for (int g = 0; g < GRAPHS; g++) {
        const bench_stats *two = run_of(t, g, "Clotho steal", 2);

        printf("\n%-6s %u tasks, %u edges%s\n%-20s %7s %9s %9s %9s  %s\n", t->labels[g], t->graphs[g].tasks,
               t->graphs[g].edges, t->graphs[g].runs > 1 ? ", run 100 times" : "", "peer", "workers", "build",
               "prepare", "lowest", "run");
        for (uint32_t p = 0; p < t->peers_count; p++) {
            const cell *c = &t->cells[g][p];

            printf("%-20s %7u %9.1f %9.1f %9.1f  %.1f [%.1f .. %.1f]\n", t->peers[p]->name, t->peers[p]->workers,
                   c->build_stats.median, c->prepare_stats.median, c->run_stats.lowest, c->run_stats.median,
                   c->run_stats.p10, c->run_stats.p90);
        }
        print_ratio("Clotho steal, two workers", "one", two, run_of(t, g, "Clotho steal", 1));
        for (uint32_t p = 0; p < t->peers_count; p++)
            if (t->peers[p]->workers == 2 && strncmp(t->peers[p]->name, "Clotho", 6) != 0)
                print_ratio("Clotho steal", t->peers[p]->name, two, &t->cells[g][p].run_stats);
    }
}

static void print_json(const table *t, const bench_options *o)
{
    const char *comma = "";

    printf("{\"bench\": \"dispatch\", \"unit\": \"ns a task\", \"rounds\": %u, \"seed\": %llu, \"foreign_load\": %.3f, "
           "\"rows\": [",
           o->rounds, (unsigned long long)o->seed, t->foreign_load);
    for (int g = 0; g < GRAPHS; g++)
        for (uint32_t p = 0; p < t->peers_count; p++, comma = ", ") {
            const cell *c = &t->cells[g][p];

            printf("%s{\"graph\": \"%s\", \"tasks\": %u, \"edges\": %u, \"peer\": \"%s\", \"workers\": %u, "
                   "\"build\": %.2f, \"prepare\": %.2f, \"run\": %.2f, \"run_p10\": %.2f, \"run_p90\": %.2f, "
                   "\"run_lowest\": %.2f}",
                   comma, t->labels[g], t->graphs[g].tasks, t->graphs[g].edges, t->peers[p]->name, t->peers[p]->workers,
                   c->build_stats.median, c->prepare_stats.median, c->run_stats.median, c->run_stats.p10,
                   c->run_stats.p90, c->run_stats.lowest);
        }
    printf("]}\n");
}

static uint32_t cpus_here(void)
{
    clo_platform *native = NULL;
    uint32_t cpus = clo_platform_open("native", &native) == CLO_OK ? clo_platform_executors(native) : 0;

    clo_platform_destroy(native);
    return cpus;
}

/* Builds, seals and runs a graph of a million empty tasks; prints seconds. */
static int run_million(const bench_options *o)
{
    uint32_t workers = cpus_here() < 2 ? 1 : 2;
    const peer *p = &peers_clotho[workers == 2 ? 0 : 1];
    bench_graph graph;
    bool is_good = bench_graph_open(&graph, "rand", 1000000, o->seed);
    int64_t start_ns = bench_now_ns(), built_ns, prepared_ns, end_ns;
    void *state = is_good ? p->build(&graph, workers) : NULL;

    built_ns = bench_now_ns();
    is_good = state != NULL && p->start(state) && p->prepare(state);
    prepared_ns = bench_now_ns();
    is_good = is_good && p->run(state);
    end_ns = bench_now_ns();
    if (is_good)
        printf(o->json ? "{\"bench\": \"million\", \"tasks\": %u, \"edges\": %u, \"workers\": %u, \"build_s\": %.4f, "
                         "\"prepare_s\": %.4f, \"run_s\": %.4f, \"total_s\": %.4f}\n"
                       : "%u tasks, %u edges, %u workers: build and seal %.3f s, prepare %.3f s, run %.3f s, "
                         "together %.3f s\n",
               graph.tasks, graph.edges, workers, (double)(built_ns - start_ns) / 1e9,
               (double)(prepared_ns - built_ns) / 1e9, (double)(end_ns - prepared_ns) / 1e9,
               (double)(end_ns - start_ns) / 1e9);
    if (state != NULL)
        p->destroy(state);
    bench_graph_close(&graph);
    return is_good ? 0 : 1;
}

int main(int argc, char **argv)
{
    const bench_about about = {.name = "dispatch",
                               .question = "what does a task cost?",
                               .flag = "million",
                               .flag_help = "instead: build, seal and run a graph of 1 000 000 empty tasks",
                               .rounds = 9,
                               .quick_rounds = 3};
    bench_options o;
    int exit_status = bench_options_read(&o, &about, argc, argv);
    table *t;
    bool is_good;

    if (exit_status >= 0)
        return exit_status;
    if (o.flag)
        return run_million(&o);
    t = calloc(1, sizeof *t);
    if (t == NULL)
        return 1;
    add_peers(t, peers_clotho, cpus_here());
    add_peers(t, peers_tbb, cpus_here());
    add_peers(t, peers_openmp, cpus_here());
    add_peers(t, peers_serial, cpus_here());
    is_good = open_graphs(t, o.quick, o.seed) && open_cells(t, o.rounds) && measure_all(t, &o);
    if (is_good && o.json)
        print_json(t, &o);
    else if (is_good)
        print_text(t, &o);
    close_all(t);
    free(t);
    return is_good ? 0 : 1;
}
