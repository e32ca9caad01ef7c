#include "base/histogram.h"

static int64_t upper_edge(uint32_t bucket)
{
    if (bucket < 16)
        return bucket;
    uint32_t octave = bucket / 16 + 3;
    return (int64_t)(((16ull + bucket % 16 + 1) << (octave - 4)) - 1); /* the last one is INT64_MAX */
}

int64_t clo_histogram_quantile(const clo_histogram *h, double share)
{
    uint64_t seen = 0;

    for (uint32_t i = 0; i < CLO_HISTOGRAM_BUCKETS; i++) {
        seen += h->buckets[i];
        if (seen > 0 && (double)seen >= share * (double)h->count) {
            int64_t edge = upper_edge(i);
            return edge < h->max_ns ? edge : h->max_ns;
        }
    }
    return 0;
}
