/* table.c - see table.h. */
#include "clotho/compare/table.h"

#include "clotho/common/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_WIDTH_MAX = 40 };

static int wider(int width, const char *text)
{
    return (int)strlen(text) > width ? (int)strlen(text) : width;
}

static int name_width(const comparison *c, const char *head)
{
    int width = (int)strlen(head);

    for (uint32_t i = 0; i < c->count; i++)
        width = wider(width, show_name(c->rows[i].name));
    return width < NAME_WIDTH_MAX ? width : NAME_WIDTH_MAX;
}

static int column_width(const comparison *c, const table_column *column)
{
    char text[TABLE_CELL];
    int width = (int)strlen(column->head);

    for (uint32_t i = 0; i < c->count; i++) {
        column->put(text, &c->rows[i], column);
        width = wider(width, text);
    }
    return width;
}

void table_print(const comparison *c, const char *head, const table_column *columns, size_t columns_count)
{
    int names = name_width(c, head);

    printf("%-*s", names, head);
    for (size_t k = 0; k < columns_count; k++)
        printf("  %*s", column_width(c, &columns[k]), columns[k].head);
    putchar('\n');
    for (uint32_t i = 0; i < c->count; i++) {
        printf("%-*.*s", names, names, show_name(c->rows[i].name));
        for (size_t k = 0; k < columns_count; k++) {
            char text[TABLE_CELL];
            columns[k].put(text, &c->rows[i], &columns[k]);
            printf("  %*s", column_width(c, &columns[k]), text);
        }
        putchar('\n');
    }
}

void table_ratio(char text[TABLE_CELL], const contender *row, const table_column *column)
{
    const paired_ratio *r = &row->ratios[column->figure];

    snprintf(text, TABLE_CELL, isnan(r->mean) ? "-" : "%.3f", r->mean);
}

void table_interval(char text[TABLE_CELL], const contender *row, const table_column *column)
{
    const paired_ratio *r = &row->ratios[column->figure];

    if (isnan(r->mean) || isnan(r->low))
        table_ratio(text, row, column);
    else
        snprintf(text, TABLE_CELL, "%.3f [%.3f, %.3f]", r->mean, r->low, r->high);
}

static void put_count(char text[TABLE_CELL], size_t count)
{
    snprintf(text, TABLE_CELL, "%zu", count);
}

void table_done(char text[TABLE_CELL], const contender *row, const table_column *column)
{
    (void)column;
    put_count(text, row->done);
}

void table_failed(char text[TABLE_CELL], const contender *row, const table_column *column)
{
    (void)column;
    put_count(text, row->failed);
}

void table_shorter(char text[TABLE_CELL], const contender *row, const table_column *column)
{
    (void)column;
    put_count(text, row->ratios[0].shorter);
}

void table_longer(char text[TABLE_CELL], const contender *row, const table_column *column)
{
    (void)column;
    put_count(text, row->ratios[0].longer);
}

void table_best(char text[TABLE_CELL], const contender *row, const table_column *column)
{
    (void)column;
    put_count(text, row->best);
}

void table_json_ratio(json *out, const char *key, const paired_ratio *r)
{
    json_open(out, key, '{');
    json_real(out, "ratio", r->mean);
    json_real(out, "low", r->low);
    json_real(out, "high", r->high);
    json_close(out, '}');
}

void table_json_counts(json *out, const contender *row)
{
    json_count(out, "failed", row->failed);
    json_count(out, "shorter", row->ratios[0].shorter);
    json_count(out, "longer", row->ratios[0].longer);
    json_count(out, "best", row->best);
}

void table_explain(const comparison *c, const char *what, const char *one_case)
{
    const char *base = show_name(c->rows[c->baseline].name);

    printf("ratios       %s over those of %s, %s by %s: the geometric mean%s\n", what, base, one_case, one_case,
           c->cases > 1 ? ", where it lies at 95 % (Student's t)" : "");
    printf("columns      shorter, longer: %ss where it is below or above %s; best: where none is below\n\n", one_case,
           base);
}
