/* online_svg.c - a panel a scene: the share of jobs (up) that were complete after a time (right, by its logarithm), a
 * line a contender, mean of the quantiles over the seeds. */
#define _POSIX_C_SOURCE 200809L
#include "online/online.h"

#include <clotho/file.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 460, HEIGHT = 250, LEFT = 46, TOP = 34, BOTTOM = 34, SAMPLE = 34, LETTER = 7, LINE = 14 };

static const char *const colours[] = {"#1b6ca8", "#d1495b", "#2e8b57", "#edae49", "#7b4b94", "#00798c",
                                      "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf", "#000000"};

/* Of further contenders the lines are dashed, so that no two look alike. */
static const char *const dashes[] = {"", " stroke-dasharray='5 2'", " stroke-dasharray='2 2'"};

enum { COLOURS = sizeof colours / sizeof colours[0], DASHES = sizeof dashes / sizeof dashes[0] };

/* With room for the names of all its contenders. */
static uint32_t height_of(const played *p)
{
    uint32_t names = TOP + LINE * p->count + BOTTOM / 2;

    return names > HEIGHT ? names : HEIGHT;
}

static uint32_t width_of(const online *o)
{
    size_t longest = 0;

    for (uint32_t i = 0; i < o->played_count; i++)
        for (uint32_t c = 0; c < o->played[i].count; c++) {
            size_t length = strlen(o->played[i].contenders[c].label);
            longest = length > longest ? length : longest;
        }
    return WIDTH + SAMPLE + LETTER * (uint32_t)longest;
}

static double point_s(const played *p, uint32_t who, uint32_t k)
{
    double sum = 0;

    for (uint32_t s = 0; s < p->seeds; s++)
        sum += (double)p->outcomes[(size_t)who * p->seeds + s].curve[k];
    return sum / p->seeds;
}

typedef struct range {
    double low, high; /* logarithms to base 10 of seconds */
} range;

static range range_of(const played *p)
{
    range r = {1e9, -1e9};

    for (uint32_t c = 0; c < p->count; c++) {
        double first = log10(fmax(point_s(p, c, 0), 1e-6)), last = log10(fmax(point_s(p, c, CURVE_POINTS - 1), 1e-6));
        r.low = fmin(r.low, first);
        r.high = fmax(r.high, last);
    }
    r.low = floor(r.low);
    r.high = ceil(r.high + 1e-9);
    return r;
}

static double x_of(range r, double seconds)
{
    return (double)LEFT + (log10(fmax(seconds, 1e-6)) - r.low) / (r.high - r.low) * (WIDTH - LEFT - 12);
}

static void draw_axes(FILE *out, const played *p, range r)
{
    int bottom = HEIGHT - BOTTOM;

    fprintf(out,
            "<text x='%d' y='18' class='title'>%s, %u seed%s: share of jobs that are complete after a time</text>\n",
            LEFT, p->scene->name, p->seeds, p->seeds == 1 ? "" : "s");
    for (int k = 0; k <= 4; k++) {
        double y = bottom - (bottom - TOP) * k / 4.0;
        fprintf(
            out,
            "<line x1='%d' y1='%.1f' x2='%d' y2='%.1f' class='grid'/><text x='%d' y='%.1f' class='y'>%d %%</text>\n",
            LEFT, y, WIDTH - 12, y, LEFT - 6, y + 4, 25 * k);
    }
    for (int d = (int)r.low; d <= (int)r.high; d++) { /* both are whole */
        double x = x_of(r, pow(10, d));
        fprintf(out,
                "<line x1='%.1f' y1='%d' x2='%.1f' y2='%d' class='grid'/><text x='%.1f' y='%d' class='x'>%g s</text>\n",
                x, TOP, x, bottom, x, bottom + 15, pow(10, d));
    }
}

static void draw_panel(FILE *out, const played *p)
{
    range r = range_of(p);

    draw_axes(out, p, r);
    for (uint32_t c = 0; c < p->count; c++) {
        const char *colour = colours[c % COLOURS], *dash = dashes[c / COLOURS % DASHES], *wide = c == 0 ? "2.5" : "1.4";
        uint32_t y = TOP + LINE * c;
        fprintf(out, "<polyline fill='none' stroke='%s' stroke-width='%s'%s points='", colour, wide, dash);
        for (uint32_t k = 0; k < CURVE_POINTS; k++)
            fprintf(out, "%.1f,%.1f ", x_of(r, point_s(p, c, k)),
                    HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * (double)k / (CURVE_POINTS - 1));
        fprintf(out, "'/>\n<path d='M%d %uh20' stroke='%s' stroke-width='%s'%s/><text x='%d' y='%u'>%s</text>\n",
                WIDTH + 6, y, colour, wide, dash, WIDTH + 30, y + 4, p->contenders[c].label);
    }
}

bool online_svg(const online *o, const char *path)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    if (out == NULL)
        return bench_fail("out of memory");
    uint32_t wide = width_of(o), high = 0;
    for (uint32_t i = 0; i < o->played_count; i++)
        high += height_of(&o->played[i]);
    fprintf(
        out,
        "<svg xmlns='http://www.w3.org/2000/svg' width='%u' height='%u' viewBox='0 0 %u %u' font-family='sans-serif' "
        "font-size='11' fill='#222'>\n<style>.grid{stroke:#ddd}.title{font-size:13px;font-weight:bold}"
        ".y{text-anchor:end}.x{text-anchor:middle}</style>\n<rect width='100%%' height='100%%' fill='white'/>\n",
        wide, high, wide, high);
    for (uint32_t i = 0, y = 0; i < o->played_count; y += height_of(&o->played[i++])) {
        fprintf(out, "<g transform='translate(0 %u)'>\n", y);
        draw_panel(out, &o->played[i]);
        fprintf(out, "</g>\n");
    }
    fprintf(out, "</svg>\n");
    bool is_good = fclose(out) == 0 && clo_file_write(path, text, bytes) == CLO_OK;
    free(text);
    return is_good || bench_fail("the picture cannot be written");
}
