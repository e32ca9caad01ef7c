/* bench_synch.c - weighted completion time of whole workloads: how far is SynchPack from the bound of its LP, how far
 * are the forms without LP from those with it, and how far are the comparators behind?
 *
 * Every plan is judged by the stream checker. The ratio of a contender is to the best bound that
 * holds for it: without preemption that of LP2, with it that of LP1 and LP3. */
#include "synch/scenes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef CLO_DATA
#define CLO_DATA "../shared/data"
#endif

enum { CONTENDERS = 24, LP_FREE = 9, SYNCHPACK_1 = 5, SEEDS_MAX = 100 };

typedef struct contender {
    const char *label, *planner;
    uint32_t lp, reference; /* index of the contender that gains are measured against */
    bool is_bound_only, is_online;
    const char *policy; /* decides in a simulation: "follow" with the planner's plan, the others without one */
} contender;

static const contender contenders[CONTENDERS] = {
    {"synchpack-2", "synchpack-2", CLO_SYNCH_LP_AUTO, 0, false, false, NULL},
    {"synchpack-2 LP", "synchpack-2", CLO_SYNCH_LP_ALWAYS, 0, false, false, NULL},
    {"synchpack-2 free", "synchpack-2", CLO_SYNCH_LP_NEVER, 1, false, false, NULL},
    {"synchpack-2 online", "synchpack-2", CLO_SYNCH_LP_NEVER, 0, false, true, NULL},
    {"synchpack-3 LP", "synchpack-3", CLO_SYNCH_LP_ALWAYS, 0, true, false, NULL},
    {"synchpack-1", "synchpack-1", CLO_SYNCH_LP_ALWAYS, 0, false, false, NULL},
    {"synchpack-3 free", "synchpack-3", CLO_SYNCH_LP_NEVER, 4, true, false, NULL},
    {"synchpack-3", "synchpack-3", CLO_SYNCH_LP_AUTO, 0, true, false, NULL},
    {"psrs", "psrs", CLO_SYNCH_LP_NEVER, 0, false, false, NULL},
    {"tetris-weighted", "tetris-weighted", CLO_SYNCH_LP_NEVER, 0, false, false, NULL},
    {"jsq-maxweight", "jsq-maxweight", CLO_SYNCH_LP_NEVER, 0, false, false, NULL},
    {"follow synchpack-2", "synchpack-2", CLO_SYNCH_LP_NEVER, 2, false, false, "follow"},
    {"follow synchpack-3", "synchpack-3", CLO_SYNCH_LP_NEVER, 6, true, false, "follow"},
    {"follow psrs", "psrs", CLO_SYNCH_LP_NEVER, 8, false, false, "follow"},
    {"wspt", NULL, CLO_SYNCH_LP_NEVER, 0, false, true, "wspt"},
    {"easy-sjf", NULL, CLO_SYNCH_LP_NEVER, 0, false, true, "easy-sjf"},
    {"tetris", NULL, CLO_SYNCH_LP_NEVER, 0, false, true, "tetris"},
    {"auto", NULL, CLO_SYNCH_LP_NEVER, 0, false, true, "auto"},
    {"policy synchpack-2", NULL, CLO_SYNCH_LP_NEVER, 0, false, true, "synchpack-2"},
    {"policy synchpack-3", NULL, CLO_SYNCH_LP_NEVER, 0, false, true, "synchpack-3"},
    {"policy synchpack-1", NULL, CLO_SYNCH_LP_NEVER, 0, false, true, "synchpack-1"},
    {"policy psrs", NULL, CLO_SYNCH_LP_NEVER, 0, false, true, "psrs"},
    {"policy tetris-weighted", NULL, CLO_SYNCH_LP_NEVER, 0, false, true, "tetris-weighted"},
    {"policy jsq-maxweight", NULL, CLO_SYNCH_LP_NEVER, 0, false, true, "jsq-maxweight"},
};

typedef struct scene_row {
    const char *name;
    uint32_t jobs;
    bool is_bound, is_alibaba, is_online, skips_1;
    uint32_t machines;
    bool is_sweep; /* played if --only asks for it, and without the forms with LP */
    scene_law law;
} scene_row;

/* SynchPack, section 7: weights, penalty of machines that are not local, traffic; where nothing is said the weights are
 * drawn, the penalty is 2 and the traffic 80 %. */
#define SWEEP(workload, setting, jobs_of, alibaba, machines_of, weights_of, penalty, traffic)              \
    {                                                                                                      \
        .name = "sweep-" workload "-" setting, .jobs = jobs_of, .is_alibaba = alibaba, .is_online = true,  \
        .skips_1 = true, .machines = machines_of, .is_sweep = true, .law = {weights_of, penalty, traffic}, \
    }
#define SWEEPS(workload, jobs, alibaba, machines)                                         \
    SWEEP(workload, "drawn", jobs, alibaba, machines, WEIGHTS_DRAWN, 200, 80),            \
        SWEEP(workload, "equal", jobs, alibaba, machines, WEIGHTS_EQUAL, 200, 80),        \
        SWEEP(workload, "classes", jobs, alibaba, machines, WEIGHTS_CLASSES, 200, 80),    \
        SWEEP(workload, "penalty-100", jobs, alibaba, machines, WEIGHTS_DRAWN, 100, 80),  \
        SWEEP(workload, "penalty-150", jobs, alibaba, machines, WEIGHTS_DRAWN, 150, 80),  \
        SWEEP(workload, "penalty-300", jobs, alibaba, machines, WEIGHTS_DRAWN, 300, 80),  \
        SWEEP(workload, "penalty-400", jobs, alibaba, machines, WEIGHTS_DRAWN, 400, 80),  \
        SWEEP(workload, "traffic-40", jobs, alibaba, machines, WEIGHTS_DRAWN, 200, 40),   \
        SWEEP(workload, "traffic-60", jobs, alibaba, machines, WEIGHTS_DRAWN, 200, 60),   \
        SWEEP(workload, "traffic-100", jobs, alibaba, machines, WEIGHTS_DRAWN, 200, 100), \
        SWEEP(workload, "traffic-120", jobs, alibaba, machines, WEIGHTS_DRAWN, 200, 120)

static const scene_row scenes[] = {
    {.name = "google-like", .jobs = 30, .skips_1 = true},
    {.name = "google-like-bound", .jobs = 30, .is_bound = true, .skips_1 = true},
    {.name = "alibaba-4", .jobs = 20, .is_alibaba = true, .skips_1 = true, .machines = 4},
    {.name = "alibaba-1", .jobs = 20, .is_bound = true, .is_alibaba = true, .skips_1 = true, .machines = 1},
    {.name = "google-like-online", .jobs = 60, .is_online = true, .skips_1 = true},
    {.name = "google-bound-online", .jobs = 60, .is_bound = true, .is_online = true, .skips_1 = true},
    {.name = "google-small", .jobs = 10},
    SWEEPS("google", 60, false, 0),
    SWEEPS("alibaba", 40, true, 4),
};

typedef struct result {
    double weighted, bound, milliseconds;
    double delay; /* weighted, from the arrivals on */
    uint32_t elements;
    bool is_there, is_preemptive;
} result;

typedef struct bench {
    bench_options options;
    const char *data, *only;
    uint32_t seeds;
    result results[SEEDS_MAX][CONTENDERS];
    bool has_printed;
} bench;

static bool judge(const scene *s, const clo_synch *plan)
{
    uint32_t jobs = clo_workload_jobs(s->workload);
    clo_stream_job *rows = calloc(jobs, sizeof *rows);
    clo_cost **costs = calloc(jobs, sizeof(clo_cost *));
    clo_log *log = NULL;
    clo_status status = rows == NULL || costs == NULL ? CLO_ERR_MEMORY : clo_synch_log(plan, &log);

    for (uint32_t j = 0; j < jobs && status == CLO_OK; j++) {
        const clo_workload_job *job = clo_workload_get(s->workload, j);
        status = clo_cost_create(job->graph, s->platform, &costs[j]);
        rows[j] = (clo_stream_job){.job = j, .cost = costs[j], .arrival_ns = job->arrival_ns, .weight = job->weight};
    }
    clo_stream_case stream = {.size = sizeof stream, .platform = s->platform, .jobs = rows, .jobs_count = jobs};
    if (status == CLO_OK)
        status = clo_stream_check(&stream, log, NULL);
    clo_log_destroy(log);
    for (uint32_t j = 0; j < jobs && costs != NULL; j++)
        clo_cost_destroy(costs[j]);
    free(costs);
    free(rows);
    return status == CLO_OK || bench_fail("a plan is not valid");
}

/* The sum that the figures give is that of the pieces. */
static bool count(const scene *s, const clo_synch *plan, const clo_synch_figures *figures)
{
    uint32_t jobs = clo_workload_jobs(s->workload);
    int64_t *done = calloc(jobs, sizeof *done), sum = 0;
    size_t count;
    const clo_synch_piece *piece = clo_synch_pieces(plan, &count);

    for (size_t i = 0; i < count && done != NULL; i++)
        if (piece[i].finish_ns > done[piece[i].job])
            done[piece[i].job] = piece[i].finish_ns;
    for (uint32_t j = 0; j < jobs && done != NULL; j++)
        sum += clo_workload_get(s->workload, j)->weight * done[j];
    bool is_good = done != NULL && sum == figures->weighted_completion;
    free(done);
    return is_good || bench_fail("the figures of a plan are not those of its pieces");
}

static bool play(const scene *s, const contender *c, int64_t replan_ns, result *out)
{
    const clo_synch_config config = {
        .size = sizeof config, .planner = c->planner, .lp = c->lp, .replan_ns = c->is_online ? replan_ns : 0};
    clo_synch_figures figures = CLO_SYNCH_FIGURES_INIT;
    clo_synch *plan = NULL;
    int64_t begin = bench_now_ns();
    clo_status status = clo_synch_create(s->workload, s->platform, &config, &plan);

    if (status == CLO_ERR_UNSUPPORTED)
        return true;
    out->milliseconds = (double)(bench_now_ns() - begin) / 1e6;
    if (status != CLO_OK || clo_synch_measure(plan, &figures) != CLO_OK)
        return bench_fail(c->label);
    bool is_good = count(s, plan, &figures) && judge(s, plan);
    out->weighted = (double)figures.weighted_completion;
    out->bound = (double)(figures.lp_bound > figures.free_bound ? figures.lp_bound : figures.free_bound);
    out->elements = figures.lp_elements;
    out->is_preemptive = figures.is_preemptive;
    out->is_there = true;
    clo_synch_destroy(plan);
    return is_good;
}

/* The policy decides while the workload runs in virtual time; "follow" has the plan. */
static bool simulate(const scene *s, const contender *c, clo_follow_argument *follow, result *out)
{
    uint32_t jobs = clo_workload_jobs(s->workload);
    clo_stream_config config = CLO_STREAM_CONFIG_INIT;
    clo_stream_result figures = CLO_STREAM_RESULT_INIT;

    config.policy = clo_policy_find(c->policy);
    config.argument = follow->plan != NULL ? follow : NULL;
    config.outcomes = calloc(jobs, sizeof *config.outcomes);
    int64_t begin = bench_now_ns();
    bool is_good = config.outcomes != NULL &&
                   clo_stream_simulate(s->workload, s->platform, &config, &figures) == CLO_OK &&
                   figures.jobs_ended == jobs && figures.refused == 0;
    out->milliseconds = (double)(bench_now_ns() - begin) / 1e6;
    for (uint32_t j = 0; j < jobs && is_good; j++)
        out->weighted += (double)clo_workload_get(s->workload, j)->weight * (double)config.outcomes[j].finish_ns;
    out->is_there = is_good;
    free(config.outcomes);
    return is_good || bench_fail(c->label);
}

static bool play_policy(const scene *s, const contender *c, result *out)
{
    const clo_synch_config config = {.size = sizeof config, .planner = c->planner, .lp = c->lp};
    clo_follow_argument follow = {0};
    clo_synch *plan = NULL;
    clo_status status = c->planner != NULL ? clo_synch_create(s->workload, s->platform, &config, &plan) : CLO_OK;

    if (status == CLO_OK && c->planner != NULL)
        status = clo_synch_log(plan, &follow.owned);
    follow.plan = follow.owned;
    bool is_good = status == CLO_OK ? simulate(s, c, &follow, out) : bench_fail(c->label);
    clo_log_destroy(follow.owned);
    clo_synch_destroy(plan);
    return is_good;
}

/* The better plan of the forms with and without LP, which is what the planner keeps where it may choose: it is not
 * planned once more, because an LP takes seconds. tests/property/test_synch.c holds that they are equal. */
static void take_better(result *results)
{
    for (uint32_t c = 0; c < CONTENDERS; c++) {
        const contender *k = &contenders[c];
        if (k->lp != CLO_SYNCH_LP_AUTO)
            continue;
        for (uint32_t of = 0; of < CONTENDERS; of++) {
            const result *r = &results[of];
            if (of == c || !r->is_there || contenders[of].is_online || contenders[of].policy != NULL ||
                strcmp(contenders[of].planner, k->planner) != 0)
                continue;
            double ms = results[c].milliseconds + r->milliseconds;
            uint32_t elements = results[c].elements > r->elements ? results[c].elements : r->elements;
            if (!results[c].is_there || r->weighted < results[c].weighted)
                results[c] = *r;
            results[c].milliseconds = ms;
            results[c].elements = elements;
        }
    }
}

/* Preemptive bounds hold for all plans; that of LP2 for those without preemption. */
static void share_bounds(result *results)
{
    double preemptive = 0, all = 0;

    for (uint32_t c = 0; c < CONTENDERS; c++) {
        if (results[c].is_preemptive)
            preemptive = fmax(preemptive, results[c].bound);
        all = fmax(all, results[c].bound);
    }
    for (uint32_t c = 0; c < CONTENDERS; c++) {
        double free_bound = results[LP_FREE].bound;
        results[c].bound = results[c].is_preemptive ? fmax(preemptive, free_bound) : all;
    }
}

/* Sums of weight * time since the arrival. */
static void count_delays(const scene *s, result *results)
{
    double arrivals = 0;

    for (uint32_t j = 0; j < clo_workload_jobs(s->workload); j++)
        arrivals +=
            (double)clo_workload_get(s->workload, j)->weight * (double)clo_workload_get(s->workload, j)->arrival_ns;
    for (uint32_t c = 0; c < CONTENDERS; c++)
        results[c].delay = results[c].weighted - arrivals;
}

static bool open_scene(const bench *b, const scene_row *row, uint32_t seed, scene *out)
{
    char path[1024];
    uint64_t number = b->options.seed + 9000 + seed;

    if (!row->is_alibaba)
        return scene_google(out, b->options.quick ? row->jobs / 3 : row->jobs, number, row->is_bound,
                            row->is_online ? INT64_C(2000000000) : 0, &row->law);
    snprintf(path, sizeof path, "%s/alibaba/v2017_batch_jobs.csv", b->data);
    return scene_alibaba(out, path, b->options.quick ? row->jobs / 3 : row->jobs, number, row->machines, &row->law);
}

static bool play_scene(bench *b, const scene_row *row)
{
    for (uint32_t seed = 0; seed < b->seeds; seed++) {
        scene s;
        bool is_good = open_scene(b, row, seed, &s);
        for (uint32_t c = 0; c < CONTENDERS && is_good; c++) {
            b->results[seed][c] = (result){0};
            if ((contenders[c].is_bound_only && !row->is_bound) || (contenders[c].is_online && !row->is_online) ||
                (c == SYNCHPACK_1 && row->skips_1) || contenders[c].lp == CLO_SYNCH_LP_AUTO ||
                (row->is_sweep && (contenders[c].lp == CLO_SYNCH_LP_ALWAYS ||
                                   (contenders[c].policy != NULL && contenders[c].planner != NULL))))
                continue;
            is_good = contenders[c].policy != NULL
                          ? play_policy(&s, &contenders[c], &b->results[seed][c])
                          : play(&s, &contenders[c], INT64_C(10000000000), &b->results[seed][c]);
        }
        take_better(b->results[seed]);
        share_bounds(b->results[seed]);
        if (is_good)
            count_delays(&s, b->results[seed]);
        scene_close(&s);
        if (!is_good)
            return false;
    }
    return true;
}

static double sum_of(const bench *b, uint32_t c)
{
    double sum = 0;

    for (uint32_t seed = 0; seed < b->seeds; seed++)
        sum += b->results[seed][c].weighted;
    return sum;
}

static void print_row(bench *b, const scene_row *row, uint32_t c)
{
    double ratio[SEEDS_MAX], ms[SEEDS_MAX], against_each[SEEDS_MAX], delay[2][SEEDS_MAX];
    const contender *k = &contenders[c];
    uint32_t reference = b->results[0][k->reference].is_there ? k->reference : 0;

    for (uint32_t seed = 0; seed < b->seeds; seed++) {
        ratio[seed] = b->results[seed][c].weighted / b->results[seed][c].bound;
        ms[seed] = b->results[seed][c].milliseconds;
        against_each[seed] = b->results[seed][c].weighted / b->results[seed][reference].weighted;
        delay[0][seed] = b->results[seed][c].delay;
        delay[1][seed] = b->results[seed][reference].delay;
    }
    bench_stats r = bench_summarise(ratio, b->seeds), t = bench_summarise(ms, b->seeds);
    bench_stats q = bench_summarise(against_each, b->seeds);
    double against = sum_of(b, c) / sum_of(b, reference);
    bench_interval delays = bench_ratio(delay[0], delay[1], b->seeds);
    if (b->options.json)
        printf(
            "%s{\"scene\": \"%s\", \"contender\": \"%s\", \"seeds\": %u, \"ratio_median\": %.4f, \"ratio_p10\": %.4f, "
            "\"ratio_p90\": %.4f, \"ratio_max\": %.4f, \"against\": \"%s\", \"quotient\": %.4f, \"quotient_median\": "
            "%.4f, "
            "\"quotient_max\": %.4f, \"delay\": %.4f, \"delay_low\": %.4f, \"delay_high\": %.4f, \"ms\": %.2f, "
            "\"lp_elements\": %u}",
            b->has_printed ? ", " : "", row->name, k->label, b->seeds, r.median, r.p10, r.p90, ratio[b->seeds - 1],
            contenders[reference].label, against, q.median, against_each[b->seeds - 1], delays.ratio, delays.low,
            delays.high, t.median, b->results[0][c].elements);
    else
        printf("  %-20s ratio %6.3f (%.3f .. %.3f, at most %.3f)  %7.3f (%.3f, at most %.3f) x %s, delays %.3f [%.3f, "
               "%.3f]  %9.2f ms\n",
               k->label, r.median, r.p10, r.p90, ratio[b->seeds - 1], against, q.median, against_each[b->seeds - 1],
               contenders[reference].label, delays.ratio, delays.low, delays.high, t.median);
    b->has_printed = true;
}

static bool play_all(bench *b)
{
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        char path[1024];
        FILE *file = NULL;
        if (b->only != NULL ? strncmp(scenes[i].name, b->only, strlen(b->only)) != 0 : scenes[i].is_sweep)
            continue;
        snprintf(path, sizeof path, "%s/alibaba/v2017_batch_jobs.csv", b->data);
        if (scenes[i].is_alibaba && (file = fopen(path, "r")) == NULL) {
            fprintf(stderr, "bench: skipped: %s: no %s\n", scenes[i].name, path);
            continue;
        }
        if (file != NULL)
            fclose(file);
        if (!play_scene(b, &scenes[i]))
            return false;
        if (!b->options.json)
            printf(
                "%s, %u seeds: ratio to the bound, median (10 %% .. 90 %%); sum against another's (median, largest)\n",
                scenes[i].name, b->seeds);
        for (uint32_t c = 0; c < CONTENDERS; c++)
            if (b->results[0][c].is_there)
                print_row(b, &scenes[i], c);
        fflush(stdout);
    }
    return true;
}

int main(int argc, char **argv)
{
    static bench b = {.data = CLO_DATA};
    const char *seeds = NULL;
    const bench_flag flags[] = {
        {.name = "only NAME", .help = "only scenes whose names begin so", .value = &b.only},
        {.name = "seeds N", .help = "seeds a scene (default 20; quick 2)", .value = &seeds},
        {.name = "data DIR", .help = "where alibaba lies (default " CLO_DATA ")", .value = &b.data},
        {0}};
    const bench_about about = {"synch", "how far from its LP is the weighted completion time of a workload?", flags, 1,
                               1};
    int status = bench_options_read(&b.options, &about, argc, argv);

    if (status >= 0)
        return status;
    b.seeds = b.options.quick ? 2 : 20;
    if (seeds != NULL) {
        unsigned long value = strtoul(seeds, NULL, 10);
        if (value < 1 || value > SEEDS_MAX) {
            fprintf(stderr, "bench: --seeds %s: give a whole number from 1 to %d\n", seeds, SEEDS_MAX);
            return 2;
        }
        b.seeds = (uint32_t)value;
    }
    if (!clo_synch_has_lp())
        fprintf(stderr, "bench: skipped: the forms with LP: %s\n", clo_last_error());
    if (b.options.json)
        printf("{\"bench\": \"synch\", \"rows\": [");
    bool is_good = play_all(&b);
    if (b.options.json)
        printf("]}\n");
    return is_good ? 0 : 1;
}
