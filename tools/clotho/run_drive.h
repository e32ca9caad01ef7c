/* run_drive.h - runs the jobs of a workload on real workers. */
#ifndef CLOTHO_TOOL_RUN_DRIVE_H
#define CLOTHO_TOOL_RUN_DRIVE_H

#include "run_stream.h"

/* Runs the jobs; fills run.outcomes and `sums`. Returns an exit code. A report makes sense, also after a failure, where
 * a job ended, failed or was cancelled. */
int run_drive(stream_run *run);

#endif
