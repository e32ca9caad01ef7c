/* alone.h - times of tasks that are alone, and what they lose to CPUs that read memory: predictions with a model of
 * contention (clotho/memory.h) and without one. */
#ifndef BENCH_PREDICT_ALONE_H
#define BENCH_PREDICT_ALONE_H

#include "bed.h"

/* What this machine's memory moves, in MB/s: a stream alone on the first CPU, and all CPUs together; 0: one CPU. */
typedef struct memory_rates {
    uint32_t one, all;
} memory_rates;

clo_status alone_rates(memory_rates *out);

/* Makes bed `index` of the graphs to learn from, on the CPUs of the calling thread. */
typedef clo_status (*bed_opener)(const void *context, uint32_t index, bed *b);

/* Runs the `count` graphs on the first CPU, in turns alone and beside streams on all others; writes a profile. `rates`
 * receives medians of the turns. */
clo_status alone_learn(bed_opener open, const void *context, uint32_t count, const char *path, memory_rates *rates);

/* What the plan of the bed takes by such a profile: if tasks do not slow each other down, and if they do. */
clo_status alone_predict(const bed *b, const char *path, uint32_t capacity_mbps, int64_t *apart_ns, int64_t *shared_ns);

#endif
