/* check_kernels.c - every variant of every kernel gives the bytes of the scalar one, on random and on extreme inputs;
 * the outputs of one fixed run have the same hash on every machine; and each variant is timed in the same program.
 *
 * A case draws its inputs from a seed, so running it with two tables from the same seed gives both the same inputs. An
 * entry that two variants share is checked once. Mutation: in any variant, a shift too many, or a saturating add. */
#include "cases.h"
#include "times.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES = 70, HASH_ROUNDS = 2 };

/* FNV-1a over the outputs of the fixed run: the same on every architecture, in every variant. A change means that the
 * arithmetic has changed, and with it every model. */
#define EXPECTED_HASH UINT64_C(0xfd510b5d1753d323)

typedef struct options {
    uint32_t rounds;
    bool is_timed;
    const char *required, *forbidden;
} options;

static bool is_same(const kernel_case *one, const clo_kernels *table, const clo_kernels *scalar, style how,
                    uint32_t size, uint64_t seed)
{
    output want, have;
    bool same;

    draw_seed(seed);
    want = one->run(scalar, how, size);
    draw_seed(seed);
    have = one->run(table, how, size);
    same = want.size == have.size && memcmp(want.bytes, have.bytes, want.size) == 0;
    if (!same)
        for (size_t i = 0; i < want.size; i++) {
            int a = ((const unsigned char *)want.bytes)[i], b = ((const unsigned char *)have.bytes)[i];
            if (a != b) {
                printf("%s, style %d, size %u, seed %" PRIu64 ": byte %zu of %zu is %d, scalar has %d\n", one->name,
                       (int)how, size, seed, i, want.size, b, a);
                break;
            }
        }
    draw_free_all();
    return same;
}

static uint32_t check_case(const kernel_case *one, const clo_kernels *table, const clo_kernels *scalar, uint32_t rounds)
{
    uint32_t failures = 0;

    for (uint32_t round = 0; round < rounds; round++)
        for (uint32_t size = 1; size <= SIZES; size++)
            for (int how = 0; how < STYLES && failures < 5; how++)
                failures += !is_same(one, table, scalar, (style)how, size,
                                     ((uint64_t)round << 32) + size * 16u + (uint32_t)how);
    return failures;
}

static uint64_t hash_run(const clo_kernels *table)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    uint32_t count;
    const kernel_case *cases = cases_all(&count);

    for (uint32_t i = 0; i < count; i++)
        for (uint32_t run = 0; run < HASH_ROUNDS * SIZES * STYLES; run++) {
            output out;

            draw_seed(UINT64_C(0x10000) * i + run);
            out = cases[i].run(table, (style)(run % STYLES), run / STYLES % SIZES + 1);
            for (size_t b = 0; b < out.size; b++)
                hash = (hash ^ ((const unsigned char *)out.bytes)[b]) * UINT64_C(0x100000001b3);
            draw_free_all();
        }
    return hash;
}

/* Failures of one variant: those of its entries that are not scalar's, and of the hash. */
static uint32_t check_variant(const clo_variant *variant, const options *asked)
{
    uint32_t count, own = 0, failures = 0;
    const kernel_case *cases = cases_all(&count);
    clo_kernels scalar, table;
    uint64_t hash;

    clo_kernels_select(&scalar, 0);
    clo_kernels_select(&table, variant->needs);
    for (uint32_t i = 0; i < count; i++)
        if (cases[i].entry(&table) != cases[i].entry(&scalar) || variant->needs == 0) {
            own++;
            failures += check_case(&cases[i], &table, &scalar, variant->needs == 0 ? 1 : asked->rounds);
        }
    hash = hash_run(&table);
    printf("%-11s %u of %u kernels of its own, %u cases each: %s; hash %016" PRIx64 "%s\n", variant->name, own, count,
           asked->rounds * SIZES * STYLES, failures == 0 ? "equal to scalar" : "NOT EQUAL", hash,
           hash == EXPECTED_HASH ? "" : ", NOT THE EXPECTED ONE");
    if (asked->is_timed)
        times_print(&table, variant->name);
    return failures + (hash != EXPECTED_HASH);
}

static bool read_options(options *out, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        bool has_value = i + 1 < argc;

        if (strcmp(argv[i], "--no-times") == 0)
            out->is_timed = false;
        else if (strcmp(argv[i], "--rounds") == 0 && has_value)
            out->rounds = (uint32_t)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--require") == 0 && has_value)
            out->required = argv[++i];
        else if (strcmp(argv[i], "--forbid") == 0 && has_value)
            out->forbidden = argv[++i];
        else
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    options asked = {3, true, NULL, NULL};
    uint32_t count, failures = 0, isa = clo_cpu_isa();
    const clo_variant *variants = clo_kernels_variants(&count);
    bool has_required = false, has_forbidden = false;

    if (!read_options(&asked, argc, argv)) {
        fprintf(stderr, "usage: check-kernels [--rounds N] [--no-times] [--require VARIANT] [--forbid VARIANT]\n");
        return 2;
    }
    for (uint32_t i = 0; i < count; i++) {
        bool can_run = (variants[i].needs & isa) == variants[i].needs;

        has_required |= can_run && asked.required != NULL && strcmp(asked.required, variants[i].name) == 0;
        has_forbidden |= can_run && asked.forbidden != NULL && strcmp(asked.forbidden, variants[i].name) == 0;
        if (can_run)
            failures += check_variant(&variants[i], &asked);
        else
            printf("%-11s not run: this CPU lacks it\n", variants[i].name);
    }
    if (asked.required != NULL && !has_required)
        printf("%s was to be checked, but this CPU lacks it or it was not built\n", asked.required);
    if (has_forbidden)
        printf("%s was not to be chosen here\n", asked.forbidden);
    return failures != 0 || (asked.required != NULL && !has_required) || has_forbidden;
}
