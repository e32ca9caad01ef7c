/* pass.c - Decima's network on 180 stages of 20 jobs, warm: the encoder, the head of the stages without a parent, the
 * head of one job's limits, and all heads, for each variant, int16 and int8; beside float, row by row.
 *
 * "Floor": the same multiplications at the pace of one large layer (64 -> 64 over 64 rows, int16 or int8), measured in
 * the same turns: what no order of operations can beat with this kernel. The paper's figure is its own for a
 * decision. */
#include "kernels/pass.h"

#include "kernels/chain.h"
#include "kernels/network.h"
#include "learn/infer/infer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VARIANTS_MAX = 8, NUMBERS = 2, SAMPLES = 300, SAMPLES_SLOW = 6, LAYER = 64, LAYER_BLOCKS = 4 };

/* A pass: encoder, ready stages, one job's limits. All: with the heads of all stages and limits. */
typedef enum part { ENCODER, READY, LIMITS, PASS, ALL, PARTS } part;

static const char *const part_names[PARTS] = {"encoder", "ready", "limits", "pass", "all heads"};

static const double paper_ns = 15e6, goal_ns = 25e3;

typedef struct row {
    double *values[PARTS];
    size_t count;
    double p50[PARTS], lowest[PARTS];
    /* ns of the large layer, one a turn; its median for each multiplication */
    double *layer, layer_ns;
} row;

typedef struct bench {
    network_jobs jobs;
    clo_model *models[NUMBERS];
    void *data[NUMBERS], *memory[NUMBERS];
    network_float *real;
    clo_kernels tables[VARIANTS_MAX];
    const char *names[VARIANTS_MAX];
    uint32_t tables_count;
    row rows[VARIANTS_MAX][NUMBERS], real_row;
    double *misses, miss_ns, clock_ns;
    chain chain;
    bench_turns turns;
    int32_t scores[NETWORK_STAGES + CLO_LANES], limits[NETWORK_LIMITS + CLO_LANES];
    float real_scores[NETWORK_STAGES], real_limits[NETWORK_LIMITS];
} bench;

static const char *const number_names[NUMBERS] = {"int16", "int8"};

static uint32_t samples_of(const bench *b, uint32_t variant)
{
    return variant < b->tables_count && b->tables[variant].isa != 0 ? SAMPLES : SAMPLES_SLOW;
}

static bool row_make(row *r, size_t count, uint32_t turns)
{
    bool is_made = true;

    for (int p = 0; p < PARTS; p++) {
        r->values[p] = calloc(count, sizeof *r->values[p]);
        is_made = is_made && r->values[p] != NULL;
    }
    r->layer = calloc(turns, sizeof *r->layer);
    return is_made && r->layer != NULL;
}

static void row_free(row *r)
{
    for (int p = 0; p < PARTS; p++)
        free(r->values[p]);
    free(r->layer);
}

static bool make_rows(bench *b, uint32_t turns)
{
    bool is_made = row_make(&b->real_row, (size_t)turns * SAMPLES_SLOW, turns);

    for (uint32_t v = 0; v < b->tables_count; v++)
        for (int n = 0; n < NUMBERS; n++)
            is_made = row_make(&b->rows[v][n], (size_t)turns * samples_of(b, v), turns) && is_made;
    b->misses = calloc(turns, sizeof *b->misses);
    return is_made && b->misses != NULL;
}

static bool open_models(bench *b, uint64_t seed)
{
    const clo_infer_sizes sizes = {NETWORK_STAGES, NETWORK_JOBS, NETWORK_LIMITS, NETWORK_EDGES_MAX};

    for (int n = 0; n < NUMBERS; n++) {
        b->models[n] = network_model(n == 0 ? CLO_MODEL_S16 : CLO_MODEL_S8, seed, &b->data[n]);
        if (b->models[n] == NULL)
            return false;
        b->memory[n] = aligned_alloc(64, (clo_infer_bytes(b->models[n], &sizes) + 63) / 64 * 64);
        if (b->memory[n] == NULL)
            return false;
    }
    b->real = network_float_open(seed);
    return b->real != NULL;
}

static void choose_variants(bench *b)
{
    uint32_t count, isa = clo_cpu_isa();
    const clo_variant *variants = clo_kernels_variants(&count);

    for (uint32_t i = 0; i < count && b->tables_count < VARIANTS_MAX; i++)
        if ((variants[i].needs & isa) == variants[i].needs) {
            clo_kernels_select(&b->tables[b->tables_count], variants[i].needs);
            b->tables[b->tables_count].isa = variants[i].needs;
            b->names[b->tables_count++] = variants[i].name;
        }
}

/* ns since `*at`, without the clock's own; moves it on. */
static double lap(const bench *b, int64_t *at)
{
    int64_t now = bench_now_ns();
    double took = (double)(now - *at) - b->clock_ns;

    *at = bench_now_ns();
    return took;
}

static void measure_row(bench *b, uint32_t v, int n, uint32_t turn)
{
    const clo_infer_sizes sizes = {NETWORK_STAGES, NETWORK_JOBS, NETWORK_LIMITS, NETWORK_EDGES_MAX};
    const int16_t *limit_numbers = b->jobs.numbers + NETWORK_STAGES * 5 + NETWORK_JOBS * 3;
    clo_infer *infer = clo_infer_init(b->models[n], &b->tables[v], &sizes, b->memory[n]);
    uint32_t count = samples_of(b, v);
    row *r = &b->rows[v][n];

    clo_infer_run(infer, &b->jobs.input, b->scores, b->limits); /* warm */
    for (uint32_t i = turn * count; i < (turn + 1) * count; i++) {
        int64_t at = bench_now_ns();
        clo_infer_encode(infer, &b->jobs.input);
        r->values[ENCODER][i] = lap(b, &at);
        clo_infer_score(infer, b->jobs.ready, b->jobs.ready_count, b->scores);
        r->values[READY][i] = lap(b, &at);
        clo_infer_limits(infer, 0, limit_numbers, NETWORK_LIMITS_EACH, b->limits);
        r->values[LIMITS][i] = lap(b, &at);
        r->values[PASS][i] = r->values[ENCODER][i] + r->values[READY][i] + r->values[LIMITS][i];
        clo_infer_run(infer, &b->jobs.input, b->scores, b->limits);
        r->values[ALL][i] = lap(b, &at);
    }
}

static void measure_float(bench *b, uint32_t turn)
{
    row *r = &b->real_row;

    network_float_run(b->real, &b->jobs, true, b->real_scores, b->real_limits);
    for (uint32_t i = turn * SAMPLES_SLOW; i < (turn + 1) * SAMPLES_SLOW; i++) {
        int64_t at = bench_now_ns();
        network_float_run(b->real, &b->jobs, false, b->real_scores, b->real_limits);
        r->values[PASS][i] = lap(b, &at);
        network_float_run(b->real, &b->jobs, true, b->real_scores, b->real_limits);
        r->values[ALL][i] = lap(b, &at);
    }
}

/* The shortest of some runs of 64 -> 64 over 64 rows, ns. */
static double measure_layer(const bench *b, uint32_t v, int n)
{
    static _Alignas(64) int8_t weights[LAYER * LAYER], narrow[LAYER * LAYER];
    static _Alignas(64) int16_t wide[LAYER * LAYER], words[LAYER * LAYER];
    static _Alignas(64) int32_t bias[LAYER], sums[LAYER * LAYER];
    const clo_dense layer = {LAYER, LAYER, weights, bias, bias, {.out = CLO_S32}, wide};
    double lowest = 1e18;

    for (int i = 0; i < (b->tables[v].isa != 0 ? 200 : 3); i++) {
        int64_t at = bench_now_ns();
        if (n == 0)
            b->tables[v].dense_lanes_s16(&layer, words, LAYER_BLOCKS, sums);
        else
            b->tables[v].dense_lanes_s8(&layer, narrow, LAYER_BLOCKS, sums);
        double took = lap(b, &at);
        lowest = took < lowest ? took : lowest;
    }
    return lowest;
}

static void measure_turn(bench *b, uint32_t turn)
{
    for (uint32_t v = 0; v < b->tables_count; v++)
        for (int n = 0; n < NUMBERS; n++) {
            measure_row(b, v, n, turn);
            b->rows[v][n].layer[turn] = measure_layer(b, v, n);
        }
    measure_float(b, turn);
    b->misses[turn] = chain_chase(&b->chain);
}

static void summarise_row(row *r, size_t count, uint32_t turns)
{
    for (int p = 0; p < PARTS; p++) {
        bench_sort(r->values[p], count);
        r->p50[p] = bench_quantile(r->values[p], count, 0.5);
        r->lowest[p] = r->values[p][0];
    }
    r->layer_ns = bench_summarise(r->layer, turns).lowest /
                  ((double)LAYER * (double)LAYER * (double)LAYER_BLOCKS * (double)CLO_LANES);
}

static void measure_all(bench *b, const bench_options *options)
{
    uint32_t kept = 0;

    b->turns.wanted = options->rounds;
    b->clock_ns = 1e9;
    for (int i = 0; i < 1000; i++) {
        int64_t begin = bench_now_ns();
        double took = (double)(bench_now_ns() - begin);
        b->clock_ns = took < b->clock_ns ? took : b->clock_ns;
    }
    while (kept < options->rounds && bench_turn_begin(&b->turns)) {
        measure_turn(b, kept);
        kept += bench_turn_end(&b->turns);
    }
    for (uint32_t v = 0; v < b->tables_count; v++)
        for (int n = 0; n < NUMBERS; n++)
            summarise_row(&b->rows[v][n], (size_t)kept * samples_of(b, v), kept);
    summarise_row(&b->real_row, (size_t)kept * SAMPLES_SLOW, kept);
    b->miss_ns = bench_summarise(b->misses, kept).median;
}

/* Multiplications of a pass. */
static double multiplications(const bench *b)
{
    return (double)network_encoder[CLO_MODEL_STAGE] * (double)NETWORK_STAGES +
           (double)network_encoder[CLO_MODEL_JOB] * (double)NETWORK_JOBS + network_encoder[CLO_MODEL_GLOBAL] +
           (double)network_heads[CLO_MODEL_STAGE] * b->jobs.ready_count +
           (double)network_heads[CLO_MODEL_LIMIT] * (double)NETWORK_LIMITS_EACH;
}

static void print_text(const bench *b)
{
    const row *best = &b->rows[b->tables_count - 1][0];

    printf(
        "Decima's network, %d stages of %d jobs, %u of them ready, %d limits: us, p50 (lowest); %.0f multiplications "
        "a pass.\nA dependent cache miss takes %.0f ns. Decima's paper: 15 ms a decision.\n\n%-18s",
        NETWORK_STAGES, NETWORK_JOBS, b->jobs.ready_count, NETWORK_LIMITS_EACH, multiplications(b), b->miss_ns, "");
    for (int p = 0; p < PARTS; p++)
        printf(" %18s", part_names[p]);
    printf(" %9s %12s %10s\n", "floor", "in misses", "paper /");
    for (uint32_t v = 0; v < b->tables_count; v++)
        for (int n = 0; n < NUMBERS; n++) {
            const row *r = &b->rows[v][n];
            printf("%-11s %-6s", b->names[v], number_names[n]);
            for (int p = 0; p < PARTS; p++)
                printf(" %8.1f (%7.1f)", r->p50[p] / 1e3, r->lowest[p] / 1e3);
            printf(" %9.1f %12.1f %10.0f\n", multiplications(b) * r->layer_ns / 1e3, r->p50[PASS] / b->miss_ns,
                   paper_ns / r->p50[PASS]);
        }
    printf("%-18s %18s %18s %18s %8.1f (%7.1f) %8.1f (%7.1f) %9s %12.1f %10.0f\n", "float -O2", "", "", "",
           b->real_row.p50[PASS] / 1e3, b->real_row.lowest[PASS] / 1e3, b->real_row.p50[ALL] / 1e3,
           b->real_row.lowest[ALL] / 1e3, "", b->real_row.p50[PASS] / b->miss_ns, paper_ns / b->real_row.p50[PASS]);
    printf("a pass in int16 with %s: %.1f us; must 25: %s\n", b->names[b->tables_count - 1], best->p50[PASS] / 1e3,
           best->p50[PASS] <= goal_ns ? "holds" : "does not hold");
    bench_turns_print(&b->turns, false);
}

static void print_json(const bench *b, uint64_t seed)
{
    const char *comma = "";

    printf("{\"bench\": \"kernels-pass\", \"seed\": %llu, \"miss_ns\": %.1f, \"multiplications\": %.0f, ",
           (unsigned long long)seed, b->miss_ns, multiplications(b));
    bench_turns_print(&b->turns, true);
    printf(
        ", \"float_pass_p50_ns\": %.1f, \"float_all_p50_ns\": %.1f, \"paper_ns\": %.0f, \"must_ns\": %.0f, \"rows\": [",
        b->real_row.p50[PASS], b->real_row.p50[ALL], paper_ns, goal_ns);
    for (uint32_t v = 0; v < b->tables_count; v++)
        for (int n = 0; n < NUMBERS; n++)
            for (int p = 0; p < PARTS; p++, comma = ", ") {
                const row *r = &b->rows[v][n];
                printf("%s{\"variant\": \"%s\", \"numbers\": \"%s\", \"part\": \"%s\", \"p50_ns\": %.1f, "
                       "\"lowest_ns\": %.1f, \"p50_misses\": %.3f, \"pass_floor_ns\": %.1f}",
                       comma, b->names[v], number_names[n], part_names[p], r->p50[p], r->lowest[p],
                       r->p50[p] / b->miss_ns, multiplications(b) * r->layer_ns);
            }
    printf("]}\n");
}

static void bench_free(bench *b)
{
    for (uint32_t v = 0; v < b->tables_count; v++)
        for (int n = 0; n < NUMBERS; n++)
            row_free(&b->rows[v][n]);
    row_free(&b->real_row);
    for (int n = 0; n < NUMBERS; n++) {
        clo_model_destroy(b->models[n]);
        free(b->data[n]);
        free(b->memory[n]);
    }
    network_float_close(b->real);
    chain_free(&b->chain);
    free(b->misses);
    free(b);
}

int pass_measure(const bench_options *options)
{
    bench *b = calloc(1, sizeof *b);
    bool is_made;

    if (b == NULL)
        return 1;
    choose_variants(b);
    network_jobs_draw(&b->jobs, options->seed);
    is_made = open_models(b, options->seed) && make_rows(b, options->rounds) &&
              chain_make(&b->chain, options->quick, options->seed);
    if (!is_made)
        fprintf(stderr, "bench-kernels: %s\n", clo_last_error()[0] != '\0' ? clo_last_error() : "out of memory");
    else {
        measure_all(b, options);
        if (options->json)
            print_json(b, options->seed);
        else
            print_text(b);
    }
    bench_free(b);
    return is_made ? 0 : 1;
}
