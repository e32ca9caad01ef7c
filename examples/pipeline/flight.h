/* flight.h - throughput against latency: the graph with 1, 2, 3 ... releases in flight. */
#ifndef EXAMPLES_FLIGHT_H
#define EXAMPLES_FLIGHT_H

#include "../common/session.h"

#include <stdint.h>

typedef struct flight_setup {
    const session *s;        /* platform, cost and runtime are open */
    uint32_t most;           /* releases in flight */
    int64_t period_ns;       /* 0: as fast as it goes */
    uint64_t releases;       /* of each series */
    bool as_json, is_locked; /* memory is locked: no page fault is right */
} flight_setup;

/* Plans, runs and prints a series for each number of releases in flight. False: something failed, which is on standard
 * error, or a promise was broken: an allocation, or a page fault although memory is locked. */
bool flight_run(const flight_setup *setup);

#endif
