/* random.h - seeded platforms for the benchmarks of planners. */
#ifndef CLO_BENCH_RANDOM_H
#define CLO_BENCH_RANDOM_H

#include "common/platform.h"

/* Executors of one machine, each with a memory of its own and the speed (Q16, for all classes) that speed_q16[e]
 * says; between any two of them the same link. `capacity` of each of the resources "r0" .. "r7", as
 * clo_graph_generate names them; 0: none is limited. Prints why where it fails. NULL on failure. */
clo_platform *random_platform(uint32_t executors, const uint32_t *speed_q16, int64_t latency_ns, double bytes_per_ns,
                              int64_t capacity);

#endif
