/* compare_report.c - see compare_report.h. */
#include "clotho/simulate/compare_report.h"

#include "clotho/common/csv.h"
#include "clotho/common/json.h"
#include "clotho/common/output_write.h"
#include "clotho/common/outputs.h"
#include "clotho/compare/picture.h"
#include "clotho/compare/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMPLETION, P95, WEIGHTED, MAKESPAN, FIGURES };

bool policy_comparison_open(policy_comparison *p, const option_list *names, uint32_t baseline)
{
    if (!comparison_open(&p->comparison, names, baseline, FIGURES))
        return false;
    for (uint32_t i = 0; i < names->count; i++) {
        p->policies[i].runs = calloc(p->seeds, sizeof p->policies[i].runs[0]);
        if (p->policies[i].runs == NULL)
            return false;
    }
    for (size_t s = 0; s < p->seeds; s++)
        if (!comparison_add_case(&p->comparison))
            return false;
    return true;
}

static compared_run mean_of(const compared_run *runs, size_t count)
{
    compared_run mean = {0};
    double done = 0;

    for (size_t s = 0; s < count; s++)
        done += runs[s].is_done;
    for (size_t s = 0; s < count; s++) {
        if (!runs[s].is_done)
            continue;
        mean.mean_ns += runs[s].mean_ns / done;
        mean.p95_ns += runs[s].p95_ns / done;
        mean.weighted_ns += runs[s].weighted_ns / done;
        mean.makespan_ns += runs[s].makespan_ns / done;
        mean.utilization += runs[s].utilization / done;
        mean.late += runs[s].late;
        mean.tardiness_ns += runs[s].tardiness_ns / done;
    }
    mean.is_done = done > 0;
    return mean;
}

void policy_comparison_take(policy_comparison *p, uint32_t index, size_t failed)
{
    contender *row = &p->comparison.rows[index];
    const compared_run *runs = p->policies[index].runs;

    row->failed = failed;
    for (size_t s = 0; s < p->seeds; s++) {
        if (!runs[s].is_done)
            continue;
        row->values[COMPLETION][s] = runs[s].mean_ns;
        row->values[P95][s] = runs[s].p95_ns;
        row->values[WEIGHTED][s] = runs[s].weighted_ns;
        row->values[MAKESPAN][s] = runs[s].makespan_ns;
    }
    p->policies[index].mean = mean_of(runs, p->seeds);
}

void policy_comparison_close(policy_comparison *p)
{
    for (uint32_t i = 0; i < OPTION_LIST_MAX; i++)
        free(p->policies[i].runs);
    comparison_close(&p->comparison);
    free(p->workload);
    free(p->platform);
}

static const compared_run *mean_of_row(const policy_comparison *p, const contender *row)
{
    return &p->policies[row->index].mean;
}

static void cell_mean(char text[TABLE_CELL], const contender *row, const table_column *column)
{
    const compared_run *mean = mean_of_row(column->context, row);

    snprintf(text, TABLE_CELL, "%s", mean->is_done ? show_ns((int64_t)mean->mean_ns) : "-");
}

static void cell_use(char text[TABLE_CELL], const contender *row, const table_column *column)
{
    const compared_run *mean = mean_of_row(column->context, row);

    snprintf(text, TABLE_CELL, "%s", mean->is_done ? show_percent(mean->utilization) : "-");
}

static void print_text(const policy_comparison *p)
{
    const table_column columns[] = {{"mean jct", cell_mean, 0, p},
                                    {"ratio", table_interval, COMPLETION, NULL},
                                    {"p95", table_ratio, P95, NULL},
                                    {"weighted", table_ratio, WEIGHTED, NULL},
                                    {"makespan", table_ratio, MAKESPAN, NULL},
                                    {"in use", cell_use, 0, p},
                                    {"shorter", table_shorter, 0, NULL},
                                    {"longer", table_longer, 0, NULL},
                                    {"best", table_best, 0, NULL},
                                    {"runs", table_done, 0, NULL},
                                    {"failed", table_failed, 0, NULL}};

    printf("workload     %s; arrivals %s; nothing is executed\n", show_name(p->workload),
           p->arrivals != NULL ? p->arrivals : "as in the file");
    printf("platform     %s\n", show_name(p->platform));
    printf("runs         %zu for each policy, with the same jobs and arrivals%s\n", p->seeds,
           p->has_same_runs ? "; all are those of the file: intervals say nothing of other ones" : "");
    table_explain(&p->comparison, "completion times (jct)", "run");
    table_print(&p->comparison, "policy", columns, sizeof columns / sizeof columns[0]);
}

static void put_policy(const policy_comparison *p, const contender *row, json *out)
{
    const compared_run *mean = mean_of_row(p, row);
    double unknown = mean->is_done ? 0 : (double)NAN; /* no run: null */

    json_open(out, NULL, '{');
    json_text(out, "policy", row->name);
    json_count(out, "runs", row->done);
    json_real(out, "avg_jct_s", mean->mean_ns / 1e9 + unknown);
    json_real(out, "p95_jct_s", mean->p95_ns / 1e9 + unknown);
    json_real(out, "weighted_jct_s", mean->weighted_ns / 1e9 + unknown);
    json_real(out, "makespan_s", mean->makespan_ns / 1e9 + unknown);
    json_real(out, "utilization", mean->utilization + unknown);
    json_count(out, "jobs_late", mean->late);
    json_real(out, "tardiness_s", mean->tardiness_ns / 1e9 + unknown);
    table_json_counts(out, row);
    table_json_ratio(out, "avg_jct", &row->ratios[COMPLETION]);
    table_json_ratio(out, "p95_jct", &row->ratios[P95]);
    table_json_ratio(out, "weighted_jct", &row->ratios[WEIGHTED]);
    table_json_ratio(out, "makespan", &row->ratios[MAKESPAN]);
    json_close(out, '}');
}

static int print_json(const policy_comparison *p)
{
    const comparison *c = &p->comparison;
    json out;

    json_begin(&out);
    json_text(&out, "workload", p->workload);
    json_text(&out, "platform", p->platform);
    json_text(&out, "arrivals", p->arrivals);
    json_count(&out, "seeds", p->seeds);
    json_text(&out, "baseline", c->rows[c->baseline].name);
    json_open(&out, "policies", '[');
    for (uint32_t i = 0; i < c->count; i++)
        put_policy(p, &c->rows[i], &out);
    json_close(&out, ']');
    return json_print(&out);
}

static bool put_rows(FILE *file, const void *content)
{
    const policy_comparison *p = content;

    fputs("policy,seed,mean_jct_ns,p95_jct_ns,weighted_jct_ns,makespan_ns,utilization,jobs_late,tardiness_ns\n", file);
    for (uint32_t i = 0; i < p->comparison.count; i++)
        for (size_t s = 0; s < p->seeds; s++) {
            const compared_run *run = &p->policies[i].runs[s];
            if (!run->is_done)
                continue;
            put_csv_text(file, p->comparison.rows[i].name);
            fprintf(file, ",%" PRIu64 ",%.0f,%.0f,%.0f,%.0f,%.6f,%" PRIu64 ",%.0f\n", run->seed, run->mean_ns,
                    run->p95_ns, run->weighted_ns, run->makespan_ns, run->utilization, run->late, run->tardiness_ns);
        }
    return fflush(file) == 0 && ferror(file) == 0;
}

static int draw(const policy_comparison *p, const char *path)
{
    const comparison *c = &p->comparison;
    picture drawn = {.comparison = c, .one_case = "run"};

    snprintf(drawn.title, sizeof drawn.title, "%.100s on %.60s: %u policies, %zu run%s each", p->workload, p->platform,
             c->count, p->seeds, p->seeds == 1 ? "" : "s");
    snprintf(drawn.axis, sizeof drawn.axis, "mean completion time over that of %.50s in the same run; left is shorter",
             c->rows[c->baseline].name);
    return picture_write(&drawn, path);
}

int policy_comparison_report(policy_comparison *p, const simulate_options *o)
{
    const char *svg = o->svg != NULL ? o->svg : o->gantt;
    int code = EXIT_GOOD, one = EXIT_GOOD;

    comparison_summarise(&p->comparison);
    if (o->as_json)
        code = print_json(p);
    else if (!is_output(o->csv) && !is_output(svg))
        print_text(p);
    if (o->csv != NULL)
        csv_begin(o->csv);
    if (o->csv != NULL && (one = output_write(o->csv, put_rows, p)) != EXIT_GOOD)
        code = one;
    if (svg != NULL && (one = draw(p, svg)) != EXIT_GOOD)
        code = one;
    return code;
}
