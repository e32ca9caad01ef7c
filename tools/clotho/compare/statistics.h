/* statistics.h - ratios of paired values and their intervals. NAN stands for a value that is not there: its pair does
 * not count. */
#ifndef CLO_TOOLS_CLOTHO_COMPARE_STATISTICS_H
#define CLO_TOOLS_CLOTHO_COMPARE_STATISTICS_H

#include <stddef.h>

/* What a series of values comes to beside another one, pair by pair. */
typedef struct paired_ratio {
    /* The geometric mean of own / base. NAN: no pairs, or one of a value above 0 and a 0. */
    double mean;
    /* Where it lies at 95 %: Student's t of the logarithms of the ratios. NAN: not known, as of a single pair. */
    double low, high;
    /* Pairs in all; those whose own value is below the base, and above it. */
    size_t pairs, shorter, longer;
} paired_ratio;

/* own, base: [count], each value >= 0 or NAN. */
paired_ratio ratio_of(const double *own, const double *base, size_t count);

/* Where a share of `q` (0 to 1) of the values lies below, between two values in proportion (type 7 of Hyndman and Fan
 * 1996, the default of numpy and R). sorted: [count], rising; count > 0. */
double quantile_of(const double *sorted, size_t count, double q);

#endif
