/* online_report.c - the tables of bench-online, and the statistics in them. */
#include "online/online.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *words, *unit;
} measures[MEASURES_COUNT] = {
    [MEASURE_JCT] = {"mean", "mean completion", "s"},   [MEASURE_WEIGHTED] = {"weighted", "weighted completion", "s"},
    [MEASURE_MAKESPAN] = {"makespan", "makespan", "s"}, [MEASURE_TARDINESS] = {"tardiness", "mean tardiness", "s"},
    [MEASURE_P95] = {"p95", "95 % quantile", "s"},      [MEASURE_LATE] = {"late", "jobs late", "%"},
};

bool online_measure_find(const char *name, measure *out)
{
    for (int m = 0; m < MEASURES_COUNT; m++)
        if (strcmp(measures[m].name, name) == 0) {
            *out = (measure)m;
            return true;
        }
    fprintf(stderr, "bench: --by %s: write mean, weighted, makespan, tardiness, p95 or late\n", name);
    return false;
}

static const outcome *at(const played *p, uint32_t who, uint32_t seed)
{
    return &p->outcomes[(size_t)who * p->seeds + seed];
}

static double mean(const played *p, uint32_t who, measure by)
{
    double sum = 0;

    for (uint32_t s = 0; s < p->seeds; s++)
        sum += at(p, who, s)->by[by];
    return sum / p->seeds;
}

bench_interval online_ratio(const played *p, uint32_t who, uint32_t baseline, measure by)
{
    double *mine = calloc(2 * (size_t)p->seeds, sizeof *mine), *theirs = mine + p->seeds;
    bench_interval out = {0};

    for (uint32_t s = 0; s < p->seeds && mine != NULL; s++) {
        mine[s] = at(p, who, s)->by[by];
        theirs[s] = at(p, baseline, s)->by[by];
    }
    if (mine != NULL)
        out = bench_ratio(mine, theirs, p->seeds);
    free(mine);
    return out;
}

/* What a row says beside the ratio: means over the seeds, of the rate the median. */
typedef struct row {
    double value, makespan_s, jain[JAIN_COUNT], utilization, rate;
    owed owed; /* the largest of the runs, of `above` the mean */
    uint64_t fallbacks, refused;
} row;

static row summarise(const played *p, uint32_t who)
{
    row r = {.value = mean(p, who, p->by), .makespan_s = mean(p, who, MEASURE_MAKESPAN)};
    double *rates = calloc(p->seeds, sizeof *rates), windows[JAIN_COUNT] = {0};

    for (uint32_t s = 0; s < p->seeds; s++) {
        const outcome *o = at(p, who, s);
        for (int w = 0; w < JAIN_COUNT; w++) { /* the mean of those that have such windows */
            r.jain[w] += o->jain[w];
            windows[w] += o->jain[w] > 0;
        }
        r.utilization += o->utilization / p->seeds;
        r.owed.most = o->owed.most > r.owed.most ? o->owed.most : r.owed.most;
        r.owed.bound = o->owed.bound > r.owed.bound ? o->owed.bound : r.owed.bound;
        r.owed.above += o->owed.above / p->seeds;
        r.owed.ready += o->owed.ready / p->seeds;
        r.owed.fit += o->owed.fit / p->seeds;
        r.owed.several += o->owed.several / p->seeds;
        r.fallbacks += o->fallbacks;
        r.refused += o->refused;
        if (rates != NULL)
            rates[s] = o->wall_ns > 0 ? (double)o->completions * 1e9 / (double)o->wall_ns : 0;
    }
    for (int w = 0; w < JAIN_COUNT; w++)
        r.jain[w] /= windows[w] > 0 ? windows[w] : 1;
    if (rates != NULL)
        r.rate = bench_summarise(rates, p->seeds).median;
    free(rates);
    return r;
}

static double bound(const played *p, measure by)
{
    double sum = 0;

    for (uint32_t s = 0; s < p->seeds; s++)
        sum += by == MEASURE_MAKESPAN ? at(p, 0, s)->makespan_bound_s : at(p, 0, s)->bound_s;
    return sum / p->seeds;
}

static double order(const played *p)
{
    double sum = 0;

    for (uint32_t s = 0; s < p->seeds; s++)
        sum += at(p, 0, s)->order_s;
    return sum / p->seeds;
}

static double alone(const played *p)
{
    double sum = 0;

    for (uint32_t s = 0; s < p->seeds; s++)
        sum += at(p, 0, s)->alone_s;
    return sum / p->seeds;
}

static double jobs(const played *p)
{
    double sum = 0;

    for (uint32_t s = 0; s < p->seeds; s++)
        sum += at(p, 0, s)->jobs;
    return sum / p->seeds;
}

void online_print(const played *p)
{
    const scene *s = p->scene;
    measure beside = p->by == MEASURE_JCT || p->by == MEASURE_WEIGHTED ? MEASURE_MAKESPAN : MEASURE_JCT;

    printf("%s: %s; %u seeds from %llu, %.0f jobs each", s->name, s->title, p->seeds, (unsigned long long)p->first_seed,
           jobs(p));
    if (p->load_percent > 0)
        printf("; the load is %u %% instead", p->load_percent);
    if (p->environment != s->environment)
        printf("; in %s", p->environment);
    putchar('\n');
    if (s->paper[0] != '\0')
        printf("  paper: %s\n", s->paper);
    printf("  %-22s %12s %26s %10s %10s %26s %6s %6s %9s\n", "policy", measures[p->by].words,
           "/ baseline [95 % interval]", "p95", measures[beside].words, "/ baseline [95 % interval]", "Jain", "use",
           "M tasks/s");
    for (uint32_t c = 0; c < p->count; c++) {
        row r = summarise(p, c);
        bench_interval i = online_ratio(p, c, 0, p->by), j = online_ratio(p, c, 0, beside);
        printf("  %-22s %10.1f %s %10.3f [%.3f, %.3f] %8.1f s %8.1f s %10.3f [%.3f, %.3f] %6.3f %5.1f%% %9.2f",
               p->contenders[c].label, r.value, measures[p->by].unit, i.ratio, i.low, i.high, mean(p, c, MEASURE_P95),
               mean(p, c, beside), j.ratio, j.low, j.high, r.jain[0], 100 * r.utilization, r.rate * 1e-6);
        if (r.refused > 0 || r.fallbacks > 0)
            printf("  %llu refused, %llu by the own rule", (unsigned long long)r.refused,
                   (unsigned long long)r.fallbacks);
        if (r.owed.bound > 0 && p->scene->shows_owed)
            printf("  owed %.2f of the cluster at most, bound %.2f, kappa binds in %.1f%% of decisions", r.owed.most,
                   r.owed.bound, 100 * r.owed.above);
        if (r.owed.fit > 0)
            printf("  of %.1f ready stages %.2f fit, two or more in %.1f%% of the decisions", r.owed.ready, r.owed.fit,
                   100 * r.owed.several);
        putchar('\n');
    }
    if (order(p) > 0)
        printf("  %-22s %10.1f s %10.3f\n", "no order is below", order(p), order(p) / mean(p, 0, MEASURE_JCT));
    if (alone(p) > 0)
        printf("  %-22s %10.1f s %10.3f\n", "each job alone", alone(p), alone(p) / mean(p, 0, MEASURE_JCT));
    if ((p->by == MEASURE_JCT || p->by == MEASURE_MAKESPAN) && bound(p, p->by) > 0)
        printf("  %-22s %10.1f s %10.3f %18s %9s %8.1f s %10.3f\n", "lower bound", bound(p, p->by),
               bound(p, p->by) / mean(p, 0, p->by), "", "", bound(p, beside), bound(p, beside) / mean(p, 0, beside));
    putchar('\n');
}

void online_print_json(const played *p)
{
    const scene *s = p->scene;

    printf("{\"scene\": \"%s\", \"seeds\": %u, \"first_seed\": %llu, \"jobs\": %.0f, \"load_percent\": %u, "
           "\"environment\": \"%s\", \"measure\": \"%s\", "
           "\"lower_bound_s\": %.6g, \"makespan_bound_s\": %.6g, \"order_bound_s\": %.6g, \"policies\": [",
           s->name, p->seeds, (unsigned long long)p->first_seed, jobs(p), p->load_percent,
           p->environment != NULL ? p->environment : "", measures[p->by].words, bound(p, MEASURE_JCT),
           bound(p, MEASURE_MAKESPAN), order(p));
    for (uint32_t c = 0; c < p->count; c++) {
        row r = summarise(p, c);
        bench_interval i = online_ratio(p, c, 0, p->by), m = online_ratio(p, c, 0, MEASURE_MAKESPAN);
        printf("%s{\"policy\": \"%s\", \"value_s\": %.6g, \"ratio\": %.5f, \"low\": %.5f, \"high\": %.5f, "
               "\"makespan_ratio\": %.5f, \"makespan_low\": %.5f, \"makespan_high\": %.5f, "
               "\"p95_s\": %.6g, \"jct_s\": %.6g, \"makespan_s\": %.6g, \"jain\": %.4f, \"jain_10s\": %.4f, "
               "\"jain_60s\": %.4f, \"jain_240s\": %.4f, \"utilization\": %.4f, "
               "\"completions_per_s\": %.0f, \"refused\": %llu, \"fallbacks\": %llu}",
               c > 0 ? ", " : "", p->contenders[c].label, r.value, i.ratio, i.low, i.high, m.ratio, m.low, m.high,
               mean(p, c, MEASURE_P95), mean(p, c, MEASURE_JCT), r.makespan_s, r.jain[0], r.jain[1], r.jain[2],
               r.jain[3], r.utilization, r.rate, (unsigned long long)r.refused, (unsigned long long)r.fallbacks);
    }
    printf("]}");
}
