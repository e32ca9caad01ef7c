/* log.h - the log of a run of a workload on real workers, and the verdict of the stream checker on it. */
#ifndef CLO_TOOLS_CLOTHO_WORKLOAD_LOG_H
#define CLO_TOOLS_CLOTHO_WORKLOAD_LOG_H

#include "clotho/workload/stream.h"

/* Makes run->log where one was asked for, or the run is short enough to be judged. Returns an exit code. */
int run_log_open(stream_run *run);

/* Judges run->log: is_judged, is_valid, report. A log that dropped records is not judged. Returns an exit code, after a
 * line with the first fault where there is one. */
int run_log_judge(stream_run *run);

#endif
