/* compare_draw.h - what a comparison has found, and its picture. */
#ifndef CLO_TOOLS_CLOTHO_SIMULATE_COMPARE_DRAW_H
#define CLO_TOOLS_CLOTHO_SIMULATE_COMPARE_DRAW_H

#include <stddef.h>
#include <stdint.h>

/* What one policy came to with one seed. */
typedef struct compared_run {
    uint64_t seed;
    double mean_ns, p95_ns, weighted_ns, makespan_ns, utilization;
    uint64_t late;
} compared_run;

/* A ratio to the first policy over all seeds, run by run: the geometric mean, and where it lies at 95 % (Student's t
 * of the logarithms). NAN: not known, as the interval of one seed. */
typedef struct compared_ratio {
    double ratio, low, high;
} compared_ratio;

typedef struct compared {
    const char *policy; /* as it was asked for */
    compared_run *runs; /* [seeds] */
    compared_run mean;  /* of them */
    compared_ratio completion, p95, weighted, makespan;
} compared;

typedef struct comparison {
    const char *workload, *platform, *arrivals; /* names; arrivals NULL: as in the file */
    compared *rows;                             /* [count] the first is what the others are compared with */
    uint32_t count;
    size_t seeds;
} comparison;

/* Draws the ratios of the mean completion times, each seed and all together. Returns an exit code. */
int compare_draw(const comparison *c, const char *path);

#endif
