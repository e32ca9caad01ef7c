/* The reference runs of decima-sim (data/tpch/reference_jct.json): FIFO, fair sharing and Decima's network with the
 * published weights, batches of 20 jobs and streams of 201 on 50 executors.
 *
 * The file says how its runs were seeded: 7000 + seed for arrivals and levels, 1000 + seed for durations, both numpy's
 * RandomState. With these two generators the runs come out to the millisecond. With the library's own generator they
 * are compared as distributions, paired by seed. So is Decima: one choice that rounding turns changes all that follows.
 *
 * CLOTHO_DECISIONS=N compares with floating point on all decisions of N batches and the first N / 4 streams. */
#define _POSIX_C_SOURCE 200809L
#include "float_decima.h"
#include "support.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MEND "put the workloads there, or: cmake --preset release -DCLOTHO_DATA=FOLDER"
#define REFERENCE CLO_DATA "/tpch/reference_jct.json"
#define WEIGHTS CLO_DATA "/decima_model/decima_weights.json"
#define EXECUTORS "uniform:50"

enum { QUERIES = 22, SIZES = 7, JOBS_MAX = 201 };

static const char *const sizes[SIZES] = {"2g", "5g", "10g", "20g", "50g", "80g", "100g"};

/* numpy.random.RandomState(seed): MT19937 (Matsumoto and Nishimura 1998), seeded by one number. */
typedef struct twister {
    uint32_t state[624];
    int at;
} twister;

static void twister_seed(twister *t, uint32_t seed)
{
    for (uint32_t i = 0; i < 624; i++) {
        t->state[i] = seed;
        seed = 1812433253u * (seed ^ (seed >> 30)) + i + 1;
    }
    t->at = 624;
}

static uint32_t twister_next(twister *t)
{
    if (t->at == 624) {
        for (int i = 0; i < 624; i++) {
            uint32_t y = (t->state[i] & 0x80000000u) | (t->state[(i + 1) % 624] & 0x7fffffffu);
            t->state[i] = t->state[(i + 397) % 624] ^ (y >> 1) ^ ((y & 1) != 0 ? 0x9908b0dfu : 0);
        }
        t->at = 0;
    }
    uint32_t y = t->state[t->at++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

/* randint(bound): masked, and drawn again where it is too large. */
static uint32_t twister_below(twister *t, uint32_t bound)
{
    uint32_t mask = bound - 1, drawn;

    if (bound == 1)
        return 0;
    for (uint32_t shift = 1; shift < 32; shift *= 2)
        mask |= mask >> shift;
    do
        drawn = twister_next(t) & mask;
    while (drawn >= bound);
    return drawn;
}

/* exponential(mean) */
static double twister_exponential(twister *t, double mean)
{
    uint32_t high = twister_next(t) >> 5, low = twister_next(t) >> 6;

    return -log(1.0 - (high * 67108864.0 + low) / 9007199254740992.0) * mean;
}

typedef struct generators {
    twister of[2]; /* arrivals and levels; durations */
} generators;

static uint32_t below(void *source, uint32_t stream, uint32_t bound)
{
    return twister_below(&((generators *)source)->of[stream], bound);
}

typedef struct fixture {
    clo_workload *loaded[SIZES];
    const clo_graph *graphs[SIZES][QUERIES];
    clo_platform *platform;
    cJSON *reference;
} fixture;

static int open_all(void **state)
{
    static fixture f;
    char path[1024];
    static char text[1 << 17];

    *state = NULL;
    if (access(REFERENCE, R_OK) != 0)
        return 0;
    for (int s = 0; s < SIZES; s++) {
        snprintf(path, sizeof path, CLO_DATA "/tpch/tpch_%s.jsonl", sizes[s]);
        ok(clo_workload_load(path, NULL, &f.loaded[s]));
        assert_int_equal(clo_workload_jobs(f.loaded[s]), QUERIES);
        for (uint32_t j = 0; j < QUERIES; j++) {
            const clo_graph *graph = clo_workload_get(f.loaded[s], j)->graph;
            long query = strtol(strrchr(clo_graph_name(graph), '-') + 1, NULL, 10);
            assert_in_range(query, 1, QUERIES);
            f.graphs[s][query - 1] = graph;
        }
    }
    ok(clo_platform_open(EXECUTORS, &f.platform));
    FILE *file = fopen(REFERENCE, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    assert_int_equal(fclose(file), 0);
    f.reference = cJSON_Parse(text);
    assert_non_null(f.reference);
    *state = &f;
    return 0;
}

static int close_all(void **state)
{
    fixture *f = *state;

    if (f == NULL)
        return 0;
    cJSON_Delete(f->reference);
    clo_platform_destroy(f->platform);
    for (int s = 0; s < SIZES; s++)
        clo_workload_destroy(f->loaded[s]);
    return 0;
}

typedef struct arrival {
    char name[32];
    int64_t ms;
} arrival;

static int compare_arrivals(const void *a, const void *b)
{
    const arrival *x = a, *y = b;

    return x->ms != y->ms ? (x->ms < y->ms ? -1 : 1) : strcmp(x->name, y->name);
}

static void add_job(const fixture *f, clo_workload *workload, arrival *row, uint32_t size, uint32_t query, int64_t ms)
{
    clo_workload_job job = CLO_WORKLOAD_JOB_INIT;

    job.graph = f->graphs[size][query];
    job.arrival_ns = ms * 1000000;
    ok(clo_workload_add(workload, &job));
    snprintf(row->name, sizeof row->name, "tpch-%s-%u", sizes[size], query + 1);
    row->ms = ms;
}

/* The jobs of a run as decima-sim draws them. The order of a batch is not in the file: there it stands sorted. */
static uint32_t draw_jobs(const fixture *f, twister *t, bool is_batch, clo_workload *workload, arrival rows[JOBS_MAX])
{
    uint32_t count = 0, initial = is_batch ? 20 : 1, streamed = is_batch ? 0 : 200;
    int64_t ms = 0;

    for (uint32_t i = 0; i < initial; i++) {
        uint32_t query = twister_below(t, QUERIES);
        add_job(f, workload, &rows[count++], twister_below(t, SIZES), query, 0);
    }
    for (uint32_t i = 0; i < streamed; i++) {
        ms += (int64_t)twister_exponential(t, 25000);
        uint32_t size = twister_below(t, SIZES);
        add_job(f, workload, &rows[count++], size, twister_below(t, QUERIES), ms);
    }
    return count;
}

/* They are those of the file. */
static void check_jobs(const cJSON *run, arrival *rows, uint32_t count)
{
    const cJSON *list = cJSON_GetObjectItem(run, "arrivals"), *item;
    static arrival want[JOBS_MAX];
    uint32_t i = 0;

    assert_int_equal(cJSON_GetArraySize(list), count);
    cJSON_ArrayForEach (item, list) {
        snprintf(want[i].name, sizeof want[i].name, "%s", cJSON_GetArrayItem(item, 0)->valuestring);
        want[i++].ms = (int64_t)cJSON_GetArrayItem(item, 1)->valuedouble;
    }
    qsort(want, count, sizeof want[0], compare_arrivals);
    qsort(rows, count, sizeof rows[0], compare_arrivals);
    for (i = 0; i < count; i++) {
        assert_string_equal(rows[i].name, want[i].name);
        assert_int_equal(rows[i].ms, want[i].ms);
    }
}

static const cJSON *find_run(const fixture *f, bool is_batch, int seed, const char *scheme)
{
    const cJSON *runs = cJSON_GetObjectItem(cJSON_GetObjectItem(f->reference, is_batch ? "batch" : "stream"), "runs");
    const cJSON *run;

    cJSON_ArrayForEach (run, runs)
        if (cJSON_GetObjectItem(run, "seed")->valueint == seed &&
            strcmp(cJSON_GetObjectItem(run, "scheme")->valuestring, scheme) == 0)
            return run;
    fail_msg("no run of seed %d, %s", seed, scheme);
    return NULL;
}

static const struct {
    const char *scheme, *policy;
    uint32_t is_sampled;
} schemes[] = {{"spark_fifo", "decima-fifo", 0},
               {"dynamic_partition", "decima-fair", 0},
               {"decima_greedy", "decima", 0},
               {"decima", "decima", 1}};
enum { FAIR = 1, GREEDY, SAMPLED, EXACT = 2 };

/* Who looks at each decision of the network; NULL: nobody. */
static clo_learned_watch_fn watch;
static void *watch_context;

/* Our run beside that of the file; with its generators, or (own_seed > 0) with ours. */
static clo_stream_result run_beside(const fixture *f, bool is_batch, int seed, size_t scheme, uint64_t own_seed)
{
    generators g;
    clo_workload *workload;
    static arrival rows[JOBS_MAX];
    clo_decima_config decima = CLO_DECIMA_CONFIG_INIT;
    clo_environment environment = CLO_ENVIRONMENT_INIT;
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_stream_result result = CLO_STREAM_RESULT_INIT;

    twister_seed(&g.of[0], 7000 + (uint32_t)seed);
    twister_seed(&g.of[1], 1000 + (uint32_t)seed);
    ok(clo_workload_create("reference", &workload));
    uint32_t count = draw_jobs(f, &g.of[0], is_batch, workload, rows);
    check_jobs(find_run(f, is_batch, seed, schemes[0].scheme), rows, count);
    decima.faithful = 1;
    decima.seed = own_seed;
    decima.below = own_seed == 0 ? below : NULL;
    decima.source = &g;
    ok(clo_decima_open(&decima, &environment));
    clo_learned_argument argument = CLO_LEARNED_ARGUMENT_INIT;
    argument.is_sampled = schemes[scheme].is_sampled;
    argument.seed = (uint64_t)seed;
    argument.watch = watch;
    argument.watch_context = watch_context;
    config.policy = clo_policy_find(schemes[scheme].policy);
    config.argument = scheme >= GREEDY ? &argument : NULL;
    config.environment = &environment;
    ok(clo_stream_simulate(workload, f->platform, &config, &result));
    clo_environment_close(&environment);
    clo_workload_destroy(workload);
    assert_int_equal(result.refused, 0);
    assert_int_equal(result.fallbacks, 0);
    assert_int_equal(result.jobs_ended, count);
    return result;
}

static double of(const cJSON *run, const char *key)
{
    return cJSON_GetObjectItem(run, key)->valuedouble;
}

static void compare_exactly(const fixture *f, bool is_batch, int seeds)
{
    for (size_t s = 0; s < EXACT; s++)
        for (int seed = 0; seed < seeds; seed++) {
            const cJSON *want = find_run(f, is_batch, seed, schemes[s].scheme);
            clo_stream_result have = run_beside(f, is_batch, seed, s, 0);
            if (llround(have.jct_mean_ns) != llround(of(want, "avg_jct_ms") * 1e6) ||
                have.makespan_ns != (int64_t)(of(want, "makespan_ms") * 1e6))
                fail_msg("%s, %s, seed %d: mean JCT %.6f ms and makespan %.3f ms; decima-sim has %.6f and %.3f",
                         is_batch ? "batch" : "stream", schemes[s].policy, seed, have.jct_mean_ns / 1e6,
                         (double)have.makespan_ns / 1e6, of(want, "avg_jct_ms"), of(want, "makespan_ms"));
        }
}

static fixture *need(void **state)
{
    if (*state == NULL)
        skip_because("no workloads at " CLO_DATA, MEND);
    return *state;
}

static void batches_come_out_as_in_decima_sim_to_the_millisecond(void **state)
{
    compare_exactly(need(state), true, 20);
}

static void streams_come_out_as_in_decima_sim_to_the_millisecond(void **state)
{
    compare_exactly(need(state), false, 8);
}

/* Ratios of mean JCT, paired by seed: their mean lies within `mean` of 1, each within 15 %. */
static void compare_own_draws(const fixture *f, bool is_batch, int seeds, double mean)
{
    for (size_t s = 0; s < EXACT; s++) {
        double sum = 0, least = INFINITY, most = 0;
        for (int seed = 0; seed < seeds; seed++) {
            const cJSON *want = find_run(f, is_batch, seed, schemes[s].scheme);
            double ratio =
                run_beside(f, is_batch, seed, s, 1 + (uint64_t)seed).jct_mean_ns / 1e6 / of(want, "avg_jct_ms");
            sum += ratio;
            least = ratio < least ? ratio : least;
            most = ratio > most ? ratio : most;
        }
        print_message("%s, %s, %d seeds, own draws: mean ratio of mean JCT %.4f, %.4f to %.4f\n",
                      is_batch ? "batch" : "stream", schemes[s].policy, seeds, sum / seeds, least, most);
        assert_true(fabs(sum / seeds - 1) <= mean);
        assert_true(least >= 0.85 && most <= 1.15);
    }
}

static void batches_with_own_draws_agree_within_3_percent(void **state)
{
    compare_own_draws(need(state), true, 20, 0.03);
}

static void streams_with_own_draws_agree_within_5_percent(void **state)
{
    compare_own_draws(need(state), false, 8, 0.05);
}

/* 0: a few. */
static int decisions_wanted(void)
{
    const char *text = getenv("CLOTHO_DECISIONS");

    return text != NULL ? (int)strtol(text, NULL, 10) : 0;
}

/* Decisions with four candidates or more. Ties are left out: two of them have the highest score. `clear` ones: the best
 * two differ by a thousandth or more (a chance 0.1 % higher). */
typedef struct agreement {
    float_decima *reference;
    uint64_t decisions;
    uint32_t each; /* of so many decisions one is looked at */
    uint32_t clear, clear_agree, stages, stages_agree, limits, limits_agree;
    double lost; /* the most that another choice costs, by the reference's scores */
} agreement;

#define CLEAR 0.001

/* Counts a choice among `count`, if there is a best one. */
static void count_choice(const double *scores, uint32_t count, uint32_t chosen, agreement *a, uint32_t *decided,
                         uint32_t *agree)
{
    uint32_t best = 0;
    double margin = INFINITY;

    for (uint32_t i = 1; i < count; i++)
        best = scores[i] > scores[best] ? i : best;
    for (uint32_t i = 0; i < count; i++)
        margin = i != best ? fmin(margin, scores[best] - scores[i]) : margin;
    if (count < 4 || margin == 0)
        return;
    ++*decided;
    *agree += chosen == best;
    a->clear += margin >= CLEAR;
    a->clear_agree += margin >= CLEAR && chosen == best;
    a->lost = fmax(a->lost, scores[best] - scores[chosen]);
}

static void compare_decision(void *context, const clo_learned_decision *seen)
{
    agreement *a = context;
    static double scores[FLOAT_ROWS_MAX], limits[FLOAT_ROWS_MAX], candidates[FLOAT_ROWS_MAX];

    if (a->decisions++ % a->each != 0)
        return;
    float_score(a->reference, seen, seen->candidates[seen->candidate], scores, limits);
    for (uint32_t i = 0; i < seen->candidates_count; i++)
        candidates[i] = scores[seen->candidates[i]];
    count_choice(candidates, seen->candidates_count, seen->candidate, a, &a->stages, &a->stages_agree);
    count_choice(limits, seen->input.limits, seen->limit, a, &a->limits, &a->limits_agree);
}

static void integers_choose_as_floating_point_does(void **state)
{
    const fixture *f = need(state);
    static float_decima reference;
    int more = decisions_wanted();
    agreement a = {.reference = &reference, .each = more > 0 ? 1 : 8};

    if (access(WEIGHTS, R_OK) != 0)
        skip_because("no weights at " WEIGHTS, MEND);
    float_open(&reference, WEIGHTS);
    watch = compare_decision;
    watch_context = &a;
    for (int seed = 0; seed < (more > 0 ? more : 4); seed++)
        (void)run_beside(f, true, seed, GREEDY, 0);
    for (int seed = 0; seed < more / 4; seed++)
        (void)run_beside(f, false, seed, GREEDY, 0);
    watch = NULL;
    float_close(&reference);
    print_message("of %llu decisions, without ties: stages %u of %u (%.2f %%), limits %u of %u (%.2f %%); where the "
                  "best is clear "
                  "%u of %u (%.2f %%); the worst choice scores %.4f less\n",
                  (unsigned long long)a.decisions, a.stages_agree, a.stages, 100.0 * a.stages_agree / a.stages,
                  a.limits_agree, a.limits, 100.0 * a.limits_agree / a.limits, a.clear_agree, a.clear,
                  100.0 * a.clear_agree / a.clear, a.lost);
    assert_true(a.stages >= 50 && a.limits >= 50);
    assert_true(a.stages_agree >= 0.99 * a.stages);
    assert_true(a.limits_agree >= 0.99 * a.limits);
    assert_true(a.clear_agree >= 0.995 * a.clear);
}

/* Of the limits that could be chosen: choices of the largest, and of others. */
typedef struct limits_seen {
    uint32_t all, fewer;
} limits_seen;

static void count_limits(void *context, const clo_learned_decision *seen)
{
    limits_seen *l = context;

    if (seen->limit + 1 == seen->input.limits)
        l->all++;
    else
        l->fewer++;
}

/* Figure 14's ablation of the limits, with the published weights: where the best choice is taken, a stage always gets
 * all executors that are asked about, so nothing would change without limits. Where choices are drawn, many get fewer. */
static void the_published_network_limits_nobody_unless_it_draws(void **state)
{
    const fixture *f = need(state);
    limits_seen greedy = {0}, drawn = {0};

    watch = count_limits;
    for (int seed = 0; seed < 4; seed++) {
        watch_context = &greedy;
        (void)run_beside(f, true, seed, GREEDY, 0);
        watch_context = &drawn;
        (void)run_beside(f, true, seed, SAMPLED, 0);
    }
    watch = NULL;
    print_message("limits: greedy, all executors %u times, fewer %u times; drawn, %u and %u\n", greedy.all,
                  greedy.fewer, drawn.all, drawn.fewer);
    assert_true(greedy.all > 500);
    assert_int_equal(greedy.fewer, 0);
    assert_true(drawn.fewer > drawn.all / 20);
}

/* Mean JCT over that of fair sharing, the same jobs and seeds, from `least` to `most` where there are enough of them;
 * and within 5 percent of the file's run. */
static void compare_with_fair(const fixture *f, bool is_batch, size_t scheme, int seeds, double least, double most)
{
    double mine = 0, fair = 0, theirs = 0;

    for (int seed = 0; seed < seeds; seed++) {
        mine += run_beside(f, is_batch, seed, scheme, 0).jct_mean_ns / 1e6;
        fair += of(find_run(f, is_batch, seed, schemes[FAIR].scheme), "avg_jct_ms");
        theirs += of(find_run(f, is_batch, seed, schemes[scheme].scheme), "avg_jct_ms");
    }
    print_message("%s, %s, %d seeds: mean JCT %.3f of fair sharing; the file's run %.3f\n",
                  is_batch ? "batch" : "stream", schemes[scheme].scheme, seeds, mine / fair, theirs / fair);
    assert_true(fabs(mine / theirs - 1) <= 0.05);
    if (seeds >= 8)
        assert_true(mine / fair >= least && mine / fair <= most);
}

static void decima_takes_nine_tenths_of_the_time_of_fair_sharing(void **state)
{
    const fixture *f = need(state);
    int more = decisions_wanted();

    compare_with_fair(f, true, GREEDY, 20, 0.86, 0.92);
    compare_with_fair(f, false, SAMPLED, more > 0 ? 8 : 1, 0.85, 0.91);
    if (more == 0)
        return;
    compare_with_fair(f, true, SAMPLED, 20, 0.85, 1);
    compare_with_fair(f, false, GREEDY, 8, 0.9, 1.02);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_come_out_as_in_decima_sim_to_the_millisecond),
        cmocka_unit_test(streams_come_out_as_in_decima_sim_to_the_millisecond),
        cmocka_unit_test(batches_with_own_draws_agree_within_3_percent),
        cmocka_unit_test(streams_with_own_draws_agree_within_5_percent),
        cmocka_unit_test(decima_takes_nine_tenths_of_the_time_of_fair_sharing),
        cmocka_unit_test(the_published_network_limits_nobody_unless_it_draws),
        cmocka_unit_test(integers_choose_as_floating_point_does),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
