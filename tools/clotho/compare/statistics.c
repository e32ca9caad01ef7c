/* statistics.c - see statistics.h. */
#include "clotho/compare/statistics.h"

#include <assert.h>
#include <math.h>

/* Student's t, 97.5 %, by degrees of freedom; beyond the table by Abramowitz and Stegun 1964, 26.7.5: 1e-4 off at most. */
static double student(size_t freedom)
{
    static const double t[] = {0,     12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                               2.201, 2.179,  2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080,
                               2.074, 2.069,  2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
    double n = (double)freedom;

    return freedom < sizeof t / sizeof t[0] ? t[freedom] : 1.95996 + (2.37227 + 2.82250 / n) / n;
}

/* The logarithm of own / base; of two zeros 0. */
static double log_ratio(double own, double base)
{
    if (own > 0 && base > 0)
        return log(own / base);
    return own == base ? 0 : (double)NAN;
}

static int is_pair(double own, double base)
{
    return !isnan(own) && !isnan(base);
}

paired_ratio ratio_of(const double *own, const double *base, size_t count)
{
    paired_ratio r = {.mean = (double)NAN, .low = (double)NAN, .high = (double)NAN};
    double sum = 0, squares = 0;

    for (size_t i = 0; i < count; i++) {
        if (!is_pair(own[i], base[i]))
            continue;
        r.pairs++;
        r.shorter += own[i] < base[i];
        r.longer += own[i] > base[i];
        sum += log_ratio(own[i], base[i]);
    }
    if (r.pairs == 0)
        return r;
    double mean = sum / (double)r.pairs;
    for (size_t i = 0; i < count; i++) /* a second time: of equal ratios the squares are 0 */
        if (is_pair(own[i], base[i]))
            squares += pow(log_ratio(own[i], base[i]) - mean, 2);
    r.mean = exp(mean);
    if (r.pairs == 1)
        return r;
    double freedom = (double)r.pairs - 1, half = student(r.pairs - 1) * sqrt(squares / freedom / (double)r.pairs);
    r.low = exp(mean - half);
    r.high = exp(mean + half);
    return r;
}

double quantile_of(const double *sorted, size_t count, double q)
{
    assert(count > 0);
    assert(q >= 0 && q <= 1);
    double at = q * (double)(count - 1);
    size_t below = (size_t)at, above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (at - (double)below) * (sorted[above] - sorted[below]);
}
