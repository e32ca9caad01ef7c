/* overhead_report.c - the tables of bench-overhead, and how far the goals of the design are reached.
 *
 * The goals are ratios, so that they hold on any machine: Clotho's work stealing with two workers over oneTBB's flow
 * graph with two, and over itself with one worker. They are judged by the ratio of the medians; that of the lowest
 * stands beside it. */
#include "overhead/overhead.h"
#include "peers/peer_tables.h"

#include <stdio.h>
#include <string.h>

typedef struct goal {
    const char *label, *text, *unit;
    double value, lowest, must, aim; /* aim 0: none, or it is aim_ns */
    bool is_doubtful;                /* other programs ran */
    double ns, aim_ns, by_hand;      /* beside it: ns a task, and the ratio to oneTBB by hand; 0: unknown */
} goal;

enum { GOALS_MAX = 24 };

typedef struct goals {
    goal list[GOALS_MAX];
    uint32_t count;
} goals;

static const overhead_cell *find(const overhead_table *t, const char *label, const char *name, uint32_t workers)
{
    for (uint32_t c = 0; c < t->cases_count; c++)
        for (uint32_t r = 0; r < t->rows_count; r++) {
            const peer_row *row = &t->rows[r];

            if (t->cases[c]->body_ns == 0 && strcmp(t->cases[c]->label, label) == 0 &&
                strcmp(row->peer->name, name) == 0 && row->workers == workers)
                return &t->cells[c][r];
        }
    return NULL;
}

static double over(double a, double b)
{
    return b > 0 ? a / b : 0;
}

/* One row: `wanted` by the time of `own` over that of `other`; by_hand may be NULL. What was not measured has no row. */
static void add_ratio(goals *all, const goal *wanted, const char *text, const overhead_cell *own,
                      const overhead_cell *other, const overhead_cell *by_hand)
{
    if (own == NULL || other == NULL)
        return;
    goal g = *wanted;
    g.text = text;
    g.unit = "x";
    g.value = over(own->run.median, other->run.median);
    g.lowest = over(own->run.lowest, other->run.lowest);
    g.ns = own->run.median;
    g.is_doubtful = own->is_doubtful;
    g.by_hand = by_hand != NULL ? over(own->run.median, by_hand->run.median) : 0;
    all->list[all->count++] = g;
}

static void add_peer_goals(goals *all, const overhead_table *t)
{
    static const goal wanted[] = {{.label = "chain", .must = 0.35, .aim_ns = 11},
                                  {.label = "wave", .must = 0.25, .aim_ns = 11.7},
                                  {.label = "rand", .must = 0.40, .aim_ns = 70},
                                  {.label = "fan", .must = 0.40, .aim_ns = 40},
                                  {.label = "reuse", .must = 0.40, .aim_ns = 60}};

    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const overhead_cell *hand = find(t, wanted[i].label, "oneTBB by hand", 2);
        if (hand != NULL)
            add_ratio(all, &wanted[i], "steal / oneTBB flow graph, 2 workers",
                      find(t, wanted[i].label, "Clotho steal", 2), find(t, wanted[i].label, "oneTBB flow graph", 2),
                      hand);
    }
}

/* A short job, submitted again and again: what counts is how it comes to who runs it, and how its end comes back. */
static void add_short_goals(goals *all, const overhead_table *t)
{
    static const goal wanted[] = {
        {.label = "task", .must = 1.2}, {.label = "chain64", .must = 1}, {.label = "wave8", .must = 1}};

    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        add_ratio(all, &wanted[i], "steal / oneTBB by hand, 2 workers", find(t, wanted[i].label, "Clotho steal", 2),
                  find(t, wanted[i].label, "oneTBB by hand", 2), NULL);
}

static void add_worker_goals(goals *all, const overhead_table *t)
{
    static const goal wanted[] = {{.label = "chain", .must = 1.15, .aim = 1},
                                  {.label = "wave", .must = 1.15, .aim = 1},
                                  {.label = "rand", .must = 1.15, .aim = 1},
                                  {.label = "fan", .must = 2, .aim = 1}};

    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        add_ratio(all, &wanted[i], "steal, 2 workers / 1 worker", find(t, wanted[i].label, "Clotho steal", 2),
                  find(t, wanted[i].label, "Clotho steal", 1), NULL);
}

/* A graph without edges gives what a task costs; what rand costs more is its edges. */
static void add_build_goals(goals *all, const overhead_table *t)
{
    uint32_t workers = bench_cpus() < 2 ? 1 : 2;
    const overhead_cell *none = find(t, "none", "Clotho steal", workers);
    const overhead_cell *rand = find(t, "rand", "Clotho steal", workers);

    if (none == NULL)
        return;
    all->list[all->count++] = (goal){.label = "build",
                                     .text = "declare and seal, ns a task",
                                     .unit = "ns",
                                     .value = none->build.median,
                                     .lowest = none->build.lowest,
                                     .is_doubtful = none->is_doubtful,
                                     .must = 50,
                                     .aim = 20};
    if (rand == NULL || rand->edges == 0)
        return;
    double share = (double)rand->tasks / rand->edges;
    all->list[all->count++] = (goal){.label = "build",
                                     .text = "declare and seal, ns an edge (rand)",
                                     .unit = "ns",
                                     .value = (rand->build.median - none->build.median) * share,
                                     .lowest = (rand->build.lowest - none->build.lowest) * share,
                                     .is_doubtful = none->is_doubtful || rand->is_doubtful,
                                     .must = 10,
                                     .aim = 5};
}

/* With one worker nothing that learning costs is hidden: the worker records, and then the caller learns. */
static void add_learning_goals(goals *all, const overhead_table *t)
{
    for (uint32_t c = 0; c < t->cases_count && t->learns; c++)
        for (uint32_t r = 0; r < t->rows_count; r++)
            if (t->rows[r].peer == &learners_clotho[2] && t->rows[r].workers == 1 && t->cases[c]->body_ns == 0)
                all->list[all->count++] = (goal){.label = t->cases[c]->label,
                                                 .text = "learning 1 of 32, ns an empty task",
                                                 .unit = "ns",
                                                 .value = t->cells[c][r].more.median,
                                                 .lowest = t->cells[c][r].more.lowest,
                                                 .is_doubtful = t->cells[c][r].is_doubtful,
                                                 .must = 30};
}

static bench_turns all_turns(const overhead_table *t)
{
    bench_turns all = {.wanted = 0};

    for (uint32_t c = 0; c < t->cases_count; c++)
        bench_turns_add(&all, &t->turns[c]);
    return all;
}

static goals judge(const overhead_table *t)
{
    goals all = {.count = 0};

    add_peer_goals(&all, t);
    add_short_goals(&all, t);
    add_worker_goals(&all, t);
    if (!t->learns)
        add_build_goals(&all, t);
    add_learning_goals(&all, t);
    return all;
}

static const char *verdict(const goal *g)
{
    if (g->is_doubtful)
        return g->value <= g->must ? "holds?" : "misses?";
    return g->value <= g->must ? "holds" : "misses";
}

/* Of one worker's serial time, what share the workers' time is; 0 where there is no serial floor. */
static double efficiency(const overhead_table *t, uint32_t at, uint32_t row)
{
    for (uint32_t r = 0; r < t->rows_count; r++)
        if (t->rows[r].peer == &peers_serial[0])
            return over(t->cells[at][r].run.median, t->cells[at][row].run.median * t->rows[row].workers);
    return 0;
}

static void print_case(const overhead_table *t, uint32_t at)
{
    const overhead_case *c = t->cases[at];

    if (c->body_ns == 0)
        printf("\n%s, empty bodies%s\n", c->label, c->runs > 1 ? ", one graph run again and again" : "");
    else
        printf("\n%s, bodies of %.0f us\n", c->label, (double)c->body_ns / 1000);
    if (t->turns[at].kept_loaded > 0)
        printf("(doubtful: other programs used %.0f %% of the CPUs)\n", 100 * bench_turns_load(&t->turns[at]));
    printf("%-18s %7s %7s %8s %8s %9s  %-30s%s\n", "peer", "workers", "tasks", "build", "prepare", "lowest",
           "run [p10 .. p90]", c->body_ns > 0 ? " efficiency" : "");
    for (uint32_t r = 0; r < t->rows_count; r++) {
        const overhead_cell *cell = &t->cells[at][r];
        char run[64];

        snprintf(run, sizeof run, "%.1f [%.1f .. %.1f]", cell->run.median, cell->run.p10, cell->run.p90);
        printf("%-18s %7u %7u %8.1f %8.1f %9.1f  %-30s", t->rows[r].peer->name, t->rows[r].workers, cell->tasks,
               cell->build.median, cell->prepare.median, cell->run.lowest, run);
        if (c->body_ns > 0)
            printf(" %10.2f", efficiency(t, at, r));
        printf("\n");
    }
}

static void print_figure(const overhead_table *t, uint32_t at, uint32_t row)
{
    if (t->cases[at]->body_ns > 0)
        printf(" %10.2f", efficiency(t, at, row));
    else
        printf(" %8.1f %7.1f", t->cells[at][row].run.median, t->cells[at][row].build.median);
}

/* All peers at a glance: medians of empty bodies and of building, or the efficiencies of the others. */
static void print_summary(const overhead_table *t, bool has_bodies)
{
    uint32_t chosen[OVERHEAD_CASES_MAX], count = 0;

    for (uint32_t c = 0; c < t->cases_count; c++)
        if ((t->cases[c]->body_ns > 0) == has_bodies)
            chosen[count++] = c;
    if (count == 0)
        return;
    printf("\n%-18s %7s", has_bodies ? "efficiency" : "run, median", "workers");
    for (uint32_t i = 0; i < count; i++)
        if (has_bodies)
            printf(" %5s %2.0fus", t->cases[chosen[i]]->label, (double)t->cases[chosen[i]]->body_ns / 1000);
        else
            printf(" %8s %7s", t->cases[chosen[i]]->label, "(build)");
    for (uint32_t r = 0; r < t->rows_count; r++) {
        printf("\n%-18s %7u", t->rows[r].peer->name, t->rows[r].workers);
        for (uint32_t i = 0; i < count; i++)
            print_figure(t, chosen[i], r);
    }
    printf("\n");
}

static void print_goals(const goals *all)
{
    printf("\n%-7s %-38s %8s %8s %8s %8s  %-7s %10s %8s\n", "graph", "goal", "median", "lowest", "must", "aim", "",
           "ns a task", "by hand");
    for (uint32_t i = 0; i < all->count; i++) {
        const goal *g = &all->list[i];
        char aim[16] = "", ns[16] = "", hand[16] = "";

        if (g->aim > 0 || g->aim_ns > 0)
            snprintf(aim, sizeof aim, g->aim > 0 ? "%.2f" : "%.1f ns", g->aim > 0 ? g->aim : g->aim_ns);
        if (g->ns > 0)
            snprintf(ns, sizeof ns, "%.1f", g->ns);
        if (g->by_hand > 0)
            snprintf(hand, sizeof hand, "%.2f", g->by_hand);
        printf("%-7s %-38s %8.2f %8.2f %8.2f %8s  %-7s %10s %8s\n", g->label, g->text, g->value, g->lowest, g->must,
               aim, verdict(g), ns, hand);
    }
    printf("(judged by the median; ?: other programs ran; by hand: the ratio of the medians to oneTBB by hand)\n");
}

void overhead_print_text(const overhead_table *t, const bench_options *o)
{
    goals all = judge(t);
    bench_turns turns = all_turns(t);

    printf("ns a task, medians of at most %u turns; build: declare (and seal); prepare: once before the first run; "
           "run: the "
           "second run, or the mean of many.\nPeers of microseconds a task run smaller graphs. ",
           o->rounds);
    bench_turns_print(&turns, false);
    for (uint32_t c = 0; c < t->cases_count; c++)
        print_case(t, c);
    print_summary(t, false);
    print_summary(t, true);
    if (all.count > 0)
        print_goals(&all);
}

void overhead_print_json(const overhead_table *t, const bench_options *o)
{
    goals all = judge(t);
    bench_turns turns = all_turns(t);
    const char *comma = "";

    printf("{\"bench\": \"overhead\", \"unit\": \"ns a task\", \"seed\": %llu, ", (unsigned long long)o->seed);
    bench_turns_print(&turns, true);
    printf(", \"rows\": [");
    for (uint32_t c = 0; c < t->cases_count; c++)
        for (uint32_t r = 0; r < t->rows_count; r++, comma = ", ") {
            const overhead_cell *cell = &t->cells[c][r];

            printf("%s{\"graph\": \"%s\", \"body_ns\": %lld, \"tasks\": %u, \"edges\": %u, \"runs\": %u, \"peer\": "
                   "\"%s\", "
                   "\"workers\": %u, \"build\": %.2f, \"prepare\": %.2f, \"run\": %.2f, \"run_p10\": %.2f, "
                   "\"run_p90\": %.2f, \"run_lowest\": %.2f, \"efficiency\": %.3f, \"kept_loaded\": %u",
                   comma, t->cases[c]->label, (long long)t->cases[c]->body_ns, cell->tasks, cell->edges,
                   t->cases[c]->runs, t->rows[r].peer->name, t->rows[r].workers, cell->build.median,
                   cell->prepare.median, cell->run.median, cell->run.p10, cell->run.p90, cell->run.lowest,
                   efficiency(t, c, r), t->turns[c].kept_loaded);
            if (t->learns)
                printf(", \"more\": %.2f, \"more_p10\": %.2f, \"more_p90\": %.2f", cell->more.median, cell->more.p10,
                       cell->more.p90);
            printf("}");
        }
    printf("], \"goals\": [");
    comma = "";
    for (uint32_t i = 0; i < all.count; i++, comma = ", ") {
        const goal *g = &all.list[i];

        printf("%s{\"graph\": \"%s\", \"goal\": \"%s\", \"unit\": \"%s\", \"value\": %.3f, \"value_lowest\": %.3f, "
               "\"must\": %.2f, \"aim\": %.2f, \"holds\": %s, \"ns\": %.2f, "
               "\"aim_ns\": %.1f, \"by_hand\": %.3f, \"doubtful\": %s}",
               comma, g->label, g->text, g->unit, g->value, g->lowest, g->must, g->aim,
               g->value <= g->must ? "true" : "false", g->ns, g->aim_ns, g->by_hand, g->is_doubtful ? "true" : "false");
    }
    printf("]}\n");
}
