/* bench_overhead.c - what does a task cost? Graphs of empty and of short tasks, beside the peers that are installed.
 *
 * All peers in one process, in a random order in every turn, so that what the machine does meanwhile meets all of
 * them; a turn in which other programs ran is dropped. Before a peer is timed on a graph it runs it with bodies that
 * check the order. Figures are medians over the turns with the 10th and 90th percentile, and the lowest, which a busy
 * machine disturbs least; compare ratios within one run, not numbers of different days. A chain has no bodies: there
 * is nothing to share out, so that its efficiency says nothing. */
#include "overhead/overhead.h"
#include "peers/peer_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sizes of the published comparison; with bodies, what takes about 20 ms on one core. */
static const overhead_case cases[] = {{"none", "none", 0, 100000, 10000, 1},   {"chain", "chain", 0, 100000, 10000, 1},
                                      {"fan", "fan", 0, 100000, 10000, 1},     {"wave", "wave", 0, 90000, 10000, 1},
                                      {"rand", "rand", 0, 100000, 10000, 1},   {"reuse", "rand", 0, 1000, 1000, 100},
                                      {"fan", "fan", 1000, 20000, 5000, 1},    {"wave", "wave", 1000, 20000, 5000, 1},
                                      {"rand", "rand", 1000, 20000, 5000, 1},  {"reuse", "rand", 1000, 1000, 1000, 20},
                                      {"fan", "fan", 10000, 2500, 2500, 1},    {"wave", "wave", 10000, 2500, 2500, 1},
                                      {"rand", "rand", 10000, 2500, 2500, 1},  {"reuse", "rand", 10000, 1000, 1000, 2},
                                      {"pipe2", "pipe2", 750, 20000, 4000, 1}, {"pipe3", "pipe3", 750, 30000, 6000, 1},
                                      {"pipe8", "pipe8", 750, 32000, 8000, 1}, {"task", "none", 0, 1, 1, 2000},
                                      {"chain64", "chain", 0, 64, 64, 500},    {"wave8", "wave", 0, 64, 64, 500}};
static const overhead_case quick_cases[] = {
    {"none", "none", 0, 10000, 2000, 1},   {"chain", "chain", 0, 10000, 2000, 1}, {"fan", "fan", 0, 10000, 2000, 1},
    {"wave", "wave", 0, 10000, 2000, 1},   {"rand", "rand", 0, 10000, 2000, 1},   {"reuse", "rand", 0, 1000, 1000, 20},
    {"wave", "wave", 1000, 4000, 1000, 1}, {"rand", "rand", 1000, 4000, 1000, 1}, {"rand", "rand", 10000, 1000, 500, 1},
    {"pipe3", "pipe3", 750, 3000, 900, 1}, {"task", "none", 0, 1, 1, 500},        {"chain64", "chain", 0, 64, 64, 100},
    {"wave8", "wave", 0, 64, 64, 100}};
enum { CASES = sizeof cases / sizeof *cases, QUICK_CASES = sizeof quick_cases / sizeof *quick_cases };

/* Loops: iterations without edges. */
static const overhead_case loops[] = {{"loop", "none", 0, 100000, 10000, 20},
                                      {"loop-50ns", "none", 50, 100000, 10000, 20}};
enum { LOOPS = sizeof loops / sizeof *loops };

/* With and without learning: entries of a profile and records stay in the caches, as they do where a thread reads them now
 * and then. */
static const overhead_case learned[] = {{"chain", "chain", 0, 1000, 1000, 100},
                                        {"wave", "wave", 0, 900, 900, 100},
                                        {"rand", "rand", 0, 1000, 1000, 100},
                                        {"chain", "chain", 1000, 1000, 1000, 20},
                                        {"rand", "rand", 1000, 1000, 1000, 20}};
enum { LEARNED = sizeof learned / sizeof *learned };

/* The two sizes of a graph, and the samples of all peers on them. */
typedef struct bed {
    const overhead_case *what;
    bench_graph graph, small;
    double *build[PEER_ROWS_MAX], *prepare[PEER_ROWS_MAX], *run[PEER_ROWS_MAX];
} bed;

static void close_bed(bed *b)
{
    bench_graph_close(&b->graph);
    bench_graph_close(&b->small);
    for (uint32_t r = 0; r < PEER_ROWS_MAX; r++) {
        free(b->build[r]);
        free(b->prepare[r]);
        free(b->run[r]);
    }
}

static void set_body(bench_graph *g, int64_t body_ns, uint64_t iterations)
{
    g->body = body_ns > 0 ? bench_work : bench_empty;
    g->iterations = iterations;
    g->work_ns = body_ns > 0 ? body_ns : g->work_ns;
}

static bool open_bed(bed *b, const overhead_case *what, uint32_t rows, const bench_options *o)
{
    uint64_t iterations = bench_iterations(what->body_ns);

    *b = (bed){.what = what};
    if (!bench_graph_open(&b->graph, what->shape, what->tasks, o->seed) ||
        !bench_graph_open(&b->small, what->shape, what->small_tasks, o->seed))
        return false;
    set_body(&b->graph, what->body_ns, iterations);
    set_body(&b->small, what->body_ns, iterations);
    for (uint32_t r = 0; r < rows; r++) {
        b->build[r] = calloc(o->rounds, sizeof(double));
        b->prepare[r] = calloc(o->rounds, sizeof(double));
        b->run[r] = calloc(o->rounds, sizeof(double));
        if (b->build[r] == NULL || b->prepare[r] == NULL || b->run[r] == NULL)
            return false;
    }
    return true;
}

static bench_graph *graph_for(bed *b, const peer *p)
{
    return p->is_slow ? &b->small : &b->graph;
}

/* One sample: build, prepare, one run to warm up, then the timed runs. */
static bool take_sample(bed *b, uint32_t row, const peer_row *who, uint32_t index)
{
    const peer *p = who->peer;
    bench_graph *g = graph_for(b, p);
    void *state = p->open(g, who->workers);
    int64_t opened_ns = bench_now_ns(), built_ns, prepared_ns, warm_ns, end_ns;
    bool is_good = state != NULL && (p->build == NULL || p->build(state));

    built_ns = bench_now_ns();
    is_good = is_good && (p->prepare == NULL || p->prepare(state));
    prepared_ns = bench_now_ns();
    is_good = is_good && p->run(state);
    warm_ns = bench_now_ns();
    for (uint32_t r = 0; r < b->what->runs && is_good; r++)
        is_good = p->run(state);
    end_ns = bench_now_ns();
    if (state != NULL)
        p->close(state);
    b->build[row][index] = (double)(built_ns - opened_ns) / g->tasks;
    b->prepare[row][index] = (double)(prepared_ns - built_ns) / g->tasks;
    b->run[row][index] = (double)(end_ns - warm_ns) / g->tasks / b->what->runs;
    bench_rest();
    return is_good;
}

/* Every peer once, in a random order. */
static bool take_turn(bed *b, const overhead_table *t, uint32_t index, uint64_t *random)
{
    uint32_t order[PEER_ROWS_MAX];

    for (uint32_t r = 0; r < t->rows_count; r++)
        order[r] = r;
    bench_shuffle(order, t->rows_count, random);
    for (uint32_t i = 0; i < t->rows_count; i++)
        if (!take_sample(b, order[i], &t->rows[order[i]], index))
            return false;
    return true;
}

/* What the row's runs took longer than those of the first row with as many workers, in the same turns. */
static bench_stats paired(const bed *b, const overhead_table *t, uint32_t row, uint32_t turns)
{
    double *more = calloc(turns + 1u, sizeof *more);
    uint32_t plain = 0;

    while (t->rows[plain].workers != t->rows[row].workers) /* ends at the row */
        plain++;
    for (uint32_t i = 0; i < turns && more != NULL; i++)
        more[i] = b->run[row][i] - b->run[plain][i];
    bench_stats stats = more != NULL ? bench_summarise(more, turns) : (bench_stats){0};
    free(more);
    return stats;
}

static bool measure_case(overhead_table *t, uint32_t at, const bench_options *o, uint64_t *random)
{
    bench_turns *turns = &t->turns[at];
    bed b;
    bool is_good = open_bed(&b, t->cases[at], t->rows_count, o);

    turns->wanted = o->rounds;
    for (uint32_t r = 0; r < t->rows_count && is_good; r++)
        is_good = peer_check(t->rows[r].peer, graph_for(&b, t->rows[r].peer), t->rows[r].workers);
    while (is_good && bench_turn_begin(turns)) {
        is_good = take_turn(&b, t, turns->kept, random);
        bench_turn_end(turns);
    }
    for (uint32_t r = t->rows_count; r-- > 0 && is_good;) { /* from the last: sums up sort */
        const bench_graph *g = graph_for(&b, t->rows[r].peer);
        bench_stats more = t->learns ? paired(&b, t, r, turns->kept) : (bench_stats){0};

        t->cells[at][r] = (overhead_cell){.tasks = g->tasks,
                                          .edges = g->edges,
                                          .is_doubtful = turns->kept_loaded > 0,
                                          .build = bench_summarise(b.build[r], turns->kept),
                                          .prepare = bench_summarise(b.prepare[r], turns->kept),
                                          .run = bench_summarise(b.run[r], turns->kept),
                                          .more = more};
    }
    close_bed(&b);
    return is_good;
}

/* Builds, seals and runs a graph of a million empty tasks; prints seconds. */
static int run_million(const bench_options *o)
{
    uint32_t workers = bench_cpus() < 2 ? 1 : 2;
    const peer *p = &peers_clotho[0];
    bench_graph graph;
    bool is_good = bench_graph_open(&graph, "rand", 1000000, o->seed);
    void *state = is_good ? p->open(&graph, workers) : NULL;
    int64_t start_ns = bench_now_ns(), built_ns, prepared_ns, end_ns;

    is_good = state != NULL && p->build(state);
    built_ns = bench_now_ns();
    is_good = is_good && p->prepare(state);
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
        p->close(state);
    bench_graph_close(&graph);
    return is_good ? 0 : 1;
}

/* The cases of this run: all, or those with the label `only`. */
static bool choose_cases(overhead_table *t, bool is_quick, const char *only)
{
    const overhead_case *all = is_quick ? quick_cases : cases;
    uint32_t count = is_quick ? QUICK_CASES : CASES;

    for (uint32_t c = 0; c < count; c++)
        if (only == NULL || strcmp(only, all[c].label) == 0)
            t->cases[t->cases_count++] = &all[c];
    if (t->cases_count == 0)
        fprintf(stderr,
                "bench-overhead: there is no graph '%s'; there are none, chain, fan, wave, rand, reuse, pipe2, pipe3, "
                "pipe8, task, chain64, wave8\n",
                only);
    return t->cases_count > 0;
}

static int run_all(const bench_options *o, const char *only, bool is_loop, bool learns)
{
    overhead_table *t = calloc(1, sizeof *t);
    uint64_t random = o->seed;
    bool is_good;

    if (t == NULL)
        return 1;
    t->learns = learns;
    for (uint32_t c = 0; c < LOOPS && is_loop; c++)
        t->cases[t->cases_count++] = &loops[c];
    for (uint32_t c = 0; c < LEARNED && learns; c++)
        t->cases[t->cases_count++] = &learned[c];
    if (!is_loop && !learns && !choose_cases(t, o->quick, only)) {
        free(t);
        return 2;
    }
    t->rows_count = is_loop  ? peer_loop_rows(t->rows)
                    : learns ? peer_learning_rows(t->rows)
                             : peer_rows(t->rows, false);
    is_good = true;
    for (uint32_t c = 0; c < t->cases_count && is_good; c++)
        is_good = measure_case(t, c, o, &random);
    if (is_good && o->json)
        overhead_print_json(t, o);
    else if (is_good)
        overhead_print_text(t, o);
    free(t);
    return is_good ? 0 : 1;
}

int main(int argc, char **argv)
{
    bool is_million = false, is_loop = false, is_first = false, learns = false, is_cpp = false;
    const char *only = NULL;
    const bench_flag flags[] = {
        {"million", "instead: build, seal and run a graph of 1 000 000 empty tasks", &is_million, NULL, NULL},
        {"loop", "instead: 100 000 iterations of one loop, empty and of 50 ns, in ranges", &is_loop, NULL, NULL},
        {"learn", "instead: what it costs to learn what tasks take", &learns, NULL, NULL},
        {"cpp", "instead: Clotho by clotho.hpp beside Clotho by its C API", &is_cpp, NULL, NULL},
        {"first", "instead: graphs that are built, run once and given back, again and again", &is_first, NULL, NULL},
        {"only NAME",
         "one graph only: none, chain, fan, wave, rand, reuse, pipe2, pipe3, pipe8, task, chain64 or wave8", NULL,
         &only, NULL},
        {0}};
    const bench_about about = {
        .name = "overhead", .question = "what does a task cost?", .flags = flags, .rounds = 9, .quick_rounds = 3};
    bench_options o;
    int exit_status = bench_options_read(&o, &about, argc, argv);

    if (exit_status >= 0)
        return exit_status;
    if (is_first)
        return overhead_first_runs(&o, only);
    if (is_cpp)
        return overhead_cpp_face(&o, only);
    return is_million ? run_million(&o) : run_all(&o, only, is_loop, learns);
}
