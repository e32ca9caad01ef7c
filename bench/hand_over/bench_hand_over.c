/* bench_hand_over.c - does the rule by which workers share ready tasks keep up with greedy list scheduling?
 *
 * In a model in virtual time (play.h), with 1 to 8 workers, on graphs that never have much ready, with bodies of one
 * length or of lengths from 0.1 to 50 us mixed. The makespan over that of greedy list scheduling without any costs,
 * which is itself at most 2 - 1 / workers times the optimum (Graham 1969). What each step costs is measured on this
 * machine first; with --default the costs are those that the limits of the rule were chosen with, so that the table is
 * the same everywhere. */
#include "hand_over/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODIES = 7, WORKERS = 4 };

static const char *const shapes[] = {"pipe2", "pipe3", "pipe8", "chain", "fan", "wave", "rand"};
enum { SHAPES = sizeof shapes / sizeof *shapes };
static const int64_t body_ns_of[BODIES] = {100, 750, 2000, 5000, 10000, 50000, 0}; /* 0: mixed */
static const uint32_t workers_of[WORKERS] = {1, 2, 4, 8};

static const char *const parts[] = {"", "sum", "order", "feeding", "stage"}; /* as play_part */
enum { PARTS = sizeof parts / sizeof *parts };

static bool choose_part(const char *name, play_part *out)
{
    for (uint32_t i = 1; i < PARTS && name != NULL; i++)
        if (strcmp(name, parts[i]) == 0)
            *out = (play_part)i;
    if (name != NULL && *out == PLAY_WHOLE)
        fprintf(stderr, "bench-hand_over: --without %s: the rule has the parts sum, order, feeding and stage\n", name);
    return name == NULL || *out != PLAY_WHOLE;
}

static void set_lengths(int64_t *body_ns, uint32_t tasks, int64_t length_ns, uint64_t seed)
{
    for (uint32_t t = 0; t < tasks; t++)
        body_ns[t] = length_ns > 0 ? length_ns : play_mixed_ns(&seed);
}

static bool print_row(const char *shape, int64_t length_ns, const play_costs *costs, const bench_options *o,
                      const char *comma)
{
    bench_graph graph;
    bool is_good = bench_graph_open(&graph, shape, o->quick ? 1000 : 20000, o->seed);
    int64_t *body_ns = calloc(graph.tasks, sizeof *body_ns);

    is_good = is_good && body_ns != NULL;
    if (is_good)
        set_lengths(body_ns, graph.tasks, length_ns, o->seed);
    if (!o->json)
        printf("%-6s %7.1f", shape, (double)length_ns / 1000);
    for (uint32_t w = 0; w < WORKERS && is_good; w++, comma = ", ") {
        play_result r;
        is_good = play(&graph, body_ns, workers_of[w], costs, &r) && r.ran == graph.tasks && r.is_ordered;
        double ratio = (double)r.makespan_ns / (double)(r.greedy_ns > 0 ? r.greedy_ns : 1);
        if (o->json)
            printf(
                "%s{\"graph\": \"%s\", \"body_ns\": %lld, \"workers\": %u, \"makespan_ns\": %lld, \"greedy_ns\": %lld, "
                "\"lower_ns\": %lld, \"lost_ns\": %lld, \"waited_ns\": %lld, \"hand_overs\": %u, \"steals\": %u, "
                "\"wakes\": %u}",
                comma, shape, (long long)length_ns, workers_of[w], (long long)r.makespan_ns, (long long)r.greedy_ns,
                (long long)play_lower_ns(&r, workers_of[w]), (long long)r.lost_ns, (long long)r.waited_ns, r.hand_overs,
                r.steals, r.wakes);
        else
            printf("   %5.2f %6u", ratio, r.hand_overs + r.steals);
    }
    if (!o->json)
        printf("\n");
    free(body_ns);
    bench_graph_close(&graph);
    if (!is_good)
        fprintf(stderr, "bench-hand_over: no memory, or the rule has lost a task of %s\n", shape);
    return is_good;
}

int main(int argc, char **argv)
{
    bool is_default = false;
    const char *without = NULL;
    const bench_flag flags[] = {
        {"default", "the costs that the limits were chosen with, in place of this machine's", &is_default, NULL, NULL},
        {"without PART", "the rule without one of its parts: sum, order, feeding or stage", NULL, &without, NULL},
        {0}};
    const bench_about about = {.name = "hand_over",
                               .question = "does the rule of the hand-over keep up with greedy list scheduling?",
                               .flags = flags,
                               .rounds = 9,
                               .quick_rounds = 1};
    play_costs costs = play_costs_default;
    const char *comma = "";
    bench_options o;
    int exit_status = bench_options_read(&o, &about, argc, argv);

    if (exit_status >= 0)
        return exit_status;
    if (!choose_part(without, &costs.without))
        return 2;
    if (!is_default && bench_cpus() > 1 && !measure_costs(o.rounds, &costs))
        return 1;
    printf(
        o.json
            ? "{\"bench\": \"hand_over\", \"hit_ns\": %lld, \"line_ns\": %lld, \"list_ns\": %lld, \"look_ns\": %lld, "
              "\"pause_ns\": %lld, \"call_ns\": %lld, \"wake_ns\": %lld, \"rows\": ["
            : "ns: a hit %lld, a hand's line %lld, a list's line %lld, a look %lld, a pause %lld, a wake's call %lld, "
              "and until it runs %lld\n",
        (long long)costs.hit, (long long)costs.line, (long long)costs.push, (long long)costs.look,
        (long long)costs.pause, (long long)costs.call, (long long)costs.wake);
    if (!o.json)
        printf("makespan over greedy list scheduling's without costs, and items that change hands; body us, 0: mixed\n"
               "graph     body        1 worker       2 workers       4 workers       8 workers\n");
    for (uint32_t s = 0; s < SHAPES; s++)
        for (uint32_t b = 0; b < BODIES; b++, comma = ", ")
            if (!print_row(shapes[s], body_ns_of[b], &costs, &o, comma))
                return 1;
    if (o.json)
        printf("]}\n");
    return 0;
}
