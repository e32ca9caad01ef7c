/* decision/scene.h - a scheduler in a steady state, driven in virtual time on one thread, so that what it takes for a
 * decision can be measured without threads around it.
 *
 * WORKERS executors run bodies. `candidates` stages are ready, in min(candidates, jobs) jobs; all other live jobs have
 * nothing ready: their one instance waits in the queue of a further executor, which never gets free. A job that ends
 * arrives again, so the figures stay as they are. Ready stages fall short of `candidates` by those of which all
 * instances run or wait.
 *
 * This folder is the only one of bench/ that sees internal headers: no public call runs one decision alone. */
#ifndef CLO_BENCH_DECISION_SCENE_H
#define CLO_BENCH_DECISION_SCENE_H

#include <clotho/clotho.h>

enum { SCENE_WORKERS = 16 };

typedef struct scene_config {
    const clo_policy *policy;
    uint32_t candidates, jobs; /* >= 1 */
    uint64_t seed;
    const void *argument; /* of the policy; may be NULL */
} scene_config;

typedef struct scene scene;

/* NULL, after a line why, on failure. */
scene *scene_open(const scene_config *config);
/* The state of the policy. */
void *scene_state(scene *s);
void scene_close(scene *s);

/* Goes on until `count` turns have started something. A turn is an input (a body has ended) and all that the scheduler
 * answers. values[count], in ns: the time of the turn without that of reading the clock, by the bodies it started.
 * `evict` (may be NULL) is called before each turn, outside the time. False: the scheduler stands still. */
bool scene_measure(scene *s, double *values, uint32_t count, void (*evict)(void));

/* What two reads of the clock take, in ns: subtracted from each turn. */
double scene_clock_ns(void);

#endif
