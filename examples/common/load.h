/* load.h - how much of the CPUs other programs took while something was measured: what one must know to believe it. */
#ifndef EXAMPLES_LOAD_H
#define EXAMPLES_LOAD_H

#include <stdint.h>

/* A moment: clock ticks of all CPUs together since boot, of which busy, of which this process and
 * its children that have ended. */
typedef struct load {
    uint64_t all, busy, own;
} load;

/* All zeros where the system does not tell. */
load load_now(void);

/* Share of all CPU time, 0 .. 1, that others used since `before`; 0 where the system does not tell. */
double load_foreign(load before);

#endif
