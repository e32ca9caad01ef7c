/* page_faults.h - how many page faults the workers of a runtime have taken. After support.h.
 *
 * On a busy machine the system moves pages, locked ones too, and whoever touches one meanwhile takes a fault that is
 * nobody's. So series are repeated, in a scene made anew, until one takes none: what the library touches for the first
 * time would cost its fault in each of them. */
#ifndef CLO_TEST_PAGE_FAULTS_H
#define CLO_TEST_PAGE_FAULTS_H

enum { FAULT_SERIES_MAX = 50 };

static inline uint64_t faults_of(const clo_runtime *runtime)
{
    clo_worker_stats stats = CLO_WORKER_STATS_INIT;
    uint64_t faults = 0;

    for (uint32_t w = 0; w < clo_runtime_workers(runtime); w++) {
        ok(clo_runtime_worker_stats(runtime, w, &stats));
        faults += stats.minor_faults + stats.major_faults;
    }
    return faults;
}

#endif
