/* first_runs.c - what a graph costs that is run once: build, prepare, first run, and giving it back, again and again
 * with the same workers. */
#include "overhead/overhead.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum phase { BUILD, PREPARE, RUN, DROP, PHASES } phase;

static const char *const phase_names[PHASES] = {"build", "prepare", "first run", "drop"};

typedef struct first_case {
    const char *label, *shape;
    uint32_t tasks, repeats; /* repeats: in one sample */
} first_case;

static const first_case cases[] = {{"task", "none", 1, 2000},     {"chain64", "chain", 64, 300},
                                   {"wave8", "wave", 64, 300},    {"none", "none", 10000, 10},
                                   {"chain", "chain", 10000, 10}, {"wave", "wave", 10000, 10},
                                   {"rand", "rand", 10000, 10}};
enum { CASES = sizeof cases / sizeof *cases };

/* [row][phase][turn] ns a task. */
typedef struct samples {
    double *of[PEER_ROWS_MAX][PHASES];
} samples;

static bool run_once(const peer *p, void *state, int64_t *sums)
{
    int64_t at[PHASES + 1] = {bench_now_ns()};
    bool is_good = p->build == NULL || p->build(state);

    at[PREPARE] = bench_now_ns();
    is_good = is_good && (p->prepare == NULL || p->prepare(state));
    at[RUN] = bench_now_ns();
    is_good = is_good && p->run(state);
    at[DROP] = bench_now_ns();
    if (p->drop != NULL)
        p->drop(state);
    at[PHASES] = bench_now_ns();
    for (int i = 0; i < PHASES; i++)
        sums[i] += at[i + 1] - at[i];
    return is_good;
}

static bool take_sample(const peer_row *who, bench_graph *g, uint32_t repeats, samples *into, uint32_t row,
                        uint32_t turn)
{
    void *state = who->peer->open(g, who->workers);
    int64_t warm[PHASES] = {0}, sums[PHASES] = {0};
    bool is_good = state != NULL && run_once(who->peer, state, warm);

    for (uint32_t i = 0; i < repeats && is_good; i++)
        is_good = run_once(who->peer, state, sums);
    if (state != NULL)
        who->peer->close(state);
    for (int i = 0; i < PHASES; i++)
        into->of[row][i][turn] = (double)sums[i] / g->tasks / repeats;
    bench_rest();
    return is_good;
}

/* Every peer once, in a random order. */
static bool take_turn(const peer_row *rows, uint32_t count, bench_graph *g, const first_case *what, samples *into,
                      uint32_t turn, uint64_t *random)
{
    uint32_t order[PEER_ROWS_MAX];

    for (uint32_t r = 0; r < count; r++)
        order[r] = r;
    bench_shuffle(order, count, random);
    for (uint32_t i = 0; i < count; i++)
        if (!take_sample(&rows[order[i]], g, what->repeats, into, order[i], turn))
            return false;
    return true;
}

static void print_row(const first_case *what, const peer_row *row, const bench_stats *of, bool json)
{
    double sum = 0, lowest = 0;

    for (int i = 0; i < PHASES; i++) {
        sum += of[i].median;
        lowest += of[i].lowest;
    }
    if (json) {
        printf("{\"graph\": \"%s\", \"tasks\": %u, \"peer\": \"%s\", \"workers\": %u, \"build\": %.2f, \"prepare\": "
               "%.2f, \"first_run\": %.2f, \"drop\": %.2f, \"sum\": %.2f, \"sum_lowest\": %.2f}",
               what->label, what->tasks, row->peer->name, row->workers, of[BUILD].median, of[PREPARE].median,
               of[RUN].median, of[DROP].median, sum, lowest);
        return;
    }
    printf("%-18s %7u", row->peer->name, row->workers);
    for (int i = 0; i < PHASES; i++)
        printf(" %10.1f", of[i].median);
    printf(" %10.1f %10.1f\n", sum, lowest);
}

static bool allocate(samples *s, uint32_t rows, uint32_t turns)
{
    bool is_good = true;

    for (uint32_t i = 0; i < rows * PHASES; i++) {
        s->of[i / PHASES][i % PHASES] = calloc(turns, sizeof(double));
        is_good = is_good && s->of[i / PHASES][i % PHASES] != NULL;
    }
    return is_good;
}

static void print_case(const first_case *what, const peer_row *rows, uint32_t count, samples *s, uint32_t turns,
                       bool json)
{
    if (!json) {
        printf("\n%s, %u task%s, empty bodies\n%-18s %7s", what->label, what->tasks, what->tasks > 1 ? "s" : "", "peer",
               "workers");
        for (int i = 0; i < PHASES; i++)
            printf(" %10s", phase_names[i]);
        printf(" %10s %10s\n", "sum", "lowest");
    }
    for (uint32_t r = 0; r < count; r++) {
        bench_stats of[PHASES];

        for (int i = 0; i < PHASES; i++)
            of[i] = bench_summarise(s->of[r][i], turns);
        if (json)
            printf("%s", what != cases || r > 0 ? ", " : "");
        print_row(what, &rows[r], of, json);
    }
}

static bool measure(const first_case *what, const peer_row *rows, uint32_t count, const bench_options *o,
                    bench_turns *all, uint64_t *random)
{
    bench_turns turns = {.wanted = o->rounds};
    bench_graph g;
    samples s = {0};
    first_case now = *what;
    bool is_good = bench_graph_open(&g, what->shape, what->tasks, o->seed) && allocate(&s, count, o->rounds);

    now.repeats = o->quick ? what->repeats / 5 : what->repeats;
    g.body = bench_empty;
    while (is_good && bench_turn_begin(&turns)) {
        is_good = take_turn(rows, count, &g, &now, &s, turns.kept, random);
        bench_turn_end(&turns);
    }
    if (is_good)
        print_case(what, rows, count, &s, turns.kept, o->json);
    bench_turns_add(all, &turns);
    bench_graph_close(&g);
    for (uint32_t i = 0; i < count * PHASES; i++)
        free(s.of[i / PHASES][i % PHASES]);
    return is_good;
}

int overhead_first_runs(const bench_options *o, const char *only)
{
    peer_row rows[PEER_ROWS_MAX];
    uint32_t count = peer_rows(rows, true);
    bench_turns all = {0};
    uint64_t random = o->seed;
    bool is_good = true, is_found = false;

    printf(o->json ? "{\"bench\": \"first runs\", \"unit\": \"ns a task\", \"rows\": ["
                   : "ns a task, medians; each repetition builds, prepares, runs once and drops a graph; the workers "
                     "stay.\n");
    for (uint32_t c = 0; c < CASES && is_good; c++)
        if (only == NULL || strcmp(only, cases[c].label) == 0) {
            is_found = true;
            is_good = measure(&cases[c], rows, count, o, &all, &random);
        }
    printf(o->json ? "], " : "\n");
    bench_turns_print(&all, o->json);
    printf(o->json ? "}\n" : "");
    if (!is_found)
        fprintf(stderr, "bench-overhead: there is no graph '%s' for --first\n", only);
    return is_good && is_found ? 0 : 1;
}
