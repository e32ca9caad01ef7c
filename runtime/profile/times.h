/* profile/times.h - what a snapshot says of each task of a graph on each kind of a platform. */
#ifndef CLO_PROFILE_TIMES_H
#define CLO_PROFILE_TIMES_H

#include "library.h"

#include <clotho/memory.h>

/* Of one execution. */
typedef struct clo_profile_time {
    clo_time_basis basis; /* CLO_TIME_TYPED: nothing is known, and the rest is 0 */
    int64_t location_ns, spread_ns, high_ns;
    int64_t mean_ns;        /* 0: what these three say */
    clo_memory_part memory; /* zeros: none is known */
} clo_profile_time;

/* The straight lines between what is known of a time: two spreads below the location for the least, the location for the
 * median, the high value at 0.9, and as far again above it for the largest; all of it times what makes its mean the
 * known one. `quantile`: in 2^CLO_QUANTILE_BITS. */
enum { CLO_QUANTILE_BITS = 20 };
CLO_INTERNAL int64_t clo_profile_time_at(const clo_profile_time *time, uint32_t quantile);

/* Its mean. */
int64_t clo_profile_time_mean(const clo_profile_time *time);

typedef struct clo_profile_times {
    const clo_graph *graph;
    const clo_platform *platform;
    clo_profile_time *of; /* [tasks * kinds of the platform] */
    clo_profile_time run; /* factor of all tasks of a run, in 65536ths; TYPED: unknown */
    uint64_t snapshot;
} clo_profile_times;

/* Of a sealed graph. Returns CLO_OK or CLO_ERR_MEMORY; release with clo_profile_times_close. */
CLO_INTERNAL clo_status clo_profile_times_open(clo_profile_times *times, const clo_graph *graph,
                                               const clo_platform *platform, const clo_profile *profile);
CLO_INTERNAL void clo_profile_times_close(clo_profile_times *times);

#endif
