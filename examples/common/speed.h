/* speed.h - how fast each CPU is at this moment, all of them busy. One of a virtual machine may share its core, and all
 * of them their last-level cache, with neighbours that come and go, which no account of CPU time shows. */
#ifndef EXAMPLES_SPEED_H
#define EXAMPLES_SPEED_H

#include <stdbool.h>
#include <stdint.h>

enum { SPEED_CPUS_MAX = 64 };

typedef struct speeds {
    uint32_t count;
    double compute_ns[SPEED_CPUS_MAX]; /* of the same work on each CPU; those beyond the 64th are not looked at */
    double read_ns[SPEED_CPUS_MAX];    /* of reading the same numbers on each, 2 MiB that a last-level cache holds */
} speeds;

/* Takes a few ms. False if threads cannot be made, or not on these CPUs.
 *
 *   cpus  [count], numbers of the system; NULL: all that this process may use. */
bool speeds_read(const int32_t *cpus, uint32_t count, speeds *out);

/* Some CPU differs by more than a tenth from what it was, or by more than a fifth in reading. */
bool speeds_differ(const speeds *a, const speeds *b);

#endif
