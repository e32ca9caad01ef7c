/* bench_kernels.c - how long does a head take over the ready candidates?
 *
 * 29 -> 32 -> 16 -> 1 in int8 with LEAKY(51/256), 1 456 multiplications a candidate, and the arg-max, for each variant
 * that this CPU runs, in three forms (kernels/head.h), warm. A machine's speed is its own, so the time of one dependent
 * cache miss is measured in every turn, and each time is also given in misses. "Floor": what a prototype of a smaller
 * head
 * (16 -> 32 -> 16 -> 1, 1 040 multiplications) took on an undisturbed core, including the clock. */
#include "common/bench.h"
#include "kernels/chain.h"
#include "kernels/head.h"
#include "kernels/pass.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    VARIANTS_MAX = 8,
    COUNTS = 7,
    SAMPLES = 200,
    SAMPLES_OF_MANY = 20,  /* where one takes long */
    SAMPLES_OF_FEW = 2000, /* where one is short: their tails are judged */
    MANY = 1000,
    FEW = 32
};

/* Of the best variant, p99.9 with 1 to FEW candidates. */
#define TAIL_MUST_NS 2000

static const uint32_t counts[COUNTS] = {1, 4, 10, 16, 32, 100, MANY};

/* Prototype: with candidates in lanes, and one after the other; ns. */
static const double floor_ns[COUNTS][2] = {{149, 65},  {164, 106},  {165, 190},   {164, 284},
                                           {283, 492}, {750, 1454}, {6913, 14325}};

/* Of the best variant in the better of the two forms; index into counts. */
static const struct {
    uint32_t at;
    double must_ns, aim_ns;
} goals[] = {{2, 500, 200}, {5, 2000, 800}, {6, 16000, 7000}};

typedef struct row {
    double *values;
    size_t count;
    double p50, p99, p999, lowest;
} row;

typedef struct bench {
    bench_options options;
    bench_turns turns;
    head *head;
    const clo_variant *variants;
    clo_kernels tables[VARIANTS_MAX];
    const char *names[VARIANTS_MAX];
    uint32_t tables_count;
    row rows[VARIANTS_MAX][HEAD_FORMS][COUNTS];
    double *misses; /* ns, one a turn */
    size_t misses_count;
    chain chain;
    double clock_ns, miss_ns;
} bench;

static volatile uint32_t chosen; /* so that nothing is optimised away */

static double clock_cost(void)
{
    double lowest = 1e9;

    for (int i = 0; i < 1000; i++) {
        int64_t begin = bench_now_ns(), took = bench_now_ns() - begin;

        if ((double)took < lowest)
            lowest = (double)took;
    }
    return lowest;
}

static uint32_t samples_of(const bench *b, uint32_t v, uint32_t count)
{
    if (count <= FEW && b->tables[v].isa != 0)
        return SAMPLES_OF_FEW;
    return count >= MANY ? SAMPLES_OF_MANY : SAMPLES;
}

/* Memory for all turns that may be begun. */
static bool rows_make(bench *b)
{
    uint32_t turns = b->options.rounds;

    b->misses = calloc(turns, sizeof *b->misses);
    for (uint32_t v = 0; v < b->tables_count; v++)
        for (int form = 0; form < HEAD_FORMS; form++)
            for (int c = 0; c < COUNTS; c++) {
                row *r = &b->rows[v][form][c];

                r->values = calloc((size_t)turns * samples_of(b, v, counts[c]), sizeof *r->values);
                if (r->values == NULL)
                    return false;
            }
    return b->misses != NULL;
}

static void measure_row(bench *b, uint32_t v, head_form form, int c, double *values)
{
    chosen = head_decide(b->head, &b->tables[v], form, counts[c]); /* warm */
    for (uint32_t i = 0; i < samples_of(b, v, counts[c]); i++) {
        int64_t begin = bench_now_ns();

        chosen = head_decide(b->head, &b->tables[v], form, counts[c]);
        values[i] = (double)(bench_now_ns() - begin) - b->clock_ns;
    }
}

/* A turn that does not count is overwritten by the next. */
static void measure_turn(bench *b, uint32_t turn)
{
    for (int c = 0; c < COUNTS; c++)
        for (uint32_t v = 0; v < b->tables_count; v++)
            for (int form = 0; form < HEAD_FORMS; form++)
                measure_row(b, v, (head_form)form, c,
                            b->rows[v][form][c].values + (size_t)turn * samples_of(b, v, counts[c]));
    b->misses[turn] = chain_chase(&b->chain);
}

static void summarise(bench *b, uint32_t turns)
{
    b->miss_ns = bench_summarise(b->misses, turns).median;
    for (uint32_t v = 0; v < b->tables_count; v++)
        for (int form = 0; form < HEAD_FORMS; form++)
            for (int c = 0; c < COUNTS; c++) {
                row *r = &b->rows[v][form][c];

                r->count = (size_t)turns * samples_of(b, v, counts[c]);
                bench_sort(r->values, r->count);
                r->p50 = bench_quantile(r->values, r->count, 0.5);
                r->p99 = bench_quantile(r->values, r->count, 0.99);
                r->p999 = bench_quantile(r->values, r->count, 0.999);
                r->lowest = r->values[0];
            }
}

static void measure_all(bench *b)
{
    uint32_t kept = 0;

    b->turns.wanted = b->options.rounds;
    b->clock_ns = clock_cost();
    while (kept < b->options.rounds && bench_turn_begin(&b->turns)) {
        measure_turn(b, kept);
        kept += bench_turn_end(&b->turns);
    }
    summarise(b, kept);
}

/* p50 of the best variant: candidates in lanes, or one after the other. */
static double best_ns(const bench *b, uint32_t c)
{
    const row(*rows)[COUNTS] = b->rows[b->tables_count - 1];

    return rows[HEAD_LANES][c].p50 < rows[HEAD_NODE][c].p50 ? rows[HEAD_LANES][c].p50 : rows[HEAD_NODE][c].p50;
}

/* p99.9 of the best variant in lanes, the largest with 1 to FEW candidates. */
static double tail_ns(const bench *b)
{
    double most = 0;

    for (int c = 0; c < COUNTS && counts[c] <= FEW; c++) {
        double ns = b->rows[b->tables_count - 1][HEAD_LANES][c].p999;
        most = ns > most ? ns : most;
    }
    return most;
}

static void print_text(const bench *b)
{
    printf("Head 29 -> 32 -> 16 -> 1, int8, arg-max included: ns, p50 / p99 / p99.9 / lowest; two reads of the clock "
           "(%.0f ns) "
           "are "
           "subtracted.\nA dependent cache miss takes %.0f ns; in brackets the p50 in misses.\n",
           b->clock_ns, b->miss_ns);
    for (uint32_t v = 0; v < b->tables_count; v++) {
        printf("\n%-11s %10s %48s %48s %48s\n", b->names[v], "candidates", head_form_names[0], head_form_names[1],
               head_form_names[2]);
        for (int c = 0; c < COUNTS; c++) {
            printf("%22u", counts[c]);
            for (int form = 0; form < HEAD_FORMS; form++) {
                const row *r = &b->rows[v][form][c];
                printf("  %8.0f %9.0f %9.0f %8.0f (%6.2f)", r->p50, r->p99, r->p999, r->lowest, r->p50 / b->miss_ns);
            }
            printf("\n");
        }
    }
    printf("\nFloor of the prototype, 16 -> 32 -> 16 -> 1, lanes / node, ns:");
    for (int c = 0; c < COUNTS; c++)
        printf("  %u: %.0f / %.0f", counts[c], floor_ns[c][0], floor_ns[c][1]);
    printf("\n");
    for (size_t i = 0; i < sizeof goals / sizeof goals[0]; i++) {
        double best = best_ns(b, goals[i].at);
        printf("%u candidates, %s: %.0f ns; must %.0f: %s; aim %.0f: %s\n", counts[goals[i].at],
               b->names[b->tables_count - 1], best, goals[i].must_ns,
               best <= goals[i].must_ns ? "holds" : "does not hold", goals[i].aim_ns,
               best <= goals[i].aim_ns ? "holds" : "does not hold");
    }
    printf("1 to %d candidates, %s, p99.9: %.0f ns; must %d: %s\n", FEW, b->names[b->tables_count - 1], tail_ns(b),
           TAIL_MUST_NS, tail_ns(b) <= TAIL_MUST_NS ? "holds" : "does not hold");
    bench_turns_print(&b->turns, false);
}

static void print_json(const bench *b)
{
    const char *comma = "";

    printf("{\"bench\": \"kernels\", \"seed\": %llu, \"clock_ns\": %.1f, \"miss_ns\": %.1f, ",
           (unsigned long long)b->options.seed, b->clock_ns, b->miss_ns);
    bench_turns_print(&b->turns, true);
    printf(", \"rows\": [");
    for (uint32_t v = 0; v < b->tables_count; v++)
        for (int form = 0; form < HEAD_FORMS; form++)
            for (int c = 0; c < COUNTS; c++, comma = ", ") {
                const row *r = &b->rows[v][form][c];
                printf(
                    "%s{\"variant\": \"%s\", \"form\": \"%s\", \"candidates\": %u, \"p50_ns\": %.1f, \"p99_ns\": %.1f, "
                    "\"p999_ns\": %.1f, \"lowest_ns\": %.1f, \"p50_misses\": %.3f}",
                    comma, b->names[v], head_form_names[form], counts[c], r->p50, r->p99, r->p999, r->lowest,
                    r->p50 / b->miss_ns);
            }
    printf("], \"floors\": [");
    for (int c = 0; c < COUNTS; c++)
        printf("%s{\"candidates\": %u, \"lanes_ns\": %.0f, \"node_ns\": %.0f}", c > 0 ? ", " : "", counts[c],
               floor_ns[c][0], floor_ns[c][1]);
    printf("], \"goals\": [");
    for (size_t i = 0; i < sizeof goals / sizeof goals[0]; i++) {
        double best = best_ns(b, goals[i].at);
        printf("%s{\"goal\": \"head over %u candidates, p50 ns\", \"value\": %.1f, \"must\": %.0f, \"aim\": %.0f, "
               "\"holds\": %s}",
               i > 0 ? ", " : "", counts[goals[i].at], best, goals[i].must_ns, goals[i].aim_ns,
               best <= goals[i].must_ns ? "true" : "false");
    }
    printf(", {\"goal\": \"head over 1 to %d candidates, p99.9 ns\", \"value\": %.1f, \"must\": %d, \"holds\": %s}",
           FEW, tail_ns(b), TAIL_MUST_NS, tail_ns(b) <= TAIL_MUST_NS ? "true" : "false");
    printf("]}\n");
}

/* Those that this CPU runs. */
static void choose_variants(bench *b)
{
    uint32_t count, isa = clo_cpu_isa();

    b->variants = clo_kernels_variants(&count);
    for (uint32_t i = 0; i < count && b->tables_count < VARIANTS_MAX; i++)
        if ((b->variants[i].needs & isa) == b->variants[i].needs) {
            clo_kernels_select(&b->tables[b->tables_count], b->variants[i].needs);
            b->names[b->tables_count++] = b->variants[i].name;
        }
}

static void bench_free(bench *b)
{
    for (uint32_t v = 0; v < b->tables_count; v++)
        for (int form = 0; form < HEAD_FORMS; form++)
            for (int c = 0; c < COUNTS; c++)
                free(b->rows[v][form][c].values);
    free(b->misses);
    chain_free(&b->chain);
    head_close(b->head);
    free(b);
}

/* The heads alone. Returns the exit status. */
static int measure_heads(bench *b)
{
    choose_variants(b);
    b->head = head_open(b->options.seed);
    if (b->head == NULL || !rows_make(b) || !chain_make(&b->chain, b->options.quick, b->options.seed)) {
        fprintf(stderr, "bench-kernels: out of memory\n");
        return 1;
    }
    measure_all(b);
    (b->options.json ? print_json : print_text)(b);
    return 0;
}

int main(int argc, char **argv)
{
    bool is_pass = false;
    const bench_flag flags[] = {
        {.name = "pass", .help = "whole passes of Decima's network instead", .is_set = &is_pass}, {.name = NULL}};
    const bench_about about = {.name = "kernels",
                               .question = "how long does a head of a network take over the ready candidates?",
                               .flags = flags,
                               .rounds = 15,
                               .quick_rounds = 3};
    bench *b = calloc(1, sizeof *b);
    int exit_status;

    if (b == NULL)
        return 1;
    exit_status = bench_options_read(&b->options, &about, argc, argv);
    if (exit_status < 0)
        exit_status = is_pass ? pass_measure(&b->options) : measure_heads(b);
    bench_free(b);
    return exit_status;
}
