/* histogram.c - see histogram.h. */
#include "sync/structure/histogram.h"

void clo_histogram_clear(clo_histogram *h)
{
    if (atomic_load_explicit(&h->count, memory_order_relaxed) == 0)
        return;
    atomic_store_explicit(&h->count, 0, memory_order_relaxed);
    atomic_store_explicit(&h->max_ns, 0, memory_order_relaxed);
    for (uint32_t i = 0; i < CLO_HISTOGRAM_BUCKETS; i++)
        atomic_store_explicit(&h->buckets[i], 0, memory_order_relaxed);
}

int64_t clo_histogram_quantile(const clo_histogram *h, double share)
{
    uint64_t seen = 0, count = atomic_load_explicit(&h->count, memory_order_relaxed);
    int64_t max_ns = atomic_load_explicit(&h->max_ns, memory_order_relaxed);

    for (uint32_t i = 0; i < CLO_HISTOGRAM_BUCKETS; i++) {
        seen += atomic_load_explicit(&h->buckets[i], memory_order_relaxed);
        if (seen > 0 && (double)seen >= share * (double)count) {
            int64_t edge = (int64_t)(clo_histogram_least(i + 1) - 1); /* the last one is INT64_MAX */
            return edge < max_ns ? edge : max_ns;
        }
    }
    return 0;
}
