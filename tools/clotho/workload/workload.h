/* workload.h - `clotho run WORKLOAD`: jobs arrive at workers over time. */
#ifndef CLO_TOOLS_CLOTHO_WORKLOAD_WORKLOAD_H
#define CLO_TOOLS_CLOTHO_WORKLOAD_WORKLOAD_H

#include "clotho/run/run.h"

/* All of `clotho run` for the workload at `path`. Returns an exit code. */
int run_workload(const char *path, const run_options *options);

#endif
