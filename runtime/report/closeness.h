/* report/closeness.h - how close executors are, and what the links of each closeness have in common. */
#ifndef CLO_REPORT_CLOSENESS_H
#define CLO_REPORT_CLOSENESS_H

#include "library.h"
#include "platform/model/platform.h"

/* Closest first. */
typedef enum clo_closeness {
    CLO_SAME_CORE,
    CLO_SAME_CLUSTER,
    CLO_SAME_PACKAGE,
    CLO_ACROSS_PACKAGES,
    CLO_TO_ACCELERATOR,
    CLO_UNPLACED, /* a platform made from arrays */
    CLO_CLOSENESS_COUNT
} clo_closeness;

/* One piece of all links of one closeness between executors that do not share a memory. */
typedef struct clo_link_class {
    /* Ordered; 0: none, and nothing below is set. */
    uint64_t pairs;
    /* What the bytes below the piece take. */
    int64_t latency_min_ns, latency_max_ns;
    /* ns per byte; 0: unlimited bandwidth. */
    uint64_t q32_min, q32_max;
} clo_link_class;

CLO_INTERNAL clo_closeness clo_closeness_of(const clo_platform *platform, uint32_t a, uint32_t b);
CLO_INTERNAL const char *clo_closeness_name(clo_closeness closeness);
CLO_INTERNAL void clo_link_classes(const clo_platform *platform, uint32_t piece,
                                   clo_link_class classes[CLO_CLOSENESS_COUNT]);

#endif
