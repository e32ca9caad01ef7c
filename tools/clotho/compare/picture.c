/* picture.c - see picture.h. Names stand above their bands, so the drawing is narrow enough for a telephone, and long
 * names have room. The scale is logarithmic: half and twice as long are equally far from 1. */
#include "clotho/compare/picture.h"

#include "clotho/common/output_write.h"
#include "clotho/common/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 540,
    SIDE = 24,
    TOP = 74,
    ROW = 54,
    BAND = 30, /* the middle of a band below the top of its row */
    SPREAD = 9,
    BOTTOM = 54,
    LINE_CHARACTERS = 64,
    NAME_CHARACTERS = 44,
    MARKS_MAX = 400,      /* dots in a band */
    MARKS_IN_ALL = 12000, /* in the picture */
    TICK_DISTANCE = 44
};

/* Light, or dark where the reader wants that. Names and numbers cover the lines of the grid behind them. */
static const char STYLE[] =
    "<style>text{font:14px sans-serif;fill:#222}.title{font-size:16px;font-weight:bold}"
    ".note,.tick{font-size:12px;fill:#666}.tick{text-anchor:middle}.number{text-anchor:end}"
    ".name,.number{paint-order:stroke;stroke:#fff;stroke-width:5px}.ground{fill:#fff}.grid{stroke:#e0e0e0}"
    ".one{stroke:#777}.case{fill:#7aa6d8;fill-opacity:.45}.box{fill:none;stroke:#888}"
    ".interval{stroke:#1b4f8f;stroke-width:3}.mean{fill:#1b4f8f}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.note,.tick{fill:#aaa}.name,.number{stroke:#16181c}"
    ".ground{fill:#16181c}.grid{stroke:#33373d}.one{stroke:#999}.case{fill:#5d83b0}.interval{stroke:#9cc4f2}"
    ".mean{fill:#9cc4f2}}</style>\n";

typedef struct scale {
    double low, high; /* logarithms */
} scale;

static double place(const scale *s, double ratio)
{
    return SIDE + (WIDTH - 2 * SIDE) * (log(ratio) - s->low) / (s->high - s->low);
}

/* NAN: the case does not count. */
static double case_ratio(const comparison *c, uint32_t row, size_t index)
{
    double value = c->rows[row].values[0][index] / c->rows[c->baseline].values[0][index];

    return value > 0 && isfinite(value) ? value : (double)NAN;
}

static void widen(scale *s, double ratio)
{
    if (!(ratio > 0) || isinf(ratio))
        return;
    s->low = fmin(s->low, log(ratio));
    s->high = fmax(s->high, log(ratio));
}

/* Of all cases. Intervals of a few cases may be wider than any picture: of them no more than an e-fold on each side. */
static scale scale_of(const comparison *c)
{
    scale s = {log(0.95), log(1.05)};

    for (uint32_t i = 0; i < c->count; i++)
        for (size_t k = 0; k < c->cases; k++)
            widen(&s, case_ratio(c, i, k));
    scale cases = s;
    for (uint32_t i = 0; i < c->count; i++) {
        widen(&s, fmax(c->rows[i].ratios[0].low, exp(cases.low - 1)));
        widen(&s, fmin(c->rows[i].ratios[0].high, exp(cases.high + 1)));
    }
    double margin = (s.high - s.low) / 30;
    return (scale){s.low - margin, s.high + margin};
}

/* U+FFFE and U+FFFF are no characters of XML. */
static bool is_outside_xml(const char *text)
{
    return strncmp(text, "\xEF\xBF\xBE", 3) == 0 || strncmp(text, "\xEF\xBF\xBF", 3) == 0;
}

/* At most so many characters (of UTF-8), without what XML takes for its own. */
static void put_text(FILE *file, const char *text, int characters)
{
    const char *shown = show_name(text);

    for (; *shown != '\0'; shown++) {
        if (((unsigned char)*shown & 0xC0) != 0x80 && characters-- == 0) {
            fputs("\xE2\x80\xA6", file); /* an ellipsis */
            return;
        }
        if (*shown == '<' || *shown == '&' || *shown == '>') { /* "]]>" is no text */
            fputs(*shown == '<' ? "&lt;" : *shown == '&' ? "&amp;" : "&gt;", file);
        } else if (is_outside_xml(shown)) {
            fputs("\xEF\xBF\xBD", file); /* the replacement character */
            shown += 2;
        } else {
            fputc(*shown, file);
        }
    }
}

static void put_tick(FILE *file, const comparison *c, const scale *s, double ratio)
{
    double x = place(s, ratio), bottom = TOP + (double)ROW * c->count;

    fprintf(file,
            "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n"
            "<text x=\"%.1f\" y=\"%.1f\" class=\"tick\">%.4g</text>\n",
            x, TOP - 6, x, bottom, fabs(ratio - 1) < 1e-9 ? "one" : "grid", x, bottom + 17, ratio);
}

/* Steps of 1, 2 and 5 times a power of ten, so that 1 is a tick: the finest whose ticks keep their distance at 1. */
static double linear_step(const scale *s)
{
    static const double digits[] = {1, 2, 5};

    for (int power = -6; power < 0; power++)
        for (int d = 0; d < 3; d++) {
            double step = digits[d] * pow(10, power), upper = exp(s->high);
            if (place(s, upper) - place(s, upper - step) >= TICK_DISTANCE)
                return step;
        }
    return 1;
}

/* Powers of the smallest factor whose ticks keep their distance. */
static double tick_factor(const scale *s)
{
    static const double factors[] = {2, 10, 100, 1e4, 1e8, 1e16, 1e32, 1e64};
    size_t f = 0;

    while (f + 1 < sizeof factors / sizeof factors[0] && place(s, factors[f]) - place(s, 1) < TICK_DISTANCE)
        f++;
    return factors[f];
}

static void put_ticks(FILE *file, const comparison *c, const scale *s)
{
    double low = exp(s->low), high = exp(s->high), step = linear_step(s), factor = tick_factor(s);

    if (high / low < 6) {
        for (int k = (int)ceil(low / step); k * step <= high; k++) /* 1 is on the scale: no more than 1e6 */
            put_tick(file, c, s, k * step);
        return;
    }
    for (int k = (int)ceil(s->low / log(factor)); k <= s->high / log(factor); k++)
        put_tick(file, c, s, pow(factor, k));
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* A dot for each case, side by side in no order, so that many at one place are seen as many. */
static void put_cases(FILE *file, const double *ratios, size_t count, size_t marks_max, const scale *s, double y)
{
    for (size_t k = 0; k < count; k += count / marks_max + 1) {
        double turn = fmod((double)k * 0.6180339887, 1) - 0.5;
        fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" class=\"case\"/>\n", place(s, ratios[k]),
                y + 2 * SPREAD * turn);
    }
}

/* Quartiles; whiskers where 5 % and 95 % lie below. */
static void put_box(FILE *file, double *ratios, size_t count, const scale *s, double y)
{
    qsort(ratios, count, sizeof ratios[0], by_value);
    double x[4];
    static const double shares[] = {0.05, 0.25, 0.75, 0.95};
    for (int i = 0; i < 4; i++)
        x[i] = place(s, quantile_of(ratios, count, shares[i]));
    fprintf(file, "<path d=\"M%.1f %.1fH%.1fM%.1f %.1fH%.1fM%.1f %.1fH%.1fV%.1fH%.1fz\" class=\"box\"/>\n", x[0], y,
            x[1], x[2], y, x[3], x[1], y - SPREAD, x[2], y + SPREAD, x[1]);
}

static double at_most(double x)
{
    return fmin(fmax(x, SIDE / 2.0), WIDTH - SIDE / 2.0);
}

static void put_mean(FILE *file, const paired_ratio *r, const scale *s, double y)
{
    if (r->low > 0 && isfinite(r->high))
        fprintf(file, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"interval\"/>\n",
                at_most(place(s, r->low)), y, at_most(place(s, r->high)), y);
    if (r->mean > 0 && isfinite(r->mean))
        fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" class=\"mean\"/>\n", place(s, r->mean), y);
}

static void put_row(FILE *file, const comparison *c, uint32_t row, const scale *s, double *ratios)
{
    const paired_ratio *r = &c->rows[row].ratios[0];
    double top = TOP + (double)ROW * row, y = top + BAND;
    size_t marks_max = MARKS_IN_ALL / c->count < MARKS_MAX ? MARKS_IN_ALL / c->count : MARKS_MAX, count = 0;

    fprintf(file, "<text x=\"%d\" y=\"%.1f\" class=\"name\">", SIDE, top + 15);
    put_text(file, c->rows[row].name, NAME_CHARACTERS);
    fputs("</text>\n", file);
    for (size_t k = 0; k < c->cases; k++)
        if (!isnan(case_ratio(c, row, k)))
            ratios[count++] = case_ratio(c, row, k);
    put_cases(file, ratios, count, marks_max, s, y);
    if (count > 4) /* else the dots say as much */
        put_box(file, ratios, count, s, y);
    put_mean(file, r, s, y);
    fprintf(file, "<text x=\"%d\" y=\"%.1f\" class=\"number\">", WIDTH - SIDE, top + 15);
    if (isnan(r->mean))
        fputs("no ratio</text>\n", file);
    else
        fprintf(file, "%.3f</text>\n", r->mean);
}

static void put_drawing(FILE *file, const picture *p, double *ratios)
{
    const comparison *c = p->comparison;
    const scale s = scale_of(c);
    int height = TOP + ROW * (int)c->count + BOTTOM;

    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n%s"
            "<rect width=\"100%%\" height=\"100%%\" class=\"ground\"/>\n<text x=\"%d\" y=\"26\" class=\"title\">",
            WIDTH, height, WIDTH, height, STYLE, SIDE);
    put_text(file, p->title, LINE_CHARACTERS);
    fprintf(
        file,
        "</text>\n<text x=\"%d\" y=\"46\" class=\"note\">dot: one %s; box: quartiles, 5 %% and 95 %%; bold: geometric "
        "mean, its interval</text>\n",
        SIDE, p->one_case);
    put_ticks(file, c, &s);
    fprintf(file, "<text x=\"%d\" y=\"%d\" class=\"tick\">", WIDTH / 2, height - 14);
    put_text(file, p->axis, LINE_CHARACTERS + 16);
    fputs("</text>\n", file);
    for (uint32_t i = 0; i < c->count; i++)
        put_row(file, c, i, &s, ratios);
    fputs("</svg>\n", file);
}

static bool put_picture(FILE *file, const void *content)
{
    const picture *p = content;
    double *ratios = malloc((p->comparison->cases + 1) * sizeof ratios[0]);

    if (ratios == NULL)
        return false;
    put_drawing(file, p, ratios);
    free(ratios);
    return fflush(file) == 0 && ferror(file) == 0;
}

int picture_write(const picture *p, const char *path)
{
    return output_write(path, put_picture, p);
}
