/* replay.h - `clotho simulate WORKLOAD --replay LOG`: the run of a log again, compared record by record. */
#ifndef CLO_TOOLS_CLOTHO_SIMULATE_REPLAY_H
#define CLO_TOOLS_CLOTHO_SIMULATE_REPLAY_H

#include "clotho/simulate/simulate.h"

/* Returns EXIT_GOOD where every record is equal. */
int simulate_replay(const char *path, const simulate_options *options);

#endif
