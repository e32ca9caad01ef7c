/* check_infer.c - the same decisions on every machine and with every variant of the kernels: one hash over all scores
 * and choices of drawn decisions.
 *
 * A decision: a drawn model encodes a drawn case, scores the stages without a parent, takes the best, scores limits for
 * its job and takes the best of them. The first SHORT decisions are of 20 stages and have a hash of their own, for runs
 * under a sanitizer; the others are of 3, so that emulated machines can run all of them. Every EVERY-th decision is
 * also compared with learn/infer/run.h and scalar kernels. Mutation: in any variant of the kernels, a rounding; in
 * learn/infer/infer.c, `level == 0` for `level <= 1`. */
#include "drawn_model.h"
#include "learn/infer/infer.h"
#include "learn/infer/run.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DECISIONS = 100000,
    SHORT = 4000,
    EVERY = 64,
    FOR_EACH_MODEL = 250,
    STAGES = 20,
    FEW_STAGES = 3,
    ROWS = DRAWN_ROWS_MAX
};

/* FNV-1a over the first SHORT decisions, and over all. A change means other scores: every recorded decision changes. */
#define EXPECTED_SHORT UINT64_C(0x41697c1776f89579)
#define EXPECTED UINT64_C(0x13a1eea7efa30bb7)

typedef struct run {
    drawn_model drawn;
    drawn_case one;
    clo_kernels kernels, scalar;
    clo_model *model;
    void *data, *memory;
    clo_infer *infer;
    int32_t scores[ROWS + CLO_LANES], limits[ROWS + CLO_LANES];
    uint32_t ready[ROWS], ready_count;
    uint64_t hash, hash_short;
    uint32_t failures;
} run;

static void fail(const char *what)
{
    fprintf(stderr, "check-infer: %s: %s\n", what, clo_last_error());
    exit(3);
}

static void hash_number(run *r, uint32_t number)
{
    for (int i = 0; i < 4; i++)
        r->hash = (r->hash ^ (number >> (8 * i) & 255)) * UINT64_C(0x100000001b3);
}

static void begin_model(run *r, uint64_t seed)
{
    const clo_infer_sizes sizes = {STAGES, STAGES, STAGES, DRAWN_EDGES_MAX};
    size_t bytes;

    drawn_model_draw(&r->drawn, seed);
    if (clo_model_build(&r->drawn.desc, &r->data, &bytes) != CLO_OK ||
        clo_model_open("drawn", r->data, bytes, &r->model) != CLO_OK)
        fail("a drawn model");
    bytes = clo_infer_bytes(r->model, &sizes);
    r->memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (r->memory == NULL)
        fail("no memory");
    r->infer = clo_infer_init(r->model, &r->kernels, &sizes, r->memory);
}

static void end_model(run *r)
{
    free(r->memory);
    clo_model_destroy(r->model);
    free(r->data);
}

/* Stages without a parent. */
static void find_ready(run *r)
{
    const clo_model_case *input = &r->one.input;
    bool has_parent[ROWS] = {false};

    for (uint32_t e = 0; e < input->child_begin[input->stages]; e++)
        has_parent[input->children[e]] = true;
    r->ready_count = 0;
    for (uint32_t s = 0; s < input->stages; s++)
        if (!has_parent[s])
            r->ready[r->ready_count++] = s;
}

static uint32_t best_of(const run *r, const int32_t *scores, const uint32_t *rows, uint32_t count)
{
    uint64_t keys[ROWS];
    const clo_candidates candidates = {scores, NULL, keys, count};

    for (uint32_t i = 0; i < count; i++)
        keys[i] = rows != NULL ? (uint64_t)r->one.job_of_stage[rows[i]] << 32 | rows[i] : i;
    return r->kernels.argmax_s32(&candidates);
}

static const int16_t *limit_inputs(const run *r)
{
    const clo_model_case *input = &r->one.input;
    const uint32_t rows[] = {input->stages, input->jobs, 1, input->limits};
    const int16_t *from = input->inputs;

    for (uint32_t v = 0; r->drawn.values[v].domain != CLO_MODEL_LIMIT; v++) /* there is one, among the inputs */
        from += (size_t)rows[r->drawn.values[v].domain] * r->drawn.values[v].width;
    return from;
}

/* `job` is that of the stage that was chosen. */
static void compare(run *r, uint32_t job)
{
    const clo_model_case *input = &r->one.input;
    int32_t wanted[ROWS], limits[ROWS] = {0};
    bool is_same = true;

    for (uint32_t i = 0; i < input->limits; i++)
        r->one.job_of_limit[i] = job;
    if (clo_run_ops(r->model, &r->scalar, input, wanted, limits) != CLO_OK)
        fail("row by row");
    for (uint32_t i = 0; i < r->ready_count; i++)
        is_same = is_same && r->scores[i] == wanted[r->ready[i]];
    for (uint32_t i = 0; i < input->limits; i++)
        is_same = is_same && r->limits[i] == limits[i];
    r->failures += !is_same;
}

static void decide(run *r, uint32_t i)
{
    const clo_model_case *input = &r->one.input;

    drawn_case_draw(&r->one, &r->drawn.desc, (drawn_shape)(i % DRAWN_SHAPES), i < SHORT ? STAGES : FEW_STAGES, i);
    find_ready(r);
    clo_infer_encode(r->infer, input);
    clo_infer_score(r->infer, r->ready, r->ready_count, r->scores);
    uint32_t best = best_of(r, r->scores, r->ready, r->ready_count);
    uint32_t job = r->one.job_of_stage[r->ready[best]];
    clo_infer_limits(r->infer, job, limit_inputs(r), input->limits, r->limits);
    for (uint32_t s = 0; s < r->ready_count; s++)
        hash_number(r, (uint32_t)r->scores[s]);
    for (uint32_t l = 0; l < input->limits; l++)
        hash_number(r, (uint32_t)r->limits[l]);
    hash_number(r, best);
    hash_number(r, best_of(r, r->limits, NULL, input->limits));
    if (i % EVERY == 0)
        compare(r, job);
}

static void run_all(run *r, uint32_t decisions)
{
    r->hash = UINT64_C(0xcbf29ce484222325);
    r->failures = 0;
    for (uint32_t i = 0; i < decisions; i++) {
        if (i % FOR_EACH_MODEL == 0)
            begin_model(r, i);
        decide(r, i);
        if (i + 1 == SHORT)
            r->hash_short = r->hash;
        if ((i + 1) % FOR_EACH_MODEL == 0 || i + 1 == decisions)
            end_model(r);
    }
}

static bool check_variant(run *r, const clo_variant *variant, uint32_t decisions)
{
    bool is_expected;

    clo_kernels_select(&r->kernels, variant->needs);
    run_all(r, decisions);
    is_expected = r->hash_short == EXPECTED_SHORT && (decisions != DECISIONS || r->hash == EXPECTED);
    printf("%-11s hash of %d decisions %016" PRIx64, variant->name, SHORT, r->hash_short);
    if (decisions > SHORT)
        printf(", of %u %016" PRIx64, decisions, r->hash);
    printf("; %u differ from row by row%s\n", r->failures, is_expected ? "" : ", NOT THE EXPECTED HASH");
    return is_expected && r->failures == 0;
}

typedef struct options {
    const char *variant; /* NULL: all that this CPU has */
    uint32_t decisions;
} options;

static bool read_options(int argc, char **argv, options *out)
{
    *out = (options){NULL, DECISIONS};
    if (argc == 2 && strcmp(argv[1], "--short") == 0)
        out->decisions = SHORT;
    else if (argc == 3 && strcmp(argv[1], "--only") == 0)
        out->variant = argv[2];
    else if (argc != 1)
        return false;
    return true;
}

/* True if at least one variant was checked, and all that were are right. */
static bool check_all(run *r, const options *with)
{
    uint32_t count, isa = clo_cpu_isa(), checked = 0;
    const clo_variant *variants = clo_kernels_variants(&count);
    bool is_ok = true;

    for (uint32_t i = 0; i < count; i++)
        if ((variants[i].needs & isa) == variants[i].needs &&
            (with->variant == NULL || strcmp(variants[i].name, with->variant) == 0)) {
            is_ok = check_variant(r, &variants[i], with->decisions) && is_ok;
            checked++;
        }
    if (checked == 0)
        fprintf(stderr, "check-infer: this CPU has no variant '%s'\n", with->variant);
    return is_ok && checked > 0;
}

int main(int argc, char **argv)
{
    options with;
    run *r;
    bool is_ok;

    if (!read_options(argc, argv, &with)) {
        fprintf(stderr, "usage: check-infer [--short | --only VARIANT]\n");
        return 2;
    }
    r = calloc(1, sizeof *r);
    if (r == NULL)
        return 3;
    clo_kernels_select(&r->scalar, 0);
    is_ok = check_all(r, &with);
    free(r);
    return is_ok ? 0 : 1;
}
