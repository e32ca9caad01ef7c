/* platform/platform.h - the platform as the other modules read it: plain arrays, immutable. */
#ifndef CLO_PLATFORM_PLATFORM_H
#define CLO_PLATFORM_PLATFORM_H

#include <clotho/platform.h>

#define CLO_EXECUTORS_MAX 4096u

/* A fact and where it comes from, e.g. {"c2c", "unmeasured", "default formula ..."}; for the describe calls. */
typedef struct clo_platform_fact {
    char *fact, *status, *source;
} clo_platform_fact;

struct clo_platform {
    char *name;
    char *summary;               /* one line; may be NULL                          */
    bool native;                 /* executors are CPUs of this machine             */
    bool coherent;
    bool mean_includes_self;
    uint32_t executors_count, kinds_count, machines_count, memories_count;
    clo_executor *executors;     /* [executors_count]                              */
    char **executor_names;       /* [executors_count]                              */
    char **kind_names;           /* [kinds_count]                                  */
    char *resource_names[CLO_RESOURCES_MAX]; /* entries may be NULL                */
    int64_t *capacities;         /* [machines_count * CLO_RESOURCES_MAX]; < 0: unlimited */
    int64_t *latency_ns;         /* [executors_count^2]                            */
    uint64_t *ns_per_byte_q32;   /* [executors_count^2]; 0: infinite bandwidth     */
    clo_platform_fact *facts;
    uint32_t facts_count;
    void *topology;              /* hwloc_topology_t for the picture; NULL: none   */
};

__extension__ typedef unsigned __int128 clo_u128;

/* latency + bytes * ns_per_byte, rounded to nearest, saturated at INT64_MAX / 4. */
static inline int64_t clo_link_ns(int64_t latency_ns, uint64_t ns_per_byte_q32, uint64_t bytes)
{
    clo_u128 q32 = (clo_u128)bytes * ns_per_byte_q32 + (1ull << 31);
    uint64_t high = (uint64_t)(q32 >> 64), ns = (uint64_t)(q32 >> 32);

    if (high >> 30 != 0 || ns > (uint64_t)INT64_MAX / 4)
        return INT64_MAX / 4;
    return latency_ns + (int64_t)ns;
}

#endif
