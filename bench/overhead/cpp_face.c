/* cpp_face.c - what a task costs more by clotho.hpp than by the C API: the same graphs with empty bodies.
 *
 * Both are made in one turn, in either order, and then run in turns, so that what the machine does meanwhile meets both.
 * The ratio of a turn is the median of those of its pairs; a figure is the median of the turns. */
#include "overhead/overhead.h"
#include "peers/peer_tables.h"

#include <stdio.h>
#include <string.h>

enum { PAIRS = 41, TURNS_MAX = 99, WAYS = 4, RATIOS_MAX = 64 };

typedef struct face_case {
    const char *label, *shape;
    uint32_t tasks, repeats; /* runs that are timed together */
} face_case;

static const face_case cases[] = {{"none", "none", 10000, 1},    {"chain", "chain", 10000, 1}, {"fan", "fan", 10000, 1},
                                  {"wave", "wave", 10000, 1},    {"rand", "rand", 10000, 1},   {"task", "none", 1, 500},
                                  {"chain64", "chain", 64, 100}, {"wave8", "wave", 64, 100}};
enum { CASES = sizeof cases / sizeof *cases };

/* What one turn gives, ns a task, and what the turns of a row of C++ give together. */
enum { RUN_C, RUN_CPP, RATIO, BUILD_C, BUILD_CPP, VALUES };

typedef struct figure {
    bench_stats of[VALUES];
} figure;

static bool time_runs(const peer *p, void *state, const face_case *what, double *ns_a_task)
{
    int64_t start_ns = bench_now_ns();

    for (uint32_t i = 0; i < what->repeats; i++)
        if (!p->run(state))
            return false;
    *ns_a_task = (double)(bench_now_ns() - start_ns) / what->tasks / what->repeats;
    return true;
}

/* Open, build and prepare, as peer_make; tells how long build took. */
static void *make(const peer *p, bench_graph *g, uint32_t workers, double *ns_a_task)
{
    void *state = p->open(g, workers);
    int64_t start_ns = bench_now_ns();
    bool is_good = state != NULL && p->build(state);

    *ns_a_task = (double)(bench_now_ns() - start_ns) / g->tasks;
    if (is_good && p->prepare(state))
        return state;
    if (state != NULL)
        p->close(state);
    return NULL;
}

/* One turn: index 0 is C, 1 is C++. */
static bool take_turn(const peer *const peers[2], bench_graph *g, const face_case *what, uint32_t workers,
                      uint32_t turn, double values[VALUES])
{
    double times[3][PAIRS];
    void *states[2] = {NULL, NULL};
    bool is_good = true;

    for (uint32_t i = 0; i < 2 && is_good; i++) {
        uint32_t which = (i + turn) % 2;
        double warm;

        states[which] = make(peers[which], g, workers, &values[BUILD_C + which]);
        is_good = states[which] != NULL && time_runs(peers[which], states[which], what, &warm);
    }
    for (uint32_t p = 0; p < PAIRS && is_good; p++) {
        uint32_t first = (p + turn) % 2;

        is_good = time_runs(peers[first], states[first], what, &times[first][p]) &&
                  time_runs(peers[1 - first], states[1 - first], what, &times[1 - first][p]);
        times[2][p] = is_good ? times[1][p] / times[0][p] : 0;
    }
    for (uint32_t i = 0; i < 2; i++)
        if (states[i] != NULL)
            peers[i]->close(states[i]);
    for (uint32_t i = 0; i < 3 && is_good; i++)
        values[RUN_C + i] = bench_summarise(times[i], PAIRS).median;
    return is_good;
}

static bool measure(const peer *cpp, const face_case *what, uint32_t workers, const bench_options *o, figure *out)
{
    const peer *const peers[2] = {strstr(cpp->name, "replay") != NULL ? &peers_clotho[1] : &peers_clotho[0], cpp};
    uint32_t turns = o->rounds < TURNS_MAX ? o->rounds : TURNS_MAX;
    double of[VALUES][TURNS_MAX];
    bench_graph g;
    bool is_good = bench_graph_open(&g, what->shape, what->tasks, o->seed) && peer_check(cpp, &g, workers);

    g.body = bench_empty;
    for (uint32_t t = 0; t < turns && is_good; t++) {
        double values[VALUES];

        is_good = take_turn(peers, &g, what, workers, t, values);
        for (int i = 0; i < VALUES && is_good; i++)
            of[i][t] = values[i];
    }
    bench_graph_close(&g);
    for (int i = 0; i < VALUES && is_good; i++)
        out->of[i] = bench_summarise(of[i], turns);
    return is_good;
}

static void print_figure(const face_case *what, const peer *cpp, uint32_t workers, const figure *f, bool json)
{
    const bench_stats *over_c = &f->of[RATIO];

    if (json)
        printf("{\"graph\": \"%s\", \"tasks\": %u, \"peer\": \"%s\", \"workers\": %u, \"build_c\": %.2f, "
               "\"build_cpp\": %.2f, \"c\": %.2f, \"cpp\": %.2f, \"over_c\": %.3f, \"over_c_p10\": %.3f, "
               "\"over_c_p90\": %.3f}",
               what->label, what->tasks, cpp->name, workers, f->of[BUILD_C].median, f->of[BUILD_CPP].median,
               f->of[RUN_C].median, f->of[RUN_CPP].median, over_c->median, over_c->p10, over_c->p90);
    else
        printf("%-8s %-24s %7u %8.1f %8.1f %8.1f %8.1f   %.3f [%.3f .. %.3f]\n", what->label, cpp->name, workers,
               f->of[BUILD_C].median, f->of[BUILD_CPP].median, f->of[RUN_C].median, f->of[RUN_CPP].median,
               over_c->median, over_c->p10, over_c->p90);
}

/* The median over the graphs must be at most 1.05. */
static void print_goal(const peer *cpp, uint32_t workers, double *ratios, uint32_t count, bool json)
{
    bench_stats all = bench_summarise(ratios, count);

    if (json)
        printf("%s{\"goal\": \"%s / C\", \"workers\": %u, \"value\": %.3f, \"must\": 1.05, \"holds\": %s}",
               cpp == peers_cpp && workers == 1 ? "" : ", ", cpp->name, workers, all.median,
               all.median <= 1.05 ? "true" : "false");
    else
        printf("%-24s %7u   %.3f (must 1.05): %s\n", cpp->name, workers, all.median,
               all.median <= 1.05 ? "holds" : "misses");
}

int overhead_cpp_face(const bench_options *o, const char *only)
{
    double ratios[2][WAYS][RATIOS_MAX];
    uint32_t most = bench_cpus() < 2 ? 1 : 2, count = 0, shown = 0;
    load before = load_now();
    bool is_good = true;

    if (peers_cpp[0].name == NULL) {
        fprintf(stderr, "bench-overhead: --cpp: there was no C++ compiler where this was built (g++)\n");
        return 2;
    }
    if (o->json)
        printf("{\"bench\": \"C++ face\", \"unit\": \"ns a task\", \"rows\": [");
    else
        printf("ns a task, empty bodies, medians of %u turns of %d pairs; over C: the median of paired ratios\n\n"
               "graph    row                      workers  build C  in C++    run C   in C++   over C [p10 .. p90 of "
               "the turns]\n",
               o->rounds, PAIRS);
    for (uint32_t c = 0; c < CASES && is_good; c++) {
        if (only != NULL && strcmp(only, cases[c].label) != 0)
            continue;
        for (uint32_t workers = 1; workers <= most && is_good; workers++)
            for (uint32_t w = 0; w < WAYS && is_good; w++) {
                figure f = {0};

                is_good = measure(&peers_cpp[w], &cases[c], workers, o, &f);
                ratios[workers - 1][w][count] = f.of[RATIO].median;
                if (is_good && o->json && shown++ > 0)
                    printf(", ");
                if (is_good)
                    print_figure(&cases[c], &peers_cpp[w], workers, &f, o->json);
            }
        count++;
    }
    if (!is_good || count == 0)
        return fprintf(stderr, "bench-overhead: --cpp: failed, or there is no such graph\n"), is_good ? 2 : 1;
    printf(o->json ? "], \"goals\": [" : "\n");
    for (uint32_t w = 0; w < WAYS; w++)
        for (uint32_t workers = 1; workers <= most; workers++)
            print_goal(&peers_cpp[w], workers, ratios[workers - 1][w], count, o->json);
    printf(o->json ? "], \"foreign_load\": %.2f}\n" : "other programs used %.2f of the CPUs\n", load_foreign(before));
    return 0;
}
