/* bench_packing.c - does packing by demand pay when tasks fight for memory?
 *
 * Ten of 24 tasks stream over memory, the others compute; each takes about as long as the other where it runs alone.
 * First: how much slower is a stream beside another stream, and beside a computing task, for buffers that go to memory,
 * that fight for the last cache, for scattered updates, and for what a core's own cache holds? Then the same jobs under
 * the policy "tetris": streams demand 60 of a bandwidth of 100, so that two never run side by side; and with that
 * demand zeroed. Jobs come at once, all streams first or in random order. Both take turns, and ratios are of the two
 * runs of a turn.
 *
 * A distribution-free interval for the median of the ratios: two order statistics, by the binomial distribution. */
#include "packing/streams.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SETS = 4, ORDERS = 2, HOWS = 2, TASKS = 48, QUICK_TASKS = 12, TASK_NS = 2000000, QUICK_TASK_NS = 200000 };
enum { ROUNDS_MAX = 1000, CALM_ROUNDS = 15, FIFO_PRIORITY = 50 };

/* Where no cache is known. */
#define L2_DEFAULT (size_t)(1 << 20)
#define L3_DEFAULT (size_t)(16 << 20)
#define QUICK_BYTES_MAX (size_t)(16 << 20)

/* Below this the streams are made to fight for a cache. */
#define SLOWDOWN_WANTED 1.15

typedef enum how { ZEROED, BY_DEMAND } how;

typedef struct set {
    const char *name;
    size_t bytes;
    bool is_scattered;
    /* Of a stream: medians. The slowdown is alone / two, median of the rounds. */
    double alone_gbs, two_gbs, beside_gbs, slowdown;
} set;

typedef struct row {
    double wall_ns[HOWS], achieved_gbs[HOWS], stream_gbs[HOWS]; /* medians */
    double ratio, low, high;                                    /* makespan by demand / zeroed */
    bench_turns turns;
} row;

typedef struct bench {
    bench_options options;
    lanes lanes;
    uint32_t streams, computing; /* tasks */
    set sets[SETS];
    uint32_t chosen;
    row rows[ORDERS];
    played played[HOWS][ROUNDS_MAX];
    double values[ROUNDS_MAX];
} bench;

static const char *const order_names[ORDERS] = {"streams first", "in random order"};
static const char *const how_names[HOWS] = {"zeroed", "by_demand"};

static size_t cache_bytes(int name, size_t otherwise)
{
    long bytes = sysconf(name);

    return bytes > 0 ? (size_t)bytes : otherwise;
}

static void choose_sets(bench *b)
{
    size_t l2 = cache_bytes(_SC_LEVEL2_CACHE_SIZE, L2_DEFAULT), l3 = cache_bytes(_SC_LEVEL3_CACHE_SIZE, L3_DEFAULT);

    b->sets[0] = (set){.name = "memory", .bytes = 3 * l3};
    b->sets[1] = (set){.name = "last cache", .bytes = l3 / 8 * 5};
    b->sets[2] = (set){.name = "scattered", .bytes = l3 / 4, .is_scattered = true};
    b->sets[3] = (set){.name = "own cache", .bytes = l2 / 4 * 3}; /* fights for nothing: to compare with */
    for (int s = 0; s < SETS && b->options.quick; s++)
        if (b->sets[s].bytes > QUICK_BYTES_MAX)
            b->sets[s].bytes = QUICK_BYTES_MAX;
}

/* Streams of `kind`, each followed by a task of `other` unless that is the same. */
static bool play_streams(bench *b, task_kind kind, task_kind other, double *gbs)
{
    task_kind kinds[2 * TASKS_MAX];
    uint32_t count = 0;
    played p;

    for (uint32_t i = 0; i < b->streams; i++) {
        kinds[count++] = kind;
        if (other != kind)
            kinds[count++] = other;
    }
    if (!lanes_play(&b->lanes, kinds, count, &p))
        return false;
    *gbs = p.stream_gbs;
    return true;
}

static int64_t task_ns(const bench *b)
{
    return b->options.quick ? QUICK_TASK_NS : TASK_NS;
}

static bool play_set(bench *b, double *alone, double *two, double *beside)
{
    return play_streams(b, STREAM_FIRST, STREAM_FIRST, alone) && play_streams(b, STREAM, STREAM, two) &&
           play_streams(b, STREAM_FIRST, COMPUTE_SECOND, beside);
}

/* In turns, so that a change of the machine's speed meets all. */
static bool measure_set(bench *b, set *s)
{
    double alone[CALM_ROUNDS], two[CALM_ROUNDS], beside[CALM_ROUNDS];
    bench_turns turns = {.wanted = b->options.rounds < CALM_ROUNDS ? b->options.rounds : CALM_ROUNDS};
    uint32_t kept = 0;

    if (!lanes_size(&b->lanes, s->bytes, s->is_scattered, task_ns(b)))
        return false;
    while (kept < CALM_ROUNDS && bench_turn_begin(&turns)) {
        if (!play_set(b, &alone[kept], &two[kept], &beside[kept]))
            return false;
        b->values[kept] = two[kept] > 0 ? alone[kept] / two[kept] : 0;
        kept += bench_turn_end(&turns);
    }
    s->slowdown = bench_summarise(b->values, kept).median;
    s->alone_gbs = bench_summarise(alone, kept).median;
    s->two_gbs = bench_summarise(two, kept).median;
    s->beside_gbs = bench_summarise(beside, kept).median;
    return true;
}

/* Memory if that is scarce, else the set in which two streams hinder each other most. */
static bool measure_sets(bench *b)
{
    for (uint32_t s = 0; s < SETS; s++) {
        if (!measure_set(b, &b->sets[s]))
            return false;
        if (s + 1 < SETS && b->sets[0].slowdown < SLOWDOWN_WANTED && b->sets[s].slowdown > b->sets[b->chosen].slowdown)
            b->chosen = s;
    }
    const set *chosen = &b->sets[b->chosen];
    return lanes_size(&b->lanes, chosen->bytes, chosen->is_scattered, task_ns(b));
}

/* Streams first, or any order; the same for both ways. */
static void fill_order(const bench *b, uint32_t order, uint32_t *places, uint64_t *random)
{
    for (uint32_t i = 0; i < b->streams + b->computing; i++)
        places[i] = i;
    if (order > 0)
        bench_shuffle(places, b->streams + b->computing, random);
}

static bool play_turn(bench *b, const uint32_t *places, uint32_t at, bool swaps)
{
    task_kind kinds[2 * TASKS_MAX];

    for (int k = 0; k < HOWS; k++) {
        how h = (how)(swaps ? 1 - k : k);
        for (uint32_t i = 0; i < b->streams + b->computing; i++)
            kinds[i] = places[i] >= b->streams ? COMPUTE : h == BY_DEMAND ? STREAM_DEMANDED : STREAM;
        if (!lanes_play(&b->lanes, kinds, b->streams + b->computing, &b->played[h][at]))
            return false;
    }
    return true;
}

/* Rank (from 1) of the order statistic below the median of `count` values: not above it with a chance of 97.5 %. */
static uint32_t low_rank(uint32_t count)
{
    double chance = pow(0.5, count), below = 0;
    uint32_t rank = 0;

    for (; rank < count / 2 && below + chance <= 0.025; rank++) {
        below += chance;
        chance *= (double)(count - rank) / (rank + 1);
    }
    return rank > 0 ? rank : 1;
}

static double median_of(bench *b, const double *first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        b->values[i] = *(const double *)(const void *)((const char *)first + i * sizeof(played));
    return bench_summarise(b->values, count).median;
}

static void summarise(bench *b, row *r, uint32_t count)
{
    for (int h = 0; h < HOWS; h++) {
        r->wall_ns[h] = median_of(b, &b->played[h][0].wall_ns, count);
        r->achieved_gbs[h] = median_of(b, &b->played[h][0].achieved_gbs, count);
        r->stream_gbs[h] = median_of(b, &b->played[h][0].stream_gbs, count);
    }
    for (uint32_t i = 0; i < count; i++)
        b->values[i] = b->played[BY_DEMAND][i].wall_ns / b->played[ZEROED][i].wall_ns;
    r->ratio = bench_summarise(b->values, count).median; /* sorts */
    r->low = b->values[low_rank(count) - 1];
    r->high = b->values[count - low_rank(count)];
}

static bool measure_order(bench *b, uint32_t order)
{
    uint64_t random = b->options.seed + order;
    uint32_t places[2 * TASKS_MAX] = {0}, kept = 0;
    row *r = &b->rows[order];

    r->turns.wanted = b->options.rounds;
    while (kept < ROUNDS_MAX && bench_turn_begin(&r->turns)) {
        fill_order(b, order, places, &random);
        if (!play_turn(b, places, kept, bench_random_below(&random, 2) == 1))
            return false;
        kept += bench_turn_end(&r->turns);
    }
    summarise(b, r, kept);
    return true;
}

static void print_text(const bench *b)
{
    printf("A stream on one of %d workers: GB/s, read and written, in its CPU time; medians\n", WORKERS);
    printf("%-12s %12s %8s %18s %10s %16s\n", "buffers", "MiB each", "alone", "beside a stream", "slowdown",
           "beside computing");
    for (uint32_t s = 0; s < SETS; s++) {
        const set *at = &b->sets[s];
        printf("%-12s %12.1f %8.2f %18.2f %10.2f %16.2f\n", at->name, (double)at->bytes / (1 << 20), at->alone_gbs,
               at->two_gbs, at->slowdown, at->beside_gbs);
    }
    printf("\n%u streams in buffers of the %s and %u computing tasks of %.1f ms; policy tetris, %u turns\n", b->streams,
           b->sets[b->chosen].name, b->computing, (double)task_ns(b) / 1e6, b->options.rounds);
    printf("%-16s %18s %10s %24s %22s %22s\n", "jobs come", "demands zeroed ms", "by demand", "ratio [95 % interval]",
           "GB/s in all, each", "by demand");
    for (uint32_t o = 0; o < ORDERS; o++) {
        const row *r = &b->rows[o];
        printf("%-16s %18.2f %10.2f %8.3f [%.3f, %.3f] %11.2f %10.2f %11.2f %10.2f\n", order_names[o],
               r->wall_ns[ZEROED] / 1e6, r->wall_ns[BY_DEMAND] / 1e6, r->ratio, r->low, r->high,
               r->achieved_gbs[ZEROED], r->stream_gbs[ZEROED], r->achieved_gbs[BY_DEMAND], r->stream_gbs[BY_DEMAND]);
    }
    bench_turns all = {0};
    for (uint32_t o = 0; o < ORDERS; o++)
        bench_turns_add(&all, &b->rows[o].turns);
    bench_turns_print(&all, false);
}

static void print_json(const bench *b)
{
    printf("{\"bench\": \"packing\", \"workers\": %d, \"rounds\": %u, \"seed\": %llu, \"sets\": [", WORKERS,
           b->options.rounds, (unsigned long long)b->options.seed);
    for (uint32_t s = 0; s < SETS; s++) {
        const set *at = &b->sets[s];
        printf("%s{\"set\": \"%s\", \"bytes\": %zu, \"alone_gbs\": %.3f, \"two_gbs\": %.3f, \"slowdown\": %.3f, "
               "\"beside_computing_gbs\": %.3f}",
               s > 0 ? ", " : "", at->name, at->bytes, at->alone_gbs, at->two_gbs, at->slowdown, at->beside_gbs);
    }
    printf("], \"chosen\": \"%s\", \"orders\": [", b->sets[b->chosen].name);
    for (uint32_t o = 0; o < ORDERS; o++) {
        const row *r = &b->rows[o];
        printf("%s{\"order\": \"%s\", \"ratio\": %.4f, \"low\": %.4f, \"high\": %.4f, ", o > 0 ? ", " : "",
               order_names[o], r->ratio, r->low, r->high);
        for (int h = 0; h < HOWS; h++)
            printf("\"%s\": {\"makespan_ns\": %.0f, \"achieved_gbs\": %.3f, \"stream_gbs\": %.3f}, ", how_names[h],
                   r->wall_ns[h], r->achieved_gbs[h], r->stream_gbs[h]);
        bench_turns_print(&r->turns, true);
        printf("}");
    }
    printf("]}\n");
}

static int measure(bench *b, bool has_fifo)
{
    bool is_good = lanes_open(&b->lanes, b->computing, has_fifo ? FIFO_PRIORITY : 0) && measure_sets(b);

    for (uint32_t o = 0; o < ORDERS && is_good; o++)
        is_good = measure_order(b, o);
    if (is_good && b->options.json)
        print_json(b);
    else if (is_good)
        print_text(b);
    lanes_close(&b->lanes);
    return is_good ? 0 : 1;
}

int main(int argc, char **argv)
{
    bool has_fifo = false;
    const bench_flag flags[] = {
        {.name = "fifo", .help = "run the workers with SCHED_FIFO: other programs wait", .is_set = &has_fifo}, {0}};
    const bench_about about = {.name = "packing",
                               .question = "does packing by demand pay when tasks fight for memory?",
                               .flags = flags,
                               .rounds = 31,
                               .quick_rounds = 3};
    bench *b = calloc(1, sizeof *b);
    int exit_status;

    if (b == NULL)
        return 1;
    exit_status = bench_options_read(&b->options, &about, argc, argv);
    if (exit_status < 0 && b->options.rounds > ROUNDS_MAX) {
        fprintf(stderr, "bench-packing: --rounds is %u; at most %d\n", b->options.rounds, ROUNDS_MAX);
        exit_status = 2;
    }
    if (exit_status < 0) {
        uint32_t tasks = b->options.quick ? QUICK_TASKS : TASKS;
        b->streams = tasks * 5 / 12;
        b->computing = tasks - b->streams;
        choose_sets(b);
        exit_status = measure(b, has_fifo);
    }
    free(b);
    return exit_status;
}
