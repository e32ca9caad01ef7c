/* quality_svg.c - the tables as one picture: a panel a table, in each a line a planner, best on top, a dot at its ratio
 * to the baseline and at the right margin the number. What lies beyond the scale is an arrow. */
#define _POSIX_C_SOURCE 200809L
#include "quality/quality_parts.h"

#include <clotho/file.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMNS = 4,
    PANEL_WIDTH = 360,
    LINE = 15,
    HEAD = 46,
    FOOT = 30,
    LABEL_WIDTH = 112,
    PLOT_WIDTH = 180,
    MARGIN = 20
};

static const double scale_low = 0.7, scale_high = 1.6;

typedef struct panel {
    const comparison *comparison;
    summary all[CANDIDATES_MAX];
    uint32_t order[CANDIDATES_MAX], count;
} panel;

static double place(double ratio)
{
    return (double)LABEL_WIDTH + (double)PLOT_WIDTH * (ratio - scale_low) / (scale_high - scale_low);
}

/* Text with what XML asks for. */
static void put_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++)
        if (*text == '<' || *text == '&')
            fputs(*text == '<' ? "&lt;" : "&amp;", out);
        else
            fputc(*text, out);
}

static void draw_grid(FILE *out, uint32_t lines)
{
    static const double ticks[] = {0.8, 1.0, 1.2, 1.4, 1.6};

    for (int i = 0; i < 5; i++) {
        double x = place(ticks[i]), bottom = (double)HEAD + (double)lines * (double)LINE;

        fprintf(out, "<line x1='%.1f' y1='%d' x2='%.1f' y2='%.1f' class='%s'/>", x, HEAD - 4, x, bottom,
                i == 1 ? "one" : "grid");
        fprintf(out, "<text x='%.1f' y='%.1f' class='tick'>%.1f</text>\n", x, bottom + 13, ticks[i]);
    }
}

static void draw_line(FILE *out, const panel *p, uint32_t at)
{
    const candidate *who = &p->comparison->candidates->items[p->order[at]];
    double ratio = p->all[p->order[at]].ratio, y = (double)HEAD + at * (double)LINE + 7;
    const char *class = strcmp(who->planner, "best") == 0         ? "best"
                        : p->order[at] == p->comparison->baseline ? "base"
                                                                  : "dot";

    fprintf(out, "<text x='%d' y='%.1f' class='name %s'>", LABEL_WIDTH - 8, y + 4, class);
    put_text(out, who->label);
    fputs("</text>", out);
    if (ratio > scale_high || ratio < scale_low) {
        double tip = ratio > scale_high ? place(scale_high) + 5 : place(scale_low) - 5,
               back = ratio > scale_high ? -8 : 8;

        fprintf(out, "<path d='M%.1f %.1f l%.1f -4 v8 z' class='%s'/>", tip, y, back, class);
    } else {
        fprintf(out, "<circle cx='%.1f' cy='%.1f' r='4' class='%s'/>", place(ratio), y, class);
    }
    fprintf(out, "<text x='%d' y='%.1f' class='number'>%.3f</text>\n", LABEL_WIDTH + PLOT_WIDTH + 48, y + 4, ratio);
}

static void draw_panel(FILE *out, const panel *p, double x, double y)
{
    fprintf(out, "<g transform='translate(%.1f %.1f)'><text x='0' y='16' class='title'>", x, y);
    put_text(out, p->comparison->name);
    fprintf(out, "</text><text x='0' y='32' class='note'>%u instance%s, makespan / that of ", p->comparison->instances,
            p->comparison->instances == 1 ? "" : "s");
    put_text(out, p->comparison->candidates->items[p->comparison->baseline].label);
    fputs("</text>\n", out);
    draw_grid(out, p->count);
    for (uint32_t i = 0; i < p->count; i++)
        draw_line(out, p, i);
    fputs("</g>\n", out);
}

/* The next panel that is not empty, from comparison *at on. */
static bool next_panel(const quality *q, uint32_t *at, panel *p)
{
    while (*at < q->comparisons_count) {
        p->comparison = &q->comparisons[(*at)++];
        p->count = p->comparison->instances > 0 ? comparison_rank(p->comparison, p->all, p->order) : 0;
        if (p->count > 0)
            return true;
    }
    return false;
}

/* Draws row after row (out: NULL to measure only). Returns the height. */
static double draw_rows(const quality *q, FILE *out)
{
    panel p;
    double y = MARGIN;
    uint32_t at = 0, column = 0, highest = 0;

    while (next_panel(q, &at, &p)) {
        if (out != NULL)
            draw_panel(out, &p, (double)MARGIN + (double)column * (double)PANEL_WIDTH, y);
        highest = p.count > highest ? p.count : highest;
        if (++column == COLUMNS) {
            y += (double)HEAD + highest * (double)LINE + (double)FOOT;
            column = highest = 0;
        }
    }
    return column > 0 ? y + (double)HEAD + highest * (double)LINE + (double)FOOT : y;
}

bool quality_draw(const quality *q, const char *path)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    double width = 2 * MARGIN + (double)COLUMNS * (double)PANEL_WIDTH, height = draw_rows(q, NULL);

    if (out == NULL)
        return bench_fail("out of memory");
    fprintf(out,
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %.0f %.0f' width='%.0f' height='%.0f'>\n"
            "<style>text{font:12px sans-serif;fill:#222}.title{font-weight:bold;font-size:14px}"
            ".note{fill:#666;font-size:11px}.tick{fill:#666;font-size:10px;text-anchor:middle}"
            ".name,.number{text-anchor:end}.number{fill:#444;font-size:11px}"
            ".grid{stroke:#e4e4e4}.one{stroke:#888}circle.dot,path.dot{fill:#4878a8}"
            "circle.best,path.best{fill:#d8590c}text.best{fill:#b84300;font-weight:bold}"
            "circle.base,path.base{fill:#222}text.base{font-weight:bold}</style>\n"
            "<rect width='100%%' height='100%%' fill='white'/>\n",
            width, height, width, height);
    draw_rows(q, out);
    fputs("</svg>\n", out);
    bool is_good = fclose(out) == 0 && clo_file_write(path, text, bytes) == CLO_OK;
    free(text);
    return is_good || bench_fail("the picture cannot be written");
}
