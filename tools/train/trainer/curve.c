/* curve.c - see curve.h. */
#include "train/trainer/curve.h"

#include <math.h>

enum { WIDTH = 720, HEIGHT = 320, LEFT = 70, RIGHT = 20, TOP = 40, BOTTOM = 40, LINES = 6 };

const char *train_method_name(train_method method)
{
    static const char *const names[] = {"imitation", "reinforce", "actor-critic", "ppo"};

    return names[method];
}

/* "m:ss" or "h:mm:ss" */
static void put_time(double seconds, char *out, size_t bytes)
{
    unsigned long whole = seconds < 0 || seconds > 1e9 ? 0 : (unsigned long)seconds;

    if (whole >= 3600)
        snprintf(out, bytes, "%lu:%02lu:%02lu", whole / 3600, whole / 60 % 60, whole % 60);
    else
        snprintf(out, bytes, "%lu:%02lu", whole / 60, whole % 60);
}

static int put_number(double number, char *out, size_t bytes)
{
    return isnan(number) ? snprintf(out, bytes, "-") : snprintf(out, bytes, "%.5g", number);
}

void curve_line(const trainer *t, train_method method, const train_point *point, double elapsed_s, uint32_t done_here,
                char *out, size_t bytes)
{
    char reward[32], validation[32], best[32], elapsed[32], left[32] = "-";
    double most;
    uint32_t at, all = trainer_updates(t);

    (void)trainer_best(t, &most, &at);
    (void)put_number(point->reward, reward, sizeof reward);
    (void)put_number(point->validation, validation, sizeof validation);
    (void)put_number(most, best, sizeof best);
    put_time(elapsed_s, elapsed, sizeof elapsed);
    if (done_here > 0)
        put_time(elapsed_s / done_here * (all - point->update), left, sizeof left);
    snprintf(out, bytes,
             "%6u/%-6u %3u%%  %-12s reward %-10s validation %-10s best %s at %u  agreed %.0f%%  %s, %s left",
             point->update, all, all > 0 ? point->update * 100 / all : 100, train_method_name(method), reward,
             validation, best, at, isnan(point->agreed) ? 0 : 100 * point->agreed, elapsed, left);
}

typedef struct frame {
    double low, high;
    uint32_t updates;
} frame;

static frame frame_of(const train_point *points, uint32_t count)
{
    frame f = {INFINITY, -INFINITY, 1};

    for (uint32_t i = 0; i < count; i++) {
        f.low = fmin(f.low, fmin(points[i].reward, points[i].validation)); /* of a number and NAN: the number */
        f.high = fmax(f.high, fmax(points[i].reward, points[i].validation));
        f.updates = points[i].update > f.updates ? points[i].update : f.updates;
    }
    if (!(f.low <= f.high))
        f.low = f.high = 0;
    if (f.high - f.low < 1e-12) {
        f.low -= 0.5;
        f.high += 0.5;
    }
    return f;
}

static double x_of(const frame *f, uint32_t update)
{
    return (double)LEFT + (double)update / f->updates * (WIDTH - LEFT - RIGHT);
}

static double y_of(const frame *f, double value)
{
    return HEIGHT - BOTTOM - (value - f->low) / (f->high - f->low) * (HEIGHT - TOP - BOTTOM);
}

static void put_text(const char *text, FILE *out)
{
    for (; *text != '\0'; text++) {
        const char *safe = *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : *text == '&' ? "&amp;" : NULL;
        if (safe != NULL)
            fputs(safe, out);
        else
            fputc(*text, out);
    }
}

static void put_curve(const frame *f, const train_point *points, uint32_t count, bool of_validation, FILE *out)
{
    fprintf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" points=\"",
            of_validation ? "#1f4e9c" : "#98a2b0", of_validation ? "2" : "1");
    for (uint32_t i = 0; i < count; i++) {
        double value = of_validation ? points[i].validation : points[i].reward;
        if (!isnan(value))
            fprintf(out, "%.1f,%.1f ", x_of(f, points[i].update), y_of(f, value));
    }
    fputs("\"/>\n", out);
}

/* The best on validation. */
static void put_best(const frame *f, const train_point *points, uint32_t count, FILE *out)
{
    const train_point *best = NULL;

    for (uint32_t i = 0; i < count; i++)
        if (!isnan(points[i].validation) && (best == NULL || points[i].validation > best->validation))
            best = &points[i];
    if (best != NULL)
        fprintf(out,
                "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"#c0392b\"><title>best: %.6g after %u "
                "updates</title></circle>\n",
                x_of(f, best->update), y_of(f, best->validation), best->validation, best->update);
}

/* Lines at multiples of 1, 2 or 5 times a power of ten. */
static void put_grid(const frame *f, FILE *out)
{
    static const double digits[] = {1, 2, 5, 10};
    double span = f->high - f->low, power = pow(10, floor(log10(span / 5))), step = power;

    for (int d = 1; d < 4 && span / step > LINES; d++)
        step = digits[d] * power;
    double first = ceil(f->low / step - 1e-9);
    for (int i = 0; i <= LINES && (first + i) * step <= f->high + 1e-9 * span; i++) {
        double value = first + i == 0 ? 0 : (first + i) * step, y = y_of(f, value); /* no -0 */
        fprintf(out,
                "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#e4e7ec\"/>"
                "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.6g</text>\n",
                LEFT, WIDTH - RIGHT, y, y, LEFT - 6, y + 4, value);
    }
}

bool curve_svg(const train_point *points, uint32_t count, const char *title, FILE *out)
{
    const frame f = frame_of(points, count);

    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
            "<text x=\"%d\" y=\"20\" font-size=\"14\">",
            WIDTH, HEIGHT, WIDTH, HEIGHT, LEFT);
    put_text(title, out);
    fputs("</text>\n", out);
    put_grid(&f, out);
    for (uint32_t i = 1; i < count; i++)
        if (points[i].phase != points[i - 1].phase)
            fprintf(out,
                    "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#888\" stroke-dasharray=\"4\"/>\n"
                    "<text x=\"%.1f\" y=\"%d\" fill=\"#5c6470\" text-anchor=\"middle\">next phase</text>\n",
                    x_of(&f, points[i].update), x_of(&f, points[i].update), TOP, HEIGHT - BOTTOM,
                    x_of(&f, points[i].update), TOP - 4);
    put_curve(&f, points, count, false, out);
    put_curve(&f, points, count, true, out);
    put_best(&f, points, count, out);
    fprintf(
        out,
        "<text x=\"%d\" y=\"%d\">0</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">%u updates</text>\n"
        "<text x=\"%d\" y=\"%d\" fill=\"#1f4e9c\" text-anchor=\"middle\">reward on validation, the best a dot</text>\n"
        "<text x=\"%d\" y=\"%d\" fill=\"#5c6470\" text-anchor=\"middle\">in training</text>\n</svg>\n",
        LEFT, HEIGHT - 15, WIDTH - RIGHT, HEIGHT - 15, f.updates, WIDTH / 2 - 60, HEIGHT - 15, WIDTH / 2 + 110,
        HEIGHT - 15);
    return fflush(out) == 0 && ferror(out) == 0;
}
