/* bench_metg.c - how small may tasks be? METG(50 %) of Task Bench: the smallest mean task granularity at which a
 * runtime still does half of the useful work per second that the machine can do.
 *
 * As defined there (Slaughter et al., SC 2020; scripts/chart_metg.py): kernels of 2^k iterations, k downward;
 * granularity = wall time * workers / tasks, so it includes the runtime's own time; efficiency = useful work per
 * second over the peak; METG = the smallest granularity of a point that is efficient enough, moved to the threshold
 * on the straight line to the next smaller point. Deviations, for a machine that others use too: of each point the
 * lowest time counts, not the mean, and the peak is one for all peers: the best time of a kernel iteration that any
 * of them reached in this run. */
#include "metg/patterns.h"
#include "peers/peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATTERNS = 8, POINTS_MAX = 12, REPEATS = 3, EXPONENT_LOWEST = 2 };

/* One peer on one pattern. */
typedef struct cell {
    int64_t lowest_ns[POINTS_MAX]; /* wall time of a run with kernels of 2^(EXPONENT_LOWEST + index); 0: none yet */
    int64_t build_ns;              /* lowest: build and prepare */
    double metg_us, metg_build_us; /* run alone; with build and prepare. 0: never efficient enough */
} cell;

typedef struct table {
    peer_row rows[PEER_ROWS_MAX];
    uint32_t rows_count, points;
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

/* Largest kernels first; they warm up. */
static bool sweep(const peer *p, void *state, pattern *what, uint32_t points, cell *into)
{
    for (uint32_t point = points; point-- > 0;) {
        what->graph.iterations = iterations_of(point);
        for (int r = 0; r < REPEATS; r++) {
            pattern_arm(what);
            int64_t start_ns = bench_now_ns();
            bool is_good = p->run(state);
            int64_t end_ns = bench_now_ns();

            if (!is_good || !pattern_is_right(what))
                return false;
            keep_lower(&into->lowest_ns[point], end_ns - start_ns);
        }
    }
    return true;
}

static bool take_sample(const peer_row *row, pattern *what, uint32_t points, cell *into)
{
    const peer *p = row->peer;
    void *state = p->open(&what->graph, row->workers);
    int64_t start_ns = bench_now_ns();
    bool is_good = state != NULL && (p->build == NULL || p->build(state)) && (p->prepare == NULL || p->prepare(state));

    keep_lower(&into->build_ns, bench_now_ns() - start_ns);
    is_good = is_good && sweep(p, state, what, points, into);
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
        if (!take_sample(&t->rows[order[i]], what, t->points, &taken[order[i]]))
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
            for (uint32_t i = 0; i < t->points; i++)
                keep_lower(&t->cells[at][r].lowest_ns[i], taken[r].lowest_ns[i]);
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

static double efficiency(const table *t, uint32_t at, uint32_t row, uint32_t point)
{
    return t->iteration_ns * (double)iterations_of(point) /
           granularity_ns(t, at, row, t->cells[at][row].lowest_ns[point]);
}

static void find_peak(table *t)
{
    t->iteration_ns = 0;
    for (uint32_t at = 0; at < t->patterns_count; at++)
        for (uint32_t r = 0; r < t->rows_count; r++)
            for (uint32_t i = 0; i < t->points; i++) {
                double each = granularity_ns(t, at, r, t->cells[at][r].lowest_ns[i]) / (double)iterations_of(i);

                if (t->iteration_ns == 0 || each < t->iteration_ns)
                    t->iteration_ns = each;
            }
}

/* METG(50 %) in us; `more_ns` is added to every wall time. 0 if no point is efficient enough. */
static double metg_us(const table *t, uint32_t at, uint32_t row, int64_t more_ns)
{
    double wall[POINTS_MAX], good[POINTS_MAX];
    uint32_t best = POINTS_MAX;

    for (uint32_t i = 0; i < t->points; i++) {
        wall[i] = granularity_ns(t, at, row, t->cells[at][row].lowest_ns[i] + more_ns);
        good[i] = t->iteration_ns * (double)iterations_of(i) / wall[i];
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

            c->metg_us = metg_us(t, at, r, 0);
            c->metg_build_us = metg_us(t, at, r, c->build_ns);
        }
}

static double find(const table *t, uint32_t at, const char *name)
{
    for (uint32_t r = 0; r < t->rows_count; r++)
        if (strcmp(t->rows[r].peer->name, name) == 0)
            return t->cells[at][r].metg_us;
    return 0;
}

static double over(double a, double b)
{
    return b > 0 ? a / b : 0;
}

/* What the design asks for; 0 where it asks for nothing. */
static double must_us(const char *name)
{
    return strcmp(name, "no_comm") == 0 ? 0.35 : strcmp(name, "stencil_1d") == 0 ? 0.7 : 0;
}

static double aim_us(const char *name)
{
    return strcmp(name, "no_comm") == 0 ? 0.2 : strcmp(name, "stencil_1d") == 0 ? 0.4 : 0;
}

static bool is_held(double metg, double must)
{
    return metg > 0 && metg <= must;
}

static void print_metg(const table *t, bool with_build)
{
    printf("\nMETG(50 %%) in us, %s\n%-15s", with_build ? "build, prepare and run" : "run alone", "pattern");
    for (uint32_t r = 0; r < t->rows_count; r++)
        printf(" %17s", t->rows[r].peer->name);
    printf("\n");
    for (uint32_t at = 0; at < t->patterns_count; at++) {
        printf("%-15s", t->patterns[at]);
        for (uint32_t r = 0; r < t->rows_count; r++) {
            const cell *c = &t->cells[at][r];
            double metg = with_build ? c->metg_build_us : c->metg_us;

            if (metg > 0)
                printf(" %17.2f", metg);
            else
                printf(" %17s", "above all points");
        }
        printf("\n");
    }
}

static void print_text(const table *t, const bench_options *o)
{
    printf(
        "%u steps, width %u, radix %u, %u workers, outputs of 16 bytes, inputs checked; the lowest of %u turns of %d "
        "runs; peak: %.2f ns an iteration.\n",
        t->size.steps, t->size.width, t->size.radix, t->rows[0].workers, o->rounds, REPEATS, t->iteration_ns);
    bench_turns_print(&t->turns, false);
    print_metg(t, false);
    print_metg(t, true);
    printf("\n%-15s %12s %8s %8s  %-7s %14s %15s\n", "pattern", "Clotho steal", "must", "aim", "", "/ tbb by hand",
           "replay / by hand");
    for (uint32_t at = 0; at < t->patterns_count; at++) {
        const char *name = t->patterns[at];
        double own = find(t, at, "Clotho steal"), hand = find(t, at, "oneTBB by hand"), must = must_us(name);

        printf("%-15s %12.2f", name, own);
        if (must > 0)
            printf(" %8.2f %8.2f  %-7s", must, aim_us(name), is_held(own, must) ? "holds" : "misses");
        else
            printf(" %8s %8s  %-7s", "", "", "");
        printf(" %14.2f %15.2f\n", over(own, hand), over(find(t, at, "Clotho replay"), hand));
    }
}

static void print_points_json(const table *t, uint32_t at, uint32_t row)
{
    for (uint32_t i = 0; i < t->points; i++)
        printf("%s{\"iterations\": %llu, \"granularity_ns\": %.1f, \"efficiency\": %.3f}", i > 0 ? ", " : "",
               (unsigned long long)iterations_of(i), granularity_ns(t, at, row, t->cells[at][row].lowest_ns[i]),
               efficiency(t, at, row, i));
}

static void print_json(const table *t, const bench_options *o)
{
    const char *comma = "";

    printf("{\"bench\": \"metg\", \"unit\": \"us\", \"seed\": %llu, \"steps\": %u, \"width\": %u, \"radix\": %u, "
           "\"workers\": %u, \"iteration_ns\": %.3f, ",
           (unsigned long long)o->seed, t->size.steps, t->size.width, t->size.radix, t->rows[0].workers,
           t->iteration_ns);
    bench_turns_print(&t->turns, true);
    printf(", \"rows\": [");
    for (uint32_t at = 0; at < t->patterns_count; at++)
        for (uint32_t r = 0; r < t->rows_count; r++, comma = ", ") {
            const cell *c = &t->cells[at][r];

            printf(
                "%s{\"pattern\": \"%s\", \"tasks\": %u, \"peer\": \"%s\", \"metg\": %.4f, \"metg_with_build\": %.4f, "
                "\"build_ns\": %lld, \"points\": [",
                comma, t->patterns[at], t->tasks[at], t->rows[r].peer->name, c->metg_us, c->metg_build_us,
                (long long)c->build_ns);
            print_points_json(t, at, r);
            printf("]}");
        }
    printf("], \"goals\": [");
    comma = "";
    for (uint32_t at = 0; at < t->patterns_count; at++, comma = ", ") {
        double own = find(t, at, "Clotho steal"), hand = find(t, at, "oneTBB by hand"), must = must_us(t->patterns[at]);

        printf("%s{\"pattern\": \"%s\", \"value\": %.4f, \"by_hand\": %.3f", comma, t->patterns[at], own,
               over(own, hand));
        if (must > 0)
            printf(", \"must\": %.2f, \"aim\": %.2f, \"holds\": %s", must, aim_us(t->patterns[at]),
                   is_held(own, must) ? "true" : "false");
        printf("}");
    }
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
                                 "one pattern only: trivial, no_comm, tree, fft, random_nearest, stencil_1d, nearest "
                                 "or spread",
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
    t->size = (pattern_size){.steps = o.quick ? 50 : 500, .radix = 3};
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
