/* run_arrivals.h - the list of jobs that a run of a workload submits. */
#ifndef CLOTHO_TOOL_RUN_ARRIVALS_H
#define CLOTHO_TOOL_RUN_ARRIVALS_H

#include "run_stream.h"

/* Makes run.workload and `jobs`: each release is a job, and jobs that fit nowhere are refused, with a line for each of
 * the first. Returns EXIT_GOOD, or an exit code after an error line. */
int run_arrivals(stream_run *run);

#endif
