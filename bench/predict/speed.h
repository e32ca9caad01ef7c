/* speed.h - how fast each CPU is at this moment, all of them busy. One of a virtual machine may share its core with a
 * neighbour that comes and goes, which no account of CPU time shows. */
#ifndef BENCH_PREDICT_SPEED_H
#define BENCH_PREDICT_SPEED_H

#include "common/bench.h"

enum { SPEED_CPUS_MAX = 64 };

typedef struct speeds {
    uint32_t count;
    double ns[SPEED_CPUS_MAX]; /* of the same work on each CPU; those beyond the 64th are not looked at */
} speeds;

/* Takes about 2 ms. False if threads cannot be made. */
bool speeds_read(speeds *out);

/* Some CPU differs by more than a tenth from what it was. */
bool speeds_differ(const speeds *a, const speeds *b);

#endif
