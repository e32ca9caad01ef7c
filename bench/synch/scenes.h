/* scenes.h - the workloads of bench-synch. */
#ifndef CLO_BENCH_SYNCH_SCENES_H
#define CLO_BENCH_SYNCH_SCENES_H

#include "common/platform.h"

/* A workload on its platform, all owned. */
typedef struct scene {
    clo_workload *workload, *jobs, *source; /* jobs, source: what it was drawn from; or NULL */
    clo_platform *platform;
} scene;

/* Weights of jobs: drawn from 1 to 12; all 1; or classes like those of Google's trace: half of the jobs 1 (free), a third 4
 * (batch), a sixth 10 (production). */
typedef enum scene_weights { WEIGHTS_DRAWN, WEIGHTS_EQUAL, WEIGHTS_CLASSES } scene_weights;

/* What a sweep changes; zeros: nothing. */
typedef struct scene_law {
    scene_weights weights;
    uint32_t penalty_percent; /* a task's time where it is not local, of its local time */
    uint32_t traffic_percent; /* work of the jobs that come / what the machines can do, of the scarcest resource */
} scene_law;

/* Jobs with a heavy-tailed number of tasks (1 .. 200: 0.8 of the jobs with x tasks have 2x), memory demands and
 * priorities 1 .. 12 as weights, on ten machines of 16 executors. A job's tasks come in up to four blocks; each block
 * has three local machines and three random ones on which it takes twice as long. is_bound: one machine for each block
 * instead. mean_gap_ns > 0: Poisson arrivals. law NULL: as said. False: a message was printed. */
bool scene_google(scene *out, uint32_t jobs, uint64_t seed, bool is_bound, int64_t mean_gap_ns, const scene_law *law);

/* `jobs` jobs in a row of the Alibaba trace v2017, from a random one on, all at 0, weights 1 .. 12, instances divided
 * by ten; on `machines` machines of the trace with 96 executors each. With a penalty each task is local to one machine;
 * with traffic the jobs come as a Poisson process. law NULL: as said. */
bool scene_alibaba(scene *out, const char *path, uint32_t jobs, uint64_t seed, uint32_t machines, const scene_law *law);

void scene_close(scene *scene);

#endif
