/* report/platform_describe.c - a platform as text for people: a table of executors, the picture, links by
 * closeness, capacities, sources. All made with integers, so the text is the same everywhere. */
#include "base/status.h"
#include "platform/model/figures.h"
#include "report/closeness.h"
#include "report/platform_picture.h"

#include <clotho/report.h>

#include <stdio.h>
#include <string.h>

#define FOLD_ABOVE 32 /* with more executors, equal neighbours share a row */

enum { COLUMN_NAME, COLUMN_KIND, COLUMN_CPU, COLUMN_MACHINE, COLUMN_MEMORY, COLUMN_SPEED, COLUMN_CACHES = 9, COLUMNS };
enum { SVG_COLUMNS = 100 };

/* Words of `string`, wrapped; the first line starts at column `at`, the others at `indent`. */
static void add_wrapped(clo_text *out, const char *string, uint32_t columns, uint32_t at, uint32_t indent)
{
    bool first = true;

    for (const char *word = string; *word != '\0';) {
        size_t length = strcspn(word, " ");
        if (!first && at + 1 + length > columns) {
            clo_text_add(out, "\n%*s", (int)indent, "");
            at = indent;
            first = true;
        }
        if (!first)
            clo_text_add(out, " ");
        clo_text_put_clean(out, word, length);
        at += (uint32_t)length + !first;
        first = false;
        word += length;
        while (*word == ' ')
            word++;
    }
    clo_text_add(out, "\n");
}

static const char *plural(uint32_t count)
{
    return count == 1 ? "" : "s";
}

static void add_head(const clo_platform *p, uint32_t columns, clo_text *out)
{
    char line[300];

    clo_text_put_clean(out, p->name, strlen(p->name));
    if (p->summary != NULL) {
        clo_text_add(out, ": ");
        add_wrapped(out, p->summary, columns, (uint32_t)strlen(p->name) + 2, 2);
    } else {
        clo_text_add(out, "\n");
    }
    snprintf(line, sizeof line, "%u executor%s of %u kind%s, %u memor%s, %u machine%s; %s; %s", p->executors_count,
             plural(p->executors_count), p->kinds_count, plural(p->kinds_count), p->memories_count,
             p->memories_count == 1 ? "y" : "ies", p->machines_count, plural(p->machines_count),
             p->coherent ? "coherent: data is read in place" : "not coherent: data is copied",
             p->native ? "this machine" : "not this machine: clocks padded and virtual only");
    add_wrapped(out, line, columns, 0, 2);
}

/* The executor table: one row for executors first..last, which are equal but for their numbers. */
typedef struct row {
    uint32_t first, last;
} row;

static bool alike(const clo_platform *p, uint32_t a, uint32_t b)
{
    const clo_executor *x = &p->executors[a], *y = &p->executors[b];
    bool caches = p->places == NULL ||
                  memcmp(p->places[a].cache_bytes, p->places[b].cache_bytes, sizeof p->places[a].cache_bytes) == 0;

    return x->kind == y->kind && x->machine == y->machine && caches &&
           memcmp(x->speed_q16, y->speed_q16, sizeof x->speed_q16) == 0;
}

static uint32_t row_end(const clo_platform *p, uint32_t first)
{
    uint32_t last = first;

    while (p->executors_count > FOLD_ABOVE && last + 1 < p->executors_count && alike(p, first, last + 1))
        last++;
    return last;
}

static void put_range(long long a, long long b, bool folded, char *out, size_t bytes)
{
    if (folded && a != b)
        snprintf(out, bytes, "%lld..%lld", a, b);
    else
        snprintf(out, bytes, "%lld", a);
}

static void put_caches(const clo_platform *p, uint32_t e, char *out, size_t bytes)
{
    snprintf(out, bytes, "-");
    for (uint32_t level = 1; p->places != NULL && level < CLO_CACHE_LEVELS; level++) {
        char figure[CLO_FIGURE_BYTES];
        size_t used = out[0] == '-' ? 0 : strlen(out);
        if (p->places[e].cache_bytes[level] == 0)
            continue;
        clo_figure_bytes(p->places[e].cache_bytes[level], figure);
        snprintf(out + used, bytes - used, "%sL%u %s", used > 0 ? "  " : "", level, figure);
    }
}

static void cell(const clo_platform *p, row r, uint32_t column, char *out, size_t bytes)
{
    const clo_executor *x = &p->executors[r.first], *y = &p->executors[r.last];
    bool folded = r.first != r.last;

    switch (column) {
    case COLUMN_NAME:
        if (folded)
            snprintf(out, bytes, "%.60s..%.60s", p->executor_names[r.first], p->executor_names[r.last]);
        else
            snprintf(out, bytes, "%.120s", p->executor_names[r.first]);
        break;
    case COLUMN_KIND:
        snprintf(out, bytes, "%.120s", p->kind_names[x->kind]);
        break;
    case COLUMN_CPU:
        if (x->os_index <= CLO_OS_SLOT)
            snprintf(out, bytes, "slot");
        else
            put_range(x->os_index, y->os_index, folded, out, bytes);
        break;
    case COLUMN_MACHINE:
        snprintf(out, bytes, "%u", x->machine);
        break;
    case COLUMN_MEMORY:
        put_range(x->memory, y->memory, folded, out, bytes);
        break;
    case COLUMN_CACHES:
        put_caches(p, r.first, out, bytes);
        break;
    default: {
        uint64_t thousandths = (x->speed_q16[column - COLUMN_SPEED] * 1000ull + CLO_SPEED_ONE / 2) / CLO_SPEED_ONE;
        snprintf(out, bytes, "%llu.%03llu", (unsigned long long)thousandths / 1000,
                 (unsigned long long)thousandths % 1000);
    }
    }
}

static bool classes_differ(const clo_platform *p)
{
    for (uint32_t e = 0; e < p->executors_count; e++)
        for (uint32_t c = 1; c < CLO_CLASSES_BUILTIN; c++)
            if (p->executors[e].speed_q16[c] != p->executors[e].speed_q16[0])
                return true;
    return false;
}

/* Columns that say nothing are left out. */
static bool is_shown(const clo_platform *p, uint32_t column)
{
    bool known = false;

    if (column == COLUMN_MACHINE)
        return p->machines_count > 1;
    if (column > COLUMN_SPEED && column < COLUMN_CACHES)
        return classes_differ(p);
    for (uint32_t e = 0; e < p->executors_count; e++) {
        if (column == COLUMN_CPU)
            known |= p->executors[e].os_index != -1;
        for (uint32_t level = 1; level < CLO_CACHE_LEVELS && column == COLUMN_CACHES && p->places != NULL; level++)
            known |= p->places[e].cache_bytes[level] > 0;
    }
    return known || (column != COLUMN_CPU && column != COLUMN_CACHES);
}

static const char *column_head(uint32_t column)
{
    static const char *const heads[COLUMNS] = {"executor", "kind",    "cpu",   "machine", "mem",
                                               "speed",    "integer", "float", "memory",  "caches"};

    return heads[column];
}

static void add_cell(clo_text *out, const char *text, uint32_t column, int width, bool last)
{
    int blank = width - (int)clo_text_width(text);

    if (column > COLUMN_KIND && column < COLUMN_CACHES)
        clo_text_add(out, "%*s", blank, "");
    clo_text_put_clean(out, text, strlen(text));
    if (column <= COLUMN_KIND && !last)
        clo_text_add(out, "%*s", blank, "");
    clo_text_add(out, last ? "\n" : "  ");
}

static void add_executors(const clo_platform *p, clo_text *out)
{
    uint32_t width[COLUMNS] = {0}, last = 0;
    char text[160];

    for (uint32_t c = 0; c < COLUMNS; c++) {
        if (!is_shown(p, c))
            continue;
        last = c;
        width[c] = clo_text_width(column_head(c));
        for (uint32_t e = 0; e < p->executors_count; e = row_end(p, e) + 1) {
            cell(p, (row){e, row_end(p, e)}, c, text, sizeof text);
            width[c] = clo_text_width(text) > width[c] ? clo_text_width(text) : width[c];
        }
    }
    for (uint32_t c = 0; c < COLUMNS; c++)
        if (width[c] > 0)
            add_cell(out, column_head(c), c, (int)width[c], c == last);
    for (uint32_t e = 0; e < p->executors_count; e = row_end(p, e) + 1)
        for (uint32_t c = 0; c < COLUMNS; c++) {
            if (width[c] == 0)
                continue;
            cell(p, (row){e, row_end(p, e)}, c, text, sizeof text);
            add_cell(out, text, c, (int)width[c], c == last);
        }
}

static void put_span(const char *low, const char *high, char *out, size_t bytes)
{
    const char *unit = strchr(low, ' '), *other = strchr(high, ' ');

    if (strcmp(low, high) == 0)
        snprintf(out, bytes, "%s", low);
    else if (unit != NULL && other != NULL && strcmp(unit, other) == 0) /* say the unit once */
        snprintf(out, bytes, "%.*s .. %s", (int)(unit - low), low, high);
    else
        snprintf(out, bytes, "%s .. %s", low, high);
}

/* What 1 MiB takes between executors so close, at least and at most. */
static void find_times(const clo_platform *p, clo_closeness closeness, int64_t *fastest, int64_t *slowest)
{
    *fastest = INT64_MAX;
    *slowest = 0;
    for (uint32_t a = 0; a < p->executors_count; a++)
        for (uint32_t b = 0; b < p->executors_count; b++)
            if (p->executors[a].memory != p->executors[b].memory && clo_closeness_of(p, a, b) == closeness) {
                int64_t ns = clo_platform_transfer_ns(p, 1 << 20, a, b);
                *fastest = ns < *fastest ? ns : *fastest;
                *slowest = ns > *slowest ? ns : *slowest;
                if (p->groups_count == 1) /* the others take the same */
                    return;
            }
}

static void add_link_class(const clo_platform *p, clo_closeness closeness, const clo_link_class *c, clo_text *out)
{
    char low[CLO_FIGURE_BYTES], high[CLO_FIGURE_BYTES], latency[80], rate[80], time[80];
    int64_t fastest, slowest;

    find_times(p, closeness, &fastest, &slowest);
    clo_figure_ns(c->latency_min_ns, low);
    clo_figure_ns(c->latency_max_ns, high);
    put_span(low, high, latency, sizeof latency);
    clo_figure_rate(c->q32_max, low);
    clo_figure_rate(c->q32_min, high);
    put_span(low, high, rate, sizeof rate);
    clo_figure_ns(fastest, low);
    clo_figure_ns(slowest, high);
    put_span(low, high, time, sizeof time);
    clo_text_add(out, "%-15s  %7llu  %-17s  %-19s  %s\n", clo_closeness_name(closeness), (unsigned long long)c->pairs,
                 latency, rate, time);
}

/* "  from 32K": the bandwidths of the pieces behind the first one. */
static void add_pieces(const clo_platform *p, clo_closeness closeness, clo_text *out)
{
    clo_link_class classes[CLO_CLOSENESS_COUNT];

    for (uint32_t k = 1; k < p->pieces_count; k++) {
        char low[CLO_FIGURE_BYTES], high[CLO_FIGURE_BYTES], rate[80];
        clo_link_classes(p, k, classes);
        clo_figure_rate(classes[closeness].q32_max, low);
        clo_figure_rate(classes[closeness].q32_min, high);
        put_span(low, high, rate, sizeof rate);
        clo_figure_bytes(p->cut_bytes[k], low);
        clo_text_add(out, "  from %-38s  %s\n", low, rate);
    }
}

static void add_links(const clo_platform *p, clo_text *out)
{
    clo_link_class classes[CLO_CLOSENESS_COUNT];
    uint64_t pairs = 0, all = (uint64_t)p->executors_count * (p->executors_count - 1);

    clo_link_classes(p, 0, classes);
    for (uint32_t c = 0; c < CLO_CLOSENESS_COUNT; c++)
        pairs += classes[c].pairs;
    if (pairs == 0) {
        clo_text_add(out, "links: %s\n",
                     p->executors_count == 1 ? "one executor, none"
                                             : "all executors share one memory, transfers take no time");
        return;
    }
    clo_text_add(out, "%-15s  %7s  %-17s  %-19s  %s\n", "links", "pairs", "latency", "bandwidth", "for 1 MiB");
    for (uint32_t c = 0; c < CLO_CLOSENESS_COUNT; c++)
        if (classes[c].pairs > 0) {
            add_link_class(p, (clo_closeness)c, &classes[c], out);
            add_pieces(p, (clo_closeness)c, out);
        }
    if (pairs < all)
        clo_text_add(out, "%-15s  %7llu  %s\n", "same memory", (unsigned long long)(all - pairs), "no transfer");
}

static void add_drives(const clo_platform *p, clo_text *out)
{
    for (uint32_t d = 0; d < p->drives_count; d++) {
        const clo_platform_drive *drive = &p->drives[d];
        const char *name = p->executor_names[drive->first], *last = p->executor_names[drive->first + drive->count - 1];
        clo_text_put_clean(out, name, strlen(name));
        clo_text_add(out, drive->count > 1 ? " .. " : "");
        clo_text_put_clean(out, last, drive->count > 1 ? strlen(last) : 0);
        clo_text_add(out, ": driver ");
        clo_text_put_clean(out, drive->driver, strlen(drive->driver));
        clo_text_add(out, drive->device[0] != '\0' ? ", device " : "");
        clo_text_put_clean(out, drive->device, strlen(drive->device));
        clo_text_add(out, "\n");
    }
}

static void add_capacities(const clo_platform *p, clo_text *out)
{
    for (uint32_t m = 0; m < p->machines_count; m++)
        for (uint32_t r = 0; r < CLO_RESOURCES_MAX; r++) {
            int64_t capacity = clo_platform_capacity(p, m, r);
            if (capacity < 0)
                continue;
            clo_text_add(out, "capacity of machine %u: ", m);
            if (p->resource_names[r] != NULL)
                clo_text_put_clean(out, p->resource_names[r], strlen(p->resource_names[r]));
            else
                clo_text_add(out, "resource %u", r);
            clo_text_add(out, " %lld\n", (long long)capacity);
        }
}

static void add_facts(const clo_platform *p, uint32_t columns, clo_text *out)
{
    int width = 0;

    for (uint32_t f = 0; f < p->facts_count; f++)
        if ((int)clo_text_width(p->facts[f].fact) > width)
            width = (int)clo_text_width(p->facts[f].fact);
    width = width > 24 ? 24 : width;
    if (p->facts_count > 0)
        clo_text_add(out, "\nsources\n");
    for (uint32_t f = 0; f < p->facts_count; f++) {
        int blank = width - (int)clo_text_width(p->facts[f].fact);
        clo_text_add(out, "  ");
        clo_text_put_clean(out, p->facts[f].fact, strlen(p->facts[f].fact));
        clo_text_add(out, "%*s  %-9s  ", blank > 0 ? blank : 0, "", p->facts[f].status);
        add_wrapped(out, p->facts[f].source, columns, (uint32_t)width + 15, (uint32_t)width + 15);
    }
}

clo_status clo_platform_svg(const clo_platform *platform, const char *path)
{
    clo_text text = {0};

    if (platform == NULL || path == NULL)
        return clo_fail_null("clo_platform_svg", "platform or path");
    clo_picture_svg(platform, SVG_COLUMNS, &text);
    clo_status status =
        text.failed ? clo_fail_memory("the picture of a platform") : clo_file_write(path, text.data, text.bytes);
    clo_text_free(&text);
    return status;
}

clo_status clo_platform_describe(const clo_platform *platform, uint32_t columns, char **out)
{
    clo_text text = {0};

    if (platform == NULL || out == NULL)
        return clo_fail(CLO_ERR_ARGUMENT, "clo_platform_describe: platform or out is NULL");
    columns = columns == 0 ? 80 : columns < 40 ? 40 : columns > 400 ? 400 : columns;
    add_head(platform, columns, &text);
    clo_text_add(&text, "\n");
    add_executors(platform, &text);
    clo_text_add(&text, "\n");
    clo_picture_draw(platform, columns, &text);
    clo_text_add(&text, "\n");
    add_links(platform, &text);
    add_drives(platform, &text);
    add_capacities(platform, &text);
    add_facts(platform, columns, &text);
    return clo_text_take(&text, out) == CLO_OK ? CLO_OK : clo_fail_memory("a platform's description");
}
