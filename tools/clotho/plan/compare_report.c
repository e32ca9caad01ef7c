/* compare_report.c - see compare_report.h. */
#define _POSIX_C_SOURCE 200809L
#include "clotho/plan/compare_report.h"

#include "clotho/common/csv.h"
#include "clotho/common/json.h"
#include "clotho/common/output_write.h"
#include "clotho/common/outputs.h"
#include "clotho/compare/picture.h"
#include "clotho/compare/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double published_ns(const input *in)
{
    const clo_reference *reference = input_reference(in);

    return reference != NULL ? reference->upper * (double)clo_document_unit_ns(in->document) : 0;
}

/* ---- the rows of the CSV ---- */

bool rows_open(csv_rows *rows, const char *path)
{
    *rows = (csv_rows){0};
    if (path != NULL)
        csv_begin(path);
    rows->file = open_memstream(&rows->text, &rows->bytes);
    if (rows->file == NULL)
        return false;
    fputs("file,line,graph,tasks,edges,platform,executors,planner,makespan_ns,lower_bound_ns,gap,slr,speedup,"
          "utilization,transfers,transferred_bytes,duplicates,schedules,optimal,plan_ns,published_ns,error\n",
          rows->file);
    return true;
}

void rows_begin_graph(csv_rows *rows)
{
    rows->graph = ftell(rows->file);
}

/* A stream into memory is as long as where it stands. */
void rows_drop_graph(csv_rows *rows)
{
    (void)fseek(rows->file, rows->graph, SEEK_SET);
}

static void put_plan(FILE *file, const planned *made)
{
    const clo_plan_metrics *m = &made->metrics;

    fprintf(file,
            "%" PRId64 ",%" PRId64 ",%.17g,%.17g,%.17g,%.17g,%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",%" PRIu64
            ",%d,%" PRId64,
            m->makespan_ns, m->lower_bound_ns, m->gap, m->slr, m->speedup, m->utilization, (uint64_t)m->transfers,
            (uint64_t)m->transferred_bytes, m->duplicates, (uint64_t)clo_plan_schedules(made->plan),
            (int)plan_is_optimal(made), made->plan_ns);
}

void rows_add(csv_rows *rows, const input *in, const char *planner, const planned *made, const char *error)
{
    const clo_graph *graph = clo_document_graph(in->document);
    FILE *file = rows->file;

    put_csv_text(file, in->path);
    fputc(',', file);
    if (clo_document_line(in->document) != 0)
        fprintf(file, "%zu", clo_document_line(in->document));
    fputc(',', file);
    put_csv_text(file, clo_graph_name(graph));
    fprintf(file, ",%" PRIu32 ",%" PRIu32 ",", clo_graph_tasks(graph), clo_graph_edges(graph));
    put_csv_text(file, clo_platform_name(in->platform));
    fprintf(file, ",%" PRIu32 ",", clo_platform_executors(in->platform));
    put_csv_text(file, planner);
    fputc(',', file);
    if (made != NULL)
        put_plan(file, made);
    else
        fputs(",,,,,,,,,,,", file);
    fputc(',', file);
    if (published_ns(in) > 0)
        fprintf(file, "%.17g", published_ns(in));
    fputc(',', file);
    put_csv_text(file, error != NULL ? error : "");
    fputc('\n', file);
}

void rows_close(csv_rows *rows)
{
    if (rows->file != NULL)
        fclose(rows->file);
    free(rows->text);
    *rows = (csv_rows){0};
}

static bool put_rows(FILE *file, const void *content)
{
    const csv_rows *rows = content;

    return fwrite(rows->text, 1, rows->bytes, file) == rows->bytes && fflush(file) == 0;
}

static int write_rows(csv_rows *rows, const char *path)
{
    if (fflush(rows->file) != 0 || ferror(rows->file))
        return complain(path, "out of memory for what it is to hold; nothing was written");
    return output_write(path, put_rows, rows);
}

/* ---- the table ---- */

static double mean_plan_ns(const plan_comparison *p, const contender *row)
{
    return row->done > 0 ? p->tallies[row->index].plan_ns / (double)row->done : (double)NAN;
}

static double over_bound(const plan_comparison *p, const contender *row)
{
    return row->done > 0 ? exp(p->tallies[row->index].over_bound_logs / (double)row->done) : (double)NAN;
}

static double over_published(const plan_comparison *p, const contender *row)
{
    const plan_tally *tally = &p->tallies[row->index];

    return tally->published > 0 ? exp(tally->over_published_logs / (double)tally->published) : (double)NAN;
}

static void cell_over_published(char text[TABLE_CELL], const contender *row, const table_column *column)
{
    double ratio = over_published(column->context, row);

    snprintf(text, TABLE_CELL, isnan(ratio) ? "-" : "%.3f", ratio);
}

static bool has_published(const plan_comparison *p)
{
    for (uint32_t i = 0; i < p->comparison.count; i++)
        if (p->tallies[i].published > 0)
            return true;
    return false;
}

static void cell_over_bound(char text[TABLE_CELL], const contender *row, const table_column *column)
{
    double ratio = over_bound(column->context, row);

    snprintf(text, TABLE_CELL, isnan(ratio) ? "-" : "%.3f", ratio);
}

static void cell_planned_in(char text[TABLE_CELL], const contender *row, const table_column *column)
{
    double ns = mean_plan_ns(column->context, row);

    snprintf(text, TABLE_CELL, "%s", isnan(ns) ? "-" : show_ns((int64_t)ns));
}

static void print_text(const plan_comparison *p)
{
    const comparison *c = &p->comparison;
    const table_column columns[] = {{"graphs", table_done, 0, NULL},
                                    {"failed", table_failed, 0, NULL},
                                    {"ratio", table_interval, 0, NULL},
                                    {"shorter", table_shorter, 0, NULL},
                                    {"longer", table_longer, 0, NULL},
                                    {"best", table_best, 0, NULL},
                                    {"over bound", cell_over_bound, 0, p},
                                    {"planned in", cell_planned_in, 0, p},
                                    {"over published", cell_over_published, 0, p}};
    size_t count = sizeof columns / sizeof columns[0] - !has_published(p);

    printf("graphs       %zu compared", c->cases);
    if (p->unread > 0)
        printf(", %zu not read", p->unread);
    if (c->cases == 0) {
        printf("; there is nothing to compare\n");
        return;
    }
    printf("\nplatform     %s\n", p->platform[0] != '\0' ? show_name(p->platform) : "not the same for all graphs");
    table_explain(c, "makespans", "graph");
    table_print(c, "planner", columns, count);
}

static int print_json(const plan_comparison *p)
{
    const comparison *c = &p->comparison;
    json out;

    json_begin(&out);
    json_count(&out, "graphs", c->cases);
    json_count(&out, "unread", p->unread);
    json_text(&out, "platform", p->platform[0] != '\0' ? p->platform : NULL);
    json_text(&out, "baseline", c->rows[c->baseline].name);
    json_open(&out, "planners", '[');
    for (uint32_t i = 0; i < c->count; i++) {
        const contender *row = &c->rows[i];
        json_open(&out, NULL, '{');
        json_text(&out, "planner", row->name);
        json_count(&out, "graphs", row->done);
        table_json_counts(&out, row);
        table_json_ratio(&out, "makespan", &row->ratios[0]);
        json_real(&out, "over_bound", over_bound(p, row));
        json_real(&out, "over_published", over_published(p, row));
        json_real(&out, "mean_plan_ns", mean_plan_ns(p, row));
        json_close(&out, '}');
    }
    json_close(&out, ']');
    json_count(&out, "seed", p->options->seed);
    return json_print(&out);
}

static int draw(const plan_comparison *p)
{
    const comparison *c = &p->comparison;
    picture drawn = {.comparison = c, .one_case = "graph"};

    snprintf(drawn.title, sizeof drawn.title, "%u planners on %zu graph%s%s%.100s", c->count, c->cases,
             c->cases == 1 ? "" : "s", p->platform[0] != '\0' ? ", " : "", p->platform);
    snprintf(drawn.axis, sizeof drawn.axis, "makespan over that of %.60s on the same graph; left is shorter",
             c->rows[c->baseline].name);
    return picture_write(&drawn, p->options->svg);
}

int plan_compare_report(plan_comparison *p)
{
    const plan_options *o = p->options;
    int code = EXIT_GOOD, one = EXIT_GOOD;

    for (uint32_t i = 0; i < p->comparison.count; i++)
        p->comparison.rows[i].failed = p->tallies[p->comparison.rows[i].index].failed;
    comparison_summarise(&p->comparison);
    comparison_rank(&p->comparison);
    if (o->as_json)
        code = print_json(p);
    else if (!is_output(o->csv) && !is_output(o->svg))
        print_text(p);
    if (o->csv != NULL && (one = write_rows(&p->rows, o->csv)) != EXIT_GOOD)
        code = one;
    if (o->svg != NULL && (one = draw(p)) != EXIT_GOOD)
        code = one;
    return code;
}
