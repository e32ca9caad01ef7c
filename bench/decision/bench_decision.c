/* bench_decision.c - what does one decision of the scheduler cost, from the event to the order?
 *
 * A body has ended: the scheduler counts it, asks the policy, and orders the next body. All of that is one turn, driven
 * in virtual time on one thread (decision/scene.h), for each built-in policy, over the number of candidates (ready
 * stages) and of live jobs. Then 10 000 live jobs beside 100, in turns: with 16 candidates, the caches warm; the same,
 * but before each turn the caches are filled with something else; and where every live job has a ready stage. For the
 * same question the learned policy of LACHESIS takes 14 to 38 ms (figures 7 to 9, 98 of 100 decisions), that of Decima
 * 15 ms (figure 15b). At last, a decision through the socket of `clotho serve` (decision/served.h). */
#include "common/platform.h"
#include "decision/parts.h"
#include "decision/scene.h"
#include "decision/served.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    POLICIES_MAX = 32,
    CANDIDATES = 6,
    JOBS = 5,
    SAMPLES = 10000,
    QUICK_SAMPLES = 500,
    COLD_SAMPLES = 300,
    FEW_JOBS = 100,
    MANY_JOBS = 10000,
    /* With --quick: of candidates_of and jobs_of, and in place of MANY_JOBS. */
    QUICK_CANDIDATES = 4,
    QUICK_COUNTS = 3,
    QUICK_MANY_JOBS = 1000,
    JUDGED_CANDIDATES = 16,
    SERVED = 3, /* of served_policies */
    EVICTED_BYTES = 8 << 20
};

#define FLOAT_KIND "head and arg-max in float"

/* The "must" of the ratio with 16 candidates, caches warm. */
#define RATIO_MUST 1.3

/* The "must" of a decision through a socket, over a raw round trip and the decision alone. */
#define SERVED_MUST 1.3

static const char *const served_policies[SERVED] = {"fifo", "fair", "auto"};
static const uint32_t candidates_of[CANDIDATES] = {1, 4, 16, 64, 256, 1000};
static const uint32_t jobs_of[JOBS] = {1, 10, 100, 1000, 10000};

typedef enum comparison { WARM, COLD, CROWD, COMPARISONS } comparison;
static const char *const comparison_names[COMPARISONS] = {"warm", "cold", "every job a candidate"};

typedef struct row {
    double p50, p99, p999, max; /* ns */
    bool is_measured;
} row;

/* Medians of rounds. */
typedef struct ratio {
    double few_ns, many_ns, ratio, lowest;
} ratio;

/* A policy; lachesis once for each variant of the kernels. */
typedef struct contender {
    const clo_policy *policy;
    char name[40];
    const void *argument;
    bool has_isa;
    uint32_t isa;
} contender;

typedef struct bench {
    bench_options options;
    uint32_t samples, policies_count;
    contender policies[POLICIES_MAX];
    parts_network network;
    parts_row parts[PARTS_VARIANTS_MAX][PARTS_KINDS][PARTS_CANDIDATES];
    parts_row float_parts[PARTS_CANDIDATES];
    bool has_parts, only_ratios, only_served;
    served_row served[SERVED];
    uint32_t served_count;
    row rows[POLICIES_MAX][CANDIDATES][JOBS];
    ratio ratios[POLICIES_MAX][COMPARISONS];
    double *values; /* [samples] */
} bench;

static volatile unsigned char evicted[EVICTED_BYTES];

static void evict(void)
{
    for (size_t i = 0; i < EVICTED_BYTES; i += 64)
        evicted[i]++;
}

static bool fail_still(const contender *c)
{
    fprintf(stderr, "bench: policy %s: nothing runs any more\n", c->name);
    return false;
}

static scene *open_scene(const bench *b, uint32_t policy, uint32_t candidates, uint32_t jobs)
{
    const contender *c = &b->policies[policy];
    const scene_config config = {c->policy, candidates, jobs, b->options.seed, c->argument};
    scene *s = scene_open(&config);

    if (s != NULL && c->has_isa)
        parts_use(scene_state(s), c->isa);
    return s;
}

static bool measure_row(bench *b, uint32_t policy, uint32_t c, uint32_t j)
{
    scene *s = open_scene(b, policy, candidates_of[c], jobs_of[j]);
    row *r = &b->rows[policy][c][j];

    if (s == NULL)
        return false;
    r->is_measured = scene_measure(s, b->values, b->samples / 4 + 1, NULL) && /* until it is in a steady state */
                     scene_measure(s, b->values, b->samples, NULL);
    scene_close(s);
    if (!r->is_measured)
        return fail_still(&b->policies[policy]);
    bench_sort(b->values, b->samples);
    r->p50 = bench_quantile(b->values, b->samples, 0.5);
    r->p99 = bench_quantile(b->values, b->samples, 0.99);
    r->p999 = bench_quantile(b->values, b->samples, 0.999);
    r->max = b->values[b->samples - 1];
    return true;
}

static bool median_of(bench *b, scene *s, comparison what, double *out)
{
    bool is_slow = what == COLD || (what == CROWD && b->only_ratios);
    uint32_t count = is_slow && b->samples > COLD_SAMPLES ? COLD_SAMPLES : b->samples;

    if (!scene_measure(s, b->values, count, what == COLD ? evict : NULL))
        return false;
    *out = bench_summarise(b->values, count).median;
    return true;
}

static uint32_t many_jobs(const bench *b)
{
    return b->options.quick ? QUICK_MANY_JOBS : MANY_JOBS;
}

/* Both in turns, so that a change of the machine's speed meets both. */
static bool measure_ratio(bench *b, uint32_t policy, comparison what)
{
    uint32_t rounds = b->options.rounds;
    double *few = calloc(3 * (size_t)rounds, sizeof *few), *many = few + rounds, *ratios = many + rounds;
    bool is_good = few != NULL;
    scene *scenes[2] = {NULL, NULL};

    for (int i = 0; i < 2 && is_good; i++) {
        uint32_t jobs = i == 0 ? FEW_JOBS : many_jobs(b);
        scenes[i] = open_scene(b, policy, what == CROWD ? jobs : JUDGED_CANDIDATES, jobs);
        is_good = scenes[i] != NULL;
    }
    for (uint32_t r = 0; r < rounds && is_good; r++) {
        is_good = median_of(b, scenes[0], what, &few[r]) && median_of(b, scenes[1], what, &many[r]);
        ratios[r] = is_good && few[r] > 0 ? many[r] / few[r] : 1;
    }
    scene_close(scenes[0]);
    scene_close(scenes[1]);
    if (is_good) {
        bench_stats stats = bench_summarise(ratios, rounds);
        b->ratios[policy][what] = (ratio){bench_summarise(few, rounds).median, bench_summarise(many, rounds).median,
                                          stats.median, stats.lowest};
    }
    free(few);
    return is_good || fail_still(&b->policies[policy]);
}

static bool measure_served(bench *b)
{
    for (uint32_t p = 0; p < SERVED; p++, b->served_count++)
        if (!served_measure(served_policies[p], b->options.rounds, b->samples, &b->served[p]))
            return false;
    return true;
}

static bool measure_all(bench *b)
{
    bool is_good = true;

    if (b->only_served)
        return measure_served(b);
    for (uint32_t p = 0; p < b->policies_count && is_good; p++) {
        for (uint32_t c = 0; c < CANDIDATES && is_good && !b->only_ratios; c++)
            for (uint32_t j = 0; j < JOBS && is_good; j++)
                if (!b->options.quick || (c < QUICK_CANDIDATES && j < QUICK_COUNTS))
                    is_good = measure_row(b, p, c, j);
        for (int what = 0; what < COMPARISONS && is_good; what++)
            is_good = measure_ratio(b, p, (comparison)what);
    }
    for (uint32_t v = 0; v < b->network.variants && is_good && b->has_parts; v++)
        is_good = parts_measure(&b->network, b->network.isa[v], many_jobs(b), b->samples, b->parts[v]);
    if (is_good && b->has_parts)
        is_good = parts_measure_float(b->options.seed, b->samples, b->float_parts);
    return is_good && (b->only_ratios || measure_served(b));
}

static void print_policy(const bench *b, uint32_t policy)
{
    printf("%s: ns a decision, p50 / p99 / p99.9 / max\n%10s", b->policies[policy].name, "candidates");
    for (uint32_t j = 0; j < JOBS; j++)
        printf("  %18u live jobs", jobs_of[j]);
    printf("\n");
    for (uint32_t c = 0; c < CANDIDATES; c++) {
        printf("%10u", candidates_of[c]);
        for (uint32_t j = 0; j < JOBS; j++) {
            const row *r = &b->rows[policy][c][j];
            printf("  %5.0f %6.0f %6.0f %8.0f", r->p50, r->p99, r->p999, r->max);
        }
        printf("\n");
    }
    printf("\n");
}

static void print_parts_row(const char *kind, const parts_row rows[PARTS_CANDIDATES])
{
    printf("%-36s", kind);
    for (uint32_t c = 0; c < PARTS_CANDIDATES; c++)
        printf(" %6.0f %6.0f %6.0f %7.0f", rows[c].p50, rows[c].p99, rows[c].p999, rows[c].max);
    printf("\n");
}

static void print_parts(const bench *b)
{
    for (uint32_t v = 0; v < b->network.variants; v++) {
        printf("\nParts of lachesis, %s, %u live jobs: ns, p50 / p99 / p99.9 / max\n%-36s", b->network.names[v],
               many_jobs(b), "candidates");
        for (uint32_t c = 0; c < PARTS_CANDIDATES; c++)
            printf(" %28u", parts_candidates[c]);
        printf("\n");
        for (uint32_t k = 0; k < PARTS_KINDS; k++)
            print_parts_row(parts_kinds[k], b->parts[v][k]);
    }
    print_parts_row(FLOAT_KIND, b->float_parts);
}

/* What a decision of a learned policy takes in its paper, over what it takes here, whole, with JUDGED_CANDIDATES and
 * FEW_JOBS, warm; and what that must be. Not Decima: here executors keep their stages, and its network is seldom asked;
 * bench-kernels --pass has its ratio. */
typedef struct paper {
    const char *policy;
    double ns, must;
} paper;

static const paper *paper_of(const contender *c)
{
    static const paper papers[] = {{"lachesis", 14e6, 5000}};

    for (size_t i = 0; i < sizeof papers / sizeof papers[0]; i++)
        if (strcmp(c->policy->name, papers[i].policy) == 0)
            return &papers[i];
    return NULL;
}

static void print_papers(const bench *b)
{
    for (uint32_t p = 0; p < b->policies_count; p++) {
        const paper *of = paper_of(&b->policies[p]);
        if (of == NULL)
            continue;
        double times = of->ns / b->ratios[p][WARM].few_ns;
        printf("%-22s a whole decision is %.0f times faster than the paper's %.0f ms   must %.0f: %s\n",
               b->policies[p].name, times, of->ns / 1e6, of->must, times >= of->must ? "holds" : "does not hold");
    }
}

static void print_served(const bench *b)
{
    if (b->served_count == 0)
        return;
    assert(b->served_count <= SERVED);
    printf(
        "\nThrough the socket of `clotho serve`, %d live jobs: p50 in ns of an event and its choice; a raw round trip "
        "of as many bytes;\nthe decision alone; the first over the sum of the others; medians of %u rounds\n",
        SERVED_JOBS, b->options.rounds);
    for (uint32_t p = 0; p < b->served_count; p++) {
        const served_row *r = &b->served[p];
        printf("%-22s %9.0f %9.0f %9.0f %8.2f   must %.1f: %s\n", served_policies[p], r->through_ns, r->raw_ns,
               r->alone_ns, r->ratio, SERVED_MUST, r->ratio <= SERVED_MUST ? "holds" : "does not hold");
    }
}

static void print_text(const bench *b)
{
    if (b->only_served) {
        print_served(b);
        return;
    }
    printf("From the end of a body to the orders, %d workers, %u turns each; two reads of the clock (%.0f ns) are "
           "subtracted.\n\n",
           SCENE_WORKERS, b->samples, scene_clock_ns());
    for (uint32_t p = 0; p < b->policies_count && !b->only_ratios; p++)
        print_policy(b, p);
    printf("p50 in ns with %d and with %d live jobs, %d candidates; medians of %u rounds\n", FEW_JOBS,
           (int)many_jobs(b), JUDGED_CANDIDATES, b->options.rounds);
    printf("%-22s", "policy");
    for (int what = 0; what < COMPARISONS; what++)
        printf(" %28s", comparison_names[what]);
    printf("\n");
    for (uint32_t p = 0; p < b->policies_count; p++) {
        printf("%-22s", b->policies[p].name);
        for (int what = 0; what < COMPARISONS; what++) {
            const ratio *r = &b->ratios[p][what];
            printf(" %9.0f %9.0f %8.2f", r->few_ns, r->many_ns, r->ratio);
        }
        printf("   must %.1f (warm): %s\n", RATIO_MUST,
               b->ratios[p][WARM].ratio <= RATIO_MUST ? "holds" : "does not hold");
    }
    print_papers(b);
    if (b->has_parts)
        print_parts(b);
    print_served(b);
    printf("\nThe papers' learned policies, a decision: LACHESIS 14 / 30 / 38 ms, Decima 15 ms.\n");
}

static void print_rows_json(const bench *b)
{
    const char *comma = "";

    for (uint32_t p = 0; p < b->policies_count; p++)
        for (uint32_t c = 0; c < CANDIDATES; c++)
            for (uint32_t j = 0; j < JOBS; j++) {
                const row *r = &b->rows[p][c][j];
                if (!r->is_measured)
                    continue;
                printf("%s{\"policy\": \"%s\", \"candidates\": %u, \"jobs\": %u, \"p50_ns\": %.1f, \"p99_ns\": %.1f, "
                       "\"p999_ns\": %.1f, \"max_ns\": %.1f}",
                       comma, b->policies[p].name, candidates_of[c], jobs_of[j], r->p50, r->p99, r->p999, r->max);
                comma = ", ";
            }
}

static void print_parts_row_json(const char *comma, const char *variant, const char *kind,
                                 const parts_row rows[PARTS_CANDIDATES])
{
    for (uint32_t c = 0; c < PARTS_CANDIDATES; c++, comma = ", ")
        printf("%s{\"variant\": \"%s\", \"part\": \"%s\", \"candidates\": %u, \"p50_ns\": %.1f, \"p99_ns\": %.1f, "
               "\"p999_ns\": %.1f, \"max_ns\": %.1f}",
               comma, variant, kind, parts_candidates[c], rows[c].p50, rows[c].p99, rows[c].p999, rows[c].max);
}

static void print_parts_json(const bench *b)
{
    if (!b->has_parts)
        return;
    print_parts_row_json("", "float", FLOAT_KIND, b->float_parts);
    for (uint32_t v = 0; v < b->network.variants; v++)
        for (uint32_t k = 0; k < PARTS_KINDS; k++)
            print_parts_row_json(", ", b->network.names[v], parts_kinds[k], b->parts[v][k]);
}

static void print_served_json(const bench *b)
{
    const char *comma = "";

    assert(b->served_count <= SERVED);
    for (uint32_t p = 0; p < b->served_count; p++, comma = ", ") {
        const served_row *r = &b->served[p];
        printf("%s{\"policy\": \"%s\", \"through_ns\": %.1f, \"raw_ns\": %.1f, \"alone_ns\": %.1f, \"ratio\": %.3f}",
               comma, served_policies[p], r->through_ns, r->raw_ns, r->alone_ns, r->ratio);
    }
}

/* The rest of the goals. */
static void print_served_goals(const bench *b, const char *comma)
{
    assert(b->served_count <= SERVED);
    for (uint32_t p = 0; p < b->served_count; p++, comma = ", ")
        printf("%s{\"goal\": \"%s: p50 through a socket / (raw round trip + decision)\", \"value\": %.3f, \"must\": "
               "%.1f, \"holds\": %s}",
               comma, served_policies[p], b->served[p].ratio, SERVED_MUST,
               b->served[p].ratio <= SERVED_MUST ? "true" : "false");
}

static void print_json(const bench *b)
{
    const char *comma = "";

    printf(
        "{\"bench\": \"decision\", \"workers\": %d, \"turns\": %u, \"rounds\": %u, \"seed\": %llu, \"clock_ns\": %.1f, "
        "\"rows\": [",
        SCENE_WORKERS, b->samples, b->options.rounds, (unsigned long long)b->options.seed, scene_clock_ns());
    print_rows_json(b);
    printf("], \"ratios\": [");
    for (uint32_t p = 0; p < b->policies_count; p++)
        for (int what = 0; what < COMPARISONS; what++, comma = ", ") {
            const ratio *r = &b->ratios[p][what];
            printf(
                "%s{\"policy\": \"%s\", \"what\": \"%s\", \"p50_ns_%d\": %.1f, \"p50_ns_%d\": %.1f, \"ratio\": %.3f, "
                "\"lowest\": %.3f}",
                comma, b->policies[p].name, comparison_names[what], FEW_JOBS, r->few_ns, (int)many_jobs(b), r->many_ns,
                r->ratio, r->lowest);
        }
    printf("], \"parts\": [");
    print_parts_json(b);
    printf("], \"served\": [");
    print_served_json(b);
    printf("], \"papers_ns\": {\"lachesis\": [14000000, 30000000, 38000000], \"decima\": [15000000]}, \"goals\": [");
    comma = "";
    for (uint32_t p = 0; p < b->policies_count; p++, comma = ", ")
        printf("%s{\"goal\": \"%s: p50 with %d live jobs / with %d, %d candidates\", \"value\": %.3f, \"must\": %.1f, "
               "\"holds\": %s}",
               comma, b->policies[p].name, (int)many_jobs(b), FEW_JOBS, JUDGED_CANDIDATES, b->ratios[p][WARM].ratio,
               RATIO_MUST, b->ratios[p][WARM].ratio <= RATIO_MUST ? "true" : "false");
    for (uint32_t p = 0; p < b->policies_count; p++) {
        const paper *of = paper_of(&b->policies[p]);
        double times = of != NULL ? of->ns / b->ratios[p][WARM].few_ns : 0;
        if (of != NULL)
            printf("%s{\"goal\": \"%s: the paper's time / a whole decision\", \"value\": %.0f, \"must\": %.0f, "
                   "\"holds\": %s}",
                   comma, b->policies[p].name, times, of->must, times >= of->must ? "true" : "false");
    }
    print_served_goals(b, comma);
    printf("]}\n");
}

static void add_contender(bench *b, const clo_policy *policy)
{
    contender *c = &b->policies[b->policies_count++];

    *c = (contender){.policy = policy};
    snprintf(c->name, sizeof c->name, "%s", policy->name);
}

/* Once for each variant. */
static void add_lachesis(bench *b)
{
    for (uint32_t v = 0; v < b->network.variants && b->policies_count < POLICIES_MAX; v++) {
        contender *c = &b->policies[b->policies_count++];
        *c = (contender){clo_policy_find("lachesis"), "", &b->network.argument, true, b->network.isa[v]};
        snprintf(c->name, sizeof c->name, "lachesis %s", b->network.names[v]);
    }
    b->has_parts = true;
}

/* Those asked for, or all; a name that is none is told. */
static bool choose_policies(bench *b, const bench_list *asked, bool only_ratios)
{
    clo_entry entry = CLO_ENTRY_INIT;

    b->only_ratios = only_ratios;

    for (uint32_t i = 0; i < asked->count && b->policies_count < POLICIES_MAX; i++) {
        const clo_policy *policy = clo_policy_find(asked->items[i]);
        if (policy == NULL)
            return fprintf(stderr, "bench-decision: there is no policy '%s'\n", asked->items[i]), false;
        if (strcmp(policy->name, "lachesis") == 0)
            add_lachesis(b);
        else
            add_contender(b, policy);
    }
    for (uint32_t i = 0;
         asked->count == 0 && b->policies_count < POLICIES_MAX && clo_registry_entry("policies", i, &entry); i++)
        add_contender(b, clo_policy_find(entry.name));
    if (asked->count == 0)
        add_lachesis(b);
    b->has_parts = b->has_parts && !only_ratios;
    return true;
}

int main(int argc, char **argv)
{
    bench_list asked = {0};
    bool only_ratios = false, only_served = false;
    const bench_flag flags[] = {
        {.name = "policy NAME", .help = "may be given several times; else all that are registered", .list = &asked},
        {.name = "ratios", .help = "only few live jobs beside many, in turns", .is_set = &only_ratios},
        {.name = "served", .help = "only through the socket of `clotho serve`", .is_set = &only_served},
        {0}};
    const bench_about about = {.name = "decision",
                               .question = "what does one decision of the scheduler cost, from the event to the order?",
                               .flags = flags,
                               .rounds = 15,
                               .quick_rounds = 3};
    bench *b = calloc(1, sizeof *b);
    int exit_status;

    if (b == NULL)
        return 1;
    exit_status = bench_options_read(&b->options, &about, argc, argv);
    if (exit_status < 0) {
        b->samples = b->options.quick ? QUICK_SAMPLES : SAMPLES;
        b->values = calloc(b->samples, sizeof *b->values);
        b->only_served = only_served;
        exit_status = !parts_open(&b->network, b->options.seed)                  ? 1
                      : !only_served && !choose_policies(b, &asked, only_ratios) ? 2
                      : b->values != NULL && measure_all(b)                      ? 0
                                                                                 : 1;
        if (exit_status == 0 && b->options.json)
            print_json(b);
        else if (exit_status == 0)
            print_text(b);
        free(b->values);
        parts_close(&b->network);
    }
    free(b);
    return exit_status;
}
