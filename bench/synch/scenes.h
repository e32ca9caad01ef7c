/* scenes.h - the workloads of bench-synch. */
#ifndef CLO_BENCH_SYNCH_SCENES_H
#define CLO_BENCH_SYNCH_SCENES_H

#include "common/platform.h"

/* A workload on its platform; both owned. */
typedef struct scene {
    clo_workload *workload, *source;
    clo_platform *platform;
} scene;

/* Jobs with a heavy-tailed number of tasks (1 .. 200: 0.8 of the jobs with x tasks have 2x), memory demands and
 * priorities 1 .. 12 as weights, on ten machines of 16 executors. A job's tasks come in up to four blocks; each block
 * has three local machines and three random ones on which it takes twice as long. is_bound: one machine for each block
 * instead. mean_gap_ns > 0: Poisson arrivals. False: a message was printed. */
bool scene_google(scene *out, uint32_t jobs, uint64_t seed, bool is_bound, int64_t mean_gap_ns);

/* `jobs` jobs in a row of the Alibaba trace v2017, from a random one on, all at 0, weights 1 .. 12, instances divided
 * by ten; on `machines` machines of the trace with 96 executors each. */
bool scene_alibaba(scene *out, const char *path, uint32_t jobs, uint64_t seed, uint32_t machines);

void scene_close(scene *scene);

#endif
