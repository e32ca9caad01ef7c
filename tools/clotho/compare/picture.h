/* picture.h - a comparison as SVG: a band for each contender with its ratio to the baseline in each case, their
 * quartiles, and the geometric mean with its interval. */
#ifndef CLO_TOOLS_CLOTHO_COMPARE_PICTURE_H
#define CLO_TOOLS_CLOTHO_COMPARE_PICTURE_H

#include "clotho/compare/comparison.h"

typedef struct picture {
    const comparison *comparison; /* summarised; the first figure is drawn */
    const char *one_case;         /* "graph" */
    char title[256];
    char axis[128]; /* what the ratios are of */
} picture;

/* Writes it; "-": on standard output. Returns an exit code. */
int picture_write(const picture *p, const char *path);

#endif
