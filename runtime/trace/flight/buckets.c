/* buckets.c - the bounds of the buckets in which times are counted: those of sync/structure/histogram.h. */
#include <clotho/job.h>

int64_t clo_latency_bucket_ns(uint32_t bucket)
{
    if (bucket >= CLO_LATENCY_BUCKETS)
        return INT64_MAX;
    return bucket < 32 ? (int64_t)bucket : (int64_t)(32 + bucket % 32) << (bucket / 32 - 1);
}
