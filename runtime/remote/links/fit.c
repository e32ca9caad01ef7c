/* fit.c - see fit.h. */
#include "remote/links/fit.h"

#include <math.h>

#define TURNS 12
#define ERROR_MIN 0.02 /* smaller ones weigh alike */
#define ERROR_MAX 0.5  /* larger ones count as this */

/* Close together where eager limits lie (4 KiB, 8 KiB, 64 KiB, 128 KiB; heads of messages may count); at odd places
 * three that are held aside. */
static const uint64_t sizes[CLO_FIT_SIZES] = {1,      256,     1024,    2048,    4000,   4096,   6144,   8000,
                                              8192,   12288,   16000,   16384,   24576,  32000,  32768,  49152,
                                              65000,  65536,   98304,   131000,  131072, 196608, 262144, 524288,
                                              786432, 1048576, 2097152, 4194304, 8388608};

uint64_t clo_fit_size(uint32_t index)
{
    return sizes[index];
}

int clo_fit_is_held(uint32_t index)
{
    return sizes[index] == 6144 || sizes[index] == 49152 || sizes[index] == 786432;
}

static double time_of(const clo_fit_times *times, uint32_t i)
{
    return times->ns[i] > 1 ? (double)times->ns[i] : 1;
}

/* Weighted sums of a straight line, of so many sizes. */
typedef struct sums {
    double w, x, y, xx, xy;
    uint32_t count;
} sums;

static sums add_up(const clo_fit_times *times, const double *weights, uint64_t above, uint64_t up_to)
{
    sums s = {0};

    for (uint32_t i = 0; i < times->count; i++) {
        if (clo_fit_is_held(i) || sizes[i] <= above || sizes[i] > up_to)
            continue;
        double y = time_of(times, i), w = weights[i] / (y * y), x = (double)sizes[i];
        s.count++;
        s.w += w;
        s.x += w * x;
        s.y += w * y;
        s.xx += w * x * x;
        s.xy += w * x * y;
    }
    return s;
}

/* y = at + slope * x with at >= least and slope >= 0. */
static void solve(const sums *s, double least, double *at, double *slope)
{
    double det = s->w * s->xx - s->x * s->x;

    *at = least;
    *slope = 0;
    if (s->w <= 0)
        return;
    if (det > s->w * s->xx * 1e-12) {
        *slope = (s->w * s->xy - s->x * s->y) / det;
        *at = (s->y - *slope * s->x) / s->w;
    }
    if (*slope < 0 || det <= s->w * s->xx * 1e-12) {
        *slope = 0;
        *at = s->y / s->w;
    }
    if (*at < least) {
        *at = least;
        *slope = (s->xy - least * s->x) / s->xx;
        *slope = *slope > 0 ? *slope : 0;
    }
}

static void fit_weighted(const clo_fit_times *times, const double *weights, uint64_t limit_bytes, clo_fit_line *line)
{
    uint64_t limit = limit_bytes > 0 ? limit_bytes : UINT64_MAX;
    sums below = add_up(times, weights, 0, limit), beyond = add_up(times, weights, limit, UINT64_MAX);

    *line = (clo_fit_line){0};
    solve(&below, 0, &line->latency_ns, &line->slope);
    line->slope_beyond = line->slope;
    if (beyond.w <= 0)
        return;
    /* as a line from the limit on: x counts from there, and it begins not below the end of the other one */
    double x0 = (double)limit, end_ns = line->latency_ns + line->slope * x0, at;
    sums moved = {.w = beyond.w,
                  .x = beyond.x - x0 * beyond.w,
                  .y = beyond.y,
                  .xx = beyond.xx - 2 * x0 * beyond.x + x0 * x0 * beyond.w,
                  .xy = beyond.xy - x0 * beyond.y};
    solve(&moved, end_ns, &at, &line->slope_beyond);
    line->step_ns = at - end_ns;
    if (beyond.count >= 2 && line->slope_beyond > 0)
        return;
    /* Of a slow link, which was measured for few sizes, or of a machine that was busy: no slope shows. That would read
     * as a link without limit, so it keeps the one below. */
    double above_ns = moved.y / moved.w - end_ns - line->slope * (moved.x / moved.w);
    line->slope_beyond = line->slope;
    line->step_ns = above_ns > 0 ? above_ns : 0;
}

double clo_fit_ns(const clo_fit_line *line, uint64_t limit_bytes, uint64_t bytes)
{
    if (limit_bytes == 0 || bytes <= limit_bytes)
        return line->latency_ns + line->slope * (double)bytes;
    return line->latency_ns + line->slope * (double)limit_bytes + line->step_ns +
           line->slope_beyond * (double)(bytes - limit_bytes);
}

static double relative_error(const clo_fit_line *line, uint64_t limit, const clo_fit_times *times, uint32_t i)
{
    return fabs(clo_fit_ns(line, limit, sizes[i]) - time_of(times, i)) / time_of(times, i);
}

void clo_fit(const clo_fit_times *times, uint64_t limit_bytes, clo_fit_line *line)
{
    double weights[CLO_FIT_SIZES];

    for (uint32_t i = 0; i < CLO_FIT_SIZES; i++)
        weights[i] = 1;
    for (int turn = 0; turn < TURNS; turn++) {
        fit_weighted(times, weights, limit_bytes, line);
        for (uint32_t i = 0; i < times->count; i++) {
            double error = relative_error(line, limit_bytes, times, i);
            weights[i] = 1 / (error > ERROR_MIN ? error : ERROR_MIN);
        }
    }
}

uint32_t clo_fit_error(const clo_fit_line *line, uint64_t limit_bytes, const clo_fit_times *times, int held)
{
    double worst = 0;

    for (uint32_t i = 0; i < times->count; i++)
        if ((clo_fit_is_held(i) != 0) == (held != 0)) {
            double error = relative_error(line, limit_bytes, times, i);
            worst = error > worst ? error : worst;
        }
    return worst < 1000 ? (uint32_t)(worst * 1000 + 0.5) : 1000000;
}

/* Sum of errors. */
static double misfit(const clo_fit_times *times, size_t count, uint64_t limit)
{
    double sum = 0;

    for (size_t d = 0; d < count; d++) {
        clo_fit_line line;
        clo_fit(&times[d], limit, &line);
        for (uint32_t i = 0; i < times[d].count; i++) {
            double error = clo_fit_is_held(i) ? 0 : relative_error(&line, limit, &times[d], i);
            sum += error < ERROR_MAX ? error : ERROR_MAX;
        }
    }
    return sum;
}

uint64_t clo_fit_limit(const clo_fit_times *times, size_t count)
{
    double least = misfit(times, count, 0) * 0.9;
    uint64_t best = 0;

    for (uint32_t i = 3; i + 3 < CLO_FIT_SIZES; i++) { /* three sizes or more on both sides */
        double sum = clo_fit_is_held(i) ? least : misfit(times, count, sizes[i]);
        if (sum < least) {
            least = sum;
            best = sizes[i];
        }
    }
    return best;
}
