/* compare_draw.c - see compare_draw.h. A row for each policy with its ratio in each run (small), the ratio of all of them
 * (large) and where that lies at 95 % (line), on a logarithmic scale. Left of 1 is shorter. */
#include "clotho/simulate/compare_draw.h"

#include "clotho/common/output_write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEFT = 220, WIDTH = 560, RIGHT = 60, ROW = 34, TOP = 64, BOTTOM = 44, MARKS_MAX = 400 };

typedef struct scale {
    double low, high; /* logarithms */
} scale;

static double place(const scale *s, double ratio)
{
    return LEFT + WIDTH * (log(ratio) - s->low) / (s->high - s->low);
}

static void widen(scale *s, double ratio)
{
    if (!(ratio > 0) || isinf(ratio))
        return;
    s->low = fmin(s->low, log(ratio));
    s->high = fmax(s->high, log(ratio));
}

static double run_ratio(const comparison *c, uint32_t p, size_t seed)
{
    return c->rows[p].runs[seed].mean_ns / c->rows[0].runs[seed].mean_ns;
}

static scale scale_of(const comparison *c)
{
    scale s = {log(0.95), log(1.05)};

    for (uint32_t p = 0; p < c->count; p++) {
        widen(&s, c->rows[p].completion.low);
        widen(&s, c->rows[p].completion.high);
        for (size_t k = 0; k < c->seeds; k++)
            widen(&s, run_ratio(c, p, k));
    }
    double margin = (s.high - s.low) / 20;
    return (scale){s.low - margin, s.high + margin};
}

static void put_escaped(FILE *file, const char *text)
{
    for (; *text != '\0'; text++)
        if (*text == '<')
            fputs("&lt;", file);
        else if (*text == '&')
            fputs("&amp;", file);
        else if ((unsigned char)*text >= ' ')
            fputc(*text, file);
}

static void put_axis(FILE *file, const comparison *c, const scale *s)
{
    static const double ticks[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 5, 10};
    double bottom = TOP + (double)ROW * c->count, last = -100;

    for (size_t t = 0; t < sizeof ticks / sizeof ticks[0]; t++) {
        double x = place(s, ticks[t]);
        if (x < LEFT || x > LEFT + WIDTH || (x - last < 36 && ticks[t] != 1))
            continue;
        last = x;
        fprintf(file,
                "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n"
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%g</text>\n",
                x, TOP - 8, x, bottom, ticks[t] == 1 ? "#555" : "#ddd", x, bottom + 18, ticks[t]);
    }
    fprintf(file,
            "<text x=\"%d\" y=\"%.1f\" text-anchor=\"middle\">mean completion time, ratio to the first policy</text>\n",
            LEFT + WIDTH / 2, bottom + 36);
}

static void put_row(FILE *file, const comparison *c, uint32_t p, const scale *s)
{
    const compared_ratio *r = &c->rows[p].completion;
    double y = TOP + ROW * (p + 0.5);
    size_t step = c->seeds / MARKS_MAX + 1;

    fprintf(file, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 12, y + 4);
    put_escaped(file, c->rows[p].policy);
    fputs("</text>\n", file);
    for (size_t k = 0; k < c->seeds; k += step)
        if (isfinite(run_ratio(c, p, k)) && run_ratio(c, p, k) > 0)
            fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"#7aa6d8\" fill-opacity=\"0.5\"/>\n",
                    place(s, run_ratio(c, p, k)), y);
    if (isfinite(r->low) && isfinite(r->high))
        fprintf(file, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#1b4f8f\" stroke-width=\"3\"/>\n",
                place(s, r->low), y, place(s, r->high), y);
    if (isfinite(r->ratio))
        fprintf(file,
                "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"#1b4f8f\"/>\n<text x=\"%d\" y=\"%.1f\">%.3f</text>\n",
                place(s, r->ratio), y, LEFT + WIDTH + 10, y + 4, r->ratio);
}

static bool put_picture(FILE *file, const void *content)
{
    const comparison *c = content;
    const scale s = scale_of(c);

    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
            "font-size=\"13\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<text x=\"%d\" y=\"28\" "
            "font-size=\"16\">",
            LEFT + WIDTH + RIGHT, TOP + ROW * (int)c->count + BOTTOM, 20);
    put_escaped(file, c->workload);
    fputs(" on ", file);
    put_escaped(file, c->platform);
    fprintf(file, ": %u policies, %zu run%s each</text>\n", c->count, c->seeds, c->seeds == 1 ? "" : "s");
    put_axis(file, c, &s);
    for (uint32_t p = 0; p < c->count; p++)
        put_row(file, c, p, &s);
    fputs("</svg>\n", file);
    return fflush(file) == 0 && ferror(file) == 0;
}

int compare_draw(const comparison *c, const char *path)
{
    return output_write(path, put_picture, c);
}
