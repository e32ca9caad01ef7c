/* histogram.h - latencies in fixed memory: 32 sub-buckets an octave, so a value is known to 3.2 %; the largest exactly.
 *
 *               record   read
 *      record     X       -      (one writer at a time)
 *      read       -       -
 *
 * Progress: both wait-free; recording is a few plain loads and stores. Ordering: none; a reader may miss records that
 * are being made, and sees each bucket whole. */
#ifndef CLO_SYNC_STRUCTURE_HISTOGRAM_H
#define CLO_SYNC_STRUCTURE_HISTOGRAM_H

#include "library.h"
#include <stdatomic.h>
#include <stdint.h>

#define CLO_HISTOGRAM_SUB 32u
#define CLO_HISTOGRAM_BUCKETS (60u * CLO_HISTOGRAM_SUB)

typedef struct clo_histogram {
    _Atomic uint64_t count;
    _Atomic int64_t max_ns;
    _Atomic uint32_t buckets[CLO_HISTOGRAM_BUCKETS];
} clo_histogram;

static inline uint32_t clo_histogram_bucket(uint64_t value)
{
    if (value < CLO_HISTOGRAM_SUB)
        return (uint32_t)value;
    uint32_t octave = 63u - (uint32_t)__builtin_clzll(value); /* >= 5 */
    return (octave - 4) * CLO_HISTOGRAM_SUB + (uint32_t)((value >> (octave - 5)) & (CLO_HISTOGRAM_SUB - 1));
}

/* The least value of a bucket. The highest buckets are of values above INT64_MAX, which nobody records. */
static inline uint64_t clo_histogram_least(uint32_t bucket)
{
    if (bucket < CLO_HISTOGRAM_SUB)
        return bucket;
    return (uint64_t)(CLO_HISTOGRAM_SUB + bucket % CLO_HISTOGRAM_SUB) << (bucket / CLO_HISTOGRAM_SUB - 1);
}

static inline void clo_histogram_record(clo_histogram *h, int64_t ns)
{
    if (ns < 0)
        ns = 0;
    _Atomic uint32_t *bucket = &h->buckets[clo_histogram_bucket((uint64_t)ns)];
    atomic_store_explicit(bucket, atomic_load_explicit(bucket, memory_order_relaxed) + 1, memory_order_relaxed);
    atomic_store_explicit(&h->count, atomic_load_explicit(&h->count, memory_order_relaxed) + 1, memory_order_relaxed);
    if (ns > atomic_load_explicit(&h->max_ns, memory_order_relaxed))
        atomic_store_explicit(&h->max_ns, ns, memory_order_relaxed);
}

/* Nobody records meanwhile. */
static inline uint64_t clo_histogram_count(const clo_histogram *h)
{
    return atomic_load_explicit(&h->count, memory_order_relaxed);
}

static inline int64_t clo_histogram_max_ns(const clo_histogram *h)
{
    return atomic_load_explicit(&h->max_ns, memory_order_relaxed);
}

void clo_histogram_clear(clo_histogram *h);

/* Upper edge of the bucket that holds the given share (0..1) of the records; 0 if there are none. */
CLO_INTERNAL int64_t clo_histogram_quantile(const clo_histogram *h, double share);

#endif
