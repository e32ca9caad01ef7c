/* engine/state/latency.h - what is told of a histogram. */
#ifndef CLO_ENGINE_STATE_LATENCY_H
#define CLO_ENGINE_STATE_LATENCY_H

#include "sync/structure/histogram.h"

#include <clotho/job.h>

/* Also while others record: each number is whole. */
static inline clo_latency clo_latency_of(const clo_histogram *h)
{
    return (clo_latency){
        .count = clo_histogram_count(h),
        .p50_ns = clo_histogram_quantile(h, 0.5),
        .p90_ns = clo_histogram_quantile(h, 0.9),
        .p99_ns = clo_histogram_quantile(h, 0.99),
        .p999_ns = clo_histogram_quantile(h, 0.999),
        .p9999_ns = clo_histogram_quantile(h, 0.9999),
        .max_ns = clo_histogram_max_ns(h),
    };
}

#endif
