/* speed.h - how fast each CPU is at this moment, all of them busy. One of a virtual machine may share its core, and all
 * of them their memory, with neighbours that come and go, which no account of CPU time shows. */
#ifndef EXAMPLES_SPEED_H
#define EXAMPLES_SPEED_H

#include <stdbool.h>
#include <stdint.h>

enum { SPEED_CPUS_MAX = 64 };

typedef struct speeds {
    uint32_t count;
    double compute_ns[SPEED_CPUS_MAX]; /* of the same work on each CPU; those beyond the 64th are not looked at */
    double memory_ns[SPEED_CPUS_MAX];  /* of reading the same numbers on each */
} speeds;

/* Takes about 2 ms. False if threads cannot be made. */
bool speeds_read(speeds *out);

/* Some CPU differs by more than a tenth from what it was, or by more than a fifth in reading. */
bool speeds_differ(const speeds *a, const speeds *b);

#endif
