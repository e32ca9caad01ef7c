/* drive.h - runs the jobs of a workload on real workers. */
#ifndef CLO_TOOLS_CLOTHO_WORKLOAD_DRIVE_H
#define CLO_TOOLS_CLOTHO_WORKLOAD_DRIVE_H

#include "clotho/workload/stream.h"

/* Runs the jobs; fills run.outcomes and `sums`. Returns an exit code. A report makes sense, also after a failure, where
 * a job ended, failed or was cancelled. */
int run_drive(stream_run *run);

#endif
