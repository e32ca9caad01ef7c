/* report/gantt_svg.c - a schedule as SVG: a row an executor, a bar an execution, colours by kind of task.
 *
 * The size stays bounded whatever the number of executions: bars narrower than a few pixels are drawn as columns of
 * one pixel, each in the colour of the kind that has most of it (pale where it is mostly idle), one
 * path for each row and kind. Colours: Okabe and Ito's palette, safe for the colour-blind. Coordinates are
 * written as integers in tenths, so that no locale can put a comma into them. */
#include "report/gantt.h"
#include "report/gantt_control_flow.h"
#include "report/kinds.h"

#include "base/memory.h"
#include "base/status.h"

#include <clotho/branch.h>

#include <stdio.h>
#include <string.h>

enum {
    SHADES = CLO_KIND_SHADES,
    PAGE = 1280, /* width in pixels */
    TOP = 84,
    RIGHT = 62,
    BOTTOM = 46,
    LINE = 20,     /* of the legend    */
    NAME_MAX = 40, /* characters of a name in it */
    SIDE_MAX = 24, /* of a name left of the rows */
    MANY = 10000   /* from here on only wide bars are drawn one by one */
};

typedef struct drawing {
    const clo_gantt *chart;
    const clo_graph *graph;
    const clo_platform *platform;
    clo_text *out;
    clo_gantt_rows rows;
    clo_task_kinds kinds;
    uint8_t *kind_of;                    /* [tasks] */
    double (*columns)[SHADES];           /* [plot width + 1] busy pixels of the thin bars of one row, by colour */
    int left, width, row_height, height; /* of the plot, pixels */
    bool has_replicas;
} drawing;

static void classify(drawing *draw)
{
    clo_task_kinds_add(&draw->kinds, draw->graph, draw->kind_of);
    clo_task_kinds_choose_colors(&draw->kinds);
    for (size_t i = 0; i < draw->chart->count; i++)
        draw->has_replicas |= draw->chart->placements[i].is_replica != 0;
}

static uint32_t color_of(const drawing *draw, uint32_t task)
{
    return draw->kinds.kinds[draw->kind_of[task]].color;
}

static void lay_out(drawing *draw)
{
    uint32_t executors = clo_platform_executors(draw->platform);
    size_t longest = 4;

    for (uint32_t e = 0; e < executors; e++) {
        uint32_t kind = clo_platform_executor(draw->platform, e)->kind;
        size_t name = clo_gantt_characters(clo_platform_executor_name(draw->platform, e));
        size_t below = clo_gantt_characters(clo_platform_kind_name(draw->platform, kind));
        longest = name > longest ? name : longest;
        longest = below > longest ? below : longest;
    }
    draw->left = 32 + 7 * (int)(longest > SIDE_MAX ? SIDE_MAX : longest);
    draw->width = PAGE - draw->left - RIGHT;
    draw->row_height = executors <= 12 ? 40 : executors <= 32 ? 30 : executors <= 128 ? 18 : 12;
    draw->height = draw->row_height * (int)executors;
}

/* Position of a time in tenths of a pixel. */
static int at(const drawing *draw, int64_t ns)
{
    double span = draw->chart->makespan_ns > 0 ? (double)draw->chart->makespan_ns : 1;

    return 10 * draw->left + (int)((double)ns / span * 10 * draw->width + 0.5);
}

/* ` name="12.3"` from tenths. */
static void add_tenths(clo_text *out, const char *name, int tenths)
{
    clo_text_add(out, " %s=\"%d.%d\"", name, tenths / 10, tenths % 10);
}

/* Where the next entry of the legend goes. */
typedef struct legend {
    const drawing *draw;
    bool is_drawn; /* else only measured */
    int x, line;
} legend;

/* A sample and a text, on the next line where this one is full. */
static void add_entry(legend *at, const char *sample, const char *text)
{
    const drawing *draw = at->draw;
    int width = 38 + (int)(clo_drawn_width(text) * 12 / 1000);

    if (at->x > draw->left && at->x + width > PAGE - 8) {
        at->x = draw->left;
        at->line++;
    }
    int y = TOP + draw->height + BOTTOM + LINE * at->line;
    if (at->is_drawn) {
        clo_text_add(draw->out,
                     "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"14\" height=\"12\" rx=\"2\"/>"
                     "<text x=\"%d\" y=\"%d\">",
                     sample, at->x, y, at->x + 20, y + 10);
        clo_text_add_xml(draw->out, text);
        clo_text_add(draw->out, "</text>");
    }
    at->x += width;
}

/* Returns the number of its lines. */
static int add_legend(const drawing *draw, bool is_drawn)
{
    legend at = {draw, is_drawn, draw->left, 0};
    char sample[8], name[CLO_KIND_NAME_BYTES];

    for (uint32_t color = 0; color < CLO_KIND_COLORS; color++) {
        uint32_t k = clo_task_kinds_with_color(&draw->kinds, color);
        if (k == CLO_NONE)
            break;
        snprintf(sample, sizeof sample, "c%u", color);
        add_entry(&at, sample, clo_kind_name(draw->kinds.kinds[k].name, draw->kinds.kinds[k].bytes, NAME_MAX, name));
    }
    if (clo_task_kinds_others(&draw->kinds) > 0) {
        snprintf(sample, sizeof sample, "c%d", CLO_KIND_COLORS);
        add_entry(&at, sample, "other");
    }
    if (draw->has_replicas)
        add_entry(&at, "r0", "replica");
    if (draw->chart->failed_count > 0)
        add_entry(&at, "failed", "failed");
    if (clo_graph_branches(draw->graph) > 0 && at.x > PAGE - 200) { /* its marks need room */
        at.x = draw->left;
        at.line++;
    }
    if (is_drawn) {
        clo_gantt_add_control_flow_legend(draw->chart, at.x, TOP + draw->height + BOTTOM + LINE * at.line, draw->out);
        clo_text_add(draw->out, "\n");
    }
    return at.line + 1;
}

static void add_style(const drawing *draw)
{
    clo_text *out = draw->out;

    clo_text_add(out,
                 "<style>text{font-family:Inter,'Segoe UI','DejaVu Sans',Helvetica,Arial,sans-serif;font-size:12px;"
                 "fill:#333}.title{font-size:19px;font-weight:600;fill:#111}.soft{fill:#777}.small{font-size:10.5px}"
                 ".end{text-anchor:end}.mid{text-anchor:middle}.in{font-size:11px;pointer-events:none}"
                 ".grid{stroke:#e3e3e3;stroke-width:1}.axis{stroke:#999;stroke-width:1}.pale{fill-opacity:.4}"
                 "rect.b{stroke:#fff;stroke-width:.6}.n{shape-rendering:crispEdges}.odd{fill:#222}.failed{fill:#c00;"
                 "fill-opacity:0;stroke:#c00;"
                 "stroke-width:2}");
    for (int c = 0; c < SHADES; c++)
        clo_text_add(out, ".c%d{fill:%s}.t%d{fill:%s}.r%d{fill:url(#h%d)}", c, clo_kind_fill((uint32_t)c), c,
                     clo_kind_ink((uint32_t)c), c, c);
    clo_text_add(out, "</style>\n<defs>");
    for (int c = 0; c < SHADES && draw->has_replicas; c++)
        clo_text_add(out,
                     "<pattern id=\"h%d\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform="
                     "\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"%s\"/><rect width=\"2.4\" height=\"6\" "
                     "fill=\"#fff\" fill-opacity=\".62\"/></pattern>",
                     c, clo_kind_fill((uint32_t)c));
    clo_text_add(out, "</defs>\n");
}

static void add_head(const drawing *draw)
{
    const clo_gantt *chart = draw->chart;
    clo_text *out = draw->out;
    int height = TOP + draw->height + BOTTOM + 24 + LINE * add_legend(draw, false);
    char time[24];

    clo_text_add(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n",
                 PAGE, height, PAGE, height);
    add_style(draw);
    clo_text_add(out, "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n<text class=\"title\" x=\"20\" y=\"32\">",
                 PAGE, height);
    clo_text_add_xml(out, chart->title != NULL ? chart->title : clo_graph_name(draw->graph));
    clo_text_add(out, "</text>\n<text class=\"soft\" x=\"20\" y=\"52\">");
    clo_text_add_xml(out, chart->planner);
    clo_text_add(out, "%s on ", clo_gantt_mark(chart));
    clo_text_add_xml(out, clo_platform_name(draw->platform));
    if (chart->cycle != NULL) {
        char line[160];
        clo_text_add(out, " · %u tasks · %s", clo_graph_tasks(draw->graph), clo_gantt_cycle_text(chart->cycle, line));
        clo_text_add(out, "</text>\n");
        return;
    }
    size_t skipped = clo_gantt_skipped(chart);
    clo_text_add(out, " · %u tasks, %zu executions", clo_graph_tasks(draw->graph), chart->count - skipped);
    if (skipped > 0)
        clo_text_add(out, ", %zu skipped", skipped);
    clo_text_add(out, " · makespan %s", clo_gantt_time(chart->makespan_ns, chart->makespan_ns, time));
    if (chart->bound_ns > 0) {
        clo_text_add(out, " · lower bound %s", clo_gantt_time(chart->bound_ns, chart->bound_ns, time));
        clo_text_add(out, " (gap %.1f %%)", 100 * ((double)chart->makespan_ns / (double)chart->bound_ns - 1));
    }
    clo_text_add(out, "</text>\n");
}

/* Vertical lines with times below. */
static void add_axis(const drawing *draw)
{
    clo_text *out = draw->out;
    int64_t step = clo_gantt_step(draw->chart->makespan_ns, 12);
    int bottom = TOP + draw->height;
    char time[24];

    for (int64_t k = 0; k <= draw->chart->makespan_ns / step; k++) {
        int x = at(draw, k * step);
        clo_text_add(out, "<line class=\"grid\"");
        add_tenths(out, "x1", x);
        add_tenths(out, "x2", x);
        clo_text_add(out, " y1=\"%d\" y2=\"%d\"/><text class=\"soft small mid\"", TOP, bottom + 5);
        add_tenths(out, "x", x);
        clo_text_add(out, " y=\"%d\">%s</text>\n", bottom + 19,
                     k == 0 ? "0" : clo_gantt_time(k * step, draw->chart->makespan_ns, time));
    }
    clo_text_add(out, "<line class=\"axis\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>\n", draw->left,
                 draw->left + draw->width, bottom, bottom);
}

/* A name left of the rows, as much of it as there is room for. */
static void add_side_name(const drawing *draw, const char *name)
{
    char text[CLO_KIND_NAME_BYTES];

    clo_text_add_xml(draw->out, clo_kind_name(name, strlen(name), SIDE_MAX, text));
    clo_text_add(draw->out, "</text>");
}

/* Stripe, name, kind and use of an executor. */
static void add_row_head(const drawing *draw, uint32_t executor)
{
    clo_text *out = draw->out;
    int y = TOP + draw->row_height * (int)executor, middle = y + draw->row_height / 2 + 4;
    bool is_tall = draw->row_height >= 30 && clo_platform_kinds(draw->platform) > 1;

    if (executor % 2 == 0)
        clo_text_add(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#f6f7f8\"/>", draw->left, y,
                     draw->width, draw->row_height);
    clo_text_add(out, "<text class=\"end%s\" x=\"%d\" y=\"%d\">", draw->row_height < 18 ? " small" : "",
                 draw->left - 10, is_tall ? middle - 6 : middle);
    add_side_name(draw, clo_platform_executor_name(draw->platform, executor));
    if (is_tall) {
        clo_text_add(out, "<text class=\"end soft small\" x=\"%d\" y=\"%d\">", draw->left - 10, middle + 7);
        add_side_name(draw,
                      clo_platform_kind_name(draw->platform, clo_platform_executor(draw->platform, executor)->kind));
    }
    clo_text_add(out, "<text class=\"soft small end\" x=\"%d\" y=\"%d\">%.0f %%</text>\n", PAGE - 14, middle,
                 clo_gantt_use(draw->chart, &draw->rows, executor));
}

/* Name of the task, with the instance where there are several. */
static void add_task_name(const drawing *draw, const clo_placement *p)
{
    char scratch[16];

    clo_text_add_xml(draw->out, clo_graph_task_name(draw->graph, p->task, scratch));
    if (clo_graph_ranges(draw->graph, p->task) > 1)
        clo_text_add(draw->out, " [%u]", p->instance);
}

/* Releases take turns in two shades. */
static bool is_odd_release(const drawing *draw, const clo_placement *p)
{
    return draw->chart->cycle != NULL && draw->chart->cycle->release[p - draw->chart->placements] % 2 != 0;
}

/* As much of a name as fits into so many tenths of a pixel, at least five characters of a longer one. Into
 * text[CLO_KIND_NAME_BYTES]. */
static bool fit(const char *name, int tenths, char *text)
{
    size_t characters = clo_gantt_characters(name), bytes = strlen(name), least = characters < 5 ? characters : 5;
    uint32_t width = clo_drawn_width(name) * 11 / 100;

    if (tenths <= 0 || characters == 0)
        return false;
    if (characters > NAME_MAX || width > (uint32_t)tenths) {
        size_t most = (size_t)tenths * characters / (width > 0 ? width : 1) + 1;
        characters = most < characters ? most : characters;
        characters = characters < NAME_MAX ? characters : NAME_MAX;
    }
    for (; characters >= least; characters--)
        if (clo_drawn_width(clo_kind_name(name, bytes, characters, text)) * 11 / 100 <= (uint32_t)tenths)
            return true;
    return false;
}

/* A bar with its own hover text, and its name inside where it fits. */
static void add_bar(const drawing *draw, const clo_placement *p)
{
    clo_text *out = draw->out;
    int x = at(draw, p->start_ns), width = at(draw, p->finish_ns) - x;
    int y = TOP + draw->row_height * (int)p->executor + draw->row_height / 8;
    int height = draw->row_height - 2 * (draw->row_height / 8);
    uint32_t color = color_of(draw, p->task);
    char scratch[16], from[24], to[24], length[24], label[CLO_KIND_NAME_BYTES];

    clo_text_add(out, "<rect class=\"%s %c%u\"", width >= 40 ? "b" : "n", p->is_replica ? 'r' : 'c',
                 color); /* n: narrow */
    add_tenths(out, "x", x);
    clo_text_add(out, " y=\"%d\"", y);
    add_tenths(out, "width", width);
    clo_text_add(out, " height=\"%d\"%s%s><title>", height, width >= 80 ? " rx=\"2\"" : "",
                 is_odd_release(draw, p) ? " fill-opacity=\".62\"" : "");
    add_task_name(draw, p);
    if (draw->chart->cycle != NULL)
        clo_text_add(out, ", release %u", draw->chart->cycle->release[p - draw->chart->placements]);
    clo_text_add(out, "%s\n%s to %s (%s)</title></rect>\n", p->is_replica ? " (replica)" : "",
                 clo_gantt_time(p->start_ns, p->finish_ns, from), clo_gantt_time(p->finish_ns, p->finish_ns, to),
                 clo_gantt_time(p->finish_ns - p->start_ns, p->finish_ns - p->start_ns, length));
    if (draw->row_height >= 18 && !p->is_replica &&
        fit(clo_graph_task_name(draw->graph, p->task, scratch), width - 40, label)) {
        if (is_odd_release(draw, p))
            clo_text_add(out, "<text class=\"in mid odd\"");
        else
            clo_text_add(out, "<text class=\"in mid t%u\"", color);
        add_tenths(out, "x", x + width / 2);
        clo_text_add(out, " y=\"%d\">", y + height / 2 + 4);
        clo_text_add_xml(out, label);
        clo_text_add(out, "</text>\n");
    }
}

/* Where an execution of a task that failed ran, however short it was. */
static void add_failures(const drawing *draw, uint32_t executor)
{
    char scratch[16];

    for (size_t m = draw->rows.first[executor]; m < draw->rows.first[executor + 1] && draw->chart->failed_count > 0;
         m++) {
        const clo_placement *p = &draw->chart->placements[draw->rows.members[m]];
        if (!clo_gantt_has_failed(draw->chart, p->task))
            continue;
        int x = at(draw, p->start_ns), width = at(draw, p->finish_ns) - x;
        clo_text_add(draw->out, "<rect class=\"failed\"");
        add_tenths(draw->out, "x", x);
        add_tenths(draw->out, "width", width < 30 ? 30 : width);
        clo_text_add(draw->out, " y=\"%d\" height=\"%d\"><title>", TOP + draw->row_height * (int)executor + 1,
                     draw->row_height - 2);
        clo_text_add_xml(draw->out, clo_graph_task_name(draw->graph, p->task, scratch));
        clo_text_add(draw->out, ": failed</title></rect>\n");
    }
}

/* Adds a thin bar to the columns of pixels it touches; an execution of length 0 still leaves a trace. */
static void add_thin(const drawing *draw, const clo_placement *p)
{
    double from = at(draw, p->start_ns) / 10.0 - draw->left, to = at(draw, p->finish_ns) / 10.0 - draw->left;
    uint32_t color = color_of(draw, p->task);
    int first = (int)from < draw->width ? (int)from : draw->width - 1;

    for (int c = first; c < draw->width && (c == first || c < to); c++) {
        double share = (to < c + 1 ? to : c + 1) - (from > c ? from : c);
        draw->columns[c][color] += share > 0.01 ? share : 0.01;
    }
}

/* What a column shows: colour, plus SHADES where it is mostly idle; -1: nothing. */
static int shade_of(const double *column)
{
    double sum = 0;
    int best = -1;

    for (int c = 0; c < SHADES; c++) {
        sum += column[c];
        if (column[c] > 0 && (best < 0 || column[c] > column[best]))
            best = c;
    }
    return best < 0 ? -1 : sum >= 0.5 ? best : best + SHADES;
}

/* The columns of one row as a path for each shade. */
static void add_columns(const drawing *draw, uint32_t executor, const size_t *thin)
{
    int y = TOP + draw->row_height * (int)executor + draw->row_height / 8;
    int height = draw->row_height - 2 * (draw->row_height / 8);

    for (int shade = 0; shade < 2 * SHADES; shade++) {
        bool is_open = false;
        for (int c = 0; c < draw->width; c++) {
            int first = c;
            while (c < draw->width && shade_of(draw->columns[c]) == shade)
                c++;
            if (c == first)
                continue;
            if (!is_open)
                clo_text_add(draw->out, "<path class=\"c%d%s\" d=\"", shade % SHADES, shade >= SHADES ? " pale" : "");
            is_open = true;
            clo_text_add(draw->out, "M%d %dh%dv%dh-%dz", draw->left + first, y, c - first, height, c - first);
        }
        if (is_open)
            clo_text_add(draw->out, "\"><title>%zu short executions of this colour in this row</title></path>\n",
                         thin[shade % SHADES]);
    }
}

static void add_row(const drawing *draw, uint32_t executor)
{
    size_t thin[SHADES] = {0}, thins = 0;
    int narrow = draw->chart->count > MANY ? 30 : 10; /* tenths of a pixel */

    memset(draw->columns, 0, (size_t)draw->width * sizeof draw->columns[0]);
    for (size_t m = draw->rows.first[executor]; m < draw->rows.first[executor + 1]; m++) {
        const clo_placement *p = &draw->chart->placements[draw->rows.members[m]];
        if (at(draw, p->finish_ns) - at(draw, p->start_ns) >= narrow)
            continue;
        add_thin(draw, p);
        thin[color_of(draw, p->task)]++;
        thins++;
    }
    if (thins > 0)
        add_columns(draw, executor, thin);
    for (size_t m = draw->rows.first[executor]; m < draw->rows.first[executor + 1]; m++) {
        const clo_placement *p = &draw->chart->placements[draw->rows.members[m]];
        if (at(draw, p->finish_ns) - at(draw, p->start_ns) >= narrow)
            add_bar(draw, p);
    }
    add_failures(draw, executor);
    clo_gantt_add_control_flow(&(clo_gantt_row){draw->chart, &draw->rows, executor, 10 * draw->left, 10 * draw->width,
                                                TOP + draw->row_height * (int)executor, draw->row_height},
                               draw->out);
}

/* A vertical line over all rows with its text above. Texts stand left of lines in the right half; the dashed line,
 * which is never right of the other, ends below the other's text. */
static void add_mark(const drawing *draw, int64_t ns, const char *what, const char *stroke, bool is_dashed)
{
    int x = at(draw, ns);
    bool is_right = x > 10 * (draw->left + draw->width / 2);
    int top = is_dashed ? TOP - 2 : TOP - 27;
    char time[24];

    clo_text_add(draw->out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.4\"%s d=\"M%d.%d %dV%d\"/>", stroke,
                 is_dashed ? " stroke-dasharray=\"5 4\"" : "", x / 10, x % 10, top, TOP + draw->height);
    clo_text_add(draw->out, "<text class=\"small%s\"", is_right ? " end" : "");
    add_tenths(draw->out, "x", x + (is_right ? -40 : 40));
    clo_text_add(draw->out, " y=\"%d\" style=\"fill:%s\">%s %s</text>\n", TOP - (is_dashed ? 5 : 18), stroke, what,
                 clo_gantt_time(ns, ns, time));
}

/* Where the releases begin, and how long the first one takes. */
static void add_intervals(const drawing *draw)
{
    const clo_gantt_cycle *cycle = draw->chart->cycle;

    for (uint32_t r = 1; r < cycle->releases; r++) {
        int x = at(draw, r * cycle->interval_ns);
        clo_text_add(draw->out, "<path fill=\"none\" stroke=\"#555\" stroke-dasharray=\"5 4\" d=\"M%d.%d %dV%d\"/>\n",
                     x / 10, x % 10, TOP - 2, TOP + draw->height);
    }
    if (cycle->releases > 1)
        add_mark(draw, cycle->interval_ns, "interval", "#555", true);
    add_mark(draw, cycle->latency_ns, "latency", "#111", false);
}

clo_status clo_gantt_svg(const clo_gantt *chart, clo_text *out)
{
    drawing draw = {
        .chart = chart, .graph = clo_cost_graph(chart->cost), .platform = clo_cost_platform(chart->cost), .out = out};

    lay_out(&draw);
    clo_status status = clo_gantt_rows_open(chart, &draw.rows);
    if (status != CLO_OK)
        return status;
    draw.kind_of = clo_allocate(clo_graph_tasks(draw.graph), 1);
    draw.columns = clo_allocate((size_t)draw.width, sizeof draw.columns[0]);
    if (draw.kind_of == NULL || draw.columns == NULL) {
        status = clo_fail_memory("a Gantt chart");
        goto done;
    }
    classify(&draw);
    add_head(&draw);
    for (uint32_t e = 0; e < clo_platform_executors(draw.platform); e++)
        add_row_head(&draw, e);
    add_axis(&draw);
    for (uint32_t e = 0; e < clo_platform_executors(draw.platform); e++)
        add_row(&draw, e);
    if (chart->bound_ns > 0)
        add_mark(&draw, chart->bound_ns, "lower bound", "#555", true);
    if (chart->cycle == NULL)
        add_mark(&draw, chart->makespan_ns, "makespan", "#111", false);
    else
        add_intervals(&draw);
    (void)add_legend(&draw, true);
    clo_text_add(out, "</svg>\n");
    if (out->failed)
        status = clo_fail_memory("a Gantt chart");
done:
    clo_gantt_rows_close(&draw.rows);
    clo_free(draw.kind_of);
    clo_free(draw.columns);
    return status;
}
