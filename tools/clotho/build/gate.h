/* gate.h - what a step waits for once it is chosen and all its inputs are there: a token of the jobserver, and
 * with -l a machine that is not too busy. Of the driver's thread alone. */
#ifndef CLO_TOOLS_CLOTHO_BUILD_GATE_H
#define CLO_TOOLS_CLOTHO_BUILD_GATE_H

#include "ninja/step/jobserver.h"

#include <stdbool.h>
#include <stdint.h>

enum { GATE_AGAIN_MS = 50 }; /* nobody tells when the load falls */

typedef struct build_gate {
    jobserver *jobs;  /* of the whole command; borrowed */
    double load_most; /* no step begins at this load or above, unless none runs; 0: no limit */
    uint32_t running; /* steps inside */
} build_gate;

void build_gate_open(build_gate *g, jobserver *jobs, double load_most);

/* True: a step may begin, and build_gate_leave follows its end. False: ask again in GATE_AGAIN_MS, or when the
 * jobserver's pipe can be read. is_elsewhere: on another host; it needs no token. */
bool build_gate_enter(build_gate *g, bool is_elsewhere);
void build_gate_leave(build_gate *g, bool is_elsewhere);

/* When no step is inside. Puts right what is wrong with the tokens. */
void build_gate_close(build_gate *g);

#endif
