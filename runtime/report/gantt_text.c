/* report/gantt_text.c - a schedule for the terminal: a line an executor, a column a slice of time.
 *
 * A column shows the execution that fills most of its slice; neighbouring executions alternate between two
 * shades, so that their border is seen without colours. */
#include "report/gantt.h"

#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "graph/graph.h"

#include <clotho/branch.h>

#include <stdio.h>
#include <string.h>

enum { NAME_COLUMNS_MAX = 20, COLUMNS_MIN = 40, COLUMNS_MAX = 2000 };

clo_status clo_gantt_rows_open(const clo_gantt *chart, clo_gantt_rows *rows)
{
    uint32_t executors = clo_platform_executors(clo_cost_platform(chart->cost));

    rows->first = clo_allocate((size_t)executors + 2, sizeof rows->first[0]);
    rows->members = clo_allocate(chart->count, sizeof rows->members[0]);
    if (rows->first == NULL || rows->members == NULL) {
        clo_gantt_rows_close(rows);
        clo_fail_memory("a Gantt chart");
        return CLO_ERR_MEMORY;
    }
    for (size_t i = 0; i < chart->count; i++)
        rows->first[(size_t)chart->placements[i].executor + 2]++;
    for (size_t e = 1; e <= executors; e++)
        rows->first[e + 1] += rows->first[e];
    for (size_t i = 0; i < chart->count; i++)
        rows->members[rows->first[(size_t)chart->placements[i].executor + 1]++] = i;
    return CLO_OK;
}

void clo_gantt_rows_close(clo_gantt_rows *rows)
{
    clo_free(rows->first);
    clo_free(rows->members);
    *rows = (clo_gantt_rows){0};
}

const char *clo_gantt_time(int64_t ns, int64_t scale_ns, char *text)
{
    static const struct {
        int64_t ns;
        const char *name;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "µs"}, {1, "ns"}};
    size_t u = 0;

    while (units[u].ns > 1 && units[u].ns > scale_ns)
        u++;
    double value = (double)ns / (double)units[u].ns;
    clo_print(text, 24, value < 1e5 ? "%.5g %s" : "%.0f %s", value, units[u].name);
    return text;
}

const char *clo_gantt_cycle_text(const clo_gantt_cycle *cycle, char *text)
{
    char interval[24], bound[24], latency[24];
    double least = cycle->bound_ns > 0 ? (double)cycle->bound_ns : 1;

    clo_print(text, 160, "interval %s (bound %s, gap %.1f %%), latency %s, %u release%s in flight",
              clo_gantt_time(cycle->interval_ns, cycle->interval_ns, interval),
              clo_gantt_time(cycle->bound_ns, cycle->bound_ns, bound), 100 * ((double)cycle->interval_ns / least - 1),
              clo_gantt_time(cycle->latency_ns, cycle->latency_ns, latency), cycle->in_flight,
              cycle->in_flight == 1 ? "" : "s");
    return text;
}

int64_t clo_gantt_step(int64_t makespan_ns, uint32_t ticks)
{
    static const int64_t next[] = {2, 5, 10};
    int64_t power = 1, step = 1;

    /* Ends: the step grows with each round, and stays below 10 * makespan. */
    for (uint32_t k = 0; makespan_ns / step > (int64_t)ticks; k++) {
        if (k % 3 == 0 && k > 0)
            power *= 10;
        if (power > INT64_MAX / 10)
            return INT64_MAX;
        step = power * next[k % 3];
    }
    return step;
}

size_t clo_gantt_prefix(const char *name)
{
    size_t bytes = strcspn(name, "0123456789([{#:<");

    if (bytes >= 3 && memcmp(name + bytes - 3, "_ID", 3) == 0)
        bytes -= 3;
    while (bytes > 0 && strchr("_-. /", name[bytes - 1]) != NULL)
        bytes--;
    return bytes > 0 ? bytes : strlen(name);
}

const char *clo_gantt_mark(const clo_gantt *chart)
{
    return chart->is_emulated && strstr(chart->planner, "emulated") == NULL ? ", emulated" : "";
}

bool clo_gantt_has_failed(const clo_gantt *chart, uint32_t task)
{
    for (size_t i = 0; i < chart->failed_count; i++)
        if (chart->failed[i] == task)
            return true;
    return false;
}

size_t clo_gantt_characters(const char *text)
{
    size_t count = 0;

    for (; *text != '\0'; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

double clo_gantt_use(const clo_gantt *chart, const clo_gantt_rows *rows, uint32_t executor)
{
    double busy = 0;

    for (size_t m = rows->first[executor]; m < rows->first[executor + 1]; m++) {
        const clo_placement *p = &chart->placements[rows->members[m]];
        busy += (double)p->finish_ns - (double)p->start_ns;
    }
    return chart->makespan_ns > 0 ? 100 * busy / (double)chart->makespan_ns : 0;
}

/* One column of a row. */
typedef struct cell {
    double busy, most; /* share of the slice: all executions; the one that has most */
    size_t placement;  /* that one                                                   */
    const char *glyph; /* what is drawn                                             */
    const char *mark;  /* over that; NULL: none                                     */
} cell;

typedef struct picture {
    const clo_gantt *chart;
    clo_gantt_rows rows;
    cell *cells;           /* [width] of the row in hand */
    uint32_t width, names; /* columns for the bars, for the names */
    clo_text *out;
} picture;

/* Adds what `placement` takes of each slice it touches. */
static void add_execution(const picture *pic, size_t placement)
{
    const clo_placement *p = &pic->chart->placements[placement];
    double per_column = (double)pic->chart->makespan_ns / pic->width;
    double from = (double)p->start_ns / per_column, to = (double)p->finish_ns / per_column;

    for (uint32_t c = (uint32_t)from; c < pic->width && c < to; c++) {
        double left = from > c ? from : c, right = to < c + 1 ? to : c + 1;
        pic->cells[c].busy += right - left;
        if (right - left > pic->cells[c].most) {
            pic->cells[c].most = right - left;
            pic->cells[c].placement = placement;
        }
    }
}

/* Glyph of a column by its share; `shade` alternates from one execution to the next. */
static const char *glyph_of(const picture *pic, uint32_t c, uint32_t shade)
{
    const cell *cells = pic->cells;
    bool goes_on = c + 1 < pic->width && cells[c + 1].busy > 0 && cells[c + 1].placement == cells[c].placement;
    bool went_on = c > 0 && cells[c - 1].busy > 0 && cells[c - 1].placement == cells[c].placement;

    if (cells[c].busy < 1e-9)
        return " ";
    if (cells[c].busy >= 0.75)
        return pic->chart->placements[cells[c].placement].is_replica ? "▒" : shade ? "▓" : "█";
    if (cells[c].busy >= 0.25 && cells[c].most > 0.9 * cells[c].busy)
        return goes_on && !went_on ? "▐" : went_on && !goes_on ? "▌" : "┃";
    return cells[c].busy >= 0.25 ? "░" : "·";
}

/* Writes the task's name, or its prefix, into the full columns first..end-1 if it fits with a border. */
static uint32_t label_bytes(const picture *pic, uint32_t first, uint32_t end, const char **label)
{
    const clo_graph *graph = clo_cost_graph(pic->chart->cost);
    uint32_t task = pic->chart->placements[pic->cells[first].placement].task;
    static const char nothing[] = "";
    char scratch[16];
    const char *name = clo_graph_task_name(graph, task, scratch);
    size_t bytes = strlen(name), room = end - first;

    *label = nothing;
    if (name == scratch || room < 5)
        return 0; /* an unnamed task: its number says little */
    if (clo_gantt_characters(name) + 2 > room)
        bytes = clo_gantt_prefix(name);
    for (size_t i = 0; i < bytes; i++)
        if ((unsigned char)name[i] < 0x20 || (unsigned char)name[i] > 0x7e)
            return 0; /* one column a byte from here on */
    if (bytes + 2 > room)
        return 0;
    *label = name;
    return (uint32_t)bytes;
}

static bool is_full(const cell *it)
{
    return it->busy >= 0.75;
}

/* Column of a time; makespan > 0. */
static uint32_t column_of(const picture *pic, int64_t ns)
{
    return (uint32_t)((double)ns / (double)pic->chart->makespan_ns * pic->width);
}

/* Branches where they end, and what was skipped where it would have begun: over whatever else is there. */
static void mark_control_flow(const picture *pic, uint32_t executor)
{
    const clo_graph *graph = clo_cost_graph(pic->chart->cost);

    if (graph->control_flow == NULL || pic->chart->makespan_ns <= 0)
        return;
    for (size_t m = pic->rows.first[executor]; m < pic->rows.first[executor + 1]; m++) {
        const clo_placement *p = &pic->chart->placements[pic->rows.members[m]];
        bool is_skipped = clo_plan_is_skipped(pic->chart->plan, p->task);
        if (!is_skipped && clo_graph_arms(graph, p->task) == 0)
            continue;
        uint32_t c = column_of(pic, is_skipped ? p->start_ns : p->finish_ns);
        c -= c > 0 && (!is_skipped || c >= pic->width);
        if (!is_skipped || pic->cells[c].mark == NULL)
            pic->cells[c].mark = is_skipped ? "×" : "◆";
    }
}

/* Draws the columns first..end-1, all of one execution. */
static void add_run(const picture *pic, uint32_t first, uint32_t end)
{
    uint32_t full_first = first, full_end = end;
    const char *label = "";

    while (full_first < end && !is_full(&pic->cells[full_first]))
        full_first++;
    while (full_end > full_first && !is_full(&pic->cells[full_end - 1]))
        full_end--;
    uint32_t bytes = full_first < full_end ? label_bytes(pic, full_first, full_end, &label) : 0;
    uint32_t at = bytes > 0 ? full_first + (full_end - full_first - bytes) / 2 : end;

    for (uint32_t c = first; c < end; c++)
        if (pic->cells[c].mark != NULL)
            clo_text_add_bytes(pic->out, pic->cells[c].mark, strlen(pic->cells[c].mark));
        else if (c >= at && c < at + bytes)
            clo_text_add_bytes(pic->out, &label[c - at], 1);
        else
            clo_text_add_bytes(pic->out, pic->cells[c].glyph, strlen(pic->cells[c].glyph));
}

static void add_row(const picture *pic, uint32_t executor)
{
    uint32_t shade = 0, first = 0;

    memset(pic->cells, 0, pic->width * sizeof pic->cells[0]);
    for (size_t m = pic->rows.first[executor]; m < pic->rows.first[executor + 1]; m++)
        if (pic->chart->makespan_ns > 0)
            add_execution(pic, pic->rows.members[m]);
    for (uint32_t c = 0; c < pic->width; c++) {
        if (pic->chart->cycle != NULL) /* releases take turns, whatever lies between their executions */
            shade = pic->cells[c].busy > 0 && pic->chart->cycle->release[pic->cells[c].placement] % 2;
        else if (c > 0 && pic->cells[c].busy > 0 && pic->cells[c - 1].busy > 0 &&
                 pic->cells[c].placement != pic->cells[c - 1].placement)
            shade ^= 1;
        pic->cells[c].glyph = glyph_of(pic, c, shade);
    }
    mark_control_flow(pic, executor);
    for (uint32_t c = 1; c <= pic->width; c++)
        if (c == pic->width || pic->cells[c].placement != pic->cells[first].placement ||
            (pic->cells[c].busy > 0) != (pic->cells[first].busy > 0)) {
            add_run(pic, first, c);
            first = c;
        }
}

/* `text`, which is printable, in exactly `columns`, cut or padded. */
static void add_padded(clo_text *out, const char *text, uint32_t columns)
{
    size_t characters = 0, bytes = 0;

    while (text[bytes] != '\0' && !(characters == columns && ((unsigned char)text[bytes] & 0xc0) != 0x80)) {
        characters += ((unsigned char)text[bytes] & 0xc0) != 0x80;
        bytes++;
    }
    clo_text_add_bytes(out, text, bytes);
    clo_text_add(out, "%*s", (int)(columns - characters), "");
}

/* Name and kind of an executor, e.g. "big0 A76"; the kind is left out where it says the same. */
static void executor_label(const clo_platform *platform, uint32_t executor, char *text, size_t bytes)
{
    const char *name = clo_platform_executor_name(platform, executor);
    const char *kind = clo_platform_kind_name(platform, clo_platform_executor(platform, executor)->kind);

    char label[128];

    if (clo_platform_kinds(platform) > 1 && strncmp(name, kind, strlen(kind)) != 0)
        snprintf(label, sizeof label, "%s %s", name, kind);
    else
        snprintf(label, sizeof label, "%s", name);
    clo_printable(label, text, bytes);
}

static void add_axis(const picture *pic)
{
    int64_t makespan = pic->chart->makespan_ns, step = clo_gantt_step(makespan, pic->width / 14 + 1), k = 1;
    uint32_t at = 1;
    char text[24];

    clo_text_add(pic->out, "%*s └", (int)pic->names, "");
    for (uint32_t c = 0; c < pic->width; c++) {
        bool is_tick = makespan > 0 && k <= makespan / step && column_of(pic, k * step) == c;
        k += is_tick;
        clo_text_add_bytes(pic->out, is_tick ? "┴" : "─", 3);
    }
    clo_text_add(pic->out, "┘\n%*s0", (int)pic->names + 2, "");
    for (k = 1; makespan > 0 && k <= makespan / step; k++) {
        uint32_t column = column_of(pic, k * step);
        const char *tick = clo_gantt_time(k * step, makespan, text);
        uint32_t length = (uint32_t)clo_gantt_characters(tick);
        if (column <= at || column + length > pic->width + 7) /* as far as the rows reach */
            continue;
        clo_text_add(pic->out, "%*s%s", (int)(column - at), "", tick);
        at = column + length;
    }
    clo_text_add(pic->out, "\n");
}

static void add_headline(const clo_gantt *chart, clo_text *out)
{
    char text[24];
    const char *title = chart->title != NULL ? chart->title : clo_graph_name(clo_cost_graph(chart->cost));

    clo_text_add_visible(out, title);
    clo_text_add(out, "  planner ");
    clo_text_add_visible(out, chart->planner);
    if (chart->cycle != NULL) {
        char line[160];
        clo_text_add(out, "\n%s; the first %u:\n", clo_gantt_cycle_text(chart->cycle, line), chart->cycle->releases);
        return;
    }
    clo_text_add(out, "%s  makespan %s", clo_gantt_mark(chart),
                 clo_gantt_time(chart->makespan_ns, chart->makespan_ns, text));
    if (chart->bound_ns > 0) {
        clo_text_add(out, "  lower bound %s", clo_gantt_time(chart->bound_ns, chart->bound_ns, text));
        clo_text_add(out, " (gap %.1f %%)", 100 * ((double)chart->makespan_ns / (double)chart->bound_ns - 1));
    }
    clo_text_add(out, "\n");
}

size_t clo_gantt_skipped(const clo_gantt *chart)
{
    size_t count = 0;

    for (size_t i = 0; i < chart->count; i++)
        count += clo_plan_is_skipped(chart->plan, chart->placements[i].task);
    return count;
}

static bool has_replicas(const clo_gantt *chart)
{
    for (size_t i = 0; i < chart->count; i++)
        if (chart->placements[i].is_replica)
            return true;
    return false;
}

static uint32_t name_columns(const clo_platform *platform)
{
    size_t most = 1;
    char text[128];

    for (uint32_t e = 0; e < clo_platform_executors(platform); e++) {
        executor_label(platform, e, text, sizeof text);
        if (clo_gantt_characters(text) > most)
            most = clo_gantt_characters(text);
    }
    return most < NAME_COLUMNS_MAX ? (uint32_t)most : NAME_COLUMNS_MAX;
}

clo_status clo_gantt_text(const clo_gantt *chart, uint32_t columns, clo_text *out)
{
    const clo_platform *platform = clo_cost_platform(chart->cost);
    picture pic = {.chart = chart, .out = out, .names = name_columns(platform)};
    char text[128];

    columns = columns == 0 ? 80 : columns < COLUMNS_MIN ? COLUMNS_MIN : columns > COLUMNS_MAX ? COLUMNS_MAX : columns;
    pic.width = columns - pic.names - 9; /* " |" before, "| 100 %" behind the bars */
    clo_status status = clo_gantt_rows_open(chart, &pic.rows);
    if (status != CLO_OK)
        return status;
    pic.cells = clo_allocate(pic.width, sizeof pic.cells[0]);
    if (pic.cells == NULL) {
        clo_gantt_rows_close(&pic.rows);
        return clo_fail_memory("a Gantt chart");
    }
    add_headline(chart, out);
    for (uint32_t e = 0; e < clo_platform_executors(platform); e++) {
        executor_label(platform, e, text, sizeof text);
        add_padded(out, text, pic.names);
        clo_text_add(out, " │");
        add_row(&pic, e);
        clo_text_add(out, "│ %3.0f %%\n", clo_gantt_use(chart, &pic.rows, e));
    }
    add_axis(&pic);
    if (has_replicas(chart))
        clo_text_add(out, "%*s ▒ replica\n", (int)pic.names + 1, "");
    if (clo_graph_branches(clo_cost_graph(chart->cost)) > 0)
        clo_text_add(out, "%*s ◆ branch%s\n", (int)pic.names + 1, "",
                     clo_gantt_skipped(chart) > 0 ? "  × skipped: another arm was chosen" : "");
    clo_gantt_rows_close(&pic.rows);
    clo_free(pic.cells);
    return out->failed ? clo_fail_memory("a Gantt chart") : CLO_OK;
}
