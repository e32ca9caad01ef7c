/* compare.c - see compare.h. Policies meet the same jobs and arrivals with the same seed, so what is compared is their
 * ratio run by run: how runs differ among themselves cancels out. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/simulate/compare.h"

#include "clotho/common/json.h"
#include "clotho/common/output_write.h"
#include "clotho/common/policy_option.h"
#include "clotho/simulate/compare_draw.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Student's t, 97.5 %, by degrees of freedom; beyond the table that of the normal distribution. */
static double student(size_t freedom)
{
    static const double t[] = {0,     12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                               2.201, 2.179,  2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080,
                               2.074, 2.069,  2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};

    return freedom < sizeof t / sizeof t[0] ? t[freedom] : 1.96 + 2.4 / (double)freedom;
}

/* Which figure of a run. */
static double figure(const compared_run *run, size_t offset)
{
    double value;

    memcpy(&value, (const char *)run + offset, sizeof value);
    return value;
}

static compared_ratio ratio_of(const comparison *c, const compared *row, size_t offset)
{
    double sum = 0, squares = 0, n = (double)c->seeds;

    assert(row->runs != NULL && c->rows[0].runs != NULL);
    for (size_t s = 0; s < c->seeds; s++) {
        double own = figure(&row->runs[s], offset), first = figure(&c->rows[0].runs[s], offset);
        double difference = own > 0 && first > 0 ? log(own / first) : own == first ? 0 : (double)NAN;
        sum += difference;
        squares += difference * difference;
    }
    double mean = sum / n, variance = c->seeds > 1 ? (squares - n * mean * mean) / (n - 1) : (double)NAN;
    double half = student(c->seeds - 1) * sqrt((variance < 0 ? 0 : variance) / n); /* rounding */
    return (compared_ratio){exp(mean), exp(mean - half), exp(mean + half)};
}

static void summarise(const comparison *c, compared *row)
{
    assert(row->runs != NULL);
    for (size_t s = 0; s < c->seeds; s++) {
        row->mean.mean_ns += row->runs[s].mean_ns / (double)c->seeds;
        row->mean.p95_ns += row->runs[s].p95_ns / (double)c->seeds;
        row->mean.weighted_ns += row->runs[s].weighted_ns / (double)c->seeds;
        row->mean.makespan_ns += row->runs[s].makespan_ns / (double)c->seeds;
        row->mean.utilization += row->runs[s].utilization / (double)c->seeds;
        row->mean.late += row->runs[s].late;
    }
    row->completion = ratio_of(c, row, offsetof(compared_run, mean_ns));
    row->p95 = ratio_of(c, row, offsetof(compared_run, p95_ns));
    row->weighted = ratio_of(c, row, offsetof(compared_run, weighted_ns));
    row->makespan = ratio_of(c, row, offsetof(compared_run, makespan_ns));
}

/* ---- reports ---- */

static void print_ratio(const compared_ratio *r, bool has_interval)
{
    char text[40];

    if (isnan(r->ratio))
        snprintf(text, sizeof text, "-");
    else if (!has_interval || isnan(r->low))
        snprintf(text, sizeof text, "%.3f", r->ratio);
    else
        snprintf(text, sizeof text, "%.3f [%.3f, %.3f]", r->ratio, r->low, r->high);
    printf("  %*s", has_interval ? 20 : 8, text);
}

static void print_text(const comparison *c)
{
    int width = (int)strlen("policy");

    for (uint32_t p = 0; p < c->count; p++)
        width = (int)strlen(c->rows[p].policy) > width ? (int)strlen(c->rows[p].policy) : width;
    width = width > 40 ? 40 : width;
    printf("workload     %s; arrivals %s; nothing is executed\n", show_name(c->workload),
           c->arrivals != NULL ? c->arrivals : "as in the file");
    printf("platform     %s\n", show_name(c->platform));
    printf("runs         %zu for each policy, with the same jobs and arrivals; ratios to %s, run by run%s\n\n",
           c->seeds, show_name(c->rows[0].policy), c->seeds > 1 ? ", with where they lie at 95 %" : "");
    printf("%-*s  %12s  %20s  %8s  %8s  %8s  %8s\n", width, "policy", "mean jct", "ratio", "p95", "weighted",
           "makespan", "in use");
    for (uint32_t p = 0; p < c->count; p++) {
        const compared *row = &c->rows[p];
        printf("%-*.*s  %12s", width, width, show_name(row->policy), show_ns((int64_t)row->mean.mean_ns));
        print_ratio(&row->completion, true);
        print_ratio(&row->p95, false);
        print_ratio(&row->weighted, false);
        print_ratio(&row->makespan, false);
        printf("  %8s\n", show_percent(row->mean.utilization));
    }
}

static void put_ratio(json *out, const char *key, const compared_ratio *r)
{
    json_open(out, key, '{');
    json_real(out, "ratio", r->ratio);
    json_real(out, "low", r->low);
    json_real(out, "high", r->high);
    json_close(out, '}');
}

static int print_json(const comparison *c)
{
    json out;

    json_begin(&out);
    json_text(&out, "workload", c->workload);
    json_text(&out, "platform", c->platform);
    json_text(&out, "arrivals", c->arrivals);
    json_count(&out, "seeds", c->seeds);
    json_open(&out, "policies", '[');
    for (uint32_t p = 0; p < c->count; p++) {
        const compared *row = &c->rows[p];
        json_open(&out, NULL, '{');
        json_text(&out, "policy", row->policy);
        json_real(&out, "avg_jct_s", row->mean.mean_ns / 1e9);
        json_real(&out, "p95_jct_s", row->mean.p95_ns / 1e9);
        json_real(&out, "weighted_jct_s", row->mean.weighted_ns / 1e9);
        json_real(&out, "makespan_s", row->mean.makespan_ns / 1e9);
        json_real(&out, "utilization", row->mean.utilization);
        json_count(&out, "jobs_late", row->mean.late);
        put_ratio(&out, "avg_jct", &row->completion);
        put_ratio(&out, "p95_jct", &row->p95);
        put_ratio(&out, "weighted_jct", &row->weighted);
        put_ratio(&out, "makespan", &row->makespan);
        json_close(&out, '}');
    }
    json_close(&out, ']');
    return json_print(&out);
}

static bool put_rows(FILE *file, const void *content)
{
    const comparison *c = content;

    fputs("policy,seed,mean_jct_ns,p95_jct_ns,weighted_jct_ns,makespan_ns,utilization,jobs_late\n", file);
    for (uint32_t p = 0; p < c->count; p++)
        for (size_t s = 0; s < c->seeds; s++) {
            const compared_run *run = &c->rows[p].runs[s];
            put_csv_text(file, c->rows[p].policy);
            fprintf(file, ",%" PRIu64 ",%.0f,%.0f,%.0f,%.0f,%.6f,%" PRIu64 "\n", run->seed, run->mean_ns, run->p95_ns,
                    run->weighted_ns, run->makespan_ns, run->utilization, run->late);
        }
    return fflush(file) == 0 && ferror(file) == 0;
}

/* ---- runs ---- */

/* A run that is done goes into a row. */
static int take(void *context, const simulation *sim, const simulated_run *run, size_t index)
{
    compared *row = context;
    const clo_stream_result *r = &run->result;

    (void)sim;
    row->runs[index] = (compared_run){run->seed,          r->jct_mean_ns,         (double)r->jct_p95_ns,
                                      r->jct_weighted_ns, (double)r->makespan_ns, r->utilization,
                                      r->jobs_late};
    return EXIT_GOOD;
}

/* All seeds under one policy. */
static int run_policy(comparison *c, compared *row, const char *path, simulate_options *o, uint64_t first)
{
    simulation sim = {.path = path, .options = o};

    o->policy = row->policy;
    int code = simulation_open(&sim);
    if (code == EXIT_GOOD)
        code = simulation_run_range(&sim, first, c->seeds, take, row);
    if (code == EXIT_GOOD && row == c->rows) {
        c->workload = strdup(clo_workload_name(sim.loaded));
        c->platform = strdup(clo_platform_name(sim.platform));
        c->arrivals = sim.draws ? sim.arrivals_text : NULL;
        if (c->workload == NULL || c->platform == NULL)
            code = complain(path, "out of memory");
    }
    simulation_close(&sim);
    return code;
}

static int run_all(comparison *c, const char *path, const simulate_options *options, uint64_t first)
{
    simulate_options o = *options;
    int code = EXIT_GOOD;

    for (uint32_t p = 0; p < c->count && code == EXIT_GOOD; p++) {
        compared *row = &c->rows[p];
        row->policy = options->policies.items[p];
        row->runs = calloc(c->seeds, sizeof row->runs[0]);
        code = row->runs != NULL ? run_policy(c, row, path, &o, first) : complain(path, "out of memory");
        if (code == EXIT_GOOD)
            summarise(c, row);
    }
    return code;
}

/* Before the first run, which may take long. */
static int check_policies(const option_list *names)
{
    int code = EXIT_GOOD;

    for (uint32_t p = 0; p < names->count && code == EXIT_GOOD; p++) {
        const clo_policy *policy;
        const char *text;
        void *argument;
        code = policy_open(names->items[p], &policy, &text, &argument);
        if (code == EXIT_GOOD)
            policy_close(policy, argument);
    }
    return code;
}

static int report(const comparison *c, const simulate_options *options)
{
    int code = EXIT_GOOD;

    if (options->as_json)
        code = print_json(c);
    else
        print_text(c);
    if (code == EXIT_GOOD && options->csv != NULL)
        code = output_write(options->csv, put_rows, c);
    if (code == EXIT_GOOD && options->gantt != NULL)
        code = compare_draw(c, options->gantt);
    return code;
}

int simulate_compare(const char *path, const simulate_options *options)
{
    comparison c = {.count = options->policies.count, .seeds = 1};
    uint64_t first = options->seed;
    int code = check_policies(&options->policies);

    if (code == EXIT_GOOD && options->seeds != NULL)
        code = simulate_read_seeds(options->seeds, &first, &c.seeds);
    if (code != EXIT_GOOD)
        return code;
    c.rows = calloc(c.count, sizeof c.rows[0]);
    if (c.rows == NULL)
        return complain(path, "out of memory");
    code = run_all(&c, path, options, first);
    if (code == EXIT_GOOD)
        code = report(&c, options);
    for (uint32_t p = 0; p < c.count; p++)
        free(c.rows[p].runs);
    free(c.rows);
    free((char *)c.workload);
    free((char *)c.platform);
    return code;
}
