/* arrivals.h - the list of jobs that a run of a workload submits. */
#ifndef CLO_TOOLS_CLOTHO_WORKLOAD_ARRIVALS_H
#define CLO_TOOLS_CLOTHO_WORKLOAD_ARRIVALS_H

#include "clotho/workload/stream.h"

/* Makes run.workload and `jobs`: each release is a job, and jobs that fit nowhere are refused, with a line for each of
 * the first. Returns EXIT_GOOD, or an exit code after an error line. */
int run_arrivals(stream_run *run);

#endif
