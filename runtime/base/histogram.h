/* base/histogram.h - fixed-memory latency histogram: 16 sub-buckets an octave, relative error below 6.25 %.
 * One writer; readers after it has stopped. Recording touches one counter and never allocates. */
#ifndef CLO_BASE_HISTOGRAM_H
#define CLO_BASE_HISTOGRAM_H

#include <stdint.h>

#define CLO_HISTOGRAM_BUCKETS (61 * 16)

typedef struct clo_histogram {
    uint64_t count;
    int64_t max_ns;
    uint32_t buckets[CLO_HISTOGRAM_BUCKETS];
} clo_histogram;

static inline uint32_t clo_histogram_bucket(uint64_t value)
{
    if (value < 16)
        return (uint32_t)value;
    uint32_t octave = 63u - (uint32_t)__builtin_clzll(value); /* >= 4 */
    return (octave - 3) * 16 + (uint32_t)((value >> (octave - 4)) & 15);
}

static inline void clo_histogram_record(clo_histogram *h, int64_t ns)
{
    if (ns < 0)
        ns = 0;
    h->count++;
    if (ns > h->max_ns)
        h->max_ns = ns;
    h->buckets[clo_histogram_bucket((uint64_t)ns)]++;
}

/* Upper edge of the bucket that holds the given share (0..1) of the records; 0 if there are none. */
int64_t clo_histogram_quantile(const clo_histogram *h, double share);

#endif
