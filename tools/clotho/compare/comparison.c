/* comparison.c - see comparison.h. */
#include "clotho/compare/comparison.h"

#include "clotho/common/report.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CASES = 64 };

bool comparison_open(comparison *c, const option_list *names, uint32_t baseline, uint32_t figures)
{
    assert(figures > 0 && figures <= COMPARISON_FIGURES_MAX);
    assert(baseline < names->count);
    *c = (comparison){.count = names->count, .figures = figures, .baseline = baseline};
    c->rows = calloc(names->count, sizeof c->rows[0]);
    for (uint32_t i = 0; i < names->count && c->rows != NULL; i++) {
        c->rows[i].name = names->items[i];
        c->rows[i].index = i;
    }
    return c->rows != NULL;
}

static bool grow(comparison *c)
{
    size_t capacity = c->capacity > 0 ? 2 * c->capacity : FIRST_CASES;

    for (uint32_t i = 0; i < c->count; i++)
        for (uint32_t f = 0; f < c->figures; f++) {
            double *values = realloc(c->rows[i].values[f], capacity * sizeof values[0]);
            if (values == NULL)
                return false;
            c->rows[i].values[f] = values;
        }
    c->capacity = capacity;
    return true;
}

bool comparison_add_case(comparison *c)
{
    if (c->cases == c->capacity && !grow(c))
        return false;
    for (uint32_t i = 0; i < c->count; i++)
        for (uint32_t f = 0; f < c->figures; f++)
            c->rows[i].values[f][c->cases] = (double)NAN;
    c->cases++;
    return true;
}

void comparison_drop_case(comparison *c)
{
    assert(c->cases > 0);
    c->cases--;
}

/* NAN: nobody has one. */
static double lowest(const comparison *c, size_t index)
{
    double low = (double)NAN;

    for (uint32_t i = 0; i < c->count; i++)
        low = fmin(low, c->rows[i].values[0][index]); /* of a number and a NAN the number */
    return low;
}

void comparison_summarise(comparison *c)
{
    const contender *base = &c->rows[c->baseline];

    for (uint32_t i = 0; i < c->count; i++) {
        contender *row = &c->rows[i];
        row->done = row->best = 0;
        for (uint32_t f = 0; f < c->figures; f++)
            row->ratios[f] = ratio_of(row->values[f], base->values[f], c->cases);
    }
    for (size_t k = 0; k < c->cases; k++) {
        double low = lowest(c, k);
        for (uint32_t i = 0; i < c->count; i++) {
            c->rows[i].done += isnan(c->rows[i].values[0][k]) ? 0 : 1;
            c->rows[i].best += c->rows[i].values[0][k] <= low;
        }
    }
}

static int by_ratio(const void *a, const void *b)
{
    const contender *x = a, *y = b;
    double p = x->ratios[0].mean, q = y->ratios[0].mean;

    if (isnan(p) != isnan(q))
        return isnan(p) ? 1 : -1;
    if (!isnan(p) && p != q)
        return p < q ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

void comparison_rank(comparison *c)
{
    uint32_t base = c->rows[c->baseline].index;

    qsort(c->rows, c->count, sizeof c->rows[0], by_ratio);
    for (uint32_t i = 0; i < c->count; i++)
        if (c->rows[i].index == base)
            c->baseline = i;
}

void comparison_close(comparison *c)
{
    for (uint32_t i = 0; i < c->count && c->rows != NULL; i++)
        for (uint32_t f = 0; f < c->figures; f++)
            free(c->rows[i].values[f]);
    free(c->rows);
    *c = (comparison){0};
}

static uint32_t find(const option_list *names, const char *name)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0)
            return i;
    return names->count;
}

int comparison_baseline(const option_list *names, const char *asked, const char *usual, const char *kind,
                        uint32_t *index)
{
    const char *wanted = asked != NULL ? asked : usual;

    *index = wanted != NULL ? find(names, wanted) : 0;
    if (*index == names->count && asked != NULL)
        return misuse("--baseline is '%s', which is not compared; add --%s %s", show_name(asked), kind,
                      show_name(asked));
    if (*index == names->count)
        *index = 0;
    return EXIT_GOOD;
}
