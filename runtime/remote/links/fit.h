/* remote/links/fit.h - times of messages of several sizes, as two lines: up to the size that an MPI sends at once, and
 * beyond it (a step, and a slope of its own). Relative errors, else the largest sizes alone would decide; least
 * squares, weighted again and again by what is off, so that it is the sum of errors that gets small: one size that was
 * disturbed moves nothing. */
#ifndef CLO_REMOTE_LINKS_FIT_H
#define CLO_REMOTE_LINKS_FIT_H

#include <stddef.h>
#include <stdint.h>

#define CLO_FIT_SIZES 29

/* Sizes in bytes, rising. */
uint64_t clo_fit_size(uint32_t index);
/* True for sizes that are not fitted, but judged by. */
int clo_fit_is_held(uint32_t index);

/* What one direction took; the first `count` sizes were measured, at least 3. */
typedef struct clo_fit_times {
    uint32_t count;
    int64_t ns[CLO_FIT_SIZES];
} clo_fit_times;

/* Up to the limit latency_ns + slope * bytes; step_ns more above it, and from there on slope_beyond; none falls. */
typedef struct clo_fit_line {
    double latency_ns, slope, step_ns, slope_beyond; /* slopes in ns per byte */
} clo_fit_line;

/* The limit that suits `count` directions best, of the sizes; 0: none takes a tenth of the errors of one line away. */
uint64_t clo_fit_limit(const clo_fit_times *times, size_t count);

void clo_fit(const clo_fit_times *times, uint64_t limit_bytes, clo_fit_line *line);

double clo_fit_ns(const clo_fit_line *line, uint64_t limit_bytes, uint64_t bytes);

/* Worst relative error in permille: of the sizes that are fitted, or of those that are held aside. */
uint32_t clo_fit_error(const clo_fit_line *line, uint64_t limit_bytes, const clo_fit_times *times, int held);

#endif
