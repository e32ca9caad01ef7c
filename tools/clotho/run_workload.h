/* run_workload.h - `clotho run WORKLOAD`: jobs arrive at workers over time. */
#ifndef CLOTHO_TOOL_RUN_WORKLOAD_H
#define CLOTHO_TOOL_RUN_WORKLOAD_H

#include "run.h"

/* All of `clotho run` for the workload at `path`. Returns an exit code. */
int run_workload(const char *path, const run_options *options);

#endif
