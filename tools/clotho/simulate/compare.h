/* compare.h - several policies on the same runs. */
#ifndef CLO_TOOLS_CLOTHO_SIMULATE_COMPARE_H
#define CLO_TOOLS_CLOTHO_SIMULATE_COMPARE_H

#include "clotho/simulate/simulate.h"

/* Simulates the workload at `path` under each of options->policies, with each seed of --seeds. Returns an exit code. */
int simulate_compare(const char *path, const simulate_options *options);

#endif
