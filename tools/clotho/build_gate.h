/* build_gate.h - what a step waits for once it is chosen and all its inputs are there: a token of the jobserver, and
 * with -l a machine that is not too busy. */
#ifndef CLOTHO_TOOL_BUILD_GATE_H
#define CLOTHO_TOOL_BUILD_GATE_H

#include "../ninja/jobserver.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct build_gate {
    jobserver *jobs;    /* of the whole command; borrowed */
    double load_most;   /* no step begins at this load or above, unless none runs; 0: no limit */
    pthread_mutex_t lock; /* of all below, and of the jobserver */
    uint32_t running;   /* steps inside */
    bool is_shut;
} build_gate;

void build_gate_open(build_gate *g, jobserver *jobs, double load_most);

/* Waits until a step may begin. False: build_gate_shut was called. Whoever got in calls build_gate_leave.
 * Threads: any. A caller that holds a lock which build_gate_leave's callers need would wait for ever. */
bool build_gate_enter(build_gate *g);
void build_gate_leave(build_gate *g);

/* Nobody gets in any more. */
void build_gate_shut(build_gate *g);

/* When no thread is inside. Puts right what is wrong with the tokens. */
void build_gate_close(build_gate *g);

#endif
