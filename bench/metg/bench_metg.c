/* bench_metg.c - how small may tasks be? METG(50 %) of Task Bench: the smallest mean task granularity at which a
 * runtime still does half of the useful work per second that the machine can do.
 *
 * As defined there (Slaughter et al., SC 2020; scripts/chart_metg.py): kernels of 2^k iterations, k downward;
 * granularity = wall time * workers / tasks, so it includes the runtime's own time; efficiency = useful work per
 * second over the peak; METG = the smallest granularity of a point that is efficient enough, moved to the threshold
 * on the straight line to the next smaller point. Deviations, for a machine that others use too: of each point the
 * lowest time counts, not the mean, and the peak is one for all peers: the best time of a kernel iteration that any
 * of them reached in this run.
 *
 * Two modes. A *re-run*: the graph is there and has run before. A *first run*: the graph is declared, made ready and
 * run once, all of it timed; then it goes, and the workers stay. */
#include "metg/patterns.h"
#include "peers/peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATTERNS = 9, POINTS_MAX = 12, REPEATS = 3, QUICK_REPEATS = 1, EXPONENT_LOWEST = 2 };

typedef enum mode { RERUN, FIRST_RUN, MODES } mode;

/* One peer on one pattern. */
typedef struct cell {
    int64_t lowest_ns[MODES][POINTS_MAX]; /* with kernels of 2^(EXPONENT_LOWEST + index); 0: none yet */
    int64_t build_ns;                     /* lowest: build and prepare */
    double metg_us[MODES];                /* 0: never efficient enough */
} cell;

typedef struct table {
    peer_row rows[PEER_ROWS_MAX];
    uint32_t rows_count, points, repeats;
    pattern_size size;
    const char *patterns[PATTERNS];
    uint32_t patterns_count;
    uint32_t tasks[PATTERNS];
    cell cells[PATTERNS][PEER_ROWS_MAX];
    double iteration_ns; /* the peak */
    bench_turns turns;
} table;

static uint64_t iterations_of(uint32_t point)
{
    return (uint64_t)1 << (EXPONENT_LOWEST + point);
}

static void keep_lower(int64_t *lowest, int64_t value)
{
    if (*lowest == 0 || value < *lowest)
        *lowest = value;
}

static bool make(const peer *p, void *state)
{
    return (p->build == NULL || p->build(state)) && (p->prepare == NULL || p->prepare(state));
}

/* A new graph of every repetition: what the first run of it takes, with all that goes before. */
static bool run_first(const peer *p, void *state, pattern *what, uint32_t point, cell *into)
{
    if (p->drop != NULL)
        p->drop(state);
    pattern_arm(what);
    int64_t start_ns = bench_now_ns();
    bool is_good = make(p, state);
    int64_t made_ns = bench_now_ns();

    is_good = is_good && p->run(state);
    int64_t end_ns = bench_now_ns();
    keep_lower(&into->build_ns, made_ns - start_ns);
    keep_lower(&into->lowest_ns[FIRST_RUN][point], end_ns - start_ns);
    return is_good && pattern_is_right(what);
}

static bool run_again(const peer *p, void *state, pattern *what, uint32_t point, cell *into)
{
    pattern_arm(what);
    int64_t start_ns = bench_now_ns();
    bool is_good = p->run(state);

    keep_lower(&into->lowest_ns[RERUN][point], bench_now_ns() - start_ns);
    return is_good && pattern_is_right(what);
}

/* Largest kernels first; they warm up. */
static bool sweep(const table *t, const peer *p, void *state, pattern *what, cell *into)
{
    bool is_good = true;

    for (uint32_t point = t->points; is_good && point-- > 0;) {
        what->graph.iterations = iterations_of(point);
        for (uint32_t r = 0; r < t->repeats && is_good; r++)
            is_good = run_first(p, state, what, point, into);
        for (uint32_t r = 0; r < t->repeats && is_good; r++)
            is_good = run_again(p, state, what, point, into);
    }
    return is_good;
}

static bool take_sample(const table *t, const peer_row *row, pattern *what, cell *into)
{
    const peer *p = row->peer;
    void *state = p->open(&what->graph, row->workers);
    bool is_good = state != NULL && make(p, state) && sweep(t, p, state, what, into);

    if (state != NULL)
        p->close(state);
    if (!is_good)
        fprintf(stderr, "bench-metg: %s fails on %s, or gives a task wrong inputs\n", row->peer->name,
                what->graph.name);
    bench_rest();
    return is_good;
}

/* Every peer once, in a random order, into taken[]. */
static bool take_turn(const table *t, pattern *what, cell *taken, uint64_t *random)
{
    uint32_t order[PEER_ROWS_MAX];

    memset(taken, 0, PEER_ROWS_MAX * sizeof *taken);
    for (uint32_t r = 0; r < t->rows_count; r++)
        order[r] = r;
    bench_shuffle(order, t->rows_count, random);
    for (uint32_t i = 0; i < t->rows_count; i++)
        if (!take_sample(t, &t->rows[order[i]], what, &taken[order[i]]))
            return false;
    return true;
}

static bool measure_pattern(table *t, uint32_t at, const bench_options *o, uint64_t *random)
{
    bench_turns turns = {.wanted = o->rounds};
    cell taken[PEER_ROWS_MAX];
    pattern what;
    bool is_good = pattern_open(&what, t->patterns[at], t->size);

    while (is_good && bench_turn_begin(&turns)) {
        is_good = take_turn(t, &what, taken, random);
        if (!bench_turn_end(&turns))
            continue;
        for (uint32_t r = 0; r < t->rows_count && is_good; r++) {
            keep_lower(&t->cells[at][r].build_ns, taken[r].build_ns);
            for (uint32_t i = 0; i < MODES * t->points; i++)
                keep_lower(&t->cells[at][r].lowest_ns[i / t->points][i % t->points],
                           taken[r].lowest_ns[i / t->points][i % t->points]);
        }
    }
    t->tasks[at] = what.graph.tasks;
    bench_turns_add(&t->turns, &turns);
    pattern_close(&what);
    return is_good;
}

/* Wall time times workers over tasks. */
static double granularity_ns(const table *t, uint32_t at, uint32_t row, int64_t wall_ns)
{
    return (double)wall_ns * t->rows[row].workers / t->tasks[at];
}

static double efficiency(const table *t, uint32_t at, uint32_t row, mode how, uint32_t point)
{
    return t->iteration_ns * (double)iterations_of(point) /
           granularity_ns(t, at, row, t->cells[at][row].lowest_ns[how][point]);
}

static void find_peak(table *t)
{
    t->iteration_ns = 0;
    for (uint32_t at = 0; at < t->patterns_count; at++)
        for (uint32_t r = 0; r < t->rows_count; r++)
            for (uint32_t i = 0; i < t->points; i++) {
                double each = granularity_ns(t, at, r, t->cells[at][r].lowest_ns[RERUN][i]) / (double)iterations_of(i);

                if (t->iteration_ns == 0 || each < t->iteration_ns)
                    t->iteration_ns = each;
            }
}

/* METG(50 %) in us; 0 if no point is efficient enough. */
static double metg_us(const table *t, uint32_t at, uint32_t row, mode how)
{
    double wall[POINTS_MAX], good[POINTS_MAX];
    uint32_t best = POINTS_MAX;

    for (uint32_t i = 0; i < t->points; i++) {
        wall[i] = granularity_ns(t, at, row, t->cells[at][row].lowest_ns[how][i]);
        good[i] = efficiency(t, at, row, how, i);
        if (good[i] >= 0.5 && (best == POINTS_MAX || wall[i] < wall[best]))
            best = i;
    }
    if (best == POINTS_MAX)
        return 0;
    if (best == 0 || good[best - 1] >= 0.5 || wall[best - 1] >= wall[best])
        return wall[best] / 1000;
    double share = (0.5 - good[best]) / (good[best - 1] - good[best]);
    return (wall[best] + share * (wall[best - 1] - wall[best])) / 1000;
}

static void conclude(table *t)
{
    find_peak(t);
    for (uint32_t at = 0; at < t->patterns_count; at++)
        for (uint32_t r = 0; r < t->rows_count; r++) {
            cell *c = &t->cells[at][r];

            for (mode how = RERUN; how < MODES; how++)
                c->metg_us[how] = metg_us(t, at, r, how);
        }
}

static double find(const table *t, uint32_t at, mode how, const char *name)
{
    for (uint32_t r = 0; r < t->rows_count; r++)
        if (strcmp(t->rows[r].peer->name, name) == 0)
            return t->cells[at][r].metg_us[how];
    return 0;
}

/* The best of the peers that are told of the graph; "oneTBB by hand" runs on the arrays of the benchmark. 0: none is
 * there. */
static double best_peer(const table *t, uint32_t at, mode how)
{
    double best = 0;

    for (uint32_t r = 0; r < t->rows_count; r++) {
        const char *name = t->rows[r].peer->name;
        double metg = t->cells[at][r].metg_us[how];

        if (strncmp(name, "Clotho", 6) == 0 || strcmp(name, "oneTBB by hand") == 0 || metg == 0)
            continue;
        best = best == 0 || metg < best ? metg : best;
    }
    return best;
}

static double over(double a, double b)
{
    return b > 0 ? a / b : 0;
}

/* What the design asks of Clotho's stealing on one pattern, in one mode. must_us 0: no figure of its own. */
typedef struct goal {
    double metg_us, must_us, best_us; /* best_us: of the peers, not to be exceeded; 0: none is there */
    bool is_judged;
} goal;

static goal goal_of(const table *t, uint32_t at, mode how)
{
    static const char *const judged[] = {"stencil_1d", "fft", "nearest", "random_nearest", "tree", "all_to_all"};
    const char *name = t->patterns[at];
    bool is_stencil = strcmp(name, "stencil_1d") == 0;
    goal g = {.metg_us = find(t, at, how, "Clotho steal"), .best_us = best_peer(t, at, how)};

    if (how == FIRST_RUN && is_stencil)
        g.must_us = 0.8;
    else if (how == RERUN)
        g.must_us = strcmp(name, "no_comm") == 0 ? 0.35 : is_stencil ? 0.7 : 0;
    for (size_t i = 0; i < sizeof judged / sizeof *judged; i++)
        g.is_judged |= strcmp(name, judged[i]) == 0;
    g.is_judged |= g.must_us > 0;
    return g;
}

static bool is_held(const goal *g)
{
    return g->metg_us > 0 && (g->must_us == 0 || g->metg_us <= g->must_us) &&
           (g->best_us == 0 || g->metg_us <= g->best_us);
}

static const char *const mode_names[MODES] = {"re-run", "first run"};

static void print_metg(const table *t, mode how)
{
    printf("\nMETG(50 %%) in us, %s\n%-15s", how == FIRST_RUN ? "build, prepare and first run" : "re-run", "pattern");
    for (uint32_t r = 0; r < t->rows_count; r++)
        printf(" %17s", t->rows[r].peer->name);
    printf("\n");
    for (uint32_t at = 0; at < t->patterns_count; at++) {
        printf("%-15s", t->patterns[at]);
        for (uint32_t r = 0; r < t->rows_count; r++) {
            double metg = t->cells[at][r].metg_us[how];

            if (metg > 0)
                printf(" %17.2f", metg);
            else
                printf(" %17s", "above all points");
        }
        printf("\n");
    }
}

static void print_goals(const table *t, mode how)
{
    printf("\n%-15s %-10s %12s %8s %10s  %-7s %14s %15s\n", "pattern", "mode", "Clotho steal", "must", "best peer", "",
           "/ tbb by hand", "replay / by hand");
    for (uint32_t at = 0; at < t->patterns_count; at++) {
        goal g = goal_of(t, at, how);
        double hand = find(t, at, how, "oneTBB by hand");
        char must[16] = "";

        if (g.must_us > 0)
            snprintf(must, sizeof must, "%.2f", g.must_us);
        printf("%-15s %-10s %12.2f %8s %10.2f  %-7s %14.2f %15.2f\n", t->patterns[at], mode_names[how], g.metg_us, must,
               g.best_us,
               !g.is_judged  ? ""
               : is_held(&g) ? "holds"
                             : "misses",
               over(g.metg_us, hand), over(find(t, at, how, "Clotho replay"), hand));
    }
}

static void print_text(const table *t, const bench_options *o)
{
    printf("%u steps, width %u, radix 5 (spread: 3), %u workers, outputs of 16 bytes, inputs checked; the lowest of %u "
           "turns of %u runs; peak: %.2f ns an iteration.\n",
           t->size.steps, t->size.width, t->rows[0].workers, o->rounds, t->repeats, t->iteration_ns);
    bench_turns_print(&t->turns, false);
    print_metg(t, RERUN);
    print_metg(t, FIRST_RUN);
    print_goals(t, RERUN);
    print_goals(t, FIRST_RUN);
    printf("(best peer: of those that are told of the graph; by hand runs on the arrays of the benchmark)\n");
}

static void print_points_json(const table *t, uint32_t at, uint32_t row, mode how)
{
    for (uint32_t i = 0; i < t->points; i++)
        printf("%s{\"iterations\": %llu, \"granularity_ns\": %.1f, \"efficiency\": %.3f}", i > 0 ? ", " : "",
               (unsigned long long)iterations_of(i), granularity_ns(t, at, row, t->cells[at][row].lowest_ns[how][i]),
               efficiency(t, at, row, how, i));
}

static void print_goals_json(const table *t)
{
    const char *comma = "";

    for (uint32_t i = 0; i < MODES * t->patterns_count; i++, comma = ", ") {
        uint32_t at = i / MODES;
        mode how = (mode)(i % MODES);
        goal g = goal_of(t, at, how);

        printf("%s{\"pattern\": \"%s\", \"mode\": \"%s\", \"value\": %.4f, \"best_peer\": %.4f, \"by_hand\": %.3f",
               comma, t->patterns[at], mode_names[how], g.metg_us, g.best_us,
               over(g.metg_us, find(t, at, how, "oneTBB by hand")));
        if (g.must_us > 0)
            printf(", \"must\": %.2f", g.must_us);
        if (g.is_judged)
            printf(", \"holds\": %s", is_held(&g) ? "true" : "false");
        printf("}");
    }
}

static void print_json(const table *t, const bench_options *o)
{
    const char *comma = "";

    printf("{\"bench\": \"metg\", \"unit\": \"us\", \"seed\": %llu, \"steps\": %u, \"width\": %u, \"workers\": %u, "
           "\"iteration_ns\": %.3f, ",
           (unsigned long long)o->seed, t->size.steps, t->size.width, t->rows[0].workers, t->iteration_ns);
    bench_turns_print(&t->turns, true);
    printf(", \"rows\": [");
    for (uint32_t at = 0; at < t->patterns_count; at++)
        for (uint32_t r = 0; r < t->rows_count; r++, comma = ", ") {
            const cell *c = &t->cells[at][r];

            printf("%s{\"pattern\": \"%s\", \"radix\": %u, \"tasks\": %u, \"peer\": \"%s\", \"metg\": %.4f, "
                   "\"metg_with_build\": %.4f, \"build_ns\": %lld, \"points\": [",
                   comma, t->patterns[at], pattern_radix(t->patterns[at]), t->tasks[at], t->rows[r].peer->name,
                   c->metg_us[RERUN], c->metg_us[FIRST_RUN], (long long)c->build_ns);
            print_points_json(t, at, r, RERUN);
            printf("], \"first_points\": [");
            print_points_json(t, at, r, FIRST_RUN);
            printf("]}");
        }
    printf("], \"goals\": [");
    print_goals_json(t);
    printf("]}\n");
}

static bool choose_patterns(table *t, const char *only)
{
    for (uint32_t i = 0; pattern_name(i) != NULL && i < PATTERNS; i++)
        if (only == NULL || strcmp(only, pattern_name(i)) == 0)
            t->patterns[t->patterns_count++] = pattern_name(i);
    if (t->patterns_count == 0)
        fprintf(stderr, "bench-metg: there is no pattern '%s'; see --help\n", only);
    return t->patterns_count > 0;
}

int main(int argc, char **argv)
{
    const char *only = NULL;
    const bench_flag flags[] = {{"only NAME",
                                 "one pattern only: trivial, no_comm, tree, fft, random_nearest, stencil_1d, nearest, "
                                 "spread or all_to_all",
                                 NULL, &only, NULL},
                                {0}};
    const bench_about about = {
        .name = "metg", .question = "how small may tasks be?", .flags = flags, .rounds = 5, .quick_rounds = 1};
    bench_options o;
    int exit_status = bench_options_read(&o, &about, argc, argv);
    table *t;
    uint64_t random;
    bool is_good = true;

    if (exit_status >= 0)
        return exit_status;
    t = calloc(1, sizeof *t);
    if (t == NULL)
        return 1;
    if (!choose_patterns(t, only)) {
        free(t);
        return 2;
    }
    random = o.seed;
    t->rows_count = peer_rows(t->rows, true);
    t->points = POINTS_MAX;
    t->repeats = o.quick ? QUICK_REPEATS : REPEATS;
    t->size = (pattern_size){.steps = o.quick ? 20 : 500};
    /* 4 points a worker, but spread needs 7. */
    t->size.width = 4 * t->rows[0].workers < 8 ? 8 : 4 * t->rows[0].workers;
    for (uint32_t at = 0; at < t->patterns_count && is_good; at++)
        is_good = measure_pattern(t, at, &o, &random);
    if (is_good) {
        conclude(t);
        if (o.json)
            print_json(t, &o);
        else
            print_text(t, &o);
    }
    free(t);
    return is_good ? 0 : 1;
}
